#include "tests/support/docker_registry.h"

#include <fmt/format.h>
#include <httplib.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/support/loopback.h"
#include "tests/support/run.h"
#include "tests/support/token_service.h"

namespace modlock::test {
namespace {

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
    program_.emplace(
        std::vector<std::string>{find_server("docker-registry"), "serve", (directory_ / "config.yml").string()},
        directory_ / "output.log");
    if (program_->wait_until([&] { return client_of(port_, authority())->Get("/v2/") != nullptr; })) {
      return;
    }
  }
  throw std::runtime_error("docker-registry does not start: " + read_text(directory_ / "output.log"));
}

DockerRegistry::~DockerRegistry() = default;

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
