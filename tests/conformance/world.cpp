#include "tests/conformance/world.h"

#include <fmt/format.h>

#include <optional>

#include "backends/http/curl_http_client.h"
#include "tests/conformance/canaries.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// An address, for a registry cannot be named "localhost".
constexpr const char* kHost = "127.0.0.1";
constexpr const char* kNames = "DNS:localhost,IP:127.0.0.1";

fs::path made(const fs::path& directory) {
  fs::create_directories(directory);
  return directory;
}

std::deque<ScopedEnvironment> environment_in(const TemporaryDirectory& directory) {
  std::deque<ScopedEnvironment> environment;
  for (const char* name : {"XDG_CONFIG_HOME",
                           "SSL_CERT_DIR",
                           "CURL_CA_BUNDLE",
                           "GIT_SSL_NO_VERIFY",
                           "GIT_SSL_CAPATH",
                           "GIT_SSL_CERT",
                           "GIT_CONFIG_GLOBAL",
                           "GIT_CONFIG_SYSTEM",
                           "GIT_CONFIG_COUNT",
                           "https_proxy",
                           "HTTPS_PROXY",
                           "http_proxy",
                           "HTTP_PROXY",
                           "all_proxy",
                           "ALL_PROXY",
                           "GIT_CONFIG_PARAMETERS",
                           "GIT_ASKPASS",
                           "GIT_ALLOW_PROTOCOL",
                           "GIT_DIR",
                           "NETRC",
                           "TF_CLI_CONFIG_FILE",
                           "DOCKER_CONFIG",
                           "REGISTRY_AUTH_FILE",
                           "GIT_PROXY_SSL_CAINFO"}) {
    environment.emplace_back(name, std::nullopt);
  }
  environment.emplace_back("HOME", made(directory / "home").string());
  environment.emplace_back("GIT_CONFIG_NOSYSTEM", "1");
  environment.emplace_back("HGRCPATH", "");
  const std::string authority = (directory / "trusted" / "authority.pem").string();
  environment.emplace_back("SSL_CERT_FILE", authority);
  environment.emplace_back("GIT_SSL_CAINFO", authority);
  return environment;
}

GitRepository released(const fs::path& path) {
  GitRepository repository(path);
  repository.commit(Origin::files());
  repository.tag("v1.0.0");
  return repository;
}

FaultServer::Handler nobody_comes_here() {
  return [](const ReceivedRequest&) { return ServerAnswer{.status = 500}; };
}

}  // namespace

World::World()
    : environment_(environment_in(directory_)),
      trusted_(made(directory_ / "trusted")),
      transport_(make_curl_transport("tofu-modlock/test")),
      unknown_(made(directory_ / "unknown")),
      repository_(released(directory_ / "vpc.git")),
      origin_(repository_),
      server_(
          [this](const ReceivedRequest& request) {
            look();
            return origin_.answer(request);
          },
          trusted_.issue("origin", kNames)),
      elsewhere_([this](const ReceivedRequest& request) { return origin_.answer_anybody(request); },
                 trusted_.issue("elsewhere", kNames)),
      plain_([this](const ReceivedRequest& request) { return origin_.answer_anybody(request); }),
      of_unknown_authority_(nobody_comes_here(), unknown_.issue("unknown", kNames)),
      expired_(nobody_comes_here(), trusted_.issue("expired", kNames, CertificateAuthority::Validity::expired)),
      wrong_host_(nobody_comes_here(), trusted_.issue("wrong", "DNS:elsewhere.test")) {
  environment_.emplace_back("TMPDIR", made(temporary()).string());
}

std::string World::base(Place place) const {
  switch (place) {
    case Place::origin:
      return server_.url("", kHost);
    case Place::nowhere:
      // A label over 63 bytes is no name for any resolver, so none is asked.
      return fmt::format("https://{}.test", std::string(64, 'a'));
    case Place::refused:
      return fmt::format("https://127.0.0.1:{}", refused_.port());
    case Place::silent:
      return fmt::format("https://127.0.0.1:{}", silent_.port());
    case Place::unknown_authority:
      return of_unknown_authority_.url("", kHost);
    case Place::expired:
      return expired_.url("", kHost);
    case Place::wrong_host:
      return wrong_host_.url("", kHost);
  }
  return {};
}

fs::path World::new_directory() {
  return made(directory_ / fmt::format("user-{}", ++directories_));
}

void World::watch_processes(bool on) {
  const std::lock_guard lock(mutex_);
  watches_ = on;
  command_lines_.clear();
}

std::set<std::string> World::command_lines() const {
  const std::lock_guard lock(mutex_);
  return command_lines_;
}

void World::look() {
  {
    const std::lock_guard lock(mutex_);
    if (!watches_) {
      return;
    }
  }
  std::set<std::string> seen = command_lines_of_children();
  const std::lock_guard lock(mutex_);
  command_lines_.merge(seen);
}

Behaviour World::watched(Behaviour behaviour) {
  return [this, behaviour = std::move(behaviour)](ServerStream& stream, const ReceivedRequest& request,
                                                  const std::function<ServerAnswer()>& good) {
    look();
    return behaviour(stream, request, good);
  };
}

}  // namespace modlock::test
