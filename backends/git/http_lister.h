#pragma once

#include <optional>
#include <string_view>

#include "backends/context.h"
#include "backends/git/git_backend.h"
#include "backends/git/references.h"
#include "backends/git/remote_address.h"
#include "backends/http/http_client.h"

namespace modlock::git {

// Lists references over http(s) in this process: libgit2 reads what our HTTP client brings. The whole advertisement is
// one request (protocol v0; libgit2 knows no other), two where the server asks for credentials; these are the
// address's, else those of git's credential helpers.
class HttpLister {
 public:
  // `http` may be null and outlives the object.
  HttpLister(HttpClient* http, GitEngine engine) : http_(http), engine_(engine) {}

  // Every reference. nullopt: git itself is to list, for the engine or the transport is another one, or (with
  // GitEngine::automatic) git's configuration or the server ask for what only git can do: another kind of
  // authentication, ~/.netrc, the protocol of plain files, authorities that only git knows, an advertisement over 64
  // MiB. Errors: those of Backend in the words of git_error.h; with GitEngine::libgit2 SOURCE_UNSUPPORTED naming what
  // only git can do.
  std::optional<Result<References>> list(const RemoteAddress& remote, std::string_view doing,
                                         const Context& context) const;

  // Where the redirects of a repository lead, judged one by one by Context::judge_source before they are followed, as
  // an address for git. nullopt: nowhere, to what is not this repository, or git's configuration keeps us from asking.
  // Errors: those of list() but for credentials.
  std::optional<Result<SecretText>> resolve(const RemoteAddress& remote, std::string_view doing,
                                            const Context& context) const;

 private:
  HttpClient* http_;
  GitEngine engine_;
};

}  // namespace modlock::git
