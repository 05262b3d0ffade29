#include <fmt/format.h>

#include "plugin/cli/over_roots.h"
#include "plugin/report/cyclonedx.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

// The content of an SBOM does not depend on the configuration, which may be missing or broken.
void name_unlocked_calls(const Host& host, const std::string& root, const CommonFlags& flags) {
  const auto inspected = host.call(&Engine::inspect, host.root_params(root, flags)).result;
  for (const auto& module : inspected ? inspected->modules : std::vector<messages::InspectedModule>()) {
    if (!module.locked && module.source && module.source_kind != "local" && module.source_kind != "directory") {
      print_err(fmt::format("Not in the SBOM, because it is not locked: module.{} ({})\n", module.key, *module.source));
    }
  }
}

}  // namespace

Result<int> run_sbom(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  flags.json = true;  // there is no other format
  flags.only_locks = true;
  MODLOCK_TRY(const auto roots, find_roots(flags, host));
  return run_for_roots(roots, flags, [&](const std::string& root) -> RootOutcome {
    const auto lock = host.engine().sbom(root);
    if (!lock) {
      return failed(lock.error(), line.common, root);
    }
    name_unlocked_calls(host, root, line.common);
    return {.exit_code = 0, .json = bill_of_materials(lock->lock, line.name, lock->texts)};
  });
}

}  // namespace modlock::cli
