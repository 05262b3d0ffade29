#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "backends/address/scrub.h"
#include "backends/address/source_text.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "backends/base/text.h"
#include "backends/http/certificate_store.h"
#include "backends/http/curl_http_client.h"
#include "backends/providers/provider_source.h"
#include "plugin/client/client_configuration.h"
#include "plugin/client/credential_report.h"
#include "plugin/config/roots.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/plan_request.h"
#include "plugin/lock/local_git.h"
#include "plugin/settings/setting_table.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// The finding of a check that failed.
Finding failing(std::string check, const Error& error) {
  const bool names_file = !error.location || error.message.find(error.location->path) != std::string::npos;
  return {.check = std::move(check),
          .verdict = Finding::Verdict::error,
          .found = names_file ? error.message : fmt::format("{}: {}", to_string(*error.location), error.message),
          .hint = error.hint,
          .exit_code = modlock::exit_code(error)};
}

// What a root needs of a host.
struct HostUse {
  std::set<std::string> uses;                    // in the words of explain_credentials(): "registry", "oci", …
  std::map<std::string, SourceAddress> sources;  // whose versions `lock` lists, by package
  std::set<ProviderAddress> providers;
  bool is_users = false;  // a call of the user's own configuration needs it
};
using Hosts = std::map<std::string, HostUse>;  // by name; empty: this machine

void add_source(const std::string& text, bool is_users, ClientKind tool, Hosts& hosts) {
  auto address = parse_source(text, default_registry(tool));
  if (!address || (address->source.host.empty() && !address->source.has_tags())) {
    return;
  }
  const Source& source = address->source;
  HostUse& host = hosts[source.host];
  const bool is_service = source.is_registry() || source.has_tags();
  host.uses.insert(std::string(source.traits().credentials));
  host.is_users = host.is_users || is_users;
  if (is_service) {
    const std::string package = source.package_identity();
    host.sources.emplace(package, std::move(*address));
  }
}

// Returns the errors of a configuration, which hide sources; nullopt: there are none.
std::optional<Finding> examine_configuration(const Result<messages::ConfigInspectResult>& inspected) {
  Diagnostics errors =
      inspected ? errors_of(inspected->diagnostics) : Diagnostics{{Severity::error, inspected.error()}};
  if (errors.empty()) {
    return std::nullopt;
  }
  const Error worst = combine(std::move(errors));
  const auto text = [](const std::string& message, const Location& location) {
    return location.path.empty() ? message : fmt::format("{}: {}", to_string(location), message);
  };
  Finding finding{.check = "configuration",
                  .verdict = Finding::Verdict::error,
                  .found = text(worst.message, worst.location.value_or(Location{})),
                  .hint = worst.hint,
                  .exit_code = exit_code(worst)};
  std::ranges::transform(worst.related, std::back_inserter(finding.details),
                         [&](const Related& other) { return text(other.message, other.location); });
  return finding;
}

Hosts hosts_of(const messages::ConfigInspectResult& inspected, ClientKind tool) {
  Hosts hosts;
  std::set<std::string> packages;  // keys of calls whose own calls are of a package; a caller comes before its calls
  for (const messages::InspectedModule& module : inspected.modules) {
    const bool is_users = !packages.contains(module.key.substr(0, module.key.rfind('.')));
    add_source(module.source.value_or(""), is_users, tool, hosts);
    if (!is_users || module.source_kind != "local") {
      packages.insert(module.key);
    }
  }
  for (const messages::InspectedProvider& provider : inspected.providers) {
    const std::string name = provider.address.substr(0, provider.address.find('/'));
    if (name.find('.') != std::string::npos && name != "terraform.io") {
      hosts[name].uses.insert("registry");
      if (const auto address = ProviderAddress::parse(provider.address, default_registry(tool))) {
        hosts[name].providers.insert(*address);
      }
    }
  }
  return hosts;
}

std::string credential_line(const CredentialSearch& search) {
  return search.use == "git" ? "git: its own credential helpers are queried"
         : search.used       ? fmt::format("{}: a credential in {}", search.use, *search.used)
                       : fmt::format("{}: no credential in {}", search.use, counted(search.places.size(), "place"));
}

// Returns the external backend that serves what a host is used for; empty: it is built in.
std::string answered_by(const std::string& use, const std::string& host, const BackendSet& backends) {
  const SourceKind kind = use == "download"   ? SourceKind::archive
                          : use == "registry" ? SourceKind::registry
                                              : kind_of_getter(use);
  const Backend* const backend = backends.find(Source{.kind = kind, .getter = use, .host = host});
  return backend == nullptr ? "" : backend->answered_by();
}

