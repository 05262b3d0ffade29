#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/base/result.h"

namespace modlock::oci {

// The one blob of a manifest that is the module package.
struct Layer {
  std::string digest;  // "sha256:…" or "sha512:…"
  std::uint64_t size = 0;
};

// Reads an image manifest as OpenTofu's fetchOCIImageManifest and selectOCILayerBlob do: the media type of the response
// and of the manifest itself is that of an OCI image manifest (an index is none), the artifact type is
// "application/vnd.opentofu.modulepkg", and exactly one layer is "archive/zip"; layers of other types count for
// nothing. `what` names the manifest: `"v1.0.0" of "oci://example.com/team/vpc"`. Errors: SOURCE_UNSUPPORTED (something
// else than a module package, saying what); BAD_RESPONSE (no manifest at all); LIMIT_EXCEEDED (a package that is larger
// than what a package may unpack to).
Result<Layer> read_manifest(std::string_view content_type, std::string_view body, std::string_view what);

}  // namespace modlock::oci
