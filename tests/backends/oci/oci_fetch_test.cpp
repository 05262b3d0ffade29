#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <string>

#include "backends/base/digest.h"
#include "tests/backends/oci/oci_fixture.h"

namespace modlock::test {

BOOST_FIXTURE_TEST_SUITE(oci_fetch, OciFixture)

namespace {

const PackageFiles kFiles = {{"main.tf", "output \"x\" {}\n"}, {"sub/main.tf", "# two\n"}};
constexpr const char* kSource = "oci://reg.example.com/a";

// Everything below a directory of fetches, or "nothing".
std::string left_in(const std::filesystem::path& directory) {
  std::string names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    names += entry.path().filename().string() + " ";
  }
  return names.empty() ? "nothing" : names;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_tag_is_fetched_by_two_requests) {
  const OciModule module = serve("a", "v1.0.0", kFiles);
  const auto tree = fetch(kSource, {.id = {}, .ref = "v1.0.0"});
  BOOST_TEST_REQUIRE(outcome(tree) == "ok");
  BOOST_TEST(tree->id == module.manifest_digest);
  BOOST_TEST(tree->ref == "v1.0.0");
  BOOST_TEST(read_text(tree->directory / "main.tf") == "output \"x\" {}\n");
  BOOST_TEST(read_text(tree->directory / "sub" / "main.tf") == "# two\n");
  BOOST_TEST((tree->directory.parent_path() == directory.path()));
  BOOST_TEST(!std::filesystem::exists(tree->directory.string() + ".zip"));
  BOOST_TEST(asked() ==
             "GET https://reg.example.com/v2/a/manifests/v1.0.0\n"
             "GET https://reg.example.com/v2/a/blobs/" +
                 module.package_digest + "\n");
  BOOST_TEST(stats.requests.load() == 2U);
}

BOOST_AUTO_TEST_CASE(what_is_fetched_follows_wish_and_source) {
  const OciModule module = serve("a", "v1.0.0", kFiles);
  serve("a", "latest", kFiles);
  const std::string& digest = module.manifest_digest;
  struct Row {
    const char* name;
    std::string source;
    FetchRequest fetch_request;
    std::string asked;
    std::string ref;
  };
  for (const Row& row : {
           Row{"nothing: latest", kSource, {}, "latest", "latest"},
           Row{"tag of the source", std::string(kSource) + "?tag=v1.0.0", {}, "v1.0.0", "v1.0.0"},
           Row{"digest of the source", std::string(kSource) + "?digest=" + digest, {}, digest, ""},
           Row{"ref of the wish",
               std::string(kSource) + "?tag=latest",
               {.id = {}, .ref = "v1.0.0"},
               "v1.0.0",
               "v1.0.0"},
           Row{"id of the wish", kSource, {.id = digest, .ref = "v9.9.9"}, digest, ""},
           Row{"locked",
               std::string(kSource) + "?tag=v9.9.9",
               {.id = digest, .ref = "v9.9.9", .locked = true},
               digest,
               ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::size_t before = http.sent().size();
      const auto tree = fetch(row.source, row.fetch_request);
      BOOST_TEST_REQUIRE(outcome(tree) == "ok");
      BOOST_TEST(tree->id == digest);
      BOOST_TEST(tree->ref == row.ref);
      BOOST_TEST(tree->warnings.empty());
      BOOST_TEST(http.sent_lines().at(before) == "GET https://reg.example.com/v2/a/manifests/" + row.asked);
    }
  }
}

BOOST_AUTO_TEST_CASE(several_wishes_are_answered_in_order) {
  serve("a", "v1.0.0", kFiles);
  serve("a", "v2.0.0", {{"main.tf", "two"}});
  http.on("GET", kRegistry + "a/manifests/v3.0.0", {FakeAnswer{.status = 404}});
  const std::vector<FetchRequest> fetch_requests = {
      {.id = {}, .ref = "v2.0.0"}, {.id = {}, .ref = "v3.0.0"}, {.id = {}, .ref = "v1.0.0"}};
  const auto trees = backend->fetch(source(kSource), fetch_requests, directory.path(), context);
  BOOST_TEST_REQUIRE(trees.size() == 3U);
  BOOST_TEST(read_text(trees[0]->directory / "main.tf") == "two");
  BOOST_TEST(outcome(trees[1]) == "NOT_FOUND: \"oci://reg.example.com/a\" has no tag \"v3.0.0\"");
  BOOST_TEST(read_text(trees[2]->directory / "main.tf") == "output \"x\" {}\n");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_those_of_a_digest_are_refused) {
  const OciModule module = serve("a", "v1", kFiles);
  const OciModule other = make_oci_module({{"main.tf", "evil"}});
  const std::string zeros = "sha256:" + std::string(64, '0');
  const std::string by_digest = kRegistry + "a/manifests/" + module.manifest_digest;
  const std::string tag = kRegistry + "a/manifests/v1";
  const std::string blob = kRegistry + "a/blobs/" + module.package_digest;
  const auto manifest = [](const std::string& body, const std::string& digest) {
    FakeAnswer answer{.headers = {{"Content-Type", kOciManifestType}}, .body = body};
    if (!digest.empty()) {
      answer.headers.push_back({"Docker-Content-Digest", digest});
    }
    return answer;
  };
  std::string flipped = module.package;
  flipped[40] = static_cast<char>(flipped[40] ^ 1);
  const std::string package = "the module package of \"oci://reg.example.com/a\" does not match its manifest: ";
  const std::string size = std::to_string(module.package.size());
  struct Row {
    const char* name;
    std::string url;
    FakeAnswer answer;
    FetchRequest fetch_request;
    std::string expected;
  };
  const FetchRequest by_tag{.id = {}, .ref = "v1"};
  const FetchRequest by_id{.id = module.manifest_digest, .ref = "v1", .locked = true};
  const std::string content = "manifest content does not match digest: \"";
  for (const Row& row : {
           Row{"manifest by digest", by_digest, manifest(other.manifest, ""), by_id,
               content + module.manifest_digest + "\" of \"oci://reg.example.com/a\": expected " +
                   module.manifest_digest + ", got " + other.manifest_digest},
           Row{"manifest by digest, named as it is", by_digest, manifest(other.manifest, other.manifest_digest), by_id,
               content + module.manifest_digest + "\" of \"oci://reg.example.com/a\": expected " +
                   module.manifest_digest + ", got " + other.manifest_digest},
           Row{"manifest by tag, named wrong", tag, manifest(module.manifest, zeros), by_tag,
               content + "v1\" of \"oci://reg.example.com/a\": expected " + zeros + ", got " + module.manifest_digest},
           Row{"package changed",
               blob,
               {.body = flipped},
               by_tag,
               package + "expected " + module.package_digest + ", found " + digest_of(flipped)},
           Row{"package cut",
               blob,
               {.body = module.package.substr(1)},
               by_tag,
               package + "expected " + size + " bytes, found " + std::to_string(module.package.size() - 1)},
           Row{"package empty", blob, {.body = ""}, by_tag, package + "expected " + size + " bytes, found 0"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      OciFixture fresh;
      fresh.serve("a", "v1", kFiles);
      fresh.http.on("GET", row.url, {row.answer});
      BOOST_TEST(outcome(fresh.fetch(kSource, row.fetch_request)) == "HASH_MISMATCH: " + row.expected);
      BOOST_TEST(left_in(fresh.directory.path()) == "nothing");
    }
  }
}

BOOST_AUTO_TEST_CASE(digests_may_be_of_sha512) {
  const auto sha512 = [](const std::string& bytes) { return "sha512:" + hex(hash_of(Hash::sha512, bytes)); };
  const OciModule module = make_oci_module(kFiles);
  std::string body = module.manifest;
  const std::string layer = sha512(module.package);
  body.replace(body.find(module.package_digest), module.package_digest.size(), layer);
  const std::string digest = sha512(body);
  const std::string url = kRegistry + "a/manifests/" + digest;
  const auto answer = [&](const std::string& bytes) {
    return FakeAnswer{.headers = {{"Content-Type", kOciManifestType}}, .body = bytes};
  };
  http.on("GET", url, {answer(body), answer(body + " "), answer(body)});
  http.on("GET", kRegistry + "a/blobs/" + layer, {FakeAnswer{.body = module.package}, FakeAnswer{.body = "x"}});
  const auto tree = fetch(std::string(kSource) + "?digest=" + digest);
  BOOST_TEST_REQUIRE(outcome(tree) == "ok");
  BOOST_TEST(tree->id == digest);
  BOOST_TEST(outcome(fetch(kSource, {.id = digest, .ref = {}, .locked = true})) ==
             "HASH_MISMATCH: manifest content does not match digest: \"" + digest +
                 "\" of \"oci://reg.example.com/a\": expected " + digest + ", got " + sha512(body + " "));
  BOOST_TEST(outcome(fetch(kSource, {.id = digest, .ref = {}, .locked = true})).substr(0, 14) == "HASH_MISMATCH:");
}

BOOST_AUTO_TEST_CASE(a_package_that_goes_on_is_ended) {
  const OciModule module = serve("a", "v1", kFiles);
  http.on("GET", kRegistry + "a/blobs/" + module.package_digest,
          {FakeAnswer{.body = module.package + std::string(100'000, 'x')}});
  const auto tree = fetch(kSource, {.id = {}, .ref = "v1"});
  BOOST_TEST_REQUIRE(!tree);
  BOOST_TEST(to_string(tree.error().code) == "HASH_MISMATCH");
  BOOST_TEST(left_in(directory.path()) == "nothing");
}

BOOST_AUTO_TEST_CASE(a_registry_may_leave_the_digest_out_where_it_gives_the_manifest) {
  const OciModule module = serve("a", "v1", kFiles);
  http.on("GET", kRegistry + "a/manifests/v1",
          {FakeAnswer{.headers = {{"Content-Type", kOciManifestType}}, .body = module.manifest}});
  BOOST_TEST(fetch(kSource, {.id = {}, .ref = "v1"})->id == module.manifest_digest);
}

BOOST_AUTO_TEST_CASE(wishes_that_name_nothing_ask_nobody) {
  struct Row {
    const char* name;
    FetchRequest fetch_request;
    const char* expected;
  };
  const std::string sha384 = "sha384:" + std::string(96, '0');
  for (const Row& row : {Row{"id is a path",
                             {.id = "../../x", .ref = {}},
                             "SOURCE_INVALID: \"../../x\" of \"oci://reg.example.com/a\" is not a valid digest"},
                         Row{"tag is a path",
                             {.id = {}, .ref = "../x"},
                             "SOURCE_INVALID: \"../x\" of \"oci://reg.example.com/a\" is not a valid tag"},
                         Row{"line end",
                             {.id = {}, .ref = "a\nb"},
                             "SOURCE_INVALID: \"a\\x0ab\" of \"oci://reg.example.com/a\" is not a valid tag"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(outcome(fetch(kSource, row.fetch_request)) == row.expected);
    }
  }
  BOOST_TEST(outcome(fetch(kSource, {.id = sha384, .ref = {}})) ==
             "SOURCE_UNSUPPORTED: the requested \"" + sha384 +
                 "\" of \"oci://reg.example.com/a\" has a digest of the algorithm \"sha384\", but only sha256 and "
                 "sha512 are supported");
  BOOST_TEST(http.sent().empty());
  BOOST_TEST(outcome(fetch(std::string(kSource) + "?ref=x")) ==
             "SOURCE_INVALID: the module source \"oci://reg.example.com/a\" has the unsupported argument \"ref\"");
}

BOOST_AUTO_TEST_CASE(a_package_that_does_not_unpack_leaves_nothing) {
  const std::string layer = oci_layer("not a zip");
  const std::string body = oci_manifest(layer);
  http.on("GET", kRegistry + "a/manifests/latest",
          {FakeAnswer{.headers = {{"Content-Type", kOciManifestType}}, .body = body}});
  http.on(kRegistry + "a/blobs/" + digest_of("not a zip"), "not a zip", "application/octet-stream");
  const auto tree = fetch(kSource);
  BOOST_TEST_REQUIRE(!tree);
  BOOST_TEST(to_string(tree.error().code) == "BAD_RESPONSE");
  BOOST_TEST(left_in(directory.path()) == "nothing");
}

BOOST_AUTO_TEST_CASE(pins) {
  const OciModule module = serve("a", "v1", kFiles);
  const auto pin = backend->pin(source("oci://reg.example.com/a?tag=v1"), context);
  BOOST_TEST(pin->id == module.manifest_digest);
  BOOST_TEST(pin->ref == "v1");
  BOOST_TEST(asked() == "HEAD https://reg.example.com/v2/a/manifests/v1\n");
  context.offline = true;
  const auto digest = backend->pin(source("oci://reg.example.com/a?digest=" + module.manifest_digest), context);
  BOOST_TEST(digest->id == module.manifest_digest);
  BOOST_TEST(digest->ref == "");
  BOOST_TEST(http.sent().size() == 1U);
}

// A refused HEAD says nothing about the tag: a GET is sent.
BOOST_AUTO_TEST_CASE(tags_are_pinned_although_head_is_refused) {
  const OciModule module = serve("a", "latest", kFiles);
  const auto header = [](const std::string& digest) { return HttpHeader{"Docker-Content-Digest", digest}; };
  const std::string sha384 = "sha384:" + std::string(96, '0');
  struct Row {
    const char* name;
    FakeAnswer head;
    std::string expected;
    std::size_t requests = 2;
  };
  for (const Row& row : {
           Row{"a digest", {.headers = {header(module.manifest_digest)}}, module.manifest_digest, 1},
           Row{"no digest", {}, module.manifest_digest},
           Row{"400", {.status = 400}, module.manifest_digest},
           Row{"401", {.status = 401}, module.manifest_digest},
           Row{"403", {.status = 403}, module.manifest_digest},
           Row{"404", {.status = 404}, module.manifest_digest},
           Row{"405", {.status = 405}, module.manifest_digest},
           Row{"an invalid digest",
               {.headers = {header("x")}},
               "BAD_RESPONSE: the registry reports no valid digest of \"latest\" of \"oci://reg.example.com/a\"",
               1},
           Row{"another algorithm",
               {.headers = {header(sha384)}},
               "SOURCE_UNSUPPORTED: the manifest \"latest\" of \"oci://reg.example.com/a\" has a digest of the "
               "algorithm "
               "\"sha384\", but only sha256 and sha512 are supported",
               1},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      http.on("HEAD", kRegistry + "a/manifests/latest", {row.head});
      const std::size_t before = http.sent().size();
      const auto pin = backend->pin(source(kSource), context);
      BOOST_TEST((pin ? pin->id : outcome(pin)) == row.expected);
      BOOST_TEST(http.sent().size() - before == row.requests);
    }
  }
  for (const char* method : {"HEAD", "GET"}) {
    http.on(method, kRegistry + "a/manifests/latest", {FakeAnswer{.status = 404}});
  }
  BOOST_TEST(outcome(backend->pin(source(kSource), context)) ==
             "NOT_FOUND: \"oci://reg.example.com/a\" has no tag \"latest\"");
}

BOOST_AUTO_TEST_CASE(it_serves_oci_only) {
  BOOST_TEST(backend->hash_scheme() == "oci");
  BOOST_TEST(backend->serves(source(kSource).source));
  BOOST_TEST(!backend->serves(source("./x").source));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
