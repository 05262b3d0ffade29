#include "backends/git/fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

#include "backends/address/git_reference.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/commit_fetch.h"
#include "backends/git/git_error.h"
#include "backends/git/references.h"

namespace modlock::git {
namespace {

constexpr std::string_view kListing = "list the references of";

// Whether the request names its commit by id, a part of it or a revision expression, and not by a branch or tag.
bool is_named_by_id(const FetchRequest& request) {
  const bool is_expression = !is_reference_name(request.ref) && is_revision(request.ref);
  const bool is_part =
      is_abbreviation(request.ref) && is_same_commit(request.ref, request.id.substr(0, request.ref.size()));
  return request.ref.empty() || is_full_commit(request.ref) || is_expression || is_part;
}

// The requests of one call in progress.
class CommitFetch {
 public:
  CommitFetch(const Remote& remote, const Repository& repository, std::span<const FetchRequest> requests,
              const Context& context)
      : remote_(remote),
        repository_(repository),
        requests_(requests.begin(), requests.end()),
        context_(context),
        results_(requests.size()) {
    for (FetchRequest& request : requests_) {
      request.ref = without_peeling(request.ref);
      add_possible_names(wanted_, request.ref, remote.address().prefers_branches);
      if (is_full_commit(request.ref) && !is_same_commit(request.ref, request.id)) {
        wanted_.emplace_back(kGitTags);  // for is_tag_object()
      }
    }
  }

  std::vector<Result<Diagnostics>> run() {
    std::vector<std::size_t> named;
    std::vector<std::size_t> by_id;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (auto fine = check_request(requests_[i]); !fine) {
        results_[i] = fail(std::move(fine.error()));
      } else if (!repository_.has_commit(requests_[i].id)) {
        (is_named_by_id(requests_[i]) ? by_id : named).push_back(i);
      }
    }
    if (!named.empty() && !take_advertised(named)) {
      take_by_git(named);
    }
    for (const std::size_t i : by_id) {
      take_by_id(i);
    }
    repository_.clear_incoming();
    return std::move(results_);
  }

 private:
  struct Now {
    std::string name;                   // the full name, as far as it is known
    std::optional<std::string> commit;  // nullopt: the reference is gone
  };
  struct Split {
    std::vector<std::size_t> there;
    std::vector<std::string> objects;  // of `there`
    std::vector<std::size_t> other;
  };

  // Ids and names from a lock file or an address become part of a refspec, where ":" and "*" are special.
  Result<void> check_request(const FetchRequest& request) {
    if (is_sha256_id(request.id)) {
      return fail(explain(remote_.address(), "fetch from", GitFailure::object_format));
    }
    if (!is_full_commit(request.id)) {
      return fail(Code::not_found,
                  fmt::format("\"{}\" has no commit \"{}\": 40 hexadecimal digits were expected",
                              remote_.address().display, quotable(request.id)),
                  "check the entry of the lock file");
    }
    MODLOCK_TRY(const auto is_named, !is_full_commit(request.ref) || is_same_commit(request.ref, request.id)
                                         ? Result<bool>(true)
                                         : is_tag_object(request));
    if (!is_named) {
      return fail(Code::hash_mismatch,
                  fmt::format("commit {} of \"{}\" is asked for, and {} is expected", request.ref,
                              remote_.address().display, request.id),
                  "make the configuration and the lock file name the same commit");
    }
    if (!request.ref.empty() && !is_reference_name(request.ref) && !is_revision(request.ref)) {
      return fail(Code::not_found,
                  fmt::format("\"{}\" has no branch or tag \"{}\": no reference can have that name",
                              remote_.address().display, quotable(request.ref)),
                  "write a branch, a tag or a full commit");
    }
    return {};
  }

  // Whether the reference is the id of an advertised tag object, whose commit the request names.
  Result<bool> is_tag_object(const FetchRequest& request) {
    MODLOCK_TRY(const auto* references, list());
    const Reference* tag = find_tag_object(*references, request.ref);
    return tag != nullptr && is_same_commit(tag->peeled, request.id);
  }

