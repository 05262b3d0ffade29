#include <fmt/format.h>

#include "plugin/cli/over_roots.h"
#include "protocol/json.h"

namespace modlock::cli {
namespace {

// One result that belongs to no root.
int show(const CommandLine& line, const Result<Json::Value>& result,
         const std::function<void(const Json::Value&)>& print) {
  if (!result) {
    const RootOutcome outcome = failed(result.error(), line.common);
    if (line.common.json) {
      print_raw(write_json_pretty(outcome.json));
    }
    return outcome.exit_code;
  }
  if (line.common.json) {
    print_raw(write_json_pretty(*result));
  } else {
    print(*result);
  }
  return 0;
}

std::string describe_sizes(const Json::Value& sizes) {
  return fmt::format("  {} packages, {:.1f} MiB\n  {} git repositories, {:.1f} MiB\n", sizes["packages"].asUInt64(),
                     sizes["packageBytes"].asDouble() / 1048576.0, sizes["repositories"].asUInt64(),
                     sizes["repositoryBytes"].asDouble() / 1048576.0);
}

}  // namespace

int run_versions(const CommandLine& line, const Host& host) {
  Json::Value params(Json::objectValue);
  params["source"] = line.source;
  params["includePrerelease"] = line.include_prerelease;
  params["tagPrefix"] = line.tag_prefix;
  if (!line.constraint.empty()) {
    params["constraint"] = line.constraint;
  }
  Told told;
  const auto listed = host.call("versions/list", params, &told);
  return show(line, listed, [&told](const Json::Value& result) {
    print_diagnostics(told.diagnostics, {});
    for (const Json::Value& version : result["versions"]) {
      const bool selected = version["version"] == result["selected"];
      print_out(selected ? "* " : "  ");
      print_out(version["version"].asString());
      for (const char* more : {"tag", "commit", "digest"}) {
        if (version.isMember(more) && version[more] != version["version"]) {
          print_out("  " + version[more].asString());
        }
      }
      print_out("\n");
    }
    print_out(fmt::format("{} versions, {} tags skipped.\n", result["versions"].size(), result["skipped"].size()));
  });
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
