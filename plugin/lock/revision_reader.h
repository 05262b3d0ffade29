#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/process.h"
#include "protocol/base/result.h"

namespace modlock {

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
