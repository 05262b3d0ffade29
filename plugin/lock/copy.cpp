#include "plugin/lock/copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/files/files.h"
#include "backends/process/process.h"

namespace modlock {
namespace {

constexpr std::string_view kCopyHeader =
    "# The module blocks of .terraform.lock.hcl. tofu-modlock puts them back where OpenTofu dropped them.\n";

std::filesystem::path copy_path(const std::filesystem::path& data_dir) {
  return data_dir / "tofu-modlock" / "lock.hcl";
}

bool ends_the_run(const Error& error) {
  return error.code == Code::request_cancelled || error.code == Code::deadline_exceeded || error.code == Code::io_error;
}

// The output of a git command over the repository that encloses `root`; nullopt where git fails or is not there.
Result<std::optional<std::string>> ask_git(const std::filesystem::path& root, const std::vector<std::string>& arguments,
                                           const Context& context) {
  // A partial clone would fetch what it lacks: GIT_NO_LAZY_FETCH forbids it from git 2.44 on, the protocol setting in
  // every version.
  Command command{
      .argv = {"git", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false"},
      .directory = root,
      .set_environment = {{"GIT_NO_LAZY_FETCH", "1"},
                          {"GIT_TERMINAL_PROMPT", "0"},
                          {"GIT_OPTIONAL_LOCKS", "0"},
                          {"GIT_ALLOW_PROTOCOL", ""}},
      // A hook that runs us has these set for the repository it runs in, which may be another one.
      .unset_environment = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
                            "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE"}};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  Result<Finished> finished = run_command(command, context);
  if (!finished) {
    if (ends_the_run(finished.error())) {
      return fail(std::move(finished).error());
    }
    return std::nullopt;
  }
  if (finished->exit_code != 0) {
    return std::nullopt;
  }
  return std::move(finished->output);
}

// The module blocks of one committed version; nullopt where it has none or cannot be read.
Result<std::optional<ModuleLocks>> modules_at(const std::filesystem::path& root, std::string_view commit,
                                              std::string_view lock_path, const Context& context) {
  // cat-file, not show: show would run a text conversion that the repository configures.
  auto text = ask_git(root, {"cat-file", "blob", fmt::format("{}:./{}", commit, lock_path)}, context);
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
  const auto log =
      ask_git(root, {"log", "-n", "20", "--no-show-signature", "--format=%H", "--", std::string(lock_path)}, context);
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

}  // namespace modlock
