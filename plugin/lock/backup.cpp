#include "plugin/lock/backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::string_view kCopyHeader =
    "# The module blocks of .terraform.lock.hcl. tofu-modlock puts them back where OpenTofu dropped them.\n";
constexpr std::string_view kCommittedId = "# Committed version: ";

std::filesystem::path copy_path(const std::filesystem::path& data_dir) {
  return data_dir / "tofu-modlock" / "lock.hcl";
}

struct CommittedVersion {
  std::string commit;
  bool may_have_blocks = true;
};

// Prints the last commits that changed the lock file.
std::vector<std::string> log_arguments(std::string_view lock_path, std::vector<std::string> options) {
  std::vector<std::string> arguments = {"log", "--no-show-signature", "--no-textconv", "--no-ext-diff", "--format=%H"};
  arguments.insert(arguments.end(), std::make_move_iterator(options.begin()), std::make_move_iterator(options.end()));
  arguments.insert(arguments.end(), {"--", std::string(lock_path)});
  return arguments;
}

// Prints the last commit that added or removed a module block, also of a branch whose side a merge did not take. Reads
// all versions of the file.
std::vector<std::string> find_block_change(std::string_view lock_path) {
  return log_arguments(lock_path, {"-n", "1", "--full-history", "-G^module "});
}

// The last changes of the lock file, newest first; none if git cannot read them. One process finds all versions without
// module blocks.
Result<std::vector<CommittedVersion>> list_versions(const std::filesystem::path& root, std::string_view lock_path,
                                                    const Context& context) {
  const std::string path(lock_path);
  MODLOCK_TRY(const auto log, run_local_git(root, log_arguments(lock_path, {"-n", "20"}), context));
  const std::vector<std::string> commits = lines_of(log.value_or(""));
  if (commits.empty()) {
    return std::vector<CommittedVersion>();
  }
  std::vector<std::string> arguments = {"--literal-pathspecs", "grep", "--files-with-matches", "-E", "-e", "^module "};
  arguments.insert(arguments.end(), commits.begin(), commits.end());
  arguments.insert(arguments.end(), {"--", path});
  MODLOCK_TRY(const auto matches, run_local_git(root, arguments, context));
  std::vector<CommittedVersion> versions;
  for (const std::string& commit : commits) {
    const bool matches_none = matches && matches->find(commit + ":") == std::string::npos;
    versions.push_back({commit, !matches_none});
  }
  return versions;
}

}  // namespace

Result<std::string> committed_lock_id(const std::filesystem::path& root, std::string_view lock_path,
                                      const Context& context) {
  return find_object(root, fmt::format("HEAD:./{}", lock_path), context);
}

bool is_committed_lock(const std::filesystem::path& root, std::string_view lock_path, std::string_view text,
                       const Context& context) {
  RunningHash hash(Hash::sha1);
  hash.update(fmt::format("blob {}", text.size()) + '\0' + std::string(text));
  const auto committed = committed_lock_id(root, lock_path, context);
  return committed && *committed == hex(hash.finish());
}

Result<std::optional<ModuleLocks>> module_locks_at(const std::filesystem::path& root, std::string_view commit,
                                                   std::string_view lock_path, const Context& context) {
  // cat-file, not show: show would run a text conversion that the repository configures.
  MODLOCK_TRY(auto text, run_local_git(root, {"cat-file", "blob", fmt::format("{}:./{}", commit, lock_path)}, context));
  if (!text) {
    return std::nullopt;
  }
  Result<LockFile> lock = parse_lock(*text, std::string(lock_path));
  if (!lock || lock->modules.empty()) {
    return std::nullopt;
  }
  return std::move(lock->modules);
}

