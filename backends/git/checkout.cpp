#include "backends/git/checkout.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "backends/address/git_reference.h"
#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/descriptor.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/git_command.h"
#include "backends/git/references.h"
#include "backends/git/remote.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

// Writes the entries of one tree into a new directory, with the modes that git gives them. The names must be those of a
// tree without hostile entries (objects.h): no two are alike, and none points outside. Errors: IO_ERROR naming the
// entry.
class WorkTree {
 public:
  // `directory` must exist and be empty.
  explicit WorkTree(std::filesystem::path directory) : directory_(std::move(directory)) {}

  Result<void> write_file(const std::string& path, std::string_view bytes, bool is_executable) {
    MODLOCK_TRY(make_parents(path));
    const mode_t mode = is_executable ? 0777 : 0666;  // less the umask
    const Descriptor file(
        ::open((directory_ / path).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    const int reason = file.valid() ? write_all(file.get(), bytes) : errno;
    return reason == 0 ? Result<void>() : system_failure("write", shown_path(path), reason);
  }

  // Also ARCHIVE_UNSAFE for a target that no symbolic link can have; the caller must write its message.
  Result<void> write_link(const std::string& path, std::string_view target) {
    MODLOCK_TRY(make_parents(path));
    const std::string text(target.substr(0, target.find('\0')));
    const fs::path link = directory_ / path;
    if (::symlink(text.c_str(), link.c_str()) == 0) {
      return {};
    }
    const int reason = errno;
    const bool is_impossible = reason == ENAMETOOLONG || text.empty();
    return is_impossible ? fail(Code::archive_unsafe, "no link can have this target")
                         : system_failure("write", shown_path(path), reason);
  }

  Result<void> make_directory(const std::string& path) { return make_parents(path + '/'); }

 private:
  Result<void> make_parents(const std::string& path) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string_view parent = std::string_view(path).substr(0, slash);
      if (made_.find(parent) != made_.end()) {
        continue;
      }
      const fs::path target = directory_ / parent;
      if (::mkdir(target.c_str(), 0777) != 0) {
        return system_failure("make", shown_path(parent), errno);
      }
      made_.emplace(parent);
    }
    return {};
  }

  std::filesystem::path directory_;
  std::set<std::string, std::less<>> made_;  // directories below it
};

// Lists the first three names, and how many more there are.
std::string enumerate(const std::vector<std::string>& names) {
  return some_of(mapped(names, [](const std::string& name) { return fmt::format("\"{}\"", shown_path(name)); }), 3);
}

Result<void> check_tree(const TreeFacts& facts, const std::string& commit, std::string_view display) {
  if (facts.hostile) {
    return fail(facts.hostile->code,
                fmt::format("commit {} of \"{}\" holds \"{}\", {}", commit, display, shown_path(facts.hostile->path),
                            facts.hostile->why),
                "do not use this commit");
  }
  if (!facts.own_overrides.empty()) {
    return fail(Code::archive_unsafe,
                fmt::format("commit {} of \"{}\" holds {}, a name that is kept for overrides written by tofu-modlock",
                            commit, display, enumerate(facts.own_overrides)),
                "have the file removed from the module");
  }
  return {};
}

Diagnostics warnings_of(const TreeFacts& facts, const std::string& commit, std::string_view display) {
  if (facts.lfs_pointers.empty()) {
    return {};
  }
  return {{Severity::warning,
           Error{.code = Code::lfs_pointer,
                 .message = fmt::format("commit {} of \"{}\" keeps {} in Git LFS: the pointer is installed and locked, "
                                        "not the content",
                                        commit, display, enumerate(facts.lfs_pointers)),
                 .hint = "a module that needs the content cannot be used from git"}}};
}

// The error for an entry that passed our own checks and that git refuses.
Error unwritable_entry(const std::string& commit, std::string_view display) {
  return Error{.code = Code::archive_unsafe,
               .message = fmt::format("commit {} of \"{}\" holds an entry that git does not write", commit, display),
               .hint = "do not use this commit"};
}

// Whether the tree can be written without git, blob by blob. Blobs are held in memory, so their size is limited.
bool is_simple(const TreeFacts& facts) {
  constexpr std::uint64_t kLargestHeld = std::uint64_t{64} << 20U;
  return facts.is_literal &&
         std::ranges::all_of(facts.files, [](const TreeFile& file) { return file.size <= kLargestHeld; });
}

Result<void> write_entries(const ObjectReader& objects, const TreeFacts& facts, WorkTree& work_tree,
                           const Context& context) {
  for (const TreeFile& file : facts.files) {
    MODLOCK_TRY(context.check());
    MODLOCK_TRY(objects.with_blob(file.id, [&](std::string_view content) {
      return file.kind == TreeFile::Kind::link
                 ? work_tree.write_link(file.path, content)
                 : work_tree.write_file(file.path, content, file.kind == TreeFile::Kind::executable);
    }));
  }
  for (const Submodule& submodule : facts.submodules) {
    MODLOCK_TRY(work_tree.make_directory(submodule.path));
  }
  return {};
}

