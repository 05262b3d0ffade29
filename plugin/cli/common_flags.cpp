#include "plugin/cli/common_flags.h"

#include "plugin/settings/settings.h"

namespace modlock::cli {

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
  command
      .add_option("--connections", flags.connections,
                  "How many connections to one host are in use at the same time (default 32, at most 64)")
      ->envname("TOFU_MODLOCK_CONNECTIONS")
      ->check(CLI::Range(std::size_t{1}, kMostConnections))
      ->type_name("N");
}

void add_implementation_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--implementation", flags.implementation, "The tool that will run")
      ->envname("TOFU_MODLOCK_IMPLEMENTATION")
      ->check(CLI::IsMember({"opentofu", "terraform"}));
  command.add_option("--implementation-version", flags.implementation_version, "Its version")
      ->envname("TOFU_MODLOCK_IMPLEMENTATION_VERSION")
      ->type_name("VERSION");
}

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
      ->allow_extra_args(false);
}

void add_reading_flags(CLI::App& command, CommonFlags& flags) {
  command.add_option("--data-dir", flags.data_dir, "Data directory instead of .terraform")
      ->envname("TF_DATA_DIR")
      ->type_name("DIR");
  add_variable_flags(command, flags);
  command.add_option("--workspace", flags.workspace, "The selected workspace")
      ->envname("TF_WORKSPACE")
      ->type_name("NAME");
  add_workspace_root_flag(command, flags);
  add_implementation_flags(command, flags);
}

void add_recursive_flags(CLI::App& command, CommonFlags& flags) {
  command.add_flag("--recursive", flags.recursive, "Process every root module in and below these directories");
  command
      .add_option("--root-glob", flags.root_globs,
                  "With --recursive: directories that match are root modules too (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  command.add_option("--exclude", flags.exclude, "With --recursive: skip directories that match (repeatable)")
      ->type_name("GLOB")
      ->allow_extra_args(false);
}

void add_jobs_flag(CLI::App& command, CommonFlags& flags) {
  command
      .add_option("--jobs", flags.jobs, "How many root modules are worked on at the same time (default 8, at most 64)")
      ->envname("TOFU_MODLOCK_JOBS")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
}

void add_root_flags(CLI::App& command, CommonFlags& flags) {
  add_store_flags(command, flags);
  command.add_option("DIR,--chdir", flags.directories, "Root modules to work on (default: the current directory)");
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
      "Write modlock_override.tf beside calls with a version on a git or OCI source (OpenTofu 1.10+)");
  command
      .add_flag_callback(
          "--no-overrides", [&out] { out.overrides = false; }, "Remove these files")
      ->excludes(write);
}

}  // namespace modlock::cli
