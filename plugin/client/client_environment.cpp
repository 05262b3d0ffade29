#include "plugin/client/client_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <sstream>

#include "backends/base/environment.h"
#include "plugin/hcl/characters.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Parses "-var=x=y" and "-var x=y", with one dash or two. `next` is the following word; `took_next` is set if it is
// consumed.
std::optional<std::string> value_of(std::string_view flag, std::string_view word, const std::string* next,
                                    bool& took_next) {
  while (word.starts_with('-')) {
    word.remove_prefix(1);
  }
  if (!word.starts_with(flag)) {
    return std::nullopt;
  }
  word.remove_prefix(flag.size());
  if (word.starts_with('=')) {
    return std::string(word.substr(1));
  }
  took_next = word.empty() && next != nullptr;
  return took_next ? std::optional(*next) : std::nullopt;
}

Result<void> read_arguments(const char* name, ClientEnvironment& environment) {
  MODLOCK_TRY(const auto words, split_words(environment_variable(name), name));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with('-')) {
      continue;
    }
    const std::string* next = i + 1 < words.size() ? &words[i + 1] : nullptr;
    bool took_next = false;
    if (const auto assignment = value_of("var", word, next, took_next)) {
      MODLOCK_TRY(auto variable, parse_variable(*assignment));
      environment.arguments.push_back(std::move(variable));
    } else if (auto file = value_of("var-file", word, next, took_next)) {
      environment.arguments.push_back({.file = std::move(*file), .name = {}, .value = {}});
    }
    i += took_next ? 1 : 0;
  }
  return {};
}

}  // namespace

bool is_upgrade(std::string_view argument) {
  argument.remove_prefix(argument.starts_with("--") ? 1 : 0);
  return argument == "-upgrade" || (argument.starts_with("-upgrade=") && argument != "-upgrade=false");
}

std::string upgrade_variable() {
  for (const char* const name : {"TF_CLI_ARGS", "TF_CLI_ARGS_init"}) {
    std::istringstream words(environment_variable(name));
    for (std::string word; words >> word;) {
      if (is_upgrade(word)) {
        return name;
      }
    }
  }
  return "";
}

Result<std::vector<std::string>> split_words(std::string_view text, std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  bool has_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      has_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      has_word = true;
    } else if (kBlanks.find(c) == std::string_view::npos) {
      word += c;
      has_word = true;
    } else if (has_word) {
      words.push_back(std::move(word));
      word.clear();
      has_word = false;
    }
  }
  if (quote != 0) {
    return fail(Code::invalid_params, fmt::format("{} has a quote that is not closed", name), "close it");
  }
  if (has_word) {
    words.push_back(std::move(word));
  }
  return words;
}

Result<messages::VariableArgument> parse_variable(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return fail(Code::invalid_params, "a variable is given without a name or without \"=\"",
                "write it as NAME=VALUE, for example region=eu-west-1");
  }
  const std::string_view name = assignment.substr(0, equals);
  if (name.ends_with(' ')) {
    return fail(Code::invalid_params,
                fmt::format("variable name {} is invalid due to trailing space",
                            name == " " ? "\" \"" : hcl::quoted_for_message(name)),
                "write it as NAME=VALUE, without a blank before \"=\"");
  }
  return messages::VariableArgument{{}, std::string(name), std::string(assignment.substr(equals + 1))};
}

Result<ClientEnvironment> read_client_environment() {
  ClientEnvironment environment;
  constexpr std::string_view kPrefix = "TF_VAR_";
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (text.starts_with(kPrefix) && equals != std::string_view::npos && equals > kPrefix.size()) {
      environment.fallback_variables.emplace(text.substr(kPrefix.size(), equals - kPrefix.size()),
                                             text.substr(equals + 1));
    }
  }
  for (const char* name : {"TF_CLI_ARGS_init", "TF_CLI_ARGS"}) {
    MODLOCK_TRY(read_arguments(name, environment));
  }
  return environment;
}

}  // namespace modlock
