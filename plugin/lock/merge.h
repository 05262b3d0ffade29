#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugin/lock/lock_file.h"

namespace modlock {

// The result of merging the entries of several sides of a lock file, compared with their common ancestor.
struct EntryMerge {
  // Entries that no side changed, and those that all changing sides changed to the same value.
  ModuleLocks modules;
  ProviderLocks providers;
  // Entries that sides changed differently: the distinct results in the order of the sides, nullopt if one removed the
  // entry. Never fewer than two.
  std::map<std::string, std::vector<std::optional<ModuleLock>>, std::less<>> contested_modules;
  std::map<ProviderAddress, std::vector<std::optional<ProviderLock>>> contested_providers;
};

// Merges entry by entry. `base` null: the ancestor is unknown, and entries that are not the same on all sides are
// contested. If sides changed one provider without choosing different versions, its hashes and its constraints are
// merged: each side's new hashes come in, removed ones go.
EntryMerge merge_entries(const LockFile* base, std::span<const LockFile> sides);

// Resolves contested entries if sides only changed the constraints differently: modules that only one side locked
// differently, and providers of one version.
void resolve_same_content(const LockFile* base, EntryMerge& merge);

// Entries of two sides with one source and one version (without a version: one commit or digest), but different hashes
// of one scheme.
struct Contradiction {
  const ModuleLock* left = nullptr;
  const ModuleLock* right = nullptr;
};

// Finds contradictions between entries that two sides added or changed, whatever their keys. `base` null: all entries.
std::vector<Contradiction> find_contradictions(const LockFile* base, std::span<const LockFile> sides);

// The text for the settled entries of a merge, with module blocks before provider blocks, both sorted. Blocks, and
// comments outside of them, are those of the side that changed them; of the first side if several did. Contested
// entries are left out. Byte order mark and line endings are those of the first side that has a text.
std::string write_merged_lock(const LockFile* base, std::span<const LockFile> sides, const EntryMerge& merge);

struct MergedLock {
  std::string text;
  std::vector<std::string> conflicts;  // subjects in the order of the text; empty: `text` is a lock file
};

// Merges as a merge driver of git does, after align_sides(). A contested entry stays as a conflict, with the blocks of
// both sides between markers of `marker_size` characters, as do entries that contradict each other, and comments at the
// top or the end of the file that both sides changed differently (subject "comments"). Equal texts, and texts that only
// one side changed, are the result byte for byte. Byte order mark and line endings are those of `ours`. `base` nullopt:
// the ancestor is unknown.
MergedLock merge_locks(std::optional<LockFile> base, LockFile ours, LockFile theirs, std::size_t marker_size);

}  // namespace modlock
