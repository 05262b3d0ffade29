#include "tests/support/module_registry.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <mutex>

#include "backends/base/ascii.h"
#include "tests/support/server_thread.h"

namespace modlock::test {
namespace {

constexpr std::string_view kService = "/v1/modules/";

// A text of the tests as JSON; they hold nothing else that needs an escape.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return out + "\"";
}

std::unique_ptr<httplib::Server> make_server(const ServerCertificate& tls) {
  if (tls.certificate.empty()) {
    return std::make_unique<httplib::Server>();
  }
  return std::make_unique<httplib::SSLServer>(tls.certificate.c_str(), tls.key.c_str());
}

}  // namespace

class ModuleRegistry::Impl {
 public:
  explicit Impl(const ServerCertificate& tls)
      : scheme(tls.certificate.empty() ? "http" : "https"), server_(make_server(tls)) {
    server_->set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      respond(request, response);
      return httplib::Server::HandlerResponse::Handled;
    });
    thread_.start(*server_, "a module registry");
  }

  int port() const { return thread_.port(); }

  const std::string scheme;
  mutable std::mutex mutex;
  std::map<std::string, Answer> answers;
  struct Fault {
    Answer answer;
    int times = 0;
  };
  std::map<std::string, Fault> faults;
  std::map<std::string, std::string> tokens;                 // by prefix
  std::map<std::string, std::vector<std::string>> listings;  // versions by module, in order
  std::vector<Request> requests;

 private:
  void respond(const httplib::Request& request, httplib::Response& response) {
    const Answer answer = answer_to(request);
    // A suffix longer than the body is all of it (RFC 9110, section 14.1.2); newer versions of the library refuse it.
    for (auto& [first, last] : const_cast<httplib::Request&>(request).ranges) {
      last = first == -1 ? std::min<std::int64_t>(last, std::ssize(answer.body)) : last;
    }
    if (answer.status != 200) {  // else the server says whether it sends all of the body or a range
      response.status = answer.status;
    }
    for (const auto& [name, value] : answer.headers) {
      response.set_header(name, value);
    }
    if (answer.status != 204) {
      response.set_content(answer.body, answer.type);
    }
  }

  Answer answer_to(const httplib::Request& request) {
    const std::lock_guard lock(mutex);
    Request seen{.method = request.method, .target = request.target, .headers = {}};
    seen.headers.insert(request.headers.begin(), request.headers.end());
    requests.push_back(seen);
    if (const auto fault = faults.find(request.path); fault != faults.end() && fault->second.times > 0) {
      --fault->second.times;
      return fault->second.answer;
    }
    for (const auto& [prefix, token] : tokens) {
      if (request.path.starts_with(prefix) && seen.header("Authorization") != "Bearer " + token) {
        return {.status = 401, .body = R"({"errors":["a token is needed"]})"};
      }
    }
    const auto answer = answers.find(request.path);
    return answer == answers.end() ? Answer{.status = 404, .body = R"({"errors":["Not Found"]})"} : answer->second;
  }

  std::unique_ptr<httplib::Server> server_;
  ServerThread thread_;
};

std::string ModuleRegistry::Request::header(const std::string& name) const {
  std::string value;
  for (const auto& [key, text] : headers) {
    value = ascii::lower(key) == ascii::lower(name) ? text : value;
  }
  return value;
}

ModuleRegistry::ModuleRegistry() : ModuleRegistry(ServerCertificate{}) {}

ModuleRegistry::ModuleRegistry(const ServerCertificate& certificate) : impl_(std::make_unique<Impl>(certificate)) {
  serve("/.well-known/terraform.json", {.body = fmt::format(R"({{"modules.v1":"{}"}})", kService)});
}

ModuleRegistry::~ModuleRegistry() = default;

std::string ModuleRegistry::authority() const {
  return fmt::format("127.0.0.1:{}", impl_->port());
}

std::string ModuleRegistry::url() const {
  return fmt::format("{}://{}", impl_->scheme, authority());
}

std::string ModuleRegistry::host_block(const std::string& name) const {
  return fmt::format("host \"{}\" {{\n  services = {{ \"modules.v1\" = \"{}\" }}\n}}\n", name, modules_url());
}

void ModuleRegistry::add_version(const std::string& module, const std::string& version, Answer download) {
  std::vector<std::string> versions;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->listings[module].push_back(version);
    versions = impl_->listings[module];
  }
  std::string list;
  for (const std::string& listed : versions) {
    list += fmt::format("{}{{\"version\":{}}}", list.empty() ? "" : ",", quoted(listed));
  }
  const std::string base = std::string(kService) + module;
  serve(base + "/versions", {.body = fmt::format(R"({{"modules":[{{"versions":[{}]}}]}})", list)});
  serve(fmt::format("{}/{}/download", base, version), std::move(download));
}

ModuleRegistry::Answer ModuleRegistry::by_header(const std::string& location) {
  return {.status = 204, .headers = {{"X-Terraform-Get", location}}};
}

ModuleRegistry::Answer ModuleRegistry::by_body(const std::string& location) {
  return {.body = fmt::format(R"({{"location":{}}})", quoted(location))};
}

ModuleRegistry::Answer ModuleRegistry::directly(const std::string& location, bool use_registry_credentials) {
  return {.body = fmt::format(R"({{"location":{},"use_registry_credentials":{}}})", quoted(location),
                              use_registry_credentials)};
}

void ModuleRegistry::serve(const std::string& path, Answer answer) {
  const std::lock_guard lock(impl_->mutex);
  impl_->answers[path] = std::move(answer);
}

void ModuleRegistry::fault(const std::string& path, Answer answer, int times) {
  const std::lock_guard lock(impl_->mutex);
  impl_->faults[path] = {std::move(answer), times};
}

void ModuleRegistry::require_token(const std::string& prefix, const std::string& token) {
  const std::lock_guard lock(impl_->mutex);
  impl_->tokens[prefix] = token;
}

std::vector<ModuleRegistry::Request> ModuleRegistry::requests() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->requests;
}

std::vector<std::string> ModuleRegistry::lines() const {
  std::vector<std::string> lines;
  for (const Request& request : requests()) {
    lines.push_back(request.method + " " + request.target);
  }
  return lines;
}

void ModuleRegistry::forget_requests() {
  const std::lock_guard lock(impl_->mutex);
  impl_->requests.clear();
}

}  // namespace modlock::test
