#include "tests/support/fake_http_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/ascii.h"
#include "backends/http/http_client.h"
#include "backends/http/retrying_http_client.h"

namespace modlock::test {
namespace {

std::string_view name_of(HttpRequest::Method method) {
  return method == HttpRequest::Method::get ? "GET" : method == HttpRequest::Method::head ? "HEAD" : "POST";
}

}  // namespace

std::string SentRequest::header(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const auto& row) { return ascii::equals_ignoring_case(row.first, name); });
  return found == headers.end() ? std::string() : found->second;
}

struct FakeHttpClient::Wire final : Transport {
  explicit Wire(std::shared_ptr<State> shared) : state(std::move(shared)) {}

  Answer take_answer(const Exchange& exchange) {
    SentRequest request{.method = std::string(name_of(exchange.method)),
                        .url = exchange.url.reveal(),
                        .headers = {},
                        .body = std::string(exchange.body),
                        .timeouts = exchange.timeouts,
                        .body_limit = exchange.body_limit};
    for (const auto& [name, value] : exchange.headers) {
      request.headers.emplace_back(name, value.reveal());
    }
    const std::string line = request.method + " " + request.url;
    const std::scoped_lock lock(state->mutex);
    state->sent.push_back(std::move(request));
    const auto found = state->rows.find(line);
    if (found == state->rows.end()) {
      return ExchangeFailure{.code = Code::internal, .reason = "the test has no answer for " + line, .is_final = true};
    }
    State::Row& row = found->second;
    return row.answers[std::min(row.given++, row.answers.size() - 1)];
  }

  ExchangeResult exchange(const Exchange& exchange, const Context& context) override {
    const Answer answer = take_answer(exchange);
    if (const auto* const failure = std::get_if<ExchangeFailure>(&answer)) {
      return tl::unexpected(*failure);
    }
    const auto& given = std::get<FakeAnswer>(answer);
    HttpResponse response{.status = given.status, .headers = given.headers};
    if (context.stats != nullptr) {
      context.stats->bytes += given.body.size();
    }
    const bool is_success = given.status >= 200 && given.status <= 299;
    if (exchange.method == HttpRequest::Method::head) {
      return response;
    }
    if (!is_success) {
      response.body = given.body.substr(0, kErrorBodyLimit);
      return response;
    }
    if (given.body.size() > exchange.body_limit) {
      return tl::unexpected(
          ExchangeFailure{.code = Code::limit_exceeded,
                          .reason = fmt::format("the response is larger than {} bytes", exchange.body_limit),
                          .is_final = true});
    }
    if (exchange.sink == nullptr) {
      response.body = given.body;
      return response;
    }
    auto taken = exchange.sink->begin(given.body.size());
    if (taken) {
      taken = exchange.sink->write(given.body);
    }
    if (!taken) {
      return tl::unexpected(std::move(taken.error()));
    }
    return response;
  }

  std::shared_ptr<State> state;
};

FakeHttpClient::FakeHttpClient() {
  const auto remember = [state = state_](std::chrono::milliseconds delay, const Context&) {
    const std::scoped_lock lock(state->mutex);
    state->waits.push_back(delay);
  };
  client_ = make_retrying_http_client(std::make_unique<Wire>(state_), {.wait = remember, .jitter = [] { return 0.0; }});
}

void FakeHttpClient::on(std::string_view method, std::string_view url, std::vector<Answer> answers) {
  const std::scoped_lock lock(state_->mutex);
  state_->rows[fmt::format("{} {}", method, url)] = {.answers = std::move(answers)};
}

void FakeHttpClient::on(std::string_view url, std::string body, std::string content_type) {
  on("GET", url, {FakeAnswer{.headers = {{"Content-Type", std::move(content_type)}}, .body = std::move(body)}});
}

void FakeHttpClient::redirect(std::string_view url, std::string location, int status) {
  on("GET", url, {FakeAnswer{.status = status, .headers = {{"Location", std::move(location)}}}});
}

Result<HttpResponse> FakeHttpClient::send(const HttpRequest& request, const Context& context) {
  return client_->send(request, context);
}

std::vector<SentRequest> FakeHttpClient::sent() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->sent;
}

std::vector<std::string> FakeHttpClient::sent_lines() const {
  std::vector<std::string> lines;
  for (const SentRequest& request : sent()) {
    lines.push_back(request.method + " " + request.url);
  }
  return lines;
}

std::vector<std::chrono::milliseconds> FakeHttpClient::waits() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->waits;
}

}  // namespace modlock::test
