#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/platform.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/oci/manifest.h"
#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_source.h"
#include "protocol/base/result.h"

namespace modlock {

// Repositories of OCI registries as a mirror (OpenTofu: internal/getproviders/oci_registry_mirror_source.go).
// `repository` says which has a provider, "example.com/mirror/hashicorp/aws". A tag is a version, with "_" for "+";
// other tags are passed over. A client records the h1 and the zh of the package that it installed, so no other platform
// is covered; a package whose hashes the store knows is not fetched.
// Errors beside those of ProviderSource: those of `repository`; SOURCE_INVALID (what it gives is no repository);
// SOURCE_UNSUPPORTED (something else than a provider); BAD_RESPONSE (a version without a tag; damaged manifests).
// `token_realms`: as oci::Authorizer has them.
std::unique_ptr<ProviderSource> make_oci_mirror(std::function<Result<std::string>(const ProviderAddress&)> repository,
                                                HttpClient& http, Credentials& credentials, ProviderArchives& archives,
                                                std::vector<std::string> token_realms = {});

}  // namespace modlock

namespace modlock::oci {

// The manifest of a provider package in an index, by platform.
struct PlatformManifest {
  Platform platform;
  std::string digest;  // "sha256:…" or "sha512:…"
};

// Reads the index manifest of a provider version as OpenTofu does (fetchOCIIndexManifest and selectOCIImageManifest,
// internal/getproviders/oci_registry_mirror_source.go): an OCI image index of the artifact type
// "application/vnd.opentofu.provider"; of what it lists, image manifests of the artifact type
// "application/vnd.opentofu.provider-target" without an OS version. `what` names it: `"1.0.0" of "oci://…"`.
// Errors: SOURCE_UNSUPPORTED (something else than a provider, saying what); BAD_RESPONSE (no manifest at all).
Result<std::vector<PlatformManifest>> read_provider_index(std::string_view content_type, std::string_view body,
                                                          std::string_view what);

// Reads the image manifest of one platform: exactly one layer of the type "archive/zip", with a SHA-256 digest.
// Errors: those of read_provider_index().
Result<Layer> read_provider_manifest(std::string_view content_type, std::string_view body, std::string_view what);

}  // namespace modlock::oci
