#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/base/digest.h"
#include "backends/base/text.h"
#include "plugin/cli/over_roots.h"
#include "plugin/engine/engine.h"
#include "protocol/base/json.h"

namespace modlock::cli {
namespace {

// Returns the arguments that name the root modules of the command.
std::string roots_of(const CommonFlags& flags) {
  std::string text = flags.recursive ? " --recursive" : "";
  for (const std::string& directory : flags.directories) {
    text += " " + shell_word(directory);
  }
  return text;
}

// Returns the params of the root modules of a command. Errors: those of find_roots() and find_missing_files().
Result<std::vector<messages::RootParams>> find_root_params(const CommonFlags& flags, const Host& host) {
  CommonFlags search = flags;
  search.only_locks = true;  // units of Terragrunt have no configuration
  MODLOCK_TRY(const auto roots, find_roots(search, host));
  print_left_out(roots, search);
  std::vector<messages::RootParams> params;
  for (const std::string& root : roots.paths) {
    if (auto missing = find_missing_files(root)) {
      return fail(std::move(*missing));
    }
    params.push_back(host.root_params(root, flags));
  }
  return params;
}

// Returns the options that the flags of a command name. Errors: those of find_root_params().
Result<BundleOptions> bundle_options(const CommandLine& line, const Host& host) {
  MODLOCK_TRY(auto roots, find_root_params(line.common, host));
  BundleOptions options = line.push.created;
  options.roots = std::move(roots);
  return options;
}

// Returns the root module that an output is about: the only one, or the one of root_note(). Empty: none.
std::string root_of(const std::vector<messages::RootParams>& roots, const Error& error = {}) {
  const auto concerns = [&](const messages::RootParams& params) {
    return roots.size() == 1 || contains(error.notes, root_note(params));
  };
  const auto* const root = find_where(roots, concerns);
  return root == nullptr ? "" : root->root;
}

// Returns the content of a lock file in a bundle. `manifest` is the digest, for `oci://HOST/REPOSITORY?digest=`.
Json::Value closure_json(const remote::NamedClosure& named) {
  Json::Value json;
  json["tag"] = named.tag;
  Json::Value& packages = json["packages"] = Json::arrayValue;
  for (const remote::BundledPackage& package : named.closure.packages) {
    Json::Value& one = packages.append({});
    one["source"] = package.source;
    one["origin"] = package.origin;
    one["h1"] = package.h1;
    one["manifest"] = package.manifest.digest;
    one["bytes"] = Json::UInt64(package.layer.size);
    one["hasLinks"] = !package.links.empty();
  }
  Json::Value& providers = json["providers"] = Json::arrayValue;
  for (const remote::BundledProvider& provider : named.closure.providers) {
    Json::Value& one = providers.append({});
    one["address"] = provider.address;
    one["version"] = provider.version;
    Json::Value& archives = one["archives"] = Json::arrayValue;
    for (const auto& [platform, archive] : provider.archives) {
      Json::Value& entry = archives.append({});
      entry["platform"] = platform;
      entry["h1"] = archive.h1;
      entry["zh"] = zh_of(archive);
      entry["bytes"] = Json::UInt64(archive.layer.size);
    }
  }
  return json;
}

// Collects the closures of a bundle, and what is printed of them.
class Content {
 public:
  enum class Shows { sum, packages };

  Content(const CommandLine& line, Shows shows) : flags_(line.common), shows_(shows) {}

  remote::ClosureSink sink() {
    return [this](const remote::NamedClosure& closure) { add(closure); };
  }

  void print() const {
    flags_.print.raw(text_ + (!flags_.json ? "" : closures_ == 0 ? "{\n  \"closures\": []\n}\n" : "\n  ]\n}\n"));
  }

  // A client that reads a package from an OCI registry sees files instead of links.
  void warn_links() const {
    for (const std::string& source : with_links_) {
      flags_.print.err(fmt::format(
          "Warning: {} has links; a client that uses the package as an oci:// source gets files instead\n", source));
    }
  }

  std::string sum() const {
    std::string content = sizes_.empty() && !providers_.empty() ? "" : counted(sizes_.size(), "package");
    content += content.empty() || providers_.empty() ? "" : " and ";
    content += providers_.empty() ? "" : counted(providers_.size(), "provider");
    std::uint64_t bytes = 0;
    for (const auto& all : {sizes_, archives_}) {
      for (const auto& [name, size] : all) {
        bytes += size;
      }
    }
    return fmt::format("{} for {}, {}", content, counted(closures_, "lock file"), size_text(bytes));
  }

 private:
  void add(const remote::NamedClosure& named) {
    std::vector<std::vector<Cell>> rows;
    for (const remote::BundledPackage& package : named.closure.packages) {
      sizes_[package.manifest.digest] = package.layer.size;
      if (!package.links.empty()) {
        with_links_.insert(package.source);
      }
      rows.push_back({{"  " + package.manifest.digest}, {package.source}});
    }
    for (const remote::BundledProvider& provider : named.closure.providers) {
      providers_.insert(provider.address + " " + provider.version);
      for (const auto& [platform, archive] : provider.archives) {
        archives_[zh_of(archive)] = archive.layer.size;
        rows.push_back({{"  " + zh_of(archive)}, {provider.address + " " + provider.version + " " + platform}});
      }
    }
    if (flags_.json) {
      text_ += closures_ == 0 ? "{\n  \"closures\": [" : ",";
      std::istringstream lines(write_json_pretty(closure_json(named)));
      for (std::string line; std::getline(lines, line);) {
        text_ += "\n    " + line;
      }
    } else if (shows_ == Shows::packages) {
      text_ += table_text({{{named.tag}}}, Fit::wrap, {}) + table_text(rows, Fit::cut_middle, style_);
    }
    ++closures_;
  }

