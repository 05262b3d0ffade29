#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace modlock {

// Returns a word as a POSIX shell reads it back: unchanged, or in single quotes.
std::string shell_word(std::string_view text);

// What to do about an error: a text that may contain commands of tofu-modlock. A command is kept as a list of words, so
// that each place that prints it can write it for its reader: for another directory, or for a wrapper of the client.
class Hint {
 public:
  using Words = std::vector<std::string>;  // of a command, without the program: {"upgrade", "--target", "module.vpc"}

  Hint() = default;
  Hint(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor): most hints are only text
  Hint(std::string_view text) : text_(text) {}        // NOLINT(google-explicit-constructor)
  Hint(const char* text) : text_(text) {}             // NOLINT(google-explicit-constructor)
  static Hint command(Words words);

  bool empty() const { return text_.empty(); }
  // Returns the text with each command as a shell reads it: "run: tofu-modlock upgrade --target module.vpc".
  const std::string& text() const { return text_; }
  operator const std::string&() const { return text_; }  // NOLINT(google-explicit-constructor)
  // Returns the text with each command as `print` writes it.
  std::string text(const std::function<std::string(const Words&)>& print) const;

  Hint& operator+=(const Hint& other);
  friend Hint operator+(Hint left, const Hint& right) { return left += right; }
  friend bool operator==(const Hint& left, const Hint& right) { return left.text_ == right.text_; }

 private:
  struct Command {
    std::size_t start;  // in the text
    std::size_t size;
    Words words;
  };
  std::string text_;
  std::vector<Command> commands_;
};

std::ostream& operator<<(std::ostream& out, const Hint& hint);

// Returns the command "tofu-modlock WORDS": `"run: " + tofu_modlock("upgrade", "--target", subject)`.
template <typename... Words>
Hint tofu_modlock(const Words&... words) {
  return Hint::command({std::string(words)...});
}
// Returns such a command as text, for a shell.
std::string command_text(const Hint::Words& words);

}  // namespace modlock
