#include "plugin/mirror/lazy_httplib.h"

#include <cstdlib>

#include "backends/base/lazy_library.h"
#include "backends/base/library_names.h"

namespace modlock {

Result<void> load_httplib() {
  if (const char* now = std::getenv("LD_BIND_NOW"); now != nullptr && *now != '\0') {
    return fail(Code::tool_missing,
                "the HTTP library of the mirror is loaded when it serves, and LD_BIND_NOW forbids that",
                "unset LD_BIND_NOW, or have the command set it for itself: mirror -- env LD_BIND_NOW=1 CMD");
  }
  LazyLibrary(kHttplibName).load();
  return {};
}

}  // namespace modlock
