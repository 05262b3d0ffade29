#include "plugin/verify/origin_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <optional>

#include "backends/parallel.h"
#include "backends/store/first_seen.h"
#include "plugin/resolve/call_kind.h"
#include "plugin/resolve/selection.h"
#include "plugin/verify/moved_reference.h"
#include "plugin/verify/proven_content.h"
#include "plugin/verify/reference_kind.h"

namespace modlock {
namespace {

constexpr std::size_t kWidth = 8;  // waiting for the network, not computing

// How the source of a call is asked.
enum class Question {
  version,     // a list of versions; of a registry then the package
  reference,   // what the reference gives
  repository,  // whether it is there: the call names the content itself
  content,     // the package
};

Question question_for(const LockedCall& call) {
  const ModuleNode& node = *call.node;
  const Source& source = node.address.source;
  if (node.commit) {
    return Question::repository;
  }
  if (chooses_version(node)) {
    return Question::version;
  }
  if (source.kind == SourceKind::archive) {
    return Question::content;
  }
  return names_content(source, *call.lock) ? Question::repository : Question::reference;
}

class OriginCheck {
 public:
  OriginCheck(std::span<const LockedCall> calls, Origin& origin, const Context& context)
      : origin_(origin), context_(context) {
    for (const LockedCall& call : calls) {
      asked_.push_back({.call = call, .question = question_for(call)});
    }
  }

  OriginFindings run() {
    ask();
    for (Asked& asked : asked_) {
      judge_answer(asked);
    }
    ask_for_tags();
    for (Asked& asked : asked_) {
      judge_proof(asked);
    }
    find_descents();
    for (Asked& asked : asked_) {
      if (asked.verdict) {
        findings_.verdicts.emplace(asked.call.node->key, std::move(*asked.verdict));
      }
    }
    return std::move(findings_);
  }

 private:
  struct Asked {
    LockedCall call;
    Question question = Question::version;
    std::optional<Verdict> verdict = {};
    std::optional<Move> move = {};
    std::string tag = {};                   // of the locked version, where the listing does not say what it gives
    const SourceAddress* tagged = nullptr;  // what says so
    std::optional<FetchWish> content = {};
    std::optional<FetchWish> proof = {};  // of the locked id, whose content the store does not know

    const SourceAddress& address() const { return call.node->address; }
    const Source& source() const { return call.node->address.source; }
  };

  // One errand for each package source.
  void ask() {
    std::map<std::string, std::vector<Asked*>> by_source;
    for (Asked& asked : asked_) {
      by_source[Origin::package_key(asked.address())].push_back(&asked);
    }
    std::vector<Origin::Errand> errands;
    for (const auto& [key, group] : by_source) {
      Origin::Errand& errand = errands.emplace_back();
      for (const Asked* asked : group) {
        if (asked->question == Question::reference) {
          errand.pins.push_back(&asked->address());
        } else if (asked->question != Question::content) {
          errand.listings.push_back({&asked->address(), asked->call.node->tag_prefix});
        }
      }
      errand.choose = [this, group = &group] { return packages_for(*group); };
    }
    origin_.run(errands);
  }

  // What says with its content alone whether it is the same.
  std::vector<Origin::PackageWish> packages_for(const std::vector<Asked*>& group) const {
    std::vector<Origin::PackageWish> packages;
    for (Asked* asked : group) {
      if (asked->question == Question::content) {
        asked->content = FetchWish{};
      } else if (asked->question == Question::version && asked->source().kind == SourceKind::registry) {
        const auto& listing = origin_.listing(asked->address(), asked->call.node->tag_prefix);
        if (listing && find_locked(*asked, *listing) != nullptr) {
          asked->content = FetchWish{.id = {}, .ref = *asked->call.lock->version};
        }
      }
      if (!asked->content) {
        asked->proof = wish_for_proof(*asked);
      }
      for (const auto& wish : {asked->content, asked->proof}) {
        if (wish) {
          packages.push_back({&asked->address(), *wish});
        }
      }
    }
    return packages;
  }

