// The indexes of a bundle: what is written is read again, and what is damaged is refused.
#include "backends/remote/closure.h"

#include <boost/test/unit_test.hpp>

#include "backends/base/digest.h"

namespace modlock::test {
namespace {

using remote::BundledPackage;
using remote::BundledProvider;
using remote::Closure;

std::string digest(char digit) {
  return "sha256:" + std::string(64, digit);
}

BundledPackage package() {
  return {.source = "git::https://git.example.com/vpc.git?ref=v1.0.0",
          .origin = "git:" + std::string(40, 'c'),
          .h1 = "h1:AAAA=",
          .subdir = "modules/vpc",
          .links = {{"a/link", "../main.tf"}, {"directory", "a"}},
          .layer = {digest('1'), 300},
          .trees = {digest('7'), 700},
          .manifest = {digest('2'), 400}};
}

BundledProvider provider() {
  return {
      .address = "registry.opentofu.org/acme/null",
      .version = "1.0.0+b",
      .archives = {{"darwin_arm64", {{digest('3'), 500}, "h1:MAC="}}, {"linux_amd64", {{digest('4'), 600}, "h1:X="}}}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, from << " not found in " << text);
  return text.replace(at, from.size(), to);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(closure)

BOOST_AUTO_TEST_CASE(written_closure_is_read_again) {
  BundledPackage plain = package();
  plain.links.clear();
  plain.subdir.clear();
  plain.trees = {};
  const Closure written{.packages = {package(), plain}};
  const auto read = remote::read_closure(remote::write_closure(written), "it");
  BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? std::string() : read.error().message));
  BOOST_TEST((read->packages == written.packages));
  BOOST_TEST(remote::write_closure(*read) == remote::write_closure(written));
}

BOOST_AUTO_TEST_CASE(tag_depends_on_the_lock_only) {
  const Closure one{.packages = {package()}};
  Closure other = one;
  other.packages[0].layer = {digest('9'), 9};
  other.packages[0].subdir.clear();
  BOOST_TEST(one.tag() == other.tag());
  BOOST_TEST(one.tag() == "closure-" + sha256_hex("git::https://git.example.com/vpc.git?ref=v1.0.0 git:" +
                                                  std::string(40, 'c') + " h1:AAAA=\n"));
  other.packages.push_back(other.packages[0]);
  BOOST_TEST(one.tag() == other.tag(), "a duplicate changes the tag");
  other.packages[0].h1 = "h1:BBBB=";
  BOOST_TEST(one.tag() != other.tag());
}

BOOST_AUTO_TEST_CASE(manifest_is_that_of_a_module_package) {
  BOOST_TEST(
      remote::write_package_manifest(package()) ==
      R"({"annotations":{"tofu-modlock.h1":"h1:AAAA=",)"
      R"("tofu-modlock.links":"{\"a/link\":\"../main.tf\",\"directory\":\"a\"}",)"
      R"("tofu-modlock.origin":"git:cccccccccccccccccccccccccccccccccccccccc",)"
      R"("tofu-modlock.source":"git::https://git.example.com/vpc.git","tofu-modlock.subdir":"modules/vpc"},)"
      R"("artifactType":"application/vnd.opentofu.modulepkg",)"
      R"("config":{"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",)"
      R"("mediaType":"application/vnd.oci.empty.v1+json","size":2},"layers":[{"digest":")" +
          digest('1') + R"(","mediaType":"archive/zip","size":300},{"digest":")" + digest('7') +
          R"(","mediaType":"application/vnd.tofu-modlock.trees","size":700}],"mediaType":"application/vnd.oci.image.manifest.v1+json",)"
          R"("schemaVersion":2})");
}

BOOST_AUTO_TEST_CASE(written_manifest_is_read_again) {
  const std::string text = remote::write_package_manifest(package());
  const auto read = remote::read_package_manifest(text, "it");
  BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? std::string() : read.error().message));
  BundledPackage expected = package();
  expected.source = "git::https://git.example.com/vpc.git";
  expected.manifest = remote::blob_of(text);
  BOOST_TEST((*read == expected));
}

BOOST_AUTO_TEST_CASE(tag_of_a_package_is_that_of_its_lock_entry) {
  BOOST_TEST(package().tag() ==
             "module-" + sha256_hex("git::https://git.example.com/vpc.git git:" + std::string(40, 'c') + " h1:AAAA="));
  BundledPackage other = package();
  other.source = "git::https://git.example.com/vpc.git//modules/subnet?ref=v1.0";
  BOOST_TEST(other.tag() == package().tag(), "calls with the same package have several tags");
  BOOST_TEST(remote::write_package_manifest(other) == remote::write_package_manifest(package()));
  other.origin = "git:" + std::string(40, 'd');
  BOOST_TEST(other.tag() != package().tag());
}

