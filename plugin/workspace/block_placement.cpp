#include "plugin/workspace/block_placement.h"

#include <algorithm>

#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "plugin/config/roots.h"
#include "plugin/engine/engine.h"
#include "plugin/lock/lock_file.h"
#include "plugin/settings/settings.h"
#include "plugin/workspace/work_tree.h"

namespace modlock {
namespace {

// One with conflicts has some.
bool has_blocks(const std::string& text) {
  const auto lock = parse_lock(text, std::string(kLockFileName));
  return !lock || !lock->modules.empty();
}

}  // namespace

bool may_have_inline_blocks(const std::filesystem::path& top, const std::vector<std::string>& except) {
  const auto files = list_tree_files(top, {});
  return !files || std::ranges::any_of(files->paths, [&](const std::filesystem::path& path) {
    const std::string root = (files->top / path).parent_path().string();
    const bool is_lock = path.filename() == kLockFileName && !contains(except, root);
    return is_lock && has_blocks(read_file(files->top / path).value_or(""));
  });
}

bool places_first_blocks_inline(const std::filesystem::path& root, const messages::WorkspaceEdit& edits,
                                const std::optional<std::filesystem::path>& user_settings) {
  const auto* lock = find_by(edits.documents, kLockFileName, &messages::EditedDocument::path);
  if (lock == nullptr || has_blocks(lock->before) || !has_blocks(text_after(lock->before, *lock))) {
    return false;
  }
  const auto settings = load_settings(root, find_repository_root(root), user_settings, {});
  return settings && !settings->uses_sidecar;
}

}  // namespace modlock
