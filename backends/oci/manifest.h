#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock::oci {

// The single blob of a manifest that is the module package.
struct Layer {
  std::string digest;  // "sha256:…" or "sha512:…"
  std::uint64_t size = 0;
  // The annotation "org.opencontainers.image.created" of the manifest, if it is a valid time.
  std::optional<std::chrono::system_clock::time_point> created = {};
};

// Reads an image manifest as OpenTofu's fetchOCIImageManifest and selectOCILayerBlob do. The media types of the
// response and of the manifest must be that of an OCI image manifest (not of an index), the artifact type
// "application/vnd.opentofu.modulepkg", and exactly one layer "archive/zip"; layers of other types are ignored. `what`
// names the manifest in messages: `"v1.0.0" of "oci://example.com/team/vpc"`. Errors: SOURCE_UNSUPPORTED (not a module
// package; the message states why); BAD_RESPONSE (not a manifest); LIMIT_EXCEEDED (the package exceeds the limit for
// unpacked packages).
Result<Layer> read_manifest(std::string_view content_type, std::string_view body, std::string_view what);

}  // namespace modlock::oci
