#include "plugin/install/moved_reference.h"

#include <fmt/format.h>

#include "plugin/install/reference_kind.h"

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

}  // namespace modlock
