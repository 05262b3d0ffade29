#include "backends/git/arrival.h"

#include <fmt/format.h>

#include <optional>

#include "backends/git/git_error.h"
#include "backends/git/history.h"

namespace modlock::git {
namespace {

// One shallow fetch; the arrived references are under Repository::incoming().
tl::expected<void, FetchFailure> fetch_shallow(const Remote& remote, const Repository& repository,
                                               const std::vector<std::string>& sources) {
  repository.clear_incoming();
  std::vector<std::string> refspecs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    refspecs.push_back("+" + sources[i] + ":" + Repository::incoming(i));
  }
  return remote.fetch(repository.path(), {"--depth=1"}, std::move(refspecs));
}

tl::unexpected<Error> on_no_branch(const Remote& remote, const std::string& commit) {
  return fail(Code::hash_mismatch,
              fmt::format("commit {} is on no branch and no tag of \"{}\": it may come from a fork, or from a history "
                          "that was rewritten",
                          commit, remote.address().display),
              "do not use it before you know where it comes from; then choose a commit that a branch or tag leads to");
}

tl::unexpected<Error> no_commit(const Remote& remote, std::string_view name, std::string_view kind) {
  return fail(Code::not_found,
              fmt::format("\"{}\" of \"{}\" points to a {}, not to a commit", name, remote.address().display, kind),
              "choose a tag or branch that points to a commit");
}

// No branch or tag is asked for it: it is what a commit's id, a part of it or a revision expression gave.
bool is_named_by_id(const FetchWish& wish) {
  const bool is_expression = !is_reference_name(wish.ref) && is_revision(wish.ref);
  const bool is_part = is_abbreviation(wish.ref) && is_same_commit(wish.ref, wish.id.substr(0, wish.ref.size()));
  return wish.ref.empty() || is_full_commit(wish.ref) || is_expression || is_part;
}

// A commit by its id, to Repository::incoming(0); whether a branch or tag was found to lead to it on the way.
Result<bool> bring_by_id(const Remote& remote, const Repository& repository, const std::string& commit,
                         const Context& context) {
  const auto fetched = fetch_shallow(remote, repository, {commit});
  if (!fetched && fetched.error().unknown_commit) {
    return fail(Code::not_found, fmt::format("\"{}\" has no commit {}", remote.address().display, commit),
                "check the commit, or whether the history was rewritten");
  }
  if (!fetched && !fetched.error().refused_commit) {
    return fail(fetched.error().error);
  }
  if (!fetched) {
    if (auto all = bring_with_history(remote, repository, commit, context); !all) {
      return fail(std::move(all.error()));
    }
  }
  const auto arrived = repository.objects().peel(Repository::incoming(0));
  if (!arrived || arrived->id != commit) {
    return no_commit(remote, commit, "tag object");
  }
  return arrived->kind == "commit" ? Result<bool>(!fetched) : no_commit(remote, commit, arrived->kind);
}

// The wishes of one call, on their way.
class Arrival {
 public:
  Arrival(const Remote& remote, const Repository& repository, std::span<const FetchWish> wishes, const Context& context)
      : remote_(remote), repository_(repository), wishes_(wishes), context_(context), results_(wishes.size()) {}

