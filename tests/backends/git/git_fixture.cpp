#include "tests/backends/git/git_fixture.h"

#include <fmt/format.h>

#include <stdexcept>

#include "backends/http/curl_http_client.h"
#include "tests/support/needs.h"

namespace modlock::test {

GitFixture::GitFixture() {
  const auto set = [this](const char* name, const std::optional<std::string>& value) {
    environment.push_back(std::make_unique<ScopedEnvironment>(name, value));
  };
  set("HOME", (directory / "home").string());
  set("GIT_CONFIG_NOSYSTEM", "1");
  for (const char* name :
       {"XDG_CONFIG_HOME",    "GIT_CONFIG_GLOBAL",     "GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY", "SSL_CERT_FILE",
        "SSL_CERT_DIR",       "CURL_CA_BUNDLE",        "GIT_SSL_CAPATH", "GIT_SSL_CERT",      "GIT_CONFIG_SYSTEM",
        "https_proxy",        "HTTPS_PROXY",           "http_proxy",     "all_proxy",         "ALL_PROXY",
        "GIT_CONFIG_COUNT",   "GIT_CONFIG_PARAMETERS", "GIT_ASKPASS",    "SSH_ASKPASS",       "GIT_DIR",
        "GIT_ALLOW_PROTOCOL", "GIT_SSH_COMMAND",       "GIT_SSH",        "SSH_AUTH_SOCK",     "NETRC"}) {
    set(name, std::nullopt);
  }
  std::filesystem::create_directories(directory / "home");
  std::filesystem::create_directories(directory / "parent");
  context.stats = &stats;
  renew_backend();
}

void GitFixture::renew_backend(GitEngine engine) {
  http = make_curl_http_client("tofu-modlock/test");
  backend = make_git_backend({.cache_directory = directory / "cache", .http = http.get(), .engine = engine});
}

SourceAddress GitFixture::source(const std::string& url) const {
  auto parsed = parse_source("git::" + url);
  if (!parsed) {
    throw std::runtime_error(parsed.error().message);
  }
  return *parsed;
}

std::vector<Result<FetchedTree>> GitFixture::fetch(const std::string& url, const std::vector<FetchRequest>& requests) {
  return backend->fetch(source(url), requests, directory / "parent", context);
}

Result<FetchedTree> GitFixture::fetch_one(const std::string& url, const FetchRequest& request) {
  auto trees = fetch(url, {request});
  return trees.size() == 1 ? trees[0] : fail(Code::internal, "not one tree for one wish");
}

std::optional<HttpsGitServer>& server() {
  static std::optional<HttpsGitServer> running;
  return running;
}

ServerOfSuite::ServerOfSuite() {
  if (missing_programs(HttpsGitServer::kPrograms).empty()) {
    server().emplace();
  }
}

ServerOfSuite::~ServerOfSuite() {
  server().reset();
}

std::string packet(const std::string& payload) {
  return fmt::format("{:04x}{}", payload.size() + 4, payload);
}

}  // namespace modlock::test
