#include "tests/support/docker_registry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "backends/base/process.h"
#include "tests/support/loopback.h"
#include "tests/support/process_group.h"
#include "tests/support/run.h"
#include "tests/support/token_service.h"

namespace modlock::test {
namespace {

// Starts the program at the head of a process group of its own; its output goes to `log`.
int start_group(std::vector<std::string> arguments, const std::filesystem::path& log) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    throw std::runtime_error("cannot start " + arguments[0]);
  }
  return pid;
}

std::unique_ptr<httplib::SSLClient> client_of(int port, const std::filesystem::path& authority) {
  auto client = std::make_unique<httplib::SSLClient>("127.0.0.1", port);
  client->set_ca_cert_path(authority.c_str());
  return client;
}

void expect_status(const httplib::Result& result, int status, const std::string& what) {
  if (!result || result->status != status) {
    throw std::runtime_error(
        fmt::format("docker-registry: {}: {}", what, result ? result->body : httplib::to_string(result.error())));
  }
}

}  // namespace

DockerRegistry::DockerRegistry(Auth auth)
    : authority_(directory_.path()), certificate_(authority_.issue("server")), auth_(auth) {
  if (auth == Auth::token) {
    tokens_ = std::make_unique<TokenService>(certificate_, user(), password(), refresh_token());
  }
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    const auto [listener, port] = listen_on_loopback();
    ::close(listener);
    port_ = port;
    write_configuration();
    if (start()) {
      return;
    }
    stop();
  }
  throw std::runtime_error("docker-registry does not start: " + read_text(directory_ / "output.log"));
}

DockerRegistry::~DockerRegistry() {
  stop();
}

void DockerRegistry::write_configuration() const {
  const std::string root = directory_.path().string();
  std::string auth;
  if (auth_ == Auth::basic) {
    write_text(directory_ / "passwords", run({"htpasswd", "-niB", user()}, {}, {}, password() + "\n"));
    auth = fmt::format("auth: {{htpasswd: {{realm: tests, path: {}/passwords}}}}\n", root);
  } else if (auth_ == Auth::token) {
    auth = fmt::format("auth: {{token: {{realm: \"{}\", service: tests, issuer: tests, rootcertbundle: {}}}}}\n",
                       tokens_->url(), tokens_->signer().string());
  }
  write_text(directory_ / "config.yml",
             fmt::format("version: 0.1\nlog: {{level: warn, accesslog: {{disabled: true}}}}\n"
                         "storage: {{filesystem: {{rootdirectory: {0}/storage}}}}\n{3}"
                         "http: {{addr: \"127.0.0.1:{1}\", secret: tests, tls: {{certificate: {0}/server.pem, key: "
                         "{2}}}}}\n",
                         root, port_, certificate_.key.string(), auth));
}

bool DockerRegistry::start() {
  group_ = start_group({find_program("docker-registry")->string(), "serve", (directory_ / "config.yml").string()},
                       directory_ / "output.log");
  for (int poll = 0; poll < kReadyPolls; ++poll) {
    if (::waitpid(group_, nullptr, WNOHANG) != 0) {
      group_ = 0;
      return false;
    }
    if (client_of(port_, authority())->Get("/v2/")) {
      return true;
    }
    ::poll(nullptr, 0, 10);
  }
  return false;
}

void DockerRegistry::stop() {
  if (group_ > 0) {
    ::kill(-group_, SIGKILL);
    ::waitpid(group_, nullptr, 0);
    group_ = 0;
  }
}

std::string DockerRegistry::authorization(const std::string& repository) const {
  if (auth_ == Auth::token) {
    return "Bearer " + tokens_->issue(repository, {"pull", "push"});
  }
  return auth_ == Auth::basic ? httplib::make_basic_authentication_header(user(), password()).second : std::string();
}

void DockerRegistry::push_blob(const std::string& repository, const std::string& bytes) {
  const auto client = client_of(port_, authority());
  httplib::Headers headers = {{"Authorization", authorization(repository)}};
  auto started = client->Post(fmt::format("/v2/{}/blobs/uploads/", repository), headers, "", "text/plain");
  expect_status(started, 202, "start an upload");
  std::string location = started->get_header_value("Location");
  location = location.substr(location.find("/v2/"));
  location += fmt::format("{}digest={}", location.find('?') == std::string::npos ? "?" : "&", digest_of(bytes));
  expect_status(client->Put(location, headers, bytes, "application/octet-stream"), 201, "upload a blob");
}

std::string DockerRegistry::push_manifest(const std::string& repository, const std::string& tag,
                                          const std::string& body, const std::string& type) {
  const auto client = client_of(port_, authority());
  const httplib::Headers headers = {{"Authorization", authorization(repository)}};
  expect_status(client->Put(fmt::format("/v2/{}/manifests/{}", repository, tag), headers, body, type), 201,
                "put a manifest");
  return digest_of(body);
}

std::string DockerRegistry::push(const std::string& repository, const std::string& tag, const PackageFiles& files) {
  const OciModule module = make_oci_module(files);
  push_blob(repository, module.package);
  push_blob(repository, kOciEmptyConfig);
  return push_manifest(repository, tag, module.manifest);
}

std::vector<std::string> DockerRegistry::token_log() const {
  return tokens_ ? tokens_->log() : std::vector<std::string>{};
}

}  // namespace modlock::test
