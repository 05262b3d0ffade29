#include <boost/test/unit_test.hpp>

#include "tests/backends/registry/registry_fixture.h"

namespace modlock::registry {
namespace {

using namespace test;

const std::string kCommit = "8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807";
const std::string kOtherCommit = "1111111111111111111111111111111111111111";
const std::string kDigest = "sha256:" + std::string(64, 'a');

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

BOOST_AUTO_TEST_SUITE(package_fetch_test)

BOOST_AUTO_TEST_CASE(another_backend_brings_what_the_registry_points_to) {
  struct Row {
    const char* name;
    std::string location;
    std::string id;  // locked
    std::string calls;
    std::string result;  // id and subdirectory
  };
  const std::string repository = "git::https://example.com/m.git";
  const Row rows[] = {
      {"a tag", repository + "?ref=v1.0.0", "", "fetch " + repository + ": @v1.0.0\n", "git:id-of-v1.0.0 "},
      {"HEAD", repository, "", "fetch " + repository + ": @\n", "git:id-of- "},
      {"a commit is proven first", repository + "?ref=" + kCommit, "",
       "pin " + repository + "?ref=" + kCommit + "\nfetch " + repository + ": " + kCommit + "@ locked\n",
       "git:" + kCommit + " "},
      {"a subdirectory", repository + "//a/b?ref=v1.0.0", "", "fetch " + repository + ": @v1.0.0\n",
       "git:id-of-v1.0.0 a/b"},
      {"a glob", repository + "//*?ref=v1.0.0", "", "fetch " + repository + ": @v1.0.0\n", "git:id-of-v1.0.0 *"},
      {"locked, a tag", repository + "?ref=v1.0.0", "git:" + kCommit,
       "fetch " + repository + ": " + kCommit + "@v1.0.0 locked\n", "git:" + kCommit + " "},
      {"locked, the same commit", repository + "?ref=" + kCommit, "git:" + kCommit,
       "fetch " + repository + ": " + kCommit + "@ locked\n", "git:" + kCommit + " "},
      {"locked, the same commit abbreviated", repository + "?ref=8F2C0D0B", "git:" + kCommit,
       "fetch " + repository + ": " + kCommit + "@ locked\n", "git:" + kCommit + " "},
      {"OCI, a tag", "oci://example.com/m?tag=v1", "", "fetch oci://example.com/m?tag=v1: @v1\n", "oci:id-of-v1 "},
      {"OCI, a digest", "oci://example.com/m?digest=" + kDigest, "",
       "pin oci://example.com/m?digest=" + kDigest + "\nfetch oci://example.com/m?digest=" + kDigest + ": " + kDigest +
           "@ locked\n",
       "oci:" + kDigest + " "},
      {"OCI, locked", "oci://example.com/m?tag=v1", "oci:" + kDigest,
       "fetch oci://example.com/m?tag=v1: " + kDigest + "@v1 locked\n", "oci:" + kDigest + " "},
      {"an archive", "https://example.com/m.zip//sub", "", "fetch https://example.com/m.zip: @\n", "zh:id-of- sub"},
      {"an archive, locked", "https://example.com/m.zip", "zh:ab", "fetch https://example.com/m.zip: ab@ locked\n",
       "zh:ab "},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RegistryFixture fixture;
      fixture.locate("a/b/c", "1.0.0", row.location);
      const auto tree = fixture.fetch("1.0.0", row.id);
      BOOST_REQUIRE_MESSAGE(tree, (tree ? "" : words(tree.error())));
      BOOST_TEST(tree->id + " " + tree->subdir == row.result);
      BOOST_TEST(tree->ref == "1.0.0");
      BOOST_TEST(tree->warnings.empty());
      BOOST_TEST(join(fixture.git->calls()) + join(fixture.oci->calls()) + join(fixture.archive->calls()) == row.calls);
    }
  }
}

BOOST_AUTO_TEST_CASE(subdirectories_of_both_are_joined) {
  RegistryFixture fixture;
  fixture.locate("a/b/c", "1.0.0", "https://example.com/m.zip//sub/dir");
  fixture.archive->subdir = "m-1.0.0";
  const auto tree = fixture.fetch("1.0.0");
  BOOST_REQUIRE(tree);
  BOOST_TEST(tree->subdir == "m-1.0.0/sub/dir");
}

BOOST_AUTO_TEST_CASE(address_of_the_package_has_the_fetched_id) {
  struct Row {
    const char* name;
    std::string location;
    std::string id;
    std::string package;
  };
  const Row rows[] = {
      {"git with a directory", "git::https://example.com/m.git//a?ref=v1&depth=1", "",
       "git::https://example.com/m.git?ref=id-of-v1"},
      {"a locked commit", "git::https://example.com/m.git", "git:" + kCommit,
       "git::https://example.com/m.git?ref=" + kCommit},
      {"git without its user", "git::https://token@example.com/m.git?ref=v1", "",
       "git::https://example.com/m.git?ref=id-of-v1"},
      {"OCI", "oci://example.com/m?tag=v1", "", "oci://example.com/m?digest=id-of-v1"},
      {"an archive", "https://example.com/m.zip//a", "", "https://example.com/m.zip"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RegistryFixture fixture;
      fixture.locate("a/b/c", "1.0.0", row.location);
      const auto tree = fixture.fetch("1.0.0", row.id);
      BOOST_REQUIRE_MESSAGE(tree, (tree ? "" : words(tree.error())));
      BOOST_TEST(tree->package == row.package);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_lock_names_and_a_registry_moved) {
  struct Row {
    const char* name;
    std::string location;
    std::string id;
    std::string warning;  // or the error
  };
  const Row rows[] = {
      {"another commit", "git::https://example.com/m.git?ref=" + kOtherCommit, "git:" + kCommit,
       "TAG_MOVED: the registry now points to \"git::https://example.com/m.git?ref=" + kOtherCommit +
           "\" for version 1.0.0 of \"registry.example.com/modules/a/b/c\"; the locked git:" + kCommit +
           " is used, if it still exists"},
      {"from an archive to git", "git::https://example.com/m.git?ref=v1", "zh:ab",
       "TAG_MOVED: version 1.0.0 of \"registry.example.com/modules/a/b/c\" was an archive (zh:ab) when it was locked, "
       "but is now at \"git::https://example.com/m.git?ref=v1\""},
      {"from git to an archive", "https://example.com/m.zip", "git:" + kCommit,
       "HASH_MISMATCH: version 1.0.0 of \"registry.example.com/modules/a/b/c\" is locked as git:" + kCommit +
           ", but the registry now points to \"https://example.com/m.zip\", which cannot serve that"},
      {"from git to OCI", "oci://example.com/m?tag=v1", "git:" + kCommit,
       "HASH_MISMATCH: version 1.0.0 of \"registry.example.com/modules/a/b/c\" is locked as git:" + kCommit +
           ", but the registry now points to \"oci://example.com/m?tag=v1\", which cannot serve that"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RegistryFixture fixture;
      fixture.locate("a/b/c", "1.0.0", row.location);
      const auto tree = fixture.fetch("1.0.0", row.id);
      BOOST_REQUIRE((!tree || tree->warnings.size() == 1U));
      BOOST_TEST(words(tree ? tree->warnings[0].what : tree.error()) == row.warning);
    }
  }
}

BOOST_AUTO_TEST_CASE(wishes_that_share_a_repository_are_one_fetch) {
  RegistryFixture fixture;
  fixture.locate("a/b/c", "1.0.0", "git::https://example.com/m.git?ref=v1");
  fixture.locate("a/b/c", "2.0.0", "git::https://example.com/m.git//sub?ref=v2");
  fixture.locate("a/b/c", "3.0.0", "git::https://example.com/other.git?ref=v3");
  fixture.locate("a/b/c", "4.0.0", "https://example.com/download?version=4&archive=zip");
  fixture.locate("a/b/c", "5.0.0", "https://example.com/download?version=5&archive=zip");
  const std::vector<FetchRequest> requests = {
      {.id = {}, .ref = "1.0.0"}, {.id = {}, .ref = "4.0.0"},
      {.id = {}, .ref = "2.0.0"}, {.id = "git:" + kCommit, .ref = "1.0.0", .locked = true},
      {.id = {}, .ref = "3.0.0"}, {.id = {}, .ref = "5.0.0"}};
  const auto trees = fixture.registry().fetch(parsed("registry.example.com/a/b/c"), requests, fixture.directory.path(),
                                              fixture.context);
  std::vector<std::string> ids;
  for (const auto& tree : trees) {
    ids.push_back(tree ? tree->id + "/" + tree->subdir : words(tree.error()));
  }
  const std::vector<std::string> expected = {"git:id-of-v1/",        "zh:id-of-/",    "git:id-of-v2/sub",
                                             "git:" + kCommit + "/", "git:id-of-v3/", "zh:id-of-/"};
  BOOST_TEST(ids == expected, boost::test_tools::per_element());
  const auto calls = fixture.git->calls();
  BOOST_REQUIRE(calls.size() == 2U);
  BOOST_TEST(std::max(calls[0], calls[1]) == "fetch git::https://example.com/other.git: @v3");
  BOOST_TEST(std::min(calls[0], calls[1]) == "fetch git::https://example.com/m.git: @v1 @v2 " + kCommit + "@v1 locked");
  BOOST_TEST(fixture.archive->calls().size() == 2U);  // their identities are equal, their URLs are not
  BOOST_TEST(fixture.http.sent().size() == 1U + 5U);  // discovery, and each version once
}

BOOST_AUTO_TEST_CASE(one_failure_leaves_the_others_alone) {
  RegistryFixture fixture;
  fixture.locate("a/b/c", "1.0.0", "git::https://example.com/m.git?ref=v1");
  fixture.answer("a/b/c", "2.0.0", FakeAnswer{.status = 404});
  const std::vector<FetchRequest> requests = {{.id = {}, .ref = "2.0.0"}, {.id = {}, .ref = "1.0.0"}};
  const auto trees = fixture.registry().fetch(parsed("registry.example.com/a/b/c"), requests, fixture.directory.path(),
                                              fixture.context);
  BOOST_REQUIRE(!trees[0]);
  BOOST_TEST(words(trees[0].error()) ==
             "NOT_FOUND: could not find the location of version 2.0.0 of \"registry.example.com/modules/a/b/c\": "
             "https://registry.example.com/v1/a/b/c/2.0.0/download: not found (status 404)");
  BOOST_TEST(trees[1].has_value());
}

BOOST_AUTO_TEST_CASE(errors_say_which_version_lies_there) {
  for (const std::string& ref : {std::string("v1"), kCommit}) {  // while fetching, while pinning
    RegistryFixture fixture;
    fixture.locate("a/b/c", "1.0.0", "git::https://user:CANARY@example.com/m.git?ref=" + ref + "&x=CANARY");
    fixture.git->error = {.code = Code::unreachable, .message = "no such host"};
    const auto tree = fixture.fetch("1.0.0");
    BOOST_REQUIRE(!tree);
    BOOST_TEST(words(tree.error()) == "UNREACHABLE: no such host");
    BOOST_REQUIRE(tree.error().notes.size() == 1U);
    BOOST_TEST(tree.error().notes[0] ==
               "version 1.0.0 of \"registry.example.com/modules/a/b/c\" is at \"git::https://example.com/m.git?ref=" +
                   ref + "\"");
  }
}

BOOST_AUTO_TEST_CASE(the_policy_is_asked_before_the_source) {
  RegistryFixture fixture;
  fixture.locate("a/b/c", "1.0.0", "git::https://example.com/m.git//sub?ref=" + kCommit);
  fixture.answer("a/b/c", "2.0.0",
                 FakeAnswer{.body = R"({"location":"/p//m.zip?sig=x","use_registry_credentials":true})"});
  std::vector<std::string> judged;
  fixture.context.check_source = [&](const Source& source, const ServerHop&) -> Result<void> {
    judged.push_back(source.identity());
    return fail(Code::source_denied, "not that one");
  };
  for (const char* version : {"1.0.0", "2.0.0"}) {
    const auto tree = fixture.fetch(version);
    BOOST_REQUIRE(!tree);
    BOOST_TEST(words(tree.error()) == "SOURCE_DENIED: not that one");
    BOOST_REQUIRE(tree.error().notes.size() == 1U);
  }
  const std::vector<std::string> expected = {"git::https://example.com/m.git//sub?ref=" + kCommit,
                                             "https://registry.example.com/p//m.zip"};
  BOOST_TEST(judged == expected, boost::test_tools::per_element());
  BOOST_TEST(fixture.git->calls().empty());
  BOOST_TEST(fixture.http.sent().size() == 3U);
}

BOOST_AUTO_TEST_CASE(sources_that_nobody_serves) {
  RegistryFixture fixture;
  fixture.locate("a/b/c", "1.0.0", "hg::https://example.com/m");
  const auto tree = fixture.fetch("1.0.0");
  BOOST_REQUIRE(!tree);
  BOOST_TEST(words(tree.error()) ==
             "SOURCE_UNSUPPORTED: version 1.0.0 of \"registry.example.com/modules/a/b/c\" is at "
             "\"hg::https://example.com/m\", but hg sources are not supported");
}

BOOST_AUTO_TEST_CASE(only_versions_are_asked_for) {
  RegistryFixture fixture;
  for (const char* ref : {"", "../../../../x", "1.0.0?x", "v1 0"}) {
    const auto tree = fixture.fetch(ref);
    BOOST_REQUIRE(!tree);
    BOOST_TEST((tree.error().code == Code::invalid_params));
  }
  BOOST_TEST(fixture.http.sent().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::registry
