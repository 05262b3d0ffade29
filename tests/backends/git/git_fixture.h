#pragma once

#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/base/context.h"
#include "backends/git/git_backend.h"
#include "backends/http/http_client.h"
#include "tests/support/environment.h"
#include "tests/support/git_repository.h"
#include "tests/support/https_git_server.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A git backend with an empty cache, in an environment where neither the user's configuration nor preset certificates
// count.
struct GitFixture {
  GitFixture();

  // A new client, with the authorities that the environment names now, and a backend over it.
  void renew_backend(GitEngine engine = GitEngine::automatic);
  SourceAddress source(const std::string& url) const;
  std::vector<Result<FetchedTree>> fetch(const std::string& url, const std::vector<FetchRequest>& fetch_requests);
  Result<FetchedTree> fetch_one(const std::string& url, const FetchRequest& fetch_request);
  std::uint64_t requests() const { return stats.requests.load(); }

  TemporaryDirectory directory;
  Stats stats;
  Context context;
  std::vector<std::unique_ptr<ScopedEnvironment>> environment;
  std::unique_ptr<HttpClient> http;
  std::unique_ptr<BackendCore> backend;
};

// "CODE: message", and "ok" where there is no error.
template <typename T>
std::string outcome(const Result<T>& result) {
  return result ? "ok" : std::string(to_string(result.error().code)) + ": " + result.error().message;
}

// One server for all cases of a suite. ServerOfSuite, a fixture of the suite, starts it if its programs are installed.
std::optional<HttpsGitServer>& server();
struct ServerOfSuite {
  ServerOfSuite();
  ~ServerOfSuite();
};

// A line of git's protocol.
std::string packet(const std::string& payload);

}  // namespace modlock::test
