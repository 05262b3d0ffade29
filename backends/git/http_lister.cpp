#include "backends/git/http_lister.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/crypto/digest.h"
#include "backends/git/advertisement.h"
#include "backends/git/git_error.h"
#include "backends/git/http_plan.h"
#include "backends/git/stored_credential.h"
#include "backends/process/process.h"

namespace modlock::git {
namespace {

constexpr std::string_view kTail = "/info/refs?service=git-upload-pack";
constexpr std::string_view kAdvertisement = "application/x-git-upload-pack-advertisement";
constexpr std::size_t kLargestAdvertisement = std::size_t{64} << 20U;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

bool is_header(const HttpHeader& header, std::string_view name) {
  return lower_case(header.name) == name;
}

SecretText basic(const SecretText& username, const SecretText& password) {
  const std::string text = username.reveal() + ":" + password.reveal();
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  return SecretText("Basic " + base64(bytes.data(), bytes.size()));
}

bool has_netrc() {
  const auto home = lookup_environment("HOME");
  std::error_code ignored;
  return home && std::filesystem::exists(std::filesystem::path(*home) / ".netrc", ignored);
}

// Whether Basic is all that a challenge offers: git itself takes the strongest kind that it can.
bool asks_for_basic_alone(const HttpResponse& response) {
  bool found = false;
  for (const HttpHeader& header : response.headers) {
    if (is_header(header, "www-authenticate")) {
      if (!lower_case(header.value).starts_with("basic")) {
        return false;
      }
      found = true;
    }
  }
  return found;
}

// The client's code is that of every server out of reach; no address holds its words.
bool speaks_of_certificate(std::string_view message) {
  return message.find("the TLS certificate of ") != std::string_view::npos;
}

// The source that a redirect to this address would make of ours.
Result<void> judge_redirect(std::string_view url, const Context& context) {
  if (!context.judge_source) {
    return {};
  }
  constexpr std::string_view kPath = "/info/refs";
  const auto source = parse_source("git::" + std::string(url.substr(0, url.rfind(kPath))));
  return source ? context.judge_source(source->source) : fail(source.error());
}

// One listing on its way.
class Exchange {
 public:
  Exchange(HttpClient& http, const HttpPlan& plan, std::string_view doing, const Context& context)
      : http_(http), plan_(plan), remote_(plan.remote), doing_(doing), context_(context) {}

  Result<References> run();
  // The address that the redirects lead to; empty where it is none of this repository's.
  Result<SecretText> resolve();
  // Why git itself may have an answer where run() has none; empty where it would have the same.
  const std::string& only_git() const { return only_git_; }

 private:
  Result<std::string> request();
  std::string url() const;
  Result<HttpResponse> send(const SecretText& authorization);
  Result<HttpResponse> send_with_credentials();
  Error explain_failure(Error error);
  Error explain_status(HttpResponse response) const;
  tl::unexpected<Error> trouble(Trouble trouble) const { return fail(explain(remote_, doing_, trouble)); }

