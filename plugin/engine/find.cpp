#include <fmt/format.h>

#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/settings/release_pattern.h"
#include "protocol/base/result.h"
#include "protocol/messages/lock_find.h"

namespace modlock {
namespace {

template <typename Ranges, typename Key>
std::optional<Location> place_of(const Ranges& ranges, const Key& key, const std::string& path) {
  const auto range = ranges.find(key);
  return range == ranges.end() ? std::nullopt : std::optional(Location{path, range->second});
}

}  // namespace

Result<messages::LockFindResult> Engine::find(const messages::LockFindParams& params, Run& run) const {
  MODLOCK_TRY(const auto pattern, ReleasePattern::parse(params.release));
  MODLOCK_TRY(const auto open, OpenRoot::open(*this, run, params.root, params.lock));
  const LockDocument& document = open->lock;
  const LockFile lock = effective_lock(document);
  messages::LockFindResult result{
      .is_locked = document.file.exists || document.provider_file().exists || document.left_sidecar, .found = {}};
  for (const auto& [key, entry] : lock.modules) {
    // Entries with a colon in their key belong to hosts, for example the source of a Terragrunt unit.
    MODLOCK_TRY(const auto source, parse_identity(entry.source));
    if (pattern.matches(source, entry.parsed_version(), entry.hashes)) {
      result.found.push_back({.subject = key.find(':') == std::string::npos ? "module." + key : key,
                              .source = entry.source,
                              .version = entry.version,
                              .origin = entry.origin_hash(),
                              .location = place_of(lock.module_ranges, key, document.modules_path())});
    }
  }
  const LockFile& providers = document.provider_file();
  for (const auto& [address, entry] : providers.providers) {
    if (pattern.matches(address, entry.version, entry.hashes)) {
      result.found.push_back({.subject = "provider." + address.to_string(),
                              .source = address.to_string(),
                              .version = entry.version.to_string(),
                              .origin = {},
                              .location = place_of(providers.provider_ranges, address, document.providers_path())});
    }
  }
  return result;
}

Result<LockedFiles> Engine::sbom(const messages::RootParams& root, Run& run) const {
  MODLOCK_TRY(const auto open, OpenRoot::open(*this, run, root, {}));
  const LockDocument& lock = open->lock;
  LockedFiles found{.lock = effective_lock(lock)};
  found.lock.providers = lock.provider_file().providers;
  const auto take = [&](const std::string& name, const LockFile& file) {
    if (file.exists) {
      found.texts.emplace(name, file.text);
    }
  };
  take(lock.path, lock.file);
  take(std::string(kLockFileName), lock.beside.value_or(LockFile()));
  take(std::string(kSidecarFileName), lock.left_sidecar.value_or(LockFile()));
  if (found.texts.empty()) {
    return fail(Code::missing,
                fmt::format("there is no lock file ({}) in {}", kLockFileName, open->root.walk.root.string()),
                "an SBOM lists locked versions: run `" + tofu_modlock("lock") + "` first");
  }
  return found;
}

}  // namespace modlock
