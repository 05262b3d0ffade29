#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/result.h"

namespace modlock {

// A value of the configuration and its location.
struct SourceText {
  std::string text;   // the value
  Location location;  // of the expression
};

struct ConfigFile {
  std::string path;  // relative to the root
  enum class Role { primary, override_file, test } role = Role::primary;
  std::string sha256;
};

// Text that overlays the disk: absolute, lexically normal path -> content.
using Documents = std::map<std::filesystem::path, std::string>;

// A path in the form of locations and results: relative to `root`, `/`-separated, may start with "../".
std::string relative_to_root(const std::filesystem::path& path, const std::filesystem::path& root);

}  // namespace modlock
