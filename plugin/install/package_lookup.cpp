#include "plugin/install/package_lookup.h"

#include <fmt/format.h>

#include "backends/address/source_text.h"
#include "backends/package/tree_hash.h"
#include "backends/store/links.h"
#include "plugin/install/overrides.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Returns the location of the module in the package according to the registry: the recorded directory without the
// package and without the source's own subdirectory, in which a glob matches one name. Git and OCI sources have no
// other subdirectory than their own.
std::string recorded_subdir(const ManifestRecord& record, const ModuleNode& node) {
  std::string rest = clean_path(record.directory);
  if (node.address.source.has_tags() || !rest.starts_with(node.manifest_package + "/")) {
    return {};
  }
  rest.erase(0, node.manifest_package.size() + 1);
  const fs::path own = node.address.source.subdir;
  for (auto name = own.begin(); name != own.end() && !rest.empty(); ++name) {
    rest.resize(rest.find('/') == std::string::npos ? 0 : rest.rfind('/'));
  }
  return rest;
}

// Returns the record that a client would use for this call; null if there is none.
const ManifestRecord* record_of(const ModuleNode& node, const Manifest& manifest) {
  const auto record = manifest.find(node.key);
  return record != manifest.end() && is_source_of(record->second.source, node) ? &record->second : nullptr;
}

std::optional<LocalPackage> find_in_place(const ModuleNode& node, const DataDirectory& data, const Manifest& manifest,
                                          const Store& store) {
  auto place = data.place_of(node.key);
  // Only a symbolic link to a package of the cache is followed.
  if (const auto linked = place ? linked_package(store, *place) : std::nullopt) {
    place = linked->directory;
  }
  std::error_code ignored;
  if (!place || !fs::is_directory(fs::symlink_status(*place, ignored))) {
    return std::nullopt;
  }
  const ManifestRecord* record = record_of(node, manifest);
  return LocalPackage{*place, record == nullptr ? std::string() : recorded_subdir(*record, node)};
}

}  // namespace

LocalPackage known_package(const ModuleNode& node, const DataDirectory& data, const Manifest& manifest,
                           const LockFile& lock, const Store& store, KnownPackages& known, const Context& context) {
  if (node.address.source.is_directory()) {
    return {node.address.source.path};
  }
  auto place = find_in_place(node, data, manifest, store);
  return place ? std::move(*place) : stored_package(node, lock, store, known, context);
}

LocalPackage locked_package(const ModuleNode& node, const DataDirectory& data, const Manifest& manifest,
                            const LockFile& lock, const Store& store, KnownPackages& known, const Context& context) {
  const auto entry = lock.modules.find(node.key);
  const bool is_locked = entry != lock.modules.end() && entry->second.source == node.address.source.identity() &&
                         !entry->second.hash_value("h1").empty();
  if (!is_locked || node.address.source.is_directory()) {
    return known_package(node, data, manifest, lock, store, known, context);
  }
  LocalPackage stored = stored_package(node, lock, store, known, context);
  return stored.directory.empty()
             ? installed_package(node, "h1:" + entry->second.hash_value("h1"), data, manifest, store, context)
                   .value_or(LocalPackage{})
             : stored;
}

LocalPackage stored_package(const ModuleNode& node, const LockFile& lock, const Store& store, KnownPackages& known,
                            const Context& context) {
  const auto entry = lock.modules.find(node.key);
  if (entry == lock.modules.end() || entry->second.source != node.address.source.identity()) {
    return {};
  }
  const std::string h1 = "h1:" + entry->second.hash_value("h1");
  // Only the record of the fetch contains the subdirectory from the registry. The id of a package of git or OCI is the
  // value of the hash, and that of others the whole hash.
  const std::string origin = entry->second.origin_hash();
  const std::string version = entry->second.version.value_or("");
  const auto [place, is_new] = known.emplace(
      fmt::format("{}\n{}\n{}\n{}", node.address.source.package_identity(), version, origin, h1), LocalPackage{});
  if (is_new) {
    auto package = store.find(node.address.source, origin.substr(origin.find(':') + 1), version);
    package = package ? std::move(package) : store.find(node.address.source, origin, version);
    package = package && package->h1 == h1 ? std::move(package) : store.find_by_h1(h1);
    // A damaged package is not removed here: root modules may link to it, and `install` replaces it.
    if (package && is_intact(store, *package, context)) {
      place->second = {std::move(package->directory), std::move(package->subdir)};
    }
  }
  return place->second;
}

std::optional<LocalPackage> installed_package(const ModuleNode& node, std::string_view h1, const DataDirectory& data,
                                              const Manifest& manifest, const Store& store, const Context& context) {
  const bool needs_record = !node.address.source.has_commits();
  auto place = find_in_place(node, data, manifest, store);
  const bool fits = place && (!needs_record || record_of(node, manifest) != nullptr) &&
                    hash_tree(place->directory, context).value_or("") == h1;
  return fits ? std::move(place) : std::nullopt;
}

}  // namespace modlock