BOOST_AUTO_TEST_CASE(damaged_manifest_is_refused) {
  const std::string good = remote::write_package_manifest(package());
  struct Row {
    const char* name;
    std::string text;
    const char* message;
  };
  const Row rows[] = {
      {"not JSON", "x", "it is damaged: it is not the manifest of a module package"},
      {"a list", "[]", "it is damaged: it is not the manifest of a module package"},
      {"another artifact", replaced(good, "opentofu.modulepkg", "acme.pkg"),
       "it is damaged: it is not the manifest of a module package"},
      {"no layer", R"({"artifactType":"application/vnd.opentofu.modulepkg","layers":[]})",
       "it is damaged: it is not the manifest of a module package"},
      {"a layer is a number", R"({"artifactType":"application/vnd.opentofu.modulepkg","layers":[1]})",
       "it is damaged: it is not the manifest of a module package"},
      {"another layer", replaced(good, "archive/zip", "archive/tar"),
       "it is damaged: a descriptor has an invalid media type, digest or size"},
      {"a second layer that is not trees", replaced(good, "tofu-modlock.trees", "acme.trees"),
       "it is damaged: a descriptor has an invalid media type, digest or size"},
      {"trees that are too large", replaced(good, "\"size\":700", "\"size\":4194305"),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"a layer that no archive may have", replaced(good, "\"size\":300", "\"size\":4294967297"),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"no h1", replaced(good, "h1:AAAA=", ""), "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"link above the package", replaced(good, R"(\"a/link\")", R"(\"../link\")"),
       "it is damaged: a link of a package is invalid"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto read = remote::read_package_manifest(row.text, "it");
      BOOST_REQUIRE(!read);
      BOOST_TEST(to_string(read.error().code) == "SOURCE_INVALID");
      BOOST_TEST(read.error().message == row.message);
    }
  }
}

// OpenTofu reads these (internal/getproviders/oci_registry_mirror_source.go).
BOOST_AUTO_TEST_CASE(provider_index_is_that_of_an_oci_mirror) {
  const std::string manifest = remote::write_provider_manifest({digest('4'), 600});
  BOOST_TEST(manifest ==
             R"({"artifactType":"application/vnd.opentofu.provider-target",)"
             R"("config":{"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",)"
             R"("mediaType":"application/vnd.oci.empty.v1+json","size":2},"layers":[{"digest":")" +
                 digest('4') +
                 R"(","mediaType":"archive/zip","size":600}],"mediaType":"application/vnd.oci.image.manifest.v1+json",)"
                 R"("schemaVersion":2})");
  BundledProvider one = provider();
  one.archives.erase("darwin_arm64");
  const remote::Blob blob = remote::blob_of(manifest);
  BOOST_TEST(remote::write_provider_index(one) ==
             R"({"artifactType":"application/vnd.opentofu.provider","manifests":[{"artifactType":)"
             R"("application/vnd.opentofu.provider-target","digest":")" +
                 blob.digest + R"(","mediaType":"application/vnd.oci.image.manifest.v1+json",)" +
                 R"("platform":{"architecture":"amd64","os":"linux"},"size":)" + std::to_string(blob.size) +
                 R"(}],"mediaType":"application/vnd.oci.image.index.v1+json","schemaVersion":2})");
  BOOST_TEST(one.tag() == "1.0.0_b");
}

BOOST_AUTO_TEST_CASE(providers_are_read_again_and_do_not_change_the_tag) {
  Closure closure{.packages = {package()}, .providers = {provider()}};
  const auto read = remote::read_closure(remote::write_closure(closure), "it");
  BOOST_REQUIRE(read.has_value());
  BOOST_TEST((read->providers == closure.providers));
  BOOST_TEST(read->tag() == Closure{.packages = {package()}}.tag());
}

BOOST_AUTO_TEST_CASE(added_archives_do_not_replace_others) {
  Closure closure{.packages = {}, .providers = {provider()}};
  BundledProvider more = provider();
  more.archives = {{"linux_amd64", {{digest('9'), 1}, "h1:other="}}, {"linux_arm64", {{digest('5'), 2}, "h1:new="}}};
  BundledProvider older = more;
  older.version = "0.9.0";
  closure.add({more, older});
  BOOST_REQUIRE(closure.providers.size() == 2);
  BOOST_TEST((closure.providers[0] == older));
  BundledProvider merged = provider();
  merged.archives["linux_arm64"] = {{digest('5'), 2}, "h1:new="};
  BOOST_TEST((closure.providers[1] == merged));
}

