#include "tests/plugin/config/scope_setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/config/confined_files.h"

namespace modlock::test {
namespace {

std::string place(const Error& error) {
  return error.location ? to_string(*error.location) : "-";
}

template <typename Items, typename Show>
std::string joined(const Items& items, std::string_view open, std::string_view close, Show show_item) {
  std::string text;
  for (const auto& item : items) {
    text += (text.empty() ? "" : ", ") + show_item(item);
  }
  return fmt::format("{}{}{}", open, text, close);
}

std::string show_content(const eval::Value& value) {
  if (value.is_null()) {
    return "null";
  }
  switch (value.type().kind()) {
    case eval::Type::Kind::string:
      return fmt::format("\"{}\"", value.as_string());
    case eval::Type::Kind::number:
      return value.as_number().to_string();
    case eval::Type::Kind::boolean:
      return value.as_bool() ? "true" : "false";
    case eval::Type::Kind::map:
    case eval::Type::Kind::object:
      return joined(value.members(), "{", "}",
                    [](const auto& member) { return fmt::format("{} = {}", member.first, show(member.second)); });
    default:
      return joined(value.items(), "[", "]", [](const eval::Value& item) { return show(item); });
  }
}

}  // namespace

std::vector<ConfigText> config_texts(const FileTexts& files) {
  std::vector<ConfigText> texts;
  for (const auto& [name, text] : files) {
    ConfigText file{.role = name.find("override") == std::string::npos ? ConfigFile::Role::primary
                                                                       : ConfigFile::Role::override_file,
                    .name = name,
                    .path = name,
                    .json = name.ends_with(".json"),
                    .text = text};
    parse_text(file, ConfigKind::module, ConfigParts::used_with_overrides);
    BOOST_TEST(show(file.parsed.diagnostics) == "");
    texts.push_back(std::move(file));
  }
  return texts;
}

std::shared_ptr<const ParsedModule> parse_module(const FileTexts& files) {
  auto module = std::make_shared<ParsedModule>();
  module->files = config_texts(files);
  module->variables = VariableBlocks(module->files);
  module->locals = LocalValues(module->files);
  for (const ConfigText& file : module->files) {
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == "module") {
        const std::string& name = block.labels.front().text;
        module->calls.push_back(
            {.name = name, .title = fmt::format("module \"{}\"", name), .file = &file, .block = &block});
        merge_arguments(module->calls.back(), block, file);
      }
    }
  }
  return module;
}

std::shared_ptr<const VariableValues> variable_values(const VariableInputs& inputs, const FileTexts& files) {
  Documents documents;
  for (const auto& [name, text] : files) {
    documents.emplace("/r/" + name, text);
  }
  Diagnostics diagnostics;
  auto values = read_variable_values("/r", inputs, documents, {"/r"}, diagnostics);
  BOOST_TEST(show(diagnostics) == "");
  BOOST_TEST_REQUIRE(values.has_value());
  return *values;
}

std::string show(const eval::Value& value) {
  return show_content(value) + (value.marks().sensitive ? "!sensitive" : "") +
         (value.marks().ephemeral ? "!ephemeral" : "");
}

std::string show(const Error& error) {
  std::string text = fmt::format("{} {}: {}", to_string(error.code), place(error), error.message);
  for (const Related& related : error.related) {
    text += fmt::format("\n  {}: {}", to_string(related.location), related.message);
  }
  return error.hint.empty() ? text : text + "\n  hint: " + error.hint.text();
}

std::string show(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += (text.empty() ? "" : "\n") + show(diagnostic.what);
  }
  return text;
}

ScopeContext test_surroundings() {
  return {.root = "/r", .files = make_confined_files("/r", {"/r"}, {})};
}

const ModuleCallSyntax& TestModule::call(std::string_view name) const {
  const auto found = std::find_if(parsed->calls.begin(), parsed->calls.end(),
                                  [&](const ModuleCallSyntax& written) { return written.name == name; });
  BOOST_TEST_REQUIRE((found != parsed->calls.end()));
  return *found;
}

std::string TestModule::source(std::string_view name) const {
  return show(scope->evaluate_argument(call(name).find("source"), fmt::format("module.{}.source", name)));
}

TestModule root_module(const ScopeContext& environment, const FileTexts& files, const VariableInputs& inputs,
                       const FileTexts& tfvars) {
  TestModule root{.parsed = parse_module(files), .scope = nullptr};
  root.scope = std::make_shared<ModuleScope>(root.parsed, environment, ".", variable_values(inputs, tfvars));
  return root;
}

TestModule child_module(const ScopeContext& environment, const TestModule& caller, std::string_view name,
                        const FileTexts& files) {
  TestModule child{.parsed = parse_module(files), .scope = nullptr};
  child.scope =
      std::make_shared<ModuleScope>(child.parsed, environment, std::string(name), caller.scope, caller.call(name));
  return child;
}

}  // namespace modlock::test
