#include "plugin/install/origin_check.h"

#include <fmt/format.h>

#include <list>

#include "backends/address/git_reference.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/parallel.h"
#include "backends/store/first_seen.h"
#include "plugin/lock/locked_text.h"
#include "plugin/resolve/module_node.h"
#include "plugin/resolve/selection.h"

namespace modlock {
namespace {

constexpr std::size_t kRequests = 8;  // waiting for the network, not computing

// The query for the source of a call.
enum class Question {
  version,     // lists the versions; for a registry, then fetches the package
  reference,   // resolves the reference
  repository,  // checks that it exists; the call names the content itself
  content,     // fetches the package
};

// Whether the source names the locked content itself: a commit (also by its first digits) or a digest.
bool names_content(const Source& source, const ModuleLock& lock) {
  if (!source.has_commits()) {
    return !source.named_id().empty();
  }
  constexpr std::size_t kLeastDigits = 4;
  const std::string ref = ascii::lower(source.named_reference());
  return ref.size() >= kLeastDigits && lock.hash_value("git").starts_with(ref);
}

Question question_for(const LockedCall& call) {
  const ModuleNode& node = *call.node;
  const Source& source = node.address.source;
  if (node.commit) {
    return Question::repository;
  }
  if (chooses_version(node)) {
    return Question::version;
  }
  if (source.traits().content_id == ContentId::checksum) {
    return Question::content;
  }
  return names_content(source, *call.lock) ? Question::repository : Question::reference;
}

// A reference, version or archive whose id has changed since it was locked.
struct ReferenceMove {
  std::string thing;  // `the tag "v1.2.0"`
  std::string now;    // the id
  bool is_expected = false;
};

std::string sentence(const Source& source, const ReferenceMove& move, const std::string& locked,
                     const std::optional<CommitDistance>& descent) {
  const std::string from_to =
      fmt::format("{} {} from {} to {}", move.thing, move.is_expected ? "moved on" : "was moved", short_id(locked),
                  short_id(move.now));
  if (!descent) {
    return source.has_commits() ? from_to + "; whether the new commit descends from the old one is unknown" : from_to;
  }
  if (!descent->descends) {
    return from_to + ", which does not descend from the old one";
  }
  return fmt::format("{}, {} commit{} ahead", from_to, descent->commits, descent->commits == 1 ? "" : "s");
}

std::string tag_words(std::string_view tag) {
  return fmt::format("the tag \"{}\"", escape_controls(tag));
}

// `the tag "v1.2.0"`, `the branch "main"`, `HEAD`, else the quoted name (`"default"`).
std::string reference_words(const Source& source, std::string_view ref) {
  if (ref.starts_with(kGitTags) || source.traits().content_id == ContentId::digest) {
    return tag_words(ref.starts_with(kGitTags) ? ref.substr(kGitTags.size()) : ref);
  }
  if (ref.starts_with(kGitBranches)) {
    return fmt::format("the branch \"{}\"", escape_controls(ref.substr(kGitBranches.size())));
  }
  return ref.empty() || ref == "HEAD" ? "HEAD" : fmt::format("\"{}\"", escape_controls(ref));
}

// The verdict without its detail, which describe_descent() adds.
Verdict classify_move(const ReferenceMove& move, const std::string& locked, const Backend& backend) {
  return {.kind = move.is_expected ? VerdictKind::update_available : VerdictKind::moved,
          .expected = backend.id_hash(locked),
          .actual = backend.id_hash(move.now)};
}

// Queries whether the new id descends from the locked one.
void describe_descent(Verdict& verdict, const ReferenceMove& move, const std::string& locked,
                      const SourceAddress& source, Backend& backend, const Context& context) {
  const auto descent = backend.commit_distance(source, locked, move.now, context);
  if (descent) {
    verdict.descends = descent->descends;
  }
  if (descent && descent->descends) {
    verdict.commits_behind = descent->commits;
  }
  verdict.detail = sentence(source.source, move, locked, descent);
}

class OriginCheck {
 public:
  OriginCheck(std::span<const LockedCall> calls, bool full, SourceFetcher& fetcher, const Context& context)
      : full_(full), fetcher_(fetcher), context_(context) {
    for (const LockedCall& call : calls) {
      asked_.push_back({.call = call, .question = question_for(call)});
    }
  }

  OriginFindings run() {
    ask();
    for (SourceCheck& asked : asked_) {
      check_answer(asked);
    }
    ask_for_tags();
    for (SourceCheck& asked : asked_) {
      check_proof(asked);
    }
    find_descents();
    for (SourceCheck& asked : asked_) {
      if (asked.verdict) {
        findings_.verdicts.emplace(asked.call.node->key, std::move(*asked.verdict));
      }
    }
    return std::move(findings_);
  }

