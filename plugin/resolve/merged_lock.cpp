#include "plugin/resolve/merged_lock.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "backends/base/collections.h"
#include "plugin/lock/local_git.h"
#include "plugin/lock/lock_text.h"
#include "plugin/lock/locked_text.h"
#include "plugin/lock/merge.h"
#include "plugin/lock/side_alignment.h"
#include "plugin/resolve/changes.h"
#include "plugin/resolve/provider_changes.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::string_view kSideNames[] = {"ours", "theirs"};

// A side that cannot be read is not empty.
Result<std::vector<LockFile>> parse_sides(const std::vector<std::string>& texts, const std::string& name,
                                          ClientKind tool) {
  std::vector<LockFile> sides;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    auto side = parse_lock(texts[i], fmt::format("{} ({})", name, kSideNames[i]), default_registry(tool));
    if (!side) {
      side.error().hint = fmt::format(
          "git has this text as the side \"{}\". Write the correct lock file without conflict markers, "
          "then git add and commit it: lock works again after the commit",
          kSideNames[i]);
      return fail(std::move(side.error()));
    }
    sides.push_back(std::move(*side));
  }
  return sides;
}

// Describes the locked content of an entry.
std::string content_text(const std::optional<ModuleLock>& entry) {
  const std::string text = entry ? locked_text(*entry) : "none";
  return text.empty() ? "its content" : text;
}
std::string content_text(const std::optional<ProviderLock>& entry) {
  return entry ? entry->version.to_string() : "none";
}

Result<void> check_hashes(const LockFile* base, const std::vector<LockFile>& sides, const std::string& name) {
  const auto found = find_contradictions(base, sides);
  if (found.empty()) {
    return {};
  }
  const auto& [left, right] = found.front();
  return fail(Error{
      .code = Code::hash_mismatch,
      .message =
          fmt::format("the two sides of the merge have different hashes for module \"{}\"{}, {} of {}: {} and {}",
                      left->key, left->key == right->key ? "" : fmt::format(" and module \"{}\"", right->key),
                      content_text(*left), left->source, fmt::join(left->hashes, ", "), fmt::join(right->hashes, ", ")),
      .subject = "module." + left->key,
      .location = Location{name, {}},
      .hint = "find out which side is right with " + tofu_modlock("verify", "--online") +
              " on each branch, and correct the other branch before you merge it"});
}

bool has_lower_version(const ModuleLock& left, const ModuleLock& right) {
  return left.parsed_version() < right.parsed_version();
}
bool has_lower_version(const ProviderLock& left, const ProviderLock& right) {
  return compare(left.version, right.version) < 0;
}

// Returns the entry with the highest version; the first if there are several.
template <typename Entry>
const Entry& highest(const std::vector<std::optional<Entry>>& entries) {
  const Entry* best = nullptr;
  for (const auto& entry : entries) {
    if (entry && (best == nullptr || has_lower_version(*best, *entry))) {
      best = &*entry;
    }
  }
  return *best;  // of two or more distinct entries, at most one is empty
}

// "to 1.3.0 and to 1.4.0".
template <typename Entry>
std::string contested_reason(const std::vector<std::optional<Entry>>& entries) {
  std::string text;
  bool is_removed = false;
  for (const auto& entry : entries) {
    is_removed = is_removed || !entry;
    if (entry) {
      text += fmt::format("{}to {}", text.empty() ? "" : " and ", content_text(entry));
    }
  }
  return is_removed ? fmt::format("one side removed it, the other changed it {}", text)
                    : fmt::format("both sides changed it, {}", text);
}

std::string subject_of(const std::string& key) {
  return "module." + key;
}
std::optional<std::string> constraints_of(const ModuleLock& lock) {
  return lock.constraints;
}

template <typename Locks, typename Contested>
void name_kind(const Locks& before, const Locks& after, const Contested& contested, std::vector<Change>& changes) {
  for (const auto& key : all_keys(before, after, contested)) {
    const auto* old = find_in(before, key);
    const auto* entry = find_in(after, key);
    const auto* both = find_in(contested, key);
    const bool is_same = old == nullptr ? entry == nullptr : entry != nullptr && *old == *entry;
    const std::string subject = subject_of(key);
    Change* planned = find_by(changes, subject, &Change::subject);
    if (entry == nullptr && (old == nullptr || planned != nullptr)) {
      continue;
    }
    if (both == nullptr && (is_same || planned != nullptr)) {
      continue;
    }
    Change change{.subject = subject, .action = entry == nullptr ? Action::removed : Action::merged};
    if (old != nullptr) {
      change.from = side_of(*old);
    }
    if (entry != nullptr) {
      change.to = side_of(*entry);
      change.constraints = constraints_of(*entry);
    }
    change.reason = both != nullptr    ? contested_reason(*both)
                    : old == nullptr   ? "the other side added it"
                    : entry == nullptr ? "the other side removed it"
                                       : "the other side changed it";
    if (planned != nullptr) {
      *planned = std::move(change);
    } else {
      changes.push_back(std::move(change));
    }
  }
}

}  // namespace

