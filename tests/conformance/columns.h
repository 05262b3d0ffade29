#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/credentials/client_configuration.h"
#include "backends/http/http_client.h"
#include "backends/store/store.h"
#include "tests/conformance/watched_client.h"
#include "tests/conformance/world.h"
#include "tests/support/fake_credentials.h"

namespace modlock::test {

// What a backend asks of the outside, one request each.
enum class Ask {
  registry_discovery,
  registry_versions,
  registry_location,
  registry_package,
  oci_token,
  oci_tags,
  oci_manifest,
  oci_blob,
  archive_location,
  archive_package,
  git_listing,          // through our HTTP client
  git_fetch,            // the same, of what has just been listed
  git_program_listing,  // by the git program
  git_program_fetch,
  external_listing,  // by a program of a user's
  external_fetch,
};

// All that is written down while somebody works.
class Notebook final : public Log, public Progress {
 public:
  void write(LogLevel level, std::string_view line) override;
  void report(std::string_view message, std::size_t done, std::size_t total) override;
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

// Somebody who calls all backends, with a credential for every place.
struct Caller {
  // `directory` holds the store.
  Caller(World& world, Ask ask, Place place, std::filesystem::path directory);

  // Does the one thing, so that its request goes to `place`.
  Result<void> act();
  // What the backends have to know before each request carries a credential.
  Result<void> get_acquainted();

  Result<void> list(const std::string& text, std::string_view tag);
  Result<void> fetch(const std::string& text, const FetchRequest& request);
  std::string address() const;
  // Whether a server of ours has to redirect to a place that no address of its own leads to.
  bool needs_redirect() const;

  World& world;
  Ask ask;
  Place place;
  Store store;
  Notebook notebook;
  Stats stats;
  Context context;
  Wire wire;  // of `http`
  std::unique_ptr<HttpClient> http;
  FakeCredentials credentials;
  ClientConfiguration client;
  BackendSet backends;
};

enum class Means { client, git_program, external_program };

// What is known about a request before anything goes wrong.
struct Column {
  Ask ask;
  const char* name;
  const char* path;  // what requests of it begin with
  int attempts;      // at most, where another one may help
  Means means = Means::client;
  int redirects = 10;  // that are followed
  bool by_program() const { return means != Means::client; }
};
const std::vector<Column>& columns();
const Column& column(Ask ask);

}  // namespace modlock::test
