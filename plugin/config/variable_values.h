#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/config/config_files.h"
#include "plugin/config/variable.h"
#include "plugin/hcl/ast.h"

namespace modlock {

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
    const hcl::Expression* expression = nullptr;  // of a file; see eval::constant_value()
    bool json = false;                            // of that file
    std::string text = {};                        // else: see VariableDeclaration::takes_literal_text()
    std::string origin = {};                      // path of the file relative to the root, or "-var", "TF_VAR_<name>"
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
