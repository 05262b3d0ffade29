#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "backends/base/context.h"
#include "plugin/hcl/ast.h"

namespace modlock::terragrunt {

// Returns whether both files can be read and have the same bytes.
bool have_same_bytes(const std::filesystem::path& left, const std::filesystem::path& right);

// The files of the user's own repository. Terragrunt and hooks copy some of them over a downloaded package, and write
// others that `generate` blocks describe. The repository is read when it is first needed. Terragrunt keeps downloads
// and generated units in directories whose names begin with a dot, or that name the version of a download. These are
// left out, and so is `excluded`; the unit is always read.
class RepositoryFiles {
 public:
  // If `context` is cancelled, or a directory has more than a million entries, what was not read
  // is not the user's own; the log says so.
  RepositoryFiles(std::filesystem::path repository, std::filesystem::path unit, std::filesystem::path excluded,
                  Context context)
      : repository_(std::move(repository)),
        unit_(std::move(unit)),
        excluded_(std::move(excluded)),
        context_(std::move(context)) {}

  // Returns whether the repository has a file of this name with the same bytes. False for symbolic links.
  bool have_copy_of(const std::filesystem::path& file) const;

  // Whether a `generate` or `remote_state` block of the unit writes a file, which has the first line that Terragrunt
  // writes, unless the block disables that line. `perhaps`: the block leaves an existing file, or that is not constant;
  // or it is the file of the inputs that are null. If a file that the unit includes cannot be read, the blocks of all
  // files of the repository count.
  enum class Generated { no, perhaps, yes };
  // `name` is the path of the file from the working directory of the client.
  Generated generated(const std::filesystem::path& file, const std::string& name) const;

 private:
  using Index = std::multimap<std::string, std::filesystem::path>;  // by name
  struct Block {
    bool has_first_line = true;
    bool replaces = true;  // an existing file
  };
  using Blocks = std::map<std::string, Block>;  // by path

  const Index& index() const;
  Blocks find_blocks() const;
  static void add_blocks(const hcl::Body& body, Blocks& blocks);

  std::filesystem::path repository_;
  std::filesystem::path unit_;
  std::filesystem::path excluded_;
  const Context context_;
  mutable std::optional<Index> index_;
  mutable std::optional<Blocks> blocks_;
};

}  // namespace modlock::terragrunt
