#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

#include "backends/base/build_info.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/flag_groups.h"

namespace modlock::cli {
namespace {

void add_include_flag(CLI::App& command, CommonFlags& flags) {
  const auto set = [&flags](const std::vector<std::string>& kinds) {
    const auto has = [&](const char* kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); };
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

// CLI11 reads "-1" as the largest number, and larger numbers as the largest one.
std::string check_size_range(const std::string& size) {
  std::uint64_t number = 0;
  return std::from_chars(size.data(), size.data() + size.size(), number).ec == std::errc()
             ? std::string()
             : "a size is a whole number below 2^64 and a unit, such as 2GiB, found \"" + size + "\"";
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
  add_override(command, "resolution", out.plan.resolution);
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

void sbom_flags(CLI::App& command, CommandLine& out) {
  out.common.needs_cache = out.common.uses_age = false;
  add(command, "DIR,--chdir", out.common.directories, kDirectories, {.value = "DIR"});
  add_recursive_flags(command, out.common);
  add_data_dir_flag(command, out.common);
  add_workspace_root_flag(command, out.common);
  add(command, "--name", out.name, "Name of the product that the SBOM describes (default: root module)",
      {.value = "NAME"});
}

void merge_flags(CLI::App& command, CommandLine& out) {
  add(command, "BASE", out.merge_base, "The common ancestor (%O)");
  add(command, "OURS", out.merge_ours, "This branch's version, which the result replaces (%A)");
  add(command, "THEIRS", out.merge_theirs, "The other branch's version (%B)");
  check_number(
      add(command, "--marker-size", out.marker_size, "Length of conflict markers (%L, default 7)", {.value = "NUMBER"}),
      7, 1000);
}

void add_provider_flags(CLI::App& command, CommandLine& out) {
  add(command, "--providers", out.push.created.with_providers, "Include the locked providers");
  add(command, "--platform", out.push.created.platforms,
      "Include the providers for this platform, instead of this machine's (linux_amd64; repeatable)",
      {.value = "OS_ARCH"})
      ->needs("--providers");
}

void add_output_flag(CLI::App& command, CommandLine& out) {
  add(command, "-o,--output", out.output, "A directory that does not exist, or a file whose name ends with .tar",
      {.value = "FILE"})
      ->required();
}

void bundle_create_flags(CLI::App& command, CommandLine& out) {
  out.common.uses_age = false;
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_provider_flags(command, out);
  add_output_flag(command, out);
}

void bundle_push_flags(CLI::App& command, CommandLine& out) {
  out.common.uses_age = false;
  add(command, "REPOSITORY", out.push.address, "oci://HOST/REPOSITORY")->required();
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_provider_flags(command, out);
  add(command, "--input", out.bundle, "Upload this bundle instead of the packages of root modules", {.value = "BUNDLE"})
      ->excludes("--providers", "--chdir", "--recursive");
  add(command, "--check", out.push.check, "Check each package in the registry, and upload missing parts");
  add_plain_http_flag(command, out.common);
}

void bundle_pull_flags(CLI::App& command, CommandLine& out) {
  out.common.uses_age = false;
  add(command, "REPOSITORY", out.push.address, "oci://HOST/REPOSITORY")->required();
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_output_flag(command, out);
  add_plain_http_flag(command, out.common);
}

void bundle_unpack_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  add(command, "BUNDLE", out.bundle, "A directory or a .tar file", {.value = "FILE"})->required();
  add(command, "--provider-mirror", out.provider_mirror, "The directory that gets the providers",
      {.value = "DIRECTORY"})
      ->required();
  add(command, "--cli-config", out.cli_config, "The CLI configuration that is written", {.value = "FILE"})->required();
}

void bundle_read_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  add(command, "BUNDLE", out.bundle, "A directory, a .tar file, or oci://HOST/REPOSITORY", {.value = "BUNDLE"})
      ->required();
  add_plain_http_flag(command, out.common);
}

void cache_info_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
}

void cache_prune_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  add(command, "--max-bytes", out.prune.max_bytes,
      "Maximum cache size; the least recently used packages are removed first")
      ->transform(CLI::AsSizeValue(false))
      ->transform(CLI::Validator([](std::string& size) { return check_size_range(size); }, ""))
      ->type_name("SIZE");
  add(command, "--max-age", out.prune.max_age, "Keep packages used within this time (30d, 12h)", {.value = "DURATION"});
}

void mirror_flags(CLI::App& command, CommandLine& out) {
  out.common.uses_age = false;
  add_place_flags(command, out.common);
  add(command, "--chdir", out.common.directories,
      "The root module, and the directory in which the command runs (default: the current directory)", {.value = "DIR"})
      ->expected(1);
  add_reading_flags(command, out.common);
  add_network_flags(command, out.common);
  add(command, "COMMAND", out.command, "The program and its arguments, after --")->required();
}

