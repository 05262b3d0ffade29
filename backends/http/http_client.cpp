#include "backends/http/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/http/retrying_http_client.h"
#include "protocol/base/json.h"
#include "protocol/base/json_tokens.h"

namespace modlock {
namespace {

struct Meaning {
  int status;
  Code code;
  std::string_view said;
  std::string_view hint;
};

constexpr std::string_view kTryLater = "try again later";

constexpr std::array kMeanings = {
    Meaning{401, Code::auth_required, "authentication is required, or the credentials were rejected", ""},
    Meaning{403, Code::forbidden, "access denied", ""},
    Meaning{404, Code::not_found, "not found", ""},
    Meaning{407, Code::unreachable, "the proxy requires a user name and a password",
            "put the user name and password for the proxy into the URL of HTTP_PROXY"},
    Meaning{408, Code::timeout, "the server timed out while it waited for the request", kTryLater},
    Meaning{410, Code::not_found, "no longer available", ""},
    Meaning{429, Code::rate_limited, "rate limit exceeded", "wait before the next attempt"},
    Meaning{504, Code::timeout, "a server behind this server timed out", kTryLater},
};

Meaning meaning_of(int status) {
  if (const auto* const row = std::ranges::find(kMeanings, status, &Meaning::status); row != kMeanings.end()) {
    return *row;
  }
  if (status >= 500 && status <= 599) {
    return {status, Code::unreachable, "server error", kTryLater};
  }
  return {status, Code::bad_response, "unexpected status", ""};
}

// Returns the reason in a JSON error body: a registry's {"errors": ["…"]}, OCI's {"errors": [{"message": "…"}]}, or
// {"error" or "message": "…"}.
std::string json_reason(const Json::Value& body) {
  const auto text = [](const Json::Value& value) { return value.isString() ? value.asString() : std::string(); };
  if (!body.isObject()) {
    return text(body);
  }
  const Json::Value& errors = body["errors"];
  if (errors.isArray() && !errors.empty()) {
    const Json::Value& first = errors[0];
    return first.isObject() ? text(first["message"]) : text(first);
  }
  const auto message = string_member(body, "message");
  return message ? *message : string_member(body, "error").value_or("");
}

// Returns one readable line, or nothing: an HTML page does not help.
std::string reason_in(const HttpResponse& response) {
  constexpr std::size_t kShortText = 4096;
  std::string text;
  if (const auto json = parse_json(response.body)) {
    text = json_reason(*json);
  } else if (response.body.size() <= kShortText && response.body.find('<') == std::string::npos) {
    text = response.body;
  }
  const std::size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text = text.substr(start, text.find_first_of("\r\n", start) - start);
  return quotable(text, 300);
}

// A server may return what it received.
bool carries_secrets(const HttpRequest& request) {
  const auto url = GoUrl::parse(request.url.reveal());
  return !request.secret_headers.empty() || !request.body.empty() || !url || url->user || !url->raw_query.empty();
}

}  // namespace

std::optional<std::string> HttpResponse::header(std::string_view name) const {
  const auto found = std::ranges::find_if(
      headers, [&](const HttpHeader& header) { return ascii::equals_ignoring_case(header.name, name); });
  return found == headers.end() ? std::nullopt : std::optional(found->value);
}

Result<HttpResponse> expect_success(Result<HttpResponse> response, const HttpRequest& request) {
  if (!response || (response->status >= 200 && response->status <= 299)) {
    return response;
  }
  if (response->status == 304 && !request.validators.empty() &&
      validator_scope(response->url.reveal()) == request.validated_address) {
    return response;
  }
  const Meaning meaning = meaning_of(response->status);
  Error error;
  error.code = meaning.code;
  error.message = fmt::format("could not {}: {}: {} (status {})", request.purpose,
                              printable_url(response->url.reveal()), meaning.said, response->status);
  error.hint = meaning.hint;
  if (response->status == 429 || response->status >= 500) {
    error.retry_after =
        parse_retry_after(response->header("Retry-After").value_or(""), std::chrono::system_clock::now());
  }
  if (std::string reason = carries_secrets(request) ? "" : reason_in(*response); !reason.empty()) {
    error.notes.push_back("the server reports: " + std::move(reason));
  }
  return fail(std::move(error));
}

bool is_html(std::string_view body) {
  constexpr std::size_t kLook = 1024;  // an XML declaration or a comment may come first
  const std::size_t start = body.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (start == std::string_view::npos || body[start] != '<') {
    return false;
  }
  const std::string head = ascii::lower(body.substr(start, kLook));
  return head.find("<html") != std::string::npos || head.find("<!doctype html") != std::string::npos;
}

std::string_view first_json_text(std::string_view body) {
  JsonTokens tokens(body);
  JsonToken token = tokens.next();
  while (tokens.depth() > 0 && token.kind != JsonKind::fault) {
    token = tokens.next();
  }
  return token.kind == JsonKind::close ? body.substr(0, token.end) : body;
}

Result<Json::Value> parse_json_body(std::string_view body) {
  auto json = parse_json(body);
  if (json) {
    return json;
  }
  if (is_html(body)) {
    return fail(Code::bad_response, "the server sent an HTML page, not JSON",
                "check the address, and whether a proxy or a login page responds in its place");
  }
  const Code code = json.error().code == Code::limit_exceeded ? Code::limit_exceeded : Code::bad_response;
  return fail(code, std::move(json.error().message));
}

}  // namespace modlock

namespace modlock::http {

std::string media_type(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  return ascii::lower(type.substr(0, type.find_last_not_of(" \t") + 1));
}

std::string duration_text(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  return count % 1000 == 0 ? fmt::format("{} s", count / 1000) : fmt::format("{} ms", count);
}

}  // namespace modlock::http