BOOST_AUTO_TEST_CASE(damaged_closure_is_refused) {
  const std::string good = remote::write_closure({.packages = {package()}, .providers = {provider()}});
  struct Row {
    const char* name;
    std::string text;
    const char* message;
  };
  const Row rows[] = {
      {"not JSON", "x", "it is damaged: "},
      {"not an object", "[]", "it is damaged: it is not an index of type \"application/vnd.tofu-modlock.closure\""},
      {"another artifact", replaced(good, "tofu-modlock.closure", "acme.closure"),
       "it is damaged: it is not an index of type \"application/vnd.tofu-modlock.closure\""},
      {"another media type", replaced(good, "image.index.v1", "image.index.v2"),
       "it is damaged: it is not an index of type \"application/vnd.tofu-modlock.closure\""},
      {"an entry is a number", replaced(good, "\"manifests\":[", "\"manifests\":[1,"),
       "it is damaged: an entry is not an object"},
      {"digest of a manifest", replaced(good, digest('2'), "sha256:../../etc/passwd"),
       "it is damaged: a descriptor has an invalid media type, digest or size"},
      {"digest in upper case", replaced(good, digest('2'), "sha256:" + std::string(64, 'A')),
       "it is damaged: a descriptor has an invalid media type, digest or size"},
      {"negative size", replaced(good, "\"size\":400", "\"size\":-1"),
       "it is damaged: a descriptor has an invalid media type, digest or size"},
      {"digest of a layer", replaced(good, digest('1'), "../x"),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"size of a layer", replaced(good, "layer-size\":\"300\"", "layer-size\":\"300x\""),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"size of a layer that no archive may have",
       replaced(good, "layer-size\":\"300\"", "layer-size\":\"4294967297\""),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"digest of trees", replaced(good, digest('7'), "../x"),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"trees that are too large", replaced(good, "trees-size\":\"700\"", "trees-size\":\"4194305\""),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"size of trees", replaced(good, "trees-size\":\"700\"", "trees-size\":\"-1\""),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"link without a target", replaced(good, R"(\"../main.tf\")", R"(\"\")"),
       "it is damaged: a link of a package is invalid"},
      {"no h1", replaced(good, "h1:AAAA=", ""), "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"no source", replaced(good, "git::https://git.example.com/vpc.git?ref=v1.0.0", ""),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"subdirectory above the package", replaced(good, "\"modules/vpc\"", "\"modules/../../vpc\""),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"absolute subdirectory", replaced(good, "\"modules/vpc\"", "\"/etc\""),
       "it is damaged: a package lacks an annotation, or has an invalid one"},
      {"link above the package", replaced(good, R"(\"a/link\")", R"(\"../link\")"),
       "it is damaged: a link of a package is invalid"},
      {"links are a list", replaced(good, R"({\"a/link\":\"../main.tf\",\"directory\":\"a\"})", "[]"),
       "it is damaged: the links of a package are not a JSON object"},
      {"providers are an object", replaced(good, R"("tofu-modlock.providers":"[)", R"("tofu-modlock.providers":"{},[)"),
       "it is damaged: its providers are not a JSON array"},
      {"provider above its directory",
       replaced(good, "registry.opentofu.org/acme/null", "registry.opentofu.org/acme/.."),
       "it is damaged: a provider is invalid"},
      {"version of a provider", replaced(good, "1.0.0+b", "../1.0.0"), "it is damaged: a provider is invalid"},
      {"platform of a provider", replaced(good, "linux_amd64", "linux_../x"), "it is damaged: a provider is invalid"},
      {"digest of an archive", replaced(good, digest('4'), "sha256:x"),
       "it is damaged: a descriptor has an invalid media type, digest or size"},
      {"larger than 4 MiB", std::string(remote::kManifestLimit + 1, ' '), "it is damaged: it is larger than 4 MiB"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto read = remote::read_closure(row.text, "it");
      BOOST_REQUIRE(!read);
      BOOST_TEST(to_string(read.error().code) == "SOURCE_INVALID");
      BOOST_TEST(read.error().message.starts_with(row.message), read.error().message);
    }
  }
}

BOOST_AUTO_TEST_CASE(layout_index_lists_closures_and_ignores_other_entries) {
  const std::string text = remote::write_layout_index({{"closure-1", {digest('1'), 10}}}, {provider()});
  const std::string other = R"({"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:x"},)";
  const auto read = remote::read_layout_index(replaced(text, "\"manifests\":[", "\"manifests\":[" + other), "it");
  BOOST_REQUIRE(read.has_value());
  BOOST_REQUIRE(read->size() == 1);
  BOOST_TEST(read->front().tag == "closure-1");
  BOOST_TEST(read->front().index.size == 10);
  const std::string repeated = remote::write_layout_index(
      {{"closure-1", {digest('1'), 10}}, {"closure-1", {digest('2'), 10}}, {"closure-2", {digest('1'), 10}}}, {});
  BOOST_TEST(remote::read_layout_index(repeated, "it")->size() == 1);
  const auto none = remote::read_layout_index(R"({"schemaVersion":2,"manifests":[]})", "it");
  BOOST_REQUIRE(!none);
  BOOST_TEST(none.error().message == "it is damaged: it lists no packages of tofu-modlock");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
