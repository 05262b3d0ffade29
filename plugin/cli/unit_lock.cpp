#include "plugin/cli/unit_lock.h"

#include <optional>
#include <string>

#include "backends/files/files.h"
#include "plugin/lock/copy.h"
#include "plugin/lock/lock_file.h"

namespace modlock::cli {
namespace {

namespace fs = std::filesystem;

// nullopt: there is no such file.
Result<std::optional<LockFile>> read_lock_file(const fs::path& path, Tool tool) {
  const auto text = read_file(path);
  if (!text) {
    return text.error().code == Code::not_found ? Result<std::optional<LockFile>>(std::nullopt) : fail(text.error());
  }
  auto lock = parse_lock(*text, path.string(), default_registry(tool));
  return lock ? Result<std::optional<LockFile>>(std::move(*lock)) : fail(std::move(lock.error()));
}

// Module blocks that the client dropped stay where `from` has none.
Result<void> copy_modules(const fs::path& from, const fs::path& to, bool creates, Tool tool) {
  const auto source = read_lock_file(from, tool);
  const auto target = read_lock_file(to, tool);
  if (!source || !target) {
    return fail(source ? target.error() : source.error());
  }
  const bool has_place = *target || creates;
  if (!*source || (*source)->modules.empty() || !has_place) {
    return {};
  }
  const LockFile before = (*target).value_or(LockFile{});
  const std::string text =
      write_lock(before, (*source)->modules, tool == Tool::terraform ? kTerraformLockHeader : kOpenTofuLockHeader);
  return text == before.text ? Result<void>() : write_file_atomically(to, text);
}

Result<void> copy_sidecar(const fs::path& from, const fs::path& to) {
  const auto source = read_file(from);
  if (!source) {
    return source.error().code == Code::not_found ? Result<void>() : fail(source.error());
  }
  const auto target = read_file(to);
  return target && *target == *source ? Result<void>() : write_file_atomically(to, *source);
}

}  // namespace

Result<void> UnitLock::take_over(const DataDirectory& data, const Context& context) const {
  const auto lock = read_lock_file(unit_ / kLockFileName, tool_);
  if (!lock) {
    return fail(lock.error());
  }
  if (*lock && (*lock)->modules.empty()) {
    if (auto ok = know_committed_blocks(data, context); !ok) {
      return ok;
    }
  }
  if (unit_ == working_directory_) {
    return {};
  }
  auto ok = copy_modules(unit_ / kLockFileName, working_directory_ / kLockFileName, true, tool_);
  return ok ? copy_sidecar(unit_ / kSidecarFileName, working_directory_ / kSidecarFileName) : ok;
}

Result<void> UnitLock::know_committed_blocks(const DataDirectory& data, const Context& context) const {
  const auto known = load_lock_copy(data.path);
  if (!known || *known) {
    return known ? Result<void>() : fail(known.error());
  }
  const auto committed = committed_module_locks(unit_, kLockFileName, context);
  if (!committed || !*committed) {
    return committed ? Result<void>() : fail(committed.error());
  }
  return save_lock_copy(data.path, **committed);
}

Result<void> UnitLock::give_back() const {
  if (unit_ == working_directory_) {
    return {};
  }
  auto ok = copy_modules(working_directory_ / kLockFileName, unit_ / kLockFileName, false, tool_);
  return ok ? copy_sidecar(working_directory_ / kSidecarFileName, unit_ / kSidecarFileName) : ok;
}

}  // namespace modlock::cli
