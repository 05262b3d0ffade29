#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "plugin/install/overrides.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "protocol/base/result.h"

namespace modlock {

// One record of `<data directory>/modules/modules.json`, in which tofu and terraform list the installed modules
// (internal/modsdir/manifest.go of OpenTofu).
struct ManifestRecord {
  std::string key;        // "" is the root
  std::string source;     // normalized as the client writes it, including secrets
  std::string version;    // empty: omitted
  std::string directory;  // relative to the root, or absolute; `/`-separated

  bool operator==(const ManifestRecord&) const = default;
};
using Manifest = std::map<std::string, ManifestRecord>;  // by key

// Reads a manifest. A file that does not exist or is empty is an empty manifest, as for the client. Errors: IO_ERROR
// naming the file (unreadable, invalid JSON, or another structure); invalid content has a hint. If `broken` is not
// null, it gets the error of invalid content, and the manifest is empty.
Result<Manifest> read_manifest(const std::filesystem::path& path, std::optional<Error>* broken = nullptr);

// Returns `root` and the directories of the manifest that are below it, absolute if `root` is.
std::set<std::filesystem::path> installed_directories(const Manifest& manifest, const std::filesystem::path& root);

// Returns the bytes that the client would write: one line without line ending, records sorted by key, strings escaped
// as in Go's encoding/json (`&`, `<` and `>` as \u0026, \u003c, \u003e).
std::string write_manifest(const Manifest& manifest);

// Replaces the manifest at `path` in its open directory. One that is `broken` is moved to `modules.json.broken` first;
// the result has a warning about it. Errors: IO_ERROR.
Result<Diagnostics> replace_manifest(const std::filesystem::path& path, const std::filesystem::path& directory,
                                     const Manifest& manifest, std::optional<Error> broken);

// Returns the record that a client makes for a call. `entry` is null if the call has none; `overridden` is
// OverridePlan::sources.
ManifestRecord make_record(const ModuleNode& node, const ModuleLock* entry, const OverrideSources& overridden = {});

// Returns a verdict if the record of a call in modules.json does not match the configuration and the lock. A client
// reads a recorded module, also a local one, from the recorded directory if the record has the source of the call;
// otherwise the module must be installed again (internal/initwd/module_install.go of OpenTofu):
// - tampered: the record names another directory, and that exists;
// - missing: a remote call has no record with its source and version, or the recorded directory does not exist.
// nullopt: a client uses the expected directory. `entry` is null if the call has none.
std::optional<Verdict> check_manifest_record(const ModuleNode& node, const ModuleLock* entry, const Manifest& manifest,
                                             const std::filesystem::path& root);

}  // namespace modlock
