#include "plugin/install/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace modlock {
namespace {

constexpr std::array<std::pair<VerdictKind, std::string_view>, 9> kNames = {
    {{VerdictKind::held, "held"},
     {VerdictKind::update_available, "update-available"},
     {VerdictKind::not_locked, "not-locked"},
     {VerdictKind::missing, "missing"},
     {VerdictKind::stale, "stale"},
     {VerdictKind::vanished, "vanished"},
     {VerdictKind::moved, "moved"},
     {VerdictKind::tampered, "tampered"},
     {VerdictKind::denied, "denied"}}};

}  // namespace

std::string_view to_string(VerdictKind kind) {
  return kNames.at(static_cast<std::size_t>(kind)).second;
}

std::optional<VerdictKind> parse_verdict_kind(std::string_view text) {
  const auto* const found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& entry) { return entry.second == text; });
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

int exit_code(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::held:
    case VerdictKind::update_available:
      return 0;
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
  if (worse.paths.empty()) {
    worse.paths = other.paths;
    worse.more_paths = other.more_paths;
  }
  return std::move(worse);
}

}  // namespace modlock
