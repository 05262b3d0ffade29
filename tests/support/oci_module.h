#pragma once

#include <map>
#include <string>

namespace modlock::test {

using PackageFiles = std::map<std::string, std::string>;

// A module package as a registry keeps it: an image manifest with one zip layer.
struct OciModule {
  std::string manifest;
  std::string manifest_digest;  // "sha256:…"
  std::string package;          // the zip
  std::string package_digest;
};

OciModule make_oci_module(const PackageFiles& files);
// A manifest with these layers (JSON).
std::string oci_manifest(const std::string& layers,
                         const std::string& artifact_type = "application/vnd.opentofu.modulepkg");
std::string oci_layer(const std::string& bytes, const std::string& type = "archive/zip");
std::string digest_of(const std::string& bytes);

// A zip archive with stored entries, the same for the same files.
std::string zip_of(const PackageFiles& files);

// The config blob that oci_manifest() names, and its media type.
inline constexpr const char* kOciEmptyConfig = "{}";
inline constexpr const char* kOciManifestType = "application/vnd.oci.image.manifest.v1+json";

}  // namespace modlock::test
