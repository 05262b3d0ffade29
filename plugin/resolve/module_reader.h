#pragma once

#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "backends/base/context.h"
#include "backends/base/parallel.h"
#include "plugin/config/parsed_module.h"

namespace modlock {

// Reads the modules of a tree, each directory once: calls of one directory share what was read.
class ModuleReader {
 public:
  ModuleReader(const Documents& documents, ClientKind tool, const Context& context)
      : documents_(documents), tool_(tool), context_(context) {}

  // Errors: those of read_module(); PATH_OUTSIDE_ROOT (a file is a link that leads out of `bounds`).
  Result<std::shared_ptr<const ParsedModule>> read(const std::filesystem::path& directory,
                                                   const std::vector<std::filesystem::path>& bounds);
  // The test files of a root module. Errors: those of read_test_files() and of read().
  Result<std::shared_ptr<const ParsedModule>> read_tests(const ParsedModule& root,
                                                         const std::vector<std::filesystem::path>& bounds) const;
  // Begins to read several, side by side, while the caller goes on. What cannot be read is left to read().
  void read_ahead(const std::set<std::filesystem::path>& directories);

 private:
  struct Batch {
    std::vector<std::filesystem::path> directories;
    std::vector<std::shared_ptr<const ParsedModule>> found;  // null: not yet, or it cannot be read
    std::unique_ptr<WorkAhead> work;
  };
  struct PendingModule {
    Batch* batch;
    std::size_t item;
  };

  std::shared_ptr<const ParsedModule> read_before(const std::filesystem::path& place);

  const Documents& documents_;
  ClientKind tool_;
  const Context& context_;
  std::map<std::filesystem::path, std::shared_ptr<const ParsedModule>> known_;
  std::map<std::filesystem::path, PendingModule> coming_;
  std::list<Batch> batches_;
};

}  // namespace modlock
