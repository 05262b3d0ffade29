#include "plugin/cli/command_line.h"

#include <CLI/CLI.hpp>

#include "backends/base/build_info.h"
#include "plugin/cli/command_flags.h"

namespace modlock::cli {
namespace {

using Verb = CommandLine::Verb;

struct Command {
  const char* group;  // the parent command, or none
  Verb verb;
  const char* name;
  const char* what;
  const char* examples;
  void (*add_flags)(CLI::App&, CommandLine&);
};

const Command kCommands[] = {
    {"", Verb::lock, "lock", "Update the lock file: keep allowed versions, add missing entries, remove unused ones",
     "  tofu-modlock lock\n"
     "  tofu-modlock lock --chdir environments/prod --install\n"
     "  tofu-modlock lock --frozen          # in CI: exit with code 3 if anything would change\n",
     lock_flags},
    {"", Verb::upgrade, "upgrade", "Lock the newest versions that the constraints allow",
     "  tofu-modlock upgrade\n"
     "  tofu-modlock upgrade --target module.vpc --dry-run\n"
     "  tofu-modlock upgrade --target provider.hashicorp/aws\n"
     "  tofu-modlock upgrade --install\n",
     upgrade_flags},
    {"", Verb::update, "update", "Change a version in the configuration and the lock file, and nothing else",
     "  tofu-modlock update --list\n"
     "  tofu-modlock update module.vpc=2.1.0 provider.hashicorp/aws=6.2.0\n"
     "  tofu-modlock update 'module.vpc=~> 2.0' --dry-run\n"
     "  tofu-modlock update module.vpc=2.1.0 --pin immutable --format markdown\n"
     "  tofu-modlock update --from-file updates.json     # from postUpgradeTasks of Renovate\n",
     update_flags},
    {"", Verb::install, "install", "Install the locked packages where tofu and terraform expect them",
     "  tofu-modlock install && tofu init\n"
     "  tofu-modlock install --offline      # only from the cache\n"
     "  tofu-modlock install --overrides    # for calls with a version on a git or OCI source\n",
     install_flags},
    {"", Verb::verify, "verify", "Check installed modules and providers against the lock file (offline)",
     "  tofu-modlock verify\n"
     "  tofu-modlock verify --online        # also query the sources: moved, vanished, newer\n"
     "  tofu-modlock verify --strict --json\n"
     "  tofu-modlock verify --sarif > verify.sarif\n",
     verify_flags},
    {"", Verb::inspect, "inspect", "Show the module tree (sources, constraints, locked versions) and the providers",
     "  tofu-modlock inspect\n"
     "  tofu-modlock inspect --json --chdir environments/prod\n",
     inspect_flags},
    {"", Verb::graph, "graph", "Print the graph of the modules and providers of a root module",
     "  tofu-modlock graph > modules.mmd\n"
     "  tofu-modlock graph --format dot | dot -Tsvg > modules.svg\n",
     graph_flags},
    {"", Verb::versions, "versions", "List the versions that a module source offers",
     "  tofu-modlock versions git::https://example.com/network.git\n"
     "  tofu-modlock versions github.com/example/network --constraint '~> 1.2'\n",
     versions_flags},
    {"", Verb::explain, "explain",
     "Explain why a module or provider has its version: list each constraint, its location, and the versions it allows",
     "  tofu-modlock explain module.vpc.nested\n"
     "  tofu-modlock explain provider.hashicorp/aws\n"
     "  tofu-modlock explain --credentials registry.example.com\n"
     "  tofu-modlock explain --credentials ghcr.io/team/network\n",
     explain_flags},
    {"", Verb::sbom, "sbom", "Print an SBOM (CycloneDX 1.6) of the locked versions",
     "  tofu-modlock sbom --name shop-network > bom.cdx.json\n", sbom_flags},
    {"", Verb::merge, "merge",
     "Merge lock files entry by entry, as a merge driver of git: the result is written to OURS; exit code 0 without a "
     "conflict, 1 with one, 2 if a file cannot be read",
     "  git config merge.tofu-modlock.driver 'tofu-modlock merge --marker-size %L %O %A %B'\n"
     "  echo '.terraform.lock.hcl merge=tofu-modlock' >> .gitattributes\n",
     merge_flags},
    {"cache", Verb::cache_info, "info", "Show the location and size of the cache", "  tofu-modlock cache info\n",
     cache_info_flags},
    {"cache", Verb::cache_prune, "prune", "Remove unused packages and incomplete downloads",
     "  tofu-modlock cache prune --max-age 720h\n"
     "  tofu-modlock cache prune --max-bytes 2GiB\n",
     cache_prune_flags},
    {"", Verb::mirror, "mirror", "Run a command with a local module registry that serves only the locked versions",
     "  tofu-modlock mirror -- tofu init -upgrade\n"
     "  tofu-modlock mirror --chdir environments/prod -- terraform get -update\n",
     mirror_flags},
    {"", Verb::hook, "hook",
     "Run as a Terragrunt hook: install locked packages before init and get, verify them before plan, apply and "
     "similar commands, restore dropped module blocks after init; do nothing for other commands",
     "  tofu-modlock hook --unit live/prod/vpc --root . init\n"
     "  tofu-modlock hook --unit live/prod/vpc --root . --after init\n"
     "  tofu-modlock hook --unit live/prod/vpc --root . plan\n",
     hook_flags},
    {"", Verb::doctor, "doctor",
     "Check the environment: git, the client, certificates, proxies, credentials, settings, and the cache",
     "  tofu-modlock doctor\n"
     "  tofu-modlock doctor --online         # also query the hosts of the configuration\n"
     "  tofu-modlock doctor --host registry.example.com\n",
     doctor_flags},
    {"", Verb::serve, "serve", "Serve JSON-RPC 2.0 on stdin and stdout (for programs)",
     "  tofu-modlock serve < requests.jsonl\n", serve_flags},
    {"", Verb::call, "call", "Call one method of the protocol and print its result",
     "  tofu-modlock call lock/plan --params '{\"root\": \"/srv/infra\"}'\n"
     "  echo '{\"root\": \"/srv/infra\"}' | tofu-modlock call lock/verify --params -\n",
     call_flags},
    {"", Verb::schema, "schema", "Print the protocol as a document for programs",
     "  tofu-modlock schema openrpc > openrpc.json\n"
     "  tofu-modlock schema jsonschema\n",
     schema_flags},
};

CLI::App& place_of(const Command& command, CLI::App& app) {
  if (*command.group == '\0') {
    return app;
  }
  const auto found = app.get_subcommands([&](const CLI::App* added) { return added->get_name() == command.group; });
  if (!found.empty()) {
    return *found.front();
  }
  CLI::App* group = app.add_subcommand(command.group, "Manage the package cache");
  group->require_subcommand(1);
  return *group;
}

void add_command(CLI::App& app, const Command& command, CommandLine& out) {
  CLI::App& added = *place_of(command, app).add_subcommand(command.name, command.what);
  added.footer(std::string("Examples:\n") + command.examples);
  // The flags of commands that the line does not name would take a tenth of the time of `--version`, and CLI11 would
  // read their environment variables over the flags of this one.
  added.preparse_callback([&](std::size_t) { command.add_flags(added, out); });
  added.parse_complete_callback([&] { out.verb = command.verb; });
}

// For `tofu` and `terraform`, the program's name determines the client.
void name_implementation(CommandLine& line) {
  if (line.verb != Verb::mirror || !line.common.implementation.empty()) {
    return;
  }
  const std::string name = line.command.front().substr(line.command.front().rfind('/') + 1);
  line.common.implementation = name == "tofu" ? "opentofu" : name == "terraform" ? name : "";
}

}  // namespace

std::variant<CommandLine, int> parse_command_line(int argc, const char* const* argv) {
  CommandLine out;
  CLI::App app("Locks what OpenTofu leaves unlocked: module versions.", "tofu-modlock");
  app.set_version_flag("--version", std::string(kVersion));
  app.require_subcommand(1);
  app.footer(
      "Start with `tofu-modlock lock` in a root module, then `tofu-modlock install`.\n"
      "Exit codes: 0 ok, 1 internal, 2 usage, 3 not up to date, 4 integrity, 5 vanished, 6 no version, "
      "7 unreachable, 8 invalid input.");
  for (const Command& command : kCommands) {
    add_command(app, command, out);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  name_implementation(out);
  return out;
}

}  // namespace modlock::cli
