#include "plugin/lock/merge.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "backends/base/collections.h"
#include "plugin/lock/lock_text.h"
#include "plugin/lock/side_alignment.h"

namespace modlock {
namespace {

const ModuleLocks& locks_of(const LockFile& file, const ModuleLocks*) {
  return file.modules;
}
const ProviderLocks& locks_of(const LockFile& file, const ProviderLocks*) {
  return file.providers;
}

template <typename Locks>
std::optional<typename Locks::mapped_type> find_entry(const Locks& locks, const typename Locks::key_type& key) {
  const auto* found = find_in(locks, key);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// The distinct values that differ from the ancestor's value, which may be unknown.
template <typename Value, typename Values>
std::vector<Value> distinct_changes(const std::optional<Value>& base, const Values& values) {
  std::vector<Value> changes;
  for (const Value& value : values) {
    if ((!base || !(value == *base)) && !contains(changes, value)) {
      changes.push_back(value);
    }
  }
  return changes;
}

template <typename Locks, typename Contested>
void merge_kind(const LockFile* base, std::span<const LockFile> sides, Locks& settled, Contested& contested) {
  using Entry = typename Locks::mapped_type;
  const auto* kind = static_cast<const Locks*>(nullptr);
  auto keys = base == nullptr ? all_keys(Locks()) : all_keys(locks_of(*base, kind));
  std::ranges::for_each(sides, [&](const LockFile& side) { keys.merge(all_keys(locks_of(side, kind))); });
  for (const auto& key : keys) {
    std::optional<std::optional<Entry>> ancestor;
    if (base != nullptr) {
      ancestor.emplace(find_entry(locks_of(*base, kind), key));
    }
    const auto values = mapped(sides, [&](const LockFile& side) { return find_entry(locks_of(side, kind), key); });
    auto changes = distinct_changes(ancestor, values);
    if (changes.size() > 1) {
      contested.emplace(key, std::move(changes));
    } else if (const auto& result = changes.empty() ? *ancestor : changes.front()) {
      settled.emplace(key, *result);
    }
  }
}

bool have_one_version(const std::vector<std::optional<ProviderLock>>& entries) {
  return std::ranges::all_of(entries, [&](const std::optional<ProviderLock>& entry) {
    return entry && entries.front() && entry->version == entries.front()->version;
  });
}

// A hash of the ancestor is kept if every side has it; another hash is added if any side has it.
std::vector<std::string> merge_hashes(const std::optional<ProviderLock>& base,
                                      const std::vector<std::optional<ProviderLock>>& sides) {
  std::set<std::string> old;
  if (base && base->version == sides.front()->version) {
    old.insert(base->hashes.begin(), base->hashes.end());
  }
  std::map<std::string, std::size_t> counts;
  for (const auto& side : sides) {
    for (const std::string& hash : std::set<std::string>(side->hashes.begin(), side->hashes.end())) {
      ++counts[hash];
    }
  }
  std::vector<std::string> hashes;
  for (const auto& [hash, count] : counts) {
    if (old.count(hash) == 0 || count == sides.size()) {
      hashes.push_back(hash);
    }
  }
  return hashes;
}

// Merges entries of one version field by field; nullopt if sides changed the constraints differently.
std::optional<ProviderLock> merge_providers(const std::optional<ProviderLock>& base,
                                            const std::vector<std::optional<ProviderLock>>& sides) {
  auto constraints = mapped(sides, [](const auto& side) { return side->constraints; });
  constraints = distinct_changes(base ? std::optional(base->constraints) : std::nullopt, constraints);
  if (constraints.size() > 1) {
    return std::nullopt;
  }
  return ProviderLock{.version = sides.front()->version,
                      .constraints = constraints.empty() ? base->constraints : constraints.front(),
                      .hashes = merge_hashes(base, sides)};
}

std::optional<ProviderLock> provider_of(const LockFile* file, const ProviderAddress& address) {
  return file == nullptr ? std::nullopt : find_entry(file->providers, address);
}

// Whether both have hashes of one scheme that are not the same.
bool contradict(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  const auto by_scheme = [](const std::vector<std::string>& hashes) {
    std::map<std::string, std::set<std::string>> schemes;
    for (const std::string& hash : hashes) {
      schemes[hash.substr(0, hash.find(':'))].insert(hash);
    }
    return schemes;
  };
  const auto ours = by_scheme(left);
  const auto theirs = by_scheme(right);
  return std::ranges::any_of(ours, [&](const auto& scheme) {
    const auto* other = find_in(theirs, scheme.first);
    return other != nullptr && *other != scheme.second;
  });
}

// The bytes of a lock file with LF line endings: each block with the comments before it.
struct Piece {
  std::string comments;
  std::string block;
  bool operator==(const Piece&) const = default;
};

struct Pieces {
  std::string head;
  std::map<std::string, Piece, std::less<>> modules;
  std::map<ProviderAddress, Piece> providers;
  std::string tail;
};

using TextLines = std::span<const TextLine>;

std::string text_of(TextLines lines) {
  std::string text;
  for (const TextLine& line : lines) {
    text += line.text + "\n";
  }
  return text;
}

// Without blank lines at the top.
TextLines trim_top(TextLines lines) {
  while (!lines.empty() && lines.front().is_blank()) {
    lines = lines.subspan(1);
  }
  return lines;
}

Pieces split_pieces(const LockFile& file) {
  Pieces pieces;
  const LockText text = split_lock_text(file.text);
  const TextLines lines(text.lines);
  std::vector<std::pair<Range, Piece*>> blocks;
  for (const auto& [key, range] : file.module_ranges) {
    blocks.emplace_back(range, &pieces.modules[key]);
  }
  for (const auto& [address, range] : file.provider_ranges) {
    blocks.emplace_back(range, &pieces.providers[address]);
  }
  std::ranges::sort(blocks,
                    [](const auto& left, const auto& right) { return left.first.start.byte < right.first.start.byte; });
  std::size_t done = head_size(text.lines);
  pieces.head = text_of(lines.first(done));
  for (const auto& [range, piece] : blocks) {
    const std::size_t first = range.start.line - 1;
    const std::size_t end = range.end.line;
    piece->comments = text_of(trim_top(lines.subspan(done, first - done)));
    piece->block = text_of(lines.subspan(first, end - first));
    done = end;
  }
  pieces.tail = text_of(trim_top(lines.subspan(done)));
  while (pieces.tail.ends_with("\n\n")) {
    pieces.tail.pop_back();
  }
  return pieces;
}

// In the layout of the writer, without any comment except the header.
Pieces plain_pieces(const LockFile& file) {
  Pieces pieces;
  pieces.head = kOpenTofuLockHeader;
  for (const auto& [key, module] : file.modules) {
    pieces.modules[key] = {"", write_module_block(module)};
  }
  for (const auto& [address, provider] : file.providers) {
    pieces.providers[address] = {"", write_provider_block(address, provider)};
  }
  return pieces;
}

class MergeWriter {
 public:
  MergeWriter(const LockFile* base, std::span<const LockFile> sides, const EntryMerge& merge)
      : base_(base), sides_(sides), merge_(merge) {
    split(split_pieces);
    const auto written = parse_lock(write(), {});
    // A comment may span a block.
    if (!written || written->modules != merge.modules || written->providers != merge.providers) {
      split(plain_pieces);
    }
  }

  // `marker_size` 0: contested entries are left out, and the comments of the first side are kept.
  MergedLock write(std::size_t marker_size) {
    marker_size_ = marker_size;
    merged_ = {};
    write_comments([](const Pieces& pieces) { return pieces.head; });
    write_kind(merge_.modules, merge_.contested_modules, &Pieces::modules, "module.", [](const auto& entry) {
      return Piece{"", write_module_block(entry.second)};
    });
    write_kind(merge_.providers, merge_.contested_providers, &Pieces::providers, "provider.", [](const auto& entry) {
      return Piece{"", write_provider_block(entry.first, entry.second)};
    });
    write_comments([](const Pieces& pieces) { return pieces.tail; });
    if (const auto* first = find_where(sides_, [](const auto& side) { return !side.text.empty(); })) {
      merged_.text = with_line_endings_of(first->text, merged_.text);
    }
    return std::move(merged_);
  }
  std::string write() { return write(0).text; }

 private:
  static std::string name_of(const std::string& key) { return key; }
  static std::string name_of(const ProviderAddress& address) { return address.to_string(); }

  template <typename Splitter>
  void split(Splitter splitter) {
    side_pieces_.clear();
    std::ranges::transform(sides_, std::back_inserter(side_pieces_), splitter);
    if (base_ != nullptr) {
      base_pieces_ = splitter(*base_);
    }
  }

  void add(const std::string& text) {
    if (!text.empty() && !merged_.text.empty()) {
      merged_.text += "\n";
    }
    merged_.text += text;
  }

  void add_conflict(const std::string& ours, const std::string& theirs, std::string subject) {
    const auto marker = [this](char character) { return std::string(marker_size_, character); };
    add(marker('<') + " ours\n" + ours + marker('=') + "\n" + theirs + marker('>') + " theirs\n");
    merged_.conflicts.push_back(std::move(subject));
  }

  // The comments of a side without a text are ignored.
  template <typename Part>
  void write_comments(Part part) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      if (!sides_[i].text.empty()) {
        texts.push_back(part(side_pieces_[i]));
      }
    }
    const bool has_base = base_ != nullptr && !base_->text.empty();
    const auto changes = distinct_changes(has_base ? std::optional(part(base_pieces_)) : std::nullopt, texts);
    if (changes.size() > 1 && marker_size_ != 0) {
      add_conflict(changes[0], changes[1], "comments");
    } else if (!changes.empty() || (has_base && !texts.empty())) {
      add(changes.empty() ? part(base_pieces_) : changes.front());
    }
  }

