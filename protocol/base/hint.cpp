#include "protocol/base/hint.h"

#include <algorithm>
#include <ostream>

namespace modlock {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_./@:+,=-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

std::string command_text(const Hint::Words& words) {
  std::string text = "tofu-modlock";
  for (const std::string& word : words) {
    text += " " + shell_word(word);
  }
  return text;
}

Hint Hint::command(Words words) {
  Hint hint(command_text(words));
  hint.commands_.push_back({0, hint.text_.size(), std::move(words)});
  return hint;
}

std::string Hint::text(const std::function<std::string(const Words&)>& print) const {
  std::string out;
  std::size_t end = 0;
  for (const Command& command : commands_) {
    out.append(text_, end, command.start - end) += print(command.words);
    end = command.start + command.size;
  }
  return out.append(text_, end);
}

Hint& Hint::operator+=(const Hint& other) {
  for (const Command& command : other.commands_) {
    commands_.push_back({text_.size() + command.start, command.size, command.words});
  }
  text_ += other.text_;
  return *this;
}

std::ostream& operator<<(std::ostream& out, const Hint& hint) {
  return out << hint.text();
}

}  // namespace modlock