 private:
  struct SourceCheck {
    LockedCall call;
    Question question = Question::version;
    std::optional<Verdict> verdict = {};
    std::optional<ReferenceMove> move = {};
    std::string tag = {};                   // of the locked version, if the listing does not contain its id
    const SourceAddress* tagged = nullptr;  // the address with that tag
    std::optional<FetchRequest> content = {};
    std::optional<FetchRequest> proof = {};  // of the locked id, if the store has no record of its content

    const SourceAddress& address() const { return call.node->address; }
    const Source& source() const { return call.node->address.source; }
  };

  // One fetch task for each package source.
  void ask() {
    std::map<std::string, std::vector<SourceCheck*>> by_source;
    for (SourceCheck& asked : asked_) {
      by_source[SourceFetcher::package_key(asked.address())].push_back(&asked);
    }
    std::vector<SourceFetcher::FetchTask> tasks;
    for (const auto& [key, group] : by_source) {
      SourceFetcher::FetchTask& task = tasks.emplace_back();
      for (const SourceCheck* asked : group) {
        if (asked->question == Question::reference) {
          task.pins.push_back(&asked->address());
        } else if (asked->question != Question::content) {
          task.listings.push_back({&asked->address(), asked->call.node->tag_prefix});
        }
      }
      task.choose = [this, group = &group] { return packages_for(*group); };
    }
    fetcher_.run(tasks);
  }

  // Returns the packages that must be fetched, because only their content shows whether they are unchanged.
  std::vector<SourceFetcher::PackageRequest> packages_for(const std::vector<SourceCheck*>& group) const {
    std::vector<SourceFetcher::PackageRequest> packages;
    for (SourceCheck* asked : group) {
      if (asked->question == Question::content) {
        asked->content = request_for_content(*asked);
      } else if (asked->question == Question::version && asked->source().is_registry()) {
        const auto& listing = fetcher_.listing(asked->address(), asked->call.node->tag_prefix);
        if (listing && find_listed(*listing, asked->call.lock->version.value_or("")) != nullptr) {
          asked->content = FetchRequest{.id = {}, .ref = *asked->call.lock->version};
        }
      }
      if (!asked->content) {
        asked->proof = request_for_proof(*asked);
      }
      for (const auto& request : {asked->content, asked->proof}) {
        if (request) {
          packages.push_back({&asked->address(), *request});
        }
      }
    }
    return packages;
  }

  // Names the content that the store has, if it is the locked one.
  FetchRequest request_for_content(const SourceCheck& asked) const {
    const auto known = full_ ? std::nullopt : fetcher_.stored(asked.source(), {.id = locked_id(asked), .ref = {}});
    const bool is_conditional =
        known && !known->validator.empty() && known->h1 == "h1:" + asked.call.lock->hash_value("h1");
    return is_conditional ? FetchRequest{.id = {}, .ref = {}, .held = known->id, .validator = known->validator}
                          : FetchRequest{};
  }

  // Returns nullopt if the content need not be checked, if the source failed (an error), or if its listing no longer
  // has the locked version and id (a verdict).
  std::optional<FetchRequest> request_for_proof(const SourceCheck& asked) const {
    FetchRequest request{.id = locked_id(asked), .ref = {}, .locked = true};
    if (!names_fixed_content(request.id) || asked.call.lock->hash_value("h1").empty() ||
        fetcher_.stored(asked.source(), request)) {
      return std::nullopt;
    }
    if (asked.question == Question::reference) {
      const auto& pin = fetcher_.pinned(asked.source());
      request.ref = pin ? pin->ref : "";
      return pin ? std::optional(std::move(request)) : std::nullopt;
    }
    const auto& listing = fetcher_.listing(asked.address(), asked.call.node->tag_prefix);
    const ListedVersion* listed =
        listing && asked.call.lock->version ? find_listed(*listing, *asked.call.lock->version) : nullptr;
    const bool is_listed = listed != nullptr && (listed->id.empty() || listed->id == request.id);
    request.ref = is_listed ? listed->ref : "";
    return listing && (is_listed || asked.question == Question::repository) ? std::optional(std::move(request))
                                                                            : std::nullopt;
  }

  void check_answer(SourceCheck& asked) {
    if (asked.question == Question::reference) {
      check_reference(asked, fetcher_.pinned(asked.source()));
    } else if (asked.question != Question::content) {
      const auto& listing = fetcher_.listing(asked.address(), asked.call.node->tag_prefix);
      if (!listing) {
        take_failure(asked, listing.error());
      } else if (asked.question == Question::version && asked.call.lock->version) {
        check_version(asked, *listing);
      }
    }
    if (asked.content) {
      const auto& package = fetcher_.package(asked.address(), *asked.content);
      if (package && package->directory.empty()) {
        asked.verdict = Verdict{.detail = "content not downloaded"};
      } else {
        package ? check_content(asked, *package) : take_failure(asked, package.error());
      }
    }
  }

