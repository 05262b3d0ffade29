#include "plugin/cli/flag_groups.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "backends/base/collections.h"

namespace modlock::cli {

CLI::Option* check(CLI::Option* option, const std::string& expected, std::function<bool(const std::string&)> accepts,
                   const std::string& in_help) {
  const auto validate = [option, expected, accepts = std::move(accepts)](const std::string& value) {
    return accepts(value) ? std::string() : throw WrongValue(option, fmt::format("\"{}\" is not {}", value, expected));
  };
  return option->check(CLI::Validator(validate, in_help));
}

CLI::Option* check_choices(CLI::Option* option, const std::vector<std::string>& choices) {
  const std::string all = fmt::format("{}", fmt::join(choices, ","));
  const auto accepts = [choices](const std::string& value) { return contains(choices, value); };
  return check(option, "one of " + all, accepts, "{" + all + "}");
}

CLI::Option* check_number(CLI::Option* option, std::uint64_t least, std::uint64_t most) {
  return check(option, fmt::format("a number from {} to {}", least, most), [least, most](const std::string& value) {
    std::uint64_t number = 0;
    const char* const end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    return error == std::errc() && rest == end && number >= least && number <= most;
  });
}

void add_switch(CLI::App& command, const std::string& name, std::optional<bool>& value, const char* on,
                const char* off) {
  CLI::Option* set = command.add_flag_callback(
      "--" + name, [&value] { value = true; }, on);
  command
      .add_flag_callback(
          "--no-" + name, [&value] { value = false; }, off)
      ->excludes(set);
}

void add_overrides(CLI::App& command, SettingInfo::Override::On commands, CommonFlags& flags) {
  const auto& table = setting_table();
  for (auto setting = table.rbegin(); setting != table.rend(); ++setting) {
    if (setting->overridden_by.on == commands) {
      CLI::Option* option = add_override(command, *setting, flags.overrides[setting->name]);
      setting->kind == SettingInfo::Kind::list ? option->delimiter(',') : option->expected(1);
    }
  }
}

void add_place_flags(CLI::App& command, CommonFlags& flags) {
  add(command, "--cache-dir", flags.cache_dir, "Directory of the package cache",
      {.value = "DIR", .variable = "TOFU_MODLOCK_CACHE_DIR", .is_rare = true});
  add(command, "--config-file", flags.config_file, "Settings of this user instead of ~/.config/tofu-modlock/config.hcl",
      {.value = "FILE", .variable = "TOFU_MODLOCK_CONFIG_FILE", .is_rare = true});
}

void add_store_flags(CLI::App& command, CommonFlags& flags) {
  add_place_flags(command, flags);
  add(command, "--json", flags.json, "Print the result as JSON");
}

void add_network_flags(CLI::App& command, CommonFlags& flags) {
  add(command, "--offline", flags.engine.offline, "Work offline: send no network requests",
      {.variable = "TOFU_MODLOCK_OFFLINE"});
  add_overrides(command, SettingInfo::Override::On::network, flags);
}

void add_plain_http_flag(CLI::App& command, CommonFlags& flags) {
  add(command, "--plain-http", flags.engine.plain_http,
      "Use plain http for the repository of a bundle; only for the loopback", {.is_rare = true});
}

void add_implementation_flags(CLI::App& command, CommonFlags& flags) {
  add_override(command, *find_setting("implementation"), flags.engine.implementation);
  add(command, "--implementation-version", flags.engine.implementation_version, "Its version",
      {.value = "VERSION", .variable = "TOFU_MODLOCK_IMPLEMENTATION_VERSION", .is_rare = true});
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
  add(command, "--workspace-root", flags.workspace_roots,
      "Also read files below this directory, outside of the repository (repeatable)",
      {.value = "DIR", .is_rare = true});
}

void add_data_dir_flag(CLI::App& command, CommonFlags& flags) {
  add(command, "--data-dir", flags.root.data_dir, "Data directory instead of .terraform",
      {.value = "DIR", .variable = "TF_DATA_DIR", .is_rare = true});
}

void add_reading_flags(CLI::App& command, CommonFlags& flags) {
  add_data_dir_flag(command, flags);
  add_variable_flags(command, flags);
  add(command, "--workspace", flags.root.workspace, "The selected workspace",
      {.value = "NAME", .variable = "TF_WORKSPACE", .is_rare = true});
  add_workspace_root_flag(command, flags);
  add_implementation_flags(command, flags);
  add_overrides(command, SettingInfo::Override::On::roots, flags);
}

void add_recursive_flags(CLI::App& command, CommonFlags& flags) {
  add(command, "--recursive", flags.recursive, "Process every root module in and below these directories");
  add(command, "--root-glob", flags.root_globs,
      "With --recursive: directories that match are root modules too (repeatable)", {.value = "GLOB", .is_rare = true});
  add(command, "--exclude", flags.exclude, "With --recursive: skip directories that match (repeatable)",
      {.value = "GLOB", .is_rare = true});
}

void add_jobs_flag(CLI::App& command, CommonFlags& flags) {
  check_number(
      add(command, "--jobs", flags.jobs, "Number of root modules to process in parallel (default 8, maximum 64)",
          {.value = "N", .variable = "TOFU_MODLOCK_JOBS", .is_rare = true}),
      1, 64);
}

void add_root_flags(CLI::App& command, CommonFlags& flags, const char* names, const char* what) {
  add_store_flags(command, flags);
  add(command, names, flags.directories, what, {.value = "DIR"});
  add_recursive_flags(command, flags);
  add_jobs_flag(command, flags);
  add_reading_flags(command, flags);
}

namespace {

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
  for (const auto commands : {root_commands(), other_commands()}) {
    for (const CommandRow& command : commands) {
      add_command(app, command, out);
    }
  }
}

std::size_t words_before_chdir(const std::vector<std::string>& words) {
  for (const auto commands : {root_commands(), other_commands()}) {
    for (const CommandRow& row : commands) {
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
  }
  return 0;
}

}  // namespace modlock::cli