// The requests of `doctor --online`.
class HostQueries {
 public:
  HostQueries(const Network& network, const Settings& settings, fs::path root, Context context)
      : network_(network), settings_(settings), root_(std::move(root)), context_(std::move(context)) {}

  // Lists what `lock` would list at a host, once each, and stops if the host cannot be reached.
  void query(const std::string& name, const HostUse& use, Finding& finding) {
    std::optional<Code> failure;
    if (use.uses.count("registry") != 0 && answered_by("registry", name, network_.backends()).empty()) {
      failure = discover(name, use, finding);
    }
    for (auto source = use.sources.begin(); source != use.sources.end() && !failure; ++source) {
      failure = list(source->first, list_versions(source->second), finding);
    }
    for (auto provider = use.providers.begin(); provider != use.providers.end() && !failure; ++provider) {
      failure = list("provider " + provider->to_string(), list_versions(*provider), finding);
    }
    const bool is_listed = !use.sources.empty() || !use.providers.empty() || use.uses.count("registry") != 0;
    if ((!failure && is_listed) || name.empty()) {
      return;
    }
    if (const std::string verdict = http::certificate_verdict(name, context_); !verdict.empty()) {
      finding.verdict = Finding::Verdict::error;
      finding.exit_code = exit_code(Code::unreachable);
      finding.details.push_back(verdict);
      finding.hint = finding.hint.empty() ? "name a file with its CA certificate in SSL_CERT_FILE" : finding.hint;
    }
  }

 private:
  std::optional<Code> discover(const std::string& name, const HostUse& use, Finding& finding) const {
    const auto services = network_.services_of(name, context_);
    const bool needs_registry = !use.providers.empty() || std::ranges::any_of(use.sources, [](const auto& source) {
      return source.second.source.is_registry();
    });
    std::string listed;
    for (const auto& [service, url] : services.value_or(std::map<std::string, std::string>())) {
      listed += (listed.empty() ? "" : ", ") + service;
    }
    if (services && (!listed.empty() || needs_registry)) {
      finding.details.push_back(fmt::format("serves the registry protocols: {}", listed));
      return std::nullopt;
    }
    if (services || (!needs_registry && !is_of_host(services.error()))) {
      finding.details.push_back("serves no registry protocols; a host of git repositories need not" +
                                (services ? std::string() : " (" + services.error().message + ")"));
      return std::nullopt;
    }
    finding = failing(finding.check, services.error());
    return services.error().code;
  }

  Result<std::size_t> list_versions(const SourceAddress& address) const {
    MODLOCK_TRY(const auto listing, network_.list_versions(settings_, address, "", context_));
    return listing.versions.size();
  }

  Result<std::size_t> list_versions(const ProviderAddress& address) {
    if (providers_ == nullptr) {
      providers_ = network_.provider_source(root_);
    }
    MODLOCK_TRY(const auto listing, providers_->list_versions(address, context_));
    return listing.versions.size();
  }

  static bool is_of_host(const Error& error) {
    return error.code == Code::unreachable || error.code == Code::timeout || error.code == Code::rate_limited ||
           error.code == Code::request_cancelled;
  }

  // Returns the code of a failure that other requests to the host would have too.
  static std::optional<Code> list(const std::string& what, const Result<std::size_t>& count, Finding& finding) {
    if (count) {
      finding.details.push_back(fmt::format("{}: {}", what, counted(*count, "version")));
      return std::nullopt;
    }
    const Error& error = count.error();
    finding.verdict = Finding::Verdict::error;
    finding.exit_code = worse_exit_code(finding.exit_code, exit_code(error));
    finding.details.push_back(error.message);
    if (finding.hint.find(error.hint.text()) == std::string::npos) {
      finding.hint += (finding.hint.empty() ? "" : "; ") + error.hint.text();
    }
    return is_of_host(error) ? std::optional(error.code) : std::nullopt;
  }

  const Network& network_;
  const Settings& settings_;
  const fs::path root_;
  const Context context_;
  std::shared_ptr<ProviderSource> providers_;
};

