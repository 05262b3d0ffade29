#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/git/git_backend.h"
#include "backends/git/references.h"
#include "backends/git/remote_address.h"
#include "backends/http/http_client.h"

namespace modlock::git {

// Implements git's smart HTTP protocol in this process with our HTTP client. It lists references with one request, and
// fetches them without their history with one more. The last list of a server is cached for a minute, so that a fetch
// after a listing need not repeat it. It is trusted only for objects that it names.
// Each function returns nullopt if git itself must do the work: the engine or the transport is another one, or (with
// GitEngine::automatic) git's configuration or the server requires a feature that only git has: another kind of
// authentication, ~/.netrc, the protocol of plain files, authorities that only git knows, an advertisement over 64 MiB.
// Errors are those of Backend with the texts of git_error.h; with GitEngine::libgit2 also SOURCE_UNSUPPORTED naming
// what only git can do. Thread-safe.
class SmartHttp {
 public:
  // `http` may be null and must outlive the object. `cache_directory` is that of GitOptions.
  SmartHttp(HttpClient* http, GitEngine engine, std::filesystem::path cache_directory);
  ~SmartHttp();
  SmartHttp(const SmartHttp&) = delete;
  SmartHttp& operator=(const SmartHttp&) = delete;

  // Lists references. The number of requests is that of HttpExchange::advertise().
  std::optional<Result<Advertising>> list(const RemoteAddress& remote, const WantedReferences& wanted,
                                          std::string_view doing, const Context& context) const;

  // Returns the cached references of the remote; nullopt if they are too old, or lack a part of what is wanted.
  std::optional<References> recall(const RemoteAddress& remote, const WantedReferences& wanted) const;

  // Fetches objects that the references of recall() name into the bare repository, all at once, without checking that
  // they are complete. Returns false if the server no longer has one of them; nullopt also if nothing is recalled or
  // the server does not support shallow fetches.
  std::optional<Result<bool>> fetch(const RemoteAddress& remote, const std::vector<std::string>& ids,
                                    const std::filesystem::path& repository, std::string_view doing,
                                    const Context& context) const;

  // Returns the final address of a repository's redirects, for git. Context::check_source checks each redirect before
  // it is followed. Returns nullopt if there is no redirect, the target is not this repository, or git's configuration
  // prevents the request. Errors: those of list(), except for credentials.
  std::optional<Result<SecretText>> resolve(const RemoteAddress& remote, std::string_view doing,
                                            const Context& context) const;

 private:
  class Memory;

  bool is_ours(const RemoteAddress& remote, const Context& context) const;
  bool may_leave_to_git(const std::string& reason) const;

  HttpClient* http_;
  GitEngine engine_;
  std::filesystem::path cache_directory_;
  std::unique_ptr<Memory> memory_;
};

// Returns the printable form of a final address that names another host or path; empty: it is the same repository.
std::string other_repository(std::string_view from, std::string_view to);

}  // namespace modlock::git
