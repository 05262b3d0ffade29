#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace modlock