Result<void> save_lock_backup(const std::filesystem::path& data_dir, const ModuleLocks& modules,
                              const std::filesystem::path& root, const Context& context,
                              const std::function<Result<PinnedDirectory>()>& open) {
  const std::filesystem::path path = copy_path(data_dir);
  const Result<std::string> there = read_file(path);
  std::string blocks;
  for (const auto& [key, module] : modules) {
    blocks += "\n" + write_module_block(module);
  }
  const std::size_t old = there ? std::min(there->find("\n\n"), there->size() - 1) + 1 : 0;
  if (there ? there->starts_with(kCopyHeader) && there->substr(old) == blocks : modules.empty()) {
    return {};
  }
  const auto sidecar = read_file(root / kSidecarFileName);
  const std::string_view name = file_with_blocks(sidecar ? std::optional(*sidecar) : std::nullopt);
  MODLOCK_TRY(const auto id, committed_lock_id(root, name, context));
  if (!open) {
    MODLOCK_TRY(make_directories(data_dir));
  }
  MODLOCK_TRY(const auto ours, open ? open() : PinnedDirectory::open_or_make(data_dir, path.parent_path().filename()));
  const std::string line = id.empty() ? "" : fmt::format("{}{}\n", kCommittedId, id);
  return write_file_atomically(ours.path() / path.filename(), fmt::format("{}{}{}", kCopyHeader, line, blocks))
      .map_error([&](Error error) { return ours.with_real_path(std::move(error)); });
}

Result<std::optional<LockBackup>> load_lock_backup(const std::filesystem::path& data_dir) {
  const std::filesystem::path path = copy_path(data_dir);
  const Result<std::string> text = read_file(path);
  if (!text) {
    return text.error().code == Code::not_found ? Result<std::optional<LockBackup>>(std::nullopt) : fail(text.error());
  }
  Result<LockFile> lock = parse_lock(*text, path.generic_string());
  if (!lock) {
    return std::nullopt;
  }
  LockBackup copy{.modules = std::move(lock->modules)};
  if (const std::size_t line = text->find(kCommittedId); line == kCopyHeader.size()) {
    const std::size_t id = line + kCommittedId.size();
    copy.committed_id = text->substr(id, text->find('\n', id) - id);
  }
  return copy;
}

Result<std::optional<ModuleLocks>> committed_module_locks(const std::filesystem::path& root, std::string_view lock_path,
                                                          const Context& context) {
  MODLOCK_TRY(auto versions, list_versions(root, lock_path, context));
  const auto has_blocks = [](const CommittedVersion& version) { return version.may_have_blocks; };
  const auto dropped = std::ranges::find_if_not(versions, has_blocks);
  const bool were_dropped = std::any_of(dropped, versions.end(), has_blocks);
  std::optional<ModuleLocks> found;
  for (const CommittedVersion& version : versions) {
    if (!version.may_have_blocks) {
      continue;
    }
    auto modules = module_locks_at(root, version.commit, lock_path, context);
    if (!modules || (*modules && !were_dropped)) {
      return modules;
    }
    if (*modules && !found) {
      found = std::move(*modules);
    } else if (*modules) {
      found->merge(**modules);
    }
  }
  if (found) {
    return found;
  }
  // An earlier commit may have removed them, or one of the other side of a merge may have added them.
  MODLOCK_TRY(const auto change, run_local_git(root, find_block_change(lock_path), context));
  for (const std::string& commit : lines_of(change.value_or(""))) {
    for (const char* const parent : {"", "^"}) {
      MODLOCK_TRY(auto modules, module_locks_at(root, commit + parent, lock_path, context));
      if (modules) {
        return modules;
      }
    }
  }
  return std::nullopt;
}

Result<std::optional<RepositoryFault>> find_history_gap(const std::filesystem::path& repository,
                                                        const std::filesystem::path& root, std::string_view lock_path,
                                                        const Context& context) {
  MODLOCK_TRY(auto fault, find_repository_fault(repository, root, {"rev-parse", "--git-dir"}, context));
  if (fault) {
    return fault;
  }
  MODLOCK_TRY(const auto head, find_object(root, "HEAD", context));
  if (head.empty()) {
    return std::nullopt;  // no commits
  }
  MODLOCK_TRY(fault, find_repository_fault(repository, root, find_block_change(lock_path), context));
  if (fault) {
    fault->hint = "run: git fsck; if this is a partial clone, clone again without --filter";
    return fault;
  }
  MODLOCK_TRY(const auto shallow, run_local_git(root, {"rev-parse", "--is-shallow-repository"}, context));
  if (shallow.value_or("") != "true\n") {
    return std::nullopt;
  }
  MODLOCK_TRY(const auto log, run_local_git(root, log_arguments(lock_path, {"-n", "1"}), context));
  return log.value_or("").empty()
             ? std::nullopt
             : std::optional(RepositoryFault{"the repository is a shallow clone", "run: git fetch --unshallow"});
}

}  // namespace modlock
