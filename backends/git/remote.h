#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/process.h"
#include "backends/git/git_error.h"
#include "backends/git/references.h"
#include "backends/git/remote_address.h"

namespace modlock::git {

class GitConfiguration;
class Repository;
class SmartHttp;

// A fetch that failed, with the full error for callers that cannot continue.
struct FetchFailure {
  GitFailure kind = GitFailure::other;
  Error error;
};

// The remote side of one repository. Each call is one request (exceptions: smart_http.h). If sources are checked, git
// follows no redirect: SmartHttp finds the target and has it checked, and git then gets the new address; without
// SmartHttp a redirect is BAD_RESPONSE. A fetch by git from an http(s) address with a query is two requests, and
// SOURCE_UNSUPPORTED if the server supports only an old protocol. Offline: OFFLINE_MISS.
class Remote {
 public:
  // `http` may be null; git then does everything.
  Remote(const RemoteAddress& address, const Context& context, const SmartHttp* http = nullptr)
      : address_(address), context_(context), http_(http) {}

  // Lists the wanted references, and perhaps others. Errors: those of Backend.
  Result<Advertising> list(const WantedReferences& wanted, std::string_view doing) const;

  // Returns known(), or requests the list. Errors: those of Backend.
  Result<References> known_or_listed(const WantedReferences& wanted, std::string_view doing) const;

  // Returns the cached references, if this process recently received all that are wanted from the remote. No request.
  std::optional<References> known(const WantedReferences& wanted) const;

  // Returns the same without git, for fetch_objects(). Returns nullopt if only git can list them. No request if
  // `may_be_old` and some are cached.
  std::optional<Result<Advertising>> advertised(bool may_be_old, const WantedReferences& wanted,
                                                std::string_view doing) const;

  // Fetches objects that the last advertisement names, without their history, to Repository::incoming(i): one request
  // for all, no git. Returns false if the remote no longer has one of them, and nullopt if git must fetch. Errors:
  // those of Backend; BAD_RESPONSE also if the pack lacks a part of an object.
  std::optional<Result<bool>> fetch_objects(const Repository& repository, const std::vector<std::string>& ids) const;

  // Fetches `refspecs` into the repository. `options` come before them.
  tl::expected<void, FetchFailure> fetch(const std::filesystem::path& repository, std::vector<std::string> options,
                                         std::vector<std::string> refspecs) const;

  const RemoteAddress& address() const { return address_; }

 private:
  Result<Advertising> list_by_git(const WantedReferences& wanted, std::string_view doing) const;
  Result<Finished> run(const std::vector<std::string>& arguments, std::string_view doing) const;
  Result<Finished> ask_version(const RemoteAddress& address, const GitConfiguration* users,
                               std::string_view doing) const;
  Result<Finished> run_at(const RemoteAddress& address, const std::vector<std::string>& arguments,
                          std::string_view doing) const;

  const RemoteAddress& address_;
  const Context& context_;
  const SmartHttp* http_;
};

// Runs git on local files. TOOL_MISSING reports what needed git. A failure is IO_ERROR quoting git.
Result<Finished> run_local(const Command& command, std::string_view doing, std::string_view display,
                           const Context& context);

}  // namespace modlock::git
