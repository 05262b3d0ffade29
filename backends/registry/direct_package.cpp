#include "backends/registry/direct_package.h"

#include <fmt/format.h>

#include "backends/package/package_download.h"
#include "protocol/base/result.h"

namespace modlock::registry {
Result<FetchedTree> fetch_direct(const RegistryHttp& http, HttpRequest request, std::string_view host,
                                 const std::filesystem::path& parent, const Context& context) {
  const std::string display = printable_url(request.url.reveal());
  const std::string purpose = request.purpose;
  PackageDownload package(parent, {.display = display}, context);
  request.sink = &package;
  request.body_limit = UnpackLimits{}.total_bytes;
  request.timeouts.total.reset();
  request.headers.push_back({"Accept", "application/zip, application/x-tar; *;q=0.1"});
  MODLOCK_TRY(http.send(std::move(request), host, context));
  MODLOCK_TRY(const auto digests, package.finish());
  if (!package.format()) {
    return fail(Code::bad_response,
                fmt::format("could not {}: {}: the package is neither a zip archive nor a tar archive compressed with "
                            "gzip, xz or bzip2",
                            purpose, display));
  }
  return package.unpack().map([&](FetchedTree tree) {
    tree.id = "zh:" + digests.sha256;
    return tree;
  });
}

}  // namespace modlock::registry
