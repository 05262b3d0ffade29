#include "backends/http/redirect.h"

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
    return bad("it redirects without saying where (no Location)");
  }
  auto target = resolve_url(url, location);
  const auto from = http::split_url(url);
  const auto to = target ? http::split_url(*target) : std::nullopt;
  if (!from || !to) {
    return bad("it redirects to what is no URL");
  }
  if (to->scheme != "http" && to->scheme != "https") {
    return bad("it redirects to a URL that is neither http nor https: " + printable_url(*target));
  }
  if (from->scheme == "https" && to->scheme == "http") {
    return bad("it redirects from https to http, which nobody could trust: " + printable_url(*target));
  }
  const bool post_becomes_get = is_post && (status == 301 || status == 302 || status == 303);
  return RedirectStep{.url = std::move(*target),
                      .keeps_secrets = http::origin_of(*from) == http::origin_of(*to),
                      .becomes_get = status == 303 || post_becomes_get};
}

}  // namespace modlock
