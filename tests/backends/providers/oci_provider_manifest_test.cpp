#include "backends/providers/oci_provider_manifest.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/oci_module.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kIndexType = "application/vnd.oci.image.index.v1+json";
constexpr const char* kTarget = "application/vnd.opentofu.provider-target";
const std::string kDigest = digest_of("x");

std::string index(const std::string& manifests, const std::string& artifact = "application/vnd.opentofu.provider",
                  const std::string& type = kIndexType) {
  return fmt::format(R"({{"schemaVersion":2,"mediaType":"{}","artifactType":"{}","manifests":[{}]}})", type, artifact,
                     manifests);
}

std::string descriptor(const std::string& platform, const std::string& artifact = kTarget,
                       const std::string& type = kOciManifestType, const std::string& digest = kDigest) {
  return fmt::format(R"({{"mediaType":"{}","artifactType":"{}","digest":"{}","size":1{}}})", type, artifact, digest,
                     platform.empty() ? "" : ",\"platform\":{" + platform + "}");
}

const std::string kLinux = R"("os":"linux","architecture":"amd64")";

struct Row {
  const char* name;
  std::string body;
  std::string expected;
  const char* type = kIndexType;
};

std::string why(const Error& error) {
  return fmt::format("{}: {}", to_string(error.code), error.message);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(oci_provider_manifest)

BOOST_AUTO_TEST_CASE(indexes) {
  const std::string no = "SOURCE_UNSUPPORTED: \"1.0.0\" of \"oci://a.io/b\" is not an OpenTofu provider: ";
  const Row rows[] = {
      {"two platforms", index(descriptor(kLinux) + "," + descriptor(R"("os":"darwin","architecture":"arm64")")),
       "linux_amd64 darwin_arm64 "},
      {"what is no provider beside", index(descriptor(kLinux) + "," + descriptor(kLinux, "application/other")),
       "linux_amd64 "},
      {"a release of a system", index(descriptor(kLinux + R"(,"os.version":"5")")), ""},
      {"parameters of the type", index(descriptor(kLinux)), "linux_amd64 ",
       "application/vnd.oci.image.index.v1+json; charset=utf-8"},
      {"an image manifest", oci_manifest(""),
       no + "selected an OCI image manifest directly, but providers must be selected through a multi-platform index "
            "manifest",
       kOciManifestType},
      {"another type", "{}", no + "unsupported media type \"text/plain\" for OCI index manifest", "text/plain"},
      {"another type inside", index("", "application/vnd.opentofu.provider", "x"),
       no + "unexpected manifest media type \"x\""},
      {"a module", index("", "application/vnd.opentofu.modulepkg"),
       no + "selected OCI artifact is an OpenTofu module package, not a provider package"},
      {"something else", index("", "application/x"), no + "unexpected artifact type \"application/x\""},
      {"a container image", index(descriptor(kLinux, "")),
       no + "provider image manifest has unsupported artifact type; is this a container image, rather than an OpenTofu "
            "provider?"},
      {"manifests of something else", index(descriptor(kLinux, "application/x")),
       no + "provider image manifest has unsupported artifact type \"application/x\""},
      {"no platform", index(descriptor("")), no + "provider image manifest lacks the required platform constraints"},
      {"a target of another type", index(descriptor(kLinux, kTarget, kIndexType)),
       no + "provider image manifest has unsupported media type \"" + kIndexType + "\""},
      {"a digest that is none", index(descriptor(kLinux, kTarget, kOciManifestType, "sha256:1")),
       "BAD_RESPONSE: the manifest \"1.0.0\" of \"oci://a.io/b\" is damaged: it lists the invalid digest \"sha256:1\""},
      {"no JSON", "[]", "BAD_RESPONSE: the manifest \"1.0.0\" of \"oci://a.io/b\" is damaged: it is not a JSON object"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto read = oci::read_provider_index(row.type, row.body, "\"1.0.0\" of \"oci://a.io/b\"");
      std::string found = read ? "" : why(read.error());
      for (std::size_t i = 0; read && i < read->size(); ++i) {
        BOOST_TEST((*read)[i].digest == kDigest);
        found += (*read)[i].platform.to_string() + " ";
      }
      BOOST_TEST(found == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(manifests) {
  const std::string no = "SOURCE_UNSUPPORTED: \"x\" is not an OpenTofu provider: ";
  const Row rows[] = {
      {"a package", oci_manifest(oci_layer("zip"), kTarget), digest_of("zip") + " 3", kOciManifestType},
      {"other layers beside", oci_manifest(oci_layer("a", "text/plain") + "," + oci_layer("zip"), kTarget),
       digest_of("zip") + " 3", kOciManifestType},
      {"two packages", oci_manifest(oci_layer("a") + "," + oci_layer("zip"), kTarget),
       no + "ambiguous manifest declares multiple eligible provider packages", kOciManifestType},
      {"no package", oci_manifest("", kTarget), no + "image manifest contains no layers of type \"archive/zip\"",
       kOciManifestType},
      {"other formats", oci_manifest(oci_layer("a", "text/plain"), kTarget),
       no + "image manifest contains no layers of type \"archive/zip\", but has other unsupported formats; this OCI "
            "artifact might be intended for a different version of OpenTofu",
       kOciManifestType},
      {"a module", oci_manifest(oci_layer("zip")),
       no + "unexpected artifact type \"application/vnd.opentofu.modulepkg\"", kOciManifestType},
      {"an index", index(""),
       no + "unsupported media type \"application/vnd.oci.image.index.v1+json\" for OCI image "
            "manifest",
       kIndexType},
      {"another algorithm",
       oci_manifest(R"({"mediaType":"archive/zip","size":3,"digest":"sha512:)" + std::string(128, 'a') + "\"}",
                    kTarget),
       no + "unsupported digest algorithm \"sha512\" of the provider package", kOciManifestType},
      {"no size", oci_manifest(R"({"mediaType":"archive/zip","digest":")" + kDigest + "\"}", kTarget),
       "BAD_RESPONSE: the manifest \"x\" is damaged: the size of its package is not a number of bytes",
       kOciManifestType},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto read = oci::read_provider_manifest(row.type, row.body, "\"x\"");
      BOOST_TEST((read ? fmt::format("{} {}", read->digest, read->size) : why(read.error())) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
