#include "plugin/cli/over_roots.h"
#include "plugin/report/cyclonedx.h"
#include "protocol/base/result.h"

namespace modlock::cli {
int run_sbom(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  flags.json = true;  // there is no other format
  flags.only_locks = true;
  return run_for_roots(flags, host, [&](const std::string& root) -> RootOutcome {
    const auto lock = host.engine().sbom(root);
    if (!lock) {
      return failed(lock.error(), line.common, root);
    }
    return {.exit_code = 0, .json = bill_of_materials(lock->lock, line.name, lock->texts)};
  });
}

}  // namespace modlock::cli