void hook_flags(CLI::App& command, CommandLine& out) {
  add_place_flags(command, out.common);
  add_reading_flags(command, out.common);
  add_network_flags(command, out.common);
  add(command, "--unit", out.unit, "Directory of the unit: of terragrunt.hcl, the lock file and its settings",
      {.value = "DIR"})
      ->required();
  add(command, "--root", out.repository, "Directory up to which settings are searched: the repository",
      {.value = "DIR"})
      ->required();
  add(command, "--source", out.unit_source,
      "The source that Terragrunt downloads for the unit, if terragrunt.hcl computes it",
      {.value = "SOURCE", .variable = "TG_CTX_SOURCE"});
  add(command, "--replaced-source", out.is_source_replaced,
      "Terragrunt was started with --source, so the source of the unit is another one");
  add(command, "--working-dir", out.unit_place,
      "Where Terragrunt will run the client: after terragrunt-read-config, the locked source is put there",
      {.value = "DIR"});
  add(command, "--after", out.after, "The command has run");
  add(command, "COMMAND", out.client_command, "The command of the client (default: from Terragrunt)",
      {.variable = "TG_CTX_COMMAND"})
      ->required();
  add(command, "--strict", out.verify.strict, "Stop if the source of the unit cannot be determined (default in CI)");
  add(command, "--allow-unchecked-source", out.allow_unchecked_source,
      "Units for which that is allowed: a glob relative to --root (repeatable, or several separated by \":\")",
      {.value = "UNIT-GLOB", .variable = "TOFU_MODLOCK_ALLOW_UNCHECKED_SOURCE"})
      ->delimiter(':');
  add(command, "--upgrade", out.upgrade, "Lock newer versions before init, but not in CI");
  add(command, "--target", out.targets,
      "Before init, lock this module again, also if its tag was moved, but not in CI (repeatable, or several separated "
      "by \",\")",
      {.value = "SUBJECT", .variable = "TOFU_MODLOCK_TARGET"})
      ->delimiter(',');
}

void doctor_flags(CLI::App& command, CommandLine& out) {
  out.common.diagnoses = true;
  out.common.only_locks = true;  // it also examines a machine that has no configuration yet
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  CLI::Option* online = add(command, "--online", out.verify.online, "Also query the hosts that the configuration uses");
  add(command, "--host", out.hosts, "Also check and query this host", {.value = "HOST"});
  command.get_option("--offline")->excludes(online);
}

void help_flags(CLI::App& command, CommandLine& out) {
  add(command, "COMMAND", out.command, "The command (default: all)");
}

void version_flags(CLI::App& /*command*/, CommandLine& /*out*/) {}

void init_flags(CLI::App& command, CommandLine& out) {
  add(command, "DIR,--chdir", out.common.directories,
      "The directory of the settings file (default: the current directory); the other files are written to the top of "
      "its git repository")
      ->expected(1);
  add(command, "--settings", out.settings, "Write .tofu-modlock.hcl, with each setting as a comment");
  add(command, "--gitattributes", out.gitattributes, "Add the line of the merge driver to .gitattributes");
  add(command, "--ci", out.ci, "Write .github/workflows/tofu-modlock.yml, or .gitlab-ci.yml",
      {.choices = {"github", "gitlab"}});
  add(command, "--pre-commit", out.pre_commit, "Write .pre-commit-config.yaml");
  add(command, "--all", out.all, "Write all four (CI: for GitLab if .gitlab-ci.yml exists)");
}

void completion_flags(CLI::App& command, CommandLine& out) {
  add(command, "SHELL", out.shell, "The shell", {.choices = {"bash", "zsh", "fish"}})->required();
}

void mcp_flags(CLI::App& command, CommandLine& out) {
  add(command, "--root", out.mcp_roots, "Directory that tools may read (default: the current one); repeatable",
      {.value = "DIR"});
  add_place_flags(command, out.common);
}

void serve_flags(CLI::App& command, CommandLine& out) {
  check_number(add(command, "--max-message-bytes", out.max_message_bytes,
                   "Longest line accepted (default 8 MiB, at most 64 MiB)"),
               0, std::numeric_limits<std::int64_t>::max());
  check_number(add(command, "--drain-ms", out.drain_ms, "How long requests may finish after the end of input"), 0,
               std::numeric_limits<int>::max());
}

void call_flags(CLI::App& command, CommandLine& out) {
  add(command, "METHOD", out.method, "Name of the method")->required();
  add(command, "--params", out.params, "The params as JSON; - reads them from stdin", {.value = "JSON"});
  add_place_flags(command, out.common);
  add_workspace_root_flag(command, out.common);
  add_implementation_flags(command, out.common);
  add_network_flags(command, out.common);
}

void schema_flags(CLI::App& command, CommandLine& out) {
  add(command, "DOCUMENT", out.document,
      "openrpc (the result of rpc.discover), jsonschema (its messages), or settings (a JSON Schema)",
      {.choices = {"openrpc", "jsonschema", "settings"}})
      ->required();
}

// Returns the version.
Result<int> run_version(const CommandLine& /*line*/) {
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
    out.command_name = command.name;
    out.has_report = command.prints == Prints::report;
  });
}

}  // namespace

void add_output_flags(CLI::App& app, CommonFlags& flags) {
  CLI::Option* quiet = app.add_flag("-q,--quiet", flags.quiet, "Print nothing on success, except requested data");
  app.add_flag("-v,--verbose", flags.verbose, "Print each request and its time on stderr")->excludes(quiet);
}

void add_commands(CLI::App& app, CommandLine& out) {
  for (const CommandRow& command : kCommands) {
    add_command(app, command, out);
  }
}

std::size_t words_before_chdir(const std::vector<std::string>& words) {
  for (const CommandRow& row : kCommands) {
    const std::size_t count = *row.parent == '\0' ? 1 : 2;
    const bool is_named = words.size() >= count && (count == 1 || words[0] == row.parent) &&
                          (words[count - 1] == row.name || words[count - 1] == row.alias);
    if (is_named) {
      CLI::App command;
      CommandLine line;
      row.add_flags(command, line);
      return command.get_option_no_throw("--chdir") == nullptr ? 0 : count;
    }
  }
  return 0;
}

}  // namespace modlock::cli
