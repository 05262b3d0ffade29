#include "backends/git/commit_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <filesystem>

#include "backends/address/git_reference.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/git_command.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

constexpr std::string_view kReading = "read the history of";

// Whether a larger request would only fail with the same error.
bool is_final(const Error& error) {
  return error.code == Code::limit_exceeded || error.code == Code::timeout || error.code == Code::deadline_exceeded ||
         error.code == Code::request_cancelled;
}

// The branches and tags of a remote with their history, in a temporary bare repository inside the cached one. It is
// separate because the cached one has shallow histories and complete trees.
class History {
 public:
  History(const Remote& remote, const Repository& repository, const Context& context)
      : remote_(remote), context_(context), path_(repository.make_side_path()) {}
  ~History() { (void)remove_tree(path_); }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  enum class Content {
    commits,  // without trees, if the server can omit them
    whole,
  };

  // One request. `since`, in git's date syntax, omits older commits; empty omits none. Branches become remote-tracking
  // branches, as in a clone. Errors: those of Backend.
  Result<void> fetch(Content content, const std::string& since) const {
    MODLOCK_TRY(make_bare_repository(path_));
    std::vector<std::string> options;
    if (content == Content::commits) {
      options.emplace_back("--filter=tree:0");
    }
    if (!since.empty()) {
      options.push_back("--shallow-since=" + since);
    }
    auto fetched = remote_.fetch(path_, options, {"+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"});
    return fetched ? Result<void>() : fail(std::move(fetched.error().error));
  }

  bool has(const std::string& commit) const {
    const auto objects = ObjectReader::open(path_);
    return objects && objects->has_object(commit);
  }

  // Whether a branch or tag reaches the commit.
  Result<bool> leads_to(const std::string& commit) const {
    MODLOCK_TRY(auto objects, ObjectReader::open(path_));
    if (!objects.has_object(commit)) {
      return false;
    }
    MODLOCK_TRY(const auto found, read({"for-each-ref", "--count=1", "--contains=" + commit}));
    return !found.empty();
  }

  // Returns the commits that a revision names, as `git rev-parse` finds them: none, one, or all whose ids start with
  // it.
  Result<std::vector<std::string>> resolve(const std::string& revision) const {
    for (const std::string_view prefix : {"", "refs/remotes/origin/", "refs/tags/"}) {
      const Command command = local_command(path_, {"rev-parse", "--verify", "--quiet", "--end-of-options",
                                                    std::string(prefix) + revision + "^{commit}"});
      MODLOCK_TRY(auto found, run_command(command, context_));
      if (found.exit_code == 0) {
        return lines_of(found.output);
      }
    }
    if (!is_abbreviation(revision)) {
      return std::vector<std::string>{};
    }
    // rev-parse does not report whether it found no commit or more than one.
    MODLOCK_TRY(const auto found, read({"rev-list", "--all"}));
    const std::string start = ascii::lower(revision);
    std::vector<std::string> commits = lines_of(found);
    std::erase_if(commits, [&](const std::string& commit) { return !commit.starts_with(start); });
    std::ranges::sort(commits);
    return commits;
  }

  // Returns how many commits `newer` has beyond its ancestor `older`; nullopt if `older` is not an ancestor.
  Result<std::optional<std::size_t>> commits_since(const std::string& older, const std::string& newer) const {
    if (!has(older) || !has(newer)) {
      return std::nullopt;
    }
    MODLOCK_TRY(const auto base, read({"rev-list", "--max-count=1", older, "^" + newer}));
    if (!base.empty()) {
      return std::nullopt;  // not reachable from `newer`
    }
    MODLOCK_TRY(const auto text, read({"rev-list", "--count", newer, "^" + older}));
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }

  // Copies one commit without its parents to Repository::incoming(0). Errors: IO_ERROR.
  Result<void> hand_over(const Repository& repository, const std::string& commit) const {
    const std::string wanted = "refs/modlock/wanted";
    MODLOCK_TRY(auto objects, ObjectReader::open(path_));
    MODLOCK_TRY(objects.set_reference(wanted, commit));
    repository.clear_incoming();
    Command command =
        local_command(repository.path(), {"fetch", "--quiet", "--no-progress", "--no-tags", "--no-write-fetch-head",
                                          "--depth=1", "--no-auto-maintenance", "--end-of-options",
                                          "file://" + path_.string(), "+" + wanted + ":" + Repository::incoming(0)});
    command.set_environment["GIT_ALLOW_PROTOCOL"] = "file";
    auto fetched = run_local(command, kReading, remote_.address().display, context_);
    return fetched ? Result<void>() : fail(std::move(fetched.error()));
  }

