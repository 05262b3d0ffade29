#pragma once

#include <string_view>

#include "backends/git/remote_address.h"
#include "protocol/base/error.h"

namespace modlock::git {

// The kind of failure, by the first known phrase in the error output of git.
enum class GitFailure {
  unknown_reference,  // the remote has no such branch or tag
  unknown_commit,     // the remote does not know that object
  refused_commit,     // the remote serves only branches and tags
  no_repository,
  credentials_needed,
  credentials_refused,
  ssh_key_refused,
  ssh_host_unknown,
  forbidden,
  rate_limited,
  server_error,
  proxy_refused,  // status 407
  unreachable,
  certificate,
  timeout,
  broken_response,
  redirected,
  downgraded,
  transport_refused,
  object_format,  // SHA-256; only SHA-1 is supported
  too_large,      // a file exceeded the size that a child may write
  too_many_files,
  no_memory,
  disk_full,
  read_only,
  other,
};
GitFailure classify(std::string_view error_output);

// The error of a git that ended with `exit_code`. `doing` completes "git could not …" ("list the tags of"). Its notes
// are the last lines that git wrote, scrubbed. If they match no known failure, the message is the text of the server.
Error explain(const RemoteAddress& remote, std::string_view doing, int exit_code, std::string_view error_output);

// The same for a failure without error output. `said` is the server's own text, which must be quotable.
Error explain(const RemoteAddress& remote, std::string_view doing, GitFailure failure, std::string_view said = {});

// OFFLINE_MISS for a repository that was never fetched.
Error not_in_cache(std::string_view display, std::string_view doing = "fetch from");

// TOOL_MISSING if git is not found: why it is needed, how to install it, and what still works.
Error git_missing(std::string_view doing, std::string_view display);

}  // namespace modlock::git