  // A source that does not answer, or has moved what is locked, is judged by that.
  std::optional<FetchWish> wish_for_proof(const Asked& asked) const {
    FetchWish wish{.id = locked_id(asked), .ref = {}, .locked = true};
    if (!names_fixed_content(wish.id) || asked.call.lock->hash_value("h1").empty() ||
        origin_.stored(asked.source(), wish)) {
      return std::nullopt;
    }
    if (asked.question == Question::reference) {
      const auto& pin = origin_.pinned(asked.source());
      wish.ref = pin ? pin->ref : "";
      return pin ? std::optional(std::move(wish)) : std::nullopt;
    }
    const auto& listing = origin_.listing(asked.address(), asked.call.node->tag_prefix);
    const ListedVersion* listed = listing && asked.call.lock->version ? find_locked(asked, *listing) : nullptr;
    const bool is_listed = listed != nullptr && (listed->id.empty() || listed->id == wish.id);
    wish.ref = is_listed ? listed->ref : "";
    return listing && (is_listed || asked.question == Question::repository) ? std::optional(std::move(wish))
                                                                            : std::nullopt;
  }

  static const ListedVersion* find_locked(const Asked& asked, const Listing& listing) {
    const auto found = std::find_if(listing.versions.begin(), listing.versions.end(), [&](const ListedVersion& each) {
      return each.version.to_string() == asked.call.lock->version;
    });
    return found == listing.versions.end() ? nullptr : &*found;
  }

  void judge_answer(Asked& asked) {
    if (asked.question == Question::reference) {
      judge_reference(asked, origin_.pinned(asked.source()));
    } else if (asked.question != Question::content) {
      const auto& listing = origin_.listing(asked.address(), asked.call.node->tag_prefix);
      if (!listing) {
        take_failure(asked, listing.error());
      } else if (asked.question == Question::version && asked.call.lock->version) {
        judge_version(asked, *listing);
      }
    }
    if (asked.content) {
      const auto& package = origin_.package(asked.address(), *asked.content);
      package ? judge_content(asked, *package) : take_failure(asked, package.error());
    }
  }

  void judge_version(Asked& asked, const Listing& listing) {
    const std::string& locked = *asked.call.lock->version;
    const ListedVersion* listed = find_locked(asked, listing);
    if (listed == nullptr) {
      vanish(asked, fmt::format("version {} is no longer among the versions of \"{}\"{}", locked,
                                asked.source().package_identity(), sighting(asked)));
      return;
    }
    const std::string id = locked_id(asked);
    if (!listed->ambiguous_with.empty()) {
      warn(
          asked, Code::version_ambiguous,
          fmt::format("the tags \"{}\" and \"{}\" of \"{}\" name version {}, but different content: whether the locked "
                      "one moved cannot be told",
                      listed->tag, listed->ambiguous_with, asked.source().package_identity(), locked),
          "ask its author to delete one of the two tags");
    } else if (!listed->id.empty() && !id.empty()) {
      compare_id(asked, {tag_words(listed->tag), listed->id, false}, id);
    } else if (asked.source().kind != SourceKind::registry && !id.empty()) {
      asked.tag = listed->tag;
    }
    find_update(asked, listing);
  }

  // When this cache saw the locked version there, by the name of its tag: it was deleted then, and not locked in error.
  // That its commit was seen by another name says nothing.
  std::string sighting(const Asked& asked) const {
    for (const std::string& text : {"v" + *asked.call.lock->version, *asked.call.lock->version}) {
      const std::string tag = asked.call.node->tag_prefix + text;
      for (const std::string& ref : {"refs/tags/" + tag, tag}) {
        if (const auto seen = origin_.first_seen_as(asked.source(), ref, locked_id(asked))) {
          return "; first seen there at " + time_text(*seen);
        }
      }
    }
    return {};
  }

  // Moved counts more than a newer version.
  void find_update(Asked& asked, const Listing& listing) const {
    const auto newest = select_version(listing, asked.call.node->constraints, asked.source().package_identity());
    const auto locked = Version::parse(*asked.call.lock->version);
    if (!asked.move && newest && locked && *locked < newest->version) {
      asked.verdict = Verdict{.kind = VerdictKind::update_available,
                              .expected = locked->to_string(),
                              .actual = newest->version.to_string(),
                              .detail = fmt::format("version {} is available", newest->version.to_string())};
    }
  }

