#pragma once

#include <string>
#include <string_view>

#include "backends/git/remote_address.h"
#include "protocol/base/error.h"

namespace modlock::git {

// What the error output of a failed git says, by its first known phrase.
enum class GitFailure {
  unknown_reference,  // the remote has no such branch or tag
  unknown_commit,     // the remote does not know that object
  refused_commit,     // the remote gives out branches and tags only
  no_repository,
  credentials_needed,
  credentials_refused,
  ssh_key_refused,
  ssh_host_unknown,
  forbidden,
  rate_limited,
  server_error,
  unreachable,
  certificate,
  timeout,
  broken_response,
  redirected,
  downgraded,
  transport_refused,
  object_format,  // SHA-256 where we speak SHA-1
  too_large,      // a file grew past what a child may write
  too_many_files,
  no_memory,
  disk_full,
  read_only,
  other,
};
GitFailure classify(std::string_view error_output);

// Names and texts of others as a message may quote them: one line of valid UTF-8.
std::string quotable(std::string_view text);

// SOURCE_UNSUPPORTED of a repository that names its objects with SHA-256.
Error unsupported_object_format(const RemoteAddress& remote, std::string_view doing);

// The error of a git that ended with `exit_code`; `doing` completes "git could not …" ("list the tags of"). The last
// lines that git wrote, scrubbed, are its notes. Where they tell no known trouble, the message is what the server said.
Error explain(const RemoteAddress& remote, std::string_view doing, int exit_code, std::string_view error_output);

// The same of a trouble that no error output told. `said` are the server's own words, which are quotable.
Error explain(const RemoteAddress& remote, std::string_view doing, GitFailure failure, std::string_view said = {});

// OFFLINE_MISS of a repository that was never fetched.
Error not_in_cache(const RemoteAddress& remote);

// TOOL_MISSING of a missing git: what needed it, how to install it, what still works.
Error git_missing(std::string_view doing, std::string_view display);

}  // namespace modlock::git
