#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/files/files.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/terminal.h"
#include "plugin/lock/conflict.h"
#include "plugin/lock/merge.h"

namespace modlock::cli {
namespace {

constexpr int kConflict = 1;
constexpr int kUnreadable = 2;

Result<LockFile> read_side(const std::string& path) {
  const auto text = read_file(path);
  return text ? parse_lock(*text, path) : fail(text.error());
}

template <typename Locks>
void keep_common(Locks& locks, const Locks& others) {
  std::erase_if(locks, [&](const auto& entry) {
    const auto other = others.find(entry.first);
    return other == others.end() || !(other->second == entry.second);
  });
}

// The ancestor of a criss-cross merge is itself the result of a merge. What is in conflict there decides nothing.
Result<LockFile> read_base(const std::string& path, bool& is_known) {
  const auto text = read_file(path);
  if (!text) {
    return fail(text.error());
  }
  const auto marked = split_conflict(*text);
  if (!marked) {
    return parse_lock(*text, path);
  }
  auto base = parse_lock(marked->ours, path);
  const auto other = parse_lock(marked->theirs, path);
  is_known = base && other;
  if (!is_known) {
    return LockFile{};
  }
  keep_common(base->modules, other->modules);
  keep_common(base->providers, other->providers);
  return base;
}

int refuse(const Error& error) {
  print_err(render(error));
  return kUnreadable;
}

}  // namespace

int run_merge(const CommandLine& line) {
  bool is_base_known = true;
  const auto base = read_base(line.merge_base, is_base_known);
  const auto ours = base ? read_side(line.merge_ours) : fail(base.error());
  const auto theirs = ours ? read_side(line.merge_theirs) : fail(ours.error());
  if (!theirs) {
    return refuse(theirs.error());
  }
  const MergedLock merged = merge_locks(is_base_known ? &*base : nullptr, *ours, *theirs, line.marker_size);
  if (merged.text != ours->text) {
    if (auto ok = write_file_atomically(line.merge_ours, merged.text); !ok) {
      return refuse(ok.error());
    }
  }
  if (merged.conflicts.empty()) {
    return 0;
  }
  for (const std::string& subject : merged.conflicts) {
    print_err(fmt::format("Conflict: both sides changed {}\n", subject));
  }
  print_err("To resolve this, run: tofu-modlock lock\n");
  return kConflict;
}

}  // namespace modlock::cli
