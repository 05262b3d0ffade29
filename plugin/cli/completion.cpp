#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string_view>

#include "plugin/cli/commands.h"
#include "plugin/cli/embedded_files.h"
#include "plugin/cli/flag_groups.h"
#include "plugin/cli/help_text.h"
#include "plugin/cli/host.h"
#include "plugin/cli/terminal.h"
#include "plugin/lock/locked_text.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

std::string with_description(std::string_view word, std::string_view description) {
  return description.empty() ? std::string(word) : fmt::format("{}\t{}", word, description);
}

// A shell would run commands of other characters after the line is entered. A checkout may contain any lock file.
bool is_safe(std::string_view word) {
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-";
  return std::ranges::all_of(word, [&](char c) { return c < 0 || kSafe.find(c) != std::string_view::npos; });
}

class Completer {
 public:
  explicit Completer(const Lines& words) : words_(words) {
    add_commands(app_, line_);
    while (at_ + 1 < words_.size()) {
      const auto found = command_->get_subcommands([&](const CLI::App* sub) { return sub->check_name(words_[at_]); });
      if (found.empty()) {
        break;
      }
      command_ = found.front();
      ++at_;
    }
  }

  Lines complete() {
    const std::string current = words_.back();
    const std::string before = words_.size() >= 2 && words_.size() - 1 > at_ ? words_[words_.size() - 2] : "";
    parse(words_.size() - 1);
    if (const CLI::Option* option = before.starts_with('-') ? command_->get_option_no_throw(before) : nullptr;
        takes_value(option)) {
      parse(words_.size() - 2);
      return values_of(*option, false, "", current);
    }
    const std::size_t assigned = current.find('=');
    if (current.starts_with("--") && assigned != std::string::npos) {
      const CLI::Option* option = command_->get_option_no_throw(current.substr(0, assigned));
      return takes_value(option)
                 ? values_of(*option, false, current.substr(0, assigned + 1), current.substr(assigned + 1))
                 : Lines();
    }
    return current.starts_with('-') ? names_of_options(current) : positionals(current);
  }

 private:
  // Reads the words before the given one as flags, also from the environment. They may be incomplete. `--help` comes
  // last, so that nothing else is required; the flags of a command are added even if the words cannot be read.
  void parse(std::size_t end) {
    Lines reversed = {"--help"};
    for (std::size_t i = end; i-- > 0;) {
      reversed.push_back(words_[i]);
    }
    try {
      app_.parse(reversed);
    } catch (const CLI::Error&) {
      // expected
    }
  }

  static bool takes_value(const CLI::Option* option) {
    return option != nullptr && option->get_items_expected_max() > 0;
  }

  Lines names_of_options(const std::string& current) const {
    Lines lines;
    for (const CLI::Option* option : std::as_const(*command_).get_options()) {
      for (const std::string& name : option->get_lnames()) {
        if (!option->get_group().empty() && ("--" + name).starts_with(current)) {
          lines.push_back(with_description("--" + name, option->get_description()));
        }
      }
    }
    return lines;
  }

  Lines positionals(const std::string& current) {
    Lines lines;
    for (const CLI::App* sub : command_->get_subcommands([](const CLI::App*) { return true; })) {
      std::vector<std::string> names = sub->get_aliases();
      names.push_back(sub->get_name());
      for (const std::string& name : names) {
        if (!sub->get_group().empty() && name.starts_with(current)) {
          lines.push_back(with_description(name, sub->get_description()));
        }
      }
    }
    for (const CLI::Option* option : std::as_const(*command_).get_options()) {
      if (lines.empty() && option->get_positional()) {
        lines = values_of(*option, true, "", current);
      }
    }
    return lines;
  }

  Lines values_of(const CLI::Option& option, bool is_positional, const std::string& prefix,
                  const std::string& current) {
    const std::string type = option.get_type_name();
    const std::string kind = is_positional ? name_of(option, true) : type;
    if (kind.starts_with("SUBJECT")) {
      return subjects(prefix, current, kind == "SUBJECT=VERSION");
    }
    if (const std::size_t open = type.find('{'); open != std::string::npos) {
      Lines lines;
      for (const std::string& choice : CLI::detail::split(type.substr(open + 1, type.find('}') - open - 1), ',')) {
        if (choice.starts_with(current)) {
          lines.push_back(prefix + choice);
        }
      }
      return lines;
    }
    const bool is_directory = kind == "DIR" || option.check_name("--chdir");
    return is_directory || kind == "FILE" ? Lines{is_directory ? ":directories" : ":files"} : Lines();
  }

  fs::path root() const {
    return fs::absolute(line_.common.directories.empty() ? "." : line_.common.directories.front());
  }

  Lines subjects(const std::string& prefix, const std::string& current, bool with_version) {
    const std::size_t assigned = current.find('=');
    if (with_version && assigned != std::string::npos) {
      return versions(current.substr(0, assigned), current);
    }
    Lines lines;
    for (const LockedSubject& subject : locked_subjects(root())) {
      if (subject.name.starts_with(current) && is_safe(subject.name)) {
        lines.push_back(with_description(prefix + subject.name + (with_version ? "=" : ""), subject.version));
      }
    }
    return lines;
  }

  // The newest that cached listings have, and the locked one.
  Lines versions(const std::string& subject, const std::string& current) {
    Lines lines;
    const auto add = [&](const std::string& version, std::string_view description) {
      const std::string word = subject + "=" + version;
      if (!version.empty() && word.starts_with(current)) {
        lines.push_back(with_description(word, description));
      }
    };
    line_.common.engine.offline = true;
    if (const auto host = Host::start(line_.common)) {
      messages::UpdateLookupParams params;
      params.root = host->root_params(root().string(), line_.common);
      params.subjects = {subject};
      const auto answer = host->call(&Engine::lookup, params);
      if (answer.result) {
        for (const messages::LookedUpDependency& dependency : answer.result->dependencies) {
          for (const messages::AvailableUpdate& update : dependency.updates) {
            add(update.new_version, update.update_type);
          }
        }
      }
    }
    for (const LockedSubject& locked : locked_subjects(root())) {
      if (locked.name == subject && is_safe(subject)) {
        add(locked.version, "locked");
      }
    }
    return lines;
  }

  const Lines& words_;
  CommandLine line_;
  CLI::App app_{"", "tofu-modlock"};
  CLI::App* command_ = &app_;
  std::size_t at_ = 0;  // of the first word after the command
};

}  // namespace

Lines complete(const Lines& words) {
  try {
    const bool is_help = words.size() > 1 && words.front() == "help";
    return words.empty() ? Lines() : Completer(is_help ? Lines(words.begin() + 1, words.end()) : words).complete();
  } catch (const std::exception&) {
    return {};  // a shell completes nothing then
  }
}

void run_complete(const Lines& words) {
  if (std::freopen("/dev/null", "w", stderr) == nullptr) {
    return;  // a warning would appear in the command line
  }
  for (const std::string& line : complete(words)) {
    Printer().raw(line + "\n");
  }
  flush_out();
}

Result<int> run_completion(const CommandLine& line) {
  Printer().raw(line.shell == "bash" ? kBashCompletion : line.shell == "zsh" ? kZshCompletion : kFishCompletion);
  return 0;
}

}  // namespace modlock::cli
