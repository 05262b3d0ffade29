#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/base/error.h"

namespace modlock {

// The state of one locked module or provider, from best to worst. If several apply, the last one is used.
enum class VerdictKind { held, update_available, not_locked, missing, stale, vanished, moved, tampered, denied };
std::string_view to_string(VerdictKind kind);
// The reverse; nullopt for any other text.
std::optional<VerdictKind> parse_verdict_kind(std::string_view text);
int exit_code(VerdictKind kind);

struct Verdict {
  std::string subject = {};
  VerdictKind kind = VerdictKind::held;
  // From the lock entry: the source, version and origin ("git:…") of a module, the version of a provider.
  std::string source = {};
  std::optional<std::string> version = {};
  std::string origin = {};
  // The locked and the found value: hashes of the installed package ("h1:…"); the two directories if modules.json names
  // another one; the old and the new id of a reference that moved or has new commits ("git:…", "oci:…"); the two
  // versions if a newer one is available. Empty if there is none.
  std::string expected = {};
  std::string actual = {};
  std::string detail = {};              // one sentence; empty for a held without remarks
  std::vector<std::string> paths = {};  // the first differing files, each with its change
  std::size_t more_paths = 0;           // the number of further differing files
  // For a git reference that points to another commit: whether that commit descends from the locked one, and how many
  // commits it is ahead. Absent: unknown.
  std::optional<bool> descends = {};
  std::optional<std::size_t> commits_behind = {};
  std::optional<Location> location = {};  // the call if it is in the root or a local module, else the lock's block
};

// Returns the worse verdict, with the detail of the other added to its own, and the paths of the other if it has none.
Verdict merge(Verdict left, Verdict right);

}  // namespace modlock
