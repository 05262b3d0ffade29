#include "backends/git/library.h"

#include <git2.h>

#include <cstddef>

#include "backends/git/bounded_allocator.h"

namespace modlock::git {

namespace {

// The limit for reading packs at one time; mapped memory counts as ours.
constexpr std::size_t kWindow = std::size_t{1} << 20U;
constexpr std::size_t kMapped = std::size_t{16} << 20U;
// The limit for an arriving pack: libgit2 allocates memory for as many objects as a pack claims to have.
constexpr std::size_t kMostObjects = 4'000'000;

}  // namespace

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

std::string library_reason() {
  const git_error* last = git_error_last();
  return last == nullptr || last->message == nullptr ? "unknown reason" : last->message;
}

}  // namespace modlock::git
