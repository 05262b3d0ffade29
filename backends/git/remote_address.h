#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock::git {

// The transport of git-remote-codecommit, a program that git runs. Only a source that serve_by_git_helper() turned into
// one of git has it.
inline constexpr std::string_view kCodecommit = "codecommit";

// The address of a repository, split into parts that git's arguments may show and parts that they may not.
struct RemoteAddress {
  std::string url;      // without query and user-info, except the user of ssh
  SecretText full_url;  // `url` with the query, which may hold a token; empty if there is none
  std::string display;  // the package's identity: for messages
  std::string scheme;   // "https", "http", "ssh", "git", "file", or kCodecommit
  std::string host;     // with ":port"; empty for file
  SecretText username;  // http(s) only; often contains a token
  std::optional<SecretText> password;
  // Whether the query must be hidden because only the server may see it. For ssh, git and file it is part of the path.
  bool hides_query() const { return scheme.starts_with("http") && full_url.reveal().find('?') != std::string::npos; }

  // Whether a branch takes precedence over a tag of the same name, as in `git clone --branch`.
  bool prefers_branches = false;
  bool uses_askpass = false;                   // SourceAddress::is_users
  bool is_submodule = false;                   // git's transport policy "user" does not apply
  std::filesystem::path clone_directory = {};  // Context::clone_directory
  SecretText ssh_key = {};                     // the private key in `?sshkey=`; empty if there is none
};

// Errors: SOURCE_DENIED for any other scheme (transport helpers such as ext), a host or path that looks like an option,
// and control characters, literal or percent-encoded; SOURCE_INVALID for an invalid URL, and for a `?sshkey=` that is
// not base64.
Result<RemoteAddress> make_remote_address(const SourceAddress& source);

}  // namespace modlock::git
