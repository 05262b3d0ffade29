#include "backends/http/redirect_policy.h"

#include <fmt/format.h>

#include "backends/address/source_remote.h"
#include "backends/http/http_client.h"

namespace modlock {

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
  return source ? context.check_source(*source) : fail(source.error());
}

std::function<Result<void>(std::string_view url)> redirect_policy(const Context& context) {
  if (!context.check_source) {
    return {};
  }
  return [&context](std::string_view url) { return check_url_allowed(url, context); };
}

}  // namespace modlock
