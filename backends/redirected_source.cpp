#include "backends/redirected_source.h"

#include <fmt/format.h>

namespace modlock {

Result<void> check_redirected_source(const Source& source, const Context& context) {
  const bool is_local = !source.is_remote() || (source.scheme == "file" && !source.has_commits());
  if (is_local) {
    return fail(Code::source_denied,
                fmt::format("\"{}\" is on this machine, where no server may lead", source.identity()),
                "if you trust it, write that path as the source");
  }
  return context.check_source ? context.check_source(source) : Result<void>();
}

}  // namespace modlock
