#include "plugin/resolve/module_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "backends/base/parallel.h"
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
  if (const auto known = known_.find(place); known != known_.end()) {
    return checked(known->second, bounds);
  }
  auto module = read_module(place, documents_, tool_, context_);
  if (module) {
    known_.emplace(place, *module);
  }
  return module ? checked(std::move(*module), bounds) : module;
}

Result<std::shared_ptr<const ParsedModule>> ModuleReader::read_tests(const ParsedModule& root,
                                                                     const std::vector<fs::path>& bounds) const {
  auto tests = read_test_files(root, documents_, tool_);
  return tests ? checked(std::move(*tests), bounds) : tests;
}

void ModuleReader::read_ahead(const std::set<fs::path>& directories) {
  std::set<fs::path> unread;
  for (const fs::path& directory : directories) {
    if (fs::path place = document_path(directory); !known_.contains(place)) {
      unread.insert(std::move(place));
    }
  }
  const std::vector<fs::path> places(unread.begin(), unread.end());
  std::vector<std::shared_ptr<const ParsedModule>> found(places.size());
  // A large module is read in parallel by itself.
  constexpr std::size_t kWorthThreads = 4;
  parallel_for(places.size(), places.size() < kWorthThreads ? 1 : core_count(), [&](std::size_t i) {
    found[i] = read_module(places[i], documents_, tool_, context_).value_or(nullptr);
  });
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (found[i] != nullptr) {
      known_.emplace(places[i], std::move(found[i]));
    }
  }
}

}  // namespace modlock
