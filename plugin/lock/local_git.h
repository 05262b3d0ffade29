#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/process.h"
#include "protocol/base/result.h"

namespace modlock {

// Returns the output of a git command in the repository that contains `root`; nullopt if git fails or is not installed.
// It uses neither the network nor any program that the repository configures. Errors: IO_ERROR if git cannot be
// started; REQUEST_CANCELLED, DEADLINE_EXCEEDED.
Result<std::optional<std::string>> run_local_git(const std::filesystem::path& root,
                                                 const std::vector<std::string>& arguments, const Context& context);

// Why git does not read the repository that contains a directory, and what to do about it.
struct RepositoryFault {
  std::string why;   // "the repository belongs to another user, so git does not read it"
  std::string hint;  // "run: git config --global --add safe.directory /work"
};

// Explains the message of a git command that failed in the repository with this top directory. An empty message: git is
// not installed.
RepositoryFault explain_fault(const std::filesystem::path& repository, std::string_view message);

// Runs a git command in a directory of a repository, and returns why it failed; nullopt: it did not. Errors: those of
// run_local_git().
Result<std::optional<RepositoryFault>> find_repository_fault(const std::filesystem::path& repository,
                                                             const std::filesystem::path& directory,
                                                             const std::vector<std::string>& arguments,
                                                             const Context& context);

// Returns the full id of the object that an expression names; empty: it names nothing, or git fails. Errors: those of
// run_local_git().
Result<std::string> find_object(const std::filesystem::path& root, const std::string& expression,
                                const Context& context);

// Returns the entry of git's index at an absolute path, above it (a symbolic link, a submodule) or below it, in any
// work tree around the path; empty: there is none. Errors: PATH_OUTSIDE_ROOT, if an index cannot be read.
Result<std::string> find_tracked_entry(const std::filesystem::path& path, const Context& context);

// Returns a warning LOCK_INCOMPLETE with the rule for each of these files, relative to `directory` or absolute, that
// git ignores and does not track. They need not exist. Empty if git ignores the whole directory: a cache, a generated
// one. Reads only the local repository. Errors: IO_ERROR if git cannot be started; those of the context.
Result<Diagnostics> warn_of_ignored_files(const std::filesystem::path& directory, const std::vector<std::string>& files,
                                          const Context& context);

// The texts of a file on the sides of a merge, and of their common ancestor. A side that does not have the file has the
// empty text.
struct MergeSides {
  std::optional<std::string> base;  // nullopt: unknown
  std::vector<std::string> sides;   // ours, theirs
};

// Returns the sides of a file in a merge that git has not completed: stages 1 to 3 of the index, which any command that
// stopped with a conflict leaves (merge --squash, cherry-pick --no-commit, stash and apply --3way too); or, if the
// conflict is marked as resolved, HEAD and the commit that a merge, rebase, cherry-pick or revert applies. `repository`
// is the top directory of the work tree (find_repository_root()), `path` is relative to `root`. nullopt: there is no
// conflict and no such commit, a merge commit is picked or reverted, or git is not installed. Reads only the local
// repository. Errors: IO_ERROR if git cannot be started or a stage cannot be read; REQUEST_CANCELLED,
// DEADLINE_EXCEEDED.
Result<std::optional<MergeSides>> find_merge_sides(const std::filesystem::path& repository,
                                                   const std::filesystem::path& root, const std::string& path,
                                                   const Context& context);

// Reads revisions of the user's repository with git, and only locally. `top` is the top directory of the work tree
// (find_repository_root()); it and the context outlive the reader. Errors of all methods: TOOL_MISSING (git); IO_ERROR
// with the first line of git's message; those of the context.
class RevisionReader {
 public:
  RevisionReader(const std::filesystem::path& top, const Context& context) : top_(top), context_(context) {}

  // Returns the output of a git command.
  Result<std::string> ask(std::vector<std::string> arguments, std::string input = {}) const;

  // Returns the files that are different in the work tree, as fields of status and path.
  Result<std::string> changed_since(const std::string& commit) const;

  // Returns the id of the commit. Errors: INVALID_PARAMS (no such revision, or a shallow clone does not have it).
  Result<std::string> commit_of(const std::string& revision) const;

  // Returns the texts at a commit, by path relative to the top. Missing files, directories, submodules, long files and
  // files that are not UTF-8 are omitted. `commit` "": the texts in git's index.
  Result<std::map<std::string, std::string>> texts(const std::string& commit,
                                                   const std::vector<std::string>& paths) const;

  // Returns the texts that these files have at a revision; those that it does not have are omitted. Errors: those of
  // commit_of(); IO_ERROR (a partial clone lacks one of the files, or it is not a text).
  Result<std::map<std::string, std::string>> texts_at(const std::string& revision,
                                                      const std::vector<std::string>& paths) const;

 private:
  tl::unexpected<Error> cannot_read(const Finished& finished) const;
  Result<Finished> run(std::vector<std::string> arguments, std::string input = {}) const;
  // Calls `take` with every file of a permitted size, and with its text if the mode returns texts.
  template <typename Take>
  Result<void> read_objects(const char* mode, const std::string& commit, const std::vector<std::string>& paths,
                            const Take& take) const;

  const std::filesystem::path& top_;
  const Context& context_;
};

}  // namespace modlock