  void judge_reference(Asked& asked, const Result<Pin>& pin) {
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

  // An OCI registry lists tags without their digests, and an external backend may: the tag of each locked version takes
  // a request.
  void ask_for_tags() {
    std::map<std::string, Origin::Errand> by_source;
    for (Asked& asked : asked_) {
      if (!asked.tag.empty()) {
        SourceAddress& address = tags_.emplace_back(asked.address());
        address.source.query.emplace_back("tag", asked.tag);
        if (address.source.kind == SourceKind::oci) {  // reads its reference from the URL
          const std::string& url = asked.address().package_url.reveal();
          address.package_url = SecretText(url.substr(0, url.find('?')) + "?tag=" + asked.tag);
        }
        asked.tagged = &address;
        Origin::Errand& errand = by_source[Origin::package_key(address)];
        errand.pins.push_back(&address);
        errand.choose = [] { return std::vector<Origin::PackageWish>{}; };
      }
    }
    std::vector<Origin::Errand> errands;
    for (auto& [key, errand] : by_source) {
      errands.push_back(std::move(errand));
    }
    origin_.run(errands);
    for (Asked& asked : asked_) {
      if (asked.tagged == nullptr) {
        continue;
      }
      if (const auto& pin = origin_.pinned(asked.tagged->source); !pin) {
        take_failure(asked, pin.error());
      } else {
        compare_id(asked, {tag_words(asked.tag), pin->id, false}, locked_id(asked));
      }
    }
  }

  // Here ids are hash texts. That of an archive is evidence only: it may have been packed again.
  void judge_content(Asked& asked, const Package& package) {
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
    asked.move = Move{thing, package.id, false};
    asked.verdict = Verdict{.kind = VerdictKind::moved,
                            .expected = id == package.id ? "h1:" + asked.call.lock->hash_value("h1") : id,
                            .actual = id == package.id ? package.h1 : package.id,
                            .detail = fmt::format("{} has other content than when it was locked", thing)};
  }

  void judge_proof(Asked& asked) {
    const bool is_open = !asked.verdict || asked.verdict->kind == VerdictKind::update_available;
    if (!asked.proof || !is_open) {
      return;
    }
    const auto& package = origin_.package(asked.address(), *asked.proof);
    if (!package) {
      take_failure(asked, package.error());
    } else if (auto contradiction = judge_proven_content(*asked.call.lock, *origin_.backend(asked.source()),
                                                         asked.proof->id, package->h1)) {
      asked.verdict = std::move(contradiction);
    }
  }

  void compare_id(Asked& asked, Move move, const std::string& locked) const {
    if (move.now != locked) {
      asked.verdict = judge_move(move, locked, *origin_.backend(asked.source()));
      asked.move = std::move(move);
    }
  }

  // What follows from what, for all that moved; then the sentences.
  void find_descents() {
    std::vector<Asked*> moved;
    for (Asked& asked : asked_) {
      if (asked.move && asked.verdict && asked.verdict->detail.empty()) {
        moved.push_back(&asked);
      }
    }
    parallel_for(moved.size(), kWidth, [&](std::size_t i) {
      Asked& asked = *moved[i];
      tell_descent(*asked.verdict, *asked.move, locked_id(asked), asked.address(), *origin_.backend(asked.source()),
                   context_);
    });
  }

  void take_failure(Asked& asked, const Error& error) {
    if (error.code == Code::not_found) {
      vanish(asked, error.message);
      return;
    }
    const ModuleNode& node = *asked.call.node;
    const auto told =
        std::find_if(findings_.diagnostics.begin(), findings_.diagnostics.end(), [&](const Diagnostic& each) {
          return each.severity == Severity::error && each.what.code == error.code && each.what.message == error.message;
        });
    if (told != findings_.diagnostics.end()) {
      told->what.related.push_back({"the same source is called here", node.call.source.location});
      return;
    }
    Error mine = error;
    mine.subject = node.subject();
    mine.location = node.call.source.location;
    findings_.diagnostics.push_back({Severity::error, std::move(mine)});
  }

  void vanish(Asked& asked, std::string detail) const {
    asked.verdict =
        Verdict{.kind = VerdictKind::vanished, .expected = asked.call.lock->origin_hash(), .detail = std::move(detail)};
  }

  void warn(const Asked& asked, Code code, std::string message, std::string hint) {
    findings_.diagnostics.push_back({Severity::warning, Error{.code = code,
                                                              .message = std::move(message),
                                                              .subject = asked.call.node->subject(),
                                                              .location = asked.call.node->call.source.location,
                                                              .hint = std::move(hint)}});
  }

  std::string locked_id(const Asked& asked) const {
    return origin_.backend(asked.source())->id_of(asked.call.lock->hashes);
  }

  Origin& origin_;
  const Context& context_;
  std::vector<Asked> asked_;
  std::list<SourceAddress> tags_;  // of locked versions whose listing does not say what they give
  OriginFindings findings_;
};

}  // namespace

OriginFindings check_origins(std::span<const LockedCall> calls, Origin& origin, const Context& context) {
  return OriginCheck(calls, origin, context).run();
}

}  // namespace modlock
