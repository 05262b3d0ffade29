#include "backends/providers/provider_mirrors.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/backends/providers/mirror_fixture.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/fake_http_client.h"
#include "tests/support/oci_module.h"

using namespace modlock::test;
using namespace modlock;

namespace {

const std::string kBase = "https://reg.example.com/v2/mirror/acme/null/";

struct OciMirrorFixture {
  std::unique_ptr<ProviderSource> source() {
    return make_oci_mirror(
        [](const ProviderAddress& address) -> Result<std::string> {
          if (address.name_space() == "none") {
            return fail(Code::config_parse, "the template fails");
          }
          return fmt::format("reg.example.com/mirror/{}/{}", address.name_space(), address.type());
        },
        http, credentials, archives);
  }

  void serve_manifest(const std::string& reference, const std::string& body, const std::string& type) {
    http.on("GET", kBase + "manifests/" + reference, {FakeAnswer{.headers = {{"Content-Type", type}}, .body = body}});
  }
  // The descriptor of a platform whose package is `package`.
  std::string serve_package(const std::string& os, const std::string& package) {
    const std::string manifest = oci_manifest(oci_layer(package), "application/vnd.opentofu.provider-target");
    serve_manifest(digest_of(manifest), manifest, kOciManifestType);
    http.on(kBase + "blobs/" + digest_of(package), package, "application/octet-stream");
    return fmt::format(
        R"({{"mediaType":"{}","artifactType":"application/vnd.opentofu.provider-target","digest":"{}","size":{},)"
        R"("platform":{{"os":"{}","architecture":"amd64"}}}})",
        kOciManifestType, digest_of(manifest), manifest.size(), os);
  }
  void serve_index(const std::string& tag, const std::string& manifests) {
    constexpr const char* kType = "application/vnd.oci.image.index.v1+json";
    serve_manifest(tag,
                   fmt::format(R"({{"schemaVersion":2,"mediaType":"{}",)"
                               R"("artifactType":"application/vnd.opentofu.provider","manifests":[{}]}})",
                               kType, manifests),
                   kType);
  }
  std::string released(ProviderSource& mirror, const char* which, const std::vector<const char*>& names) {
    std::vector<Platform> platforms;
    for (const char* name : names) {
      platforms.push_back(platform(name));
    }
    return shown(mirror.release(provider("acme/null"), version(which), platforms, context));
  }

