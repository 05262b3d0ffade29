// Servers that say where the package is.
#include <boost/test/unit_test.hpp>

#include "tests/backends/archive/archive_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

struct IndirectScene : ArchiveScene {
  IndirectScene() {
    commit = git->add_tag("git::https://git.example/r.git", "v1", {{"sub/main.tf", kModule}, {"other.tf", ""}});
    http.on("https://example.com/deep.zip",
            make_zip({{.name = "b/a/x/main.tf", .content = kModule}, {.name = "b/other.tf", .content = ""}}),
            "application/zip");
    point("https://example.com/p", "https://example.com/a.zip");
    point("https://example.com/repository", "git::https://git.example/r.git//sub?ref=v1");
  }

  // What a server says, asked with terraform-get=1.
  void point(const std::string& url, const std::string& where) {
    http.on("GET", url + "?terraform-get=1", {FakeAnswer{.status = 200, .headers = {{"X-Terraform-Get", where}}}});
  }

  std::string commit;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(archive_indirect, IndirectScene)

BOOST_AUTO_TEST_CASE(follows_to_an_archive) {
  const auto tree = fetch("https://example.com/p");
  BOOST_TEST(outcome(tree) == zip_id + " main.tf");
  BOOST_TEST(http.sent_lines() ==
             (std::vector<std::string>{"GET https://example.com/p?terraform-get=1", "GET https://example.com/a.zip"}));
}

BOOST_AUTO_TEST_CASE(follows_to_an_object) {
  others.add(make_archive_backend(http, credentials, others, SourceKind::s3));
  http.on("https://s3.amazonaws.com/mods/a.zip", zip, "application/zip");
  point("https://example.com/object", "s3::https://s3.amazonaws.com/mods/a.zip");
  BOOST_TEST(outcome(fetch("https://example.com/object")) == zip_id + " main.tf");
  BOOST_TEST(outcome(fetch("https://example.com/object", zip_id)) == zip_id + " main.tf");
}

BOOST_AUTO_TEST_CASE(follows_a_page) {
  http.on("https://example.com/page?terraform-get=1",
          R"(<head><meta name="terraform-get" content="https://example.com/deep.zip//b/a/x"></head>)", "text/html");
  const auto tree = fetch("https://example.com/page");
  BOOST_REQUIRE(tree.has_value());
  BOOST_TEST(names(*tree) == " main.tf");
  BOOST_TEST(tree->subdir == "");
}

BOOST_AUTO_TEST_CASE(keeps_the_directory_alone_that_is_named) {
  point("https://example.com/outer", "https://example.com/p-inner//a/*");
  point("https://example.com/p-inner", "https://example.com/deep.zip//b");
  const auto tree = fetch("https://example.com/outer");
  BOOST_REQUIRE(tree.has_value());
  BOOST_TEST(names(*tree) == " main.tf");
  point("https://example.com/missing", "https://example.com/a.zip//none");
  BOOST_TEST(outcome(fetch("https://example.com/missing")) == "NOT_FOUND: the package has no directory \"none\"");
}

BOOST_AUTO_TEST_CASE(refuses_a_named_directory_that_is_a_link_out_of_the_package) {
  std::filesystem::create_directory(parent.path() / "outside");
  git->add_link("git::https://git.example/links.git", "v1", "sub", parent.path() / "outside");
  point("https://example.com/link", "git::https://git.example/links.git//sub?ref=v1");
  BOOST_TEST(outcome(fetch("https://example.com/link")) ==
             "ARCHIVE_UNSAFE: \"sub\" is a symbolic link that leaves the package");
}

BOOST_AUTO_TEST_CASE(follows_to_a_repository) {
  const auto tree = fetch("https://example.com/repository");
  BOOST_TEST(outcome(tree) == "git:" + commit + " main.tf");
  BOOST_TEST(tree->subdir == "");
  BOOST_TEST(tree->ref.empty());
}

BOOST_AUTO_TEST_CASE(brings_a_locked_commit) {
  const std::string older = git->add_branch("git::https://git.example/r.git", "older", {{"sub/old.tf", ""}});
  BOOST_TEST(outcome(fetch("https://example.com/repository", "git:" + older)) == "git:" + older + " old.tf");
  // The tag is gone, the commit is not.
  point("https://example.com/repository", "git::https://git.example/r.git//sub?ref=v2");
  BOOST_TEST(outcome(fetch("https://example.com/repository", "git:" + older)) == "git:" + older + " old.tf");
  BOOST_TEST(outcome(fetch("https://example.com/repository")) == "NOT_FOUND: no such reference: v2");
}

BOOST_AUTO_TEST_CASE(tells_when_the_kind_has_changed) {
  const auto tree = fetch("https://example.com/repository", "zh:00");
  BOOST_TEST(outcome(tree) == "git:" + commit + " main.tf");
  BOOST_REQUIRE(tree->warnings.size() == 1U);
  BOOST_TEST((tree->warnings[0].what.code == Code::tag_moved));
  BOOST_TEST(tree->warnings[0].what.message ==
             "it is locked as zh:00, but is now at \"git::https://git.example/r.git//sub?ref=v1\"");
  BOOST_TEST(outcome(fetch("https://example.com/repository", "oci:sha256:00")) ==
             "HASH_MISMATCH: it is locked as oci:sha256:00, but is now at "
             "\"git::https://git.example/r.git//sub?ref=v1\", which cannot serve that");
  BOOST_TEST(outcome(fetch("https://example.com/p", "git:00")) ==
             "HASH_MISMATCH: it is locked as git:00, but \"https://example.com/a.zip\" is an archive");
}

BOOST_AUTO_TEST_CASE(follows_ten_times) {
  for (int i = 1; i < 12; ++i) {
    point(fmt::format("https://example.com/hop{}", i), fmt::format("https://example.com/hop{}", i + 1));
  }
  point("https://example.com/hop11", "https://example.com/a.zip");
  BOOST_TEST(outcome(fetch("https://example.com/hop2")) == zip_id + " main.tf");
  BOOST_TEST(outcome(fetch("https://example.com/hop1")) ==
             "BAD_RESPONSE: \"https://example.com/hop11\" is the last of 11 servers that each point to another "
             "location of the module package");
}

BOOST_AUTO_TEST_CASE(asks_the_policy_before_it_follows) {
  Context context;
  context.check_source = [](const Source& source, const ServerHop&) -> Result<void> {
    return source.host == "git.example" ? fail(Code::source_denied, "denied: " + source.identity()) : Result<void>();
  };
  const auto tree = fetch("https://example.com/repository", {}, context);
  BOOST_TEST(outcome(tree) == "SOURCE_DENIED: denied: git::https://git.example/r.git//sub?ref=v1");
  BOOST_TEST(
      tree.error().notes ==
      std::vector<std::string>{"\"https://example.com/repository\" points to this location of the module package"});
  BOOST_TEST(git->pins == 0);
}

BOOST_AUTO_TEST_CASE(refuses_to_be_led_to_this_machine) {
  point("https://example.com/directory", "file:///etc");
  BOOST_TEST(outcome(fetch("https://example.com/directory")) ==
             "SOURCE_DENIED: \"file:///etc\" is on this machine, and a server must not redirect to it");
  git->is_local = true;
  BOOST_TEST(outcome(fetch("https://example.com/repository")) ==
             "SOURCE_DENIED: git::https://git.example/r.git//sub?ref=v1 is on this machine");
  BOOST_TEST(git->pins == 0);
}

BOOST_AUTO_TEST_CASE(refuses_what_nobody_serves) {
  point("https://example.com/bucket", "s3::https://s3.example/b/k.zip");
  BOOST_TEST(outcome(fetch("https://example.com/bucket")) ==
             "SOURCE_UNSUPPORTED: the module package is at \"s3::https://s3.example/b/k.zip\", but s3 sources are not "
             "supported");
}

BOOST_AUTO_TEST_CASE(holds_the_archive_to_the_checksum_of_the_server) {
  point("https://example.com/sum", "https://example.com/a.zip?checksum=md5:" + std::string(32, '0'));
  BOOST_TEST((fetch("https://example.com/sum").error().code == Code::hash_mismatch));
}

BOOST_AUTO_TEST_CASE(looks_up_credentials_for_each_host) {
  credentials.add_basic(CredentialUse::download, "example.com", "me", "secret");
  point("https://example.com/other", "https://other.example/a.zip");
  http.on("https://other.example/a.zip", zip, "application/zip");
  BOOST_TEST(outcome(fetch("https://example.com/other")) == zip_id + " main.tf");
  BOOST_TEST(http.sent().front().header("Authorization") == "Basic bWU6c2VjcmV0");
  BOOST_TEST(http.sent().back().header("Authorization").empty());
  BOOST_TEST(credentials.asked() == (std::vector<std::string>{"example.com", "other.example"}));
}

BOOST_AUTO_TEST_SUITE_END()
