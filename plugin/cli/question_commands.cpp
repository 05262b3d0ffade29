#include <fmt/format.h>

#include "plugin/cli/over_roots.h"
#include "protocol/json.h"
#include "protocol/json_text.h"
#include "protocol/write_text.h"

namespace modlock::cli {
namespace {

int show(const CommandLine& line, const Result<Json::Value>& result,
         const std::function<void(const Json::Value&)>& print) {
  if (!result) {
    return failed_everywhere(result.error(), line.common);
  }
  if (line.common.json) {
    print_raw(write_json_pretty(*result));
  } else {
    print(*result);
  }
  return 0;
}

void print_versions(const messages::VersionsListResult& result) {
  print_diagnostics(result.diagnostics, {});
  for (const messages::OfferedVersion& version : result.versions) {
    print_out(version.version == result.selected ? "* " : "  ");
    print_out(version.version);
    for (const std::string& more : {version.tag, version.commit, version.digest}) {
      if (!more.empty() && more != version.version) {
        print_out("  " + more);
      }
    }
    print_out("\n");
  }
  print_out(fmt::format("{} versions, {} tags skipped.\n", result.versions.size(), result.skipped.size()));
}

std::string describe_sizes(const Json::Value& sizes) {
  constexpr double kMebibyte = 1048576.0;
  return fmt::format("  {} packages, {:.1f} MiB\n  {} git repositories, {:.1f} MiB\n  {} records, {:.1f} MiB\n",
                     sizes["packages"].asUInt64(), sizes["packageBytes"].asDouble() / kMebibyte,
                     sizes["repositories"].asUInt64(), sizes["repositoryBytes"].asDouble() / kMebibyte,
                     sizes["records"].asUInt64(), sizes["recordBytes"].asDouble() / kMebibyte);
}

}  // namespace

int run_versions(const CommandLine& line, const Host& host) {
  messages::VersionsListParams params{.source = line.source,
                                      .constraint = std::nullopt,
                                      .include_prerelease = line.include_prerelease,
                                      .tag_prefix = line.tag_prefix};
  if (!line.constraint.empty()) {
    params.constraint = line.constraint;
  }
  Run run = host.run();
  const auto listed = host.engine().versions(params, run);
  if (!listed) {
    return failed_everywhere(listed.error(), line.common);
  }
  if (line.common.json) {
    print_raw(indent_json(WriteText::text_of(*listed)));
  } else {
    print_versions(*listed);
  }
  return 0;
}

int run_cache_info(const CommandLine& line, const Host& host) {
  return show(line, host.call("cache/info", Json::Value(Json::objectValue)), [](const Json::Value& result) {
    print_out(result["directory"].asString() + "\n" + describe_sizes(result["sizes"]));
  });
}

int run_cache_prune(const CommandLine& line, const Host& host) {
  Json::Value params(Json::objectValue);
  if (line.max_bytes) {
    params["maxBytes"] = static_cast<Json::UInt64>(*line.max_bytes);
  }
  if (!line.max_age.empty()) {
    params["maxAge"] = line.max_age;
  }
  return show(line, host.call("cache/prune", params), [](const Json::Value& result) {
    print_out(fmt::format("{}\nRemoved:\n{}  {} leftovers\nLeft:\n{}", result["directory"].asString(),
                          describe_sizes(result["removed"]), result["removed"]["leftovers"].asUInt64(),
                          describe_sizes(result["sizes"])));
  });
}

}  // namespace modlock::cli
