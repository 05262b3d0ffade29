#pragma once

#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "plugin/config/module_scope.h"

namespace modlock::test {

using FileTexts = std::map<std::string, std::string>;  // by name

// The files as a module's: "*override*" is an override file, "*.json" JSON syntax. Syntax errors fail the test.
std::vector<ConfigText> config_texts(const FileTexts& files);

// Files, calls, variables and local values of a module; no errors in the declarations.
std::shared_ptr<const ParsedModule> parse_module(const FileTexts& files);

// The values that the inputs give, out of `files` beside a root that is not on the disk.
std::shared_ptr<const VariableValues> variable_values(const VariableInputs& inputs, const FileTexts& files = {});

// "text", 5, true, null, [items], {name = member}, followed by what marks it: !sensitive, !ephemeral.
std::string show(const eval::Value& value);

// "CODE place: message", then a line "  place: message" for each related place, then "  hint: …".
std::string show(const Error& error);
std::string show(const Diagnostics& diagnostics);
template <typename T>
std::string show(const Result<T>& result) {
  return result ? show(*result) : show(result.error());
}

// What surrounds the modules of a root at "/r", which is not on the disk.
ScopeContext test_surroundings();

// A module and its scope.
struct TestModule {
  std::shared_ptr<const ParsedModule> parsed;
  std::shared_ptr<ModuleScope> scope;

  const ModuleCallSyntax& call(std::string_view name) const;
  // What the source of a call evaluates to.
  std::string source(std::string_view name = "m") const;
};

TestModule root_module(const ScopeContext& environment, const FileTexts& files, const VariableInputs& inputs = {},
                       const FileTexts& tfvars = {});
// The module that `caller` calls by that name, in a directory of that name.
TestModule child_module(const ScopeContext& environment, const TestModule& caller, std::string_view name,
                        const FileTexts& files);

}  // namespace modlock::test
