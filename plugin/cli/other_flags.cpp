#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

#include "backends/base/build_info.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/flag_groups.h"

// The commands that other programs need, or that work on bundles, the cache and the machine, and their flags.
namespace modlock::cli {
namespace {

// CLI11 reads "-1" as the largest number, and larger numbers as the largest one.
std::string check_size_range(const std::string& size) {
  std::uint64_t number = 0;
  return std::from_chars(size.data(), size.data() + size.size(), number).ec == std::errc()
             ? std::string()
             : "a size is a whole number below 2^64 and a unit, such as 2GiB, found \"" + size + "\"";
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

void bundle_verify_flags(CLI::App& command, CommandLine& out) {
  out.verify.full = true;
  bundle_read_flags(command, out);
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
Result<int> run_version(const CommandLine& line) {
  line.common.print.out(std::string(kVersion) + "\n");
  return 0;
}

constexpr const char* kIntegrate = "Integrate";
constexpr const char* kNested = "Subcommands";

const CommandRow kRows[] = {
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
     bundle_read_flags, run_bundle_read},
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
     bundle_verify_flags, run_bundle_read, Prints::report},
    {kMaintain, "", "help", "Print the help of a command",
     "  tofu-modlock help lock\n"
     "  tofu-modlock help --help-all\n",
     help_flags, run_version},
    {kMaintain, "", "version", "Print the version of tofu-modlock", "  tofu-modlock version\n",
     [](CLI::App&, CommandLine&) {}, run_version},
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

}  // namespace

std::span<const CommandRow> other_commands() {
  return kRows;
}

}  // namespace modlock::cli
