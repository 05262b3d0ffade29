#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "plugin/config/config_files.h"
#include "plugin/config/variable.h"

namespace modlock {

// A module call before evaluation, overrides merged. Points into the parsed files.
struct ModuleCallSyntax {
  std::string name;   // ModuleCall::name
  std::string title;  // for messages: `module "vpc"`
  const ConfigText* file = nullptr;
  const hcl::Block* block = nullptr;
  std::map<std::string_view, Argument> arguments = {};  // by name, with the file that gave each
  bool literal_only = false;                            // a run block's: OpenTofu evaluates nothing there

  // Not given: an argument without attribute.
  Argument find(std::string_view argument) const;
};

// A `module` block of one module, evaluated. Locations name paths relative to the root.
struct ModuleCall {
  std::string name;
  SourceText source;                          // not yet parsed as an address
  std::optional<SourceText> version;          // the `version` argument; absent where null
  Location location;                          // of the block header
  bool is_static = true;                      // source and version are written out, without references
  const ModuleCallSyntax* written = nullptr;  // where its other arguments stand
};

struct EvaluatedCalls {
  std::vector<ModuleCall> calls;                    // sorted by name
  std::vector<const ModuleCallSyntax*> unresolved;  // those whose source or version has no value, likewise
  Diagnostics diagnostics;                          // why; see limit_diagnostics()
};

class ModuleScope;
struct ParsedModule;

// Takes over the arguments that the block has, those of a `_` block in it (for variables named like meta arguments are)
// where nothing else gives them.
void merge_arguments(ModuleCallSyntax& call, const hcl::Block& block, const ConfigText& file);

// The calls of a module as OpenTofu sees them in `scope`, the module's own. A call whose source is missing, no string,
// null, sensitive or not static is unresolved and reported, as is one with such a version. A null version is none.
// Stops where the context says so, with what it has by then.
EvaluatedCalls evaluate_calls(const ParsedModule& module, ModuleScope& scope, const Context& context = {});

// Whether source and version are written out, without references.
bool is_written_out(const ModuleCallSyntax& call);

// The expression of the source as it stands in the file; nullopt where there is none, where it is longer than 1000
// bytes, or where an address in it could hold a secret: user-info other than "git", or an argument of a query that
// names neither a version nor an archive.
std::optional<std::string> written_source(const ModuleCallSyntax& call);

// A CONFIG_PARSE error at a place.
Diagnostic config_error(const ConfigText& file, const Range& range, std::string message, std::string hint = {});

// Whether OpenTofu takes it for the name of a module or a run: a letter or `_`, then letters, digits, `_`, `-`.
bool is_identifier(std::string_view text);

}  // namespace modlock
