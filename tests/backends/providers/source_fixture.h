#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/http/http_client.h"
#include "backends/providers/registry_provider_source.h"
#include "tests/support/environment.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/provider_registry.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A source of providers and a registry on the loopback, that is registry.opentofu.org and registry.example.com too.
struct SourceFixture {
  SourceFixture();

  ProviderSource& source();  // made with `rules` and the switches at the first call, which is for one thread
  // A new one, as the next run has it.
  void run_again() { source_.reset(); }
  Result<ProviderRelease> release(const std::string& address, const std::string& version,
                                  const std::vector<std::string>& platforms = {"linux_amd64"});
  // "CODE: message" of a release that fails.
  std::string failure(const std::string& address, const std::string& version,
                      const std::vector<std::string>& platforms = {"linux_amd64"});

  TemporaryDirectory directory;
  std::vector<std::unique_ptr<ScopedEnvironment>> environment;
  ProviderRegistry registry;
  std::unique_ptr<HttpClient> http;
  FakeCredentials credentials;
  ClientConfiguration client;
  Store store;
  provider_registry::ClientRules rules = provider_registry::ClientRules::opentofu_1_12;
  bool enforce_signatures = false;
  bool enforce_expiration = false;
  bool asks_of_each_platform = false;
  Stats stats;
  Context context{.stats = &stats};

 private:
  std::unique_ptr<ProviderSource> source_;
};

// "CODE: message".
std::string words(const Error& error);

}  // namespace modlock::test
