#include "tests/support/oci_module.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "backends/base/digest.h"

namespace modlock::test {
namespace {

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
  }
  return ~crc;
}

// A number as zip writes it: little endian.
std::string number(std::size_t value, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < width; ++i) {
    text += static_cast<char>((value >> (8 * i)) & 0xFFU);
  }
  return text;
}

// What the local and the central header of an entry have in common: version, flags, method, time, sizes, lengths.
std::string common_header(std::string_view name, std::string_view content) {
  constexpr std::size_t kFirstDay = 0x21;  // 1980-01-01
  return number(20, 2) + number(0, 2) + number(0, 2) + number(0, 2) + number(kFirstDay, 2) + number(crc32(content), 4) +
         number(content.size(), 4) + number(content.size(), 4) + number(name.size(), 2) + number(0, 2);
}

}  // namespace

std::string zip_of(const PackageFiles& files) {
  std::string body;
  std::string directory;
  for (const auto& [name, content] : files) {
    const std::string header = common_header(name, content);
    constexpr std::size_t kRegularFile = 0100644;
    directory += "PK\x01\x02" + number((3U << 8U) | 20U, 2) + header + number(0, 2) + number(0, 2) + number(0, 2) +
                 number(kRegularFile << 16U, 4) + number(body.size(), 4) + name;
    body += "PK\x03\x04" + header + name + content;
  }
  return body + directory + "PK\x05\x06" + number(0, 4) + number(files.size(), 2) + number(files.size(), 2) +
         number(directory.size(), 4) + number(body.size(), 4) + number(0, 2);
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
