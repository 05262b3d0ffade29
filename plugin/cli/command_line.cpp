#include "plugin/cli/command_line.h"

#include <CLI/CLI.hpp>

#include "plugin/build_info.h"

namespace modlock::cli {
namespace {

using Verb = CommandLine::Verb;

CLI::App* add_verb(CLI::App& app, CommandLine& out, Verb verb, const std::string& name, const std::string& what,
                   const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, what);
  command->footer("Examples:\n" + examples);
  // Not `callback`: CLI11 would then read the variables of every other command too, over the flags of this one.
  command->parse_complete_callback([&out, verb] { out.verb = verb; });
  return command;
}

void add_place_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--cache-dir", flags.cache_dir, "Directory of the package cache")
      ->envname("TOFU_MODLOCK_CACHE_DIR")
      ->type_name("DIR");
  command
      .add_option("--config-file", flags.config_file,
                  "Settings of this user instead of ~/.config/tofu-modlock/config.hcl")
      ->envname("TOFU_MODLOCK_CONFIG_FILE")
      ->type_name("FILE");
}

void add_store_flags(CLI::App& command, CommonFlags& flags) {
  add_place_flags(command, flags);
  command.add_flag("--json", flags.json, "Print the result as JSON");
}

void add_network_flags(CLI::App& command, CommonFlags& flags) {
  command.add_flag("--offline", flags.offline, "Send no request at all")->envname("TOFU_MODLOCK_OFFLINE");
  command
      .add_option("--git-engine", flags.git_engine, "Who speaks with git repositories over http: auto, libgit2 or git")
      ->envname("TOFU_MODLOCK_GIT_ENGINE")
      ->check(CLI::IsMember({"auto", "libgit2", "git"}));
}

void add_implementation_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--implementation", flags.implementation, "The tool that will run")
      ->envname("TOFU_MODLOCK_IMPLEMENTATION")
      ->check(CLI::IsMember({"opentofu", "terraform"}));
  command.add_option("--implementation-version", flags.implementation_version, "Its version")
      ->envname("TOFU_MODLOCK_IMPLEMENTATION_VERSION")
      ->type_name("VERSION");
}

// Each is taken when it is met: of a value and a file the later one wins.
void add_variable_flags(CLI::App& command, CommonFlags& flags) {
  const auto add = [&](const char* names, const char* type, bool is_file, const char* what) {
    command
        .add_option_function<std::string>(
            names,
            [&flags, is_file](const std::string& text) {
              flags.variables.push_back({is_file, text});
            },
            what)
        ->type_name(type)
        ->trigger_on_parse();
  };
  add("--variable,--var", "NAME=VALUE", false, "A value for a variable of the root module");
  add("--var-file", "FILE", true, "A file with values for variables, relative to the root");
}

// What decides how a root is read.
void add_reading_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--data-dir", flags.data_dir, "Data directory instead of .terraform")
      ->envname("TF_DATA_DIR")
      ->type_name("DIR");
  add_variable_flags(command, flags);
  command.add_option("--workspace", flags.workspace, "The selected workspace")
      ->envname("TF_WORKSPACE")
      ->type_name("NAME");
  add_implementation_flags(command, flags);
}

void add_root_flags(CLI::App& command, CommonFlags& flags) {
  add_store_flags(command, flags);
  command.add_option("DIR,--chdir", flags.directories, "Root modules to work on (default: the current directory)");
  command.add_flag("--recursive", flags.recursive, "Every directory below that has a lock file");
  add_reading_flags(command, flags);
}

void add_include_flag(CLI::App& command, CommonFlags& flags) {
  command.add_option("--include", flags.include, "Only modules, or only providers")
      ->check(CLI::IsMember({"modules", "providers"}))
      ->delimiter(',');
}

void add_override_flags(CLI::App& command, CommandLine& out) {
  CLI::Option* write = command.add_flag_callback(
      "--overrides", [&out] { out.overrides = true; },
      "Write modlock_override.tf beside calls with a version on a git or OCI source (OpenTofu 1.10+)");
  command
      .add_flag_callback(
          "--no-overrides", [&out] { out.overrides = false; }, "Remove these files")
      ->excludes(write);
}

void add_plan_flags(CLI::App& command, CommandLine& out) {
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_include_flag(command, out.common);
  command.add_flag("--dry-run", out.dry_run, "Print the change as a unified diff, write nothing");
  command
      .add_option("--platform", out.platforms,
                  "Lock the providers for this platform, instead of those of the settings (linux_amd64; repeatable)")
      ->type_name("OS_ARCH")
      ->take_all();
  command
      .add_option("--hashes", out.hashes,
                  "Of providers: superset (all that any client may want to add), init (what `init` writes) or "
                  "providers-lock (what `providers lock` writes)")
      ->check(CLI::IsMember({"superset", "init", "providers-lock"}));
  command
      .add_option("--resolution", out.resolution,
                  "auto: calls of one repository share a version; unified: of every source; per-call: each its own")
      ->envname("TOFU_MODLOCK_RESOLUTION")
      ->check(CLI::IsMember({"auto", "unified", "per-call"}));
  command
      .add_option("--minimum-release-age", out.minimum_release_age,
                  "Choose only what was first seen so long ago, whatever the settings say (0s: anything)")
      ->envname("TOFU_MODLOCK_MINIMUM_RELEASE_AGE")
      ->type_name("DURATION");
  command.add_flag("--no-adopt", out.no_adopt,
                   "Where nothing is locked yet: choose anew instead of keeping the versions that are installed");
  command.add_flag("--install", out.install, "Install what is locked afterwards");
  add_override_flags(command, out);
}

