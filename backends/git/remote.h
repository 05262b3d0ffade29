#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/process.h"
#include "backends/git/references.h"
#include "backends/git/remote_address.h"

namespace modlock::git {

class Repository;
class SmartHttp;

// What a fetch could not bring although the remote answered; with the full error for those who cannot go on.
struct FetchFailure {
  bool unknown_reference = false;
  bool unknown_commit = false;
  bool refused_commit = false;  // it may be there, and is not given out by its id
  Error error;
};

// What a remote advertises.
struct Advertising {
  References references;
  bool is_new = true;  // asked for just now; else what an earlier call was told a moment ago
};

// The remote side of one repository: each call is one request (smart_http.h has the exceptions). Where sources are
// checked, git follows no redirect: SmartHttp finds out where it leads and has it checked, and git is then sent there;
// without it a redirect is BAD_RESPONSE. A fetch by git from an address of http(s) with a query is two requests, and
// SOURCE_UNSUPPORTED from a server of an old protocol. Offline: OFFLINE_MISS.
class Remote {
 public:
  // `http` may be null: then git does everything.
  Remote(const RemoteAddress& address, const Context& context, const SmartHttp* http = nullptr)
      : address_(address), context_(context), http_(http) {}

  enum class Part { tags, branches_and_tags, everything };
  // Errors: those of Backend.
  Result<References> list(Part part, std::string_view doing) const;

  // What the remote said a moment ago, where it spoke with this process; no request.
  std::optional<References> known() const;

  // Every reference without starting git, for fetch_objects(); nullopt: only git can ask. No request where `may_be_old`
  // and it is known already.
  std::optional<Result<Advertising>> advertised(bool may_be_old, std::string_view doing) const;

  // Brings objects that the last advertisement names, without their history, to Repository::incoming(i): one request
  // for all, no git. False where the remote no longer has one of them. nullopt: git is to fetch. Errors: those of
  // Backend, BAD_RESPONSE also where something that an object needs did not come.
  std::optional<Result<bool>> fetch_objects(const Repository& repository, const std::vector<std::string>& ids) const;

  // Fetches `refspecs` into the repository with `options` before them.
  tl::expected<void, FetchFailure> fetch(const std::filesystem::path& repository, std::vector<std::string> options,
                                         std::vector<std::string> refspecs) const;

  const RemoteAddress& address() const { return address_; }

 private:
  Result<References> list_by_git(Part part, std::string_view doing) const;
  Result<Finished> run(const std::vector<std::string>& arguments, std::string_view doing) const;
  Result<Finished> ask_version(const RemoteAddress& address, std::string_view doing) const;
  Result<Finished> run_at(const RemoteAddress& address, const std::vector<std::string>& arguments,
                          std::string_view doing) const;

  const RemoteAddress& address_;
  const Context& context_;
  const SmartHttp* http_;
};

// Runs a git of ours on local files: TOOL_MISSING says what needed it; a failure is IO_ERROR quoting git.
Result<Finished> run_local(const Command& command, std::string_view doing, std::string_view display,
                           const Context& context);

}  // namespace modlock::git
