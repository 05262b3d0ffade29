#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/fields.h"

namespace modlock::messages {

struct RunStats {
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t cache_hits = 0;
  std::uint64_t elapsed_ms = 0;
};

constexpr TypeName name_of(const RunStats*) {
  return {"Stats", "The requests and the time of a request."};
}
template <typename Form>
void fields(Form& form, In<Form, RunStats> stats) {
  form.member("requests", stats.requests, "requests sent to sources");
  form.member("bytes", stats.bytes, "bytes received");
  form.member("cacheHits", stats.cache_hits, "answers and packages that the cache had");
  form.member("elapsedMs", stats.elapsed_ms, "how long it took");
}

// A text that overlays a file on disk.
struct Document {
  std::string path;  // absolute, relative to the root, or a file:// URI
  std::string text;
};

// An item of `variableArguments`: a value, or a file with values.
struct VariableArgument {
  std::optional<std::string> file;  // either this, or a name and a value
  std::optional<std::string> name;
  std::optional<std::string> value;
};

// The params of every method with a `root`.
struct RootParams {
  std::string root;
  std::vector<Document> documents;
  std::map<std::string, std::string> variables;           // like -var: override all files
  std::map<std::string, std::string> fallback_variables;  // like TF_VAR_<name>: overridden by all files
  std::vector<std::string> var_files;                     // relative to the root, in order
  std::vector<VariableArgument> variable_arguments;       // -var and -var-file in one order: override all of the above
  std::optional<std::string> workspace;
  std::optional<std::string> data_dir;
};

constexpr TypeName name_of(const Document*) {
  return {"Document", "A text that overlays a file on disk."};
}
template <typename Form>
void fields(Form& form, In<Form, Document> document) {
  form.member("path", document.path, "absolute, relative to the root, or a `file://` URI");
  form.member("text", document.text, "what the file holds");
}

constexpr TypeName name_of(const VariableArgument*) {
  return {"VariableArgument", "A file with values, or a name with a value."};
}
template <typename Form>
void fields(Form& form, In<Form, VariableArgument> argument) {
  form.optional("file", argument.file, "as `-var-file`: a file, relative to the root");
  form.optional("name", argument.name, "as `-var`: the name of a variable");
  form.optional("value", argument.value, "its value, written as `-var` has it");
  form.check([&](ObjectReader& in) {
    if (argument.file && (argument.name || argument.value)) {
      in.reject("file", "expected either a file or a name with a value");
    } else if (!argument.file && !(argument.name && argument.value)) {
      in.reject(argument.name ? "value" : "name", "expected a file, or a name with a value");
    }
  });
}

template <typename Form>
void fields(Form& form, In<Form, RootParams> params) {
  form.member("root", params.root,
              "the root module: an absolute directory, its `file://` URI, or one relative to the first workspace root");
  form.optional("documents", params.documents,
                "texts that replace files on disk, for calling programs without a checkout");
  form.optional("variables", params.variables,
                "values of variables, as with `-var`: they take precedence over all files");
  form.optional("fallbackVariables", params.fallback_variables,
                "values of variables, as with `TF_VAR_<name>`: all files take precedence over them");
  form.optional("varFiles", params.var_files, "files with values of variables, relative to the root, in order");
  form.optional("variableArguments", params.variable_arguments,
                "values and files in one order, as `-var` and `-var-file` mix them: above all of these");
  form.optional("workspace", params.workspace,
                "the selected workspace; absent: the one recorded in the data directory");
  form.optional("dataDir", params.data_dir, "the data directory, in place of `.terraform`; empty is absent");
}

}  // namespace modlock::messages
