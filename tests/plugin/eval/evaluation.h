#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "plugin/eval/evaluate.h"

namespace modlock::test {

// Files in memory.
class FakeFiles : public eval::FileAccess {
 public:
  explicit FakeFiles(std::map<std::string, std::string> files = {}) : files_(std::move(files)) {}

  Result<std::string> read(const std::string& path) const override;
  Result<bool> exists(const std::string& path) const override { return files_.count(path) != 0; }
  Result<std::vector<std::string>> list(const std::string&) const override { return std::vector<std::string>{}; }
  std::string working_directory() const override { return "/root/module"; }

 private:
  std::map<std::string, std::string> files_;
};

// var.* as in sample_values(); module.* is not static, anything else is no reference.
class FakeScope : public eval::Scope {
 public:
  explicit FakeScope(eval::Value::Members variables, std::map<std::string, std::string> files = {})
      : variables_(std::move(variables)), files_(std::move(files)) {}

  Result<eval::Value> resolve(const eval::Reference& reference) override;
  const eval::FileAccess& files() const override { return files_; }

  std::string asked;  // each reference, with its range

 private:
  eval::Value::Members variables_;
  FakeFiles files_;
};

// One of each kind, some sensitive or ephemeral.
eval::Value::Members sample_values();

// The value of what is written behind "a = " on the first line of main.tf, whose fifth column is its first.
Result<eval::Value> evaluate_text(std::string_view text, eval::Scope& scope);
Result<eval::Value> evaluate_text(std::string_view text, std::map<std::string, std::string> files = {});
// The same for the value of the member "a" in `{"a": …}`, which starts in the seventh column of main.tf.json.
Result<eval::Value> evaluate_json(std::string_view text);

// A value with the types of collections and of nulls: `list of string["a"]`, `{k=[1, null(string)]}`. Sensitive values
// end with "!s", ephemeral ones with "!e".
std::string show(const eval::Value& value);
// The value, or the error as `CODE 1:5-1:7 message (hint)`.
std::string show(const Result<eval::Value>& result);
std::string show(const Range& range);

// A table of expressions and what is shown of them.
struct Row {
  const char* text;
  const char* outcome;
};
inline std::string as_native(std::string_view text) {
  return show(evaluate_text(text));
}
inline std::string as_json(std::string_view text) {
  return show(evaluate_json(text));
}
void check(std::span<const Row> rows, std::string (*outcome_of)(std::string_view text));

}  // namespace modlock::test