  // Returns false, with no request resolved, if only git can do it.
  bool take_advertised(const std::vector<std::size_t>& named) {
    for (const bool may_be_old : {true, false}) {
      auto now = remote_.advertised(may_be_old, wanted_, kListing);
      if (!now) {
        return false;
      }
      if (!*now) {
        fail_all(named, now->error());
        return true;
      }
      const bool is_new = (*now)->is_new;
      const Split split = split_by((*now)->references, named);
      if (!is_new && !split.other.empty()) {
        continue;  // a cached advertisement proves what it names, not what it lacks
      }
      const auto fetched =
          split.there.empty() ? std::optional(Result<bool>(true)) : remote_.fetch_objects(repository_, split.objects);
      if (!fetched) {
        return false;
      }
      if (!is_new && *fetched && !**fetched) {
        continue;
      }
      references_ = std::move((*now)->references);
      if (!*fetched) {
        fail_all(split.there, fetched->error());
      } else if (!**fetched) {
        fail_all(split.there, explain(remote_.address(), "fetch from", GitFailure::unknown_commit));
      } else {
        check_all_arrived(split.there);
      }
      for (const std::size_t i : split.other) {
        const auto found = look_up(requests_[i].ref);
        resolve_other(i, *found);
      }
      return true;
    }
    return false;
  }

  void take_by_git(const std::vector<std::size_t>& named) {
    std::vector<std::size_t> there = named;
    const auto fetch = [&] {
      return fetch_shallow(remote_, repository_, mapped(there, [&](std::size_t i) { return requests_[i].ref; }));
    };
    auto fetched = fetch();
    if (!fetched && fetched.error().kind == GitFailure::unknown_reference) {
      // One missing reference fails the whole fetch.
      there = drop_missing(named);
      fetched = there.empty() ? tl::expected<void, FetchFailure>() : fetch();
    }
    if (fetched) {
      check_all_arrived(there);
    } else {
      fail_all(there, fetched.error().error);
    }
  }

  // Reads all before it checks any, because a check may fetch again into the same incoming references.
  void check_all_arrived(const std::vector<std::size_t>& there) {
    std::vector<std::optional<PeeledObject>> arrived;
    for (std::size_t at = 0; at < there.size(); ++at) {
      arrived.push_back(repository_.objects().peel(Repository::incoming(at)));
    }
    for (std::size_t at = 0; at < there.size(); ++at) {
      check_arrived(there[at], arrived[at]);
    }
  }

  void fail_all(const std::vector<std::size_t>& those, const Error& error) {
    for (const std::size_t i : those) {
      results_[i] = fail(error);
    }
  }

  // Splits the requests by whether this advertisement has their commit at their reference. `objects` are the ids it
  // names.
  Split split_by(const References& references, const std::vector<std::size_t>& named) const {
    Split split;
    for (const std::size_t i : named) {
      const FetchRequest& request = requests_[i];
      const auto pin =
          find_reference(references, request.ref, remote_.address().display, remote_.address().prefers_branches);
      if (!pin || pin->id != request.id) {
        split.other.push_back(i);
        continue;
      }
      const auto at = std::ranges::find(references, pin->ref, &Reference::name);
      split.there.push_back(i);
      split.objects.push_back(at->id);
    }
    return split;
  }

  // Handles a reference that now points to another commit, or no longer exists.
  void resolve_other(std::size_t i, const Now& now) {
    const FetchRequest& request = requests_[i];
    if (!request.locked && now.commit) {
      results_[i] = fail(Code::content_modified,
                         fmt::format("\"{}\" of \"{}\" pointed to commit {} a moment ago and points to {} now",
                                     request.ref, remote_.address().display, request.id, *now.commit),
                         "run the command again");
      return;
    }
    const std::string found = now.commit ? fmt::format("points to commit {} now", *now.commit) : "is gone";
    if (!request.locked) {
      results_[i] =
          fail(Code::not_found, fmt::format("\"{}\" of \"{}\" {}", now.name, remote_.address().display, found),
               "run the command again");
      return;
    }
    const bool is_tag = now.name.starts_with(kGitTags);
    const std::string hint =
        is_tag ? "find out why the tag was moved; to lock the current commit, upgrade this module"
               : "find out why the branch was rewritten; to lock the current commit, upgrade this module";
    auto fine = check_commit(remote_, repository_, request.id, context_);
    if (!fine) {
      const bool refused = fine.error().code == Code::hash_mismatch || fine.error().code == Code::not_found;
      if (refused && now.commit) {
        fine =
            fail(Code::hash_mismatch,
                 fmt::format("\"{}\" of \"{}\" {}; the locked commit {} is no longer reachable from any branch or tag",
                             now.name, remote_.address().display, found, request.id),
                 hint);
      }
      fine.error().reason = Reason::locked_thing_gone;
      results_[i] = fail(std::move(fine.error()));
      return;
    }
    take_commit(i);
    // It is normal for a branch to have new commits.
    if (results_[i] && is_tag) {
      results_[i]->push_back(
          {Severity::warning,
           Error{.code = Code::tag_moved,
                 .message = fmt::format("\"{}\" of \"{}\" {}; the locked commit {} is used, because it is still "
                                        "reachable from a branch or tag",
                                        now.name, remote_.address().display, found, request.id),
                 .hint = hint}});
    }
  }

