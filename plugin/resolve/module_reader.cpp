#include "plugin/resolve/module_reader.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "backends/parallel.h"

namespace modlock {

namespace fs = std::filesystem;

Result<std::shared_ptr<const ParsedModule>> ModuleReader::read(const fs::path& directory) {
  if (const auto known = known_.find(directory); known != known_.end()) {
    return known->second;
  }
  auto module = read_module(directory, documents_, tool_, context_);
  if (module) {
    known_.emplace(directory, *module);
  }
  return module;
}

void ModuleReader::read_ahead(std::set<fs::path> directories) {
  std::erase_if(directories, [this](const fs::path& directory) { return known_.count(directory) != 0; });
  const std::vector<fs::path> wanted(directories.begin(), directories.end());
  std::vector<std::shared_ptr<const ParsedModule>> found(wanted.size());
  parallel_for(wanted.size(), std::max(1U, std::thread::hardware_concurrency()), [&](std::size_t i) {
    found[i] = read_module(wanted[i], documents_, tool_, context_).value_or(nullptr);
  });
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (found[i] != nullptr) {
      known_.emplace(wanted[i], std::move(found[i]));
    }
  }
}

}  // namespace modlock
