#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock::git {

// Where a repository is, split into what git's arguments may show and what they may not.
struct RemoteAddress {
  std::string url;      // without query, and without user-info but for the user of ssh
  SecretText full_url;  // `url` with the query, which may hold a token; empty where there is none
  std::string display;  // the package's identity: for messages
  std::string scheme;   // "https", "http", "ssh", "git" or "file"
  std::string host;     // with ":port"; empty for file
  SecretText username;  // http(s) only; a token is often written here
  std::optional<SecretText> password;
  // Whether the query is for the server alone: of ssh, git and file it is a part of the path.
  bool hides_query() const { return scheme.starts_with("http") && full_url.reveal().find('?') != std::string::npos; }

  SecretText ssh_key = {};  // the private key that `?sshkey=` holds; empty where there is none
};

// Errors: SOURCE_DENIED for any other scheme (transport helpers such as ext), a host or path that looks like an option,
// and control characters, written or percent-encoded; SOURCE_INVALID for what is no URL, and for a `?sshkey=` that is
// not base64.
Result<RemoteAddress> make_remote_address(const SourceAddress& source);

}  // namespace modlock::git
