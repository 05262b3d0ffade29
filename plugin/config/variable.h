#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/config/config_files.h"
#include "plugin/eval/type_constraint.h"

namespace modlock {

// An argument and the file that contains it.
struct Argument {
  const hcl::Attribute* attribute = nullptr;  // null: not given
  const ConfigText* file = nullptr;
};

// A `variable` block, overrides merged, its type and default read.
struct VariableDeclaration {
  std::string_view name;   // part of the block
  Location location = {};  // of the block header
  eval::TypeConstraint type = {};
  bool has_type = false;
  // Converted to the type, as OpenTofu does when it loads a module. None: the variable must be set.
  std::optional<eval::Value> default_value = {};
  std::optional<Error> default_problem = {};  // why an existing default cannot be used
  Argument default_argument = {};             // the default that applies
  bool sensitive = false;
  bool ephemeral = false;
  bool nullable = true;
  bool is_const = false;              // Terraform: may be used in sources
  std::optional<Error> problem = {};  // why it has no value in any case: its type or a flag cannot be read
  std::vector<std::shared_ptr<const hcl::Block>> blocks = {};  // those that declare it

  // Whether text given for it is the value itself (the type is primitive or missing) and not an expression.
  bool takes_literal_text() const { return !has_type || type.type.is_primitive(); }
};

// The `variable` blocks of a module, which are places in its files. It points to the files. Most variables are never
// needed, so a declaration is made when it is asked for.
class VariableBlocks {
 public:
  VariableBlocks() = default;
  explicit VariableBlocks(const std::vector<ConfigText>& files) : files_(files) {}

  // Returns a variable as in configs.decodeVariableBlock and Variable.merge; nullopt if it is not declared. The later
  // of two with one name is used. An override that changes the type keeps the defaults of optional() attributes of the
  // old type, as in OpenTofu; an override of an unknown variable is skipped.
  std::optional<VariableDeclaration> find(std::string_view name) const;

  // Returns the names that are declared, sorted, for did_you_mean(): no more than it compares, and one.
  std::vector<std::string_view> names() const;

 private:
  std::span<const ConfigText> files_;
};

// The local values of a module. It points into the files.
class LocalValues {
 public:
  LocalValues() = default;
  explicit LocalValues(const std::vector<ConfigText>& files);

  // Returns the argument that applies: the later of two with one name. An override of an unknown local value is
  // skipped. If the local value is not defined, the result has no attribute.
  Argument find(std::string_view name) const;

  // See VariableBlocks.
  std::vector<std::string_view> names() const;

 private:
  struct Place : Argument {
    std::string_view name() const { return attribute->name; }
  };
  std::vector<Place> places_;  // sorted by name, overrides last
};

// One -var or -var-file of a command line.
struct VariableArgument {
  std::optional<std::string> name = {};  // of the variable; absent: a file
  std::string text = {};                 // the value, or the path of the file, relative to the root
};

struct VariableInputs {
  std::map<std::string, std::string> environment = {};  // values of TF_VAR_<name> by name: below all files
  std::vector<VariableArgument> arguments = {};         // above all other files; later ones win
};

// The value that wins for each variable, not yet evaluated: an expression from a file, or text.
class VariableValues {
 public:
  struct VariableInput {
    const hcl::LazyExpression* expression = nullptr;  // of a file; see eval::constant_value()
    bool json = false;                                // of that file
    std::string text = {};                            // else: see VariableDeclaration::takes_literal_text()
    std::string origin = {};  // path of the file relative to the root, or "-var", "TF_VAR_<name>"
  };
  // Null: none given.
  const VariableInput* find(std::string_view name) const;

  // Returns a warning for each name that `-var` gave although the root module has no such variable: OpenTofu's init
  // accepts it, its plan rejects it. Names in files and in the environment may be meant for other roots.
  Diagnostics undeclared(const VariableBlocks& variables) const;

 private:
  friend class VariableReader;
  std::vector<std::unique_ptr<ConfigText>> files_;
  std::map<std::string, VariableInput, std::less<>> values_;
};

// Reads terraform.tfvars, terraform.tfvars.json, then *.auto.tfvars and *.auto.tfvars.json (together by name) in the
// root's directory, then the arguments; later ones win, all win over the environment. A named file is JSON if its name
// ends in ".json", or if it does not end in ".tfvars" and starts with "{". Blocks in such files are skipped.
// Diagnostics: CONFIG_PARSE for syntax errors and duplicate names; such files are ignored. Errors: NOT_FOUND for named
// files; IO_ERROR, PATH_OUTSIDE_ROOT for all files.
Result<std::shared_ptr<const VariableValues>> read_variable_values(const std::filesystem::path& root,
                                                                   const VariableInputs& inputs,
                                                                   const Documents& documents,
                                                                   const std::vector<std::filesystem::path>& bounds,
                                                                   Diagnostics& diagnostics);

}  // namespace modlock