  HttpClient& http_;
  const HttpPlan& plan_;
  const RemoteAddress& remote_;
  std::string_view doing_;
  const Context& context_;
  std::string only_git_ = {};
};

Result<References> Exchange::run() {
  bool has_arrived = false;
  auto references = read_advertisement(remote_.url, [&] {
    auto body = request();
    has_arrived = body.has_value();
    return body;
  });
  if (references || !has_arrived) {
    return references;
  }
  const std::string said = references.error().message;
  const Trouble found = classify(said);
  Error error = explain(remote_, doing_, found == Trouble::other ? Trouble::broken_response : found);
  error.notes.push_back("libgit2: " + quotable(scrub(said)));
  return fail(std::move(error));
}

Result<SecretText> Exchange::resolve() {
  const auto response = send(remote_.password ? basic(remote_.username, *remote_.password) : SecretText());
  if (!response) {
    return fail(response.error());
  }
  const std::string& led_to = response->url.reveal();
  if (led_to == url() || !led_to.ends_with(kTail)) {
    return SecretText();
  }
  return SecretText(led_to.substr(0, led_to.size() - kTail.size()));
}

std::string Exchange::url() const {
  return remote_.url.substr(0, remote_.url.find_last_not_of('/') + 1) + std::string(kTail);
}

Result<std::string> Exchange::request() {
  auto response = send_with_credentials();
  if (!response) {
    return fail(std::move(response.error()));
  }
  if (response->status < 200 || response->status > 299) {
    return fail(explain_status(std::move(*response)));
  }
  if (!response->url.reveal().ends_with(kTail)) {
    return trouble(Trouble::redirected);
  }
  if (response->header("content-type").value_or("") != kAdvertisement) {
    only_git_ = "the server does not speak git's smart protocol";
    return trouble(Trouble::broken_response);
  }
  // Capabilities stand in the first line.
  constexpr std::size_t kFirstLines = 4096;
  if (response->body.substr(0, kFirstLines).find("object-format=sha256") != std::string::npos) {
    return fail(unsupported_object_format(remote_, doing_));
  }
  return std::move(response->body);
}

Result<HttpResponse> Exchange::send(const SecretText& authorization) {
  HttpRequest request;
  request.url = SecretText(url());
  request.purpose = fmt::format("{} \"{}\"", doing_, remote_.display);
  request.headers = {{"User-Agent", plan_.user_agent}};
  request.secret_headers = plan_.secret_headers;
  if (!authorization.empty()) {
    request.secret_headers.emplace_back("Authorization", authorization);
  }
  request.body_limit = kLargestAdvertisement;
  request.judge_redirect = [this](std::string_view target) { return judge_redirect(target, context_); };
  auto response = http_.send(request, context_);
  return response ? std::move(response) : fail(explain_failure(std::move(response.error())));
}

Result<HttpResponse> Exchange::send_with_credentials() {
  constexpr int kUnauthorized = 401;
  if (remote_.password) {
    auto response = send(basic(remote_.username, *remote_.password));
    return response && response->status == kUnauthorized ? trouble(Trouble::credentials_refused) : std::move(response);
  }
  auto response = send({});
  if (!response || response->status != kUnauthorized) {
    return response;
  }
  const auto& headers = plan_.secret_headers;
  const bool has_own = std::any_of(headers.begin(), headers.end(),
                                   [](const auto& header) { return lower_case(header.first) == "authorization"; });
  if (has_own || has_netrc() || !asks_for_basic_alone(*response) || response->url.reveal() != url()) {
    only_git_ = "the server asks for credentials that git may have another way";
    return trouble(has_own ? Trouble::credentials_refused : Trouble::credentials_needed);
  }
  const auto stored = fill_credential(remote_, context_);
  if (!stored) {
    return fail(stored.error());
  }
  if (!*stored) {
    return trouble(Trouble::credentials_needed);
  }
  response = send(basic((*stored)->username, (*stored)->password));
  if (response && response->status == kUnauthorized) {
    judge_credential(remote_, **stored, "reject", context_);
    return trouble(Trouble::credentials_refused);
  }
  if (response && response->status < 300) {
    judge_credential(remote_, **stored, "approve", context_);
  }
  return response;
}

// What the client says becomes a note under the words for what git would have met.
Error Exchange::explain_failure(Error error) {
  Trouble found = Trouble::other;
  switch (error.code) {
    case Code::timeout:
      found = Trouble::timeout;
      break;
    case Code::unreachable:
      found = speaks_of_certificate(error.message) ? Trouble::certificate : Trouble::unreachable;
      break;
    case Code::bad_response:
      found = Trouble::broken_response;
      break;
    case Code::limit_exceeded:
      only_git_ = "it advertises more than is read at once";
      return error;
    default:
      return with_note(std::move(error), fmt::format("while git was to {} \"{}\"", doing_, remote_.display));
  }
  if (found == Trouble::certificate) {
    only_git_ = "git may trust other authorities";
  }
  Error explained = explain(remote_, doing_, found);
  explained.notes = std::move(error.notes);
  explained.notes.insert(explained.notes.begin(), quotable(scrub(error.message)));
  return explained;
}

Error Exchange::explain_status(HttpResponse response) const {
  const int status = response.status;
  const Trouble found = status == 401                    ? Trouble::credentials_needed
                        : status == 403                  ? Trouble::forbidden
                        : status == 404 || status == 410 ? Trouble::no_repository
                        : status == 408 || status == 504 ? Trouble::timeout
                        : status == 429                  ? Trouble::rate_limited
                        : status >= 500                  ? Trouble::server_error
                        : status >= 300 && status < 400  ? Trouble::redirected
                                                         : Trouble::broken_response;
  Error error = explain(remote_, doing_, found);
  error.notes.push_back(fmt::format("the server answered with status {}", status));
  if (const auto refused = expect_success(std::move(response), HttpRequest{}); !refused) {
    error.retry_after = refused.error().retry_after;
  }
  return error;
}

}  // namespace

std::optional<Result<References>> HttpLister::list(const RemoteAddress& remote, std::string_view doing,
                                                   const Context& context) const {
  const bool is_http = remote.scheme == "https" || remote.scheme == "http";
  if (http_ == nullptr || engine_ == GitEngine::git || !is_http || context.offline) {
    return std::nullopt;
  }
  const auto plan = plan_http(remote, lookup_environment);
  if (!plan && engine_ == GitEngine::automatic) {
    return std::nullopt;
  }
  if (!plan) {
    return fail(
        Code::source_unsupported,
        fmt::format("libgit2 could not {} \"{}\": {}, which git alone honours", doing, remote.display, plan.error()),
        "choose the engine \"auto\" or \"git\"");
  }
  Exchange exchange(*http_, *plan, doing, context);
  auto references = exchange.run();
  if (!references && !exchange.only_git().empty()) {
    if (engine_ == GitEngine::automatic && find_program("git")) {
      return std::nullopt;
    }
    references.error().notes.push_back("git itself was not asked: " + exchange.only_git());
  }
  return references;
}

std::optional<Result<SecretText>> HttpLister::resolve(const RemoteAddress& remote, std::string_view doing,
                                                      const Context& context) const {
  const auto plan = http_ == nullptr ? std::nullopt : std::optional(plan_http(remote, lookup_environment));
  if (!plan || !*plan) {
    return std::nullopt;
  }
  auto led_to = Exchange(*http_, **plan, doing, context).resolve();
  return led_to && led_to->empty() ? std::nullopt : std::optional(std::move(led_to));
}

}  // namespace modlock::git
