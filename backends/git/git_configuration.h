#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/git/git_command.h"
#include "backends/git/remote_address.h"
#include "protocol/base/result.h"

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
  // include from the home directory, by a variable, or with a condition about repositories or remotes.
  static std::optional<GitConfiguration> read(const EnvironmentLookup& environment);
  // Returns what a clone of the remote would see outside of its own configuration, but with the links below the data
  // directory not followed. Runs git where read() returns nullopt. Errors: IO_ERROR if git fails; those of
  // run_command().
  static Result<GitConfiguration> of(const RemoteAddress& remote, const EnvironmentLookup& environment,
                                     const Context& context);

  GitConfiguration() = default;
  explicit GitConfiguration(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  const std::vector<Entry>& entries() const { return entries_; }

  // Returns the included files that git reads only in the clone: those of `gitdir:` conditions.
  const std::vector<std::string>& includes() const { return includes_; }
  // Returns the value of a setting that git asks for without a URL; the last one applies.
  std::optional<std::string> find(std::string_view key) const;
  bool has_remote_conditions() const;
  // Returns whether http.followRedirects is false for a URL, or anywhere if a URL part is not supported here.
  bool forbids_redirects(std::string_view url) const;

  // Rewrites the URL by url.<base>.insteadOf. The longest match is used, and the first of equals.
  std::string rewrite(std::string_view url) const;

  // Returns the http.* settings that apply to a URL, in order and without their URL part. For each name, the most
  // specific URL applies, as in git's urlmatch. Returns nullopt if a URL part is not supported here (a wildcard,
  // user-info).
  std::optional<std::vector<Entry>> http_settings(std::string_view url) const;

 private:
  std::vector<Entry> entries_;
  std::vector<std::string> includes_;
};

// Whether git reads this value as false.
bool is_false(const GitConfiguration::Entry& entry);

// How tofu-modlock's HTTP client must send the requests that git would send.
struct HttpPlan {
  RemoteAddress remote;  // after url.<base>.insteadOf (not applied if there is a query); `display` is unchanged
  std::vector<std::pair<std::string, SecretText>> secret_headers;  // http.extraHeader
  std::string user_agent;
};

// Applies git's configuration and variables to listing this address over http(s). The error is the reason why only git
// itself can follow them ("http.sslCert is set"); it never contains a value.
tl::expected<HttpPlan, std::string> plan_http(const RemoteAddress& remote, const EnvironmentLookup& environment,
                                              const Result<GitConfiguration>& configuration);

}  // namespace modlock::git
