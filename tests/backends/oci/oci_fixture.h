#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/oci/oci_backend.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/fake_http_client.h"
#include "tests/support/oci_module.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// An OCI backend on an HTTP client: a fake one, unless a test brings its own.
struct OciFixture {
  OciFixture() : OciFixture(nullptr) {}
  explicit OciFixture(std::unique_ptr<HttpClient> real);

  // A registry "reg.example.com" that needs no credentials, with one module under a tag.
  OciModule serve(const std::string& repository, const std::string& tag, const PackageFiles& files);
  void serve_tags(const std::string& repository, const std::string& body);

  SourceAddress source(const std::string& text) const { return parse_source(text).value(); }
  Result<FetchedTree> fetch(const std::string& text, const FetchRequest& request = {});
  // "HEAD https://…", in order.
  std::string asked() const;

  TemporaryDirectory directory;
  Stats stats;
  Context context;
  FakeHttpClient http;
  FakeCredentials credentials;
  std::unique_ptr<HttpClient> real_http;
  std::unique_ptr<BackendCore> backend;
};

// "CODE: message", and "ok" where there is no error.
template <typename T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : std::string(to_string(result.error().code)) + ": " + result.error().message;
}

// "<version> <tag> <id>[ or <tag>]" of each version, then "- <tag>: <reason>".
std::string shown(const Result<Listing>& listing);

inline const std::string kRegistry = "https://reg.example.com/v2/";

}  // namespace modlock::test
