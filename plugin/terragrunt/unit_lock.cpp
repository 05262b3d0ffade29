#include "plugin/terragrunt/unit_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "backends/base/files.h"
#include "plugin/config/config_files.h"
#include "plugin/lock/backup.h"
#include "plugin/lock/edit.h"

namespace modlock::terragrunt {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kNames = {kLockFileName, kSidecarFileName};

bool has_lock_file(const fs::path& directory) {
  return std::ranges::any_of(kNames, [&](std::string_view name) { return path_exists(directory / name); });
}

// nullopt: there is no such file.
Result<std::optional<LockFile>> read_lock_file(const fs::path& path, ClientKind tool) {
  MODLOCK_TRY(const auto text, read_document(path, {}));
  if (!text) {
    return std::nullopt;
  }
  MODLOCK_TRY(auto lock, parse_lock(*text, path.string(), default_registry(tool)));
  return lock;
}

Result<void> write_lock_file(const fs::path& path, std::string_view text) {
  MODLOCK_TRY(check_no_link(path));
  return write_file_atomically(path, text);
}

// Writes `text`, or deletes the file for nullopt, unless that is its content.
Result<void> write_text(const fs::path& path, const std::optional<std::string>& text) {
  const auto there = read_file(path);
  if (text) {
    return there && *there == *text ? Result<void>() : write_lock_file(path, *text);
  }
  std::error_code error;
  fs::remove(path, error);
  return error ? fail(Code::io_error, fmt::format("cannot remove {}: {}", path.string(), error.message()))
               : Result<void>();
}

// Keeps module blocks that the client dropped if `from` has none.
Result<void> copy_modules(const LockFile& from, const fs::path& to, bool creates, ClientKind tool) {
  MODLOCK_TRY(const auto target, read_lock_file(to, tool));
  if (from.modules.empty() || (!target && !creates)) {
    return {};
  }
  const LockFile before = target.value_or(LockFile{});
  const std::string text =
      write_lock(before, from.modules, tool == ClientKind::terraform ? kTerraformLockHeader : kOpenTofuLockHeader);
  return text == before.text ? Result<void>() : write_lock_file(to, text);
}

// Does nothing if the file does not exist.
Result<void> copy_whole(const fs::path& from, const fs::path& to) {
  MODLOCK_TRY(const auto source, read_document(from, {}));
  return source ? write_text(to, source) : Result<void>();
}

// Adds the entries of `before` that the lock file at `path` lacks. Returns them.
Result<ModuleLocks> add_missing(const LockFile& before, const fs::path& path, bool creates, ClientKind tool) {
  MODLOCK_TRY(const auto now, read_lock_file(path, tool));
  ModuleLocks missing = now || creates ? before.modules : ModuleLocks();
  std::erase_if(missing, [&](const auto& entry) { return now && now->modules.count(entry.first) != 0; });
  if (missing.empty()) {
    return missing;
  }
  // If the client changed nothing else, the file is what it was, with the comments in its blocks.
  const bool is_same = !now || write_lock(before, {}) == now->text;
  ModuleLocks modules = now ? now->modules : ModuleLocks();
  modules.insert(missing.begin(), missing.end());
  MODLOCK_TRY(write_lock_file(path, is_same ? before.text : write_lock(*now, modules)));
  return missing;
}

// The copy that remember() makes. modlock.hcl names it, too.
fs::path copy_for_restore(const fs::path& ours) {
  return ours / "before.lock.hcl";
}

constexpr std::string_view kGenerated = ".terragrunt-stack";
constexpr std::string_view kKept = "terragrunt-locks";

bool is_real_directory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored));
}

// Returns whether there is a unit of this path in a stack, or in stacks in it.
bool has_unit(const fs::path& at, fs::path::const_iterator name, const fs::path::const_iterator& end) {
  return is_real_directory(at) &&
         (name == end ? path_exists(at / "terragrunt.hcl")
                      : has_unit(at / *name, std::next(name), end) || has_unit(at / kGenerated, name, end));
}

}  // namespace

fs::path UnitLock::kept_place(const fs::path& unit) {
  fs::path kept;
  bool is_generated = false;
  for (const fs::path& part : unit) {
    if (part != kGenerated) {
      kept /= part;
    } else if (!is_generated) {
      kept /= kKept;
      is_generated = true;
    }
  }
  return kept;
}

bool UnitLock::is_left(const fs::path& kept) {
  const auto at = std::find(kept.begin(), kept.end(), kKept);
  fs::path stack;
  std::for_each(kept.begin(), at, [&](const fs::path& part) { stack /= part; });
  stack /= kGenerated;
  return at != kept.end() && is_real_directory(stack) && !has_unit(stack, std::next(at), kept.end());
}

UnitLock::UnitLock(fs::path unit, fs::path working_directory, ClientKind tool)
    : unit_(std::move(unit)), kept_(kept_place(unit_)), working_directory_(std::move(working_directory)), tool_(tool) {}

