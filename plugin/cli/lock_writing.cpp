#include "plugin/cli/lock_writing.h"

#include <filesystem>
#include <utility>

#include "backends/base/files.h"
#include "plugin/install/data_directory.h"
#include "plugin/lock/backup.h"
#include "plugin/lock/lock_file.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// The protected copy lets a later `lock` put back what a stock tofu drops from the file.
Result<void> keep_copy(const DataDirectory& data, const std::vector<messages::LockedModule>& modules,
                       const std::string& root, const Context& context) {
  ModuleLocks locks;
  for (const messages::LockedModule& module : modules) {
    locks.emplace(module.key, ModuleLock{.key = module.key,
                                         .version = module.version,
                                         .source = module.source,
                                         .constraints = module.constraints,
                                         .hashes = module.hashes});
  }
  return save_lock_backup(data.path, locks, root, context);
}

// Between the look at a document and its replacement no other run of ours comes.
Result<std::optional<FileLock>> hold(const std::string& root, const DataDirectory& data,
                                     const std::vector<messages::EditedDocument>& documents, const Context& context) {
  auto held = documents.empty() ? Result<std::optional<FileLock>>() : hold_root(data, context);
  if (held && *held) {
    for (const messages::EditedDocument& document : documents) {
      const fs::path path = fs::path(root) / document.path;
      remove_unfinished_writes(path.parent_path(), path.filename().string());
    }
  }
  return held;
}

}  // namespace

Result<void> write_planned_lock(const CommonFlags& flags, const Host& host, const std::string& root,
                                const messages::LockPlanResult& result) {
  const auto data = find_data_directory(root, flags.data_dir.empty() ? std::nullopt : std::optional(flags.data_dir));
  MODLOCK_TRY(const auto held,
              data ? hold(root, *data, result.edits.documents, host.context()) : Result<std::optional<FileLock>>());
  if (auto ok = apply_edits(root, result.edits); !ok) {
    return ok;
  }
  if (!included(flags).modules) {
    return {};  // the result says nothing of modules
  }
  if (auto kept = data ? keep_copy(*data, result.modules, root, host.context()) : fail(data.error()); !kept) {
    // The lock itself is written: the copy only helps where a stock client drops blocks from it.
    print_err(render(kept.error(), "Warning"));
  }
  return {};
}

}  // namespace modlock::cli