  // Resolves the requests whose reference is no longer advertised, and returns the others.
  std::vector<std::size_t> drop_missing(const std::vector<std::size_t>& named) {
    std::vector<std::size_t> there;
    for (const std::size_t i : named) {
      const auto now = look_up(requests_[i].ref);
      if (!now) {
        results_[i] = fail(now.error());
      } else if (now->commit) {
        there.push_back(i);
      } else {
        resolve_other(i, *now);
      }
    }
    return there;
  }

  void check_arrived(std::size_t i, const std::optional<PeeledObject>& arrived) {
    const FetchRequest& request = requests_[i];
    if (!arrived) {
      results_[i] = fail(Code::bad_response, fmt::format("\"{}\" of \"{}\" was fetched and did not arrive", request.ref,
                                                         remote_.address().display));
    } else if (arrived->id == request.id && arrived->kind == "commit") {
      accept(i);
    } else if (arrived->kind != "commit") {
      results_[i] = no_commit(remote_, request.ref, arrived->kind);
    } else {
      auto now = request.locked ? look_up(request.ref) : Now{request.ref, arrived->id};
      resolve_other(i, now ? Now{now->name, arrived->id} : Now{request.ref, arrived->id});
    }
  }

  void take_by_id(std::size_t i) {
    const FetchRequest& request = requests_[i];
    if (request.locked) {
      if (auto fine = check_commit(remote_, repository_, request.id, context_); !fine) {
        fine.error().reason = Reason::locked_thing_gone;
        results_[i] = fail(std::move(fine.error()));
        return;
      }
    }
    take_commit(i);
  }

  // Fetches a commit by its id, which was already found valid.
  void take_commit(std::size_t i) {
    const std::string& id = requests_[i].id;
    if (repository_.has_commit(id)) {
      return;
    }
    if (auto brought = fetch_by_id(remote_, repository_, id, context_); !brought) {
      results_[i] = fail(std::move(brought.error()));
    } else {
      accept(i);
    }
  }

  // Lists once for all requests.
  Result<const References*> list() {
    if (!references_) {
      references_ =
          remote_.list(wanted_, kListing).map([](Advertising listed) { return std::move(listed.references); });
    }
    return *references_ ? Result<const References*>(&**references_) : fail(references_->error());
  }

  // If the reference no longer exists, the name is that of the request.
  Result<Now> look_up(const std::string& ref) {
    MODLOCK_TRY(const auto* references, list());
    auto pin = find_reference(*references, ref, remote_.address().display, remote_.address().prefers_branches);
    return pin ? Now{pin->ref, pin->id} : Now{ref, std::nullopt};
  }

  void accept(std::size_t i) {
    if (auto accepted = repository_.accept(requests_[i].id); !accepted) {
      results_[i] = fail(std::move(accepted.error()));
    }
  }

