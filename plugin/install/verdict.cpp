#include "plugin/install/verdict.h"

#include <fmt/format.h>

#include <utility>

namespace modlock {

int exit_code(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::held:
    case VerdictKind::update_available:
      return 0;
    case VerdictKind::too_new:
    case VerdictKind::not_locked:
    case VerdictKind::missing:
    case VerdictKind::stale:
      return exit_code(Code::missing);
    case VerdictKind::vanished:
      return exit_code(Code::vanished);
    case VerdictKind::moved:
    case VerdictKind::tampered:
    case VerdictKind::denied:
      break;
  }
  return exit_code(Code::hash_mismatch);
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
  if (worse.paths.empty()) {
    worse.paths = other.paths;
    worse.more_paths = other.more_paths;
  }
  return std::move(worse);
}

}  // namespace modlock
