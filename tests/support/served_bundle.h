#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/files.h"
#include "backends/remote/closure.h"
#include "backends/remote/layout.h"
#include "protocol/base/json.h"
#include "tests/support/closures_of.h"
#include "tests/support/fault_server.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// Answers requests for the repository "platform/modules" with the content of a bundle, a directory, as a registry does.
inline ServerAnswer answer_from_bundle(const std::filesystem::path& bundle, const ReceivedRequest& request) {
  constexpr std::string_view kPrefix = "/v2/platform/modules/";
  const std::string rest = request.path().substr(std::min(kPrefix.size(), request.path().size()));
  const std::string name = rest.substr(rest.find('/') == std::string::npos ? 0 : rest.find('/') + 1);
  std::string digest = name;
  if (rest == "tags/list") {
    const auto index = parse_json(read_text(bundle / "index.json"));
    Json::Value listing;
    listing["tags"].append("latest");
    for (const Json::Value& entry : (*index)["manifests"]) {
      listing["tags"].append(entry["annotations"]["org.opencontainers.image.ref.name"]);
    }
    return {.body = write_json(listing)};
  }
  if (rest.starts_with("manifests/")) {
    digest = name.starts_with("sha256:") ? name : "";
    const auto layout = remote::Layout::open(bundle, bundle, Context{});
    const std::vector<remote::NamedClosure> closures = closures_of(*layout).value();
    for (const remote::NamedClosure& one : closures) {
      digest = one.tag == name ? remote::blob_of(write_closure(one.closure)).digest : digest;
      for (const remote::BundledPackage& package : one.closure.packages) {
        digest = package.tag() == name ? package.manifest.digest : digest;
      }
    }
  }
  const auto text = digest.size() > 7 ? read_file(bundle / "blobs/sha256" / digest.substr(7))
                                      : Result<std::string>(fail(Code::not_found, ""));
  if (!text) {
    return {.status = 404};
  }
  return {.headers = {{"Docker-Content-Digest", digest}}, .body = *text};
}

}  // namespace modlock::test