  const Remote& remote_;
  const Repository& repository_;
  std::vector<FetchRequest> requests_;  // their references without peeling
  const Context& context_;
  std::vector<Result<Diagnostics>> results_;
  WantedReferences wanted_;
  std::optional<Result<References>> references_;
};

// Whether a fetch by git and OpenTofu's checkout resolve the name alike: a tag of that name, otherwise a branch.
bool is_plain_name(const std::string& name) {
  constexpr std::array<std::string_view, 5> kOther = {"refs/", "tags/", "heads/", "remotes/", "origin/"};
  const bool is_hex = std::ranges::all_of(name, ascii::is_hex);
  return name.empty() ||
         (is_reference_name(name) && !is_hex &&
          std::ranges::none_of(kOther, [&](std::string_view prefix) { return name.starts_with(prefix); }));
}

// FETCH_HEAD has the URL with its query, which may hold a token.
void remove_fetch_head(const Repository& repository) {
  std::error_code ignored;
  std::filesystem::remove(repository.path() / "FETCH_HEAD", ignored);
}

// Fetches all with one request. Returns nullopt if the remote must be listed.
std::optional<std::vector<Result<Pin>>> fetch_at_once(const Remote& remote, const Repository& repository,
                                                      std::span<const std::string> references) {
  if (remote.address().prefers_branches || !std::ranges::all_of(references, is_plain_name)) {
    return std::nullopt;
  }
  std::vector<std::string> sources(references.begin(), references.end());
  std::ranges::replace(sources, std::string(), std::string("HEAD"));
  auto fetched = fetch_shallow(remote, repository, sources, {"--write-fetch-head"});
  if (!fetched) {
    remove_fetch_head(repository);
  }
  if (!fetched && fetched.error().kind == GitFailure::unknown_reference) {
    return std::nullopt;
  }
  if (!fetched) {
    return std::vector<Result<Pin>>(references.size(), fail(std::move(fetched.error().error)));
  }
  const auto fetch_head = read_file(repository.path() / "FETCH_HEAD");
  remove_fetch_head(repository);
  const std::vector<std::string> names = fetch_head ? parse_fetch_head(*fetch_head) : std::vector<std::string>{};
  if (names.size() != references.size()) {
    return std::nullopt;
  }
  std::vector<Result<Pin>> pins;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const auto arrived = repository.objects().peel(Repository::incoming(i));
    if (names[i].empty() || !arrived || arrived->kind != "commit") {
      return std::nullopt;
    }
    auto accepted = repository.accept(arrived->id);
    pins.push_back(accepted ? Result<Pin>(Pin{arrived->id, names[i]}) : fail(std::move(accepted.error())));
  }
  repository.clear_incoming();
  return pins;
}

}  // namespace

std::vector<Result<Diagnostics>> fetch_commits(const Remote& remote, const Repository& repository,
                                               std::span<const FetchRequest> requests, const Context& context) {
  return CommitFetch(remote, repository, requests, context).run();
}

bool may_name_commit(const Result<Pin>& advertised, const Remote& remote, std::string_view ref) {
  return advertised
             ? !remote.address().prefers_branches && is_abbreviation(ref) && advertised->ref.starts_with(kGitBranches)
             : advertised.error().code == Code::not_found && is_revision(ref);
}

Result<Pin> find_in_history(Result<Pin> advertised, const Remote& remote, const Repository& repository,
                            const std::string& ref, const Context& context) {
  auto found = find_revision(remote, repository, ref, context);
  const bool is_branch = advertised && (found ? found->id == advertised->id : found.error().code == Code::not_found);
  return is_branch ? advertised : found;
}

std::vector<Result<Pin>> fetch_references(const Remote& remote, const Repository& repository,
                                          std::span<const std::string> references, const Context& context) {
  WantedReferences wanted;
  for (const std::string& reference : references) {
    add_possible_names(wanted, reference, remote.address().prefers_branches);
  }
  const auto now = remote.advertised(false, wanted, kListing);
  if (!now) {
    if (auto pins = fetch_at_once(remote, repository, references)) {
      return std::move(*pins);
    }
  }
  const auto listed = now ? *now : remote.list(wanted, kListing);
  std::vector<Result<Pin>> pins;
  for (const std::string& reference : references) {
    auto pin = listed ? find_reference(listed->references, reference, remote.address().display,
                                       remote.address().prefers_branches)
                      : fail(listed.error());
    const bool is_open = may_name_commit(pin, remote, reference);
    pins.push_back(is_open ? find_in_history(std::move(pin), remote, repository, reference, context) : std::move(pin));
  }
  return pins;
}

std::vector<std::string> parse_fetch_head(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(text)) {
    // "<id> TAB <not-for-merge or nothing> TAB <what> of <url>"
    const std::string_view what = std::string_view(line).substr(std::min(line.size(), line.rfind('\t') + 1));
    const std::size_t end = what.rfind("' of ");
    std::string name;
    for (const auto& [kind, folder] :
         {std::pair<std::string_view, std::string_view>{"tag '", kGitTags}, {"branch '", kGitBranches}}) {
      if (what.starts_with(kind) && end != std::string_view::npos) {
        name = std::string(folder) + std::string(what.substr(kind.size(), end - kind.size()));
      }
    }
    const bool is_head = what.find('\'') == std::string_view::npos;
    names.push_back(is_head ? "HEAD" : name);
  }
  return names;
}

}  // namespace modlock::git
