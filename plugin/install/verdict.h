#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/error.h"

namespace modlock {

// How the detail begins of an entry whose fields cannot all be true: no package is what is locked.
inline constexpr std::string_view kContradiction = "the lock file contradicts itself";

// What is true of one locked thing, from fine to worst: of several for one subject the last one counts.
enum class VerdictKind { held, update_available, not_locked, missing, stale, vanished, moved, tampered };
std::string_view to_string(VerdictKind kind);
// The reverse; nullopt for any other text.
std::optional<VerdictKind> parse_verdict_kind(std::string_view text);
int exit_code(VerdictKind kind);

struct Verdict {
  std::string subject = {};
  VerdictKind kind = VerdictKind::held;
  // What the lock entry says: of a module its source, its version and its origin ("git:…"), of a provider the version.
  std::string source = {};
  std::optional<std::string> version = {};
  std::string origin = {};
  // What the lock says and what was found: hashes of what is installed ("h1:…"); where modules.json leads elsewhere the
  // two directories; of moved and of a reference that moved on what it gave and gives ("git:…", "oci:…"), of a newer
  // version the two versions. Empty where there is nothing.
  std::string expected = {};
  std::string actual = {};
  std::string detail = {};              // one sentence; empty for a plain held
  std::vector<std::string> paths = {};  // the first differing files, each with what happened to it
  std::size_t more_paths = 0;           // how many differ beside them
  // Of a git reference that gives another commit: whether that one descends from the locked one, and how many commits
  // lie between. Absent: unknown.
  std::optional<bool> descends = {};
  std::optional<std::size_t> commits_behind = {};
  std::optional<Location> location = {};  // the call where the root or a local module has it, else the lock's block
};

// Both verdicts as one: the worse of them, with what the other says added to its detail.
Verdict merge(Verdict left, Verdict right);

}  // namespace modlock
