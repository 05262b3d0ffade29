#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "plugin/config/config_files.h"
#include "plugin/config/variable.h"
#include "protocol/base/error.h"

namespace modlock {

// A module call before evaluation, overrides merged. Points into the parsed files.
struct ModuleCallSyntax {
  std::string name;   // ModuleCall::name
  std::string title;  // for messages: `module "vpc"`
  const ConfigText* file = nullptr;
  const hcl::Block* block = nullptr;
  std::map<std::string_view, Argument> arguments = {};  // by name, each with its file
  bool literal_only = false;                            // a run block's call: OpenTofu evaluates nothing there

  // If the argument is not given, the result has no attribute.
  Argument find(std::string_view argument) const;
};

// A `module` block of one module, evaluated. Locations name paths relative to the root.
struct ModuleCall {
  std::string name;
  SourceText source;                          // not yet parsed as an address
  std::optional<SourceText> version;          // the `version` argument; absent if null
  Location location;                          // of the block header
  bool is_static = true;                      // source and version are literal, without references
  const ModuleCallSyntax* written = nullptr;  // the syntax with its other arguments
};

struct EvaluatedCalls {
  std::vector<ModuleCall> calls;                    // sorted by name
  std::vector<const ModuleCallSyntax*> unresolved;  // those whose source or version has no value, sorted by name
  Diagnostics diagnostics;                          // why; see limit_diagnostics()
};

class ModuleScope;
struct ParsedModule;

// Merges the arguments of the block into the call. A `_` block in it adds arguments that are not given otherwise (for
// variables that are named like meta arguments).
void merge_arguments(ModuleCallSyntax& call, const hcl::Block& block, const ConfigText& file);

// Returns the calls of a module as OpenTofu evaluates them in `scope`, the module's own. A call whose source is
// missing, null, sensitive, not static or not a string is unresolved and reported, as is a call with such a version. A
// null version means that there is none. Returns the calls so far if the context stops the work.
EvaluatedCalls evaluate_calls(const ParsedModule& module, ModuleScope& scope, const Context& context = {});

// Returns the names of the functions in the source and the version, without "core::".
std::vector<std::string> called_functions(const ModuleCallSyntax& call);

// Whether source and version are literal, without references.
bool is_written_out(const ModuleCallSyntax& call);

// Returns the expression of the source as written in the file. nullopt if there is none, if it is longer than 1000
// bytes, or if an address in it could contain a secret: user-info other than "git", or a query argument that names
// neither a version nor an archive.
std::optional<std::string> written_source(const ModuleCallSyntax& call);

Diagnostic config_error(const ConfigText& file, const Range& range, std::string message, std::string hint = {});

// Whether OpenTofu accepts it as the name of a module or a run: a letter or `_`, then letters, digits, `_`, `-`.
bool is_identifier(std::string_view text);

// Limits the diagnostics of one module, except syntax errors. If there are too many from index `from` on, the last one
// states how many are left out. Words in messages that are longer than 100 characters are cut, because a name may have
// any length.
void limit_diagnostics(Diagnostics& diagnostics, std::size_t from = 0);

inline constexpr std::size_t kMostDiagnostics = 100;

// Whether an error only follows from something that could not be read and was reported before. It has no message and
// must not be reported.
bool is_reported_already(const Error& error);

}  // namespace modlock