// Sends one request to the remote store: whether it has the packages of the root, if the root has locked some.
Finding query_remote(const Engine& engine, const Network& network, const oci::Repository& remote,
                     const messages::RootParams& params, Run& run) {
  Finding finding{.check = "remote store " + remote.display};
  Run reading(run.options());
  const auto open = OpenRoot::open(engine, reading, params, {});  // the check of its settings reports a failure
  const ModuleLocks modules = open ? (*open)->lock.modules() : ModuleLocks();
  const auto found = network.oci_registry()->find_manifest(remote, closure_tag(modules), engine.context_for(run));
  if (found) {
    finding.found = !has_module_entries(modules) ? "can be reached"
                    : *found                     ? "has the packages of this lock file"
                                                 : "does not have the packages of this lock file";
    return finding;
  }
  return failing(finding.check, with_plain_http_hint(found.error(), remote));
}

Finding examine_git(const std::string& root, const Context& context) {
  const auto program = find_program("git");
  if (!program) {
    return {.check = "git",
            .verdict = Finding::Verdict::warning,
            .found = "not on PATH",
            .hint = "install git: repositories over ssh, credential helpers and submodules need it"};
  }
  const auto ran = run_command({.argv = {program->string(), "--version"}}, context);
  if (!ran || ran->exit_code != 0) {
    return {.check = "git",
            .verdict = Finding::Verdict::error,
            .found = fmt::format("{} does not run", program->string()),
            .hint = "reinstall git",
            .exit_code = exit_code(Code::tool_missing)};
  }
  std::string version = ran->output.substr(0, ran->output.find('\n'));
  constexpr std::string_view kWords = "git version ";
  version.erase(0, version.starts_with(kWords) ? kWords.size() : 0);
  Finding finding{.check = "git", .found = fmt::format("{} ({})", version, program->string())};
  const auto repository = find_repository_root(root);
  const auto fault = path_exists(repository / ".git")
                         ? find_repository_fault(repository, repository, {"rev-parse", "--git-dir"}, context)
                         : std::nullopt;
  if (fault && *fault) {
    finding.verdict = Finding::Verdict::warning;
    finding.found += fmt::format(": {}", (*fault)->why);
    finding.hint = (*fault)->hint;
    return finding;
  }
  std::vector<std::string> files = {std::string(kLockFileName)};
  for (const std::string_view name : {kSidecarFileName, std::string_view(kSettingsFileName)}) {
    if (path_exists(fs::path(root) / name)) {
      files.emplace_back(name);
    }
  }
  const auto untracked = fault ? warn_of_ignored_files(root, files, context) : fail(fault.error());
  for (const Diagnostic& warning : untracked.value_or(Diagnostics())) {
    finding.verdict = Finding::Verdict::warning;
    finding.details.push_back(warning.what.message);
    finding.hint = warning.what.hint;
  }
  return finding;
}

Finding examine_client(const Engine& engine, const messages::RootParams& root, const Context& context) {
  const ClientProgram client = client_of(root, engine);
  const ClientVersion release = client_version_of(client, root.root, engine.options(), context);
  Finding finding{.check = "client"};
  finding.found = fmt::format("{} {}, specified by {}", display_name(client.tool), release.version, client.from);
  const auto program = find_program(client.command);
  if (!program) {
    finding.verdict = Finding::Verdict::warning;
    finding.found += ", not on PATH";
    finding.hint = "install tofu or terraform, or name the client with --implementation and --implementation-version";
  } else {
    finding.found += fmt::format(" ({})", program->string());
  }
  if (!release.is_known) {
    finding.verdict = Finding::Verdict::warning;
    finding.found += "; its version is not known";
  }
  return finding;
}

Finding examine_certificates() {
  const auto places = http::AuthorityPlaces::from_environment();
  const auto authorities = http::read_authorities(places);
  if (!authorities) {
    return failing("certificates", authorities.error());
  }
  CertificateStore counted;
  const auto text = places.file.empty() ? fail(Code::not_found, "none") : read_file(places.file);
  const std::size_t count = text ? counted.add(*text) : 0;
  Finding finding{.check = "certificates"};
  finding.found = count == 0 ? "no CA certificate file found"
                             : fmt::format("{} CA certificate{} in {}{}", count, count == 1 ? "" : "s",
                                           places.file.string(), places.is_file_required ? " (SSL_CERT_FILE)" : "");
  for (const fs::path& directory : places.directories) {
    if (path_is_directory(directory)) {
      finding.details.push_back(fmt::format("and those in {}", directory.string()));
    }
  }
  if (count == 0 && finding.details.empty()) {
    finding.verdict = Finding::Verdict::warning;
    finding.hint = "install ca-certificates, or name a file with SSL_CERT_FILE";
  }
  return finding;
}

