#include "plugin/lock/copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/files/files.h"
#include "plugin/lock/local_git.h"

namespace modlock {
namespace {

constexpr std::string_view kCopyHeader =
    "# The module blocks of .terraform.lock.hcl. tofu-modlock puts them back where OpenTofu dropped them.\n";

std::filesystem::path copy_path(const std::filesystem::path& data_dir) {
  return data_dir / "tofu-modlock" / "lock.hcl";
}

// The module blocks of one committed version; nullopt where it has none or cannot be read.
Result<std::optional<ModuleLocks>> modules_at(const std::filesystem::path& root, std::string_view commit,
                                              std::string_view lock_path, const Context& context) {
  // cat-file, not show: show would run a text conversion that the repository configures.
  auto text = run_local_git(root, {"cat-file", "blob", fmt::format("{}:./{}", commit, lock_path)}, context);
  if (!text) {
    return fail(std::move(text).error());
  }
  if (!*text) {
    return std::nullopt;
  }
  Result<LockFile> lock = parse_lock(**text, std::string(lock_path));
  if (!lock || lock->modules.empty()) {
    return std::nullopt;
  }
  return std::move(lock->modules);
}

}  // namespace

Result<void> save_lock_copy(const std::filesystem::path& data_dir, const ModuleLocks& modules) {
  std::string text(kCopyHeader);
  for (const auto& [key, module] : modules) {
    text += "\n" + write_module_block(module);
  }
  const std::filesystem::path path = copy_path(data_dir);
  const Result<std::string> there = read_file(path);
  if (there ? *there == text : modules.empty()) {
    return {};
  }
  if (auto made = make_directories(path.parent_path()); !made) {
    return made;
  }
  return write_file_atomically(path, text);
}

Result<std::optional<ModuleLocks>> load_lock_copy(const std::filesystem::path& data_dir) {
  const std::filesystem::path path = copy_path(data_dir);
  const Result<std::string> text = read_file(path);
  if (!text) {
    return text.error().code == Code::not_found ? Result<std::optional<ModuleLocks>>(std::nullopt) : fail(text.error());
  }
  Result<LockFile> lock = parse_lock(*text, path.generic_string());
  if (!lock) {
    return std::nullopt;
  }
  return std::move(lock->modules);
}

Result<std::optional<ModuleLocks>> committed_module_locks(const std::filesystem::path& root, std::string_view lock_path,
                                                          const Context& context) {
  if (auto newest = modules_at(root, "HEAD", lock_path, context); !newest || *newest) {
    return newest;
  }
  const auto log = run_local_git(
      root, {"log", "-n", "20", "--no-show-signature", "--format=%H", "--", std::string(lock_path)}, context);
  if (!log) {
    return fail(log.error());
  }
  std::string_view rest = *log ? std::string_view(**log) : std::string_view{};
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (auto modules = modules_at(root, rest.substr(0, end), lock_path, context); !modules || *modules) {
      return modules;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

Result<bool> is_history_cut_off(const std::filesystem::path& root, std::string_view lock_path, const Context& context) {
  const auto shallow = run_local_git(root, {"rev-parse", "--is-shallow-repository"}, context);
  if (!shallow || shallow->value_or("") != "true\n") {
    return shallow ? Result<bool>(false) : fail(shallow.error());
  }
  const auto log = run_local_git(
      root, {"log", "-n", "1", "--no-show-signature", "--format=%H", "--", std::string(lock_path)}, context);
  return log ? Result<bool>(!log->value_or("").empty()) : fail(log.error());
}

}  // namespace modlock
