#include "plugin/cli/command_flags.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <system_error>

#include "plugin/cli/command_line.h"
#include "plugin/cli/help_text.h"
#include "plugin/settings/settings.h"

namespace modlock::cli {
namespace {

void add_place_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--cache-dir", flags.cache_dir, "Directory of the package cache")
      ->envname("TOFU_MODLOCK_CACHE_DIR")
      ->type_name("DIR")
      ->group(kRareFlags);
  command
      .add_option("--config-file", flags.config_file,
                  "Settings of this user instead of ~/.config/tofu-modlock/config.hcl")
      ->envname("TOFU_MODLOCK_CONFIG_FILE")
      ->type_name("FILE")
      ->group(kRareFlags);
}

void add_store_flags(CLI::App& command, CommonFlags& flags) {
  add_place_flags(command, flags);
  command.add_flag("--json", flags.json, "Print the result as JSON");
}

void add_network_flags(CLI::App& command, CommonFlags& flags) {
  command.add_flag("--offline", flags.offline, "Work offline: send no network requests")
      ->envname("TOFU_MODLOCK_OFFLINE");
  command.add_option("--git-engine", flags.git_engine, "Git implementation for http and https: auto, libgit2, or git")
      ->envname("TOFU_MODLOCK_GIT_ENGINE")
      ->check(CLI::IsMember({"auto", "libgit2", "git"}))
      ->group(kRareFlags);
  command
      .add_option("--connections", flags.connections,
                  "Number of parallel connections to one host (default 32, maximum 64)")
      ->envname("TOFU_MODLOCK_CONNECTIONS")
      ->check(CLI::Range(std::size_t{1}, kMostConnections))
      ->type_name("N")
      ->group(kRareFlags);
  command
      .add_option("--fetch-timeout", flags.fetch_timeout,
                  "How long a git server or a program that fetches may be silent (default 30s, at most 10m)")
      ->envname("TOFU_MODLOCK_FETCH_TIMEOUT")
      ->type_name("DURATION")
      ->group(kRareFlags);
}

void add_plain_http_flag(CLI::App& command, CommonFlags& flags) {
  command
      .add_flag("--plain-http", flags.plain_http,
                "Use plain http for the repository of a bundle; only for the loopback")
      ->group(kRareFlags);
}

void add_implementation_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--implementation", flags.implementation, "The client that will run")
      ->envname("TOFU_MODLOCK_IMPLEMENTATION")
      ->check(CLI::IsMember({"opentofu", "terraform"}))
      ->group(kRareFlags);
  command.add_option("--implementation-version", flags.implementation_version, "Its version")
      ->envname("TOFU_MODLOCK_IMPLEMENTATION_VERSION")
      ->type_name("VERSION")
      ->group(kRareFlags);
}

// Each is processed in order: of a value and a file the later one wins.
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

void add_workspace_root_flag(CLI::App& command, CommonFlags& flags) {
  command
      .add_option("--workspace-root", flags.workspace_roots,
                  "Also read files below this directory, outside of the repository (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->group(kRareFlags);
}

// Flags that decide how a root is read.
void add_reading_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--data-dir", flags.data_dir, "Data directory instead of .terraform")
      ->envname("TF_DATA_DIR")
      ->type_name("DIR")
      ->group(kRareFlags);
  add_variable_flags(command, flags);
  command.add_option("--workspace", flags.workspace, "The selected workspace")
      ->envname("TF_WORKSPACE")
      ->type_name("NAME")
      ->group(kRareFlags);
  add_workspace_root_flag(command, flags);
  add_implementation_flags(command, flags);
}

