#include "backends/http/secret_recording_client.h"

#include <algorithm>

#include "backends/address/go_url.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"

namespace modlock {
namespace {

// If there is no password, the name is the token.
void add_pair(std::string_view name, std::string_view password, KnownSecrets& secrets) {
  secrets.add(password.empty() ? name : password);
}

// The value is "Bearer <token>", "Basic <pair>", or any other header that the user has set.
void add_header(std::string_view value, KnownSecrets& secrets) {
  const std::size_t blank = value.find(' ');
  if (blank == std::string_view::npos) {
    secrets.add(value);
    return;
  }
  const std::string_view credentials = value.substr(std::min(value.find_first_not_of(' ', blank), value.size()));
  secrets.add(credentials);
  if (ascii::equals_ignoring_case(value.substr(0, blank), "Basic")) {
    if (const auto pair = decode_base64(credentials)) {
      const std::size_t colon = std::min(pair->find(':'), pair->size());
      add_pair(std::string_view(*pair).substr(0, colon),
               std::string_view(*pair).substr(std::min(colon + 1, pair->size())), secrets);
    }
  }
}

class SecretRecordingClient final : public HttpClient {
 public:
  SecretRecordingClient(HttpClient& client, KnownSecrets& secrets) : client_(client), secrets_(secrets) {}

  Result<HttpResponse> send(const HttpRequest& request, const Context& context) override {
    for (const auto& header : request.secret_headers) {
      add_header(header.second.reveal(), secrets_);
    }
    if (const auto url = GoUrl::parse(request.url.reveal()); url && url->user) {
      add_pair(url->user->name, url->user->password.value_or(""), secrets_);
    }
    if (request.body.find("refresh_token=") != std::string::npos) {
      for (const auto& [name, value] : parse_query(request.body)) {
        if (name == "refresh_token") {
          secrets_.add(value);
        }
      }
    }
    ScrubbingLog log(*context.log, secrets_);
    Context scrubbed = context;
    scrubbed.log = &log;
    return client_.send(request, scrubbed);
  }

 private:
  HttpClient& client_;
  KnownSecrets& secrets_;
};

}  // namespace

std::unique_ptr<HttpClient> make_secret_recording_client(HttpClient& client, KnownSecrets& secrets) {
  return std::make_unique<SecretRecordingClient>(client, secrets);
}

}  // namespace modlock
