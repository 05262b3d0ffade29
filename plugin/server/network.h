#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend_set.h"
#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/provider_source.h"
#include "backends/registry/request_policy.h"
#include "backends/scrub.h"
#include "backends/store/kept_responses.h"
#include "backends/store/store.h"
#include "plugin/config/settings.h"
#include "plugin/config/tool.h"

namespace modlock {

struct NetworkOptions {
  Tool tool = Tool::opentofu;
  std::string git_engine;                      // "auto", "libgit2" or "git"
  std::string client_version;                  // X-Terraform-Version; empty: not known, and not sent
  std::vector<BackendSetting> externals = {};  // programs that serve further kinds of sources; of one scheme the first
};

// Errors: CONFIG_PARSE at the first setting that can be no backend; INVALID_PARAMS where a host named it.
Result<void> check_externals(const std::vector<BackendSetting>& externals);

// What reaches the outside: the HTTP client, the credentials that the client would use, and the backends made of them.
// Nothing is asked, and no program is started, before a request needs it.
class Network {
 public:
  // The store outlives this. The externals are check_externals().
  Network(const NetworkOptions& options, const Store& store);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const BackendSet& backends() const { return backends_; }
  // The names of what is served, for a host: "git", "registry", "oci", "archive", and those of external backends.
  const std::vector<std::string>& names() const { return names_; }
  // The services of a registry's host, absolute URLs by name ("providers.v1"). Errors: those of service discovery.
  Result<std::map<std::string, std::string>> services_of(std::string_view host, const Context& context) const;
  // Where providers come from, as the client would have it; made anew, so that nothing that was answered once outlives
  // a request. Ends before this object.
  std::unique_ptr<ProviderSource> provider_source() const;
  // What was wrong with the CLI configuration.
  const Diagnostics& warnings() const { return client_.warnings; }
  // An error of the outside with these as notes: a host or a token that was not read may be why.
  Error with_warnings(Error error) const;

 private:
  registry::RequestPolicy registry_policy() const;
  void add(std::string name, std::unique_ptr<Backend> backend);

  const Tool tool_;
  const std::string client_version_;
  const Store& store_;
  const ClientConfiguration client_;
  KnownSecrets secrets_;  // that were sent: nothing shows them, whoever gives them back
  const std::unique_ptr<HttpClient> wire_;
  const std::unique_ptr<HttpClient> http_;
  const std::unique_ptr<Credentials> credentials_;
  const KeptResponses responses_;
  const std::unique_ptr<HttpClient> keeping_;  // for listings
  BackendSet backends_;
  BackendSet led_;  // the same, for what a server leads to
  std::vector<std::string> names_;
};

}  // namespace modlock
