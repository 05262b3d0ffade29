#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/context.h"
#include "backends/git/references.h"
#include "backends/git/remote_address.h"
#include "backends/process/process.h"

namespace modlock::git {

class HttpLister;

// What a fetch could not bring although the remote answered; with the full error for those who cannot go on.
struct FetchFailure {
  bool unknown_reference = false;
  bool unknown_commit = false;
  bool refused_commit = false;  // it may be there, and is not given out by its id
  Error error;
};

// The remote side of one repository: each call is one request (http_lister.h has the exceptions). Where sources are
// judged, git follows no redirect: the lister finds out where it leads and has it judged, and git is then sent there;
// without a lister a redirect is BAD_RESPONSE. Offline: OFFLINE_MISS.
class Remote {
 public:
  // `lister` may be null: then git lists.
  Remote(const RemoteAddress& address, const Context& context, const HttpLister* lister = nullptr)
      : address_(address), context_(context), lister_(lister) {}

  enum class Part { tags, branches_and_tags, everything };
  // Errors: those of Backend.
  Result<References> list(Part part, std::string_view doing) const;

  // Fetches `refspecs` into the repository with `options` before them.
  tl::expected<void, FetchFailure> fetch(const std::filesystem::path& repository, std::vector<std::string> options,
                                         std::vector<std::string> refspecs) const;

  const RemoteAddress& address() const { return address_; }

 private:
  Result<References> list_by_git(Part part, std::string_view doing) const;
  Result<Finished> run(const std::vector<std::string>& arguments, std::string_view doing,
                       std::chrono::seconds longest) const;
  Result<Finished> run_at(const RemoteAddress& address, const std::vector<std::string>& arguments,
                          std::string_view doing, std::chrono::seconds longest) const;

  const RemoteAddress& address_;
  const Context& context_;
  const HttpLister* lister_;
};

// Runs a git of ours on local files: TOOL_MISSING says what needed it; a failure is IO_ERROR quoting git.
Result<Finished> run_local(const Command& command, std::string_view doing, std::string_view display,
                           const Context& context);

}  // namespace modlock::git