  void check_version(SourceCheck& asked, const Listing& listing) {
    const std::string& locked = *asked.call.lock->version;
    const ListedVersion* listed = find_listed(listing, locked);
    if (listed == nullptr) {
      vanish(asked, fmt::format("version {} is no longer among the versions of \"{}\"{}", locked,
                                asked.source().package_identity(), observation(asked)));
      return;
    }
    const std::string id = locked_id(asked);
    if (!listed->ambiguous_with.empty()) {
      warn(
          asked, Code::version_ambiguous,
          fmt::format("the tags \"{}\" and \"{}\" of \"{}\" name version {}, but different content: whether the locked "
                      "one moved cannot be determined",
                      listed->tag, listed->ambiguous_with, asked.source().package_identity(), locked),
          "ask its author to delete one of the two tags");
    } else if (!listed->id.empty() && !id.empty()) {
      compare_id(asked, {tag_words(listed->tag), listed->id, false}, id);
    } else if (!asked.source().is_registry() && !id.empty()) {
      asked.tag = listed->tag;
    }
    find_update(asked, listing);
  }

  // Returns when this cache first saw the locked version under the name of its tag. It shows that the version was
  // deleted and not locked in error. An observation of its commit under another name shows nothing.
  std::string observation(const SourceCheck& asked) const {
    for (const std::string& text : {"v" + *asked.call.lock->version, *asked.call.lock->version}) {
      const std::string tag = asked.call.node->tag_prefix + text;
      for (const std::string& ref : {std::string(kGitTags) + tag, tag}) {
        if (const auto seen = fetcher_.first_seen_as(asked.source(), ref, locked_id(asked))) {
          return "; first seen there at " + time_text(*seen);
        }
      }
    }
    return {};
  }

  // A moved version has priority over a newer one.
  void find_update(SourceCheck& asked, const Listing& listing) const {
    const auto newest = select_version(listing, asked.call.node->constraints, asked.source().package_identity());
    const auto locked = Version::parse(*asked.call.lock->version);
    if (!asked.move && newest && locked && *locked < newest->version) {
      asked.verdict = Verdict{.kind = VerdictKind::update_available,
                              .expected = locked->to_string(),
                              .actual = newest->version.to_string(),
                              .detail = fmt::format("version {} is available", newest->version.to_string())};
    }
  }

  void check_reference(SourceCheck& asked, const Result<Pin>& pin) {
    if (!pin) {
      take_failure(asked, pin.error());
      return;
    }
    const std::string id = locked_id(asked);
    if (!id.empty()) {
      compare_id(asked,
                 {reference_words(asked.source(), pin->ref), pin->id, is_expected_to_move(asked.source(), pin->ref)},
                 id);
    }
  }

  // Resolves the tag of each locked version whose listing has no id, with one request each. OCI registries list tags
  // without digests, and external backends may do so.
  void ask_for_tags() {
    std::vector<const SourceAddress*> pins;
    for (SourceCheck& asked : asked_) {
      if (!asked.tag.empty()) {
        SourceAddress& address = tags_.emplace_back(asked.address());
        const SourceTraits& traits = address.source.traits();
        address.source.query.emplace_back(traits.tag_argument, asked.tag);
        if (traits.content_id == ContentId::digest) {  // its backend reads the reference from the URL
          const std::string& url = asked.address().package_url.reveal();
          const std::string_view package = std::string_view(url).substr(0, url.find('?'));
          address.package_url = SecretText(fmt::format("{}?{}={}", package, traits.tag_argument, asked.tag));
        }
        pins.push_back(asked.tagged = &address);
      }
    }
    fetcher_.list({}, pins);
    for (SourceCheck& asked : asked_) {
      if (asked.tagged == nullptr) {
        continue;
      }
      if (const auto& pin = fetcher_.pinned(asked.tagged->source); !pin) {
        take_failure(asked, pin.error());
      } else {
        compare_id(asked, {tag_words(asked.tag), pin->id, false}, locked_id(asked));
      }
    }
  }

