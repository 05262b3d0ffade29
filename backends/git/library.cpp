#include "backends/git/library.h"

#include <git2.h>

namespace modlock::git {

void start_library() {
  static const int once = [] {
    const int count = git_libgit2_init();
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
