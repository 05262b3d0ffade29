#include "plugin/client/credential_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/environment.h"
#include "backends/base/process.h"
#include "backends/credentials/client_configuration.h"
#include "backends/git/git_configuration.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

struct CredentialTarget {
  std::string host;
  std::string repository;
};

Result<CredentialTarget> parse_where(std::string_view where) {
  const std::size_t slash = std::min(where.find('/'), where.size());
  CredentialTarget asked{.host = std::string(where.substr(0, slash)),
                         .repository = std::string(where.substr(std::min(slash + 1, where.size())))};
  const bool is_url = where.find("://") != std::string_view::npos || where.find('@') != std::string_view::npos;
  if (is_url || asked.host.empty() || where.find_first_of(" \t\r\n?#") != std::string_view::npos) {
    return fail(Code::invalid_params, "--credentials takes a host, and for OCI also a repository",
                "write it as example.com, example.com:8443 or ghcr.io/team/module");
  }
  asked.host = ascii::lower(asked.host);
  return asked;
}

// Returns the location in ~/.netrc, which git reads by the name of the host, without its port and before its helpers.
// Unlike for archives, NETRC does not matter.
Result<std::vector<CredentialLocation>> netrc_places(const std::string& host, ProcessEnvironment environment,
                                                     const Context& context) {
  std::erase_if(environment.environment, [](const auto& variable) { return variable.first == "NETRC"; });
  const auto credentials = make_credentials({}, std::move(environment));
  const std::string name = host.ends_with(']') ? host : host.substr(0, host.rfind(':'));
  MODLOCK_TRY(auto places, credentials->places({CredentialUse::download, name}, context));
  for (CredentialLocation& place : places) {
    place.outcome = place.outcome == "used" ? "read by git" : place.outcome;
  }
  return places;
}

// Returns whether a setting is for this host or for all: "credential.https://example.com/a.helper" has a URL, whose
// host may have wildcards. A host without a port also stands for its other ports.
bool concerns_host(const std::string& key, const std::string& host) {
  const std::size_t scheme = key.find("://");
  if (scheme == std::string::npos) {
    return true;
  }
  const std::string rest = key.substr(scheme + 3);
  const std::string named = ascii::lower(rest.substr(0, std::min(rest.find('/'), rest.rfind('.'))));
  return named == host || named.starts_with(host + ":") || named.find('*') != std::string::npos;
}

// Returns git's own settings that give a request credentials, by location; their values may be secrets.
Result<std::vector<CredentialLocation>> configured_places(const std::string& host, const Context& context) {
  const git::RemoteAddress remote{.url = fmt::format("https://{}/", host),
                                  .full_url = {},
                                  .display = host,
                                  .scheme = "https",
                                  .host = host,
                                  .username = {},
                                  .password = {},
                                  .clone_directory = context.clone_directory};
  const auto users = git::GitConfiguration::of(remote, git::lookup_environment, context);
  const auto finished =
      run_command(git::configuration_command(remote,
                                             {"config", "--show-origin", "--name-only", "-z", "--get-regexp",
                                              R"(^(credential(\..*)?\.helper|http(\..*)?\.extraheader)$)"},
                                             git::lookup_environment, users.value_or(git::GitConfiguration())),
                  context);
  if (!finished && finished.error().code == Code::tool_missing) {
    return std::vector{CredentialLocation{"git's own configuration", "git is not on PATH"}};
  }
  if (!finished) {
    return fail(finished.error());
  }
  std::vector<CredentialLocation> places;
  std::set<std::string> seen;
  std::string_view rest = finished->output;
  while (!rest.empty()) {
    const std::string_view origin = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(origin.size() + 1, rest.size()));
    const std::string_view name = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    const std::string key = without_user(name);
    const std::string place = fmt::format("{} in {}", key, origin);
    if (concerns_host(key, host) && seen.insert(place).second) {
      places.push_back({place, "asked by git"});
    }
  }
  if (places.empty()) {
    places.push_back({"credential.helper of git's configuration", "not set"});
  }
  if (git::askpass_program(git::lookup_environment, users.value_or(git::GitConfiguration()))) {
    places.push_back(
        {"GIT_ASKPASS, core.askPass or SSH_ASKPASS", "queried by git for addresses of your configuration"});
  }
  return places;
}

}  // namespace

Result<CredentialReport> explain_credentials(std::string_view where, const std::set<std::string>& wanted,
                                             const ClientConfiguration& configuration,
                                             const ProcessEnvironment& environment, const Context& context,
                                             bool is_users) {
  MODLOCK_TRY(const auto asked, parse_where(where));
  CredentialReport report{.host = asked.host, .repository = asked.repository, .warnings = {}, .uses = {}};
  for (const Diagnostic& warning : configuration.warnings) {
    report.warnings.push_back(warning.what.message);
  }
  const auto credentials = make_credentials(configuration, environment);
  const std::pair<const char*, CredentialUse> uses[] = {{"registry", CredentialUse::registry},
                                                        {"oci", CredentialUse::oci},
                                                        {"download", CredentialUse::download},
                                                        {"s3", CredentialUse::s3},
                                                        {"gcs", CredentialUse::gcs}};
  const auto is_wanted = [&](const char* use) { return wanted.empty() || wanted.contains(use); };
  for (const auto& [name, use] : uses) {
    if (!is_wanted(name)) {
      continue;
    }
    const std::string repository = use == CredentialUse::oci ? asked.repository : std::string();
    MODLOCK_TRY(auto places, credentials->places({use, asked.host, repository, is_users}, context));
    const auto used =
        std::ranges::find_if(places, [](const CredentialLocation& place) { return place.outcome == "used"; });
    report.uses.push_back({name, used == places.end() ? std::nullopt : std::optional(used->place), std::move(places)});
  }
  if (!is_wanted("git")) {
    return report;
  }
  MODLOCK_TRY(auto git, netrc_places(asked.host, environment, context));
  MODLOCK_TRY(const auto configured, configured_places(asked.host, context));
  git.insert(git.end(), configured.begin(), configured.end());
  report.uses.push_back({"git", std::nullopt, std::move(git)});
  return report;
}

}  // namespace modlock