Result<std::optional<LockFile>> merge_lock(const std::filesystem::path& repository, const WalkRequest& walk,
                                           const std::string& name, const std::optional<std::string>& text,
                                           bool asks_git, const Context& context, OpenMerge& merge) {
  const std::string_view registry = default_registry(walk.tool);
  const auto on_disk = text ? parse_lock(*text, name, registry) : Result<LockFile>(LockFile{});
  auto marked = on_disk ? std::nullopt : split_conflict(*text);
  // Git may have merged the text without a conflict into an invalid lock file: then its sides are used, too. Remaining
  // conflict markers are rejected.
  if (!on_disk && !marked && (!asks_git || has_marker(*text))) {
    return std::nullopt;
  }
  MODLOCK_TRY(auto found, asks_git ? find_merge_sides(repository, walk.root, name, context)
                                   : Result<std::optional<MergeSides>>(std::nullopt));
  if (!found && !marked) {
    return std::nullopt;
  }
  if (!found) {
    found.emplace(MergeSides{std::move(marked->base), {std::move(marked->ours), std::move(marked->theirs)}});
  }
  MODLOCK_TRY(auto sides, parse_sides(found->sides, name, walk.tool));
  // Git's text for several conflicts at once may not be a valid lock file.
  auto ancestor =
      found->base ? parse_ancestor(*found->base, name, registry).value_or(std::nullopt) : std::optional<LockFile>();
  if (on_disk && text) {
    sides.insert(sides.begin(), *on_disk);
  }
  if (ancestor) {
    align_sides(*ancestor, sides, registry);
  }
  const LockFile* base = ancestor ? &*ancestor : nullptr;
  MODLOCK_TRY(check_hashes(base, sides, name));
  const LockFile& before = sides.front();
  EntryMerge entries = merge_entries(base, sides);
  resolve_same_content(base, entries);
  for (const auto& [key, contested] : entries.contested_modules) {
    entries.modules.emplace(key, highest(contested));
  }
  for (const auto& [address, contested] : entries.contested_providers) {
    entries.providers.emplace(address, highest(contested));
  }
  merge.modules_before.insert(before.modules.begin(), before.modules.end());
  merge.providers_before.insert(before.providers.begin(), before.providers.end());
  merge.modules.insert(entries.contested_modules.begin(), entries.contested_modules.end());
  merge.providers.insert(entries.contested_providers.begin(), entries.contested_providers.end());
  for (const LockFile& side : sides) {
    std::ranges::copy_if(side.modules, std::inserter(merge.dropped, merge.dropped.end()),
                         [&](const auto& entry) { return !entries.modules.contains(entry.first); });
  }
  std::string merged_text = write_merged_lock(base, sides, entries);
  if (text && !on_disk) {
    merged_text = with_line_endings_of(*text, merged_text);
  }
  MODLOCK_TRY(auto merged, parse_lock(merged_text, name, registry));
  if (merged_text != text) {
    merge.on_disk.emplace(name, text);
  }
  return merged;
}

bool resolve_merged_providers(const OpenMerge& merge, ProviderPlanRequest& request) {
  bool changed = false;
  for (const ProviderNeed& need : request.needs) {
    const auto* contested = find_in(merge.providers, need.address);
    if (contested == nullptr) {
      continue;
    }
    const auto allowed =
        filtered(*contested, [&](const auto& entry) { return entry && need.merged.allows(entry->version); });
    const auto locked = request.locked.find(need.address);
    if (allowed.empty()) {
      request.locked.erase(locked);
      changed = true;
    } else if (const ProviderLock& chosen = highest(allowed); locked->second != chosen) {
      locked->second = chosen;
      changed = true;
    }
  }
  return changed;
}

Result<void> check_contested(const OpenMerge& merge, const messages::Include& include) {
  const bool modules = !include.modules && !merge.modules.empty();
  const bool providers = !include.providers && !merge.providers.empty();
  if (!modules && !providers) {
    return {};
  }
  const std::string subject =
      modules ? subject_of(merge.modules.begin()->first) : subject_of(merge.providers.begin()->first);
  return fail(Error{.code = Code::lock_parse,
                    .message = fmt::format("both sides of the merge changed {}, which --include excludes", subject),
                    .subject = subject,
                    .hint = "run: " + tofu_modlock("lock") + ", without --include"});
}

void name_merged_entries(const OpenMerge& merge, const ModuleLocks& modules, const ProviderLocks& providers,
                         std::vector<Change>& changes) {
  name_kind(merge.modules_before, modules, merge.modules, changes);
  name_kind(merge.providers_before, providers, merge.providers, changes);
  std::ranges::stable_sort(changes, [](const Change& left, const Change& right) {
    const auto kind = [](const Change& change) { return change.subject.starts_with("provider."); };
    return kind(left) != kind(right) ? kind(right) : left.subject < right.subject;
  });
}

}  // namespace modlock
