#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/git/remote.h"
#include "backends/git/repository.h"

namespace modlock::git {

// The branches and tags of a remote with what leads to them, in a bare repository that lives as long as the object. It
// lies in the cached one and stands apart from it: that one's history is cut, and its trees are whole.
class History {
 public:
  explicit History(const Repository& repository);
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  enum class Content {
    commits,  // without trees, where the server can leave them out
    whole,
  };
  // One request. `since`, as git reads dates, leaves out older commits; empty: none. Branches become remote-tracking
  // ones, as in a clone. Errors: those of Backend.
  Result<void> fetch(const Remote& remote, Content content, const std::string& since) const;

  bool has(const std::string& commit) const;
  // Whether a branch or tag leads to the commit.
  Result<bool> leads_to(const Remote& remote, const std::string& commit, const Context& context) const;
  // The commits that a revision names, as `git rev-parse` finds them: none, one, or those whose ids begin so.
  Result<std::vector<std::string>> resolve(const Remote& remote, const std::string& revision,
                                           const Context& context) const;
  // How many commits `newer` has that `older`, an ancestor of it, has not; nullopt where it is no ancestor.
  Result<std::optional<std::size_t>> commits_since(const Remote& remote, const std::string& older,
                                                   const std::string& newer, const Context& context) const;
  // Moves one commit, cut off from its parents, to Repository::incoming(0). Errors: IO_ERROR.
  Result<void> hand_over(const Remote& remote, const Repository& repository, const std::string& commit,
                         const Context& context) const;

 private:
  std::filesystem::path path_;
};

// Whether a branch or tag of the remote leads to the commit, which must have arrived in `repository`. That a server
// hands a commit out is no proof: hosts serve every fork's commits from one store. One or two requests. Errors: those
// of Backend.
Result<bool> is_reachable(const Remote& remote, const Repository& repository, const std::string& commit,
                          const Context& context);

// The same where the remote gives out branches and tags only: then the commit arrives at Repository::incoming(0). One
// request, for everything. Errors: NOT_FOUND (no branch or tag leads there); those of Backend.
Result<void> fetch_with_history(const Remote& remote, const Repository& repository, const std::string& commit,
                                const Context& context);

// Backend::commit_distance(): one request, two where the answer is no. nullopt where anything fails.
std::optional<CommitDistance> find_descent(const Remote& remote, const Repository& repository, const std::string& older,
                                           const std::string& newer, const Context& context);

// What a revision (is_revision() of references.h) names in the history of all branches and tags. One or two requests.
// Errors: NOT_FOUND (nothing, or more than one commit); those of Backend.
Result<Pin> find_revision(const Remote& remote, const Repository& repository, const std::string& ref,
                          const Context& context);

}  // namespace modlock::git
