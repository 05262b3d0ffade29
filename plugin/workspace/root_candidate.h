#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "plugin/config/source_text.h"

namespace modlock {

// A directory that may be a root.
struct RootCandidate {
  std::string path;                       // relative to the top of its tree, "." for that
  std::set<std::string> test_files = {};  // directories of test files of this module, relative to it
  bool is_sparse = true;                  // a sparse checkout leaves out all files of the module
  bool exists = true;                     // false: git lists files that do not exist
  bool is_broken = false;                 // it cannot be read, or not completely
  bool has_lock = false;
  bool keeps_state = false;
  bool configures_provider = false;
  bool calls_remote = false;
  std::vector<std::filesystem::path> calls = {};  // directories
  std::string caller = {};                        // the first that calls it: relative as `path`; empty: none
  bool has_module_caller = false;                 // not only units of Terragrunt call it
  bool has_entries = false;                       // of modules, in a lock file
  bool is_unit = false;                           // of Terragrunt, to be checked as a root

  // Returns whether it has what makes a root, whatever calls it.
  bool qualifies() const;
  bool is_root() const {
    return is_unit || (caller.empty() ? qualifies() : has_entries || (keeps_state && has_module_caller));
  }
};

// Reads the criteria and the calls of a candidate. `documents` have the files that a sparse checkout leaves out.
void read_candidate(RootCandidate& candidate, const std::filesystem::path& top, const Documents& documents,
                    const Context& context);

// Returns whether the text of a lock file has module entries. One that cannot be read may have some.
bool may_have_entries(std::string_view text, std::string_view name);

}  // namespace modlock
