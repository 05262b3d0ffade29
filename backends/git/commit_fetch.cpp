#include "backends/git/commit_fetch.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/git/git_error.h"
#include "backends/git/history.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

tl::unexpected<Error> on_no_branch(const Remote& remote, const std::string& commit) {
  return fail(Code::hash_mismatch,
              fmt::format("commit {} is on no branch and no tag of \"{}\": it may come from a fork, or from a history "
                          "that was rewritten",
                          commit, remote.address().display),
              "do not use it before you know where it comes from; then choose a commit that a branch or tag leads to");
}

// A commit that the remote's last advertisement is known to name, without git; false: it is not, or git is to fetch it.
Result<bool> bring_advertised(const Remote& remote, const Repository& repository, const std::string& commit) {
  const auto known = remote.known();
  if (!known) {
    return false;
  }
  const auto at = std::find_if(known->begin(), known->end(),
                               [&](const Reference& reference) { return reference.commit() == commit; });
  const auto fetched = at == known->end() ? std::nullopt : remote.fetch_objects(repository, {at->id});
  return fetched ? *fetched : false;
}

}  // namespace

tl::expected<void, FetchFailure> fetch_shallow(const Remote& remote, const Repository& repository,
                                               const std::vector<std::string>& sources) {
  repository.clear_incoming();
  std::vector<std::string> refspecs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    refspecs.push_back("+" + sources[i] + ":" + Repository::incoming(i));
  }
  return remote.fetch(repository.path(), {"--depth=1"}, std::move(refspecs));
}

tl::unexpected<Error> no_commit(const Remote& remote, std::string_view name, std::string_view kind) {
  return fail(Code::not_found,
              fmt::format("\"{}\" of \"{}\" points to a {}, not to a commit", name, remote.address().display, kind),
              "choose a tag or branch that points to a commit");
}

Result<bool> fetch_by_id(const Remote& remote, const Repository& repository, const std::string& commit,
                         const Context& context) {
  MODLOCK_TRY(const auto is_brought, bring_advertised(remote, repository, commit));
  const auto fetched = is_brought ? tl::expected<void, FetchFailure>() : fetch_shallow(remote, repository, {commit});
  if (!fetched && fetched.error().unknown_commit) {
    return fail(Code::not_found, fmt::format("\"{}\" has no commit {}", remote.address().display, commit),
                "check the commit, or whether the history was rewritten");
  }
  if (!fetched && !fetched.error().refused_commit) {
    return fail(fetched.error().error);
  }
  if (!fetched) {
    MODLOCK_TRY(fetch_with_history(remote, repository, commit, context));
  }
  const auto arrived = repository.objects().peel(Repository::incoming(0));
  if (!arrived || arrived->id != commit) {
    return no_commit(remote, commit, "tag object");
  }
  return arrived->kind == "commit" ? Result<bool>(!fetched) : no_commit(remote, commit, arrived->kind);
}

Result<void> check_commit(const Remote& remote, const Repository& repository, const std::string& commit,
                          const Context& context) {
  auto references = remote.known();
  if (!references) {
    MODLOCK_TRY(auto listed, remote.list(Remote::Part::branches_and_tags, "list the branches and tags of"));
    references = std::move(listed);
  }
  if (is_advertised(*references, commit)) {
    return {};
  }
  MODLOCK_TRY(const auto is_proven, fetch_by_id(remote, repository, commit, context));
  if (is_proven) {
    return repository.accept(commit);
  }
  MODLOCK_TRY(auto reachable, is_reachable(remote, repository, commit, context));
  if (!reachable) {
    repository.clear_incoming();
    return on_no_branch(remote, commit);
  }
  return repository.accept(commit);
}

Result<void> fetch_submodule(const Remote& remote, const Repository& repository, const std::string& commit,
                             const Context& context) {
  if (repository.has_submodule(commit)) {
    return {};
  }
  MODLOCK_TRY(fetch_by_id(remote, repository, commit, context));
  auto kept = repository.keep_submodule(commit);
  repository.clear_incoming();
  return kept;
}

}  // namespace modlock::git
