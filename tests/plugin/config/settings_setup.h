#pragma once

#include <filesystem>
#include <string_view>

#include "plugin/settings/settings.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// Settings of `live/prod` in a repository whose files are given; "user.hcl" is the user's.
class Setup {
 public:
  void write(std::string_view name, std::string_view text) { directory.write(name, text); }
  Result<Settings> load() {
    std::filesystem::create_directories(directory / "live/prod");
    return load_settings(directory / "live/prod", directory.path(), directory / "user.hcl", {});
  }
  TemporaryDirectory directory;
};

inline constexpr const char* kNear = "live/prod/.tofu-modlock.hcl";

}  // namespace modlock::test
