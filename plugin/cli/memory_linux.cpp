#include "plugin/cli/memory.h"

#include <malloc.h>

namespace modlock::cli {

void grow_memory_in_large_steps() {
#ifdef M_TOP_PAD
  constexpr int kStep = 16 << 20;
  mallopt(M_TOP_PAD, kStep);
#endif
}

}  // namespace modlock::cli
