#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "backends/base/files.h"
#include "plugin/cli/commands.h"
#include "plugin/cli/interrupt.h"
#include "plugin/cli/terminal.h"
#include "plugin/config/config_files.h"
#include "plugin/lock/merge.h"
#include "plugin/lock/side_alignment.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

constexpr int kConflict = 1;
constexpr int kUnreadable = 2;

// A side that is too long is not read.
Result<std::string> read_text(const std::string& path) {
  MODLOCK_TRY(auto text, read_document(path, {}));
  return text ? Result<std::string>(std::move(*text)) : read_file(path);  // whose error names the missing file
}

Result<LockFile> read_side(const std::string& path) {
  MODLOCK_TRY(const auto text, read_text(path));
  return parse_lock(text, path);
}

Result<std::optional<LockFile>> read_base(const std::string& path) {
  MODLOCK_TRY(const auto text, read_text(path));
  return parse_ancestor(text, path);
}

int refuse(const Error& error) {
  Printer().err(render(error));
  return kUnreadable;
}

}  // namespace

Result<int> run_merge(const CommandLine& line) {
  if (line.merge_theirs.empty()) {
    return refuse({.code = Code::invalid_params,
                   .message = "merge requires three lock files: git runs it as a merge driver",
                   .hint = "to install it, run: " + tofu_modlock("init", "--gitattributes") +
                           "; to resolve a conflict, run: " + tofu_modlock("lock")});
  }
  const Interrupt interrupt;  // a signal leaves no unfinished file next to the lock file
  auto base = read_base(line.merge_base);
  const auto ours = base ? read_side(line.merge_ours) : fail(base.error());
  auto theirs = ours ? read_side(line.merge_theirs) : fail(ours.error());
  if (!theirs) {
    return refuse(theirs.error());
  }
  const MergedLock merged = merge_locks(std::move(*base), *ours, std::move(*theirs), line.marker_size);
  const std::filesystem::path path = line.merge_ours;
  remove_unfinished_writes(path.has_parent_path() ? path.parent_path() : ".", path.filename().string());
  if (merged.text != ours->text) {
    if (auto ok = write_file_atomically(path, merged.text); !ok) {
      return interrupt.signal() != 0 ? 128 + interrupt.signal() : refuse(ok.error());
    }
  }
  if (merged.conflicts.empty()) {
    return 0;
  }
  for (const std::string& subject : merged.conflicts) {
    line.common.print.err(fmt::format("Conflict: both sides changed {}\n", subject));
  }
  line.common.print.err("To resolve this, run: tofu-modlock lock\n");
  return kConflict;
}

}  // namespace modlock::cli