Finding examine_proxies() {
  const auto proxies = http::ProxySettings::from_environment();
  Finding finding{.check = "proxies", .found = "none"};
  for (const auto& [scheme, proxy] : {std::pair{"https", &proxies.https}, std::pair{"http", &proxies.http}}) {
    if (!proxy->empty()) {
      const std::string shown = without_user(*proxy, "***@");
      finding.details.push_back(fmt::format("{} through {}", scheme, shown.substr(0, shown.find_first_of("?#"))));
    }
  }
  if (!finding.details.empty()) {
    finding.found = proxies.none.empty() ? "from the environment" : fmt::format("not for {}", proxies.none);
  }
  return finding;
}

Finding examine_settings(const Engine& engine, const std::string& root) {
  const auto& user_file = engine.options().user_settings;
  const fs::path repository = find_repository_root(root);
  std::vector<std::pair<std::string, Settings>> files;  // with their origins
  for (fs::path directory = root;; directory = directory.parent_path()) {
    auto settings = load_settings(directory, directory, std::nullopt, {});
    if (!settings) {
      return failing("settings", settings.error());
    }
    if (!settings->files.empty()) {
      files.push_back({(directory / kSettingsFileName).string(), std::move(*settings)});
    }
    if (directory == repository || directory == directory.parent_path()) {
      break;
    }
  }
  if (user_file) {
    auto settings = load_user_settings(*user_file);
    if (!settings) {
      return failing("settings", settings.error());
    }
    files.push_back({user_file->string(), std::move(*settings)});
  }
  Finding finding{.check = "settings", .found = "none (using defaults)"};
  const auto add = [&](std::string_view name, const auto& print) {
    for (const auto& [origin, settings] : files) {
      if (const std::string value = print(settings); !value.empty()) {
        finding.details.push_back(fmt::format("{} = {}  ({})", name, value, origin));
        break;
      }
    }
  };
  for (const SettingInfo& setting : setting_table()) {
    if (setting.access.print != nullptr) {
      add(setting.name, [&](const Settings& settings) { return setting.access.print(setting, settings); });
    }
  }
  for (const BlockLabel& block : block_labels()) {
    add(block.block, block.print);
  }
  std::set<std::string> variables = {
      "TOFU_MODLOCK_CACHE_DIR", "TOFU_MODLOCK_CONFIG_FILE", "TOFU_MODLOCK_IMPLEMENTATION_VERSION",
      "TOFU_MODLOCK_JOBS",      "TOFU_MODLOCK_OFFLINE",     "TOFU_MODLOCK_REMOTE_PLAIN_HTTP"};
  for (const SettingInfo& setting : setting_table()) {
    variables.emplace(setting.overridden_by.variable);
  }
  for (const std::string& name : variables) {
    if (const std::string value = environment_variable(name.c_str()); !value.empty()) {
      finding.details.push_back(
          fmt::format("{} = {}  (the environment overrides every file)", name, scrub_urls(value)));
    }
  }
  if (!finding.details.empty()) {
    finding.found = "effective settings and their sources";
  }
  return finding;
}

// A hard link can only be created within a file system. nullopt: there is no file to try it with.
std::optional<bool> is_on_another_file_system(const fs::path& root, const fs::path& probe) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (entry.is_regular_file(error) && !entry.is_symlink(error)) {
      fs::create_hard_link(entry.path(), probe, error);
      const bool made = !error;
      const bool is_elsewhere = error == std::errc::cross_device_link;
      fs::remove(probe, error);
      return made || is_elsewhere ? std::optional(is_elsewhere) : std::nullopt;
    }
  }
  return std::nullopt;
}

