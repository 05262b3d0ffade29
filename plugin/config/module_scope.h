#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/config/parsed_module.h"
#include "plugin/config/variable.h"
#include "plugin/eval/evaluate.h"

namespace modlock {

// The values that all modules below one root share.
struct ScopeContext {
  std::filesystem::path root;  // path.cwd, and the start of relative paths of file functions
  std::string workspace = "default";
  ClientKind tool = ClientKind::opentofu;
  std::shared_ptr<const eval::FileAccess> files;
};

// The names of one module instance: var, local, path, terraform.workspace and tofu.workspace, as in
// configs.staticScopeData. Values and errors are computed at first use and cached. A value that depends on itself is
// CONFIG_NON_STATIC naming the cycle. An error inside a referenced value is located there and has the chain of
// references in `related`, innermost first ("referenced by local.x" at that reference), at most kMaxRelated of them.
// Chains of more than kMaxChain references are LIMIT_EXCEEDED. With ClientKind::terraform only variables that are const
// have a value, and terraform.* has none. If a file of the module could not be read to its end, it may declare names
// that are missing here: see is_reported_already(). Only one thread at a time may use a scope and its callers.
class ModuleScope final : public eval::Scope {
 public:
  // The root module: `values` are those of its variables. `module_path` is the module's directory in modules.json.
  ModuleScope(std::shared_ptr<const ParsedModule> module, const ScopeContext& environment, std::string module_path,
              std::shared_ptr<const VariableValues> values);
  // A called module: its variables have the values of `call` (of `caller`'s module).
  ModuleScope(std::shared_ptr<const ParsedModule> module, const ScopeContext& environment, std::string module_path,
              std::shared_ptr<ModuleScope> caller, const ModuleCallSyntax& call);

  // Errors, in addition to Scope's rules: CONFIG_NON_STATIC for a value that is unknown before plan and for a root
  // variable without value; CONFIG_PARSE for an undeclared name, a variable whose type, flags or default cannot be
  // read, a value that does not fit the type of its variable, and a required variable that the call leaves out.
  Result<eval::Value> resolve(const eval::Reference& reference) override;
  const eval::FileAccess& files() const override { return *environment_.files; }

  // Returns the value of an argument of this module's calls. Errors state that `title` ("module.vpc.source") needs it;
  // "" stands for the name of the argument. Errors: those of eval::evaluate().
  Result<eval::Value> evaluate_argument(const Argument& argument, std::string_view title = {});

  ClientKind tool() const { return environment_.tool; }

  // The module's directory relative to the root. Paths in locations of this scope's errors start with it.
  const std::string& module_path() const { return module_path_; }

  static constexpr std::size_t kMaxChain = 250;
  static constexpr std::size_t kMaxRelated = 20;

 private:
  // A value that is being evaluated, and the reference that needs it.
  struct Frame {
    const Frame* outer = nullptr;
    std::string title;
    std::size_t depth = 1;
  };
  using Kept = std::optional<Result<eval::Value>>;  // nullopt: being computed

  Result<eval::Value> evaluate(const Argument& argument, std::string title, std::size_t depth);
  Result<eval::Value> resolve_local(const eval::Reference& reference);
  Result<eval::Value> resolve_variable(const eval::Reference& reference);
  Result<eval::Value> resolve_path(const eval::Reference& reference) const;
  Result<eval::Value> resolve_terraform(const eval::Reference& reference) const;

  Result<eval::Value> compute_variable(const VariableDeclaration& variable);
  Result<eval::Value> value_of(const VariableDeclaration& variable);
  Argument argument_of(const VariableDeclaration& variable) const;
  Error missing_value(const VariableDeclaration& variable) const;
  Result<eval::Value> given_value(const VariableDeclaration& variable,
                                  const VariableValues::VariableInput& given) const;
  Result<eval::Value> fit(const VariableDeclaration& variable, eval::Value value) const;
  Location place_of_value(const VariableDeclaration& variable) const;

  Result<eval::Value> with_reference(Result<eval::Value> value, const eval::Reference& reference) const;
  Error circular(const eval::Reference& reference) const;
  std::size_t depth() const { return innermost_ == nullptr ? 0 : innermost_->depth; }
  std::string needed_by() const;
  std::string path_of(const ConfigText& file) const;
  Location at(const Location& location) const;
  Error located(Error error) const;

  std::shared_ptr<const ParsedModule> module_;
  const ScopeContext& environment_;
  std::string module_path_;
  std::shared_ptr<const VariableValues> values_;  // of a root module
  std::shared_ptr<ModuleScope> caller_;           // of a called module, as is call_
  const ModuleCallSyntax* call_ = nullptr;
  std::map<std::string_view, Result<eval::Value>> variables_;
  std::map<std::string_view, Kept> locals_;
  const Frame* innermost_ = nullptr;
};

}  // namespace modlock