  FakeHttpClient http;
  FakeCredentials credentials;
  FakeArchives archives;
  Context context;
};

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

const std::string kLinuxPlatform = R"("os":"linux","architecture":"amd64")";

struct ManifestRow {
  const char* name;
  std::string body;
  std::string expected;
  const char* type = kIndexType;
};

std::string why(const Error& error) {
  return fmt::format("{}: {}", to_string(error.code), error.message);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(oci_mirror, OciMirrorFixture)

BOOST_AUTO_TEST_CASE(tags_are_versions) {
  http.on(kBase + "tags/list",
          R"({"name": "x", "tags": ["1.0.0", "latest", "v3.0.0", "2.0.0_build.1", "10.0.0-beta", "sha256-abc"]})");
  http.on("GET", "https://reg.example.com/v2/mirror/acme/other/tags/list", {FakeAnswer{.status = 404}});
  const auto mirror = source();
  BOOST_TEST(shown(mirror->list_versions(provider("acme/null"), context)) == "10.0.0-beta 2.0.0+build.1 1.0.0");
  BOOST_TEST(http.sent().size() == 1U);
  BOOST_TEST(shown(mirror->list_versions(provider("acme/other"), context)) ==
             "NOT_FOUND: provider registry.opentofu.org/acme/other was not found in any of the search locations");
  BOOST_TEST(shown(mirror->list_versions(provider("none/x"), context)) == "CONFIG_PARSE: the template fails");
  BOOST_TEST(
      shown(mirror->list_versions(provider("acme/n\u00fcll"), context)) ==
      "SOURCE_INVALID: invalid repository \"mirror/acme/n\u00fcll\" in \"reg.example.com/mirror/acme/n\u00fcll\"");
}

BOOST_AUTO_TEST_CASE(records_both_hashes_of_a_package) {
  serve_index("1.0.0_b", serve_package("linux", "amd") + "," + serve_package("darwin", "mac"));
  const auto mirror = source();
  const std::string expected = "darwin_amd64 h1:dir mac = h1:dir mac " + zh_of("mac") +
                               "\nlinux_amd64 h1:dir amd = h1:dir amd " + zh_of("amd") + "\n";
  BOOST_TEST(released(*mirror, "1.0.0+b", {"linux_amd64", "darwin_amd64"}) == expected);
  BOOST_TEST(released(*mirror, "1.0.0+b", {"linux_amd64", "windows_amd64"}) ==
             "NOT_FOUND: provider registry.opentofu.org/acme/null 1.0.0+b is not available for windows_amd64");
}

BOOST_AUTO_TEST_CASE(reads_no_package_whose_hashes_are_known) {
  serve_index("1.0.0", serve_package("linux", "amd"));
  archives.remembered[zh_of("amd")] = {.h1 = "h1:known", .archive_h1 = "h1:zip", .zh = zh_of("amd")};
  BOOST_TEST(released(*source(), "1.0.0", {"linux_amd64"}) == "linux_amd64 h1:known = h1:known " + zh_of("amd") + "\n");
  BOOST_TEST(http.sent().size() == 2U);
}

BOOST_AUTO_TEST_CASE(archive_is_sent) {
  serve_index("1.0.0_b", serve_package("linux", "amd"));
  const auto mirror = source();
  BOOST_TEST(downloaded(*mirror, "acme/null", "1.0.0+b") == "amd");
  BOOST_TEST(downloaded(*mirror, "acme/null", "1.0.0+b", "darwin_arm64") ==
             "NOT_FOUND: provider registry.opentofu.org/acme/null 1.0.0+b is not available for darwin_arm64");
}

BOOST_AUTO_TEST_CASE(what_is_not_as_described) {
  serve_index("1.0.0", serve_package("linux", "amd") + "," + serve_package("linux", "amd"));
  BOOST_TEST(released(*source(), "1.0.0", {"linux_amd64"}) ==
             "SOURCE_UNSUPPORTED: \"1.0.0\" of \"oci://reg.example.com/mirror/acme/null\": ambiguous manifest has "
             "multiple descriptors for platform linux_amd64");
  http.on("GET", kBase + "manifests/2.0.0", {FakeAnswer{.status = 404}});
  BOOST_TEST(released(*source(), "2.0.0", {"linux_amd64"}) ==
             "BAD_RESPONSE: \"oci://reg.example.com/mirror/acme/null\" has no tag \"2.0.0\"");
  serve_index("3.0.0", serve_package("linux", "one"));
  for (const char* served : {"two", "longer", "sh"}) {
    BOOST_TEST_CONTEXT(served) {
      http.on(kBase + "blobs/" + digest_of("one"), served, "application/octet-stream");
      BOOST_TEST(released(*source(), "3.0.0", {"linux_amd64"})
                     .starts_with("HASH_MISMATCH: the provider package of \"oci://reg.example.com/mirror/acme/null\" "
                                  "does not match its manifest: expected "));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(oci_provider_manifest)

BOOST_AUTO_TEST_CASE(indexes) {
  const std::string no = "SOURCE_UNSUPPORTED: \"1.0.0\" of \"oci://a.io/b\" is not an OpenTofu provider: ";
  const ManifestRow rows[] = {
      {"two platforms", index(descriptor(kLinuxPlatform) + "," + descriptor(R"("os":"darwin","architecture":"arm64")")),
       "linux_amd64 darwin_arm64 "},
      {"what is no provider beside",
       index(descriptor(kLinuxPlatform) + "," + descriptor(kLinuxPlatform, "application/other")), "linux_amd64 "},
      {"a release of a system", index(descriptor(kLinuxPlatform + R"(,"os.version":"5")")), ""},
      {"parameters of the type", index(descriptor(kLinuxPlatform)), "linux_amd64 ",
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
      {"a container image", index(descriptor(kLinuxPlatform, "")),
       no + "provider image manifest has unsupported artifact type; is this a container image, rather than an OpenTofu "
            "provider?"},
      {"manifests of something else", index(descriptor(kLinuxPlatform, "application/x")),
       no + "provider image manifest has unsupported artifact type \"application/x\""},
      {"no platform", index(descriptor("")), no + "provider image manifest lacks the required platform constraints"},
      {"a target of another type", index(descriptor(kLinuxPlatform, kTarget, kIndexType)),
       no + "provider image manifest has unsupported media type \"" + kIndexType + "\""},
      {"a digest that is none", index(descriptor(kLinuxPlatform, kTarget, kOciManifestType, "sha256:1")),
       "BAD_RESPONSE: the manifest \"1.0.0\" of \"oci://a.io/b\" is damaged: it lists the invalid digest \"sha256:1\""},
      {"no JSON", "[]", "BAD_RESPONSE: the manifest \"1.0.0\" of \"oci://a.io/b\" is damaged: it is not a JSON object"},
  };
  for (const ManifestRow& row : rows) {
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
  const ManifestRow rows[] = {
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
  for (const ManifestRow& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto read = oci::read_provider_manifest(row.type, row.body, "\"x\"");
      BOOST_TEST((read ? fmt::format("{} {}", read->digest, read->size) : why(read.error())) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
