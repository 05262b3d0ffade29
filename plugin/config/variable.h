#pragma once

#include <map>
#include <optional>
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

  // Whether text given for it is the value itself (the type is primitive or missing) and not an expression.
  bool takes_literal_text() const { return !has_type || type.type.is_primitive(); }
};

// The `variable` blocks of a module. It points into the files. Most variables are never needed, so a declaration is
// made when it is asked for.
class VariableBlocks {
 public:
  VariableBlocks() = default;
  explicit VariableBlocks(const std::vector<ConfigText>& files);

  // Returns a variable as in configs.decodeVariableBlock and Variable.merge; nullopt if it is not declared. The later
  // of two with one name is used. An override that changes the type keeps the defaults of optional() attributes of the
  // old type, as in OpenTofu; an override of an unknown variable is skipped.
  std::optional<VariableDeclaration> find(std::string_view name) const;

  // Returns the names that are declared, sorted, for did_you_mean(): no more than it compares, and one.
  std::vector<std::string_view> names() const;

 private:
  struct Place {
    const hcl::Block* block;
    const ConfigText* file;

    std::string_view name() const { return block->labels.front().text; }
    bool is_override() const { return file->role == ConfigFile::Role::override_file; }
  };
  std::vector<Place> places_;  // sorted by name, overrides last
};

// Returns the local values of a module by name, each with the argument that applies: the later of two with one name. An
// override of an unknown local value is skipped.
std::map<std::string, Argument, std::less<>> read_locals(const std::vector<ConfigText>& files);

}  // namespace modlock
