#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/oci/manifest.h"
#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_source.h"
#include "protocol/base/result.h"

namespace modlock {

// Repositories of OCI registries as a mirror (OpenTofu: internal/getproviders/oci_registry_mirror_source.go).
// `repository` maps a provider to its repository, "example.com/mirror/hashicorp/aws". A tag is a version, with "_" for
// "+"; other tags are ignored. A client records the h1 and the zh of the package that it installed, so no other
// platform is covered. A package whose hashes are in the store is not downloaded.
// Errors in addition to those of ProviderSource: those of `repository`; SOURCE_INVALID (its result is not a
// repository); SOURCE_UNSUPPORTED (not a provider); BAD_RESPONSE (a version without a tag; damaged manifests).
// `token_realms`: as for oci::Authorizer.
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
// internal/getproviders/oci_registry_mirror_source.go). It must be an OCI image index of the artifact type
// "application/vnd.opentofu.provider". Returns its image manifests of the artifact type
// "application/vnd.opentofu.provider-target" without an OS version. `what` names the version: `"1.0.0" of "oci://…"`.
// Errors: SOURCE_UNSUPPORTED (not a provider; the message states the type); BAD_RESPONSE (not a manifest).
Result<std::vector<PlatformManifest>> read_provider_index(std::string_view content_type, std::string_view body,
                                                          std::string_view what);

// Reads the image manifest of one platform, which must have exactly one layer of the type "archive/zip" with a SHA-256
// digest. Errors: those of read_provider_index().
Result<Layer> read_provider_manifest(std::string_view content_type, std::string_view body, std::string_view what);

}  // namespace modlock::oci
