#include "plugin/workspace/tree_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/git_command.h"
#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "plugin/lock/local_git.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

bool is_left_out(std::string_view component) {
  constexpr std::array<std::string_view, 3> kNames = {".git", ".terraform", ".terragrunt-cache"};
  return std::ranges::find(kNames, component) != kNames.end();
}

bool is_below_left_out(std::string_view path) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    if (is_left_out(path.substr(0, slash))) {
      return true;
    }
    path.remove_prefix(slash + 1);
  }
  return false;
}

// git skips a directory that it cannot open, and reports it.
void take_unlisted(std::string_view messages, std::vector<std::string>& unlisted) {
  constexpr std::string_view kStart = "warning: could not open directory '";
  for (std::size_t at = messages.find(kStart); at != std::string_view::npos; at = messages.find(kStart)) {
    messages.remove_prefix(at + kStart.size());
    const std::string_view line = messages.substr(0, messages.find('\n'));
    std::string path(line.substr(0, line.rfind("': ")));
    path.resize(path.ends_with('/') ? path.size() - 1 : path.size());
    if (!is_below_left_out(path + "/")) {
      unlisted.push_back(path.empty() ? "." : std::move(path));
    }
  }
}

Result<void> list_repository(TreeFiles& tree, const Context& context) {
  const auto listed = run_command(
      git::enclosing_command(tree.top, {"ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard"}),
      context);
  if (!listed) {
    Error error = listed.error();
    error.notes.push_back(fmt::format("git lists the files of {} for --recursive", tree.top.string()));
    return fail(std::move(error));
  }
  if (listed->exit_code != 0) {
    auto [why, hint] = explain_fault(tree.top, listed->error_output);
    return fail(Code::io_error, fmt::format("cannot list the files of {}: {}", tree.top.string(), why),
                std::move(hint));
  }
  take_unlisted(listed->error_output, tree.unlisted);
  for (const std::string& line : lines_of(listed->output, '\0')) {  // "H path"; S: not in a sparse checkout
    const std::string path = line.substr(std::min<std::size_t>(2, line.size()));
    if (is_below_left_out(path)) {
      continue;
    }
    tree.paths.push_back(path);
    if (line.starts_with('S')) {
      tree.sparse.insert(path);
    }
  }
  return {};
}

void list_directory(const fs::path& directory, TreeFiles& tree) {
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const bool is_directory = !entry->is_symlink(ignored) && entry->is_directory(ignored);
    if (!is_directory) {
      tree.paths.push_back(relative_to_root(entry->path(), tree.top));
    } else if (!is_left_out(entry->path().filename().string())) {
      list_directory(entry->path(), tree);
    }
  }
  if (error) {
    tree.unlisted.push_back(relative_to_root(directory, tree.top));
  }
}

}  // namespace

Result<TreeFiles> list_tree_files(const fs::path& top, const Context& context) {
  TreeFiles tree{.top = top, .paths = {}};
  if (path_exists(find_repository_root(top) / ".git")) {
    MODLOCK_TRY(list_repository(tree, context));
  } else {
    list_directory(tree.top, tree);
  }
  sort_unique(tree.paths);
  return tree;
}

TreeFiles list_ignored_files(const fs::path& top, const fs::path& directory) {
  TreeFiles tree{.top = top, .paths = {}};
  list_directory(directory, tree);
  return tree;
}

}  // namespace modlock