  std::vector<Result<Diagnostics>> run() {
    std::vector<std::size_t> named;
    std::vector<std::size_t> by_id;
    for (std::size_t i = 0; i < wishes_.size(); ++i) {
      if (auto fine = check_wish(wishes_[i]); !fine) {
        results_[i] = fail(std::move(fine.error()));
      } else if (!repository_.has_commit(wishes_[i].id)) {
        (is_named_by_id(wishes_[i]) ? by_id : named).push_back(i);
      }
    }
    if (!named.empty()) {
      take_named(named);
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

  Result<void> check_wish(const FetchWish& wish) const;
  void take_named(const std::vector<std::size_t>& named);
  std::vector<std::size_t> drop_missing(const std::vector<std::size_t>& named);
  void judge(std::size_t i, const std::optional<Peeled>& arrived);
  void take_by_id(std::size_t i);
  void take_moved(std::size_t i, const Now& now);
  void take_commit(std::size_t i);
  Result<Now> look_up(const std::string& ref);
  void accept(std::size_t i) {
    if (auto accepted = repository_.accept(wishes_[i].id); !accepted) {
      results_[i] = fail(std::move(accepted.error()));
    }
  }

  const Remote& remote_;
  const Repository& repository_;
  std::span<const FetchWish> wishes_;
  const Context& context_;
  std::vector<Result<Diagnostics>> results_;
  std::optional<Result<References>> references_;
};

// What comes from a lock or an address becomes part of a refspec, where ":" and "*" have a meaning.
Result<void> Arrival::check_wish(const FetchWish& wish) const {
  if (is_sha256_id(wish.id)) {
    return fail(unsupported_object_format(remote_.address(), "fetch from"));
  }
  if (!is_full_commit(wish.id)) {
    return fail(Code::not_found,
                fmt::format("\"{}\" has no commit \"{}\": 40 hexadecimal digits were expected",
                            remote_.address().display, quotable(wish.id)),
                "check the entry of the lock file");
  }
  if (is_full_commit(wish.ref) && !is_same_commit(wish.ref, wish.id)) {
    return fail(Code::hash_mismatch,
                fmt::format("commit {} of \"{}\" is asked for, and {} is expected", wish.ref, remote_.address().display,
                            wish.id),
                "make the configuration and the lock file name the same commit");
  }
  if (!wish.ref.empty() && !is_reference_name(wish.ref) && !is_revision(wish.ref)) {
    return fail(Code::not_found,
                fmt::format("\"{}\" has no branch or tag \"{}\": no reference can have that name",
                            remote_.address().display, quotable(wish.ref)),
                "write a branch, a tag or a full commit");
  }
  return {};
}

void Arrival::take_named(const std::vector<std::size_t>& named) {
  std::vector<std::size_t> there = named;
  const auto fetch = [&] {
    std::vector<std::string> sources;
    for (const std::size_t i : there) {
      sources.push_back(wishes_[i].ref);
    }
    return fetch_shallow(remote_, repository_, sources);
  };
  auto fetched = fetch();
  if (!fetched && fetched.error().unknown_reference) {
    // One reference that is gone fails the whole fetch.
    there = drop_missing(named);
    fetched = there.empty() ? tl::expected<void, FetchFailure>() : fetch();
  }
  // All are read before any is judged: judging may fetch again, into the same incoming references.
  std::vector<std::optional<Peeled>> arrived;
  for (std::size_t at = 0; at < there.size(); ++at) {
    arrived.push_back(repository_.objects().peel(Repository::incoming(at)));
  }
  for (std::size_t at = 0; at < there.size(); ++at) {
    if (fetched) {
      judge(there[at], arrived[at]);
    } else {
      results_[there[at]] = fail(fetched.error().error);
    }
  }
}

// Settles the wishes whose reference is no longer advertised; the others are returned.
std::vector<std::size_t> Arrival::drop_missing(const std::vector<std::size_t>& named) {
  std::vector<std::size_t> there;
  for (const std::size_t i : named) {
    const auto now = look_up(wishes_[i].ref);
    if (!now) {
      results_[i] = fail(now.error());
    } else if (now->commit) {
      there.push_back(i);
    } else {
      take_moved(i, *now);
    }
  }
  return there;
}

void Arrival::judge(std::size_t i, const std::optional<Peeled>& arrived) {
  const FetchWish& wish = wishes_[i];
  if (!arrived) {
    results_[i] = fail(Code::bad_response, fmt::format("\"{}\" of \"{}\" was fetched and did not arrive", wish.ref,
                                                       remote_.address().display));
  } else if (arrived->id == wish.id && arrived->kind == "commit") {
    accept(i);
  } else if (arrived->kind != "commit") {
    results_[i] = no_commit(remote_, wish.ref, arrived->kind);
  } else if (!wish.locked) {
    results_[i] = fail(Code::content_modified,
                       fmt::format("\"{}\" of \"{}\" gave commit {} a moment ago and gives {} now", wish.ref,
                                   remote_.address().display, wish.id, arrived->id),
                       "run the command again");
  } else {
    auto now = look_up(wish.ref);
    take_moved(i, now ? Now{now->name, arrived->id} : Now{wish.ref, arrived->id});
  }
}

void Arrival::take_by_id(std::size_t i) {
  const FetchWish& wish = wishes_[i];
  if (wish.locked) {
    if (auto fine = check_commit(remote_, repository_, wish.id, context_); !fine) {
      fine.error().locked_thing_gone = fine.error().code == Code::not_found;
      results_[i] = fail(std::move(fine.error()));
      return;
    }
  }
  take_commit(i);
}

// Fetches a commit by its id, which somebody has found to be in order.
void Arrival::take_commit(std::size_t i) {
  const std::string& id = wishes_[i].id;
  if (repository_.has_commit(id)) {
    return;
  }
  if (auto brought = bring_by_id(remote_, repository_, id, context_); !brought) {
    results_[i] = fail(std::move(brought.error()));
  } else {
    accept(i);
  }
}

// The lock names a commit that its reference no longer gives.
void Arrival::take_moved(std::size_t i, const Now& now) {
  const FetchWish& wish = wishes_[i];
  const std::string found = now.commit ? fmt::format("gives commit {} now", *now.commit) : "is gone";
  if (!wish.locked) {
    results_[i] = fail(Code::not_found, fmt::format("\"{}\" of \"{}\" {}", now.name, remote_.address().display, found),
                       "run the command again");
    return;
  }
  auto fine = check_commit(remote_, repository_, wish.id, context_);
  if (!fine) {
    const bool refused = fine.error().code == Code::hash_mismatch || fine.error().code == Code::not_found;
    if (refused && now.commit) {
      fine = fail(Code::hash_mismatch,
                  fmt::format("\"{}\" of \"{}\" {}, the lock names {}, and no branch or tag leads there any more",
                              now.name, remote_.address().display, found, wish.id),
                  "find out why the tag was moved; `tofu-modlock upgrade` locks what it gives now");
    }
    fine.error().locked_thing_gone = fine.error().code == Code::not_found;
    results_[i] = fail(std::move(fine.error()));
    return;
  }
  take_commit(i);
  // That a branch moves on is what branches do.
  constexpr std::string_view kTags = "refs/tags/";
  if (results_[i] && now.name.substr(0, kTags.size()) == kTags) {
    results_[i]->push_back(
        {Severity::warning,
         Error{.code = Code::tag_moved,
               .message = fmt::format("\"{}\" of \"{}\" {}; the locked commit {} is used, which a branch or tag still "
                                      "leads to",
                                      now.name, remote_.address().display, found, wish.id),
               .hint = "find out why the tag was moved; `tofu-modlock upgrade` locks what it gives now"}});
  }
}

// Lists once for all wishes. The name is the wish's own where the reference is gone.
Result<Arrival::Now> Arrival::look_up(const std::string& ref) {
  if (!references_) {
    references_ = remote_.list(Remote::Part::everything, "list the references of");
  }
  if (!*references_) {
    return fail(references_->error());
  }
  auto pin = find_reference(**references_, ref, remote_.address().display);
  return pin ? Now{pin->ref, pin->id} : Now{ref, std::nullopt};
}

}  // namespace

std::vector<Result<Diagnostics>> bring(const Remote& remote, const Repository& repository,
                                       std::span<const FetchWish> wishes, const Context& context) {
  return Arrival(remote, repository, wishes, context).run();
}

Result<void> check_commit(const Remote& remote, const Repository& repository, const std::string& commit,
                          const Context& context) {
  const auto references = remote.list(Remote::Part::branches_and_tags, "list the branches and tags of");
  if (!references) {
    return fail(references.error());
  }
  if (is_advertised(*references, commit)) {
    return {};
  }
  const auto is_proven = bring_by_id(remote, repository, commit, context);
  if (!is_proven) {
    return fail(is_proven.error());
  }
  if (*is_proven) {
    return repository.accept(commit);
  }
  auto reachable = is_reachable(remote, repository, commit, context);
  if (!reachable) {
    return fail(std::move(reachable.error()));
  }
  if (!*reachable) {
    repository.clear_incoming();
    return on_no_branch(remote, commit);
  }
  return repository.accept(commit);
}

Result<void> bring_submodule(const Remote& remote, const Repository& repository, const std::string& commit,
                             const Context& context) {
  if (repository.has_submodule(commit)) {
    return {};
  }
  if (auto brought = bring_by_id(remote, repository, commit, context); !brought) {
    return fail(std::move(brought.error()));
  }
  auto kept = repository.keep_submodule(commit);
  repository.clear_incoming();
  return kept;
}

}  // namespace modlock::git
