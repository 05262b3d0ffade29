#include "backends/credentials/oci_credential_finder.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/credentials/folded_member.h"
#include "protocol/base/json.h"

namespace modlock {
namespace {

tl::unexpected<Error> wrong(std::string_view name, std::string_view what) {
  return fail(Code::config_parse, fmt::format("{}: {}", name, what), "repair the file, or log in again to recreate it");
}

Result<void> read_auths(const Json::Value& auths, std::string_view name, DockerFile& file) {
  for (const std::string& key : auths.getMemberNames()) {
    const Json::Value& entry = auths[key];
    if (!entry.isObject() && !entry.isNull()) {
      return wrong(name, fmt::format("auths \"{}\" is not an object", key));
    }
    const Json::Value& auth = folded_member(entry, "auth");
    if (auth.isNull()) {
      continue;
    }
    auto decoded = auth.isString() ? decode_base64(auth.asString()) : std::nullopt;
    if (!decoded) {
      return wrong(name, fmt::format("the auth of auths \"{}\" is not base64", key));
    }
    if (!decoded->empty()) {
      file.auths.push_back({key, SecretText(std::move(*decoded))});
    }
  }
  return {};
}

// The files of docker and podman in order, or the configured ones instead.
std::vector<fs::path> paths_of_files(const ClientConfiguration& configuration, const ProcessEnvironment& environment) {
  if (const auto& defaults = configuration.oci_defaults; defaults && defaults->files) {
    return {defaults->files->begin(), defaults->files->end()};
  }
  const std::string_view runtime = environment.variable("XDG_RUNTIME_DIR");
  const std::string_view config = environment.variable("XDG_CONFIG_HOME");
  const fs::path home = environment.home.empty() ? fs::path("/") : environment.home;
  std::vector<fs::path> paths;
  if (!runtime.empty()) {
    paths.push_back(environment.absolute(fs::path(runtime) / "containers/auth.json"));
  }
  paths.push_back(
      environment.absolute((config.empty() ? home / ".config" : fs::path(config)) / "containers/auth.json"));
  paths.push_back(home / ".docker/config.json");
  paths.push_back(home / ".dockercfg");
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

}  // namespace

Result<DockerFile> parse_docker_file(std::string_view text, std::string_view name) {
  const auto json = parse_json(text);
  if (!json) {
    return wrong(name, "it is not JSON: " + json.error().message);
  }
  if (!json->isObject()) {
    return wrong(name, "it is not a JSON object");
  }
  DockerFile file;
  const Json::Value& auths = folded_member(*json, "auths");
  const Json::Value& helpers = folded_member(*json, "credHelpers");
  const Json::Value& store = folded_member(*json, "credsStore");
  if (!(auths.isObject() || auths.isNull()) || !(helpers.isObject() || helpers.isNull()) ||
      !(store.isString() || store.isNull())) {
    return wrong(name, "auths and credHelpers must be objects, credsStore a string");
  }
  MODLOCK_TRY(read_auths(auths, name, file));
  for (const std::string& host : helpers.getMemberNames()) {
    if (!helpers[host].isString() && !helpers[host].isNull()) {
      return wrong(name, fmt::format("credHelpers \"{}\" is not a string", host));
    }
    file.helpers[host] = helpers[host].asString();
  }
  file.store = store.asString();
  return file;
}

std::size_t specificity(std::string_view key, std::string_view host, std::string_view repository) {
  const std::size_t slash = key.find('/');
  if (host.empty() || key.substr(0, slash) != host) {
    return 0;
  }
  if (slash == std::string_view::npos) {
    return kDomainSpecificity;
  }
  const std::string_view path = key.substr(slash + 1);
  const bool is_prefix = !path.empty() && repository.starts_with(path) &&
                         (repository.size() == path.size() || repository[path.size()] == '/');
  if (!is_prefix) {
    return 0;
  }
  return kDomainSpecificity + 1 + static_cast<std::size_t>(std::ranges::count(path, '/'));
}

bool is_helper_name(std::string_view name) {
  return !name.empty() && name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

namespace fs = std::filesystem;

OciCredentialFinder::OciCredentialFinder(const ClientConfiguration& configuration,
                                         const ProcessEnvironment& environment)
    : configuration_(configuration), environment_(environment) {}

// A location and its match for the repository: nothing (specificity 0), a secret, a program to run, or a matching entry
// without either.
struct OciCredentialFinder::Candidate {
  std::string place;
  std::size_t specificity = 0;
  std::string outcome = {};  // if the specificity is 0
  decltype(FoundCredential::secret) secret = {};
  std::string helper = {};

  bool is_malformed() const { return specificity != 0 && secret.index() == 0 && helper.empty(); }
};

OciCredentialFinder::File OciCredentialFinder::read_file_at(const fs::path& path) const {
  const std::string name = environment_.display(path);
  std::error_code error;  // a path below a non-directory counts as broken, unlike a missing file
  static_cast<void>(fs::status(path, error));
  const auto text = read_file(path);
  if (text) {
    return {name, parse_docker_file(*text, name)};
  }
  const bool is_missing = text.error().code == Code::not_found && error != std::errc::not_a_directory;
  return {name, is_missing ? fail(Code::not_found, "not found") : fail(Code::io_error, "it cannot be read")};
}

OciCredentialFinder::Files OciCredentialFinder::read_files() const {
  Files result;
  const auto& defaults = configuration_.oci_defaults;
  if (defaults && !defaults->discover_ambient) {
    result.off = "turned off by discover_ambient_credentials in " + defaults->from;
    return result;
  }
  const bool is_configured = defaults && defaults->files;
  for (const fs::path& path : paths_of_files(configuration_, environment_)) {
    const File& file = result.files.emplace_back(read_file_at(path));
    if (is_configured && !file.content && !result.failure) {
      result.failure = Error{
          .code = Code::config_parse,
          .message = fmt::format("the credentials file {}, named by docker_style_config_files in {}, is not usable: {}",
                                 file.name, defaults->from, file.content.error().message),
          .hint = "repair the file, or remove it from docker_style_config_files"};
    }
  }
  if (is_configured && result.files.empty()) {
    result.off = "turned off by docker_style_config_files in " + defaults->from;
  }
  return result;
}

void OciCredentialFinder::add_blocks(std::string_view host, std::string_view repository,
                                     std::vector<Candidate>& all) const {
  for (const ClientConfiguration::OciCredentials& block : configuration_.oci) {
    Candidate candidate{.place = fmt::format("oci_credentials \"{}\" in {}", block.label(), block.from),
                        .specificity = specificity(block.label(), host, repository),
                        .outcome = "for other repositories"};
    if (!block.user.empty()) {
      candidate.secret = BasicCredential{block.user, block.password};
    } else if (!block.access_token.empty()) {
      candidate.secret = TokenCredential{block.access_token, block.refresh_token};
    }
    candidate.helper = block.helper;
    all.push_back(std::move(candidate));
  }
  if (configuration_.oci.empty()) {
    all.push_back({.place = "oci_credentials blocks of the CLI configuration", .outcome = "none"});
  }
  if (const auto& defaults = configuration_.oci_defaults; defaults && !defaults->helper.empty()) {
    all.push_back({.place = fmt::format("docker_credentials_helper \"{}\" in {}", defaults->helper, defaults->from),
                   .specificity = kGlobalSpecificity,
                   .helper = defaults->helper});
  }
}

void OciCredentialFinder::add_file(const File& file, std::string_view host, std::string_view repository,
                                   std::vector<Candidate>& all) {
  const std::size_t before = all.size();
  for (const DockerFile::Auth& auth : file.content->auths) {
    const std::size_t match = specificity(auth.where, host, repository);
    if (match == 0) {
      continue;
    }
    Candidate candidate{.place = fmt::format("auths \"{}\" in {}", auth.where, file.name), .specificity = match};
    const std::string& text = auth.decoded.reveal();
    if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
      candidate.secret = BasicCredential{SecretText(text.substr(0, colon)), SecretText(text.substr(colon + 1))};
    }
    all.push_back(std::move(candidate));
  }
  const auto helper = file.content->helpers.find(std::string(host));
  if (helper != file.content->helpers.end() && !helper->second.empty()) {
    all.push_back({.place = fmt::format("credHelpers \"{}\" in {}", host, file.name),
                   .specificity = kDomainSpecificity,
                   .helper = helper->second});
  }
  if (!file.content->store.empty()) {
    all.push_back({.place = fmt::format("credsStore \"{}\" in {}", file.content->store, file.name),
                   .specificity = kGlobalSpecificity,
                   .helper = file.content->store});
  }
  if (all.size() == before) {
    all.push_back({.place = "file " + file.name, .outcome = fmt::format("no entry for {}", host)});
  }
}

std::vector<OciCredentialFinder::Candidate> OciCredentialFinder::candidates(const Files& read, std::string_view host,
                                                                            std::string_view repository) const {
  std::vector<Candidate> all;
  add_blocks(host, repository, all);
  if (!read.off.empty()) {
    all.push_back({.place = "docker and podman files", .outcome = read.off});
  }
  const auto broken = std::ranges::find_if(
      read.files, [](const File& file) { return !file.content && file.content.error().code != Code::not_found; });
  for (const File& file : read.files) {
    if (!file.content) {
      all.push_back({.place = "file " + file.name, .outcome = file.content.error().message});
    } else if (broken != read.files.end()) {
      all.push_back(
          {.place = "file " + file.name, .outcome = fmt::format("not used, because {} is broken", broken->name)});
    } else {
      add_file(file, host, repository, all);
    }
  }
  std::ranges::stable_sort(all, [](const Candidate& a, const Candidate& b) { return a.specificity > b.specificity; });
  return all;
}

CredentialLookup OciCredentialFinder::look(std::string_view host, std::string_view repository, const Context& context) {
  CredentialLookup lookup;
  const Files files = read_files();
  lookup.failure = files.failure;
  const std::vector<Candidate> all = candidates(files, host, repository);
  const auto chosen = std::ranges::find_if(
      all, [](const Candidate& candidate) { return candidate.specificity != 0 && !candidate.is_malformed(); });
  const auto malformed = std::ranges::find_if(all, [](const Candidate& candidate) { return candidate.is_malformed(); });
  if (chosen != all.end() && malformed != all.end() && !lookup.failure) {
    lookup.failure = Error{.code = Code::config_parse,
                           .message = fmt::format("{} contains no user and password", malformed->place),
                           .hint = "write them again, or remove the entry"};
  }
  for (const Candidate& candidate : all) {
    if (candidate.specificity == 0) {
      lookup.add(candidate.place, candidate.outcome);
    } else if (candidate.is_malformed()) {
      lookup.add(candidate.place, "contains no user and password");
    } else if (&candidate != &*chosen) {
      lookup.add(candidate.place, "hidden by " + chosen->place);
    } else {
      take(candidate, host, lookup, context);
    }
  }
  return lookup;
}

void OciCredentialFinder::take(const Candidate& chosen, std::string_view host, CredentialLookup& lookup,
                               const Context& context) {
  if (lookup.failure) {
    lookup.add(chosen.place, "not used: " + lookup.failure->message);
    return;
  }
  FoundCredential found{.secret = chosen.secret, .from = chosen.place};
  if (!chosen.helper.empty()) {
    const std::string& name = chosen.helper;
    auto answer = helper_answers_.get(fmt::format("{} {}", name, host), context, [&]() -> Result<FoundCredential> {
      if (!is_helper_name(name)) {
        return fail(Code::config_parse, fmt::format("{} is not a program name", chosen.place),
                    "write only the part after docker-credential-");
      }
      return ask_docker_helper(name, host, context);
    });
    if (!answer) {
      lookup.add(chosen.place, "failed: " + answer.error().message);
      lookup.failure = std::move(answer.error());
      return;
    }
    found.secret = std::move(answer->secret);
  }
  if (found.found()) {
    lookup.add(chosen.place, "used");
    lookup.found = std::move(found);
  } else {
    lookup.add(chosen.place, fmt::format("used, but it has none for {}", host));
  }
}

}  // namespace modlock
