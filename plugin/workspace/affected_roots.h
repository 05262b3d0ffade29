#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/base/context.h"
#include "plugin/workspace/revision.h"
#include "plugin/workspace/update_data.h"
#include "protocol/base/result.h"
#include "protocol/messages/config_inspect.h"
#include "protocol/messages/update_plan.h"

namespace modlock {

// A root module whose lock file has to be updated, or the error why that is impossible or unknown.
struct AffectedRoot {
  std::string root;
  std::vector<messages::Update> updates = {};  // for `update/plan`
  std::vector<std::string> targets = {};       // of an upgrade, if there are no updates; none: only what is missing
  std::optional<Error> error = {};
};

struct AffectedRoots {
  std::vector<AffectedRoot> roots = {};
  std::vector<Error> skipped = {};  // of roots that cannot be read, but do not read what changed
};

// Runs `config/inspect` for a root, with texts in place of files. An error among the diagnostics is an error.
using InspectRoot = std::function<Result<messages::ConfigInspectResult>(
    const std::string& root, const std::vector<messages::Document>& documents)>;

// Finds the roots, among the absolute ones given, that the updates of a bot concern. Their `package_file` is relative
// to `repository`.
AffectedRoots find_affected(const std::vector<std::string>& roots, const std::vector<DataEntry>& entries,
                            const std::filesystem::path& repository, const InspectRoot& inspect,
                            const Context& context);
// Finds those whose configuration or lock file changed since a revision.
AffectedRoots find_affected(const std::vector<std::string>& roots, const RevisionDiff& diff, const InspectRoot& inspect,
                            const Context& context);

}  // namespace modlock
