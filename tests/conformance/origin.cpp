#include "tests/conformance/origin.h"

#include <fmt/format.h>

#include <exception>

#include "tests/conformance/canaries.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {

constexpr const char* kJson = "application/json";

ServerAnswer typed(std::string type, std::string body) {
  return {.headers = {{"Content-Type", std::move(type)}}, .body = std::move(body)};
}

bool starts_with(const std::string& text, std::string_view start) {
  return text.compare(0, start.size(), start) == 0;
}

// The Authorization that a path is given out for.
std::string wanted(const std::string& path) {
  if (starts_with(path, "/.well-known/") || starts_with(path, "/v1/") || starts_with(path, "/packages/")) {
    return std::string("Bearer ") + kRegistryToken;
  }
  if (starts_with(path, "/v2/with-token/")) {
    return std::string("Bearer ") + kOciToken;
  }
  if (starts_with(path, "/v2/") || starts_with(path, "/token")) {
    return basic_authorization(kOciPassword);
  }
  return basic_authorization(starts_with(path, "/archives/") ? kNetrcPassword : kUrlPassword);
}

}  // namespace

Origin::Origin(const GitRepository& repository) : repository_(repository), commit_(repository.id("v1.0.0")) {}

void Origin::lead(const std::string& home, const std::string& path, const std::string& place) {
  const std::lock_guard lock(mutex_);
  home_ = home;
  moved_ = path;
  place_ = place;
}

std::string Origin::link(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return (starts_with(moved_, path) ? place_ : home_) + path;
}

std::string Origin::challenge(const std::string& path) const {
  return starts_with(path, "/v2/with-token/") ? fmt::format(R"(Bearer realm="{}",service="origin")", link("/token"))
                                              : R"(Basic realm="origin")";
}

ServerAnswer Origin::answer(const ReceivedRequest& request, bool is_open) const {
  const std::string path = request.path();
  if (!is_open && request.header("Authorization") != wanted(path)) {
    return {.status = 401, .headers = {{"WWW-Authenticate", challenge(path)}}};
  }
  if (starts_with(path, "/.well-known/") || starts_with(path, "/v1/")) {
    return registry(path);
  }
  if (starts_with(path, "/packages/") || starts_with(path, "/archives/")) {
    return typed("application/zip", module_.package);
  }
  if (starts_with(path, "/token")) {
    return typed(kJson, fmt::format(R"({{"token":"{}","expires_in":300}})", kOciToken));
  }
  if (starts_with(path, "/v2/")) {
    return oci(path);
  }
  if (starts_with(path, "/where/")) {
    constexpr const char* kPage = R"(<html><head><meta name="terraform-get" content="{}vpc.zip"></head></html>)";
    return typed("text/html", fmt::format(kPage, link("/archives/")));
  }
  if (path == "/fetched/vpc/tags") {
    return typed(kJson, R"({"versions":[{"tag":"v1.0.0"}],"complete":true})");
  }
  if (path == "/fetched/vpc/main.tf") {
    return typed("text/plain", files().at("main.tf"));
  }
  return starts_with(path, "/git/") ? git(request) : ServerAnswer{.status = 404};
}

ServerAnswer Origin::registry(const std::string& path) const {
  if (path == "/.well-known/terraform.json") {
    return typed(kJson, fmt::format(R"({{"modules.v1":"{}"}})", link("/v1/modules/")));
  }
  if (path == "/v1/modules/acme/vpc/aws/versions") {
    return typed(kJson, R"({"modules":[{"versions":[{"version":"1.0.0"}]}]})");
  }
  return typed(kJson, fmt::format(R"({{"location":"{}vpc.zip?signature={}","use_registry_credentials":true}})",
                                  link("/packages/"), kUrlQuery));
}

ServerAnswer Origin::oci(const std::string& path) const {
  if (path.find("/tags/list") != std::string::npos) {
    return typed(kJson, R"({"name":"team/vpc","tags":["v1.0.0"]})");
  }
  if (path.find("/manifests/") != std::string::npos) {
    ServerAnswer manifest = typed(kOciManifestType, module_.manifest);
    manifest.headers.push_back({"Docker-Content-Digest", module_.manifest_digest});
    return manifest;
  }
  return typed("application/octet-stream", module_.package);
}

// What git-http-backend does, without a web server before it.
ServerAnswer Origin::git(const ReceivedRequest& request) const {
  const bool lists = request.method == "GET";
  std::vector<std::string> argv = {"git", "upload-pack", "--stateless-rpc"};
  if (lists) {
    argv.emplace_back("--http-backend-info-refs");
  }
  argv.push_back(repository_.path().string());
  const std::string protocol = request.header("Git-Protocol");
  try {
    const std::string said = run(argv, {}, {{"GIT_PROTOCOL", protocol}}, request.body);
    const std::string start = lists && protocol.empty() ? "001e# service=git-upload-pack\n0000" : "";
    return typed(lists ? "application/x-git-upload-pack-advertisement" : "application/x-git-upload-pack-result",
                 start + said);
  } catch (const std::exception&) {
    return {.status = 500};
  }
}

}  // namespace modlock::test
