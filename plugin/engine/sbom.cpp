#include <filesystem>

#include "backends/base/files.h"
#include "plugin/config/roots.h"
#include "plugin/engine/engine.h"
#include "plugin/lock/lock_file.h"
#include "plugin/settings/settings.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Reads the lock file with that name, or one that does not exist.
Result<LockFile> read_lock(const fs::path& root, std::string_view name, const std::vector<fs::path>& bounds) {
  MODLOCK_TRY(confine(root / name, bounds));
  auto text = read_file(root / name);
  if (text) {
    return parse_lock(*text, std::string(name));
  }
  return text.error().code == Code::not_found ? Result<LockFile>(LockFile{}) : fail(std::move(text.error()));
}

}  // namespace

Result<LockedFiles> Engine::sbom(const fs::path& root) const {
  MODLOCK_TRY(const auto settings, load_settings(root, find_repository_root(root), options().user_settings, {}));
  std::vector<fs::path> bounds = user_settings().workspace_roots;
  bounds.insert(bounds.end(), options().extra_workspace_roots.begin(), options().extra_workspace_roots.end());
  bounds.push_back(find_repository_root(root));
  MODLOCK_TRY(auto lock, read_lock(root, kLockFileName, bounds));
  MODLOCK_TRY(auto sidecar, read_lock(root, kSidecarFileName, bounds));
  if (!lock.exists && !sidecar.exists) {
    return fail(Code::missing, "there is no lock file (" + std::string(kLockFileName) + ") in " + root.string(),
                "an SBOM lists locked versions: run `" + tofu_modlock("lock") + "` first");
  }
  LockedFiles found;
  for (const auto& [name, file] : {std::pair{kLockFileName, &lock}, {kSidecarFileName, &sidecar}}) {
    if (file->exists) {
      found.texts.emplace(name, file->text);
    }
  }
  if (!settings.uses_sidecar) {
    MODLOCK_TRY(check_one_placement(lock, sidecar));
  }
  found.lock = with_module_blocks(std::move(lock), std::move(sidecar), settings.uses_sidecar);
  return found;
}

}  // namespace modlock
