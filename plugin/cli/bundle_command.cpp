#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "backends/base/shell_word.h"
#include "plugin/cli/over_roots.h"
#include "plugin/engine/bundle.h"
#include "protocol/base/json.h"
#include "protocol/messages/bundle.h"

namespace modlock::cli {
namespace {

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

// Returns the options that the flags of a command name. Errors: those of find_root_params().
Result<BundleOptions> bundle_options(const CommandLine& line, const Host& host) {
  MODLOCK_TRY(auto roots, find_root_params(line.common, host));
  return BundleOptions{
      .roots = std::move(roots), .output = {}, .with_providers = line.with_providers, .platforms = line.platforms};
}

// The hints of errors name the root module: the only one, or the one of root_note().
std::unique_ptr<NamedRoot> name_root(const std::vector<messages::RootParams>& roots, const Error& error = {}) {
  const auto concerns = [&](const messages::RootParams& params) {
    return roots.size() == 1 ||
           std::find(error.notes.begin(), error.notes.end(), root_note(params)) != error.notes.end();
  };
  const auto root = std::find_if(roots.begin(), roots.end(), concerns);
  return root == roots.end() ? nullptr : std::make_unique<NamedRoot>(root->root, false);
}

std::string sum_of(const messages::Bundle& bundle) {
  std::map<std::string, std::uint64_t> sizes;  // of packages, by manifest
  std::set<std::string> providers;
  std::map<std::string, std::uint64_t> archives;  // sizes by zh
  for (const messages::BundledClosure& closure : bundle.closures) {
    for (const messages::BundledPackage& package : closure.packages) {
      sizes[package.manifest] = package.bytes;
    }
    for (const messages::BundledProvider& provider : closure.providers) {
      providers.insert(provider.address + " " + provider.version);
      for (const messages::BundledArchive& archive : provider.archives) {
        archives[archive.zh] = archive.bytes;
      }
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& all : {sizes, archives}) {
    for (const auto& [name, size] : all) {
      bytes += size;
    }
  }
  std::string content = sizes.empty() && !providers.empty() ? "" : counted(sizes.size(), "package");
  content += content.empty() || providers.empty() ? "" : " and ";
  content += providers.empty() ? "" : counted(providers.size(), "provider");
  return fmt::format("{} for {}, {:.1f} MiB", content, counted(bundle.closures.size(), "lock file"),
                     static_cast<double>(bytes) / 1048576.0);
}

void print_content(const messages::Bundle& bundle) {
  for (const messages::BundledClosure& closure : bundle.closures) {
    print_out(closure.tag + "\n");
    std::vector<std::vector<Cell>> rows;
    for (const messages::BundledPackage& package : closure.packages) {
      rows.push_back({{"  " + package.manifest}, {package.source}});
    }
    for (const messages::BundledProvider& provider : closure.providers) {
      for (const messages::BundledArchive& archive : provider.archives) {
        rows.push_back({{"  " + archive.zh}, {provider.address + " " + provider.version + " " + archive.platform}});
      }
    }
    print_table_out(rows, Fit::cut_middle);
  }
}

// A client that reads a package from an OCI registry sees files instead of links.
void warn_links(const messages::Bundle& bundle) {
  for (const messages::BundledClosure& closure : bundle.closures) {
    for (const messages::BundledPackage& package : closure.packages) {
      if (package.has_links) {
        print_err(
            fmt::format("Warning: {} has links; a client that uses the package as an oci:// source gets files "
                        "instead\n",
                        package.source));
      }
    }
  }
}

// Returns the absolute path that --output names. Errors: INVALID_PARAMS (a compressed archive).
Result<std::filesystem::path> output_of(const CommandLine& line) {
  const std::filesystem::path output = std::filesystem::absolute(line.output).lexically_normal();
  if (const std::string name = output.string(); name.ends_with(".tar.gz") || name.ends_with(".tgz")) {
    return fail(Code::invalid_params, "a bundle is not compressed, because its packages are",
                "name a file that ends with .tar, or a directory");
  }
  return output.has_filename() ? output : output.parent_path();
}

// Prints what the command has written to --output.
void print_written(const CommandLine& line, const messages::Bundle& bundle, const Run& run) {
  print_diagnostics(run.diagnostics, {});
  warn_links(bundle);
  print_out(fmt::format("{}: {}.\n", line.output, sum_of(bundle)));
  print_out(fmt::format("Next: on the other machine, run tofu-modlock install{} --from {}.\n", roots_of(line.common),
                        shell_word(line.output)));
}

template <typename Print>
int show(const CommandLine& line, const Result<messages::Bundle>& report, const Print& print,
         const std::vector<messages::RootParams>& roots = {}) {
  if (!report) {
    const auto named = name_root(roots, report.error());
    return failed_everywhere(report.error(), line.common);
  }
  const auto named = name_root(roots);
  line.common.json ? print_raw(write_json_pretty(messages::encode(*report))) : print(*report);
  return 0;
}

}  // namespace

int run_bundle_create(const CommandLine& line, const Host& host) {
  auto options = bundle_options(line, host);
  auto output = options ? output_of(line) : fail(options.error());
  if (!output) {
    return failed_everywhere(output.error(), line.common);
  }
  options->output = std::move(*output);
  Run run = host.run();
  const auto report = host.engine().create_bundle(*options, run);
  host.request_done();
  return show(
      line, report, [&](const messages::Bundle& created) { print_written(line, created, run); }, options->roots);
}

int run_bundle_pull(const CommandLine& line, const Host& host) {
  auto roots = find_root_params(line.common, host);
  auto output = roots ? output_of(line) : fail(roots.error());
  if (!output) {
    return failed_everywhere(output.error(), line.common);
  }
  Run run = host.run();
  const auto report =
      host.engine().pull_bundle({.roots = *roots, .address = line.address, .output = std::move(*output)}, run);
  host.request_done();
  return show(
      line, report, [&](const messages::Bundle& pulled) { print_written(line, pulled, run); }, *roots);
}

int run_bundle_unpack(const CommandLine& line, const Host& host) {
  const auto absolute = [](const std::string& path) { return std::filesystem::absolute(path).lexically_normal(); };
  Run run = host.run();
  const auto report = host.engine().unpack_bundle({.bundle = absolute(line.bundle),
                                                   .provider_mirror = absolute(line.provider_mirror),
                                                   .cli_configuration = absolute(line.cli_config)},
                                                  run);
  host.request_done();
  return show(line, report, [&](const messages::Bundle& bundle) {
    print_out(fmt::format("{}: {}.\n", line.provider_mirror, sum_of(bundle)));
    print_out(fmt::format("Next: run tofu-modlock install --from {}, then TF_CLI_CONFIG_FILE={} tofu init.\n",
                          shell_word(line.bundle), shell_word(line.cli_config)));
  });
}

int run_bundle_push(const CommandLine& line, const Host& host) {
  PushOptions options{.address = line.address, .check = line.check};
  if (!line.bundle.empty()) {
    options.bundle = std::filesystem::absolute(line.bundle);
  } else {
    auto created = bundle_options(line, host);
    if (!created) {
      return failed_everywhere(created.error(), line.common);
    }
    options.created = std::move(*created);
  }
  Run run = host.run();
  const auto report = host.engine().push_bundle(options, run);
  host.request_done();
  const std::vector<messages::RootParams>& roots = options.created.roots;
  const auto named = report ? name_root(roots) : name_root(roots, report.error());
  if (!report) {
    return failed_everywhere(report.error(), line.common);
  }
  if (line.common.json) {
    print_raw(write_json_pretty(messages::encode(*report)));
    return 0;
  }
  print_diagnostics(run.diagnostics, {});
  print_out(fmt::format("{}: {} uploaded, {} already there.\n", line.address, counted(report->sent, "package"),
                        report->present));
  print_out(fmt::format("Next: on another machine, run tofu-modlock install{} --from {}{}.\n", roots_of(line.common),
                        line.address, line.common.plain_http ? " --plain-http" : ""));
  if (report->providers > 0) {
    print_out(
        fmt::format("For providers, write this into the CLI configuration of OpenTofu:\n"
                    "provider_installation {{\n  oci_mirror {{\n    repository_template = "
                    "\"{}/${{hostname}}/${{namespace}}/${{type}}\"\n  }}\n}}\n",
                    std::string_view(line.address).substr(std::string_view("oci://").size())));
  }
  return 0;
}

int run_bundle_read(const CommandLine& line, const Host& host) {
  const bool verify = line.verb == CommandLine::Verb::bundle_verify;
  Run run = host.run();
  const std::string name =
      line.bundle.starts_with("oci://") ? line.bundle : std::filesystem::absolute(line.bundle).string();
  const auto report = host.engine().read_bundle(name, verify, run);
  host.request_done();
  return show(line, report, [&](const messages::Bundle& bundle) {
    if (!verify) {
      print_content(bundle);
    }
    print_out(fmt::format("{}{}.\n", verify ? "All digests and hashes match: " : "", sum_of(bundle)));
  });
}

}  // namespace modlock::cli
