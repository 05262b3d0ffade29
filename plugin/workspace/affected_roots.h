#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "plugin/workspace/work_tree.h"
#include "protocol/base/result.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/update_plan.h"

namespace modlock {

// An update from Renovate's data file for postUpgradeTasks, or as in `update/plan` (`subject`).
struct DataEntry {
  std::string subject = {};
  std::string dep_name = {};
  std::string package_name = {};
  std::string dep_type = {};
  std::string package_file = {};  // relative to the repository; empty: any
  std::string current_value = {};
  std::string new_value = {};
  std::string new_version = {};
};

// Reads a list of entries, or an object that has one as `updates` or `upgrades`. Other members are ignored. Errors:
// those of read_file() and parse_json(); INVALID_PARAMS (not a list of objects, an entry without a name or without a
// new value).
Result<std::vector<DataEntry>> read_update_data(const std::filesystem::path& path);

// Returns whether a name from Renovate is that of a module source or of a provider. The prefix may be omitted
// ("github.com/acme/vpc" of "git::https://github.com/acme/vpc.git//net?ref=v1.0.0", "hashicorp/aws", "aws").
bool names_source(std::string_view name, std::string_view source);

// A root as reported by `config/inspect`.
struct InspectedRoot {
  std::filesystem::path directory;
  messages::ConfigInspectResult inspected;

  // Returns whether the file is a configuration file of the root or of its local modules, or has settings for it.
  // `file` is absolute and lexically normal.
  bool reads(const std::filesystem::path& file) const;
};

// Returns the `update/plan` updates that apply the entries to a root: for calls and providers in the file of an entry,
// those of its name whose text is the old one, or already the new one. `package_file` is relative to `repository`.
// Empty: only the lock has to change.
std::vector<messages::Update> updates_for(const InspectedRoot& root, const std::vector<DataEntry>& entries,
                                          const std::filesystem::path& repository);

// Returns whether a root module reads one of the files: a file in its own directory or in that of a local module that
// it calls (also from a test file), or a settings file in a directory above it. Reads only configuration files, so it
// also works for a root whose settings or lock file cannot be read. Paths are absolute and lexically normal. nullopt:
// unknown, because a configuration file cannot be read completely, or a source is computed.
std::optional<bool> reads_any(const std::filesystem::path& root, const std::vector<std::filesystem::path>& files,
                              const Context& context);

// A root module whose lock file has to be updated, or the error why that is impossible or unknown.
struct AffectedRoot {
  std::string root;
  std::vector<messages::Update> updates = {};  // for `update/plan`
  std::vector<std::string> targets = {};       // of an upgrade, if there are no updates; none: only what is missing
  std::optional<Error> error = {};
};

struct AffectedRoots {
  std::vector<AffectedRoot> roots = {};
  std::vector<Error> skipped = {};  // of roots that cannot be read, but do not read what changed
};

// Runs `config/inspect` for a root, with texts in place of files. An error among the diagnostics is an error.
using InspectRoot = std::function<Result<messages::ConfigInspectResult>(
    const std::string& root, const std::vector<messages::Document>& documents)>;

// Finds the roots, among the absolute ones given, that the updates of a bot concern. Their `package_file` is relative
// to `repository`.
AffectedRoots find_affected(const std::vector<std::string>& roots, const std::vector<DataEntry>& entries,
                            const std::filesystem::path& repository, const InspectRoot& inspect,
                            const Context& context);
// Finds those whose configuration or lock file changed since a revision.
AffectedRoots find_affected(const std::vector<std::string>& roots, const RevisionDiff& diff, const InspectRoot& inspect,
                            const Context& context);

}  // namespace modlock
