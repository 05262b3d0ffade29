#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/update_plan.h"

namespace modlock::cli {

// One update as Renovate's data file for postUpgradeTasks tells it, or as `update/plan` takes it (`subject`).
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

// A list of entries, or an object that has one as `updates` or `upgrades`. Other members are ignored. Errors: those of
// read_file() and parse_json(); INVALID_PARAMS (no list of objects, an entry that names nothing or nothing new).
Result<std::vector<DataEntry>> read_update_data(const std::filesystem::path& path);

// Whether a name of Renovate's is that of a module source or of a provider: what stands in front may be left out of it
// ("github.com/acme/vpc" of "git::https://github.com/acme/vpc.git//net?ref=v1.0.0", "hashicorp/aws", "aws").
bool names_source(std::string_view name, std::string_view source);

// A root as `config/inspect` tells of it.
struct InspectedRoot {
  std::filesystem::path directory;
  messages::ConfigInspectResult inspected;

  // Whether it is one of its configuration files, or of its local modules, or has settings for it. `file` is absolute
  // and lexically normal.
  bool reads(const std::filesystem::path& file) const;
};

// What `update/plan` has to be asked for so that a root follows the entries: of calls and providers in the file of an
// entry those of its name whose text is the old one, or already the new one. `repository` is where `package_file`
// starts from. Empty: only the lock has to follow.
std::vector<messages::Update> updates_for(const InspectedRoot& root, const std::vector<DataEntry>& entries,
                                          const std::filesystem::path& repository);

}  // namespace modlock::cli
