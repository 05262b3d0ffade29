#include "plugin/resolve/module_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "plugin/config/roots.h"

namespace modlock {

namespace fs = std::filesystem;

namespace {

// What is wrong in a file is shown with its line, so a link must not lead to a file that is nobody's configuration.
Result<std::shared_ptr<const ParsedModule>> checked(std::shared_ptr<const ParsedModule> module,
                                                    const std::vector<fs::path>& bounds) {
  for (const ConfigText& file : module->files) {
    if (!file.is_link) {
      continue;
    }
    auto inside = confine(module->directory / file.path, bounds);
    if (!inside && inside.error().code == Code::path_outside_root) {
      return fail(Error{.code = Code::path_outside_root,
                        .message = fmt::format("the file \"{}\" is a link that leads outside of the directories that "
                                               "may be read",
                                               file.path),
                        .hint = "replace the link with the file, or allow its directory with --workspace-root or "
                                "workspaceRoots"});
    }
    if (!inside) {
      return fail(std::move(inside.error()));
    }
  }
  return module;
}

}  // namespace

Result<std::shared_ptr<const ParsedModule>> ModuleReader::read(const fs::path& directory,
                                                               const std::vector<fs::path>& bounds) {
  const fs::path place = document_path(directory);
  if (auto known = read_before(place)) {
    return checked(std::move(known), bounds);
  }
  auto module = read_module(place, documents_, tool_, context_);
  if (module) {
    known_.emplace(place, *module);
  }
  return module ? checked(std::move(*module), bounds) : module;
}

// Null where it was not read yet, or could not be.
std::shared_ptr<const ParsedModule> ModuleReader::read_before(const fs::path& place) {
  if (const auto known = known_.find(place); known != known_.end()) {
    return known->second;
  }
  const auto coming = coming_.find(place);
  if (coming == coming_.end()) {
    return nullptr;
  }
  const auto [batch, item] = coming->second;
  coming_.erase(coming);
  batch->work->finish(item);
  if (batch->found[item] != nullptr) {
    known_.emplace(place, batch->found[item]);
  }
  return std::move(batch->found[item]);
}

Result<std::shared_ptr<const ParsedModule>> ModuleReader::read_tests(const ParsedModule& root,
                                                                     const std::vector<fs::path>& bounds) const {
  auto tests = read_test_files(root, documents_, tool_);
  return tests ? checked(std::move(*tests), bounds) : tests;
}

void ModuleReader::read_ahead(const std::set<fs::path>& directories) {
  Batch& batch = batches_.emplace_back();
  for (const fs::path& directory : directories) {
    fs::path place = document_path(directory);
    if (known_.count(place) == 0 &&
        coming_.try_emplace(place, PendingModule{&batch, batch.directories.size()}).second) {
      batch.directories.push_back(std::move(place));
    }
  }
  batch.found.resize(batch.directories.size());
  // A large module is read in parallel by itself.
  constexpr std::size_t kWorthThreads = 4;
  const std::size_t width = batch.found.size() < kWorthThreads ? 1 : core_count();
  batch.work = std::make_unique<WorkAhead>(batch.found.size(), width, [this, &batch](std::size_t i) {
    batch.found[i] = read_module(batch.directories[i], documents_, tool_, context_).value_or(nullptr);
  });
}

}  // namespace modlock
