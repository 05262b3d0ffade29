#include "plugin/mirror/lazy_httplib.h"

#include "backends/lazy_library.h"
#include "backends/library_names.h"

namespace modlock {

void load_httplib() {
  LazyLibrary(kHttplibName).load();
}

}  // namespace modlock
