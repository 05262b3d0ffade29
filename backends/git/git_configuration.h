#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/git/git_command.h"

namespace modlock::git {

// The configuration that git sees outside of any repository: of the system, of the user, of GIT_CONFIG_COUNT. It may
// hold secrets.
class GitConfiguration {
 public:
  struct Entry {
    std::string key;    // "http.https://example.com/.extraheader": section and name in lower case
    std::string value;  // empty for a key alone, which means "true"
    bool is_bare = false;
  };

  // nullopt where only git itself reads it right: GIT_CONFIG_PARAMETERS, a file that cannot be read, an include of the
  // home directory or on a condition about remotes.
  static std::optional<GitConfiguration> read(const EnvironmentLookup& environment);

  explicit GitConfiguration(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  const std::vector<Entry>& entries() const { return entries_; }

  // The URL as url.<base>.insteadOf has it: the longest match decides, the first of equals.
  std::string rewrite(std::string_view url) const;

  // The settings http.* that apply to a URL, in order and without their URL part: of one name those of the most
  // specific URL, as git's urlmatch has it. nullopt where a URL part is of a kind that is not understood here (a
  // wildcard, user-info).
  std::optional<std::vector<Entry>> http_settings(std::string_view url) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace modlock::git
