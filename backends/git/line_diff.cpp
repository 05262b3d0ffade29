#include "backends/git/line_diff.h"

#include <git2.h>

#include <cstdint>

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

// git adds the line of a function to the header of a hunk.
int add_header(const git_diff_delta* /*delta*/, const git_diff_hunk* hunk, void* out) {
  const std::string_view header(hunk->header, hunk->header_len);
  static_cast<std::string*>(out)->append(header.substr(0, header.find("@@", 1) + 2)) += '\n';
  return 0;
}

int add_line(const git_diff_delta* /*delta*/, const git_diff_hunk* /*hunk*/, const git_diff_line* line, void* out) {
  const bool is_mark = line->origin == '+' || line->origin == '-' || line->origin == ' ';
  static_cast<std::string*>(out)->append(is_mark ? 1 : 0, line->origin).append(line->content, line->content_len);
  return 0;
}

bool compare(std::string_view before, std::string_view after, std::uint32_t context, git_diff_hunk_cb on_hunk,
             git_diff_line_cb on_line, void* out) {
  start_library();
  git_diff_options options;
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.context_lines = context;
  options.flags = GIT_DIFF_FORCE_TEXT | GIT_DIFF_MINIMAL;
  return git_diff_buffers(before.data(), before.size(), nullptr, after.data(), after.size(), nullptr, &options, nullptr,
                          nullptr, on_hunk, on_line, out) == 0;
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
  std::vector<LineChange> changes;
  const bool ok = compare(before, after, 0, &add_change, nullptr, &changes);
  return ok ? changes : std::vector{LineChange{0, split_lines(before).size(), 0, split_lines(after).size()}};
}

std::string unified_hunks(std::string_view before, std::string_view after) {
  std::string out;
  compare(before, after, 3, &add_header, &add_line, &out);
  return out;
}

}  // namespace modlock::git
