#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/base/context.h"
#include "backends/package/tree_hash.h"
#include "plugin/config/config_files.h"
#include "plugin/config/provider_requirement.h"
#include "plugin/config/variable.h"

namespace modlock {

// A top-level block with those of override files merged into it.
struct MergedBlock {
  std::string type;
  std::vector<std::string> labels;
  const ConfigText* file = nullptr;   // of the first one
  const hcl::Block* block = nullptr;  // the first one
  std::map<std::string, Argument, std::less<>> arguments = {};
  std::vector<std::pair<const ConfigText*, const hcl::Block*>> blocks = {};

  // Returns "aws_instance.web", "data.http.ip", "module.net", "moved".
  std::string address() const;
  const Argument* find(std::string_view name) const;
};

// One directory with configuration, as a client reads it.
struct ModuleText {
  std::string directory;  // in the package; "": the package itself
  std::vector<ConfigText> files;
  std::vector<MergedBlock> blocks;
  std::map<std::string, const MergedBlock*, std::less<>> by_address;
  std::map<std::string, Argument, std::less<>> locals;
  std::vector<ProviderRequirement> providers;
};

// The files of a package, and the modules in it that a call of `directory` reaches through local calls. A local call
// whose source is not a literal may reach every directory with configuration.
struct PackageText {
  std::filesystem::path root;                              // empty: there is no package
  std::string directory;                                   // of the called module
  std::map<std::string, ModuleText, std::less<>> modules;  // by directory
  std::map<std::string, TreeEntry, std::less<>> files;     // by name

  // Errors: those of list_tree() and read_config_files().
  static Result<PackageText> read(const std::filesystem::path& root, const std::string& directory, ClientKind tool,
                                  const Context& context);
  PackageText() = default;
  PackageText(PackageText&&) = default;  // blocks point into files, whose place does not change
  PackageText& operator=(PackageText&&) = default;

  // Returns the directory that a call of a module names inside of the package; nullopt: elsewhere.
  std::optional<std::string> local_target(const ModuleText& module, const MergedBlock& call) const;
  // Returns the content of a file; of a link that is not to a file its target; empty if it cannot be read.
  std::string content(const TreeEntry& entry) const;
};

// Whether a list of words with one blank between them has a word.
bool is_in(std::string_view words, std::string_view word);

// Returns an expression on one line as it is written.
std::string source_text(const ConfigText& file, const Range& range);

// The names of an address without its keys: "module.net[0].aws_vpc.a" has four.
std::vector<std::string> address_names(const Argument& argument);

// Returns the static string of an argument; nullopt: there is none.
std::optional<std::string> literal_text(const Argument* argument);

// What an expression depends on, followed through local values, variables (defaults, and the arguments of local calls),
// outputs of local modules, data sources and resources that only pass values on.
struct Closure {
  std::string digest = {};           // the same if the meaning is the same
  std::set<std::string> texts = {};  // the strings in the expression, not followed
  std::set<std::string> names = {};  // what it refers to, as ClosureReader knows it
  bool leads_outside = false;        // one of the strings that it depends on is a path outside of the module
};

// Whether a string is a path outside of the module that it is in.
bool is_outside_path(std::string_view text);

// Computes closures in one package.
class ClosureReader {
 public:
  // After a cancellation, closures are incomplete. The caller checks the context.
  ClosureReader(const PackageText& package, const Context& context);

  Closure of(const ModuleText& module, const Argument& argument);
  Closure of(const ModuleText& module, const ConfigText& file, const hcl::Expression& expression);
  // Everything in a body except descriptions, dependencies and lifecycle.
  Closure of(const ModuleText& module, const ConfigText& file, const hcl::Body& body);
  Closure of(const ModuleText& module, const MergedBlock& block);
  // Under which conditions the module is called: `count` and `for_each` of the local calls that reach it.
  Closure condition_of(const ModuleText& module);
  // The content of a file that a module names, or of all files below a directory without a called module. Empty: there
  // is none.
  std::string content_digest(const ModuleText& module, const std::string& path);

 private:
  struct Name {
    const ModuleText* module;
    std::vector<std::string> names;
    bool is_started = false;
  };

  static std::string key_of(const ModuleText& module, const std::vector<std::string>& names);
  const Closure& named(const ModuleText& module, std::vector<std::string> names);
  Closure compute(const ModuleText& module, const std::vector<std::string>& names);
  Closure variable(const ModuleText& module, const std::string& name);
  Closure conditions(const ModuleText& module);
  // All strings that an expression depends on.
  std::set<std::string> texts(const Closure& closure) const;
  const std::string& content_digest(const std::string& path);
  std::string files_beside(const ModuleText& module);
  void add_files(Closure& to, const ModuleText& module, const std::set<std::string>& texts);
  static void add(Closure& to, const std::string& label, Closure part);

  const PackageText& package_;
  const Context& context_;
  std::map<std::string, std::vector<std::pair<const ModuleText*, const MergedBlock*>>> callers_;  // by directory
  // By directory and name. An empty digest: in progress, or there is nothing to follow.
  std::map<std::string, Closure> known_;
  std::vector<Name>* missing_ = nullptr;  // receives the names that are not known yet; null: they are computed
  std::map<std::string, std::string> content_digests_;  // by path
};

}  // namespace modlock
