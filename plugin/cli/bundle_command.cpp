#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "backends/base/shell_word.h"
#include "plugin/cli/over_roots.h"
#include "plugin/engine/bundle.h"
#include "protocol/base/json.h"

namespace modlock::cli {
namespace {

Json::Value to_json(const BundleReport& report) {
  Json::Value closures(Json::arrayValue);
  for (const BundleReport::Closure& closure : report.closures) {
    Json::Value listed;
    listed["tag"] = closure.tag;
    listed["packages"] = Json::Value(Json::arrayValue);
    for (const BundleReport::Package& package : closure.packages) {
      Json::Value row;
      row["source"] = package.source;
      row["origin"] = package.origin;
      row["h1"] = package.h1;
      row["manifest"] = package.manifest;
      row["bytes"] = Json::UInt64{package.bytes};
      row["hasLinks"] = package.has_links;
      listed["packages"].append(std::move(row));
    }
    closures.append(std::move(listed));
  }
  Json::Value result;
  result["closures"] = std::move(closures);
  return result;
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Returns the arguments that name the root modules of the command.
std::string roots_of(const CommonFlags& flags) {
  std::string text = flags.recursive ? " --recursive" : "";
  for (const std::string& directory : flags.directories) {
    text += " " + shell_word(directory);
  }
  return text;
}

// Returns the params of the root modules of a command. Errors: those of find_roots() and find_missing_configuration().
Result<std::vector<messages::RootParams>> find_root_params(const CommonFlags& flags, const Host& host) {
  const auto roots = find_roots(flags, host);
  if (!roots) {
    return fail(roots.error());
  }
  std::vector<messages::RootParams> params;
  for (const std::string& root : *roots) {
    if (auto missing = find_missing_configuration(root)) {
      return fail(std::move(*missing));
    }
    params.push_back(host.root_params(root, flags));
  }
  return params;
}

// The hints of errors name the root module if it is the only one. For several, a note does.
std::unique_ptr<NamedRoot> name_only_root(const std::vector<messages::RootParams>& roots) {
  return roots.size() == 1 ? std::make_unique<NamedRoot>(roots.front().root, false) : nullptr;
}

std::string sum_of(const BundleReport& report) {
  std::map<std::string, std::uint64_t> sizes;  // by manifest
  for (const BundleReport::Closure& closure : report.closures) {
    for (const BundleReport::Package& package : closure.packages) {
      sizes[package.manifest] = package.bytes;
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& [manifest, size] : sizes) {
    bytes += size;
  }
  return fmt::format("{} for {}, {:.1f} MiB", counted(sizes.size(), "package"),
                     counted(report.closures.size(), "lock file"), static_cast<double>(bytes) / 1048576.0);
}

void print_packages(const BundleReport& report) {
  for (const BundleReport::Closure& closure : report.closures) {
    print_out(closure.tag + "\n");
    std::vector<std::vector<Cell>> rows;
    for (const BundleReport::Package& package : closure.packages) {
      rows.push_back({{"  " + package.manifest}, {package.source}});
    }
    print_table_out(rows, Fit::cut_middle);
  }
}

// A client that reads a package from an OCI registry sees files instead of links.
void warn_links(const BundleReport& report) {
  for (const BundleReport::Closure& closure : report.closures) {
    for (const BundleReport::Package& package : closure.packages) {
      if (package.has_links) {
        print_err(
            fmt::format("Warning: {} has links; a client that uses the package as an oci:// source gets files "
                        "instead\n",
                        package.source));
      }
    }
  }
}

template <typename Print>
int show(const CommandLine& line, const Result<BundleReport>& report, const Print& print) {
  if (!report) {
    return failed_everywhere(report.error(), line.common);
  }
  line.common.json ? print_raw(write_json_pretty(to_json(*report))) : print(*report);
  return 0;
}

}  // namespace

int run_bundle_create(const CommandLine& line, const Host& host) {
  auto roots = find_root_params(line.common, host);
  if (!roots) {
    return failed_everywhere(roots.error(), line.common);
  }
  const auto named = name_only_root(*roots);
  BundleOptions options{.roots = std::move(*roots),
                        .output = std::filesystem::absolute(line.output).lexically_normal()};
  if (const std::string name = options.output.string(); name.ends_with(".tar.gz") || name.ends_with(".tgz")) {
    return failed_everywhere({.code = Code::invalid_params,
                              .message = "a bundle is not compressed, because its packages are",
                              .hint = "name a file that ends with .tar, or a directory"},
                             line.common);
  }
  if (!options.output.has_filename()) {
    options.output = options.output.parent_path();
  }
  Run run = host.run();
  const auto report = host.engine().create_bundle(options, run);
  host.request_done();
  return show(line, report, [&](const BundleReport& created) {
    print_diagnostics(run.diagnostics, {});
    warn_links(created);
    print_out(fmt::format("{}: {}.\n", line.output, sum_of(created)));
    print_out(fmt::format("Next: on the other machine, run tofu-modlock install{} --from {}.\n", roots_of(line.common),
                          shell_word(line.output)));
  });
}

int run_bundle_push(const CommandLine& line, const Host& host) {
  PushOptions options{.address = line.address};
  std::unique_ptr<NamedRoot> named;
  if (!line.bundle.empty()) {
    options.bundle = std::filesystem::absolute(line.bundle);
  } else {
    auto roots = find_root_params(line.common, host);
    if (!roots) {
      return failed_everywhere(roots.error(), line.common);
    }
    named = name_only_root(*roots);
    options.roots = std::move(*roots);
  }
  Run run = host.run();
  const auto report = host.engine().push_bundle(options, run);
  host.request_done();
  if (!report) {
    return failed_everywhere(report.error(), line.common);
  }
  if (line.common.json) {
    Json::Value result;
    result["sent"] = Json::UInt64{report->sent};
    result["present"] = Json::UInt64{report->present};
    print_raw(write_json_pretty(result));
    return 0;
  }
  print_diagnostics(run.diagnostics, {});
  print_out(fmt::format("{}: {} uploaded, {} already there.\n", line.address, counted(report->sent, "package"),
                        report->present));
  print_out(fmt::format("Next: on another machine, run tofu-modlock install{} --from {}.\n", roots_of(line.common),
                        line.address));
  return 0;
}

int run_bundle_read(const CommandLine& line, const Host& host) {
  const bool verify = line.verb == CommandLine::Verb::bundle_verify;
  Run run = host.run();
  const auto report = host.engine().read_bundle(std::filesystem::absolute(line.bundle), verify, run);
  host.request_done();
  return show(line, report, [&](const BundleReport& bundle) {
    if (!verify) {
      print_packages(bundle);
    }
    print_out(fmt::format("{}{}.\n", verify ? "All digests and hashes match: " : "", sum_of(bundle)));
  });
}

}  // namespace modlock::cli