 private:
  Result<std::string> read(std::vector<std::string> arguments) const {
    return run_local(local_command(path_, std::move(arguments)), kReading, remote_.address().display, context_)
        .map([](Finished finished) { return std::move(finished.output); });
  }

  const Remote& remote_;
  const Context& context_;
  std::filesystem::path path_;
};

// If clocks were right, descendants of a commit are newer than it, so most of the history need not be transferred.
std::string just_before(std::chrono::sys_seconds time) {
  return fmt::format("@{} +0000", time.time_since_epoch().count() - 1);
}

// Fetches the history since the commit, if `repository` has it, then the whole one, until `is_found(history,
// is_whole)`. One or two requests. Errors: those of Backend and of `is_found`.
template <typename IsFound>
Result<bool> search_history(const Remote& remote, const Repository& repository, const std::string& commit,
                            const Context& context, const IsFound& is_found) {
  const auto made_at = repository.objects().commit_time(commit);
  for (const std::string& since : {made_at ? just_before(*made_at) : std::string(), std::string()}) {
    const History history(remote, repository, context);
    const auto fetched = history.fetch(History::Content::commits, since);
    if (!fetched && (since.empty() || is_final(fetched.error()))) {
      return fail(fetched.error());
    }
    auto found = fetched ? is_found(history, since.empty()) : Result<bool>(false);
    if (!found || *found || !made_at) {
      return found;
    }
  }
  return false;
}

// Whether a branch or tag of the remote reaches the commit, which must be in `repository`. That a server serves a
// commit is no proof, because hosts keep the commits of all forks in one store.
Result<bool> is_reachable(const Remote& remote, const Repository& repository, const std::string& commit,
                          const Context& context) {
  return search_history(remote, repository, commit, context,
                        [&](const History& history, bool) { return history.leads_to(commit); });
}

// The same for a remote that serves only branches and tags. The commit arrives at Repository::incoming(0). One request,
// for the whole history. Errors: NOT_FOUND (not reachable from a branch or tag); those of Backend.
Result<void> fetch_with_history(const Remote& remote, const Repository& repository, const std::string& commit,
                                const Context& context) {
  const History whole(remote, repository, context);
  MODLOCK_TRY(whole.fetch(History::Content::whole, ""));
  MODLOCK_TRY(const auto found, whole.leads_to(commit));
  if (!found) {
    return fail(
        Code::not_found,
        fmt::format("\"{}\" has no branch or tag from which commit {} is reachable, and serves no other commits",
                    remote.address().display, commit),
        "check the commit, or whether the history was rewritten");
  }
  return whole.hand_over(repository, commit);
}

tl::unexpected<Error> on_no_branch(const Remote& remote, const std::string& commit) {
  return fail(
      Code::hash_mismatch,
      fmt::format("commit {} is on no branch and no tag of \"{}\": it may come from a fork, or from a history "
                  "that was rewritten",
                  commit, remote.address().display),
      "verify the origin of the commit before you use it, or choose a commit that is reachable from a branch or tag");
}

// Fetches a commit without git; false if the remote's last known advertisement lacks it, or if git must fetch it.
Result<bool> bring_advertised(const Remote& remote, const Repository& repository, const std::string& commit) {
  const auto known = remote.known({});
  if (!known) {
    return false;
  }
  const auto at = std::ranges::find(*known, commit, &Reference::commit);
  const auto fetched = at == known->end() ? std::nullopt : remote.fetch_objects(repository, {at->id});
  return fetched ? *fetched : false;
}

