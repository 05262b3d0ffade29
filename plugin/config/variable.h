#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugin/config/config_files.h"
#include "plugin/eval/type_constraint.h"

namespace modlock {

// An argument and the file it stands in.
struct Argument {
  const hcl::Attribute* attribute = nullptr;  // null: not given
  const ConfigText* file = nullptr;
};

// A `variable` block, overrides merged, its type and default read.
struct VariableDeclaration {
  std::string name;
  Location location = {};  // of the block header
  eval::TypeConstraint type = {};
  bool has_type = false;
  // Converted to the type, as OpenTofu does when it loads a module. None: the variable must be set.
  std::optional<eval::Value> default_value = {};
  std::optional<Error> default_problem = {};  // why a default that it has cannot be used
  Argument default_argument = {};             // where the default that counts is written
  bool sensitive = false;
  bool ephemeral = false;
  bool nullable = true;
  std::optional<Error> problem = {};  // why it has no value, whatever is given: its type or a flag cannot be read

  // Whether text given for it is the value itself (it has a primitive type or none) and no expression.
  bool takes_literal_text() const { return !has_type || type.type.is_primitive(); }
};

// The variables of a module by name, as configs.decodeVariableBlock and Variable.merge read them. Of two with one name
// the later counts. An override that changes the type keeps the defaults of optional() attributes that the old type
// had, as OpenTofu does; one of no variable is skipped. Diagnostics (CONFIG_PARSE): a variable twice.
std::map<std::string, VariableDeclaration, std::less<>> read_variables(const std::vector<ConfigText>& files,
                                                                       Diagnostics& diagnostics);

// The local values of a module by name: the argument that counts. An override of no local value is skipped. Diagnostics
// (CONFIG_PARSE): a name twice.
std::map<std::string, Argument, std::less<>> read_locals(const std::vector<ConfigText>& files,
                                                         Diagnostics& diagnostics);

}  // namespace modlock