  template <typename Locks, typename Contested, typename PieceMap, typename Writer>
  void write_kind(const Locks& settled, const Contested& contested, PieceMap Pieces::*kind, std::string_view prefix,
                  Writer writer) {
    for (const auto& key : all_keys(settled, marker_size_ == 0 ? Contested() : contested)) {
      if (const auto entry = settled.find(key); entry != settled.end()) {
        const Piece piece = choose_piece(*entry, kind, writer);
        add(piece.comments + piece.block);
        continue;
      }
      std::vector<std::string> texts;
      for (const Pieces& pieces : side_pieces_) {
        const Piece* piece = find_in(pieces.*kind, key);
        texts.push_back(piece == nullptr ? "" : piece->comments + piece->block);
      }
      add_conflict(texts.at(0), texts.at(1), std::string(prefix) + name_of(key));
    }
  }

  // The bytes of a side that has this entry, preferably of one that changed them.
  template <typename Entry, typename PieceMap, typename Writer>
  Piece choose_piece(const Entry& entry, PieceMap Pieces::*kind, Writer writer) const {
    using Locks = std::map<std::remove_const_t<typename Entry::first_type>, typename Entry::second_type,
                           typename PieceMap::key_compare>;
    const Piece* old = find_in(base_pieces_.*kind, entry.first);
    const Piece* chosen = nullptr;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      if (find_entry(locks_of(sides_[i], static_cast<const Locks*>(nullptr)), entry.first) != entry.second) {
        continue;
      }
      const Piece& piece = (side_pieces_[i].*kind).find(entry.first)->second;
      if (old == nullptr || !(piece == *old)) {
        return piece;
      }
      chosen = chosen == nullptr ? &piece : chosen;
    }
    return chosen != nullptr ? *chosen : writer(entry);
  }