// --recursive and its search flags.
void add_recursive_flags(CLI::App& command, CommonFlags& flags) {
  command.add_flag("--recursive", flags.recursive, "Process every root module in and below these directories");
  command
      .add_option("--root-glob", flags.root_globs,
                  "With --recursive: directories that match are root modules too (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false)
      ->group(kRareFlags);
  command.add_option("--exclude", flags.exclude, "With --recursive: skip directories that match (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false)
      ->group(kRareFlags);
}

void add_jobs_flag(CLI::App& command, CommonFlags& flags) {
  command.add_option("--jobs", flags.jobs, "Number of root modules to process in parallel (default 8, maximum 64)")
      ->envname("TOFU_MODLOCK_JOBS")
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->group(kRareFlags);
}

void add_root_flags(CLI::App& command, CommonFlags& flags) {
  add_store_flags(command, flags);
  command.add_option("DIR,--chdir", flags.directories, "Root modules to process (default: the current directory)")
      ->type_name("DIR");
  add_recursive_flags(command, flags);
  add_jobs_flag(command, flags);
  add_reading_flags(command, flags);
}

void add_include_flag(CLI::App& command, CommonFlags& flags) {
  command.add_option("--include", flags.include, "Only modules, or only providers")
      ->check(CLI::IsMember({"modules", "providers"}))
      ->delimiter(',')
      ->allow_extra_args(false);
}

void add_override_flags(CLI::App& command, CommandLine& out) {
  CLI::Option* write = command.add_flag_callback(
      "--overrides", [&out] { out.overrides = true; },
      "Write modlock_override.tf next to calls with a version on a git or OCI source (OpenTofu 1.10+)");
  command
      .add_flag_callback(
          "--no-overrides", [&out] { out.overrides = false; }, "Remove these files")
      ->excludes(write);
}

// CLI11 reads "-1" as the largest number, and larger numbers as the largest one.
std::string refuse_what_wraps(const std::string& size) {
  std::uint64_t number = 0;
  return std::from_chars(size.data(), size.data() + size.size(), number).ec == std::errc()
             ? std::string()
             : "a size is a whole number below 2^64 and a unit, such as 2GiB, found \"" + size + "\"";
}

void add_dry_run_flags(CLI::App& command, CommandLine& out) {
  command.add_flag("--dry-run", out.dry_run, "Print the change as a unified diff, write nothing");
  command
      .add_option("--color", out.color,
                  "Colors in the diff: auto (default: on a terminal without NO_COLOR), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void add_install_flag(CLI::App& command, CommandLine& out) {
  command.add_flag("--install", out.install, "Install the locked versions afterwards");
}

void add_accept_moved_flag(CLI::App& command, CommandLine& out, const std::string& description) {
  command.add_flag("--accept-moved", out.accept_moved, description);
}

void add_plan_flags(CLI::App& command, CommandLine& out) {
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_include_flag(command, out.common);
  add_dry_run_flags(command, out);
  command
      .add_option("--platform", out.platforms,
                  "Lock the providers for this platform, instead of those of the settings (linux_amd64; repeatable)")
      ->type_name("OS_ARCH")
      ->allow_extra_args(false);
  command
      .add_option("--hashes", out.hashes,
                  "Provider hashes: superset (all that any client may add), init (what `init` writes) or "
                  "providers-lock (what `providers lock` writes)")
      ->check(CLI::IsMember({"superset", "init", "providers-lock"}))
      ->group(kRareFlags);
  command
      .add_option("--resolution", out.resolution,
                  "auto: calls of one repository share a version; unified: of every source; per-call: each its own")
      ->envname("TOFU_MODLOCK_RESOLUTION")
      ->check(CLI::IsMember({"auto", "unified", "per-call"}))
      ->group(kRareFlags);
  command
      .add_option(
          "--minimum-release-age", out.minimum_release_age,
          "Select only versions first seen at least this long ago (3d, 12h); overrides the settings (0s: no minimum)")
      ->envname("TOFU_MODLOCK_MINIMUM_RELEASE_AGE")
      ->type_name("DURATION");
  command
      .add_flag("--no-adopt", out.no_adopt,
                "On the first lock, select versions from the sources instead of keeping the installed ones")
      ->group(kRareFlags);
  add_install_flag(command, out);
  add_override_flags(command, out);
}

}  // namespace

void lock_flags(CLI::App& command, CommandLine& out) {
  add_plan_flags(command, out);
  command.add_flag("--frozen", out.frozen, "Change nothing; exit with code 3 if the lock file is not up to date");
  add_accept_moved_flag(command, out, "Resolve the tags of locked versions again, and lock what they point to now");
  command.get_option("--accept-moved")->excludes("--frozen");
}

void upgrade_flags(CLI::App& command, CommandLine& out) {
  out.upgrade = true;
  out.common.compares = true;
  add_plan_flags(command, out);
  command
      .add_option("--target", out.targets,
                  "Only this module call and what it calls (module.vpc.nested), or this provider")
      ->type_name("SUBJECT")
      ->allow_extra_args(false);
  add_accept_moved_flag(command, out,
                        "Lock what moved tags point to now (default: keep the locked versions and exit with code 4)");
}

void outdated_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  command.add_option("SUBJECT", out.updates, "Module calls and providers (default: all)");
  command.add_option("--chdir", out.common.directories, "Root modules to process (default: the current directory)")
      ->allow_extra_args(false)
      ->type_name("DIR");
  add_recursive_flags(command, out.common);
  add_jobs_flag(command, out.common);
  add_reading_flags(command, out.common);
  add_network_flags(command, out.common);
}

void diff_flags(CLI::App& command, CommandLine& out) {
  out.common.compares = true;
  add_store_flags(command, out.common);
  CLI::Option* subjects = command.add_option(
      "SUBJECT=VERSION", out.updates,
      "Module calls, and the versions to compare with; without =VERSION the newest version below the "
      "next major one (default: all module calls with an update)");
  command.add_option("--chdir", out.common.directories, "Root modules to process (default: the current directory)")
      ->allow_extra_args(false)
      ->type_name("DIR");
  add_recursive_flags(command, out.common);
  add_jobs_flag(command, out.common);
  command.add_option("--from", out.diff_from, "The old version of the subject, instead of the locked one")
      ->type_name("VERSION");
  command.add_option("--to", out.diff_to, "The new version of the subject")->type_name("VERSION");
  command
      .add_option("--lock-rev", out.lock_rev,
                  "Compare the lock file with that of this git revision, instead of with updates")
      ->type_name("REVISION")
      ->excludes(subjects);
  command
      .add_option("--format", out.output_format,
                  "text (default), json, markdown (for a pull request), or sarif (2.1.0)")
      ->check(CLI::IsMember({"text", "json", "markdown", "sarif"}))
      ->excludes("--json");
  command
      .add_flag("--exit-code{risky}", out.exit_grade,
                "Exit with code 3 if there is a finding of this grade or a worse one: breaking, risky (default), or "
                "notable")
      ->check(CLI::IsMember({"breaking", "risky", "notable"}));
  add_reading_flags(command, out.common);
  add_network_flags(command, out.common);
}

void update_flags(CLI::App& command, CommandLine& out) {
  out.common.compares = true;
  add_store_flags(command, out.common);
  CLI::Option* updates = command.add_option("SUBJECT=VERSION", out.updates,
                                            "A module call or a provider, and the version or the constraint that it "
                                            "should have; without =VERSION the newest version below the next major "
                                            "one");
  command
      .add_option("--chdir", out.common.directories,
                  "Root module to process, repeatable (default: the current directory; with --from-file and "
                  "--from-diff every root module of the repository that has a lock file)")
      ->allow_extra_args(false)
      ->type_name("DIR");
  add_recursive_flags(command, out.common);
  add_jobs_flag(command, out.common);
  CLI::Option* list = command.add_flag("--list", out.list, "List available updates and change nothing");
  CLI::Option* diff = command
                          .add_option("--from-diff", out.from_diff,
                                      "Update the lock file for what the configuration changed since this git revision")
                          ->type_name("REVISION")
                          ->excludes(updates, list);
  command
      .add_option("--from-file", out.from_file,
                  "JSON: a list of {depName, packageFile, currentValue, newValue, newVersion} or of {subject, "
                  "newVersion, newConstraint}")
      ->envname("RENOVATE_POST_UPGRADE_COMMAND_DATA_FILE")
      ->type_name("FILE")
      ->excludes(diff);
  command
      .add_option("--pin", out.pin,
                  "For git and OCI sources: write the tag or the immutable id (commit, digest), also in place of a "
                  "version argument")
      ->check(CLI::IsMember({"tag", "immutable"}))
      ->excludes(diff);
  add_include_flag(command, out.common);
  command.get_option("--include")->excludes("--list");
  add_accept_moved_flag(command, out, "Resolve the tags of locked versions again, and lock what they point to now");
  command.get_option("--accept-moved")->excludes("--list");
  add_dry_run_flags(command, out);
  add_install_flag(command, out);
  command.get_option("--install")->excludes("--list");
  command.add_option("--format", out.output_format, "text (default) or markdown: a summary of the change")
      ->check(CLI::IsMember({"text", "markdown"}))
      ->excludes("--json");
  add_reading_flags(command, out.common);
  add_network_flags(command, out.common);
}

void install_flags(CLI::App& command, CommandLine& out) {
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_override_flags(command, out);
  command
      .add_option("--from", out.from,
                  "Install packages that the cache lacks from a bundle: a path or oci://HOST/REPOSITORY")
      ->type_name("BUNDLE");
  command.add_flag("--remote-only", out.remote_only,
                   "Send no request to the sources: use only the cache and the bundle or remote store");
  CLI::Option* link = command.add_flag_callback(
      "--link", [&out] { out.link = true; }, "Make symbolic links into the cache instead of copies");
  command
      .add_flag_callback(
          "--no-link", [&out] { out.link = false; }, "Make copies, also if your settings have install = \"link\"")
      ->excludes(link);
  CLI::Option* strict = command.add_flag_callback(
      "--strict", [&out] { out.strict_install = true; },
      "A Git LFS pointer in place of its content is an error (default in CI)");
  command
      .add_flag_callback(
          "--no-strict", [&out] { out.strict_install = false; }, "Install such pointers with a warning, also in CI")
      ->excludes(strict);
  add_plain_http_flag(command, out.common);
}

void ci_flags(CLI::App& command, CommandLine& out) {
  install_flags(command, out);
  add_include_flag(command, out.common);
  command.get_option("--json")->group("");  // an error that names the commands that have it
}

void verify_flags(CLI::App& command, CommandLine& out) {
  add_root_flags(command, out.common);
  add_include_flag(command, out.common);
  CLI::Option* online =
      command.add_flag("--online", out.online, "Also check the sources for moved, deleted, and newer versions");
  add_network_flags(command, out.common);
  command.get_option("--offline")->excludes(online);
  command.add_flag("--strict", out.strict, "Report every differing file, and calls that cannot be locked yet");
  command.add_flag("--full", out.full, "Hash every file, including files that did not change since the last run");
  command.add_flag("--sarif", out.sarif, "Print the result as SARIF 2.1.0")->excludes("--json");
}

void status_flags(CLI::App& command, CommandLine& out) {
  add_root_flags(command, out.common);
  add_include_flag(command, out.common);
  add_network_flags(command, out.common);
}

void inspect_flags(CLI::App& command, CommandLine& out) {
  add_root_flags(command, out.common);
  command
      .add_option("--format", out.output_format,
                  "text (default) or terraform-modules: the JSON of terraform modules -json, with the lock entry of "
                  "each module call")
      ->check(CLI::IsMember({"text", "terraform-modules"}))
      ->excludes("--json");
}

void graph_flags(CLI::App& command, CommandLine& out) {
  add_root_flags(command, out.common);
  command.add_option("--format", out.graph_format, "mermaid (default) or dot")
      ->check(CLI::IsMember({"mermaid", "dot"}));
}

void versions_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  add_network_flags(command, out.common);
  add_implementation_flags(command, out.common);
  command.add_option("SOURCE", out.source, "A module source address")->required();
  command.add_option("--constraint", out.constraint, "Also show which version it selects");
  command.add_option("--tag-prefix", out.tag_prefix, "Only tags with this prefix (monorepo: nested/)");
  command.add_flag("--include-prerelease", out.include_prerelease, "List prereleases too");
}

