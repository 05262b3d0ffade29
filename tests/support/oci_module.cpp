#include "tests/support/oci_module.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "backends/base/digest.h"
#include "tests/support/archive_writer.h"

namespace modlock::test {
namespace {

// What the local and the central header of an entry have in common: version, flags, method, time, sizes, lengths.
std::string common_header(std::string_view name, std::string_view content) {
  constexpr std::size_t kFirstDay = 0x21;  // 1980-01-01
  return little_endian(20, 2) + little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 2) +
         little_endian(kFirstDay, 2) + little_endian(crc32_of(content), 4) + little_endian(content.size(), 4) +
         little_endian(content.size(), 4) + little_endian(name.size(), 2) + little_endian(0, 2);
}

}  // namespace

std::string zip_of(const PackageFiles& files) {
  std::string body;
  std::string directory;
  for (const auto& [name, content] : files) {
    const std::string header = common_header(name, content);
    constexpr std::size_t kRegularFile = 0100644;
    directory += "PK\x01\x02" + little_endian((3U << 8U) | 20U, 2) + header + little_endian(0, 2) +
                 little_endian(0, 2) + little_endian(0, 2) + little_endian(kRegularFile << 16U, 4) +
                 little_endian(body.size(), 4) + name;
    body += "PK\x03\x04" + header + name + content;
  }
  return body + directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(files.size(), 2) +
         little_endian(files.size(), 2) + little_endian(directory.size(), 4) + little_endian(body.size(), 4) +
         little_endian(0, 2);
}

std::string digest_of(const std::string& bytes) {
  return "sha256:" + sha256_hex(bytes);
}

std::string oci_layer(const std::string& bytes, const std::string& type) {
  return fmt::format(R"({{"mediaType":"{}","digest":"{}","size":{}}})", type, digest_of(bytes), bytes.size());
}

std::string oci_manifest(const std::string& layers, const std::string& artifact_type) {
  return fmt::format(R"({{"schemaVersion":2,"mediaType":"{}","artifactType":"{}","config":{},"layers":[{}]}})",
                     kOciManifestType, artifact_type, oci_layer(kOciEmptyConfig, "application/vnd.oci.empty.v1+json"),
                     layers);
}

OciModule make_oci_module(const PackageFiles& files) {
  OciModule module;
  module.package = zip_of(files);
  module.package_digest = digest_of(module.package);
  module.manifest = oci_manifest(oci_layer(module.package));
  module.manifest_digest = digest_of(module.manifest);
  return module;
}

}  // namespace modlock::test
