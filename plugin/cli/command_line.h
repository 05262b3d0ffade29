#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plugin/cli/terminal.h"
#include "plugin/engine/engine.h"
#include "protocol/messages/cache.h"
#include "protocol/messages/lock_verify.h"
#include "protocol/messages/modules_install.h"
#include "protocol/messages/versions_list.h"

namespace modlock::cli {

// One --var or --var-file; their order matters.
struct VariableFlag {
  bool is_file = false;
  std::string text;  // NAME=VALUE, or the path of the file
};

// The parsed command line. Flags have the names of the params and options they set.
struct CommonFlags {
  Printer print = {};                    // with --quiet, copies hold the report of a command
  std::vector<std::string> directories;  // roots; empty: the current directory
  bool recursive = false;
  std::vector<std::string> root_globs;      // with `recursive`
  std::vector<std::string> exclude;         // as above
  std::string comment = {};                 // before the headings of root modules, so that the output stays a graph
  bool in_markdown = false;                 // headings of root modules are Markdown
  bool only_locks = false;                  // with `recursive`: directories without configuration too
  std::string interrupted = "interrupted";  // the state of a root whose call was interrupted
  bool knows_units = false;                 // units of Terragrunt are roots without configuration
  std::size_t jobs = 8;                     // root modules processed in parallel
  bool compares = false;   // the packages before and after: several calls for a root query each source once
  bool diagnoses = false;  // also an engine that cannot be opened
  bool needs_cache = true;
  bool uses_age = true;  // the minimum release age
  // What flags set of it; Host::start() adds the places of this user, and what is in the following flags.
  EngineOptions engine = {};
  bool json = false;
  bool sarif = false;  // with `json`: the result is a log of SARIF, and errors are text
  bool quiet = false;
  bool verbose = false;
  std::string cache_dir;
  std::string config_file;
  std::map<std::string_view, std::vector<std::string>> overrides;  // values of flags for settings
  std::vector<std::string> workspace_roots;                        // read in addition to the repository, or to the root
  messages::Include include;
  messages::RootParams root;  // what is the same for every root
  std::vector<VariableFlag> variables;
};

class Host;

struct CommandLine {
  // Runs the command: with an engine, or without one.
  using RunWithHost = Result<int> (*)(const CommandLine& line, const Host& host);
  using RunAlone = Result<int> (*)(const CommandLine& line);
  std::variant<RunAlone, RunWithHost> run = {};
  const char* command_name = "";  // "upgrade"
  bool has_report = false;  // it prints what it did or found, which --quiet holds; others print what was requested
  CommonFlags common;
  // lock, upgrade
  bool frozen = false;
  bool dry_run = false;
  std::string color = "auto";
  bool install = false;
  messages::LockPlanParams plan;
  bool no_adopt = false;
  bool upgrade = false;                             // the command upgrade, or hook --upgrade
  std::vector<std::string> allow_unchecked_source;  // hook: globs of units, relative to --root
  std::vector<std::string> targets;
  // update; it has `dry_run`, `color` and `install` too
  std::vector<std::string> updates;  // SUBJECT=VERSION
  bool list = false;
  std::string from_file;
  std::string from_diff;  // a revision
  std::string hashes;     // empty: those of the engine
  std::string pin;        // empty: as the source names a version
  std::string output_format = "text";
  // diff; it has `updates` and `output_format` too
  std::string diff_from;
  std::string diff_to;
  std::string lock_rev;    // a revision
  std::string exit_grade;  // empty: findings do not change the exit code
  // install; lock, upgrade and update with `install`
  messages::ModulesInstallParams installation;
  std::vector<std::string> replacements;  // "module.KEY=DIR"
  std::string from;                       // install: a bundle
  bool remote_only = false;               // install
  // bundle
  PushOptions push;                   // pull and create, too
  std::string output;                 // create, pull
  std::string bundle;                 // list, unpack, verify; push: instead of root modules
  std::string provider_mirror;        // unpack
  std::string cli_config;             // unpack
  messages::LockVerifyParams verify;  // doctor has `online`, hook `strict`, bundle verify `full`
  messages::VersionsListParams versions;
  messages::CachePruneParams prune;
  // doctor
  std::vector<std::string> hosts;
  // init
  bool settings = false;
  bool gitattributes = false;
  bool pre_commit = false;
  bool all = false;
  std::string ci;  // "github" or "gitlab"
  // completion
  std::string shell;  // "bash", "zsh" or "fish"
  // sbom
  std::string name;
  // merge: paths, and the length of conflict markers
  std::string merge_base;
  std::string merge_ours;
  std::string merge_theirs;
  std::size_t marker_size = 7;
  // explain: one of them
  std::string subject;
  std::string credentials;  // HOST or HOST/REPOSITORY
  std::string find;         // SOURCE[@VERSION|COMMIT|DIGEST]
  // mirror
  std::vector<std::string> command;  // the program and its arguments
  // hook
  std::string unit;
  std::string repository;
  std::string unit_source;
  std::string unit_place;  // where Terragrunt will run the client
  bool is_source_replaced = false;
  bool after = false;
  std::string client_command;
  // call
  std::string method;
  std::string params = "{}";
  // schema
  std::string document;  // "openrpc", "jsonschema" or "settings"
  // mcp
  std::vector<std::string> mcp_roots;
  // serve
  std::size_t max_message_bytes = 0;  // 0: the default
  int drain_ms = -1;                  // negative: the default
};

// Returns a parsed command line, or the exit code if `--help`, `--version` or a usage error (2) ended the run. A usage
// error names the nearest command or flag. A line without a command prints the help on stderr.
std::variant<CommandLine, int> parse_command_line(int argc, const char* const* argv);

}  // namespace modlock::cli
