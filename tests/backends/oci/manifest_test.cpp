#include "backends/oci/manifest.h"

#include <boost/test/unit_test.hpp>

#include <string>

namespace modlock::oci {

BOOST_AUTO_TEST_SUITE(manifest_reading)

namespace {

constexpr const char* kType = "application/vnd.oci.image.manifest.v1+json";
const std::string kDigest = "sha256:" + std::string(64, 'a');
const std::string kZip = R"({"mediaType":"archive/zip","digest":")" + kDigest + R"(","size":10})";
const std::string kTar = R"({"mediaType":"application/x-tar","digest":")" + kDigest + R"(","size":10})";

std::string manifest(const std::string& layers,
                     const std::string& artifact = R"("artifactType":"application/vnd.opentofu.modulepkg",)",
                     const std::string& media = R"("mediaType":"application/vnd.oci.image.manifest.v1+json",)") {
  return R"({"schemaVersion":2,)" + media + artifact + R"("config":{},"layers":)" + layers + "}";
}

// "<digest> <size>", or "CODE: message".
std::string read(std::string_view body, std::string_view type = kType) {
  const auto layer = read_manifest(type, body, "\"v1\" of \"oci://h/r\"");
  return layer ? layer->digest + " " + std::to_string(layer->size)
               : std::string(to_string(layer.error().code)) + ": " + layer.error().message;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_annotation_is_the_claimed_date) {
  struct Row {
    const char* name;
    const char* annotations;
    std::optional<std::chrono::sys_seconds> created;
  };
  for (const Row& row : {
           Row{"a time", R"({"org.opencontainers.image.created":"1970-01-01T01:00:01.5+01:00"})",
               std::chrono::sys_seconds(std::chrono::seconds(1))},
           Row{"no time", R"({"org.opencontainers.image.created":"today"})", std::nullopt},
           Row{"too late for the clock", R"({"org.opencontainers.image.created":"9999-01-01T00:00:00Z"})",
               std::nullopt},
           Row{"a number", R"({"org.opencontainers.image.created":1})", std::nullopt},
           Row{"another annotation", R"({"a":"1970-01-01T00:00:00Z"})", std::nullopt},
           Row{"no object", "[]", std::nullopt},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string body = manifest("[" + kZip + "]");
      body.insert(body.rfind('}'), std::string(",\"annotations\":") + row.annotations);
      const auto layer = read_manifest(kType, body, "x");
      BOOST_TEST_REQUIRE(layer.has_value());
      BOOST_TEST((layer->created == row.created));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_one_zip_layer_is_the_package) {
  const std::string expected = kDigest + " 10";
  BOOST_TEST(read(manifest("[" + kZip + "]")) == expected);
  BOOST_TEST(read(manifest("[" + kTar + "," + kZip + "," + kTar + "]")) == expected);
  BOOST_TEST(read(manifest("[" + kZip + "]"), "Application/vnd.OCI.image.manifest.v1+json ; charset=utf-8") ==
             expected);
}

// The texts behind the colon are those of tofu 1.12.6 for the same manifests.
BOOST_AUTO_TEST_CASE(what_is_no_module_package_is_named) {
  struct Row {
    const char* name;
    std::string body;
    const char* type;
    std::string expected;
  };
  const std::string zip = "[" + kZip + "]";
  for (const Row& row : {
           Row{"index", "{}", "application/vnd.oci.image.index.v1+json",
               "selected object is not an OCI image manifest but \"application/vnd.oci.image.index.v1+json\""},
           Row{"docker manifest", manifest(zip), "application/vnd.docker.distribution.manifest.v2+json",
               "selected object is not an OCI image manifest but "
               "\"application/vnd.docker.distribution.manifest.v2+json\""},
           Row{"no content type", manifest(zip), "", "selected object is not an OCI image manifest but \"\""},
           Row{"no media type", manifest(zip, R"("artifactType":"application/vnd.opentofu.modulepkg",)", ""), kType,
               "unexpected manifest media type \"\""},
           Row{"another media type", R"({"mediaType":"application/vnd.oci.image.index.v1+json"})", kType,
               "unexpected manifest media type \"application/vnd.oci.image.index.v1+json\""},
           Row{"no artifact type", manifest(zip, ""), kType, "unexpected artifact type \"\""},
           Row{"another artifact type", manifest(zip, R"("artifactType":"application/x\u001b[1m",)"), kType,
               "unexpected artifact type \"application/x\\x1b[1m\""},
           Row{"two packages", manifest("[" + kZip + "," + kZip + "]"), kType,
               "multiple layers with media type \"archive/zip\""},
           Row{"no layers", manifest("[]"), kType,
               "image manifest contains no layers of types supported as module packages"},
           Row{"null for layers", manifest("null"), kType,
               "image manifest contains no layers of types supported as module packages"},
           Row{"other layers", manifest("[" + kTar + "]"), kType,
               "image manifest contains no layers of types supported as module packages, but has other unsupported "
               "formats"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(read(row.body, row.type) ==
                 "SOURCE_UNSUPPORTED: \"v1\" of \"oci://h/r\" is not an OpenTofu module package: " + row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_manifest_is_damaged) {
  const auto layer = [](const std::string& members) {
    return manifest(R"([{"mediaType":"archive/zip",)" + members + "}]");
  };
  struct Row {
    const char* name;
    std::string body;
    std::string expected;
  };
  for (const Row& row : {
           Row{"array", "[]", "it is not a JSON object"},
           Row{"media type is a number", R"({"mediaType":1})", "its \"mediaType\" is not a string"},
           Row{"artifact type is a list", manifest("[]", R"("artifactType":[],)"),
               "its \"artifactType\" is not a string"},
           Row{"layers is an object", manifest("{}"), "its \"layers\" is not an array"},
           Row{"layer is a string", manifest("[\"x\"]"), "one of its layers is not an object"},
           Row{"layer type is a number", manifest("[{\"mediaType\":1}]"), "its \"mediaType\" is not a string"},
           Row{"no digest", layer(R"("size":1)"), "the digest of its package is \"\""},
           Row{"path for a digest", layer(R"("digest":"../../x","size":1)"),
               "the digest of its package is \"../../x\""},
           Row{"no size", layer("\"digest\":\"" + kDigest + "\""), "the size of its package is not a number of bytes"},
           Row{"negative size", layer("\"digest\":\"" + kDigest + "\",\"size\":-1"),
               "the size of its package is not a number of bytes"},
           Row{"half a byte", layer("\"digest\":\"" + kDigest + "\",\"size\":1.5"),
               "the size of its package is not a number of bytes"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(read(row.body) == "BAD_RESPONSE: the manifest \"v1\" of \"oci://h/r\" is damaged: " + row.expected);
    }
  }
  for (const char* text : {"", "{", "not JSON", "{\"mediaType\":\"a\",\"mediaType\":\"b\"}", "\xff"}) {
    BOOST_TEST(read(text).find("BAD_RESPONSE: the manifest \"v1\" of \"oci://h/r\" is damaged: ") == 0U, text);
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_fetched_is_refused_before_it_is) {
  const auto layer = [](const std::string& digest, const std::string& size) {
    return manifest(R"([{"mediaType":"archive/zip","digest":")" + digest + R"(","size":)" + size + "}]");
  };
  BOOST_TEST(read(layer("sha384:" + std::string(96, '0'), "1")) ==
             "SOURCE_UNSUPPORTED: the module package of \"v1\" of \"oci://h/r\" has a digest of the algorithm "
             "\"sha384\", but only sha256 and sha512 are supported");
  BOOST_TEST(
      read(layer(kDigest, "4294967297")) ==
      "LIMIT_EXCEEDED: the module package of \"v1\" of \"oci://h/r\" has 4294967297 bytes; the limit is 4294967296");
  BOOST_TEST(read(layer(kDigest, "4294967296")) == kDigest + " 4294967296");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::oci
