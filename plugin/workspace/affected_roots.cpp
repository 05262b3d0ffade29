#include "plugin/workspace/affected_roots.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugin/config/roots.h"
#include "plugin/workspace/local_modules.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Adds a root that cannot be read, for a change of one of these files: an error unless it is known to read none of
// them.
void add_unreadable(const std::string& root, Error error, const std::vector<fs::path>& files, const Context& context,
                    AffectedRoots& affected) {
  const auto reads = reads_any(root, files, context);
  if (reads && !*reads) {
    error.notes.push_back(fmt::format("the root module {} does not read what changed and is skipped", root));
    affected.skipped.push_back(std::move(error));
    return;
  }
  error.notes.push_back(reads ? fmt::format("the root module {} reads what changed", root)
                              : fmt::format("cannot determine whether the root module {} reads what changed", root));
  affected.roots.push_back({.root = root, .error = std::move(error)});
}

// Returns an error for a file of the root whose text at the revision is not available.
std::optional<Error> find_unknown(const InspectedRoot& inspected, const RevisionDiff& diff) {
  for (const fs::path& unknown : diff.unknown) {
    for (const messages::InspectedFile& file : inspected.inspected.files) {
      const fs::path path = (inspected.directory / file.path).lexically_normal();
      if (path == unknown || lies_plainly_below(path, unknown)) {
        return Error{.code = Code::io_error,
                     .message = fmt::format("cannot read {} at revision {}", unknown.string(), diff.revision),
                     .hint = "a submodule or a symbolic link to a directory cannot be compared: run " +
                             tofu_modlock("upgrade", "--target") + " for what changed"};
      }
    }
  }
  return std::nullopt;
}

// Returns what changed in a root since the revision.
Result<ConfigurationChange> changed_since(const std::string& root, const RevisionDiff& diff,
                                          const InspectRoot& inspect) {
  MODLOCK_TRY(auto inspected, inspect(root, {}));
  const InspectedRoot now{root, std::move(inspected)};
  if (auto unknown = find_unknown(now, diff)) {
    return fail(std::move(*unknown));
  }
  auto before = inspect(root, diff.documents);
  if (!before) {
    return fail(with_note(std::move(before.error()),
                          fmt::format("this is the state of the root module {} at revision {}", root, diff.revision)));
  }
  return compare_configurations(root, diff, *before, now.inspected);
}

}  // namespace

AffectedRoots find_affected(const std::vector<std::string>& roots, const std::vector<DataEntry>& entries,
                            const fs::path& repository, const InspectRoot& inspect, const Context& context) {
  std::vector<fs::path> files;
  bool affects_all = false;
  for (const DataEntry& entry : entries) {
    affects_all = affects_all || entry.package_file.empty();
    files.push_back((repository / entry.package_file).lexically_normal());
  }
  AffectedRoots affected;
  for (const std::string& root : roots) {
    auto inspected = inspect(root, {});
    if (!inspected && affects_all) {
      affected.roots.push_back({.root = root, .error = std::move(inspected.error())});
      continue;
    }
    if (!inspected) {
      add_unreadable(root, std::move(inspected.error()), files, context, affected);
      continue;
    }
    const InspectedRoot now{root, std::move(*inspected)};
    if (affects_all || std::ranges::any_of(files, [&](const fs::path& file) { return now.reads(file); })) {
      affected.roots.push_back({.root = root, .updates = updates_for(now, entries, repository)});
    }
  }
  return affected;
}

AffectedRoots find_affected(const std::vector<std::string>& roots, const RevisionDiff& diff, const InspectRoot& inspect,
                            const Context& context) {
  AffectedRoots affected;
  for (const std::string& root : diff.files.empty() ? std::vector<std::string>() : roots) {
    auto change = changed_since(root, diff, inspect);
    if (!change) {
      add_unreadable(root, std::move(change.error()), diff.files, context, affected);
    } else if (change->is_changed) {
      affected.roots.push_back({.root = root, .targets = std::move(change->targets)});
    }
  }
  return affected;
}

}  // namespace modlock
