#include "plugin/install/verdict.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace modlock {

const VerdictTraits& traits(VerdictKind kind) {
  // In the order of VerdictKind.
  static const std::array<VerdictTraits, messages::names_of(static_cast<const VerdictKind*>(nullptr)).size()> table = {{
      {.installed = "yes"},
      {.sentence = "A newer version satisfies the constraints.", .installed = "yes"},
      {.code = Code::missing,
       .sentence = "A module call has no matching lock entry, or a lock entry has no module call.",
       .reason = "the lock entry does not match",
       .hint = "run " + tofu_modlock("lock") + ", then " + tofu_modlock("install"),
       .installed = "-",
       .needs_install = true},
      {.code = Code::missing,
       .sentence = "A locked version is not installed.",
       .reason = "not installed",
       .hint = "run " + tofu_modlock("install"),
       .installed = "no",
       .needs_install = true},
      {.code = Code::missing,
       .sentence = "The installed version differs from the locked version.",
       .reason = "another version is installed",
       .hint = "run " + tofu_modlock("install"),
       .installed = "differs",
       .needs_install = true},
      {.code = Code::missing,
       .sentence = "The locked release is newer than the minimum release age.",
       .reason = "newer than minimum_release_age",
       .hint = "review the release, or wait",
       .installed = "yes"},
      {.code = Code::vanished,
       .sentence = "A locked version is no longer available at its source.",
       .reason = "no longer available at the source",
       .hint = "find out why the source no longer has the locked version",
       .installed = "yes"},
      {.code = Code::hash_mismatch,
       .sentence = "A tag points to content other than what was locked.",
       .reason = "replaced at the source",
       .hint = "review the current content of the source; to lock it, upgrade this module",
       .installed = "yes"},
      {.code = Code::hash_mismatch,
       .sentence = "The installed content does not match the lock file.",
       .reason = "does not match the lock file",
       .hint = "find out who changed it; " + tofu_modlock("install") + " restores the locked package",
       .installed = "differs"},
      {.code = Code::hash_mismatch,
       .sentence = "A rule of the settings denies the locked release.",
       .reason = "denied by the settings",
       .installed = "yes"},
  }};
  return table.at(static_cast<std::size_t>(kind));
}

int exit_code(VerdictKind kind) {
  return traits(kind).code ? exit_code(*traits(kind).code) : 0;
}

int exit_code(const std::vector<Verdict>& verdicts, const Diagnostics& diagnostics) {
  int worst = 0;
  for (const Verdict& verdict : verdicts) {
    worst = worse_exit_code(worst, exit_code(verdict.kind));
  }
  for (const Diagnostic& diagnostic : diagnostics) {
    worst = worse_exit_code(worst, diagnostic.severity == Severity::error ? exit_code(diagnostic.what) : 0);
  }
  return worst;
}

Verdict& judge(Verdict& verdict, VerdictKind kind, std::string detail) {
  verdict.kind = kind;
  verdict.detail = std::move(detail);
  return verdict;
}

Verdict merge(Verdict left, Verdict right) {
  Verdict& worse = left.kind < right.kind ? right : left;
  const Verdict& other = left.kind < right.kind ? left : right;
  if (!other.detail.empty()) {
    const bool says_more = worse.kind != other.kind && other.kind != VerdictKind::held;
    const std::string added = says_more ? fmt::format("{}: {}", to_string(other.kind), other.detail) : other.detail;
    worse.detail = worse.detail.empty() ? added : fmt::format("{}; {}", worse.detail, added);
  }
  worse.other = worse.other == VerdictKind::held ? other.kind : worse.other;
  worse.is_lock_wrong = worse.is_lock_wrong || other.is_lock_wrong;
  worse.is_too_new = worse.is_too_new || other.is_too_new;
  if (worse.paths.empty()) {
    worse.paths = other.paths;
    worse.more_paths = other.more_paths;
  }
  return std::move(worse);
}

}  // namespace modlock