void explain_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  command.add_option("--chdir", out.common.directories, "The root module (default: the current directory)")
      ->expected(1)
      ->allow_extra_args(false)
      ->type_name("DIR");
  add_reading_flags(command, out.common);
  add_network_flags(command, out.common);
  CLI::Option* subject = command.add_option(
      "SUBJECT", out.subject,
      "A module call (module.NAME.NESTED, or NAME.NESTED) or a provider (provider.NAMESPACE/TYPE, or TYPE)");
  command
      .add_option("--credentials", out.credentials,
                  "Show instead the credential sources of a host (for OCI, of a repository), without secrets")
      ->type_name("HOST[/REPOSITORY]")
      ->excludes(subject);
  CLI::Option* find = command
                          .add_option("--find", out.find,
                                      "List instead each root module and call path that is locked to a release of a "
                                      "module or provider, from lock files")
                          ->type_name("SOURCE[@VERSION|COMMIT|DIGEST]")
                          ->excludes(subject)
                          ->excludes("--credentials");
  add_recursive_flags(command, out.common);
  command.get_option("--recursive")->needs(find);
  add_jobs_flag(command, out.common);
}

void sbom_flags(CLI::App& command, CommandLine& out) {
  command.add_option("DIR,--chdir", out.common.directories, "Root modules to process (default: the current directory)")
      ->type_name("DIR");
  add_recursive_flags(command, out.common);
  command.add_option("--name", out.name, "Name of the product that the SBOM describes (default: root module)")
      ->type_name("NAME");
}