  const LockFile* base_;
  const std::span<const LockFile> sides_;
  const EntryMerge& merge_;
  Pieces base_pieces_;
  std::vector<Pieces> side_pieces_;
  std::size_t marker_size_ = 0;
  MergedLock merged_;
};

}  // namespace

EntryMerge merge_entries(const LockFile* base, std::span<const LockFile> sides) {
  EntryMerge merge;
  merge_kind(base, sides, merge.modules, merge.contested_modules);
  merge_kind(base, sides, merge.providers, merge.contested_providers);
  std::erase_if(merge.contested_providers, [&](const auto& entry) {
    const auto& [address, sides_of] = entry;
    auto merged = have_one_version(sides_of) ? merge_providers(provider_of(base, address), sides_of) : std::nullopt;
    return merged && merge.providers.emplace(address, std::move(*merged)).second;
  });
  return merge;
}

std::vector<Contradiction> find_contradictions(const LockFile* base, std::span<const LockFile> sides) {
  std::multimap<std::pair<std::string, std::string>, std::pair<const LockFile*, const ModuleLock*>> changed;
  std::vector<Contradiction> found;
  for (const LockFile& side : sides) {
    for (const auto& [key, entry] : side.modules) {
      const std::string content = entry.version.value_or(entry.origin_hash());
      if (content.empty() || (base != nullptr && find_entry(base->modules, key) == entry)) {
        continue;
      }
      const auto [first, last] = changed.equal_range({entry.source, content});
      for (auto other = first; other != last; ++other) {
        const auto& [their_side, theirs] = other->second;
        if (their_side != &side && contradict(theirs->hashes, entry.hashes)) {
          found.push_back({theirs, &entry});
        }
      }
      changed.emplace(std::pair(entry.source, content), std::pair(&side, &entry));
    }
  }
  return found;
}

