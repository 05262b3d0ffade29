#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "backends/base/context.h"
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
  // Reads several in parallel. What cannot be read is left to read().
  void read_ahead(const std::set<std::filesystem::path>& directories);

 private:
  const Documents& documents_;
  ClientKind tool_;
  const Context& context_;
  std::map<std::filesystem::path, std::shared_ptr<const ParsedModule>> known_;
};

}  // namespace modlock