void merge_flags(CLI::App& command, CommandLine& out) {
  command.add_option("BASE", out.merge_base, "The common ancestor (%O)");
  command.add_option("OURS", out.merge_ours, "This branch's version, which the result replaces (%A)");
  command.add_option("THEIRS", out.merge_theirs, "The other branch's version (%B)");
  command.add_option("--marker-size", out.marker_size, "Length of conflict markers (%L, default 7)")
      ->check(CLI::Range(7, 1000))
      ->type_name("NUMBER");
}

void add_provider_flags(CLI::App& command, CommandLine& out) {
  command.add_flag("--providers", out.with_providers, "Include the locked providers");
  command
      .add_option("--platform", out.platforms,
                  "Include the providers for this platform, instead of this machine's (linux_amd64; repeatable)")
      ->type_name("OS_ARCH")
      ->needs("--providers");
}

void add_output_flag(CLI::App& command, CommandLine& out) {
  command.add_option("-o,--output", out.output, "A directory that does not exist, or a file whose name ends with .tar")
      ->type_name("FILE")
      ->required();
}

void bundle_create_flags(CLI::App& command, CommandLine& out) {
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_provider_flags(command, out);
  add_output_flag(command, out);
}

void bundle_push_flags(CLI::App& command, CommandLine& out) {
  command.add_option("REPOSITORY", out.address, "oci://HOST/REPOSITORY")->required();
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_provider_flags(command, out);
  command.add_option("--input", out.bundle, "Upload this bundle instead of the packages of root modules")
      ->type_name("BUNDLE")
      ->excludes("--providers", "--chdir", "--recursive");
  command.add_flag("--check", out.check, "Check each package in the registry, and upload missing parts");
  add_plain_http_flag(command, out.common);
}