  // The ids are hash texts here. That of an archive is only evidence, because the archive may have been repacked.
  void check_content(SourceCheck& asked, const Package& package) {
    const std::string id = locked_id(asked);
    const bool same_content = "h1:" + asked.call.lock->hash_value("h1") == package.h1;
    const std::string thing =
        asked.question == Question::version ? "version " + *asked.call.lock->version : "the archive";
    if (id == package.id && same_content) {
      return;
    }
    const bool is_evidence = id.starts_with("zh:") || package.id.starts_with("zh:");
    if (same_content && (is_evidence || id.empty())) {
      warn(asked, Code::tag_moved,
           fmt::format("{} of \"{}\" was {} and is {} now; its content is the same", thing,
                       asked.source().package_identity(), id.empty() ? "nothing known" : id, package.id),
           "nothing need be done: the content counts");
      return;
    }
    asked.move = ReferenceMove{thing, package.id, false};
    asked.verdict = Verdict{.kind = VerdictKind::moved,
                            .expected = id == package.id ? "h1:" + asked.call.lock->hash_value("h1") : id,
                            .actual = id == package.id ? package.h1 : package.id,
                            .detail = fmt::format("{} has other content than when it was locked", thing)};
  }

  void check_proof(SourceCheck& asked) {
    const bool is_open = !asked.verdict || asked.verdict->kind == VerdictKind::update_available;
    if (!asked.proof || !is_open) {
      return;
    }
    const auto& package = fetcher_.package(asked.address(), *asked.proof);
    if (!package) {
      take_failure(asked, package.error());
    } else if (auto contradiction = check_locked_content(*asked.call.lock, *fetcher_.backend(asked.source()),
                                                         asked.proof->id, package->h1)) {
      asked.verdict = std::move(contradiction);
    }
  }

  void compare_id(SourceCheck& asked, ReferenceMove move, const std::string& locked) const {
    if (move.now != locked) {
      asked.verdict = classify_move(move, locked, *fetcher_.backend(asked.source()));
      asked.move = std::move(move);
    }
  }

  // Adds the commit distance and the detail to the verdicts of moved references.
  void find_descents() {
    std::vector<SourceCheck*> moved;
    for (SourceCheck& asked : asked_) {
      if (asked.move && asked.verdict && asked.verdict->detail.empty()) {
        moved.push_back(&asked);
      }
    }
    parallel_for(moved.size(), kRequests, [&](std::size_t i) {
      SourceCheck& asked = *moved[i];
      describe_descent(*asked.verdict, *asked.move, locked_id(asked), asked.address(),
                       *fetcher_.backend(asked.source()), context_);
    });
  }

  void take_failure(SourceCheck& asked, const Error& error) {
    if (error.code == Code::not_found) {
      vanish(asked, error.message);
      return;
    }
    const ModuleNode& node = *asked.call.node;
    Diagnostic* told = find_where(findings_.diagnostics, [&](const Diagnostic& each) {
      return each.severity == Severity::error && each.what.code == error.code && each.what.message == error.message;
    });
    if (told != nullptr) {
      told->what.related.push_back({"the same source is called here", node.call.source.location});
      return;
    }
    findings_.diagnostics.push_back({Severity::error, placed(error, node.subject(), node.call.source.location)});
  }

  void vanish(SourceCheck& asked, std::string detail) const {
    asked.verdict =
        Verdict{.kind = VerdictKind::vanished, .expected = asked.call.lock->origin_hash(), .detail = std::move(detail)};
  }

  void warn(const SourceCheck& asked, Code code, std::string message, std::string hint) {
    findings_.diagnostics.push_back(as_warning(asked.call.node->error(code, std::move(message), std::move(hint))));
  }

  std::string locked_id(const SourceCheck& asked) const {
    return fetcher_.backend(asked.source())->id_of(asked.call.lock->hashes);
  }

  const bool full_;
  SourceFetcher& fetcher_;
  const Context& context_;
  std::vector<SourceCheck> asked_;
  std::list<SourceAddress> tags_;  // of locked versions whose listing does not contain their ids
  OriginFindings findings_;
};

}  // namespace

OriginFindings check_origins(std::span<const LockedCall> calls, bool full, SourceFetcher& fetcher,
                             const Context& context) {
  return OriginCheck(calls, full, fetcher, context).run();
}

bool names_fixed_content(std::string_view id) {
  return !id.empty() && !id.starts_with("zh:");
}

std::optional<Verdict> check_locked_content(const ModuleLock& lock, const Backend& backend, std::string_view id,
                                            std::string_view h1) {
  const std::string locked = lock.hash_value("h1");
  if (locked.empty() || "h1:" + locked == h1) {
    return std::nullopt;
  }
  return Verdict{.subject = "module." + lock.key,
                 .kind = VerdictKind::tampered,
                 .expected = "h1:" + locked,
                 .actual = std::string(h1),
                 .detail = fmt::format("{}, for the content of its {} has another checksum; take it from version "
                                       "control again",
                                       kContradiction, backend.id_hash(id)),
                 .is_lock_wrong = true};
}

}  // namespace modlock
