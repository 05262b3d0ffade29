#include "plugin/cli/heap_tuning.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace modlock::cli {
namespace {

#ifdef M_TOP_PAD
constexpr std::uintptr_t kStep = 16 << 20;

// Makes the heap of the first thread take a step, and returns where it ends then; 0 where the C library grew elsewhere.
std::uintptr_t take_first_step() {
  constexpr std::uintptr_t kBlock = 1 << 20;
  constexpr int kMappedByDefault = 128 << 10;
  mallopt(M_MMAP_THRESHOLD, 2 * kBlock);
  void* const block = std::malloc(kBlock);
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  std::free(block);
  mallopt(M_MMAP_THRESHOLD, kMappedByDefault);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  return begin < end && end - begin >= kStep ? end : 0;
}

// One page fault for 2 MiB instead of for 4 KiB, where the kernel gives such pages to those who ask.
void ask_for_huge_pages(std::uintptr_t end) {
  constexpr std::uintptr_t kHugePage = 2 << 20;
  const std::uintptr_t first = (end - kStep + kHugePage - 1) / kHugePage * kHugePage;
  madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}
#endif

}  // namespace

void grow_memory_in_large_steps() {
#ifdef M_TOP_PAD
  mallopt(M_TOP_PAD, kStep);
  if (const std::uintptr_t end = take_first_step(); end != 0) ask_for_huge_pages(end);
#endif
}

}  // namespace modlock::cli
