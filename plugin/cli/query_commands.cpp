#include <fmt/format.h>

#include "backends/base/text.h"
#include "plugin/cli/over_roots.h"
#include "plugin/report/cyclonedx.h"
#include "plugin/report/inspect_formats.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock::cli {
namespace {

template <typename Output, typename Print>
Result<int> show(const CommandLine& line, const Result<Output>& shown, const Print& print) {
  MODLOCK_TRY(const Output& result, shown);
  line.common.json ? line.common.print.raw(write_json_pretty(messages::encode(result)))
                   : print(result, line.common.print);
  return 0;
}

void print_versions(const messages::VersionsListResult& result, const Printer& print) {
  print_diagnostics(result.diagnostics, {}, print);
  for (const messages::OfferedVersion& version : result.versions) {
    print.out(version.version == result.selected ? "* " : "  ");
    print.out(version.version);
    for (const std::string& more : {version.tag, version.commit, version.digest}) {
      if (!more.empty() && more != version.version) {
        print.out("  " + more);
      }
    }
    if (version.published) {
      print.out("  published " + *version.published);
    }
    if (version.deprecated) {
      print.out(version.deprecated->empty() ? "  deprecated" : "  deprecated: " + *version.deprecated);
    }
    print.out("\n");
  }
  print.out(fmt::format("{}, {} skipped.\n", counted(result.versions.size(), "version"),
                        counted(result.skipped.size(), "tag")));
}

std::string describe_sizes(const messages::CacheSizes& sizes) {
  return fmt::format("  {}, {}\n  {}, {}\n  {}, {}\n  unfinished work, {}\n", counted(sizes.packages, "package"),
                     size_text(sizes.package_bytes), counted(sizes.repositories, "git repository", "git repositories"),
                     size_text(sizes.repository_bytes), counted(sizes.records, "record"), size_text(sizes.record_bytes),
                     size_text(sizes.unfinished_bytes));
}

// The content of an SBOM does not depend on the configuration, which may be missing or broken.
void name_unlocked_calls(const Host& host, const std::string& root, const CommonFlags& flags) {
  const auto inspected = host.call(&Engine::inspect, host.root_params(root, flags)).result;
  for (const auto& module : inspected ? inspected->modules : std::vector<messages::InspectedModule>()) {
    if (!module.locked && module.source && has_remote_source(module)) {
      flags.print.err(
          fmt::format("Not in the SBOM, because it is not locked: module.{} ({})\n", module.key, *module.source));
    }
  }
}

}  // namespace

Result<int> run_sbom(const CommandLine& line, const Host& host) {
  CommonFlags flags = line.common;
  flags.json = true;  // there is no other format
  flags.only_locks = true;
  MODLOCK_TRY(const auto roots, find_roots(flags, host));
  return run_for_roots(roots, flags, [&](RootOutput& output) -> RootOutcome {
    const std::string& root = output.root();
    const auto lock = host.call(&Engine::sbom, host.root_params(root, line.common)).result;
    if (!lock) {
      return failed(lock.error(), line.common, output);
    }
    name_unlocked_calls(host, root, line.common);
    return {.exit_code = 0, .json = bill_of_materials(lock->lock, line.name, lock->texts)};
  });
}

Result<int> run_versions(const CommandLine& line, const Host& host) {
  return show(line, host.call(&Engine::versions, line.versions).result, print_versions);
}

Result<int> run_cache_info(const CommandLine& line, const Host& host) {
  return show(line, host.engine().cache_info(), [](const messages::CacheInfoResult& result, const Printer& print) {
    print.out(result.directory + "\n" + describe_sizes(result.sizes));
  });
}

Result<int> run_cache_prune(const CommandLine& line, const Host& host) {
  const auto pruned = host.call(&Engine::prune_cache, line.prune).result;
  return show(line, pruned, [](const messages::CachePruneResult& result, const Printer& print) {
    print.out(fmt::format("{}\nRemoved:\n{}  {}\nLeft:\n{}", result.directory, describe_sizes(result.removed),
                          counted(result.leftovers, "leftover"), describe_sizes(result.sizes)));
  });
}

}  // namespace modlock::cli
