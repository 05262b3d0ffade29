#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "backends/base/process.h"
#include "backends/http/proxy.h"
#include "backends/http/trusted_authorities.h"
#include "plugin/client/client_configuration.h"
#include "plugin/engine/client_program.h"
#include "plugin/engine/credential_report.h"
#include "plugin/engine/diagnosis.h"
#include "plugin/engine/engine.h"

namespace modlock {
namespace {

// The uses of a host, in the words of explain_credentials(): "registry", "oci", "download", "git".
using Uses = std::map<std::string, std::set<std::string>>;

void add_source(const std::string& text, ClientKind tool, Uses& uses) {
  const auto address = parse_source(text, default_registry(tool));
  if (!address || address->source.host.empty()) {
    return;
  }
  const Source& source = address->source;
  const bool is_service = source.is_registry() || source.has_tags();
  uses[source.host].insert(is_service ? std::string(source.traits().name) : "download");
}

Uses uses_of(const Engine& engine, const messages::RootParams& root, const Run& run, ClientKind tool) {
  Uses uses;
  Run inspection(run.options());
  const auto inspected = engine.inspect(root, inspection);
  if (!inspected) {
    return uses;  // the configuration is not the subject here
  }
  for (const messages::InspectedModule& module : inspected->modules) {
    add_source(module.source.value_or(""), tool, uses);
  }
  for (const messages::InspectedProvider& provider : inspected->providers) {
    const std::string name = provider.address.substr(0, provider.address.find('/'));
    if (name.find('.') != std::string::npos && name != "terraform.io") {
      uses[name].insert("registry");
    }
  }
  return uses;
}

std::string credential_line(const CredentialSearch& search) {
  return search.use == "git" ? "git: its own credential helpers are queried"
         : search.used       ? fmt::format("{}: a credential in {}", search.use, *search.used)
                             : fmt::format("{}: no credential in {} places", search.use, search.places.size());
}

// Returns OpenSSL's verdict on the first certificate that it does not accept: "depth=1 CN = Example CA, self-signed
// certificate in certificate chain". Empty if it accepts all, or cannot be run.
std::string certificate_verdict(const std::string& name, const Context& context) {
  if (!http::ProxySettings::from_environment().proxy_for("https://" + name).empty() || !find_program("openssl")) {
    return "";
  }
  const std::string bare = name.substr(0, name.rfind(':'));
  std::vector<std::string> argv = {"openssl",     "s_client",
                                   "-connect",    name.find(':') == std::string::npos ? name + ":443" : name,
                                   "-servername", bare};
  if (const auto places = http::AuthorityPlaces::from_environment(); !places.file.empty()) {
    argv.insert(argv.end(), {"-CAfile", places.file.string()});
  }
  const auto ran = run_command({.argv = std::move(argv)}, context);
  std::istringstream lines(ran ? ran->error_output : std::string());
  std::string certificate;
  constexpr std::string_view kError = "verify error:";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("depth=")) {
      certificate = line;
    } else if (line.starts_with(kError)) {
      return fmt::format("OpenSSL of {}: {}", certificate, line.substr(line.rfind(':') + 1));
    }
  }
  return "";
}

void query(const std::string& name, const std::set<std::string>& uses, const Network& network, const Context& context,
           Finding& finding) {
  if (uses.count("registry") != 0) {
    const auto services = network.services_of(name, context);
    if (services) {
      std::string listed;
      for (const auto& [service, url] : *services) {
        listed += (listed.empty() ? "" : ", ") + service;
      }
      finding.details.push_back(fmt::format("serves the registry protocols: {}", listed));
      return;
    }
    finding.verdict = Finding::Verdict::error;
    finding.found = services.error().message;
    finding.hint = services.error().hint;
    finding.exit_code = exit_code(services.error());
  }
  if (const std::string verdict = certificate_verdict(name, context); !verdict.empty()) {
    finding.verdict = Finding::Verdict::error;
    finding.exit_code = exit_code(Code::unreachable);
    finding.details.push_back(verdict);
    finding.hint = finding.hint.empty() ? "name a file with its CA certificate in SSL_CERT_FILE" : finding.hint;
  }
}

}  // namespace

std::vector<Finding> examine_hosts(const Engine& engine, const DiagnoseOptions& options, Run& run) {
  WalkRequest walk;
  walk.root = options.root.root;
  const ClientProgram client = find_client(engine.options(), walk);
  const Context context = engine.context_for(run);
  Uses uses = uses_of(engine, options.root, run, client.tool);
  for (const std::string& name : options.hosts) {
    uses[name].insert("registry");
  }
  const auto network = engine.network(client.tool, client.version, run);
  const ProcessEnvironment environment = current_environment();
  std::vector<Finding> findings;
  for (const auto& [name, kinds] : uses) {
    Finding finding{.check = "host " + name};
    const auto report = explain_credentials(name, network->client_configuration(), environment, context);
    if (!report) {
      finding.verdict = Finding::Verdict::error;
      finding.found = report.error().message;
      finding.hint = report.error().hint;
      finding.exit_code = exit_code(report.error());
      findings.push_back(std::move(finding));
      continue;
    }
    for (const CredentialSearch& search : report->uses) {
      if (kinds.count(search.use) != 0) {
        finding.found += (finding.found.empty() ? "" : "; ") + credential_line(search);
      }
    }
    if (options.online) {
      query(name, kinds, *network, context, finding);
    }
    findings.push_back(std::move(finding));
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
