#include "plugin/install/package_lookup.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/git/checkout.h"
#include "backends/package/tree_hash.h"
#include "backends/store/links.h"
#include "plugin/install/overrides.h"
#include "plugin/install/tree_difference.h"
#include "plugin/resolve/module_node.h"

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
  const ManifestRecord* record = find_in(manifest, node.key);
  return record != nullptr && is_source_of(record->source, node) ? record : nullptr;
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

std::string_view before_query(std::string_view source) {
  return source.substr(0, source.find('?'));
}

// The configuration may have named a reference at the time of the installation and have a constraint now.
bool is_record_of(const ManifestRecord& record, const ModuleNode& node) {
  const bool any_reference = node.address.source.has_commits() && chooses_version(node);
  return is_source_of(record.source, node) ||
         (any_reference && before_query(record.source) == before_query(node.address.normalised.reveal()));
}

// If a client has already extracted a package for another call, it copies it without names that begin with a dot
// (internal/copy of OpenTofu).
bool is_copy(const TreeSummary& copy, const TreeSummary& original) {
  auto at = copy.files.begin();
  for (const FileDigest& file : original.files) {
    if (at != copy.files.end() && at->name == file.name && at->sha256 == file.sha256) {
      ++at;
    } else if (!is_dotfile(file.name)) {
      return false;
    }
  }
  return at == copy.files.end();
}

class RecordedModules {
 public:
  RecordedModules(DataDirectory data, Manifest manifest, const Context& context)
      : data_(std::move(data)), manifest_(std::move(manifest)), context_(context) {
    for (const auto& [key, record] : manifest_) {
      by_package_[package_of(record)].push_back(key);
    }
  }

  std::optional<InstalledRecord> find(const ModuleNode& node) const {
    const ManifestRecord* record = find_in(manifest_, node.key);
    const auto place = installed(node.key);
    if (record == nullptr || !place || !is_record_of(*record, node)) {
      return std::nullopt;
    }
    InstalledRecord recorded{.commit = commit_of(*record, *place)};
    if (node.address.source.is_registry() && !record->version.empty()) {
      recorded.version = Version::parse(record->version).value();
    }
    return recorded.version || !recorded.commit.empty() ? std::optional(std::move(recorded)) : std::nullopt;
  }

 private:
  std::optional<fs::path> installed(const std::string& key) const {
    auto place = data_.place_of(key);
    std::error_code ignored;
    return place && fs::is_directory(fs::symlink_status(*place, ignored)) ? std::move(place) : std::nullopt;
  }

  std::string commit_of(const ManifestRecord& record, const fs::path& place) const {
    if (auto own = git::checked_out_commit(place)) {
      return *own;
    }
    const std::string package = package_of(record);
    if (package.empty()) {
      return {};
    }
    for (const std::string& key : by_package_.at(package)) {
      const auto original = installed(key);
      const auto commit = original ? git::checked_out_commit(*original) : std::nullopt;
      if (commit && is_copy_of(place, *original)) {
        return *commit;
      }
    }
    return {};
  }

  // Returns the key that the records of one extracted package share; empty: the package has no commit.
  static std::string package_of(const ManifestRecord& record) {
    auto address = parse_source(record.source);
    if (!address || !(address->source.is_registry() || address->source.has_commits())) {
      return {};
    }
    address->source.subdir.clear();
    return address->source.identity() + "\n" + record.version;
  }

  bool is_copy_of(const fs::path& place, const fs::path& original) const {
    const auto copied = summarise_tree(place, context_);
    const auto unpacked = summarise_tree(original, context_);
    return copied && unpacked && is_copy(*copied, *unpacked);
  }

  DataDirectory data_;
  Manifest manifest_;
  std::map<std::string, std::vector<std::string>> by_package_;  // keys
  const Context& context_;
};

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
  const ModuleLock* entry = find_in(lock.modules, node.key);
  const bool is_locked =
      entry != nullptr && entry->source == node.address.source.identity() && !entry->hash_value("h1").empty();
  if (!is_locked || node.address.source.is_directory()) {
    return known_package(node, data, manifest, lock, store, known, context);
  }
  LocalPackage stored = stored_package(node, lock, store, known, context);
  return stored.directory.empty()
             ? installed_package(node, "h1:" + entry->hash_value("h1"), data, manifest, store, context)
                   .value_or(LocalPackage{})
             : stored;
}

LocalPackage stored_package(const ModuleNode& node, const LockFile& lock, const Store& store, KnownPackages& known,
                            const Context& context) {
  const ModuleLock* entry = find_in(lock.modules, node.key);
  if (entry == nullptr || entry->source != node.address.source.identity()) {
    return {};
  }
  const std::string h1 = "h1:" + entry->hash_value("h1");
  // Only the record of the fetch contains the subdirectory from the registry. The id of a package of git or OCI is the
  // value of the hash, and that of others the whole hash.
  const std::string origin = entry->origin_hash();
  const std::string version = entry->version.value_or("");
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

Result<std::function<std::optional<InstalledRecord>(const ModuleNode&)>> find_installed_records(
    const DataDirectory& data, const Context& context) {
  MODLOCK_TRY(auto manifest, read_manifest(data.manifest()));
  for (const auto& [key, record] : manifest) {
    if (!record.version.empty() && !Version::parse(record.version)) {
      return fail(Code::io_error,
                  fmt::format("the module manifest {} cannot be used: \"{}\" of module \"{}\" is not a version",
                              data.manifest().string(), record.version, key),
                  "remove the file; `" + tofu_modlock("install") + "`, or the client's own init, recreates it");
    }
  }
  auto modules = std::make_shared<const RecordedModules>(data, std::move(manifest), context);
  return [modules](const ModuleNode& node) { return modules->find(node); };
}

}  // namespace modlock
