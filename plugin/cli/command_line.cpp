#include "plugin/cli/command_line.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

#include "backends/base/build_info.h"
#include "plugin/cli/command_flags.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/help_text.h"
#include "plugin/cli/terminal.h"
#include "plugin/hcl/near_names.h"

namespace modlock::cli {
namespace {

// Returns the version.
int run_version(const CommandLine& /*line*/) {
  print_out(std::string(kVersion) + "\n");
  return 0;
}

enum class Prints { data, report };

struct CommandRow {
  const char* heading;  // in --help; kRareCommands: only in --help-all
  const char* parent;   // the parent command, or none
  const char* name;
  const char* what;
  const char* examples;
  void (*add_flags)(CLI::App&, CommandLine&);
  decltype(CommandLine::run) run;
  Prints prints = Prints::data;
  const char* alias = "";  // another name, or none
};

constexpr const char* kLock = "Lock";
constexpr const char* kInstall = "Install and check";
constexpr const char* kInspect = "Inspect";
constexpr const char* kIntegrate = "Integrate";
constexpr const char* kMaintain = "Maintain";
constexpr const char* kNested = "Subcommands";

const CommandRow kCommands[] = {
    {kLock, "", "lock", "Update the lock file: keep allowed versions, add missing entries, remove unused ones",
     "  tofu-modlock lock\n"
     "  tofu-modlock lock --chdir environments/prod --install\n"
     "  tofu-modlock lock --frozen    # exit with code 3 if anything would change\n",
     lock_flags, run_lock, Prints::report},
    {kLock, "", "upgrade", "Lock the newest versions that the constraints allow",
     "  tofu-modlock upgrade\n"
     "  tofu-modlock upgrade --target module.vpc --dry-run\n"
     "  tofu-modlock upgrade --target provider.hashicorp/aws\n"
     "  tofu-modlock upgrade --install\n",
     upgrade_flags, run_lock, Prints::report},
    {kLock, "", "update", "Change a version in the configuration and the lock file, and nothing else",
     "  tofu-modlock update --list\n"
     "  tofu-modlock update module.vpc=2.1.0 provider.hashicorp/aws=6.2.0\n"
     "  tofu-modlock update 'module.vpc=~> 2.0' --dry-run\n"
     "  tofu-modlock update module.vpc=2.1.0 --pin immutable --format markdown\n"
     "  tofu-modlock update --from-file updates.json    # a file of Renovate\n",
     update_flags, run_update, Prints::report},
    {kInstall, "", "install", "Install the locked packages where tofu and terraform expect them",
     "  tofu-modlock install && tofu init\n"
     "  tofu-modlock install --offline      # only from the cache\n"
     "  tofu-modlock install --from modules.tar    # from a bundle\n"
     "  tofu-modlock install --link         # symbolic links instead of copies\n"
     "  tofu-modlock install --overrides    # for versions of git and OCI sources\n",
     install_flags, run_install, Prints::report},
    {kInstall, "", "ci", "In CI: check that the lock file is current, install, run the client's command, and verify",
     "  tofu-modlock ci --recursive\n"
     "  tofu-modlock ci --recursive -- tofu init -backend=false\n"
     "  tofu-modlock ci --chdir environments/prod -- terraform init\n",
     ci_flags, run_ci, Prints::report},
    {kInstall, "", "verify", "Check installed modules and providers against the lock file (offline)",
     "  tofu-modlock verify\n"
     "  tofu-modlock verify --online    # moved and vanished versions, too\n"
     "  tofu-modlock verify --strict --json\n"
     "  tofu-modlock verify --sarif > verify.sarif\n",
     verify_flags, run_verify, Prints::report},
    {kInstall, "", "status",
     "Show for each module and provider the locked version, whether it is installed, and a newer version",
     "  tofu-modlock status\n"
     "  tofu-modlock status --offline       # without newer versions\n",
     status_flags, run_status, Prints::report},
    {kInspect, "", "inspect", "Show the module tree (sources, constraints, locked versions) and the providers",
     "  tofu-modlock inspect\n"
     "  tofu-modlock inspect --json --chdir environments/prod\n",
     inspect_flags, run_inspect, Prints::data, "tree"},
    {kInspect, "", "explain",
     "Explain why a module or provider has its version: list each constraint, its location, and the versions it allows",
     "  tofu-modlock explain module.vpc.nested\n"
     "  tofu-modlock explain provider.hashicorp/aws\n"
     "  tofu-modlock explain --credentials registry.example.com\n"
     "  tofu-modlock explain --credentials ghcr.io/team/network\n"
     "  tofu-modlock explain --recursive --find terraform-aws-modules/vpc/aws@5.1.0\n",
     explain_flags, run_explain, Prints::data, "why"},
    {kInspect, "", "outdated", "List available updates and change nothing (update --list)",
     "  tofu-modlock outdated\n"
     "  tofu-modlock outdated module.vpc --json\n",
     outdated_flags, run_outdated},
    {kInspect, "", "diff",
     "Show the effect of an update of modules: interface, providers, code that runs, requests, and calls that break",
     "  tofu-modlock diff\n"
     "  tofu-modlock diff module.vpc=2.0.0\n"
     "  tofu-modlock diff module.vpc --from 1.0.0 --to 2.0.0 --format markdown\n"
     "  tofu-modlock diff --lock-rev origin/main --exit-code    # for CI\n",
     diff_flags, run_diff},
    {kRareCommands, "", "graph", "Print the graph of the modules and providers of a root module",
     "  tofu-modlock graph > modules.mmd\n"
     "  tofu-modlock graph --format dot | dot -Tsvg > modules.svg\n",
     graph_flags, run_graph},
    {kRareCommands, "", "versions", "List the versions that a module source offers",
     "  tofu-modlock versions git::https://example.com/network.git\n"
     "  tofu-modlock versions github.com/example/network --constraint '~> 1.2'\n",
     versions_flags, run_versions},
    {kIntegrate, "", "mirror",
     "Run a command with a local module registry and git repositories that serve only locked versions",
     "  tofu-modlock mirror -- tofu init -upgrade\n"
     "  tofu-modlock mirror --chdir environments/prod -- terraform get -update\n",
     mirror_flags, run_mirror, Prints::report},
    {kIntegrate, "", "sbom", "Print an SBOM (CycloneDX 1.6) of the locked versions",
     "  tofu-modlock sbom --name shop-network > bom.cdx.json\n", sbom_flags, run_sbom},
    {kMaintain, "", "doctor",
     "Check the environment: git, the client, certificates, proxies, credentials, settings, and the cache",
     "  tofu-modlock doctor\n"
     "  tofu-modlock doctor --online    # also query the hosts of the configuration\n"
     "  tofu-modlock doctor --host registry.example.com\n",
     doctor_flags, run_doctor, Prints::report},
    {kNested, "cache", "info", "Show the location and size of the cache", "  tofu-modlock cache info\n",
     cache_info_flags, run_cache_info},
    {kNested, "cache", "prune", "Remove unused packages and incomplete downloads",
     "  tofu-modlock cache prune --max-age 30d\n"
     "  tofu-modlock cache prune --max-bytes 2GiB\n",
     cache_prune_flags, run_cache_prune, Prints::report},
    {kNested, "bundle", "create", "Write the locked module packages of root modules as an OCI image layout",
     "  tofu-modlock bundle create --output modules.tar\n"
     "  tofu-modlock bundle create --recursive --output /media/stick/modules\n"
     "  tofu-modlock bundle create --providers --platform linux_amd64 --output all.tar\n",
     bundle_create_flags, run_bundle_create, Prints::report},
    {kNested, "bundle", "list", "List the packages of a bundle", "  tofu-modlock bundle list modules.tar\n",
     bundle_read_flags, run_bundle_list},
    {kNested, "bundle", "pull", "Download a bundle from an OCI registry",
     "  tofu-modlock bundle pull oci://registry.example.com/platform/modules \\\n    --output modules.tar\n",
     bundle_pull_flags, run_bundle_pull, Prints::report},
    {kNested, "bundle", "push", "Upload the locked module packages to an OCI registry",
     "  tofu-modlock bundle push oci://registry.example.com/platform/modules\n"
     "  tofu-modlock bundle push oci://registry.example.com/platform/modules \\\n    --input modules.tar\n",
     bundle_push_flags, run_bundle_push, Prints::report},
    {kNested, "bundle", "unpack", "Write the providers of a bundle as a mirror for the client",
     "  tofu-modlock bundle unpack all.tar --provider-mirror /srv/providers \\\n    --cli-config /srv/offline.tofurc\n",
     bundle_unpack_flags, run_bundle_unpack, Prints::report},
    {kNested, "bundle", "verify", "Check every digest and every hash of a bundle",
     "  tofu-modlock bundle verify modules.tar\n"
     "  tofu-modlock bundle verify oci://registry.example.com/platform/modules\n",
     bundle_read_flags, run_bundle_verify, Prints::report},
    {kMaintain, "", "help", "Print the help of a command",
     "  tofu-modlock help lock\n"
     "  tofu-modlock help --help-all\n",
     help_flags, run_version},
    {kMaintain, "", "version", "Print the version of tofu-modlock", "  tofu-modlock version\n", version_flags,
     run_version},
    {kRareCommands, "", "hook",
     "Run as a Terragrunt hook: install locked packages before init and get, verify them before plan, apply and "
     "similar commands, restore dropped module blocks after init; do nothing for other commands",
     "  tofu-modlock hook --unit live/prod/vpc --root . init\n"
     "  tofu-modlock hook --unit live/prod/vpc --root . --after init\n"
     "  tofu-modlock hook --unit live/prod/vpc --root . plan\n",
     hook_flags, run_hook, Prints::report},
    {kMaintain, "", "init", "Write a settings file, .gitattributes, a CI file and a pre-commit hook; overwrite nothing",
     "  tofu-modlock init                    # prompts for each file\n"
     "  tofu-modlock init --settings --ci github\n"
     "  tofu-modlock init --all\n",
     init_flags, run_init},
    {kMaintain, "", "completion", "Print the completion script of a shell",
     "  source <(tofu-modlock completion bash)    # zsh: after compinit\n"
     "  tofu-modlock completion fish > ~/.config/fish/completions/tofu-modlock.fish\n",
     completion_flags, run_completion},
    {kRareCommands, "", "merge",
     "Merge lock files entry by entry, as a merge driver of git: the result is written to OURS; exit code 0 without a "
     "conflict, 1 with one, 2 if a file cannot be read",
     "  git config merge.tofu-modlock.driver \\\n    'tofu-modlock merge --marker-size %L %O %A %B'\n"
     "  printf '%s merge=tofu-modlock\\n' .terraform.lock.hcl \\\n    .terraform.modules.lock.hcl >> .gitattributes\n",
     merge_flags, run_merge},
    {kRareCommands, "", "mcp",
     "Serve the Model Context Protocol on stdin and stdout: tools for coding agents that only read",
     "  tofu-modlock mcp                     # the current directory and all below\n"
     "  tofu-modlock mcp --root /srv/infra --root /srv/platform\n",
     mcp_flags, run_mcp},
    {kRareCommands, "", "serve", "Serve JSON-RPC 2.0 on stdin and stdout (for programs)",
     "  tofu-modlock serve < requests.jsonl\n", serve_flags, run_serve},
    {kRareCommands, "", "call", "Call one method of the protocol and print its result",
     "  tofu-modlock call lock/plan --params '{\"root\": \"/srv/infra\"}'\n"
     "  echo '{\"root\": \"/srv/infra\"}' | tofu-modlock call lock/verify --params -\n",
     call_flags, run_call},
    {kRareCommands, "", "schema", "Print the protocol or the settings as a document for programs",
     "  tofu-modlock schema openrpc > openrpc.json\n"
     "  tofu-modlock schema jsonschema\n"
     "  tofu-modlock schema settings > settings.schema.json\n",
     schema_flags, run_schema},
};

CLI::App& parent_of(const CommandRow& command, CLI::App& app) {
  if (*command.parent == '\0') {
    return app;
  }
  const auto added = app.get_subcommands([&](const CLI::App* one) { return one->get_name() == command.parent; });
  if (!added.empty()) {
    return *added.front();
  }
  const bool is_cache = std::string_view(command.parent) == "cache";
  return *app.add_subcommand(command.parent, is_cache ? "Manage the package cache"
                                                      : "Carry locked packages to machines without network")
              ->group(kMaintain)
              ->require_subcommand(0, 1)
              ->footer("");
}

void add_output_flags(CLI::App& app, CommonFlags& flags) {
  CLI::Option* quiet = app.add_flag("-q,--quiet", flags.quiet, "Print nothing on success, except requested data");
  app.add_flag("-v,--verbose", flags.verbose, "Print each request and its time on stderr")->excludes(quiet);
}

void add_command(CLI::App& app, const CommandRow& command, CommandLine& out) {
  CLI::App& added = *parent_of(command, app).add_subcommand(command.name, command.what)->group(command.heading);
  if (*command.alias != '\0') {
    added.alias(command.alias);
  }
  added.footer(std::string("Examples:\n") + command.examples);
  // The flags of commands that the line does not name would take a tenth of the time of `--version`, and CLI11 would
  // read their environment variables over the flags of this one.
  added.preparse_callback([&](std::size_t) {
    add_output_flags(added, out.common);
    command.add_flags(added, out);
  });
  added.parse_complete_callback([&] {
    out.run = command.run;
    out.has_report = command.prints == Prints::report;
  });
}

// Returns the innermost command that the line names, or the app itself.
CLI::App& named_command(CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : named_command(*named.front());
}

std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

std::vector<std::string> names_of_flags(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> names_of_commands(const CLI::App& parent) {
  std::vector<std::string> names;
  for (const CLI::App* command : parent.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
    names.insert(names.end(), command->get_aliases().begin(), command->get_aliases().end());
  }
  return names;
}

// Words that users of other programs try, and what to do instead.
struct OtherWord {
  const char* command;  // that has it as an argument
  const char* word;
  const char* advice;
};
constexpr std::array<OtherWord, 7> kOtherWords = {{
    {"tofu-modlock", "-chdir", "write it after the command: tofu-modlock lock --chdir DIR"},
    {"tofu-modlock", "check", "did you mean \"verify\"?"},
    {"tofu-modlock", "undo",
     "restore the files that the command named, as in: git restore main.tf .terraform.lock.hcl"},
    {"tofu-modlock diff", "--markdown", "write --format markdown"},
    {"tofu-modlock diff", "--sarif", "write --format sarif"},
    {"tofu-modlock update", "--markdown", "write --format markdown"},
    {"tofu-modlock bundle", "install", "to install from a bundle, run: tofu-modlock install --from BUNDLE"},
}};

// Describes a word that no command accepts.
std::string unexpected(const CLI::App& command, const std::string& word) {
  const auto unknown = [&](const char* kind, const std::string& name, const std::vector<std::string>& known) {
    const auto other = std::find_if(kOtherWords.begin(), kOtherWords.end(), [&](const OtherWord& one) {
      return name == one.word && full_name(command) == one.command;
    });
    std::string nearest = other != kOtherWords.end()
                              ? other->advice
                              : hcl::did_you_mean(name == "-r" ? "--recursive" : name, {known.begin(), known.end()});
    if (nearest.empty() && (full_name(command) == "tofu-modlock mirror" || full_name(command) == "tofu-modlock ci")) {
      nearest = "write -- before the command";  // whose flag it is
    }
    return fmt::format("unknown {} \"{}\"{}{}", kind, name, nearest.empty() ? "" : "; ", nearest);
  };
  if (word.starts_with("-")) {
    return unknown("flag", word.substr(0, word.find('=')), names_of_flags(command));  // the value may be a secret
  }
  const std::vector<std::string> commands = names_of_commands(command);
  return commands.empty() ? fmt::format("unexpected argument \"{}\"", word) : unknown("command", word, commands);
}

int print_usage_error(std::string message, const CLI::App& command) {
  const Error error{.code = Code::invalid_params,
                    .message = std::move(message),
                    .hint = fmt::format("run: {} --help", full_name(command))};
  print_err(render(error));
  return exit_code(error);
}

// Returns the message of CLI11 in this program's words. A value of the environment has the name of its variable.
std::string usage_message(std::string message, const CLI::App& command, const std::vector<std::string>& words) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string flag = option->get_name();
    const bool is_written =
        std::any_of(words.begin(), words.end(), [&](const auto& word) { return word.starts_with(flag); });
    const std::size_t at = option->get_envname().empty() || is_written ? std::string::npos : message.find(flag + ':');
    const std::size_t other =
        at == std::string::npos && !option->get_envname().empty() && !is_written ? message.find(flag + " = ") : at;
    if (other != std::string::npos) {
      message.replace(other, flag.size(), option->get_envname());
    }
  }
  static const std::array<std::pair<std::regex, const char*>, 6> kRules = {{
      {std::regex("Could not convert: (.*) = (.*)"), "$1: \"$2\" is not true or false"},
      {std::regex("(.*): Value (.*) not in range (.*) to (.*)"), "$1: \"$2\" is not a number from $3 to $4"},
      {std::regex("(.*): (.*) not in \\{(.*)\\}"), "$1: \"$2\" is not one of $3"},
      {std::regex("(.*): [0-9]+ required .* missing"), "$1 needs a value"},
      {std::regex("(.*) is required"), "$1 is missing"},
      {std::regex("(.*) excludes (.*)"), "$1 and $2 cannot be combined"},
  }};
  for (const auto& [pattern, replacement] : kRules) {
    if (std::regex_match(message, pattern)) {
      return std::regex_replace(message, pattern, replacement);
    }
  }
  return message;
}

// Prints the usage error for the first word that no command accepts.
int print_unexpected(CLI::App& app) {
  CLI::App* at = &app;
  while (at->remaining().empty() && !at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
  }
  return print_usage_error(unexpected(*at, at->remaining().empty() ? std::string() : at->remaining().front()), *at);
}

int print_help(CLI::App& app) {
  const CLI::App& named = named_command(app);
  if (!named.remaining().empty() && !names_of_commands(named).empty()) {
    return print_unexpected(app);
  }
  print_raw(app.help());
  return 0;
}

// Returns the words after the program's name: `help lock` is `lock --help`.
std::vector<std::string> words_of(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

// For `tofu` and `terraform`, the program's name determines the client.
void name_implementation(CommandLine& line) {
  if (line.command.empty() || !line.common.implementation.empty()) {
    return;
  }
  const std::string name = line.command.front().substr(line.command.front().rfind('/') + 1);
  line.common.implementation = name == "tofu" ? "opentofu" : name == "terraform" ? name : "";
}

}  // namespace

void add_commands(CLI::App& app, CommandLine& out) {
  for (const CommandRow& command : kCommands) {
    add_command(app, command, out);
  }
}

std::variant<CommandLine, int> parse_command_line(int argc, const char* const* argv) {
  CommandLine out;
  CLI::App app("Locks what OpenTofu leaves unlocked: module versions.", "tofu-modlock");
  const auto help = std::make_shared<HelpText>();
  help->label("SUBCOMMAND", "COMMAND");
  app.formatter(help);
  app.set_help_flag("-h,--help", "Print the help");
  app.set_help_all_flag("--help-all", "Print the help with all flags and commands");
  app.set_version_flag("--version", std::string(kVersion), "Print the version");
  add_output_flags(app, out.common);
  app.require_subcommand(0, 1);
  app.footer(
      "Start with `tofu-modlock lock` in a root module, then `tofu-modlock install`.\n"
      "Exit codes: 0 ok, 1 internal, 2 usage, 3 not up to date, 4 integrity,\n"
      "5 vanished, 6 no version, 7 unreachable, 8 invalid input.");
  add_commands(app, out);
  std::vector<std::string> words = words_of(argc, argv);
  if (!words.empty() && words.front() == "ci") {  // CLI11 reads the words after -- as positional arguments
    const auto mark = std::find(words.begin(), words.end(), "--");
    out.command.assign(mark == words.end() ? mark : mark + 1, words.end());
    words.erase(mark, words.end());
  }
  if (!words.empty() && words.front().starts_with("--") && app.get_option_no_throw(words.front()) == nullptr) {
    const std::vector<std::string> commands = names_of_commands(app);  // flags of a command may be written before it
    const auto command = std::find_first_of(words.begin(), words.end(), commands.begin(), commands.end());
    std::rotate(words.begin(), command, command == words.end() ? command : command + 1);
  }
  std::reverse(words.begin(), words.end());  // as CLI11 reads them
  try {
    app.parse(std::vector<std::string>(words));
  } catch (const CLI::CallForVersion&) {
    print_raw(std::string(kVersion) + "\n");
    return 0;
  } catch (const CLI::CallForHelp&) {
    return print_help(app);
  } catch (const CLI::CallForAllHelp&) {
    help->show_rare();
    return print_help(app);
  } catch (const CLI::ExtrasError&) {
    return print_unexpected(app);
  } catch (const CLI::ParseError& error) {
    return print_usage_error(usage_message(error.what(), named_command(app), words), named_command(app));
  }
  if (!names_of_commands(named_command(app)).empty()) {
    print_err(app.help());
    return exit_code(Code::invalid_params);
  }
  name_implementation(out);
  return out;
}

}  // namespace modlock::cli
