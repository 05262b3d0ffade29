#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/object_reader.h"

namespace modlock::messages {

// A text that overlays a file on disk.
struct Document {
  std::string path;  // absolute, or relative to the root
  std::string text;
};

// An item of `variableArguments`: a value, or a file with values.
struct VariableArgument {
  std::optional<std::string> name;  // absent: a file
  std::string text;                 // the value, or the path of the file
};

// What every method with a `root` takes.
struct RootParams {
  std::string root;
  std::vector<Document> documents;
  std::map<std::string, std::string> variables;           // as -var gives them: above all files
  std::map<std::string, std::string> fallback_variables;  // as TF_VAR_<name> gives them: below all files
  std::vector<std::string> var_files;                     // relative to the root, in order
  std::vector<VariableArgument> variable_arguments;       // as -var and -var-file in one order: above all of these
  std::optional<std::string> workspace;
  std::optional<std::string> data_dir;
};

RootParams decode_root_params(ObjectReader& in);

}  // namespace modlock::messages
