#include <filesystem>

#include "backends/base/files.h"
#include "plugin/config/roots.h"
#include "plugin/engine/engine.h"
#include "plugin/lock/lock_file.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Reads the lock file with that name, or one that does not exist.
Result<LockFile> read_lock(const fs::path& root, std::string_view name) {
  MODLOCK_TRY(confine(root / name, {root}));
  auto text = read_file(root / name);
  if (text) {
    return parse_lock(*text, std::string(name));
  }
  return text.error().code == Code::not_found ? Result<LockFile>(LockFile{}) : fail(std::move(text.error()));
}

}  // namespace

// If there is a sidecar, its module blocks apply.
Result<LockFile> Engine::sbom(const fs::path& root) const {
  auto lock = read_lock(root, kLockFileName);
  if (!lock) {
    return lock;
  }
  auto sidecar = read_lock(root, kSidecarFileName);
  if (!sidecar) {
    return sidecar;
  }
  if (sidecar->exists) {
    lock->modules = std::move(sidecar->modules);
  } else if (!lock->exists) {
    return fail(Code::missing, "there is no lock file (" + std::string(kLockFileName) + ") in " + root.string(),
                "an SBOM lists locked versions: run `tofu-modlock lock` first");
  }
  return lock;
}

}  // namespace modlock
