#include "backends/archive/terraform_get.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/address/source_text.h"
#include "backends/archive/meta_source.h"

namespace modlock::archive {
namespace {

// The getters of OpenTofu without oci, which go-getter does not have where it is sent on.
constexpr std::array<std::string_view, 7> kGetters = {"file", "gcs", "git", "hg", "http", "https", "s3"};

tl::unexpected<Error> says(std::string_view display, const std::string& where, Code code, std::string_view why) {
  return fail(
      code, fmt::format("\"{}\" says that the module package is at \"{}\", {}", display, printable_address(where), why),
      "the server has to give a whole address, such as https://host/path.tar.gz or git::https://host/path.git");
}

}  // namespace

Result<SourceAddress> read_terraform_get(const HttpResponse& response, std::string_view display) {
  std::string where = response.header("X-Terraform-Get").value_or("");
  if (where.empty()) {
    where = meta_source(response.body).value_or("");
  }
  if (where.empty()) {
    return fail(Code::bad_response,
                fmt::format("\"{}\" is no archive by its name, and neither its X-Terraform-Get header nor a "
                            "<meta name=\"terraform-get\"> tag says where the module package is",
                            display),
                "where it is an archive, add archive=zip (or tar.gz, tar.xz, tar.bz2) to its query");
  }
  const std::size_t colon = where.find(':');
  const std::string_view getter = std::string_view(where).substr(0, std::min(colon, where.size()));
  if (colon != std::string::npos && getter == "oci") {
    return says(display, where, Code::source_unsupported, "where OpenTofu does not follow");
  }
  if (colon == std::string::npos || std::find(kGetters.begin(), kGetters.end(), getter) == kGetters.end()) {
    return says(display, where, Code::bad_response, "which is no whole address");
  }
  auto address = parse_source(where);
  if (!address && address.error().code == Code::source_invalid) {
    Error error = says(display, where, Code::bad_response, "which is no module source").value();
    return fail(with_note(std::move(error), address.error().message));
  }
  return address;
}

}  // namespace modlock::archive
