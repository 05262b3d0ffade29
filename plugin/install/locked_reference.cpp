#include "plugin/install/locked_reference.h"

#include <fmt/format.h>

#include "backends/address/git_reference.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "plugin/lock/locked_text.h"

namespace modlock {
namespace {

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

}  // namespace

bool names_content(const Source& source, const ModuleLock& lock) {
  if (!source.has_commits()) {
    return !source.named_id().empty();
  }
  constexpr std::size_t kLeastDigits = 4;
  const std::string ref = ascii::lower(source.query_value("ref"));
  return ref.size() >= kLeastDigits && lock.hash_value("git").starts_with(ref);
}

std::string tag_words(std::string_view tag) {
  return fmt::format("the tag \"{}\"", escape_controls(tag));
}

std::string reference_words(const Source& source, std::string_view ref) {
  if (ref.starts_with(kGitTags) || source.traits().content_id == ContentId::digest) {
    return tag_words(ref.starts_with(kGitTags) ? ref.substr(kGitTags.size()) : ref);
  }
  if (ref.starts_with(kGitBranches)) {
    return fmt::format("the branch \"{}\"", escape_controls(ref.substr(kGitBranches.size())));
  }
  return ref.empty() || ref == "HEAD" ? "HEAD" : fmt::format("\"{}\"", escape_controls(ref));
}

Verdict classify_move(const ReferenceMove& move, const std::string& locked, const Backend& backend) {
  return {.kind = move.is_expected ? VerdictKind::update_available : VerdictKind::moved,
          .expected = backend.id_hash(locked),
          .actual = backend.id_hash(move.now)};
}

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