// Returns "HEAD~1" as "<commit>~1~1": a fetched history has no HEAD, and the clients check out the reference twice, the
// second time from the commit of the first. If it goes back too far, the second time is origin/HEAD~1. The first of the
// result that exists is meant. Errors: those of find_reference() and Backend.
Result<std::vector<std::string>> without_head(const Remote& remote, const std::string& ref) {
  const std::size_t end = std::min(ref.find_first_of("~^"), ref.size());
  const std::string_view name = std::string_view(ref).substr(0, end);
  if (name != "HEAD" && name != "@") {
    return std::vector{ref};
  }
  MODLOCK_TRY(const auto listed, remote.list({"HEAD"}, "find the HEAD of"));
  MODLOCK_TRY(const auto head, find_reference(listed.references, "HEAD", remote.address().display));
  const std::string once = head.id + ref.substr(end);
  std::vector<std::string> revisions = {once + ref.substr(end)};
  if (name == "HEAD") {
    revisions.push_back(once);
  }
  return revisions;
}

}  // namespace

std::optional<CommitDistance> find_descent(const Remote& remote, const Repository& repository, const std::string& older,
                                           const std::string& newer, const Context& context) {
  CommitDistance distance;
  const auto found = search_history(remote, repository, older, context, [&](const History& history, bool is_whole) {
    const auto commits = history.commits_since(older, newer);
    distance = {.descends = commits && *commits, .commits = commits ? commits->value_or(0) : 0};
    return Result<bool>(distance.descends || (commits && is_whole && history.has(newer)));
  });
  return found && *found ? std::optional(distance) : std::nullopt;
}

Result<Pin> find_revision(const Remote& remote, const Repository& repository, const std::string& ref,
                          const Context& context) {
  MODLOCK_TRY(const auto revisions, without_head(remote, ref));
  const History history(remote, repository, context);
  MODLOCK_TRY(history.fetch(History::Content::commits, ""));
  std::vector<std::string> found;
  for (auto revision = revisions.begin(); found.empty() && revision != revisions.end(); ++revision) {
    MODLOCK_TRY(found, history.resolve(*revision));
  }
  if (found.size() == 1) {
    return Pin{found.front(), ""};
  }
  const std::string& display = remote.address().display;
  if (found.empty()) {
    return fail(
        Code::not_found,
        fmt::format("\"{}\" has no branch or tag \"{}\", and no reachable commit of that name", display, quotable(ref)),
        "check the spelling of ?ref=, or whether the history was rewritten");
  }
  return fail(Code::not_found,
              fmt::format("\"{}\" has more than one commit that begins with \"{}\": {} and {}", display, ref, found[0],
                          found[1]),
              "write all 40 digits of the commit");
}

tl::expected<void, FetchFailure> fetch_shallow(const Remote& remote, const Repository& repository,
                                               const std::vector<std::string>& sources,
                                               std::vector<std::string> options) {
  repository.clear_incoming();
  options.insert(options.begin(), "--depth=1");
  std::vector<std::string> refspecs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    refspecs.push_back("+" + sources[i] + ":" + Repository::incoming(i));
  }
  return remote.fetch(repository.path(), std::move(options), std::move(refspecs));
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
  if (!fetched && fetched.error().kind == GitFailure::unknown_commit) {
    return fail(Code::not_found, fmt::format("\"{}\" has no commit {}", remote.address().display, commit),
                "check the commit, or whether the history was rewritten");
  }
  if (!fetched && fetched.error().kind != GitFailure::refused_commit) {
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

Result<std::string> check_commit(const Remote& remote, const Repository& repository, const std::string& commit,
                                 const Context& context) {
  const WantedReferences wanted = {std::string(kGitBranches), std::string(kGitTags)};
  MODLOCK_TRY(const auto references, remote.known_or_listed(wanted, "list the branches and tags of"));
  if (const Reference* tag = find_tag_object(references, commit)) {
    return tag->peeled;
  }
  if (is_advertised(references, commit)) {
    return commit;
  }
  MODLOCK_TRY(const auto is_proven, fetch_by_id(remote, repository, commit, context));
  MODLOCK_TRY(const auto is_valid, is_proven ? Result<bool>(true) : is_reachable(remote, repository, commit, context));
  if (!is_valid) {
    repository.clear_incoming();
    return on_no_branch(remote, commit);
  }
  MODLOCK_TRY(repository.accept(commit));
  return commit;
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
