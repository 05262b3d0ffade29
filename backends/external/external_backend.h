#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/http/http_client.h"

namespace modlock {

// A program that serves the sources of one getter: "hg" for `hg::https://…`. Or, with hosts, those of a built-in kind
// at these hosts.
struct ExternalCommand {
  std::string scheme;                   // or the kind: "git"
  std::vector<std::string> command;     // the program (name on PATH or full path) and its arguments
  std::vector<std::string> hosts = {};  // as Source::host has them: "git.example.com", "git.example.com:8443"

  // Returns BackendCore::answered_by().
  std::string name() const;
};

// How long a process may take to respond if the caller has no earlier deadline.
struct ExternalLimits {
  std::chrono::milliseconds answer = std::chrono::seconds(120);  // every request except a fetch
  std::chrono::milliseconds fetch = std::chrono::seconds(3600);
};

// Returns a host as the sources of a kind have it, with its port; nullopt if they cannot have it.
std::optional<std::string> host_in_sources(std::string_view scheme, const std::string& host);

// Checks a command. The caller must decide where commands may come from: the user's settings or the host, never a
// repository. Errors: CONFIG_PARSE for a scheme that cannot be a getter (letters and digits only), a scheme that is
// served without a backend or names hashes of its own (git, oci, http, https, file; h1, zh), and a command without a
// program or with one that depends on the working directory ("./x"). Only the kinds git, registry, oci, archive, s3
// and gcs can have hosts.
Result<void> check_external_command(const ExternalCommand& command);

// Serves the sources whose getter is the scheme by sending requests to a process (docs/backends.md). The process starts
// on first use, is shared by all threads, ends together with the backend, and learns only of sources that are
// requested. The params of each request have `source`, the printable package identity, and `url`, the package URL with
// any secret in it, which is sent only over the pipe.
//
// Ids come from the process, in a restricted form; the lock file has them as "<scheme>:<id>". If two tags without ids
// name an equal version, their ids are requested. A request without id is fetched by name, and the response gives the
// id. Errors in addition to those of Backend: those of check_external_command(); SOURCE_INVALID (a locked id that is
// not valid), HASH_MISMATCH (the response has another id than the request), SOURCE_UNSUPPORTED, SOURCE_INVALID,
// ARCHIVE_UNSAFE, SIGNATURE_INVALID and LIMIT_EXCEEDED from the process; UNREACHABLE if it ended twice during one call.
//
// Of the kind git, ids are commits, and references have the full names of git. That a branch or tag of the repository
// reaches a commit, and that the files are those of the commit, is the claim of the process (Store::set_claims()).
std::unique_ptr<BackendCore> make_external_backend(ExternalCommand command, ExternalLimits limits = {});

// Makes a built-in kind that sends its requests with this client.
using BuiltInKind = std::function<std::unique_ptr<BackendCore>(HttpClient& http)>;

// Serves hosts of the kinds oci, archive, s3 and gcs: a program answers the requests of the built-in kind, which
// therefore checks and unpacks what it writes: `manifest.json` and blobs named by the digits of their digests, or the
// file `archive` (also an object of a directory, or a list of objects). Requests for other hosts, to which an archive
// may lead, are sent with `others`. Errors: those of the built-in kind and of make_external_backend().
std::unique_ptr<BackendCore> make_answered_backend(ExternalCommand command, HttpClient& others, BuiltInKind make,
                                                   ExternalLimits limits = {});

// Returns RegistryBackendOptions::ask, with a process that starts on first use. Errors as above.
std::function<Result<std::string>(const Source& module, const std::string& version, const Context& context)>
make_external_registry(ExternalCommand command, ExternalLimits limits = {});

}  // namespace modlock