void bundle_pull_flags(CLI::App& command, CommandLine& out) {
  command.add_option("REPOSITORY", out.address, "oci://HOST/REPOSITORY")->required();
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  add_output_flag(command, out);
  add_plain_http_flag(command, out.common);
}

void bundle_unpack_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  command.add_option("BUNDLE", out.bundle, "A directory or a .tar file")->type_name("FILE")->required();
  command.add_option("--provider-mirror", out.provider_mirror, "The directory that gets the providers")
      ->type_name("DIRECTORY")
      ->required();
  command.add_option("--cli-config", out.cli_config, "The CLI configuration that is written")
      ->type_name("FILE")
      ->required();
}

void bundle_read_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  command.add_option("BUNDLE", out.bundle, "A directory, a .tar file, or oci://HOST/REPOSITORY")
      ->type_name("BUNDLE")
      ->required();
  add_plain_http_flag(command, out.common);
}

void cache_info_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
}

void cache_prune_flags(CLI::App& command, CommandLine& out) {
  add_store_flags(command, out.common);
  command
      .add_option("--max-bytes", out.max_bytes,
                  "Maximum cache size; the least recently used packages are removed first")
      ->transform(CLI::AsSizeValue(false))
      ->transform(CLI::Validator([](std::string& size) { return refuse_what_wraps(size); }, ""))
      ->type_name("SIZE");
  command.add_option("--max-age", out.max_age, "Keep packages used within this time (30d, 12h)")->type_name("DURATION");
}

void mirror_flags(CLI::App& command, CommandLine& out) {
  add_place_flags(command, out.common);
  command
      .add_option("--chdir", out.common.directories,
                  "The root module, and the directory in which the command runs (default: the current directory)")
      ->expected(1)
      ->allow_extra_args(false)
      ->type_name("DIR");
  add_reading_flags(command, out.common);
  add_network_flags(command, out.common);
  command.add_option("COMMAND", out.command, "The program and its arguments, after --")->required();
}

void hook_flags(CLI::App& command, CommandLine& out) {
  add_place_flags(command, out.common);
  add_reading_flags(command, out.common);
  add_network_flags(command, out.common);
  command.add_option("--unit", out.unit, "Directory of the unit: of terragrunt.hcl, the lock file and its settings")
      ->type_name("DIR")
      ->required();
  command.add_option("--root", out.repository, "Directory up to which settings are searched: the repository")
      ->type_name("DIR")
      ->required();
  command
      .add_option("--source", out.unit_source,
                  "The source that Terragrunt downloads for the unit, if terragrunt.hcl computes it")
      ->envname("TG_CTX_SOURCE")
      ->type_name("SOURCE");
  command
      .add_option("--working-dir", out.unit_place,
                  "Where Terragrunt will run the client: after terragrunt-read-config, the locked source is put there")
      ->type_name("DIR");
  command.add_flag("--after", out.after, "The command has run");
  command.add_option("COMMAND", out.client_command, "The command of the client (default: from Terragrunt)")
      ->envname("TG_CTX_COMMAND")
      ->required();
  command.add_flag("--strict", out.strict, "Stop if the source of the unit cannot be determined (default in CI)");
  command
      .add_option(
          "--allow-unchecked-source", out.allow_unchecked_source,
          "Units for which that is allowed: a glob relative to --root (repeatable, or several separated by \":\")")
      ->envname("TOFU_MODLOCK_ALLOW_UNCHECKED_SOURCE")
      ->delimiter(':')
      ->allow_extra_args(false)
      ->type_name("UNIT-GLOB");
  command.add_flag("--upgrade", out.upgrade, "Lock newer versions before init, but not in CI");
  command
      .add_option(
          "--target", out.targets,
          "Before init, lock this module again, also if its tag was moved, but not in CI (repeatable, or several "
          "separated by \",\")")
      ->envname("TOFU_MODLOCK_TARGET")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("SUBJECT");
}

