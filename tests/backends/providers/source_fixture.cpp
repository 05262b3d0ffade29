#include "tests/backends/providers/source_fixture.h"

#include "backends/http/curl_http_client.h"

namespace modlock::test {

std::string words(const Error& error) {
  return std::string(to_string(error.code)) + ": " + error.message;
}

SourceFixture::SourceFixture()
    : http(make_curl_http_client("test/1")), store(Store::open(directory.path() / "store").value()) {
  for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                           "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"}) {
    environment.push_back(std::make_unique<ScopedEnvironment>(name, std::nullopt));
  }
  for (const char* host : {"registry.opentofu.org", "registry.example.com"}) {
    client.hosts[host] = {.services = {{"providers.v1", registry.providers_url()}}, .from = "test"};
  }
}

ProviderSource& SourceFixture::source() {
  if (!source_) {
    source_ = make_registry_provider_source({.http = registry::RegistryHttp(*http, credentials, {}, "1.12.6"),
                                             .client = client,
                                             .store = store,
                                             .rules = rules,
                                             .enforce_signatures = enforce_signatures,
                                             .enforce_expiration = enforce_expiration,
                                             .asks_of_each_platform = asks_of_each_platform});
  }
  return *source_;
}

Result<ProviderRelease> SourceFixture::release(const std::string& address, const std::string& version,
                                               const std::vector<std::string>& platforms) {
  std::vector<Platform> wished;
  for (const std::string& platform : platforms) {
    wished.push_back(Platform::parse(platform).value());
  }
  return source().release(ProviderAddress::parse(address, "registry.opentofu.org").value(),
                          ProviderVersion::parse(version).value(), wished, context);
}

std::string SourceFixture::failure(const std::string& address, const std::string& version,
                                   const std::vector<std::string>& platforms) {
  const auto found = release(address, version, platforms);
  return found ? "no failure" : words(found.error());
}

}  // namespace modlock::test
