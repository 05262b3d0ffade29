#include "backends/http/url.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/address/source_remote.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/http/http_client.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace http {
namespace {

constexpr std::size_t kPrintableBytes = 200;

// The five parts of a URI reference (RFC 3986 appendix B).
struct Reference {
  std::optional<std::string_view> scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::optional<std::string_view> fragment;
};

bool is_scheme(std::string_view text) {
  const auto fits = [](char c) { return ascii::is_alnum(c) || c == '+' || c == '-' || c == '.'; };
  return !text.empty() && ascii::is_alpha(text[0]) && std::ranges::all_of(text, fits);
}

// Removes the text after the first `mark` from the end, and returns it.
std::optional<std::string_view> take_behind(std::string_view& rest, char mark) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view behind = rest.substr(at + 1);
  rest = rest.substr(0, at);
  return behind;
}

Reference split_reference(std::string_view text) {
  Reference reference;
  reference.fragment = take_behind(text, '#');
  reference.query = take_behind(text, '?');
  const std::size_t colon = text.find(':');
  if (colon < text.find('/') && is_scheme(text.substr(0, colon))) {
    reference.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text.substr(0, 2) == "//") {
    reference.authority = text.substr(2, text.find('/', 2) - 2);
    text.remove_prefix(2 + reference.authority->size());
  }
  reference.path = text;
  return reference;
}

// RFC 3986 section 5.2.4, for a path that starts with a slash or is empty.
std::string remove_dot_segments(std::string_view path) {
  if (path.empty()) {
    return {};
  }
  std::vector<std::string_view> kept;
  std::string_view last;
  for (const std::string_view segment : split(path.substr(1), '/')) {
    last = segment;
    if (segment == ".." && !kept.empty()) {
      kept.pop_back();
    } else if (segment != "." && segment != "..") {
      kept.push_back(segment);
    }
  }
  if (last == "." || last == "..") {
    kept.push_back("");
  }
  return fmt::format("/{}", fmt::join(kept, "/"));
}

// Escapes bytes that a URL must not contain but that servers send in a Location; existing escapes are unchanged.
std::string encode_strays(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == ' ' || byte >= 0x80 || std::string_view("\"<>\\^`{|}").find(c) != std::string_view::npos) {
      out += fmt::format("%{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

// RFC 3986 section 5.2.3.
std::string merge(const Reference& base, std::string_view path) {
  if (base.path.empty()) {
    return "/" + std::string(path);
  }
  return std::string(base.path.substr(0, base.path.rfind('/') + 1)) + std::string(path);
}

int default_port(std::string_view scheme) {
  return scheme == "https" ? 443 : scheme == "http" ? 80 : 0;
}

// Splits "host:port"; nullopt if the port is invalid.
std::optional<std::pair<std::string_view, int>> split_port(std::string_view authority) {
  const std::size_t colon = authority.find(':', authority.substr(0, 1) == "[" ? authority.find(']') : 0);
  if (colon == std::string_view::npos || colon + 1 == authority.size()) {
    return std::pair(authority.substr(0, colon), 0);
  }
  const std::string_view digits = authority.substr(colon + 1);
  int port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port < 1 || port > 65'535) {
    return std::nullopt;
  }
  return std::pair(authority.substr(0, colon), port);
}

}  // namespace

std::string UrlParts::authority() const {
  return has_port ? fmt::format("{}:{}", host, port) : host;
}

