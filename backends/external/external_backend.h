#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace modlock {

// A program that serves the sources of one getter: "hg" for `hg::https://…`.
struct ExternalCommand {
  std::string scheme;
  std::vector<std::string> command;  // the program, by its name on PATH or its whole path, and its arguments
};

// How long a process may take to answer where the caller has no earlier deadline.
struct ExternalLimits {
  std::chrono::milliseconds answer =
      std::chrono::seconds(120);  // of every request but a fetch, and of backend/describe
  std::chrono::milliseconds fetch = std::chrono::seconds(3600);
};

// Where a command may come from is for its reader to judge: the user's settings or the host, never a repository.
// Errors: CONFIG_PARSE for a scheme that no getter has (letters and digits only), one that is served without a backend
// or names hashes of its own (git, oci, http, https, file; h1, zh), and for a command without a program or with one
// that depends on the working directory ("./x").
Result<void> check_external_command(const ExternalCommand& command);

// Serves the sources whose getter is the scheme by asking a process (docs/backends.md), which is started when it is
// first needed, shared by all threads, ended together with the backend, and not told of sources that nobody wants from
// it. The params of each request have `source`, the printable package identity, and `url`, the package URL with
// whatever secret it holds, which goes over the pipe only.
//
// Ids are what the process says, in a restricted form; the lock has them as "<scheme>:<id>". Where two tags without ids
// name an equal version, their ids are asked for. A request without id is fetched by its name, and the id taken from
// the answer. Beside the errors of Backend: those of check_external_command(); SOURCE_INVALID (a locked id that can be
// none), HASH_MISMATCH (another id came than was asked for), SOURCE_UNSUPPORTED, SOURCE_INVALID, ARCHIVE_UNSAFE,
// SIGNATURE_INVALID and LIMIT_EXCEEDED as the process gives them; UNREACHABLE where it ended twice during one call.
std::unique_ptr<BackendCore> make_external_backend(ExternalCommand command, ExternalLimits limits = {});

}  // namespace modlock
