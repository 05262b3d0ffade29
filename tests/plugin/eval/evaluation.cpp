#include "tests/plugin/eval/evaluation.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "plugin/hcl/json_syntax.h"
#include "plugin/hcl/parser.h"

namespace modlock::test {

using eval::Marks;
using eval::Type;
using eval::Value;

namespace {

Value text(std::string content) {
  return Value::string(std::move(content));
}

Value text_list(std::initializer_list<std::string> contents) {
  Value::Items items;
  for (const std::string& content : contents) items.push_back(text(content));
  return Value::list(Type::string(), items);
}

Value text_map(std::map<std::string, std::string> contents) {
  Value::Members members;
  for (const auto& [key, content] : contents) members.emplace(key, text(content));
  return Value::map(Type::string(), members);
}

Value thing(std::string id, std::map<std::string, std::string> tags) {
  return Value::object({{"id", text(std::move(id))}, {"tags", text_map(std::move(tags))}});
}

std::string quoted(const std::string& content) {
  std::string out = "\"";
  for (const char c : content) {
    if (c == '"' || c == '\\') out += '\\';
    c == '\n' ? out += "\\n" : out += c;
  }
  return out + '"';
}

std::string show_plain(const Value& value) {
  if (value.is_null()) return fmt::format("null({})", value.type().friendly_name());
  const std::string type = value.type().is_collection() ? value.type().friendly_name() : "";
  std::string inner;
  const auto add = [&](const std::string& item) { inner += (inner.empty() ? "" : ", ") + item; };
  switch (value.type().kind()) {
    case Type::Kind::string:
      return quoted(value.as_string());
    case Type::Kind::number:
      return value.as_number().to_string();
    case Type::Kind::boolean:
      return value.as_bool() ? "true" : "false";
    case Type::Kind::map:
    case Type::Kind::object:
      for (const auto& [key, member] : value.members()) add(key + "=" + show(member));
      return type + "{" + inner + "}";
    default:
      for (const Value& item : value.items()) add(show(item));
      return type + "[" + inner + "]";
  }
}

Result<Value> evaluate_attribute(const hcl::ParsedFile& file, const std::string& path, eval::Scope& scope) {
  BOOST_TEST_REQUIRE(file.diagnostics.empty());
  return eval::evaluate(file.body.attributes.at(0).value, path, scope);
}

}  // namespace

Result<std::string> FakeFiles::read(const std::string& path) const {
  const auto file = files_.find(path);
  if (file != files_.end()) return file->second;
  if (path.starts_with("../")) return fail(Code::path_outside_root, fmt::format("\"{}\" is outside of the root", path));
  return fail(Code::not_found, fmt::format("no file exists at \"{}\"", path));
}

Result<Value> FakeScope::resolve(const eval::Reference& reference) {
  asked += fmt::format("{}.{}@{} ", reference.object, reference.attribute, show(*reference.location.range));
  const auto refuse = [&](Code code, std::string message) {
    return fail({.code = code, .message = std::move(message), .location = reference.location});
  };
  if (reference.object == "module") return refuse(Code::config_non_static, "a module output is not static");
  const auto variable = variables_.find(std::string(reference.attribute));
  if (reference.object == "var" && variable != variables_.end()) return variable->second;
  return refuse(Code::config_parse, fmt::format("there is no {}.{}", reference.object, reference.attribute));
}

Value::Members sample_values() {
  const Marks sensitive{.sensitive = true};
  const Marks ephemeral{.ephemeral = true};
  const Type thing_type = thing("", {}).type();
  return {
      {"s", text("text")},
      {"n", Value::number(3)},
      {"b", Value::boolean(true)},
      {"list", text_list({"a", "b"})},
      {"set", Value::set(Type::string(), {text("b"), text("a")})},
      {"map", text_map({{"k1", "v1"}, {"k2", "v2"}})},
      {"obj", Value::object({{"name", text("x")}, {"ports", Value::tuple({Value::number(1), Value::number(2)})}})},
      {"objects", Value::list(thing_type, {thing("one", {{"t", "1"}}), thing("two", {})})},
      {"no_objects", Value::list(thing_type, {})},
      {"none", Value::null(Type::string())},
      {"no_list", Value::null(Type::list(Type::string()))},
      {"secret", text("hidden").with_marks(sensitive)},
      {"secret_key", text("k1").with_marks(sensitive)},
      {"secret_flag", Value::boolean(true).with_marks(sensitive)},
      {"secret_list", text_list({"a", "b"}).with_marks(sensitive)},
      {"secret_items", Value::tuple({text("a").with_marks(sensitive), text("b")})},
      {"token", text("brief").with_marks(ephemeral)},
      {"token_list", Value::list(Type::string(), {text("a"), text("brief").with_marks(ephemeral)})},
      {"token_map", Value::map(Type::string(), {{"k", text("brief").with_marks(ephemeral)}})},
  };
}

Result<Value> evaluate_text(std::string_view text, eval::Scope& scope) {
  return evaluate_attribute(hcl::parse_native("a = " + std::string(text) + "\n", "main.tf"), "main.tf", scope);
}

Result<Value> evaluate_text(std::string_view text, std::map<std::string, std::string> files) {
  FakeScope scope(sample_values(), std::move(files));
  return evaluate_text(text, scope);
}

Result<Value> evaluate_json(std::string_view text) {
  FakeScope scope(sample_values());
  const hcl::ParsedFile file = hcl::parse_json("{\"a\": " + std::string(text) + "}", "main.tf.json", {});
  return evaluate_attribute(file, "main.tf.json", scope);
}

std::string show(const Value& value) {
  return show_plain(value) + (value.marks().sensitive ? "!s" : "") + (value.marks().ephemeral ? "!e" : "");
}

std::string show(const Range& range) {
  return fmt::format("{}:{}-{}:{}", range.start.line, range.start.column, range.end.line, range.end.column);
}

std::string show(const Result<Value>& result) {
  if (result) return show(*result);
  const Error& error = result.error();
  return fmt::format("{} {} {}{}", to_string(error.code),
                     error.location && error.location->range ? show(*error.location->range) : "nowhere", error.message,
                     error.hint.empty() ? "" : " (" + error.hint.text() + ")");
}

void check(std::span<const Row> rows, std::string (*outcome_of)(std::string_view text)) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST(outcome_of(row.text) == row.outcome);
    }
  }
}

}  // namespace modlock::test
