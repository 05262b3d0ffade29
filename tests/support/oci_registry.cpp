#include "tests/support/oci_registry.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "backends/base/digest.h"
#include "tests/support/base64.h"
#include "tests/support/server_thread.h"

namespace modlock::test {
namespace {

struct Content {
  std::string body;
  std::string type;
  std::string digest;
};

OciRegistry::Answer error(int status, const std::string& code) {
  return {.status = status, .body = fmt::format(R"({{"errors":[{{"code":"{}","message":"no"}}]}})", code)};
}

std::string basic(const std::string& user, const std::string& password) {
  return "Basic " + base64_of(user + ":" + password);
}

}  // namespace

class OciRegistry::Impl {
 public:
  explicit Impl(const ServerCertificate& certificate)
      : server_(certificate.certificate.c_str(), certificate.key.c_str()) {
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      const Answer answer = answer_to(request);
      response.status = answer.status;
      for (const auto& [name, value] : answer.headers) {
        response.set_header(name, value);
      }
      response.set_content(answer.body, answer.type);
      return httplib::Server::HandlerResponse::Handled;
    });
    thread_.start(server_, "an OCI registry");
  }

  int port() const { return thread_.port(); }

  mutable std::mutex mutex;
  std::map<std::string, Content> contents;               // by path
  std::map<std::string, std::vector<std::string>> tags;  // by repository, in the order they came
  struct Fault {
    Answer answer;
    int times = 0;
  };
  std::map<std::string, Fault> faults;  // by path
  std::vector<std::string> lines;
  std::size_t page_size = 0;
  bool absolute_links = false;
  bool wants_token = false;
  std::string authorization;  // that /v2/ takes, or where a token is wanted /token; empty: anything
  int token_uses = 0;
  std::map<std::string, int> tokens;  // and how often each may be used still

 private:
  Answer answer_to(const httplib::Request& request) {
    const std::lock_guard lock(mutex);
    lines.push_back(request.method + " " + request.target);
    if (const auto fault = faults.find(request.path); fault != faults.end() && fault->second.times > 0) {
      --fault->second.times;
      return fault->second.answer;
    }
    const std::string given = request.get_header_value("Authorization");
    if (request.path == "/token") {
      return give_token(request, given);
    }
    if (!is_let_in(given)) {
      Answer refusal = error(401, "UNAUTHORIZED");
      refusal.headers = {
          {"WWW-Authenticate", wants_token
                                   ? fmt::format("Bearer realm=\"https://127.0.0.1:{}/token\",service=\"fake\"", port())
                                   : std::string("Basic realm=\"fake\"")}};
      return refusal;
    }
    if (const auto at = request.path.find("/tags/list"); at != std::string::npos) {
      return list(request, request.path.substr(4, at - 4));
    }
    if (request.path == "/v2/") {
      return {.body = "{}"};  // clients ask whether this is a registry at all
    }
    const auto content = contents.find(request.path);
    if (content == contents.end()) {
      return error(404, request.path.find("/manifests/") != std::string::npos ? "MANIFEST_UNKNOWN" : "BLOB_UNKNOWN");
    }
    return {.body = content->second.body,
            .type = content->second.type,
            .headers = {{"Docker-Content-Digest", content->second.digest}}};
  }

  bool is_let_in(const std::string& given) {
    if (!wants_token) {
      return authorization.empty() || given == authorization;
    }
    const auto token = tokens.find(given);
    return token != tokens.end() && token->second-- > 0;
  }

  Answer give_token(const httplib::Request& request, const std::string& given) {
    if (!authorization.empty() && given != authorization) {
      return error(401, "UNAUTHORIZED");
    }
    const std::string token = fmt::format("token-{}-{}", tokens.size(), sha256_hex(request.target).substr(0, 8));
    tokens["Bearer " + token] = token_uses;
    return {.body = fmt::format(R"({{"token":"{}","expires_in":300}})", token)};
  }

  Answer list(const httplib::Request& request, const std::string& repository) {
    const auto known = tags.find(repository);
    if (known == tags.end()) {
      return error(404, "NAME_UNKNOWN");
    }
    std::size_t from = 0;
    if (request.has_param("last")) {
      const auto last = std::find(known->second.begin(), known->second.end(), request.get_param_value("last"));
      from = static_cast<std::size_t>(last - known->second.begin()) + 1;
    }
    const std::size_t end = page_size == 0 ? known->second.size() : std::min(from + page_size, known->second.size());
    Answer page{.body = fmt::format(R"({{"name":"{}","tags":[)", repository)};
    for (std::size_t i = from; i < end; ++i) {
      page.body += fmt::format("{}\"{}\"", i == from ? "" : ",", known->second[i]);
    }
    page.body += "]}";
    if (end < known->second.size()) {
      const std::string origin = absolute_links ? fmt::format("https://127.0.0.1:{}", port()) : std::string();
      page.headers = {{"Link", fmt::format("<{}/v2/{}/tags/list?last={}&n={}>; rel=\"next\"", origin, repository,
                                           known->second[end - 1], page_size)}};
    }
    return page;
  }

  httplib::SSLServer server_;
  ServerThread thread_;
};

OciRegistry::OciRegistry(const ServerCertificate& certificate) : impl_(std::make_unique<Impl>(certificate)) {}

OciRegistry::~OciRegistry() = default;

std::string OciRegistry::host() const {
  return fmt::format("127.0.0.1:{}", impl_->port());
}

std::string OciRegistry::source(const std::string& repository) const {
  return fmt::format("oci://{}/{}", host(), repository);
}

std::string OciRegistry::push(const std::string& repository, const std::string& tag, const PackageFiles& files) {
  const OciModule module = make_oci_module(files);
  put_blob(repository, module.package_digest, module.package);
  return put_manifest(repository, tag, module.manifest);
}

std::string OciRegistry::put_manifest(const std::string& repository, const std::string& tag, const std::string& body,
                                      const std::string& type) {
  const std::lock_guard lock(impl_->mutex);
  const std::string digest = digest_of(body);
  std::vector<std::string>& tags = impl_->tags[repository];
  if (std::find(tags.begin(), tags.end(), tag) == tags.end()) {
    tags.push_back(tag);
  }
  for (const std::string& reference : {tag, digest}) {
    impl_->contents[fmt::format("/v2/{}/manifests/{}", repository, reference)] = {body, type, digest};
  }
  return digest;
}

void OciRegistry::put_blob(const std::string& repository, const std::string& digest, const std::string& bytes) {
  const std::lock_guard lock(impl_->mutex);
  impl_->contents[fmt::format("/v2/{}/blobs/{}", repository, digest)] = {bytes, "application/octet-stream", digest};
}

void OciRegistry::page_tags(std::size_t size, bool absolute_links) {
  const std::lock_guard lock(impl_->mutex);
  impl_->page_size = size;
  impl_->absolute_links = absolute_links;
}

void OciRegistry::require_token(const std::string& user, const std::string& password, int uses) {
  const std::lock_guard lock(impl_->mutex);
  impl_->wants_token = true;
  impl_->authorization = user.empty() ? std::string() : basic(user, password);
  impl_->token_uses = uses;
}

void OciRegistry::require_basic(const std::string& user, const std::string& password) {
  const std::lock_guard lock(impl_->mutex);
  impl_->wants_token = false;
  impl_->authorization = basic(user, password);
}

void OciRegistry::fault(const std::string& path, Answer answer, int times) {
  const std::lock_guard lock(impl_->mutex);
  impl_->faults[path] = {std::move(answer), times};
}

std::vector<std::string> OciRegistry::lines() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->lines;
}

}  // namespace modlock::test
