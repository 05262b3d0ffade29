#include <algorithm>
#include <string>

#include "plugin/cli/commands.h"
#include "plugin/cli/flag_groups.h"

// The commands that lock, install and inspect the modules of root modules, and their flags.
namespace modlock::cli {
namespace {

void add_include_flag(CLI::App& command, CommonFlags& flags) {
  const auto set = [&flags](const std::vector<std::string>& kinds) {
    const auto has = [&](const char* kind) { return std::ranges::find(kinds, kind) != kinds.end(); };
    flags.include = {.modules = has("modules"), .providers = has("providers")};
  };
  check_choices(
      command.add_option_function<std::vector<std::string>>("--include", set, "Only modules, or only providers"),
      {"modules", "providers"})
      ->allow_extra_args(false)
      ->delimiter(',');
}

CLI::Option* add_base_flag(CLI::App& command, CommonFlags& flags) {
  return add(
      command, "--base", flags.engine.base,
      "The revision that the checked change is for, such as the target branch: what it declares may not be altered",
      {.value = "REVISION"});
}

void add_override_flags(CLI::App& command, CommandLine& out) {
  add_switch(command, "overrides", out.installation.overrides,
             "Write modlock_override.tf next to calls with a version on a git or OCI source (OpenTofu 1.10+)",
             "Remove these files");
}

void add_dry_run_flags(CLI::App& command, CommandLine& out) {
  add(command, "--dry-run", out.dry_run, "Print the change as a unified diff, write nothing");
  add(command, "--color", out.color,
      "Colors in the diff: auto (default: on a terminal without NO_COLOR), always or never",
      {.choices = {"auto", "always", "never"}});
}

CLI::Option* add_install_flag(CLI::App& command, CommandLine& out) {
  return add(command, "--install", out.install, "Install the locked versions afterwards");
}

CLI::Option* add_accept_moved_flag(CLI::App& command, CommandLine& out) {
  return add(command, "--accept-moved", out.plan.accept_moved,
             "Resolve the tags of locked versions again, and lock what they point to now");
}

void add_plan_flags(CLI::App& command, CommandLine& out) {
  out.common.interrupted = "nothing was written";
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_include_flag(command, out.common);
  add_dry_run_flags(command, out);
  add(command, "--platform", out.plan.platforms,
      "Lock the providers for this platform, instead of those of the settings (linux_amd64; repeatable)",
      {.value = "OS_ARCH"});
  add(command, "--hashes", out.hashes,
      "Provider hashes: superset (all that any client may add), init (what `init` writes) or "
      "providers-lock (what `providers lock` writes)",
      {.is_rare = true, .choices = {"superset", "init", "providers-lock"}});
  add_override(command, *find_setting("resolution"), out.plan.resolution);
  add(command, "--minimum-release-age", out.common.engine.minimum_release_age,
      "Select only versions first seen at least this long ago (3d, 12h); overrides the settings (0s: no minimum)",
      {.value = "DURATION", .variable = "TOFU_MODLOCK_MINIMUM_RELEASE_AGE"});
  add(command, "--no-adopt", out.no_adopt,
      "On the first lock, select versions from the sources instead of keeping the installed ones", {.is_rare = true});
  add_install_flag(command, out);
  add_override_flags(command, out);
}

void lock_flags(CLI::App& command, CommandLine& out) {
  add_plan_flags(command, out);
  add(command, "--frozen", out.frozen, "Change nothing; exit with code 3 if the lock file is not up to date");
  add_accept_moved_flag(command, out)->excludes("--frozen");
  add_base_flag(command, out.common)->needs("--frozen");
}

void upgrade_flags(CLI::App& command, CommandLine& out) {
  out.upgrade = true;
  out.common.compares = true;
  add_plan_flags(command, out);
  add(command, "--target", out.targets, "Only this module call and what it calls (module.vpc.nested), or this provider",
      {.value = "SUBJECT"});
  add(command, "--accept-moved", out.plan.accept_moved,
      "Lock what moved tags point to now (default: keep the locked versions and exit with code 4)");
}

void outdated_flags(CLI::App& command, CommandLine& out) {
  out.common.knows_units = true;
  add_root_flags(command, out.common, "--chdir");
  add(command, "SUBJECT", out.updates, "Module calls and providers (default: all)");
  add_network_flags(command, out.common);
}

void diff_flags(CLI::App& command, CommandLine& out) {
  out.common.compares = true;
  add_root_flags(command, out.common, "--chdir");
  CLI::Option* subjects =
      add(command, "SUBJECT=VERSION", out.updates,
          "Module calls, and the versions to compare with; without =VERSION the newest version below the "
          "next major one (default: all module calls with an update)");
  add(command, "--from", out.diff_from, "The old version of the subject, instead of the locked one",
      {.value = "VERSION"});
  add(command, "--to", out.diff_to, "The new version of the subject", {.value = "VERSION"});
  add(command, "--lock-rev", out.lock_rev,
      "Compare the lock file with that of this git revision, instead of with updates", {.value = "REVISION"})
      ->excludes(subjects);
  add(command, "--format", out.output_format, "text (default), json, markdown (for a pull request), or sarif (2.1.0)",
      {.choices = {"text", "json", "markdown", "sarif"}})
      ->excludes("--json");
  check_choices(command.add_flag("--exit-code{risky}", out.exit_grade,
                                 "Exit with code 3 if there is a finding of this grade or a worse one: breaking, risky "
                                 "(default), or notable"),
                {"breaking", "risky", "notable"});
  add_network_flags(command, out.common);
}

void update_flags(CLI::App& command, CommandLine& out) {
  out.common.interrupted = "nothing was written";
  out.common.compares = true;
  add_root_flags(command, out.common, "--chdir",
                 "Root module to process, repeatable (default: the current directory; with --from-file and --from-diff "
                 "every root module of the repository that has a lock file)");
  CLI::Option* updates = add(command, "SUBJECT=VERSION", out.updates,
                             "A module call or a provider, and the version or the constraint that it should have; "
                             "without =VERSION the newest version below the next major one");
  CLI::Option* list = add(command, "--list", out.list, "List available updates and change nothing");
  CLI::Option* diff =
      add(command, "--from-diff", out.from_diff,
          "Update the lock file for what the configuration changed since this git revision", {.value = "REVISION"});
  diff->excludes(updates, list);
  add(command, "--from-file", out.from_file,
      "JSON: a list of {depName, packageFile, currentValue, newValue, newVersion} or of {subject, newVersion, "
      "newConstraint}",
      {.value = "FILE", .variable = "RENOVATE_POST_UPGRADE_COMMAND_DATA_FILE"})
      ->excludes(diff);
  add(command, "--pin", out.pin,
      "For git and OCI sources: write the tag or the immutable id (commit, digest), also in place of a version "
      "argument",
      {.choices = {"tag", "immutable"}})
      ->excludes(diff);
  add_include_flag(command, out.common);
  command.get_option("--include")->excludes(list);
  add_accept_moved_flag(command, out)->excludes(list);
  add_dry_run_flags(command, out);
  add_install_flag(command, out)->excludes(list);
  add(command, "--format", out.output_format, "text (default) or markdown: a summary of the change",
      {.choices = {"text", "markdown"}})
      ->excludes("--json");
  add_network_flags(command, out.common);
}

void install_flags(CLI::App& command, CommandLine& out) {
  out.common.interrupted = "the installation is incomplete";
  out.common.uses_age = false;
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_override_flags(command, out);
  add(command, "--from", out.from,
      "Install packages that the cache lacks from a bundle: a path or oci://HOST/REPOSITORY", {.value = "BUNDLE"});
  add(command, "--remote-only", out.remote_only,
      "Send no request to the sources: use only the cache and the bundle or remote store");
  add_switch(command, "link", out.installation.link, "Make symbolic links into the cache instead of copies",
             "Make copies, also if your settings have install = \"link\"");
  add_switch(command, "strict", out.installation.strict,
             "A Git LFS pointer in place of its content is an error (default in CI)",
             "Install such pointers with a warning, also in CI");
  if (command.get_name() == "install") {
    check(add(command, "--replace", out.replacements, "Copy this directory in place of a locked package (repeatable)",
              {.value = "module.KEY=DIR"}),
          "module.KEY=DIR",
          [](const std::string& text) { return text.starts_with("module.") && text.find('=') < text.size() - 1; });
  }
  add_plain_http_flag(command, out.common);
}

void add_age_flag(CLI::App& command, CommandLine& out) {
  command.get_option("--offline")
      ->excludes(command.add_flag("--age", out.verify.age,
                                  "Also check that the locked releases are older than the minimum release age"));
}

void ci_flags(CLI::App& command, CommandLine& out) {
  out.common.knows_units = true;
  install_flags(command, out);
  add_include_flag(command, out.common);
  add_age_flag(command, out);
  add_base_flag(command, out.common);
  command.get_option("--json")->group("");  // an error that names the commands that have it
}

void verify_flags(CLI::App& command, CommandLine& out) {
  out.common.needs_cache = out.common.uses_age = false;
  out.common.knows_units = true;
  add_root_flags(command, out.common);
  add_include_flag(command, out.common);
  CLI::Option* online =
      add(command, "--online", out.verify.online, "Also check the sources for moved, deleted, and newer versions");
  add_network_flags(command, out.common);
  command.get_option("--offline")->excludes(online);
  add_age_flag(command, out);
  add_base_flag(command, out.common);
  add(command, "--strict", out.verify.strict, "Report every differing file, and calls that cannot be locked yet");
  add(command, "--full", out.verify.full,
      "Hash every file, including files that did not change since the last run; with --online, download unchanged "
      "archives");
  add(command, "--sarif", out.common.sarif, "Print the result as SARIF 2.1.0")->excludes("--json");
}

void status_flags(CLI::App& command, CommandLine& out) {
  out.common.knows_units = true;
  out.common.needs_cache = false;
  add_root_flags(command, out.common);
  add_include_flag(command, out.common);
  add_network_flags(command, out.common);
}

void inspect_flags(CLI::App& command, CommandLine& out) {
  out.common.needs_cache = out.common.uses_age = false;
  add_root_flags(command, out.common);
  add(command, "--format", out.output_format,
      "text (default) or terraform-modules: the JSON of terraform modules -json, with the lock entry of each module "
      "call",
      {.choices = {"text", "terraform-modules"}})
      ->excludes("--json");
}

void graph_flags(CLI::App& command, CommandLine& out) {
  out.common.needs_cache = out.common.uses_age = false;
  add_root_flags(command, out.common);
  out.output_format = "mermaid";
  add(command, "--format", out.output_format, "mermaid (default) or dot", {.choices = {"mermaid", "dot"}});
}

void versions_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  add_network_flags(command, out.common);
  add_implementation_flags(command, out.common);
  add(command, "SOURCE", out.versions.source, "A module source address")->required();
  add(command, "--constraint", out.versions.constraint, "Also show which version it selects");
  add(command, "--tag-prefix", out.versions.tag_prefix, "Only tags with this prefix (monorepo: nested/)");
  add(command, "--include-prerelease", out.versions.include_prerelease, "List prereleases too");
}

void explain_flags(CLI::App& command, CommandLine& out) {
  add_root_flags(command, out.common, "--chdir", "The root module (default: the current directory)");
  command.get_option("--chdir")->expected(1);
  add_network_flags(command, out.common);
  CLI::Option* subject =
      add(command, "SUBJECT", out.subject,
          "A module call (module.NAME.NESTED, or NAME.NESTED) or a provider (provider.NAMESPACE/TYPE, or TYPE)");
  add(command, "--credentials", out.credentials,
      "Show instead the credential sources of a host (for OCI, of a repository), without secrets",
      {.value = "HOST[/REPOSITORY]"})
      ->excludes(subject);
  CLI::Option* find = add(command, "--find", out.find,
                          "List instead each root module and call path that is locked to a release of a module or "
                          "provider, from lock files",
                          {.value = "SOURCE[@VERSION|COMMIT|DIGEST]"});
  find->excludes(subject)->excludes("--credentials");
  command.get_option("--recursive")->needs(find);
}

constexpr const char* kLock = "Lock";
constexpr const char* kInstall = "Install and check";
constexpr const char* kInspect = "Inspect";

const CommandRow kRows[] = {
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
};

}  // namespace

std::span<const CommandRow> root_commands() {
  return kRows;
}

}  // namespace modlock::cli
