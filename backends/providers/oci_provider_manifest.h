#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/address/platform.h"
#include "backends/oci/manifest.h"
#include "protocol/base/result.h"

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
