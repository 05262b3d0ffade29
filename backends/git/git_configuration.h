#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/git/git_command.h"

namespace modlock::git {

// The configuration that git sees outside of any repository: of the system, of the user, and of GIT_CONFIG_COUNT. It
// may contain secrets.
class GitConfiguration {
 public:
  struct Entry {
    std::string key;    // "http.https://example.com/.extraheader": section and name in lower case
    std::string value;  // empty for a bare key, which means "true"
    bool is_bare = false;
  };

  // Returns nullopt if only git itself reads the configuration correctly: GIT_CONFIG_PARAMETERS, an unreadable file, an
  // include from the home directory or with a condition about remotes.
  static std::optional<GitConfiguration> read(const EnvironmentLookup& environment);

  explicit GitConfiguration(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  const std::vector<Entry>& entries() const { return entries_; }

  // Rewrites the URL by url.<base>.insteadOf. The longest match is used, and the first of equals.
  std::string rewrite(std::string_view url) const;

  // Returns the http.* settings that apply to a URL, in order and without their URL part. For each name, the most
  // specific URL applies, as in git's urlmatch. Returns nullopt if a URL part is not supported here (a wildcard,
  // user-info).
  std::optional<std::vector<Entry>> http_settings(std::string_view url) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace modlock::git
