#include <fcntl.h>
#include <unistd.h>

#include "plugin/cli/standard_descriptors.h"

namespace modlock::cli {

void open_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) == -1) {
      // Opened write-only for stdin and read-only for the others: using them fails instead of seeming to work.
      (void)::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
    }
  }
}

}  // namespace modlock::cli
