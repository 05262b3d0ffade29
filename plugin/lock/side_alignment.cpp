#include "plugin/lock/side_alignment.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "backends/base/collections.h"
#include "backends/git/line_diff.h"

namespace modlock {
namespace {

using Renames = std::map<std::string, std::string, std::less<>>;  // new keys by old ones

template <typename Locks>
void keep_common(Locks& locks, const Locks& others) {
  std::erase_if(locks, [&](const auto& entry) {
    const auto* other = find_in(others, entry.first);
    return other == nullptr || !(*other == entry.second);
  });
}

void set_modules(LockFile& file, const ModuleLocks& modules, std::string_view default_host) {
  if (auto written = parse_lock(write_lock(file, modules), {}, default_host)) {
    file = std::move(*written);
  }
}

bool lock_the_same(const ModuleLock& a, const ModuleLock& b) {
  return a.source == b.source && a.version == b.version && a.hashes == b.hashes;
}

// The new key of an entry that was renamed, or is below a renamed one; nullopt for all others.
std::optional<std::string> renamed_key(const Renames& renames, std::string_view key) {
  std::size_t end = key.size();
  while (end != std::string_view::npos) {
    if (const auto found = renames.find(key.substr(0, end)); found != renames.end()) {
      return found->second + std::string(key.substr(end));
    }
    end = end == 0 ? std::string_view::npos : key.rfind('.', end - 1);
  }
  return std::nullopt;
}

// The entry that locks the same as another one, of which `others` has no entry, and whose key has the most names in
// common with that of the other one at its end; null if several have as many.
const ModuleLock* closest(const ModuleLock& entry, const ModuleLocks& locks, const ModuleLocks& others) {
  std::vector<const ModuleLock*> same;
  for (const auto& [key, lock] : locks) {
    if (lock_the_same(lock, entry) && !others.contains(key)) {
      same.push_back(&lock);
    }
  }
  same = closest_entries(entry.key, std::move(same));
  return same.size() == 1 ? same.front() : nullptr;
}

// Without entries below a renamed entry, which move with it.
Renames find_renames(const ModuleLocks& base, const ModuleLocks& side) {
  Renames renames;
  for (const auto& [key, entry] : base) {
    if (side.find(key) != side.end() || renamed_key(renames, key)) {
      continue;
    }
    const ModuleLock* now = closest(entry, side, base);
    if (now != nullptr && closest(*now, base, side) == &entry) {
      renames.emplace(key, now->key);
    }
  }
  return renames;
}

// Whether the side has a different entry for this key or below it.
bool changes_below(const ModuleLocks& base, const ModuleLocks& side, const std::string& key) {
  const Renames only = {{key, key}};
  const auto differs = [&](const ModuleLocks& left, const ModuleLocks& right) {
    return std::ranges::any_of(left, [&](const auto& entry) {
      const ModuleLock* other = find_in(right, entry.first);
      return renamed_key(only, entry.first) && (other == nullptr || *other != entry.second);
    });
  };
  return differs(base, side) || differs(side, base);
}

// The renames of one side that conflict with a change on another side. An entry that a side removed is not renamed.
Renames contested_renames(const LockFile& base, std::span<const LockFile> sides, const LockFile& renaming) {
  Renames renames = find_renames(base.modules, renaming.modules);
  std::erase_if(renames, [&](const auto& rename) {
    bool is_changed = false;
    for (const LockFile& side : sides) {
      const bool has_old = side.modules.find(rename.first) != side.modules.end();
      const bool has_new = side.modules.find(rename.second) != side.modules.end();
      if (!has_old && !has_new) {
        return true;
      }
      is_changed = is_changed || (!has_new && changes_below(base.modules, side.modules, rename.first));
    }
    return !is_changed;
  });
  return renames;
}

void rename_entries(LockFile& file, const Renames& renames, std::string_view default_host) {
  ModuleLocks renamed;
  for (const auto& [key, entry] : file.modules) {
    ModuleLock lock = entry;
    lock.key = renamed_key(renames, key).value_or(key);
    renamed.emplace(lock.key, std::move(lock));
  }
  set_modules(file, renamed, default_host);
}

void align_renames(LockFile& base, std::span<LockFile> sides, const LockFile& renaming, std::string_view default_host) {
  const Renames renames = contested_renames(base, sides, renaming);
  if (renames.empty()) {
    return;
  }
  for (LockFile& side : sides) {
    Renames missing = renames;
    std::erase_if(missing, [&](const auto& rename) { return side.modules.find(rename.second) != side.modules.end(); });
    if (!missing.empty()) {
      rename_entries(side, missing, default_host);
    }
  }
  rename_entries(base, renames, default_host);
}

constexpr std::size_t kMarkerSize = 7;  // git's default; conflict-marker-size and nested merges make it larger

// The length of the marker on a line, or 0 if it is not a marker. A label follows after a space.
std::size_t marker_size(std::string_view line, char character) {
  const std::size_t size = std::min(line.find_first_not_of(character), line.size());
  const std::string_view rest = line.substr(size);
  const bool ends = rest.empty() || rest.front() == ' ' || rest.front() == '\n' || rest.front() == '\r';
  return size >= kMarkerSize && ends ? size : 0;
}

enum class Part { common, ours, base, theirs };

struct SideLine {
  std::string_view text;
  bool is_common = false;  // outside of conflicts
};

bool opens_block(std::string_view line) {
  return (line.starts_with("module ") || line.starts_with("provider ")) && line.find('{') != std::string_view::npos;
}

// The text of one side. If one side adds a block and the other side has a block of that name in a conflict next to it,
// git takes over the added block without a conflict. So if a name is in conflict, the block outside of the conflict
// belongs to the other side.
std::string side_text(const std::vector<SideLine>& lines) {
  std::set<std::string_view> contested;
  for (const SideLine& line : lines) {
    if (!line.is_common && opens_block(line.text)) {
      contested.insert(line.text);
    }
  }
  std::string text;
  bool is_left_out = false;
  for (const SideLine& line : lines) {
    is_left_out = is_left_out || (line.is_common && contested.count(line.text) != 0);
    text += is_left_out ? std::string_view() : line.text;
    is_left_out = is_left_out && !line.text.starts_with('}');
  }
  return text;
}

}  // namespace

Result<std::optional<LockFile>> parse_ancestor(std::string_view text, const std::string& path,
                                               std::string_view default_host) {
  const auto marked = split_conflict(text);
  if (!marked) {
    auto base = parse_lock(text, path, default_host);
    return base ? Result<std::optional<LockFile>>(std::move(*base)) : fail(std::move(base.error()));
  }
  auto base = parse_lock(marked->ours, path, default_host);
  const auto other = parse_lock(marked->theirs, path, default_host);
  if (!base || !other) {
    return std::nullopt;
  }
  keep_common(base->modules, other->modules);
  keep_common(base->providers, other->providers);
  return std::move(*base);
}

void align_sides(LockFile& base, std::span<LockFile> sides, std::string_view default_host) {
  for (LockFile& side : sides) {
    if (!side.text.empty() && side.modules.empty() && !base.modules.empty()) {
      set_modules(side, base.modules, default_host);
    }
  }
  for (const LockFile& side : sides) {
    align_renames(base, sides, side, default_host);
  }
}

bool has_marker(std::string_view text) {
  const std::vector<std::string_view> lines = git::split_lines(text);
  return std::ranges::any_of(lines, [](std::string_view line) {
    return marker_size(line, '<') != 0 || marker_size(line, '|') != 0 || marker_size(line, '=') != 0 ||
           marker_size(line, '>') != 0;
  });
}

std::optional<ConflictSides> split_conflict(std::string_view text) {
  std::vector<SideLine> ours;
  std::vector<SideLine> base;
  std::vector<SideLine> theirs;
  bool all_have_base = true;
  bool any = false;
  bool has_base = false;
  std::size_t size = 0;  // of the markers of the conflict being read
  Part part = Part::common;
  for (const std::string_view line : git::split_lines(text)) {
    if (const std::size_t start = marker_size(line, '<'); part == Part::common && start != 0) {
      size = start;
      part = Part::ours;
      any = true;
      has_base = false;
    } else if (part == Part::ours && marker_size(line, '|') == size) {
      part = Part::base;
      has_base = true;
    } else if ((part == Part::ours || part == Part::base) && marker_size(line, '=') == size) {
      part = Part::theirs;
    } else if (part == Part::theirs && marker_size(line, '>') == size) {
      part = Part::common;
      all_have_base = all_have_base && has_base;
    } else {
      for (const auto& [side, target] :
           {std::pair{Part::ours, &ours}, std::pair{Part::base, &base}, std::pair{Part::theirs, &theirs}}) {
        if (part == Part::common || part == side) {
          target->push_back({line, part == Part::common});
        }
      }
    }
  }
  if (!any || part != Part::common) {
    return std::nullopt;
  }
  return ConflictSides{.base = all_have_base ? std::optional(side_text(base)) : std::nullopt,
                       .ours = side_text(ours),
                       .theirs = side_text(theirs)};
}

}  // namespace modlock