void add_lock(CLI::App& app, CommandLine& out) {
  CLI::App* lock = add_verb(app, out, Verb::lock, "lock",
                            "Bring the lock up to date: what is locked and allowed stays, the rest is added or removed",
                            "  tofu-modlock lock\n"
                            "  tofu-modlock lock --chdir environments/prod --install\n"
                            "  tofu-modlock lock --frozen          # in CI: exit 3 where anything would change\n");
  add_plan_flags(*lock, out);
  lock->add_flag("--frozen", out.frozen, "Change nothing; exit 3 where the lock is not up to date");

  CLI::App* upgrade =
      add_verb(app, out, Verb::upgrade, "upgrade", "Lock the newest versions that the constraints allow",
               "  tofu-modlock upgrade\n"
               "  tofu-modlock upgrade --target module.vpc --dry-run\n"
               "  tofu-modlock upgrade --target provider.hashicorp/aws\n"
               "  tofu-modlock upgrade --install\n");
  add_plan_flags(*upgrade, out);
  upgrade
      ->add_option("--target", out.targets,
                   "Only this module call and what it calls (module.vpc.nested), or this provider")
      ->type_name("SUBJECT")
      ->take_all();
}

void add_install_and_verify(CLI::App& app, CommandLine& out) {
  CLI::App* install =
      add_verb(app, out, Verb::install, "install", "Put the locked packages where a stock tofu or terraform uses them",
               "  tofu-modlock install && tofu init\n"
               "  tofu-modlock install --offline      # from the cache alone\n"
               "  tofu-modlock install --overrides    # for calls with a version on a git or OCI source\n");
  add_root_flags(*install, out.common);
  add_network_flags(*install, out.common);
  add_override_flags(*install, out);

  CLI::App* verify = add_verb(app, out, Verb::verify, "verify", "Compare what is installed with the lock, offline",
                              "  tofu-modlock verify\n"
                              "  tofu-modlock verify --online        # also ask the sources: moved, vanished, newer\n"
                              "  tofu-modlock verify --strict --json\n"
                              "  tofu-modlock verify --sarif > verify.sarif\n");
  add_root_flags(*verify, out.common);
  add_include_flag(*verify, out.common);
  CLI::Option* online = verify->add_flag("--online", out.online, "Ask the sources too what became of what is locked");
  add_network_flags(*verify, out.common);
  verify->get_option("--offline")->excludes(online);
  verify->add_flag("--strict", out.strict, "Count every differing file, and calls that cannot be locked yet");
  verify->add_flag("--full", out.full, "Hash every file again, also those that did not change since the last time");
  verify->add_flag("--sarif", out.sarif, "Print the result as SARIF 2.1.0")->excludes("--json");
}

