#include "plugin/hcl/conflict_markers.h"

#include <cstddef>

#include "protocol/base/result.h"

namespace modlock::hcl {

void name_conflict_markers(ParsedFile& file, std::string_view text) {
  for (Diagnostic& diagnostic : file.diagnostics) {
    const auto& location = diagnostic.what.location;
    const std::size_t at = location && location->range ? location->range->start.byte : 0;
    const std::size_t line = text.rfind('\n', at) + 1;
    if (diagnostic.severity == Severity::error && text.substr(at == 0 ? 0 : line).starts_with("<<<<<<< ")) {
      diagnostic.what.message = "the file has conflict markers of a merge";
      diagnostic.what.hint = "resolve the conflict in this file, then run the command again";
      return;
    }
  }
}

}  // namespace modlock::hcl