void doctor_flags(CLI::App& command, CommandLine& out) {
  out.common.diagnoses = true;
  add_root_flags(command, out.common);
  add_network_flags(command, out.common);
  CLI::Option* online = command.add_flag("--online", out.online, "Also query the hosts that the configuration uses");
  command.add_option("--host", out.hosts, "Also check and query this host")->type_name("HOST")->allow_extra_args(false);
  command.get_option("--offline")->excludes(online);
}

void help_flags(CLI::App& command, CommandLine& out) {
  command.add_option("COMMAND", out.command, "The command (default: all)");
}

void version_flags(CLI::App& /*command*/, CommandLine& /*out*/) {}

void init_flags(CLI::App& command, CommandLine& out) {
  command
      .add_option("DIR,--chdir", out.common.directories,
                  "The directory of the settings file (default: the current directory); the other files are written to "
                  "the top of its git repository")
      ->expected(1);
  command.add_flag("--settings", out.settings, "Write .tofu-modlock.hcl, with each setting as a comment");
  command.add_flag("--gitattributes", out.gitattributes, "Add the line of the merge driver to .gitattributes");
  command.add_option("--ci", out.ci, "Write .github/workflows/tofu-modlock.yml, or .gitlab-ci.yml")
      ->check(CLI::IsMember({"github", "gitlab"}));
  command.add_flag("--pre-commit", out.pre_commit, "Write .pre-commit-config.yaml");
  command.add_flag("--all", out.all, "Write all four (CI: for GitLab if .gitlab-ci.yml exists)");
}

void completion_flags(CLI::App& command, CommandLine& out) {
  command.add_option("SHELL", out.shell, "The shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

void mcp_flags(CLI::App& command, CommandLine& out) {
  command.add_option("--root", out.mcp_roots, "Directory that tools may read (default: the current one); repeatable")
      ->type_name("DIR");
  command.add_option("--cache-dir", out.common.cache_dir, "Directory of the package cache")
      ->envname("TOFU_MODLOCK_CACHE_DIR")
      ->group(kRareFlags);
  command.add_option("--config-file", out.common.config_file, "Settings of this user")
      ->envname("TOFU_MODLOCK_CONFIG_FILE")
      ->group(kRareFlags);
}

void serve_flags(CLI::App& command, CommandLine& out) {
  command.add_option("--max-message-bytes", out.max_message_bytes,
                     "Longest line accepted (default 8 MiB, at most 64 MiB)");
  command.add_option("--drain-ms", out.drain_ms, "How long requests may finish after the end of input")
      ->check(CLI::NonNegativeNumber);
}

void call_flags(CLI::App& command, CommandLine& out) {
  command.add_option("METHOD", out.method, "Name of the method")->required();
  command.add_option("--params", out.params, "The params as JSON; - reads them from stdin")->type_name("JSON");
  command.add_option("--cache-dir", out.common.cache_dir, "Directory of the package cache")
      ->envname("TOFU_MODLOCK_CACHE_DIR")
      ->group(kRareFlags);
  command.add_option("--config-file", out.common.config_file, "Settings of this user")
      ->envname("TOFU_MODLOCK_CONFIG_FILE")
      ->group(kRareFlags);
  add_workspace_root_flag(command, out.common);
  add_implementation_flags(command, out.common);
  add_network_flags(command, out.common);
}

void schema_flags(CLI::App& command, CommandLine& out) {
  command
      .add_option("DOCUMENT", out.document,
                  "openrpc (the result of rpc.discover), jsonschema (its messages), or settings (a JSON Schema)")
      ->required()
      ->check(CLI::IsMember({"openrpc", "jsonschema", "settings"}));
}

}  // namespace modlock::cli