std::optional<UrlParts> split_url(std::string_view url) {
  const Reference reference = split_reference(url);
  if (!reference.scheme || !reference.authority || url.find(' ') != std::string_view::npos || !GoUrl::parse(url)) {
    return std::nullopt;
  }
  UrlParts parts;
  parts.scheme = ascii::lower(*reference.scheme);
  std::string_view authority = *reference.authority;
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    parts.user_info = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  const auto split = split_port(authority);
  if (!split || split->first.empty()) {
    return std::nullopt;
  }
  parts.host = ascii::lower(split->first);
  parts.port = split->second == 0 ? default_port(parts.scheme) : split->second;
  parts.has_port = parts.port != default_port(parts.scheme);
  parts.path = reference.path;
  if (reference.query) {
    parts.query = std::string_view(reference.query->data() - 1, reference.query->size() + 1);
  }
  return parts;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "[::1]" ||
         (host.substr(0, 4) == "127." && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

std::string origin_of(const UrlParts& parts) {
  return fmt::format("{}://{}:{}", parts.scheme, parts.host, parts.port);
}

std::string without_user_info(std::string_view url) {
  const auto parts = split_url(url);
  return parts ? fmt::format("{}://{}{}{}", parts->scheme, parts->authority(), parts->path, parts->query)
               : std::string();
}

}  // namespace http

namespace {

tl::unexpected<Error> bad(std::string message) {
  return fail(Code::bad_response, std::move(message));
}

}  // namespace

using namespace http;

std::string validator_scope(std::string_view url) {
  const auto parts = split_url(url);
  return parts ? sha256_hex(fmt::format("{}{}", origin_of(*parts), parts->path)) : std::string();
}

std::string printable_url(std::string_view url) {
  const auto parts = split_url(url);
  if (!parts) {
    return "an invalid URL";
  }
  const std::string shown = fmt::format("{}://{}{}", parts->scheme, parts->authority(), parts->path);
  return cut_text(to_valid_utf8(escape_controls(shown)), kPrintableBytes);
}

std::optional<std::string> resolve_url(std::string_view base, std::string_view reference) {
  if (!split_url(base) || std::ranges::any_of(reference, ascii::is_control)) {
    return std::nullopt;
  }
  const Reference from = split_reference(base);
  const Reference to = split_reference(reference);
  std::string path;
  std::optional<std::string_view> query = to.query;
  if (to.scheme || to.authority || to.path.substr(0, 1) == "/") {
    path = remove_dot_segments(to.path);
  } else if (to.path.empty()) {
    path = from.path;
    query = to.query ? to.query : from.query;
  } else {
    path = remove_dot_segments(merge(from, to.path));
  }
  const auto authority = to.scheme || to.authority ? to.authority : from.authority;
  if (!authority) {
    return std::nullopt;
  }
  std::string result =
      fmt::format("{}://{}{}", ascii::lower(to.scheme.value_or(*from.scheme)), *authority, encode_strays(path));
  result += query ? "?" + encode_strays(*query) : std::string();
  result += to.fragment ? "#" + encode_strays(*to.fragment) : std::string();
  return split_url(result) ? std::optional(std::move(result)) : std::nullopt;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

Result<RedirectStep> follow_redirect(std::string_view url, int status, std::string_view location, bool is_post) {
  if (location.empty()) {
    return bad("it redirects without a Location header");
  }
  auto target = resolve_url(url, location);
  const auto from = http::split_url(url);
  const auto to = target ? http::split_url(*target) : std::nullopt;
  if (!from || !to) {
    return bad("it redirects to an invalid URL");
  }
  if (to->scheme != "http" && to->scheme != "https") {
    return bad("it redirects to a URL that is neither http nor https: " + printable_url(*target));
  }
  if (from->scheme == "https" && to->scheme == "http") {
    return bad("it redirects from https to http, which is not allowed: " + printable_url(*target));
  }
  const bool post_becomes_get = is_post && (status == 301 || status == 302 || status == 303);
  return RedirectStep{.url = std::move(*target),
                      .keeps_secrets = http::origin_of(*from) == http::origin_of(*to),
                      .becomes_get = status == 303 || post_becomes_get};
}

Result<Source> archive_source(std::string_view url) {
  const std::string shown = printable_url(url);
  auto package = describe_package(url.substr(0, url.find_first_of("?#")), shown);
  if (!package || package->source.kind != SourceKind::archive) {
    return fail(Code::bad_response, fmt::format("\"{}\" is not a URL of http or https", shown));
  }
  return std::move(package->source);
}

Result<void> check_url_allowed(std::string_view url, const Context& context) {
  if (!context.check_source) {
    return {};
  }
  const auto source = archive_source(url);
  return source ? context.check_source(*source, {.to = source->identity()}) : fail(source.error());
}

Result<void> check_redirect_allowed(std::string_view from, std::string_view to, const Result<Source>& source,
                                    const Context& context) {
  if (!source || !context.check_source) {
    return source ? Result<void>() : fail(source.error());
  }
  MODLOCK_TRY(const auto left, archive_source(from));
  MODLOCK_TRY(const auto target, archive_source(to));
  return context.check_source(*source, {.from = left.identity(), .to = target.identity()});
}

}  // namespace modlock
