#include "backends/http/retrying_http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <random>

#include "backends/address/go_url.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/http/url.h"

namespace modlock {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstDelay{500};
constexpr milliseconds kLongestDelay{8'000};
constexpr milliseconds kLongestWait{60'000};
constexpr std::chrono::seconds kDay{86'400};

bool may_succeed_later(const Attempt& attempt) {
  if (attempt.failure) {
    return *attempt.failure == Code::unreachable || *attempt.failure == Code::timeout;
  }
  constexpr std::array kStatuses = {408, 429, 500, 502, 503, 504};
  return std::ranges::find(kStatuses, attempt.status) != kStatuses.end();
}

using Headers = std::vector<std::pair<std::string, SecretText>>;

bool has_line_end(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

// Returns the Authorization for the user-info in a URL; empty if there is none.
SecretText basic_authorization(std::string_view url) {
  const auto parts = http::split_url(url);
  if (!parts || !parts->user_info || parts->user_info->empty()) {
    return {};
  }
  const std::size_t colon = std::min(parts->user_info->find(':'), parts->user_info->size());
  const std::string plain = percent_decode(parts->user_info->substr(0, colon)) + ":" +
                            percent_decode(parts->user_info->substr(std::min(colon + 1, parts->user_info->size())));
  return SecretText("Basic " + base64(plain));
}

bool names(const Headers& headers, std::string_view name) {
  return std::ranges::any_of(headers, [&](const auto& row) { return ascii::equals_ignoring_case(row.first, name); });
}

// Performs one request with its redirects and attempts.
class RequestLoop {
 public:
  RequestLoop(const HttpRequest& request, const Context& context, Transport& transport, const RetryTiming& timing)
      : request_(request),
        context_(context),
        transport_(transport),
        timing_(timing),
        method_(request.method),
        url_(request.url.reveal()),
        secrets_(request.secret_headers),
        basic_(basic_authorization(url_)) {}

  Result<HttpResponse> run() {
    MODLOCK_TRY(check_request());
    for (int redirects = 0;; ++redirects) {
      auto response = attempts();
      if (!response || request_.redirects == 0 || !is_redirect(response->status)) {
        return response;
      }
      if (redirects == request_.redirects) {
        return failure(Code::bad_response, fmt::format("it was redirected more than {} times", request_.redirects),
                       "the server may have a redirect loop");
      }
      MODLOCK_TRY(move(*response));
    }
  }

 private:
  std::string message(std::string_view reason) const {
    return fmt::format("could not {}: {}: {}", request_.purpose, printable_url(url_), reason);
  }
  tl::unexpected<Error> failure(Code code, std::string_view reason, Hint hint = {}, Reason kind = {}) const {
    return fail({.code = code, .message = message(reason), .hint = std::move(hint), .reason = kind});
  }

  Result<void> check_request() const {
    const auto parts = http::split_url(url_);
    if (!parts || (parts->scheme != "https" && parts->scheme != "http")) {
      return failure(Code::source_invalid, "only http and https URLs are supported");
    }
    const auto is_broken = [](const std::string& name, const std::string& value) {
      return name.empty() || has_line_end(name) || has_line_end(value);
    };
    for (const HttpHeader& header : request_.headers) {
      if (is_broken(header.name, header.value)) {
        return failure(Code::source_invalid, fmt::format("the header {} contains a line ending", quoted(header.name)));
      }
    }
    for (const auto& [name, value] : request_.secret_headers) {
      if (is_broken(name, value.reveal())) {
        return failure(Code::source_invalid, fmt::format("the secret header {} contains a line ending", quoted(name)),
                       "check the token or password: it must be one line");
      }
    }
    if (context_.offline) {
      return failure(Code::offline_miss, "network access is disabled in offline mode",
                     "run the command without offline mode");
    }
    return {};
  }

  // Returns the context's error with the message of this request.
  std::optional<tl::unexpected<Error>> interruption() const {
    if (const auto going = context_.check(); !going) {
      return failure(going.error().code, going.error().message, going.error().hint);
    }
    return std::nullopt;
  }

  static bool takes_body(HttpRequest::Method method) {
    return method == HttpRequest::Method::post || method == HttpRequest::Method::put;
  }

  Exchange exchange() const {
    const bool has_body = takes_body(method_);
    Exchange exchange{.method = method_, .url = SecretText(http::without_user_info(url_))};
    for (const HttpHeader& header : request_.headers) {
      if (has_body || !takes_body(request_.method) || !ascii::equals_ignoring_case(header.name, "Content-Type")) {
        exchange.headers.emplace_back(header.name, SecretText(header.value));
      }
    }
    if (!request_.validators.empty() && validator_scope(url_) == request_.validated_address) {
      for (const HttpHeader& header : request_.validators) {
        exchange.headers.emplace_back(header.name, SecretText(header.value));
      }
    }
    exchange.headers.insert(exchange.headers.end(), secrets_.begin(), secrets_.end());
    if (!basic_.empty() && !names(exchange.headers, "Authorization")) {
      exchange.headers.emplace_back("Authorization", basic_);
    }
    if (has_body) {
      exchange.body = request_.large_body.empty() ? std::string_view(request_.body) : request_.large_body;
    }
    exchange.body_limit = request_.body_limit;
    exchange.sink = request_.sink;
    exchange.timeouts = request_.timeouts;
    exchange.is_large = request_.is_large;
    exchange.is_of_git = request_.is_of_git;
    exchange.decodes = request_.decodes;
    return exchange;
  }

  // Sends requests to the current URL until a response is final.
  Result<HttpResponse> attempts() {
    Exchange exchange = this->exchange();
    while (true) {
      if (auto stopped = interruption()) {
        return std::move(*stopped);
      }
      context_.count_request();
      const auto begun = std::chrono::steady_clock::now();
      if (request_.timeouts.include_retries && request_.timeouts.total) {
        exchange.timeouts.total = std::chrono::ceil<milliseconds>(begun_ + *request_.timeouts.total - begun);
      }
      auto answer = transport_.exchange(exchange, context_);
      log(answer, std::chrono::steady_clock::now() - begun);
      Attempt attempt{.number = attempt_};
      if (answer) {
        answer->url = SecretText(url_);
        attempt.status = answer->status;
        attempt.retry_after =
            parse_retry_after(answer->header("Retry-After").value_or(""), std::chrono::system_clock::now());
      } else if (auto* const given = std::get_if<Error>(&answer.error())) {
        return fail(std::move(*given));
      } else {
        const auto& why = std::get<ExchangeFailure>(answer.error());
        const bool is_over = request_.timeouts.include_retries && why.code == Code::timeout;
        attempt.failure = why.is_final || is_over ? Code::bad_response : why.code;
      }
      const auto delay = retry_delay(attempt, request_.retries, timing_.jitter());
      if (delay && has_time(*delay)) {
        ++attempt_;
        timing_.wait(*delay, context_);
        continue;
      }
      if (answer) {
        return std::move(*answer);
      }
      auto& why = std::get<ExchangeFailure>(answer.error());
      return failure(why.code, why.reason, std::move(why.hint), why.kind);
    }
  }

  void log(const ExchangeResult& answer, std::chrono::steady_clock::duration time) const {
    const auto* failure = answer ? nullptr : std::get_if<ExchangeFailure>(&answer.error());
    const char* method = method_ == HttpRequest::Method::head   ? "HEAD"
                         : method_ == HttpRequest::Method::post ? "POST"
                         : method_ == HttpRequest::Method::put  ? "PUT"
                                                                : "GET";
    context_.log->write(LogLevel::debug, fmt::format("{} {}: {} in {} ms", method, printable_url(url_),
                                                     answer               ? std::to_string(answer->status)
                                                     : failure != nullptr ? failure->reason
                                                                          : "ended",
                                                     std::chrono::duration_cast<milliseconds>(time).count()));
  }

  // Whether a wait would end before the deadline. If not, the current result is more informative than
  // DEADLINE_EXCEEDED.
  bool has_time(milliseconds delay) const {
    const auto then = std::chrono::steady_clock::now() + delay;
    const HttpTimeouts& timeouts = request_.timeouts;
    return (!context_.deadline || then < *context_.deadline) &&
           !(timeouts.include_retries && timeouts.total && then >= begun_ + *timeouts.total);
  }

  Result<void> move(const HttpResponse& response) {
    auto step = follow_redirect(url_, response.status, response.header("Location").value_or(""),
                                method_ == HttpRequest::Method::post);
    if (!step) {
      return failure(step.error().code, step.error().message, step.error().hint);
    }
    if (request_.redirected_source || context_.check_source) {
      const auto source =
          request_.redirected_source ? request_.redirected_source(step->url) : archive_source(step->url);
      if (auto allowed = check_redirect_allowed(url_, step->url, source, context_); !allowed) {
        Error error = std::move(allowed.error());
        error.message = message(fmt::format("it redirects to {}: {}", printable_url(step->url), error.message));
        return fail(std::move(error));
      }
    }
    if (!step->keeps_secrets) {
      secrets_.clear();
      basic_ = {};
    }
    if (SecretText given = basic_authorization(step->url); !given.empty()) {
      basic_ = std::move(given);
    }
    if (step->becomes_get && method_ == HttpRequest::Method::post) {
      method_ = HttpRequest::Method::get;
    }
    url_ = std::move(step->url);
    return {};
  }

  static std::string quoted(std::string_view name) {
    const bool plain =
        !name.empty() && name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
                             std::string_view::npos;
    return plain ? fmt::format("\"{}\"", name) : "without a valid name";
  }

  const HttpRequest& request_;
  const Context& context_;
  Transport& transport_;
  const RetryTiming& timing_;
  HttpRequest::Method method_;
  std::string url_;  // with its user-info
  Headers secrets_;
  SecretText basic_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  int attempt_ = 0;  // for all URLs together; a redirect does not count
};

class RetryingHttpClient final : public HttpClient {
 public:
  RetryingHttpClient(std::unique_ptr<Transport> transport, RetryTiming timing)
      : transport_(std::move(transport)), timing_(std::move(timing)) {}

  Result<HttpResponse> send(const HttpRequest& request, const Context& context) override {
    return RequestLoop(request, context, *transport_, timing_).run();
  }

 private:
  std::unique_ptr<Transport> transport_;
  RetryTiming timing_;
};

void wait_really(milliseconds delay, const Context& context) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, context.stop, delay, [] { return false; });
}

double random_jitter() {
  thread_local std::minstd_rand engine(std::random_device{}());
  return std::uniform_real_distribution<double>(0.0, 1.0)(engine);
}

}  // namespace

std::optional<milliseconds> retry_delay(const Attempt& attempt, int retries, double jitter) {
  if (attempt.number >= retries || !may_succeed_later(attempt)) {
    return std::nullopt;
  }
  milliseconds full = kFirstDelay;
  for (int i = 0; i < attempt.number && full < kLongestDelay; ++i) {
    full *= 2;
  }
  const milliseconds half = std::min(full, kLongestDelay) / 2;
  const milliseconds delay = half + milliseconds(static_cast<std::int64_t>(static_cast<double>(half.count()) * jitter));
  const milliseconds floor = attempt.retry_after.value_or(milliseconds(0));
  return floor > kLongestWait ? std::nullopt : std::optional(std::max(delay, floor));
}

std::optional<milliseconds> parse_retry_after(std::string_view value, std::chrono::system_clock::time_point now) {
  if (value.empty()) {
    return std::nullopt;
  }
  if (value.find_first_not_of("0123456789") == std::string_view::npos) {
    std::int64_t seconds = 0;
    const bool fits = std::from_chars(value.data(), value.data() + value.size(), seconds).ec == std::errc();
    return fits ? std::min(std::chrono::seconds(seconds), kDay) : kDay;
  }
  const std::time_t date = curl_getdate(std::string(value).c_str(), nullptr);
  if (date == -1) {
    return std::nullopt;
  }
  // Not as a time_point of the clock, which overflows before the year 9999.
  const auto wait = std::chrono::seconds(date) - std::chrono::floor<std::chrono::seconds>(now.time_since_epoch());
  return std::clamp(wait, std::chrono::seconds(0), kDay);
}

RetryTiming real_retry_timing() {
  return {.wait = wait_really, .jitter = random_jitter};
}

std::unique_ptr<HttpClient> make_retrying_http_client(std::unique_ptr<Transport> transport, RetryTiming timing) {
  return std::make_unique<RetryingHttpClient>(std::move(transport), std::move(timing));
}

}  // namespace modlock
