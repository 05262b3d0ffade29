#include "plugin/install/recorded_modules.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <vector>

#include "backends/git/checkout.h"
#include "backends/package/tree_hash.h"
#include "plugin/install/manifest.h"
#include "plugin/install/overrides.h"
#include "plugin/install/tree_difference.h"
#include "plugin/resolve/module_node.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

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
    const auto record = manifest_.find(node.key);
    const auto place = installed(node.key);
    if (record == manifest_.end() || !place || !is_record_of(record->second, node)) {
      return std::nullopt;
    }
    InstalledRecord recorded{.commit = commit_of(record->second, *place)};
    if (node.address.source.is_registry() && !record->second.version.empty()) {
      recorded.version = Version::parse(record->second.version).value();
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