Finding examine_store(const Engine& engine, const DiagnoseOptions& options) {
  if (const auto opened = open_cache(engine.options().cache_directory); !opened) {
    return failing("cache", opened.error());
  }
  const fs::path place = engine.store().root();
  const auto unusable = [](const Error& error) {
    Finding failed = failing("cache", error);
    failed.hint = "make it writable for this user, or name another with --cache-dir or TOFU_MODLOCK_CACHE_DIR";
    return failed;
  };
  const auto sizes = measure(engine.store());
  if (!sizes) {
    return unusable(sizes.error());
  }
  Finding finding{.check = "cache"};
  finding.found =
      fmt::format("{} ({}): {}, {}, {}", place.string(), options.cache_origin, counted(sizes->packages, "package"),
                  counted(sizes->repositories, "git repository", "git repositories"),
                  size_text(sizes->package_bytes + sizes->repository_bytes));
  const auto work = engine.store().work_directory();
  const fs::path probe = work.value_or(place) / "doctor";
  const auto ok = work ? write_file_atomically(probe, "", Durable::no) : fail(work.error());
  if (!ok) {
    return unusable(ok.error());
  }
  std::error_code ignored;
  fs::remove(probe, ignored);
  finding.details.emplace_back("writable");
  if (const auto others = engine.store().foreign_writers()) {
    finding.verdict = Finding::Verdict::warning;
    finding.details.push_back(others->message);
    finding.hint = others->hint;
  }
  if (const auto elsewhere = is_on_another_file_system(options.root.root, probe)) {
    finding.details.emplace_back(*elsewhere
                                     ? "on a different file system from the root: packages are copied byte by byte"
                                     : "on the file system of the root");
  }
  return finding;
}

// Reports errors of the configuration. Checks the hosts of its modules and providers, and those of the options: where
// credentials for each come from, and with `online` whether it lists the versions of the modules and providers, one
// request each, with the credentials that `lock` would use. Sources that the settings deny are errors, without a
// request. If a TLS connection fails, the openssl program reports which certificate is not accepted.
std::vector<Finding> examine_hosts(const Engine& engine, const DiagnoseOptions& options, Run& run) {
  const ClientProgram client = client_of(options.root, engine);
  const Context context = engine.context_for(run);
  Run inspection(run.options());
  const auto inspected = engine.inspect(options.root, inspection);
  Hosts hosts = hosts_of(inspected.value_or(messages::ConfigInspectResult()), client.tool);
  for (const std::string& name : options.hosts) {
    hosts[name].uses.insert("registry");
  }
  // A root that cannot be opened has no sources; the check of its settings reports why.
  const auto root = open_root(options.root, engine, run);
  const Settings& settings = root ? root->walk.settings : engine.user_settings();
  Context querying = engine.context_for(run, settings);
  querying.clone_directory = root ? root->data.modules() / "m" : "";
  const auto network = engine.network(client.tool, client.version, run);
  const ProcessEnvironment environment = current_environment();
  HostQueries queries(*network, settings, options.root.root, querying);
  std::vector<Finding> findings;
  if (auto configuration = root ? examine_configuration(inspected) : std::nullopt) {
    findings.push_back(std::move(*configuration));
  }
  for (const auto& [name, use] : hosts) {
    if (name.empty()) {
      if (options.online) {
        Finding finding{.check = "local repositories", .found = fmt::format("{} configured", use.sources.size())};
        queries.query(name, use, finding);
        findings.push_back(std::move(finding));
      }
      continue;
    }
    Finding finding{.check = "host " + name};
    const auto report = explain_credentials(name, use.uses, network->client_configuration(), environment, context,
                                            use.is_users && !querying.offline);
    if (!report) {
      findings.push_back(failing(finding.check, report.error()));
      continue;
    }
    for (const CredentialSearch& search : report->uses) {
      const std::string external = answered_by(search.use, name, network->backends());
      finding.found += (finding.found.empty() ? "" : "; ") +
                       (external.empty() ? credential_line(search) : search.use + ": " + external);
    }
    if (options.online) {
      queries.query(name, use, finding);
    }
    findings.push_back(std::move(finding));
  }
  if (options.online && engine.remote()) {
    findings.push_back(query_remote(engine, *network, *engine.remote(), options.root, run));
  }
  for (const Diagnostic& warning : network->warnings()) {
    findings.push_back({.check = "CLI configuration",
                        .verdict = Finding::Verdict::warning,
                        .found = warning.what.message,
                        .hint = warning.what.hint});
  }
  return findings;
}

}  // namespace

std::vector<Finding> Engine::diagnose(const DiagnoseOptions& options, Run& run) const {
  const Context context = context_for(run);
  std::vector<Finding> findings = {examine_git(options.root.root, context),
                                   examine_client(*this, options.root, context),
                                   examine_certificates(),
                                   examine_proxies(),
                                   examine_settings(*this, options.root.root),
                                   examine_store(*this, options)};
  std::ranges::move(examine_hosts(*this, options, run), std::back_inserter(findings));
  return findings;
}

}  // namespace modlock
