#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_text.h"
#include "backends/base/files.h"
#include "plugin/client/client_configuration.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// The platform as in the names of the clients' plugin directories.
#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "arm64";
#elif defined(__i386__)
constexpr std::string_view kArchitecture = "386";
#else
constexpr std::string_view kArchitecture = "arm";
#endif

fs::path default_file(ClientKind tool, const ProcessEnvironment& environment) {
  const fs::path legacy = environment.home / ".terraformrc";
  if (tool == ClientKind::terraform) {
    return legacy;
  }
  const fs::path own = environment.home / ".tofurc";
  const std::string_view config = environment.variable("XDG_CONFIG_HOME");
  if (path_exists(own)) {
    return own;
  }
  if (path_exists(legacy)) {
    return legacy;
  }
  return config.empty() ? own : environment.absolute(fs::path(config) / "opentofu" / "tofurc");
}

fs::path directory_of_files(ClientKind tool, const ProcessEnvironment& environment) {
  fs::path directory = environment.home / ".terraform.d";
  const std::string_view config = environment.variable("XDG_CONFIG_HOME");
  if (tool == ClientKind::opentofu && !config.empty() && !path_exists(directory)) {
    directory = environment.absolute(fs::path(config) / "opentofu");
  }
  return directory;
}

// The plugin directories among the client's own directories.
std::vector<fs::path> plugin_directories(ClientKind tool, const ProcessEnvironment& environment) {
  std::vector<fs::path> directories;
  if (!environment.home.empty()) {
    directories.push_back(environment.home / ".terraform.d" / "plugins");
  }
  if (const std::string_view data = environment.variable("XDG_DATA_HOME");
      tool == ClientKind::opentofu && !data.empty()) {
    directories.push_back(environment.absolute(fs::path(data) / "opentofu" / "plugins"));
  }
  return directories;
}

}  // namespace

std::vector<ClientConfigurationFile> client_configuration_files(ClientKind tool, const ProcessEnvironment& environment,
                                                                Diagnostics& warnings) {
  std::vector<ClientConfigurationFile> files;
  for (const std::string_view name : {"TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"}) {
    const std::string_view value = environment.variable(name);
    if (value.empty()) {
      continue;
    }
    const fs::path path = environment.absolute(fs::path(value));
    if (path_exists(path)) {
      files.push_back({path, true});
    } else {
      warnings.push_back(
          {Severity::warning,
           Error{.code = Code::config_parse,
                 .message = fmt::format("{} names {}, which does not exist, so no CLI configuration is read", name,
                                        environment.display(path)),
                 .hint = fmt::format("write the file, or unset {}", name)}});
    }
    return files;
  }
  if (environment.home.empty()) {
    return files;
  }
  if (const fs::path main = default_file(tool, environment); path_exists(main)) {
    files.push_back({main, true});
  }
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(directory_of_files(tool, environment), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(".tfrc") || name.ends_with(".tfrc.json")) {
      found.push_back(entry->path());
    }
  }
  std::ranges::sort(found);
  for (fs::path& path : found) {
    files.push_back({std::move(path), false});
  }
  return files;
}

std::vector<std::string> helper_directories(ClientKind tool, const ProcessEnvironment& environment) {
  std::vector<std::string> directories;
  for (const fs::path& directory : plugin_directories(tool, environment)) {
    directories.push_back(directory.string());
    directories.push_back((directory / fmt::format("linux_{}", kArchitecture)).string());
  }
  return directories;
}

std::vector<fs::path> implied_provider_directories(ClientKind tool, const ProcessEnvironment& environment,
                                                   const fs::path& root) {
  std::vector<fs::path> directories = {root / "terraform.d" / "plugins"};
  for (fs::path& directory : plugin_directories(tool, environment)) {
    directories.push_back(std::move(directory));
  }
  // The XDG base directories; a relative one is ignored.
  const std::string_view home = environment.variable("XDG_DATA_HOME");
  std::vector<fs::path> bases;
  if (home.starts_with('/')) {
    bases.emplace_back(home);
  } else if (!environment.home.empty()) {
    bases.push_back(environment.home / ".local" / "share");
  }
  const std::string_view set = environment.variable("XDG_DATA_DIRS");
  for (const std::string_view base : split(set.empty() ? "/usr/local/share:/usr/share" : set, ':')) {
    if (base.starts_with('/')) {
      bases.emplace_back(base);
    }
  }
  for (const fs::path& base : bases) {
    directories.push_back(base / "terraform" / "plugins");
  }
  return directories;
}

}  // namespace modlock