Result<void> write_blobs(const Repository& repository, const TreeFacts& facts, const std::string& commit,
                         const fs::path& directory, std::string_view display, const Context& context) {
  WorkTree work_tree(directory);
  auto written = write_entries(repository.objects(), facts, work_tree, context);
  if (written) {
    return written;
  }
  Error& error = written.error();
  if (error.code == Code::archive_unsafe) {
    return fail(unwritable_entry(commit, display));
  }
  if (error.code == Code::io_error) {
    error.message = fmt::format("git could not check out \"{}\": {}", display, error.message);
  }
  return written;
}

Result<void> write_by_git(const Repository& repository, const std::string& commit, const fs::path& directory,
                          const fs::path& index, std::string_view display, const Context& context) {
  auto done = run_local(local_command(repository.path(), {"read-tree", "--reset", "-u", commit}, directory, index),
                        "check out", display, context);
  std::error_code ignored;
  fs::remove(index, ignored);
  if (done) {
    return {};
  }
  // These are not disk errors.
  for (const std::string_view refusal : {"invalid path '", "File name too long"}) {
    const auto& notes = done.error().notes;
    if (std::ranges::any_of(notes,
                            [refusal](const std::string& note) { return note.find(refusal) != std::string::npos; })) {
      Error error = unwritable_entry(commit, display);
      error.notes = std::move(done.error().notes);
      return fail(std::move(error));
    }
  }
  return fail(std::move(done.error()));
}

constexpr std::uintmax_t kLongestPackedRefs = std::uintmax_t{64} << 20U;
constexpr std::uintmax_t kLongestReference = 4096;

// Returns read_small_file() without trailing space.
std::optional<std::string> read_trimmed(const fs::path& path, std::uintmax_t longest) {
  auto text = read_small_file(path, longest);
  if (text) {
    text->resize(text->find_last_not_of(" \t\r\n") + 1);
  }
  return text;
}

// git writes ids in lower case.
std::optional<std::string> as_commit(std::string_view text) {
  const bool fits = is_full_commit(text) && text.find_first_of("ABCDEF") == std::string_view::npos;
  return fits ? std::optional<std::string>(text) : std::nullopt;
}

// Lines are "<id> <name>". Comments and peeled tags start differently.
std::optional<std::string> packed_commit(const fs::path& repository, std::string_view name) {
  const auto text = read_trimmed(repository / "packed-refs", kLongestPackedRefs);
  for (const std::string& line : lines_of(text ? std::string_view(*text) : std::string_view())) {
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos && line.substr(space + 1) == name) {
      return as_commit(line.substr(0, space));
    }
  }
  return std::nullopt;
}

}  // namespace

std::string shown_path(std::string_view path) {
  constexpr std::size_t kShown = 100;
  return path.size() > kShown ? "…" + quotable(path.substr(path.size() - kShown)) : quotable(path);
}

Result<void> PackageSize::add(const TreeFacts& facts, const std::string& commit, std::string_view display) {
  const auto refuse = [&](const std::string& why) {
    return fail(Code::limit_exceeded, fmt::format("commit {} of \"{}\" {}", commit, display, why),
                "do not use this commit");
  };
  const std::lock_guard lock(mutex_);
  entries_ += facts.entries;
  bytes_ += facts.bytes;
  if (entries_ > limits_.entries) {
    return refuse(fmt::format("takes the package over the {} files and directories allowed", limits_.entries));
  }
  if (bytes_ > limits_.total_bytes) {
    return refuse(fmt::format("takes the package over the {} bytes allowed", limits_.total_bytes));
  }
  if (facts.bytes > limits_.always_fine && facts.bytes / limits_.ratio > facts.distinct_bytes) {
    return refuse(fmt::format("has over {} times as many bytes as its different files", limits_.ratio));
  }
  return {};
}

Result<CheckedOut> check_out(const Repository& repository, const std::string& commit, const fs::path& directory,
                             const fs::path& index, std::string_view display, PackageSize& size,
                             const Context& context) {
  MODLOCK_TRY(auto facts, repository.objects().tree_facts(commit));
  MODLOCK_TRY(check_tree(facts, commit, display));
  MODLOCK_TRY(size.add(facts, commit, display));
  MODLOCK_TRY(make_directories(directory));
  MODLOCK_TRY(is_simple(facts) ? write_blobs(repository, facts, commit, directory, display, context)
                               : write_by_git(repository, commit, directory, index, display, context));
  return CheckedOut{warnings_of(facts, commit, display), std::move(facts.submodules)};
}

std::optional<std::string> checked_out_commit(const fs::path& work_tree) {
  const fs::path repository = work_tree / ".git";
  std::error_code ignored;
  if (!fs::is_directory(fs::symlink_status(repository, ignored))) {
    return std::nullopt;
  }
  const auto head = read_trimmed(repository / "HEAD", kLongestReference);
  constexpr std::string_view kSymbolic = "ref: ";
  if (!head || !head->starts_with(kSymbolic)) {
    return head ? as_commit(*head) : std::nullopt;
  }
  const std::string name = head->substr(kSymbolic.size());
  if (!name.starts_with(kGitBranches) || !is_reference_name(name)) {
    return std::nullopt;
  }
  const auto loose = read_trimmed(repository / name, kLongestReference);
  return loose ? as_commit(*loose) : packed_commit(repository, name);
}

}  // namespace modlock::git
