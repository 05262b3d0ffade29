#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "backends/context.h"
#include "plugin/config/parsed_module.h"

namespace modlock {

// Reads the modules of a tree, each directory once: calls of one directory share what was read.
class ModuleReader {
 public:
  ModuleReader(const Documents& documents, Tool tool, const Context& context)
      : documents_(documents), tool_(tool), context_(context) {}

  // Errors: those of read_module().
  Result<std::shared_ptr<const ParsedModule>> read(const std::filesystem::path& directory);
  // Reads several side by side. What cannot be read is left to read().
  void read_ahead(const std::set<std::filesystem::path>& directories);

 private:
  const Documents& documents_;
  Tool tool_;
  const Context& context_;
  std::map<std::filesystem::path, std::shared_ptr<const ParsedModule>> known_;
};

}  // namespace modlock
