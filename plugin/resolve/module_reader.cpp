#include "plugin/resolve/module_reader.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "backends/parallel.h"

namespace modlock {

namespace fs = std::filesystem;

Result<std::shared_ptr<const ParsedModule>> ModuleReader::read(const fs::path& directory) {
  const fs::path place = document_path(directory);
  if (const auto known = known_.find(place); known != known_.end()) {
    return known->second;
  }
  auto module = read_module(place, documents_, tool_, context_);
  if (module) {
    known_.emplace(place, *module);
  }
  return module;
}

void ModuleReader::read_ahead(const std::set<fs::path>& directories) {
  std::vector<fs::path> wanted;
  for (const fs::path& directory : directories) {
    fs::path place = document_path(directory);
    if (known_.count(place) == 0) {
      wanted.push_back(std::move(place));
    }
  }
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
