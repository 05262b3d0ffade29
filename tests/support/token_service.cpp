#include "tests/support/token_service.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <mutex>

#include "tests/support/base64.h"
#include "tests/support/run.h"
#include "tests/support/server_thread.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

// Without padding, "-_" for "+/" (RFC 4648 section 5).
std::string base64url(const std::string& bytes) {
  std::string text = base64_of(bytes);
  text.erase(text.find_last_not_of('=') + 1);
  for (char& c : text) {
    c = c == '+' ? '-' : c == '/' ? '_' : c;
  }
  return text;
}

// The base64 between the lines of a PEM file.
std::string pem_body(const std::string& pem) {
  std::string body;
  for (std::size_t at = 0; at < pem.size();) {
    const std::size_t end = std::min(pem.find('\n', at), pem.size());
    const std::string line = pem.substr(at, end - at);
    body += line.find("-----") == 0 ? std::string() : line;
    at = end + 1;
  }
  return body;
}

}  // namespace

class TokenService::Impl {
 public:
  Impl(const ServerCertificate& certificate, const std::string& user, const std::string& password,
       std::string refresh_token)
      : basic_("Basic " + base64_of(user + ":" + password)),
        refresh_token_(std::move(refresh_token)),
        server_(certificate.certificate.c_str(), certificate.key.c_str()) {
    run({"openssl", "req", "-x509", "-days", "2", "-subj", "/CN=tokens", "-newkey", "rsa:2048", "-nodes", "-keyout",
         (directory_ / "signer.key").string(), "-out", signer().string()});
    server_.Get("/token", [this](const httplib::Request& request, httplib::Response& response) {
      const std::string given = request.get_header_value("Authorization");
      const std::string repository = repository_of(request.get_param_value("scope"));
      const bool is_public = repository.find("public/") == 0;
      const std::string who = given == basic_ ? "basic" : given.empty() && is_public ? "anonymous" : "refused";
      answer(request, who, response);
    });
    server_.Post("/token", [this](const httplib::Request& request, httplib::Response& response) {
      const bool fine = request.get_param_value("grant_type") == "refresh_token" &&
                        request.get_param_value("refresh_token") == refresh_token_;
      answer(request, fine ? "refresh" : "refused", response);
    });
    thread_.start(server_, "a token service");
  }

  std::string issue(const std::string& repository, const std::vector<std::string>& actions) const {
    std::string list;
    for (const std::string& action : actions) {
      list += fmt::format("{}\"{}\"", list.empty() ? "" : ",", action);
    }
    const auto now =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    const std::string header =
        fmt::format(R"({{"typ":"JWT","alg":"RS256","x5c":["{}"]}})", pem_body(read_text(signer())));
    const std::string claims = fmt::format(
        R"({{"iss":"tests","sub":"","aud":"tests","exp":{},"nbf":{},"iat":{},"jti":"{}","access":[{{"type":"repository","name":"{}","actions":[{}]}}]}})",
        now + 60, now - 60, now, random_hex(8), repository, list);
    const std::string text = base64url(header) + "." + base64url(claims);
    return text + "." +
           base64url(run({"openssl", "dgst", "-sha256", "-sign", (directory_ / "signer.key").string()}, {}, {}, text));
  }

  std::filesystem::path signer() const { return directory_ / "signer.pem"; }

  int port() const { return thread_.port(); }
  mutable std::mutex mutex;
  std::vector<std::string> log;

 private:
  // "team/vpc" of "repository:team/vpc:pull".
  static std::string repository_of(const std::string& scope) {
    const std::size_t from = scope.find(':');
    return scope.substr(from + 1, scope.rfind(':') - from - 1);
  }

  void answer(const httplib::Request& request, const std::string& who, httplib::Response& response) {
    std::string scopes;
    for (std::size_t i = 0; i < request.get_param_value_count("scope"); ++i) {
      scopes += request.get_param_value("scope", i) + " ";
    }
    {
      const std::lock_guard lock(mutex);
      log.push_back(request.method + " " + scopes + who);
    }
    response.status = who == "refused" ? 401 : 200;
    const std::string token =
        who == "refused" ? std::string() : issue(repository_of(request.get_param_value("scope")), {"pull"});
    response.set_content(who == "refused" ? std::string(R"({"errors":[{"code":"UNAUTHORIZED","message":"no"}]})")
                                          : fmt::format(R"({{"access_token":"{}","expires_in":60}})", token),
                         "application/json");
  }

  TemporaryDirectory directory_;
  std::string basic_;
  std::string refresh_token_;
  httplib::SSLServer server_;
  ServerThread thread_;
};

TokenService::TokenService(const ServerCertificate& certificate, const std::string& user, const std::string& password,
                           const std::string& refresh_token)
    : impl_(std::make_unique<Impl>(certificate, user, password, refresh_token)) {}

TokenService::~TokenService() = default;

std::filesystem::path TokenService::signer() const {
  return impl_->signer();
}

std::string TokenService::url() const {
  return fmt::format("https://127.0.0.1:{}/token", impl_->port());
}

std::string TokenService::issue(const std::string& repository, const std::vector<std::string>& actions) const {
  return impl_->issue(repository, actions);
}

std::vector<std::string> TokenService::log() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->log;
}

}  // namespace modlock::test