  const CommonFlags& flags_;
  const Shows shows_;
  const TableStyle style_ = table_style();
  std::string text_;
  std::size_t closures_ = 0;
  std::map<std::string, std::uint64_t> sizes_;  // of packages, by manifest
  std::set<std::string> providers_;
  std::map<std::string, std::uint64_t> archives_;  // sizes by zh
  std::set<std::string> with_links_;               // sources
};

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
void print_written(const CommandLine& line, const Content& content) {
  content.warn_links();
  line.common.print.out(fmt::format("{}: {}.\n", line.output, content.sum()));
  line.common.print.out(fmt::format("Next: on the other machine, run tofu-modlock install{} --from {}.\n",
                                    roots_of(line.common), shell_word(line.output)));
}

// Does the work of a command, and prints the content as the flags specify. `print` prints the text after the list.
template <typename Work, typename Print>
Result<int> show(const CommandLine& line, const Host& host, Content& content, const Work& work, const Print& print,
                 const std::vector<messages::RootParams>& roots = {}) {
  Run run = host.run();
  Result<void> done = work(run);
  host.progress().request_done();
  if (!done) {
    return failed_everywhere(done.error(), line.common, root_of(roots, done.error()));
  }
  content.print();
  if (!line.common.json) {
    print_diagnostics(run.diagnostics, root_of(roots), line.common.print);
    print();
  }
  return 0;
}

}  // namespace

Result<int> run_bundle_create(const CommandLine& line, const Host& host) {
  MODLOCK_TRY(BundleOptions options, bundle_options(line, host));
  MODLOCK_TRY(options.output, output_of(line));
  Content content(line, Content::Shows::sum);
  return show(
      line, host, content, [&](Run& run) { return host.engine().create_bundle(options, content.sink(), run); },
      [&] { print_written(line, content); }, options.roots);
}

Result<int> run_bundle_pull(const CommandLine& line, const Host& host) {
  PullOptions options{.roots = {}, .address = line.push.address, .output = {}};
  MODLOCK_TRY(options.roots, find_root_params(line.common, host));
  MODLOCK_TRY(options.output, output_of(line));
  Content content(line, Content::Shows::sum);
  return show(
      line, host, content, [&](Run& run) { return host.engine().pull_bundle(options, content.sink(), run); },
      [&] { print_written(line, content); }, options.roots);
}

Result<int> run_bundle_unpack(const CommandLine& line, const Host& host) {
  const auto absolute = [](const std::string& path) { return std::filesystem::absolute(path).lexically_normal(); };
  Content content(line, Content::Shows::sum);
  const UnpackOptions options{.bundle = absolute(line.bundle),
                              .provider_mirror = absolute(line.provider_mirror),
                              .cli_configuration = absolute(line.cli_config)};
  const auto unpack = [&](Run& run) { return host.engine().unpack_bundle(options, content.sink(), run); };
  return show(line, host, content, unpack, [&] {
    line.common.print.out(fmt::format("{}: {}.\n", line.provider_mirror, content.sum()));
    line.common.print.out(
        fmt::format("Next: run tofu-modlock install --from {}, then TF_CLI_CONFIG_FILE={} tofu init.\n",
                    shell_word(line.bundle), shell_word(line.cli_config)));
  });
}

Result<int> run_bundle_push(const CommandLine& line, const Host& host) {
  PushOptions options = line.push;
  if (!line.bundle.empty()) {
    options.bundle = std::filesystem::absolute(line.bundle);
  } else {
    MODLOCK_TRY(options.created, bundle_options(line, host));
  }
  Run run = host.run();
  const auto report = host.engine().push_bundle(options, run);
  host.progress().request_done();
  const std::vector<messages::RootParams>& roots = options.created.roots;
  if (!report) {
    return failed_everywhere(report.error(), line.common, root_of(roots, report.error()));
  }
  if (line.common.json) {
    Json::Value json;
    json["sent"] = Json::UInt64(report->sent);
    json["present"] = Json::UInt64(report->present);
    json["providers"] = Json::UInt64(report->providers);
    line.common.print.raw(write_json_pretty(json));
    return 0;
  }
  print_diagnostics(run.diagnostics, root_of(roots), line.common.print);
  line.common.print.out(fmt::format("{}: {} uploaded, {} already there.\n", line.push.address,
                                    counted(report->sent, "package"), report->present));
  line.common.print.out(fmt::format("Next: on another machine, run tofu-modlock install{} --from {}{}.\n",
                                    roots_of(line.common), line.push.address,
                                    line.common.engine.plain_http ? " --plain-http" : ""));
  if (report->providers > 0) {
    line.common.print.out(
        fmt::format("For providers, write this into the CLI configuration of OpenTofu:\n"
                    "provider_installation {{\n  oci_mirror {{\n    repository_template = "
                    "\"{}/${{hostname}}/${{namespace}}/${{type}}\"\n  }}\n}}\n",
                    std::string_view(line.push.address).substr(std::string_view("oci://").size())));
  }
  return 0;
}

Result<int> run_bundle_read(const CommandLine& line, const Host& host) {
  const bool verify = line.verify.full;
  const std::string name =
      line.bundle.starts_with("oci://") ? line.bundle : std::filesystem::absolute(line.bundle).string();
  Content content(line, verify ? Content::Shows::sum : Content::Shows::packages);
  const auto read = [&](Run& run) { return host.engine().read_bundle(name, verify, content.sink(), run); };
  return show(line, host, content, read, [&] {
    line.common.print.out(fmt::format("{}{}.\n", verify ? "All digests and hashes match: " : "", content.sum()));
  });
}

}  // namespace modlock::cli
