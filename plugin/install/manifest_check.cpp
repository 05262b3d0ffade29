#include "plugin/install/manifest_check.h"

#include <fmt/format.h>

#include "backends/address/source_text.h"
#include "plugin/install/overrides.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// What a client records: registry modules alone have a version.
std::string recorded_version(const ModuleNode& node, const ModuleLock* entry) {
  const bool has_one = node.address.source.is_registry() && entry != nullptr;
  return has_one ? entry->version.value_or("") : std::string();
}

// Clients clean the path as they read it.
bool is_same_place(const std::string& recorded, const std::string& expected) {
  return fs::path(recorded).lexically_normal() == fs::path(expected).lexically_normal();
}

}  // namespace

std::optional<Verdict> check_manifest_record(const ModuleNode& node, const ModuleLock* entry, const Manifest& manifest,
                                             const fs::path& root) {
  const auto record = manifest.find(node.key);
  const bool is_taken = record != manifest.end() && is_source_of(record->second.source, node, entry);
  const bool is_here = is_taken && is_same_place(record->second.directory, node.manifest_directory);
  std::error_code ignored;
  if (is_taken && !is_here && fs::is_directory(root / record->second.directory, ignored)) {
    return Verdict{
        .subject = node.subject(),
        .kind = VerdictKind::tampered,
        .expected = node.manifest_directory,
        .actual = record->second.directory,
        .detail = fmt::format("modules.json leads a client to \"{}\" instead of \"{}\"",
                              escape_controls(record->second.directory), escape_controls(node.manifest_directory))};
  }
  if (node.is_local() || (is_here && record->second.version == recorded_version(node, entry))) {
    return std::nullopt;
  }
  return Verdict{.subject = node.subject(),
                 .kind = VerdictKind::missing,
                 .detail = "the package is there, but modules.json does not name it as a client would"};
}

}  // namespace modlock