void add_questions(CLI::App& app, CommandLine& out) {
  CLI::App* inspect = add_verb(app, out, Verb::inspect, "inspect",
                               "Show the module tree (sources, constraints, locked versions) and the providers",
                               "  tofu-modlock inspect\n"
                               "  tofu-modlock inspect --json --chdir environments/prod\n");
  add_root_flags(*inspect, out.common);

  CLI::App* graph = add_verb(app, out, Verb::graph, "graph", "Draw the modules and providers of a root module",
                             "  tofu-modlock graph > modules.mmd\n"
                             "  tofu-modlock graph --format dot | dot -Tsvg > modules.svg\n");
  add_root_flags(*graph, out.common);
  graph->add_option("--format", out.graph_format, "mermaid (default) or dot")->check(CLI::IsMember({"mermaid", "dot"}));

  CLI::App* versions = add_verb(app, out, Verb::versions, "versions", "List the versions that a module source offers",
                                "  tofu-modlock versions git::https://example.com/network.git\n"
                                "  tofu-modlock versions github.com/example/network --constraint '~> 1.2'\n");
  add_store_flags(*versions, out.common);
  add_network_flags(*versions, out.common);
  add_implementation_flags(*versions, out.common);
  versions->add_option("SOURCE", out.source, "A module source address")->required();
  versions->add_option("--constraint", out.constraint, "Also say which version it selects");
  versions->add_option("--tag-prefix", out.tag_prefix, "Only tags with this prefix (monorepo: nested/)");
  versions->add_flag("--include-prerelease", out.include_prerelease, "List prereleases too");

  CLI::App* explain = add_verb(
      app, out, Verb::explain, "explain",
      "Say why a module or a provider has its version: who constrains it where, and which versions that leaves",
      "  tofu-modlock explain module.vpc.nested\n"
      "  tofu-modlock explain provider.hashicorp/aws\n"
      "  tofu-modlock explain --credentials registry.example.com\n"
      "  tofu-modlock explain --credentials ghcr.io/team/network\n");
  add_store_flags(*explain, out.common);
  explain->add_option("--chdir", out.common.directories, "The root module (default: the current directory)")
      ->expected(1);
  add_reading_flags(*explain, out.common);
  add_network_flags(*explain, out.common);
  CLI::Option* subject = explain->add_option(
      "SUBJECT", out.subject, "A module call (module.NAME or module.NAME.NESTED), or provider.NAMESPACE/TYPE");
  explain
      ->add_option("--credentials", out.credentials,
                   "Show instead which credentials a host gets, for OCI with the repository: the places, no secret")
      ->type_name("HOST[/REPOSITORY]")
      ->excludes(subject);

  CLI::App* sbom = add_verb(app, out, Verb::sbom, "sbom", "Print a bill of materials (CycloneDX 1.6) of what is locked",
                            "  tofu-modlock sbom --name shop-network > bom.cdx.json\n");
  sbom->add_option("DIR,--chdir", out.common.directories, "Root modules to work on (default: the current directory)");
  sbom->add_flag("--recursive", out.common.recursive, "Every directory below that has a lock file");
  sbom->add_option("--name", out.name, "What the parts are parts of (default: root module)")->type_name("NAME");

  CLI::App* cache = app.add_subcommand("cache", "Look after the package cache");
  cache->require_subcommand(1);
  CLI::App* info = add_verb(*cache, out, Verb::cache_info, "info", "Where the cache is and how much it holds",
                            "  tofu-modlock cache info\n");
  add_store_flags(*info, out.common);

  CLI::App* prune = add_verb(*cache, out, Verb::cache_prune, "prune",
                             "Remove what was not used for long, and what was left unfinished",
                             "  tofu-modlock cache prune --max-age 720h\n"
                             "  tofu-modlock cache prune --max-bytes 2GiB\n");
  add_store_flags(*prune, out.common);
  prune->add_option("--max-bytes", out.max_bytes, "Keep at most so much: the longest unused goes first")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  prune->add_option("--max-age", out.max_age, "Keep what was used within this time (720h)")->type_name("DURATION");
}

void add_mirror(CLI::App& app, CommandLine& out) {
  CLI::App* mirror = add_verb(app, out, Verb::mirror, "mirror",
                              "Run a command for which module registries offer exactly what is locked, from the cache",
                              "  tofu-modlock mirror -- tofu init -upgrade\n"
                              "  tofu-modlock mirror --chdir environments/prod -- terraform get -update\n");
  add_place_flags(*mirror, out.common);
  mirror
      ->add_option("--chdir", out.common.directories,
                   "The root module, and where the command runs (default: the current directory)")
      ->expected(1);
  add_reading_flags(*mirror, out.common);
  add_network_flags(*mirror, out.common);
  mirror->add_option("COMMAND", out.command, "The program and its arguments, behind --")->required();
}

// Of `tofu` and `terraform` the program's name says which they are.
void name_implementation(CommandLine& line) {
  if (line.verb != Verb::mirror || !line.common.implementation.empty()) {
    return;
  }
  const std::string name = line.command.front().substr(line.command.front().rfind('/') + 1);
  line.common.implementation = name == "tofu" ? "opentofu" : name == "terraform" ? name : "";
}

void add_protocol(CLI::App& app, CommandLine& out) {
  CLI::App* serve = add_verb(app, out, Verb::serve, "serve", "Speak JSON-RPC 2.0 over stdin and stdout (for programs)",
                             "  tofu-modlock serve < requests.jsonl\n");
  serve->add_option("--max-message-bytes", out.max_message_bytes,
                    "Longest line accepted (default 8 MiB, at most 64 MiB)");
  serve->add_option("--drain-ms", out.drain_ms, "How long requests may finish after the end of input")
      ->check(CLI::NonNegativeNumber);

  CLI::App* call = add_verb(app, out, Verb::call, "call", "Call one method of the protocol and print its result",
                            "  tofu-modlock call lock/plan --params '{\"root\": \"/srv/infra\"}'\n"
                            "  echo '{\"root\": \"/srv/infra\"}' | tofu-modlock call lock/verify --params -\n");
  call->add_option("METHOD", out.method, "Name of the method")->required();
  call->add_option("--params", out.params, "The params as JSON; - reads them from stdin")->type_name("JSON");
  call->add_option("--cache-dir", out.common.cache_dir, "Directory of the package cache")
      ->envname("TOFU_MODLOCK_CACHE_DIR");
  call->add_option("--config-file", out.common.config_file, "Settings of this user")
      ->envname("TOFU_MODLOCK_CONFIG_FILE");
  add_implementation_flags(*call, out.common);
  add_network_flags(*call, out.common);
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
  add_lock(app, out);
  add_install_and_verify(app, out);
  add_questions(app, out);
  add_mirror(app, out);
  add_protocol(app, out);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  name_implementation(out);
  return out;
}

}  // namespace modlock::cli
