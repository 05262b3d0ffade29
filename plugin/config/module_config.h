#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"

namespace modlock {

// A piece of configuration text that gave a value.
struct Written {
  std::string text;   // the value
  Location location;  // of the expression
};

// A `module` block of one module, overrides merged.
struct ModuleCall {
  std::string name;
  Written source;                  // evaluated, not yet parsed as an address
  std::optional<Written> version;  // the `version` argument; absent where null
  Location location;               // of the block header
  bool repeated = false;           // has count or for_each
};

struct ConfigFile {
  std::string path;  // relative to the root
  enum class Role { primary, override_file, test } role = Role::primary;
  std::string sha256;
};

// One module directory as OpenTofu reads it.
struct ModuleConfig {
  std::vector<ConfigFile> files;  // sorted by name
  std::vector<ModuleCall> calls;  // sorted by name
  Diagnostics diagnostics;        // errors here mean that calls may be missing
};

// Text that overlays the disk: absolute, lexically normal path -> content.
using Documents = std::map<std::filesystem::path, std::string>;

// Reads the module in `directory`. Locations name paths relative to `root`. Our own `modlock_override.tf` is left out.
// Errors: NOT_FOUND (no such directory), IO_ERROR. What is wrong inside the files is in `diagnostics`: CONFIG_PARSE
// (syntax, a module call twice, a call without source), CONFIG_NON_STATIC (a source or version that is not written
// out as a string).
Result<ModuleConfig> load_module(const std::filesystem::path& directory, const std::filesystem::path& root,
                                 const Documents& documents);

// Reads the `run { module { … } }` calls of the test files in `root` and in its `test_directory`. The name of a call is
// its key in modules.json: "test.<directory parts>.<file without .tftest.hcl>.<run>". Values must be literals. Errors
// as of load_module(); directories that are not there hold no tests.
Result<ModuleConfig> load_test_modules(const std::filesystem::path& root, const Documents& documents,
                                       std::string_view test_directory = "tests");

// A path as locations and results name it: relative to `root`, `/`-separated, may start with "../".
std::string relative_to_root(const std::filesystem::path& path, const std::filesystem::path& root);

}  // namespace modlock
