#include "backends/git/library.h"

#include <git2.h>
#include <git2/sys/alloc.h>
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h>
#endif

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace modlock::git {
namespace {

constexpr std::size_t kLargest = std::size_t{512} << 20U;
// The limit for reading packs at one time; mapped memory counts as ours.
constexpr std::size_t kWindow = std::size_t{1} << 20U;
constexpr std::size_t kMapped = std::size_t{16} << 20U;
// The limit for an arriving pack: libgit2 allocates memory for as many objects as a pack claims to have.
constexpr std::size_t kMostObjects = 4'000'000;

constexpr std::size_t kSmall = std::size_t{64} << 10U;

// libgit2 1.5 crashes if it gets no memory for something small, for example for a line of a configuration.
void* checked(void* memory, std::size_t size) {
  if (memory == nullptr && size != 0 && size <= kSmall) {
    std::fputs(
        "Error: tofu-modlock ended early: no memory is left for this process [IO_ERROR]\n"
        "  hint: free some memory, or raise the limit (ulimit -v), then run it again\n",
        stderr);
    std::_Exit(1);
  }
  if (memory == nullptr) {
    git_error_set_oom();
  }
  return memory;
}

// Returns more than can be allocated if the product overflows.
std::size_t product(std::size_t count, std::size_t size) {
  return size != 0 && count > kLargest / size ? std::numeric_limits<std::size_t>::max() : count * size;
}

void* reallocate_array(void* memory, std::size_t count, std::size_t size, const char* /*file*/, int /*line*/) {
  const std::size_t whole = product(count, size);
  return checked(whole > kLargest ? nullptr : std::realloc(memory, whole), whole);
}

void* reallocate(void* memory, std::size_t size, const char* file, int line) {
  return reallocate_array(memory, 1, size, file, line);
}

void* allocate_array(std::size_t count, std::size_t size, const char* file, int line) {
  return reallocate_array(nullptr, count, size, file, line);
}

void* allocate(std::size_t size, const char* file, int line) {
  return reallocate_array(nullptr, 1, size, file, line);
}

void* allocate_zeros(std::size_t count, std::size_t size, const char* /*file*/, int /*line*/) {
  const std::size_t whole = product(count, size);
  return checked(whole > kLargest ? nullptr : std::calloc(count, size), whole);
}

char* copy_of(const char* text, std::size_t size, const char* file, int line) {
  char* const copy = static_cast<char*>(allocate(size + 1, file, line));
  if (copy != nullptr) {
    std::memcpy(copy, text, size);
    copy[size] = '\0';
  }
  return copy;
}

// The structure has all of these members up to libgit2 1.5, and three later. Those make the others of them.
template <typename Allocator>
void set_functions(Allocator& allocator) {
  allocator.gmalloc = allocate;
  allocator.grealloc = reallocate;
  allocator.gfree = std::free;
  if constexpr (requires { allocator.gcalloc; }) {
    allocator.gcalloc = allocate_zeros;
    allocator.gstrdup = [](const char* text, const char*, int) { return copy_of(text, std::strlen(text), "", 0); };
    allocator.gstrndup = [](const char* text, std::size_t most, const char*, int) {
      return copy_of(text, ::strnlen(text, most), "", 0);
    };
    allocator.gsubstrdup = copy_of;
    allocator.greallocarray = reallocate_array;
    allocator.gmallocarray = allocate_array;
  }
}

}  // namespace

void bound_allocations() {
  git_allocator allocator{};
  set_functions(allocator);
  git_libgit2_opts(GIT_OPT_SET_ALLOCATOR, &allocator);
}

void start_library() {
  static const int once = [] {
    bound_allocations();
    const int count = git_libgit2_init();
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, kWindow);
    git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, kMapped);
    git_libgit2_opts(GIT_OPT_SET_PACK_MAX_OBJECTS, kMostObjects);
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    for (const int level :
         {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL}) {
      git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "");
    }
    return count;
  }();
  (void)once;
}

bool may_have_conflicts(const std::filesystem::path& index) {
  start_library();
  git_index* opened = nullptr;
  const bool may_have = git_index_open(&opened, index.c_str()) != 0 || git_index_has_conflicts(opened) != 0;
  git_index_free(opened);
  return may_have;
}

std::string library_reason() {
  const git_error* last = git_error_last();
  return last == nullptr || last->message == nullptr ? "unknown reason" : last->message;
}

}  // namespace modlock::git
