#include "plugin/cli/command_line.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "backends/base/build_info.h"
#include "backends/base/text.h"
#include "plugin/cli/flag_groups.h"
#include "plugin/cli/help_text.h"
#include "plugin/cli/terminal.h"

namespace modlock::cli {
namespace {

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
    const auto other = std::ranges::find_if(
        kOtherWords, [&](const OtherWord& one) { return name == one.word && full_name(command) == one.command; });
    std::string nearest = other != kOtherWords.end()
                              ? other->advice
                              : did_you_mean(name == "-r" ? "--recursive" : name, {known.begin(), known.end()});
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
  Printer().err(render(error));
  return exit_code(error);
}

// A value of the environment has the name of its variable.
std::string wrong_value(const WrongValue& error, const std::vector<std::string>& words) {
  const std::string flag = error.option->get_name();
  const bool is_written = error.option->get_envname().empty() ||
                          std::ranges::any_of(words, [&](const auto& one) { return one.starts_with(flag); });
  return fmt::format("{}: {}", is_written ? flag : error.option->get_envname(), error.what());
}

// Names two flags that exclude each other.
std::string excluded_flags(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    for (const CLI::Option* other : option->get_excludes()) {
      text = option->count() != 0 && other->count() != 0 && text.empty()
                 ? fmt::format("{} and {} cannot be combined", name_of(*option), name_of(*other))
                 : text;
    }
  }
  return text;
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
  Printer().raw(app.help());
  return 0;
}

// Returns the words after the program's name: `help lock` is `lock --help`.
std::vector<std::string> words_of(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back(std::erase(words, "--all") != 0 ? "--help-all" : "--help");
  }
  return words;
}

// For `tofu` and `terraform`, the program's name determines the client.
void name_implementation(CommandLine& line) {
  if (line.command.empty() || line.common.engine.implementation) {
    return;
  }
  const std::string name = line.command.front().substr(line.command.front().rfind('/') + 1);
  if (name == "tofu" || name == "terraform") {
    line.common.engine.implementation = name == "tofu" ? "opentofu" : name;
  }
}

}  // namespace

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
    const auto mark = std::ranges::find(words, "--");
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
    Printer().raw(std::string(kVersion) + "\n");
    return 0;
  } catch (const CLI::CallForHelp&) {
    return print_help(app);
  } catch (const CLI::CallForAllHelp&) {
    help->show_rare();
    return print_help(app);
  } catch (const CLI::ExtrasError&) {
    return print_unexpected(app);
  } catch (const WrongValue& error) {
    return print_usage_error(wrong_value(error, words), named_command(app));
  } catch (const CLI::ExcludesError&) {
    return print_usage_error(excluded_flags(named_command(app)), named_command(app));
  } catch (const CLI::ArgumentMismatch& error) {  // "--jobs: 1 required N missing"
    const std::string_view flag(error.what());
    return print_usage_error(fmt::format("{} needs a value", flag.substr(0, flag.find(':'))), named_command(app));
  } catch (const CLI::ParseError& error) {
    return print_usage_error(error.what(), named_command(app));
  }
  if (!names_of_commands(named_command(app)).empty()) {
    Printer().err(app.help());
    return exit_code(Code::invalid_params);
  }
  name_implementation(out);
  return out;
}

}  // namespace modlock::cli
