#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

#include "backends/backend.h"
#include "backends/http/http_client.h"

namespace modlock::registry {

// What the answers of the protocol "modules.v1" mean (internal/registry/client.go of OpenTofu). Pure. Errors are
// BAD_RESPONSE whose message says what was expected where, for the caller to complete with what was asked.

// The body of `…/versions`: {"modules": [{"versions": [{"version": "1.0.0"}, …]}]}, of which only the first module
// counts. Newest first. Of versions that are equal but for their metadata all are kept, in the order of the registry:
// OpenTofu takes the first that fits. What is no version, and what names one a second time, is skipped. `ref` is the
// canonical text, in which versions are asked for. Also an error: no module at all.
Result<Listing> parse_versions(std::string_view body, std::chrono::system_clock::time_point fetched_at);

// A package that a registry hands out itself, rather than naming a module source.
struct DirectPackage {
  SecretText url;                         // http or https
  Source source;                          // an archive: what a policy judges
  bool use_registry_credentials = false;  // whether its token goes with the request
};

// Where a version lies: a remote module source, or a direct download.
using PackageLocation = std::variant<SourceAddress, DirectPackage>;

// How a client reads the answer to `…/download`.
enum class LocationRules {
  terraform,     // X-Terraform-Get, whatever the body says
  opentofu,      // up to 1.11: the body of status 200, {"location": "…"}; where that says nothing, X-Terraform-Get
  opentofu_1_12  // the same; "use_registry_credentials" in the body makes it a direct download
};

// Where the answer to `download_url` ("…/download", status 200 or 204) says that the version lies. What starts with
// "/",
// "./" or "../" is relative to that URL, redirects or not. Other errors: SOURCE_DENIED and SOURCE_UNSUPPORTED of
// parse_source().
Result<PackageLocation> parse_location(const HttpResponse& response, std::string_view download_url,
                                       LocationRules rules);

}  // namespace modlock::registry
