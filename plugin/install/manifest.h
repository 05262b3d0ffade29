#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"
#include "plugin/resolve/module_tree.h"
#include "protocol/base/result.h"

namespace modlock {

// One record of `<data directory>/modules/modules.json`, the module manifest that tofu and terraform read to learn what
// is installed (internal/modsdir/manifest.go of OpenTofu).
struct ManifestRecord {
  std::string key;        // "" is the root
  std::string source;     // normalised as the client writes it, secrets included
  std::string version;    // empty: omitted
  std::string directory;  // relative to the root, or absolute; `/`-separated

  bool operator==(const ManifestRecord&) const = default;
};
using Manifest = std::map<std::string, ManifestRecord>;  // by key

// Reads a manifest. A file that does not exist or is empty is an empty manifest, as for the client.
// Errors: IO_ERROR naming the file (no JSON, or not of this shape), with the hint what to do.
Result<Manifest> read_manifest(const std::filesystem::path& path);
// The same of its text; `path` is for the error.
Result<Manifest> parse_manifest(std::string_view text, const std::filesystem::path& path);

// Where the root module and those of the manifest lie that are below it: absolute where `root` is. What a manifest has
// elsewhere is left out.
std::set<std::filesystem::path> installed_directories(const Manifest& manifest, const std::filesystem::path& root);

// The bytes that the client writes: one line, no line end, records sorted by key, strings escaped as Go's encoding/json
// does (`&`, `<` and `>` as \u0026, \u003c, \u003e).
std::string write_manifest(const Manifest& manifest);

// What a client makes of the record that modules.json has of a call, where that is not what the configuration and the
// lock say. It reads a recorded module, a local one too, where the record says, as long as the record has the call's
// source (internal/initwd/module_install.go of OpenTofu), and has it installed anew otherwise:
// - tampered: the record leads to another directory, which is there;
// - missing: of a remote call there is no record that a client would take, or it leads to nothing.
// nullopt: it takes the module from where it is to lie. `entry` is null where the call has none.
std::optional<Verdict> check_manifest_record(const ModuleNode& node, const ModuleLock* entry, const Manifest& manifest,
                                             const std::filesystem::path& root);

}  // namespace modlock