void resolve_same_content(const LockFile* base, EntryMerge& merge) {
  const auto content_of = [](std::optional<ModuleLock> entry) {
    if (entry) {
      entry->constraints.reset();
    }
    return entry;
  };
  std::erase_if(merge.contested_modules, [&](const auto& entry) {
    std::optional<std::optional<ModuleLock>> ancestor;
    if (base != nullptr) {
      ancestor.emplace(content_of(find_entry(base->modules, entry.first)));
    }
    const auto contents = mapped(entry.second, content_of);
    const auto changes = distinct_changes(ancestor, contents);
    const bool settled = changes.size() < 2;
    if (settled) {
      const auto& content = changes.empty() ? *ancestor : changes.front();
      const auto at = std::ranges::find(contents, content) - contents.begin();
      if (const auto& side = entry.second[static_cast<std::size_t>(at)]) {
        merge.modules.emplace(entry.first, *side);
      }
    }
    return settled;
  });
  std::erase_if(merge.contested_providers, [&](const auto& entry) {
    const bool settled = have_one_version(entry.second);
    if (settled) {
      ProviderLock merged = *entry.second.front();
      merged.hashes = merge_hashes(provider_of(base, entry.first), entry.second);
      merge.providers.emplace(entry.first, std::move(merged));
    }
    return settled;
  });
}

std::string write_merged_lock(const LockFile* base, std::span<const LockFile> sides, const EntryMerge& merge) {
  return MergeWriter(base, sides, merge).write();
}

MergedLock merge_locks(std::optional<LockFile> base, LockFile ours, LockFile theirs, std::size_t marker_size) {
  std::vector<LockFile> sides;
  sides.push_back(std::move(ours));
  sides.push_back(std::move(theirs));
  if (base) {
    align_sides(*base, sides);
  }
  if (sides[0].text == sides[1].text || (base && base->text == sides[1].text)) {
    return {std::move(sides[0].text), {}};
  }
  if (base && base->text == sides[0].text) {
    return {std::move(sides[1].text), {}};
  }
  const LockFile* ancestor = base ? &*base : nullptr;
  EntryMerge merge = merge_entries(ancestor, sides);
  for (const Contradiction& found : find_contradictions(ancestor, sides)) {
    for (const std::string& key : {found.left->key, found.right->key}) {
      merge.modules.erase(key);
      merge.contested_modules.emplace(
          key, std::vector{find_entry(sides[0].modules, key), find_entry(sides[1].modules, key)});
    }
  }
  return MergeWriter(ancestor, sides, merge).write(marker_size);
}

}  // namespace modlock
