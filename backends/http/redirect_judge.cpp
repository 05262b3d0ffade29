#include "backends/http/redirect_judge.h"

#include <fmt/format.h>

#include "backends/http/http_client.h"
#include "backends/source_remote.h"

namespace modlock {

Result<Source> archive_source(std::string_view url) {
  const std::string shown = printable_url(url);
  auto package = describe_package(url.substr(0, url.find_first_of("?#")), shown);
  if (!package || package->source.kind != SourceKind::archive) {
    return fail(Code::bad_response, fmt::format("\"{}\" is not a URL of http or https", shown));
  }
  return std::move(package->source);
}

Result<void> judge_url(std::string_view url, const Context& context) {
  if (!context.judge_source) {
    return {};
  }
  const auto source = archive_source(url);
  return source ? context.judge_source(*source) : fail(source.error());
}

std::function<Result<void>(std::string_view url)> redirect_judge(const Context& context) {
  if (!context.judge_source) {
    return {};
  }
  return [&context](std::string_view url) { return judge_url(url, context); };
}

}  // namespace modlock
