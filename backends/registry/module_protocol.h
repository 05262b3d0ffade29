#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "backends/backend.h"
#include "backends/http/http_client.h"
#include "backends/registry/registry_http.h"

namespace Json {
class Value;
}

namespace modlock::registry {

// Reads the responses of the protocol "modules.v1" (internal/registry/client.go of OpenTofu). Pure. Errors are
// BAD_RESPONSE; the message states what was expected where, and the caller adds the request.

// Reads the body of `…/versions`: {"modules": [{"versions": [{"version": "1.0.0"}, …]}]}. Only the first module is
// used. Newest first. Versions that differ only in metadata are all kept, in the order of the registry: OpenTofu
// selects the first that matches. Skips invalid and repeated versions. `ref` is the canonical text, which requests use.
// An empty list of modules is an error too.
//
// Two members that clients ignore are read where they are well-formed: the date ("discovered" of registry.opentofu.org,
// else "published_at" or "published-at"), and "deprecation", null or {"reason": "…", "link": "…"} (private registries
// of HCP Terraform). The time that registry.opentofu.org gave to all versions older than its dates is kNoDate: their
// age is unknown, and they are old.
Result<Listing> parse_versions(std::string_view body, std::chrono::system_clock::time_point fetched_at);

inline constexpr std::chrono::system_clock::time_point kNoDate{};

// Returns the date of a version in the list of a registry, of modules or providers.
std::optional<std::chrono::system_clock::time_point> read_date(const Json::Value& version);

// A package that the registry serves itself instead of naming a module source.
struct DirectPackage {
  SecretText url;                         // http or https
  Source source;                          // an archive, for the policy check
  bool use_registry_credentials = false;  // whether the request sends the registry's token
};

// The location of a version: a remote module source, or a direct download.
using PackageLocation = std::variant<SourceAddress, DirectPackage>;

// Reads the location of a version from the response to `download_url` ("…/download", status 200 or 204). A location
// that starts with "/", "./" or "../" is relative to that URL, regardless of redirects. Terraform reads X-Terraform-Get
// and ignores the body; OpenTofu reads {"location": "…"} in the body of status 200, else X-Terraform-Get; and from 1.12
// on "use_registry_credentials" in the body makes it a direct download. Other errors: SOURCE_DENIED and
// SOURCE_UNSUPPORTED of parse_source().
Result<PackageLocation> parse_location(const HttpResponse& response, std::string_view download_url, ClientRules rules);

}  // namespace modlock::registry
