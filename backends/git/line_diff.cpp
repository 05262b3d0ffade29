#include "backends/git/line_diff.h"

#include <git2.h>

#include "backends/git/library.h"

namespace modlock::git {
namespace {

// libgit2 names the line before a change that has no lines on a side.
std::size_t start_of(int number, int count) {
  return static_cast<std::size_t>(count == 0 ? number : number - 1);
}

int add_change(const git_diff_delta* /*delta*/, const git_diff_hunk* hunk, void* changes) {
  const std::size_t before = start_of(hunk->old_start, hunk->old_lines);
  const std::size_t after = start_of(hunk->new_start, hunk->new_lines);
  static_cast<std::vector<LineChange>*>(changes)->push_back({before, before + static_cast<std::size_t>(hunk->old_lines),
                                                             after, after + static_cast<std::size_t>(hunk->new_lines)});
  return 0;
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

std::vector<LineChange> diff_lines(std::string_view before, std::string_view after) {
  start_library();
  git_diff_options options;
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.context_lines = 0;
  options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_MINIMAL;
  std::vector<LineChange> changes;
  const int result = git_diff_buffers(before.data(), before.size(), nullptr, after.data(), after.size(), nullptr,
                                      &options, nullptr, nullptr, &add_change, nullptr, &changes);
  return result == 0 ? changes : std::vector{LineChange{0, split_lines(before).size(), 0, split_lines(after).size()}};
}

}  // namespace modlock::git