Result<bool> UnitLock::is_deleted() const {
  if (has_lock_file(kept_)) {
    return false;
  }
  bool is_locked = false;
  for (const std::string_view name : kNames) {
    for (const fs::path& directory : {unit_, working_directory_}) {
      MODLOCK_TRY(const auto last, read_lock_file(directory / name, tool_));
      is_locked = is_locked || (last && !last->modules.empty());
    }
  }
  return is_locked;
}

// Terragrunt copies the lock file of the unit before the hook runs, so the working directory needs it, too.
Result<void> UnitLock::take_kept() const {
  for (const std::string_view name : kNames) {
    for (const fs::path& directory : {unit_, working_directory_}) {
      MODLOCK_TRY(kept_ == unit_ ? Result<void>() : copy_whole(kept_ / name, directory / name));
    }
  }
  return {};
}

Result<void> UnitLock::keep() const {
  if (kept_ == unit_ || !has_lock_file(unit_)) {
    return {};
  }
  MODLOCK_TRY(make_directories(kept_));
  MODLOCK_TRY(copy_whole(unit_ / kLockFileName, kept_ / kLockFileName));
  return copy_whole(unit_ / kSidecarFileName, kept_ / kSidecarFileName);
}

Result<void> UnitLock::take_over(const DataDirectory& data, const Context& context) const {
  MODLOCK_TRY(const auto held, lock_root(data, context));
  MODLOCK_TRY(take_kept());
  MODLOCK_TRY(const auto lock, read_lock_file(unit_ / kLockFileName, tool_));
  MODLOCK_TRY(const auto sidecar, read_lock_file(unit_ / kSidecarFileName, tool_));
  if (lock && with_module_blocks(*lock, sidecar.value_or(LockFile{}), std::nullopt).modules.empty()) {
    MODLOCK_TRY(know_committed_blocks(data.path, context));
  }
  if (unit_ == working_directory_) {
    return {};
  }
  MODLOCK_TRY(lock ? copy_modules(*lock, working_directory_ / kLockFileName, true, tool_) : Result<void>());
  if (lock && !sidecar) {  // a package can have one
    return write_text(working_directory_ / kSidecarFileName, std::nullopt);
  }
  return copy_whole(unit_ / kSidecarFileName, working_directory_ / kSidecarFileName);
}

Result<void> UnitLock::know_committed_blocks(const fs::path& data_directory, const Context& context) const {
  MODLOCK_TRY(const auto known, load_lock_backup(data_directory));
  if (known || !path_is_directory(kept_)) {
    return {};
  }
  MODLOCK_TRY(const auto committed, committed_module_locks(kept_, kLockFileName, context));
  return committed ? save_lock_backup(data_directory, *committed, working_directory_, context) : Result<void>();
}

Result<void> UnitLock::give_back(const DataDirectory& data, const Context& context) const {
  MODLOCK_TRY(const auto held, lock_root(data, context));
  if (unit_ == working_directory_) {
    return keep();
  }
  MODLOCK_TRY(const auto lock, read_lock_file(working_directory_ / kLockFileName, tool_));
  MODLOCK_TRY(lock ? copy_modules(*lock, unit_ / kLockFileName, false, tool_) : Result<void>());
  MODLOCK_TRY(copy_whole(working_directory_ / kSidecarFileName, unit_ / kSidecarFileName));
  return keep();
}

Result<UnitLock::Texts> UnitLock::texts() const {
  Texts texts;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    MODLOCK_TRY(texts[i], read_document(working_directory_ / kNames[i], {}));
  }
  return texts;
}

Result<void> UnitLock::put_back(const Texts& texts, const DataDirectory& data, const Context& context) const {
  MODLOCK_TRY(const auto held, lock_root(data, context));
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    MODLOCK_TRY(write_text(working_directory_ / kNames[i], texts[i]));
  }
  return {};
}

Result<void> UnitLock::remember(const DataDirectory& data) const {
  MODLOCK_TRY(const auto lock, read_lock_file(working_directory_ / kLockFileName, tool_));
  if (kept_ == unit_ && (!lock || lock->modules.empty())) {
    return {};
  }
  MODLOCK_TRY(const auto ours, data.pin(data.ours()));
  return write_file_atomically(copy_for_restore(ours.path()), lock ? lock->text : "", Durable::no);
}

Result<void> UnitLock::forget(const DataDirectory& data) {
  return write_text(copy_for_restore(data.ours()), std::nullopt);
}

Result<ModuleLocks> UnitLock::restore(const DataDirectory& data, const Context& context) const {
  MODLOCK_TRY(const auto held, lock_root(data, context));
  MODLOCK_TRY(const auto before, read_lock_file(copy_for_restore(data.ours()), tool_));
  if (!before) {
    return ModuleLocks();
  }
  MODLOCK_TRY(auto missing, add_missing(*before, working_directory_ / kLockFileName, true, tool_));
  MODLOCK_TRY(add_missing(*before, unit_ / kLockFileName, false, tool_));
  MODLOCK_TRY(keep());
  MODLOCK_TRY(forget(data));
  return missing;
}

}  // namespace modlock::terragrunt
