#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/config/parsed_module.h"
#include "plugin/config/variable_values.h"
#include "plugin/eval/evaluate.h"

namespace modlock {

// What is the same for the whole tree below one root.
struct ScopeContext {
  std::filesystem::path root;  // path.cwd, and where relative paths of file functions start
  std::string workspace = "default";
  ClientKind tool = ClientKind::opentofu;
  std::shared_ptr<const eval::FileAccess> files;
};

// The names of one module instance: var, local, path, terraform.workspace and tofu.workspace, as
// configs.staticScopeData has them. Everything is computed at first use and kept, errors too; a value that depends on
// itself is CONFIG_NON_STATIC naming the cycle. An error inside of what a reference stands for is located there and
// carries the chain of references in `related`, innermost first ("referenced by local.x" at that reference),
// kMaxRelated of them at most. Chains beyond kMaxChain references are LIMIT_EXCEEDED. With ClientKind::terraform no
// name may be used: nothing is static there. Where a file of the module could not be read to its end, names that are
// not declared may stand there: see is_reported_already(). For one thread at a time, a scope and its callers together.
class ModuleScope final : public eval::Scope {
 public:
  // The root module: `values` are its variables'. `module_path` is the module's directory as modules.json names it.
  ModuleScope(std::shared_ptr<const ParsedModule> module, const ScopeContext& environment, std::string module_path,
              std::shared_ptr<const VariableValues> values);
  // A called module: `call` (of `caller`'s module) gives its variables.
  ModuleScope(std::shared_ptr<const ParsedModule> module, const ScopeContext& environment, std::string module_path,
              std::shared_ptr<ModuleScope> caller, const ModuleCallSyntax& call);

  // Errors, as Scope says: CONFIG_NON_STATIC for what has no value before plan and for a root variable without value;
  // CONFIG_PARSE for what is not declared, a variable whose type, flags or default cannot be read, what does not fit
  // the type of its variable, a required variable that the call leaves out, and all references with
  // ClientKind::terraform.
  Result<eval::Value> resolve(const eval::Reference& reference) override;
  const eval::FileAccess& files() const override { return *environment_.files; }

  // The value of an argument of this module's calls; `title` ("module.vpc.source") is what errors say needs it, "" for
  // the name of the argument. Errors: those of eval::evaluate(). For Terraform it must be a constant.
  Result<eval::Value> evaluate_argument(const Argument& argument, std::string_view title = {});

  ClientKind tool() const { return environment_.tool; }

  // Paths in locations of this scope's errors are relative to the root: where the module's files lie from there.
  const std::string& module_path() const { return module_path_; }

  static constexpr std::size_t kMaxChain = 250;
  static constexpr std::size_t kMaxRelated = 20;

 private:
  // What is being evaluated, and what asked for it.
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

  // Variables (module_scope_variable.cpp).
  const Result<eval::Value>& variable_value(const VariableDeclaration& variable);
  Result<eval::Value> compute_variable(const VariableDeclaration& variable);
  Result<eval::Value> root_value(const VariableDeclaration& variable) const;
  Result<eval::Value> argument_value(const VariableDeclaration& variable);
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
