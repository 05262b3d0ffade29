#include "protocol/messages/root_params.h"

namespace modlock::messages {

namespace {

VariableArgument decode_variable_argument(ObjectReader& in) {
  auto file = in.string("file");
  auto name = in.string("name");
  auto value = in.string("value");
  if (file && (name || value)) {
    in.reject("file", "expected either a file or a name with a value");
  } else if (!file && !(name && value)) {
    in.reject(name ? "value" : "name", "expected a file, or a name with a value");
  }
  return file ? VariableArgument{std::nullopt, std::move(*file)}
              : VariableArgument{std::move(name), std::move(value).value_or("")};
}

}  // namespace

RootParams decode_root_params(ObjectReader& in) {
  RootParams params;
  params.root = in.required_string("root");
  for (ObjectReader& document : in.objects("documents")) {
    params.documents.push_back({document.required_string("path"), document.required_string("text")});
  }
  params.variables = in.string_map("variables").value_or(std::map<std::string, std::string>{});
  params.fallback_variables = in.string_map("fallbackVariables").value_or(std::map<std::string, std::string>{});
  params.var_files = in.strings("varFiles").value_or(std::vector<std::string>{});
  for (ObjectReader& argument : in.objects("variableArguments")) {
    params.variable_arguments.push_back(decode_variable_argument(argument));
  }
  params.workspace = in.string("workspace");
  params.data_dir = in.string("dataDir");
  if (params.data_dir && params.data_dir->empty()) {
    params.data_dir.reset();  // as an empty TF_DATA_DIR is none
  }
  return params;
}

}  // namespace modlock::messages
