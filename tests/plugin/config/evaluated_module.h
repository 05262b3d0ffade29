#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugin/config/confined_files.h"
#include "plugin/config/module_scope.h"
#include "plugin/config/parsed_module.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

using Files = std::vector<std::pair<std::string, std::string>>;

// A root module read from a directory and its calls evaluated. What is wrong in it is in `diagnostics`.
struct EvaluatedModule {
  std::shared_ptr<const ParsedModule> parsed;
  std::vector<ModuleCall> calls;
  Diagnostics diagnostics;
};

inline EvaluatedModule evaluate_module(const std::filesystem::path& directory,
                                       const std::shared_ptr<const ParsedModule>& parsed, const Documents& documents,
                                       ClientKind tool = ClientKind::opentofu, const VariableInputs& inputs = {}) {
  EvaluatedModule result{parsed, {}, parsed->diagnostics};
  const ScopeContext environment{directory, "default", tool, make_confined_files(directory, {directory}, documents)};
  const auto values = read_variable_values(directory, inputs, documents, {directory}, result.diagnostics);
  ModuleScope scope(parsed, environment, ".", values.value());
  EvaluatedCalls evaluated = evaluate_calls(*parsed, scope);
  result.calls = std::move(evaluated.calls);
  result.diagnostics.insert(result.diagnostics.end(), evaluated.diagnostics.begin(), evaluated.diagnostics.end());
  return result;
}

inline EvaluatedModule load_module(const std::filesystem::path& directory, const Documents& documents = {},
                                   ClientKind tool = ClientKind::opentofu) {
  return evaluate_module(directory, read_module(directory, documents, tool).value(), documents, tool);
}

inline EvaluatedModule load_module(const TemporaryDirectory& directory, const Files& files,
                                   ClientKind tool = ClientKind::opentofu) {
  for (const auto& [name, text] : files) {
    directory.write(name, text);
  }
  return load_module(directory.path(), {}, tool);
}

}  // namespace modlock::test
