#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/base/context.h"
#include "plugin/hcl/ast.h"

namespace modlock::terragrunt {

// Returns whether both files can be read and have the same bytes.
bool have_same_bytes(const std::filesystem::path& left, const std::filesystem::path& right);

// The files of the user's own repository. Terragrunt and hooks copy some of them over a downloaded package, and write
// others that `generate` blocks describe. The repository is read when it is first needed. Directories whose names begin
// with a dot are left out, because Terragrunt keeps downloads and generated units there; the unit is always read.
class RepositoryFiles {
 public:
  // If `context` is cancelled, or a directory has more than a million entries, what was not read
  // is not the user's own; the log says so.
  RepositoryFiles(std::filesystem::path repository, std::filesystem::path unit, Context context)
      : repository_(std::move(repository)), unit_(std::move(unit)), context_(std::move(context)) {}

  // Returns whether the repository has a file of this name with the same bytes. False for symbolic links.
  bool have_copy_of(const std::filesystem::path& file) const;

  // Returns whether a `generate` or `remote_state` block of the unit writes a file of this name, and the file has the
  // first line that Terragrunt writes. A block may disable that line. If a file that the unit includes cannot be read,
  // the blocks of all files of the repository count.
  bool generate(const std::filesystem::path& file) const;

 private:
  using Index = std::multimap<std::string, std::filesystem::path>;  // by name
  using Generated = std::map<std::string, bool>;                    // by name: whether the first line is required

  const Index& index() const;
  Generated find_generated() const;
  static void add_generated(const hcl::Body& body, Generated& generated);

  std::filesystem::path repository_;
  std::filesystem::path unit_;
  const Context context_;
  mutable std::optional<Index> index_;
  mutable std::optional<Generated> generated_;
};

}  // namespace modlock::terragrunt
