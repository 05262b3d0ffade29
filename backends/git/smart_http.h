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

// Speaks git's smart HTTP protocol v0 in this process, over our HTTP client: lists references with one request, and
// fetches what they name, without its history, with one more. What a server said last is kept for a minute, so that the
// fetch behind a listing need not ask again; it is only ever believed about objects that it names.
// Wherever the answer is nullopt, git itself is to do it: the engine or the transport is another one, or (with
// GitEngine::automatic) git's configuration or the server ask for what only git can do: another kind of
// authentication, ~/.netrc, the protocol of plain files, authorities that only git knows, an advertisement over 64
// MiB. Errors are those of Backend in the words of git_error.h; with GitEngine::libgit2 also SOURCE_UNSUPPORTED naming
// what only git can do. Thread-safe.
class SmartHttp {
 public:
  // `http` may be null and outlives the object.
  SmartHttp(HttpClient* http, GitEngine engine);
  ~SmartHttp();
  SmartHttp(const SmartHttp&) = delete;
  SmartHttp& operator=(const SmartHttp&) = delete;

  // Every reference. One request, two where the server asks for credentials.
  std::optional<Result<References>> list(const RemoteAddress& remote, std::string_view doing,
                                         const Context& context) const;

  // What the remote said last; nullopt where it is too long ago.
  std::optional<References> recall(const RemoteAddress& remote) const;

  // Brings objects that references of recall() name into the bare repository, all at once; whether they are whole is
  // not checked. False where the server has one of them no longer. nullopt also where nothing is recalled, or the
  // server cannot cut histories.
  std::optional<Result<bool>> fetch(const RemoteAddress& remote, const std::vector<std::string>& ids,
                                    const std::filesystem::path& repository, std::string_view doing,
                                    const Context& context) const;

  // Where the redirects of a repository lead, checked one by one by Context::check_source before they are followed, as
  // an address for git. nullopt: nowhere, to what is not this repository, or git's configuration keeps us from asking.
  // Errors: those of list() but for credentials.
  std::optional<Result<SecretText>> resolve(const RemoteAddress& remote, std::string_view doing,
                                            const Context& context) const;

 private:
  class Memory;

  bool is_ours(const RemoteAddress& remote, const Context& context) const;
  bool may_leave_to_git(const std::string& reason) const;

  HttpClient* http_;
  GitEngine engine_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace modlock::git
