#include "backends/http/redirect.h"

#include <fmt/format.h>

#include "backends/address/source_remote.h"
#include "backends/http/http_client.h"
#include "backends/http/url.h"

namespace modlock {
namespace {

tl::unexpected<Error> bad(std::string message) {
  return fail(Code::bad_response, std::move(message));
}

}  // namespace

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
