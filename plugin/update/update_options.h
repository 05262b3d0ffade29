#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/version.h"

namespace modlock {

// A version that a source offers, and how it is written where it takes the place of the current one. `value` nullopt:
// it cannot be written there, so it is no way to go.
struct OfferedVersion {
  Version version;
  std::string id = {};  // immutable: a commit, a digest; empty where only a fetch tells
};
using ValueOf = std::function<std::optional<std::string>(const OfferedVersion&)>;

// A way to go from the current version.
struct UpdateOption {
  Version version;
  std::string value;  // what the configuration would say
  std::string type;   // "major", "minor", "patch": the first number that differs
  std::string id;
  bool is_lock_only = false;  // the configuration stays as it is
};

// The newest offered version with the major number of `current`, and the newest with a higher one, as far as they are
// above it; of prereleases only where the current version is one. `current_value` is what the configuration says.
std::vector<UpdateOption> update_options(std::span<const OfferedVersion> offered, const Version& current,
                                         std::string_view current_value, const ValueOf& value_of);

}  // namespace modlock
