#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "backends/address/provider_address.h"
#include "backends/address/source.h"
#include "backends/backend.h"
#include "backends/base/text.h"
#include "backends/http/certificate_store.h"
#include "backends/providers/provider_source.h"
#include "plugin/client/client_configuration.h"
#include "plugin/client/credential_report.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/diagnosis.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/engine/plan_request.h"
#include "plugin/engine/root_request.h"
#include "plugin/resolve/plan.h"
#include "plugin/settings/settings.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

// What a root needs of a host.
struct HostUse {
  std::set<std::string> uses;                    // in the words of explain_credentials(): "registry", "oci", …
  std::map<std::string, SourceAddress> sources;  // whose versions `lock` lists, by package
  std::set<ProviderAddress> providers;
};
using Hosts = std::map<std::string, HostUse>;  // by name; empty: this machine

void add_source(const std::string& text, ClientKind tool, Hosts& hosts) {
  auto address = parse_source(text, default_registry(tool));
  if (!address || (address->source.host.empty() && !address->source.has_tags())) {
    return;
  }
  const Source& source = address->source;
  HostUse& host = hosts[source.host];
  const bool is_service = source.is_registry() || source.has_tags();
  host.uses.insert(is_service ? std::string(source.traits().name) : "download");
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
  for (const messages::InspectedModule& module : inspected.modules) {
    add_source(module.source.value_or(""), tool, hosts);
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
                             : fmt::format("{}: no credential in {} places", search.use, search.places.size());
}

// The requests of `doctor --online`.
class HostQueries {
 public:
  HostQueries(const Network& network, const Settings& settings, std::filesystem::path root, Context context)
      : network_(network), settings_(settings), root_(std::move(root)), context_(std::move(context)) {}

  // Lists what `lock` would list at a host, once each, and stops if the host cannot be reached.
  void query(const std::string& name, const HostUse& use, Finding& finding) {
    std::optional<Code> failure;
    if (use.uses.count("registry") != 0) {
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
  const std::filesystem::path root_;
  const Context context_;
  std::shared_ptr<ProviderSource> providers_;
};

// Sends one request to the remote store: whether it has the packages of the root, if the root has locked some.
Finding query_remote(const Engine& engine, const Network& network, const oci::Repository& remote,
                     const messages::RootParams& params, Run& run) {
  Finding finding{.check = "remote store " + remote.display};
  Run reading(run.options());
  const auto open = OpenRoot::open(engine, reading, params, {});  // the check of its settings reports a failure
  const ModuleLocks modules = open ? effective_lock((*open)->lock).modules : ModuleLocks();
  const auto found = network.oci_registry()->find_manifest(remote, closure_tag(modules), engine.context_for(run));
  if (found) {
    finding.found = !has_module_entries(modules) ? "can be reached"
                    : *found                     ? "has the packages of this lock file"
                                                 : "does not have the packages of this lock file";
    return finding;
  }
  return failing(finding.check, with_plain_http_hint(found.error(), remote));
}

}  // namespace

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
    const auto report = explain_credentials(name, network->client_configuration(), environment, context);
    if (!report) {
      findings.push_back(failing(finding.check, report.error()));
      continue;
    }
    for (const CredentialSearch& search : report->uses) {
      if (use.uses.count(search.use) != 0) {
        finding.found += (finding.found.empty() ? "" : "; ") + credential_line(search);
      }
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

}  // namespace modlock
