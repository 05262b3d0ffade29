#include <filesystem>

#include "backends/base/files.h"
#include "plugin/cli/over_roots.h"
#include "plugin/config/roots.h"
#include "plugin/lock/lock_file.h"
#include "plugin/report/cyclonedx.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// The lock file of that name, or one that does not exist.
Result<LockFile> read_lock(const fs::path& root, std::string_view name) {
  MODLOCK_TRY(confine(root / name, {root}));
  auto text = read_file(root / name);
  if (text) {
    return parse_lock(*text, std::string(name));
  }
  return text.error().code == Code::not_found ? Result<LockFile>(LockFile{}) : fail(std::move(text.error()));
}

// Both lock files of a root as one: the module blocks of the sidecar count where there is one.
Result<LockFile> read_locks(const fs::path& root) {
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
                "a bill of materials is made of what is locked: run `tofu-modlock lock` first");
  }
  return lock;
}

}  // namespace

int run_sbom(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  flags.json = true;  // there is no other form
  flags.only_locks = true;
  return run_for_roots(flags, host, [&](const std::string& root) -> RootOutcome {
    const auto lock = read_locks(root);
    if (!lock) {
      return failed(lock.error(), line.common, root);
    }
    SbomRequest request;
    if (!line.name.empty()) {
      request.name = line.name;
    }
    return {.exit_code = 0, .json = bill_of_materials(*lock, request)};
  });
}

}  // namespace modlock::cli
