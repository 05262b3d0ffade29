#include "backends/git/smart_http.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <optional>

#include "backends/base/process.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/fake_http_client.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"
#include "tests/support/small_disk.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A repository of three commits; PATH leads to a git that only leaves a note of having been started.
struct Fetched : GitFixture {
  Fetched()
      : repository(server()->repositories() / "m.git"),
        authority("SSL_CERT_FILE", server()->authority().string()),
        path("PATH", (directory / "bin").string() + ":/usr/bin:/bin") {
    write_text(directory / "bin" / "git",
               "#!/bin/sh\necho \"$@\" >> " + (directory / "started").string() + "\nexec /usr/bin/git \"$@\"\n");
    fs::permissions(directory / "bin" / "git", fs::perms::owner_all);
    first = repository.commit({{"main.tf", "# 1\n"}});
    repository.tag("v1.0.0");
    second = repository.commit({{"main.tf", "# 2\n"}});
    repository.annotated_tag("v1.1.0");
    third = repository.commit({{"main.tf", "# 3\n"}});
    forget_git();
    log_before = server()->log().size();
    renew_backend();
  }
  ~Fetched() { fs::remove_all(repository.path()); }

  std::string url(std::string_view prefix = "open") const { return server()->url(prefix, "m.git"); }
  // What the server was asked since this was asked last, "GET" and "POST" and their statuses.
  std::string asked() {
    const std::vector<std::string> lines = server()->log();
    std::string text;
    for (; log_before < lines.size(); ++log_before) {
      const std::string& line = lines[log_before];
      const std::size_t method = line.find(' ') + 1;
      const std::size_t status =
          line.rfind(' ', line.find(" Basic ") == std::string::npos ? line.size() - 3 : line.find(" Basic ") - 1);
      text +=
          (text.empty() ? "" : ", ") + line.substr(method, line.find(' ', method) - method) + line.substr(status, 4);
    }
    return text;
  }
  bool started_git() const { return fs::exists(directory / "started"); }
  void forget_git() const { fs::remove(directory / "started"); }
  std::string text_of(const Result<FetchedTree>& tree) const {
    return tree ? read_text(tree->directory / "main.tf") : outcome(tree);
  }

  GitRepository repository;
  ScopedEnvironment authority;
  ScopedEnvironment path;
  std::string first;
  std::string second;
  std::string third;
  std::size_t log_before = 0;
};

// "<kind and mode> <path> <content>" of everything below.
std::map<std::string, std::string> entries_of(const fs::path& top) {
  std::map<std::string, std::string> entries;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top)) {
    const std::string mode = std::to_string(static_cast<int>(entry.symlink_status().permissions()));
    entries[fs::relative(entry.path(), top).string()] =
        entry.is_symlink()     ? "link " + fs::read_symlink(entry.path()).string()
        : entry.is_directory() ? "directory " + mode
                               : "file " + mode + " " + read_text(entry.path());
  }
  return entries;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(smart_http, *boost::unit_test::fixture<ServerOfSuite>())

BOOST_AUTO_TEST_CASE(each_way_to_name_a_commit_takes_two_requests_and_no_git, *needs(HttpsGitServer::kPrograms)) {
  struct Row {
    const char* name;
    std::string ref;
    std::string expected;
    std::string found;
  };
  Fetched names;
  for (const Row& row : {Row{"a tag", "v1.0.0", "# 1\n", "refs/tags/v1.0.0"},
                         Row{"an annotated tag", "v1.1.0", "# 2\n", "refs/tags/v1.1.0"},
                         Row{"a branch", "main", "# 3\n", "refs/heads/main"}, Row{"HEAD", "", "# 3\n", "HEAD"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(names.directory / "cache");
      const auto tree = names.fetch_one(names.url(), {.id = {}, .ref = row.ref});
      BOOST_TEST(names.text_of(tree) == row.expected);
      BOOST_TEST((tree && tree->ref == row.found));
      BOOST_TEST(names.asked() == "GET 200, POST 200");
    }
  }
  BOOST_TEST(!names.started_git());
}

BOOST_AUTO_TEST_CASE(a_listed_version_takes_one_request_more, *needs(HttpsGitServer::kPrograms)) {
  Fetched listed;
  BOOST_TEST(outcome(listed.backend->list_versions(listed.source(listed.url()), "", listed.context)) == "ok");
  const std::uint64_t before = listed.requests();
  const auto trees = listed.fetch(
      listed.url(), {{listed.second, "refs/tags/v1.1.0", false}, {listed.first, "refs/tags/v1.0.0", true}});
  BOOST_TEST(listed.text_of(trees[0]) == "# 2\n");
  BOOST_TEST(listed.text_of(trees[1]) == "# 1\n");
  BOOST_TEST(listed.asked() == "GET 200, POST 200");
  BOOST_TEST(listed.requests() - before == 1U);
  BOOST_TEST(outcome(listed.fetch_one(listed.url(), {listed.second, "refs/tags/v1.1.0", true})) == "ok");
  BOOST_TEST(listed.asked() == "");
  BOOST_TEST(!listed.started_git());
}

BOOST_AUTO_TEST_CASE(a_tip_named_by_its_id_takes_two_requests, *needs(HttpsGitServer::kPrograms)) {
  Fetched tip;
  const auto pin = tip.backend->pin(tip.source(tip.url() + "?ref=" + tip.second), tip.context);
  BOOST_TEST(outcome(pin) == "ok");
  BOOST_TEST(tip.text_of(tip.fetch_one(tip.url(), {tip.second, "", false})) == "# 2\n");
  BOOST_TEST(tip.asked() == "GET 200, POST 200");
  BOOST_TEST(!tip.started_git());
}

// What came without git is no trouble for the git that comes after it.
BOOST_AUTO_TEST_CASE(an_inner_commit_is_fetched_by_git, *needs(HttpsGitServer::kPrograms)) {
  Fetched inner;
  inner.repository.remove("refs/tags/v1.1.0");
  inner.forget_git();
  const ScopedEnvironment of_git("GIT_SSL_CAINFO", server()->authority().string());
  BOOST_TEST(inner.text_of(inner.fetch_one(inner.url(), {.id = {}, .ref = "main"})) == "# 3\n");
  BOOST_TEST(!inner.started_git());
  BOOST_TEST(inner.text_of(inner.fetch_one(inner.url(), {inner.second, "", true})) == "# 2\n");
  BOOST_TEST(inner.started_git());
  inner.repository.git({"fsck", "--no-dangling"}, {},
                       {{"GIT_DIR", fs::directory_iterator(inner.directory / "cache")->path().string()}});
}

BOOST_AUTO_TEST_CASE(an_old_advertisement_is_asked_for_again, *needs(HttpsGitServer::kPrograms)) {
  Fetched old;
  const auto list = [&] { return outcome(old.backend->list_versions(old.source(old.url()), "", old.context)); };
  const std::string aside = old.repository.commit_tree(old.repository.id("main^{tree}"));
  old.repository.tag("v0.9.0", aside);
  BOOST_TEST(list() == "ok");
  BOOST_TEST(old.asked() == "GET 200");
  old.repository.tag("v1.0.0", "main");
  old.repository.tag("v0.9.0", "main");
  old.forget_git();
  // What was listed is fetched, as long as the server has it.
  BOOST_TEST(old.text_of(old.fetch_one(old.url(), {old.first, "refs/tags/v1.0.0", false})) == "# 1\n");
  BOOST_TEST(old.asked() == "POST 200");
  BOOST_TEST(outcome(old.fetch_one(old.url(), {aside, "refs/tags/v0.9.0", false})) ==
             "CONTENT_MODIFIED: \"refs/tags/v0.9.0\" of \"git::" + old.url() + "\" pointed to commit " + aside +
                 " a moment ago and points to " + old.third + " now");
  BOOST_TEST(old.asked() == "POST 200, GET 200");
  // What was not there then is there now.
  BOOST_TEST(!old.started_git());
  old.repository.tag("v2.0.0", "main");
  old.forget_git();
  BOOST_TEST(old.text_of(old.fetch_one(old.url(), {old.third, "refs/tags/v2.0.0", true})) == "# 3\n");
  BOOST_TEST(old.asked() == "GET 200, POST 200");
  BOOST_TEST(!old.started_git());
}

BOOST_AUTO_TEST_CASE(a_moved_tag_is_found_out, *needs(HttpsGitServer::kPrograms)) {
  Fetched moved;
  const ScopedEnvironment of_git("GIT_SSL_CAINFO", server()->authority().string());
  moved.repository.tag("v1.0.0", "main");
  const auto tree = moved.fetch_one(moved.url(), {moved.second, "refs/tags/v1.0.0", true});
  BOOST_TEST(moved.text_of(tree) == "# 2\n");
  BOOST_REQUIRE_EQUAL(tree->warnings.size(), 1U);
  BOOST_TEST(to_string(tree->warnings[0].what.code) == "TAG_MOVED");
  BOOST_TEST(moved.asked() == "GET 200, POST 200");
  moved.repository.remove("refs/tags/v1.0.0");
  moved.repository.remove("refs/tags/v1.1.0");
  moved.renew_backend();
  fs::remove_all(moved.directory / "cache");
  const std::string other(40, '1');
  const auto trees = moved.fetch(moved.url(), {{other, "refs/tags/v1.0.0", true}, {moved.third, "main", true}});
  BOOST_TEST(outcome(trees[0]).substr(0, 10) == "NOT_FOUND:");
  BOOST_TEST(moved.text_of(trees[1]) == "# 3\n");
}

BOOST_AUTO_TEST_CASE(credentials_and_redirects_hold_for_the_fetch, *needs(HttpsGitServer::kPrograms)) {
  Fetched guarded;
  const std::string user_info = HttpsGitServer::user() + ":" + HttpsGitServer::encoded_password() + "@";
  const auto with_password = [&](std::string_view prefix) {
    return "https://" + user_info + guarded.url(prefix).substr(8);
  };
  const FetchRequest fetch_request{.id = {}, .ref = "v1.0.0"};
  BOOST_TEST(guarded.text_of(guarded.fetch_one(with_password("private"), fetch_request)) == "# 1\n");
  BOOST_TEST(guarded.asked() == "GET 200, POST 200");
  fs::remove_all(guarded.directory / "cache");
  write_text(
      guarded.directory / "home" / ".gitconfig",
      "[credential]\n\thelper = \"!f() { cat >/dev/null; test $1 = get && echo username=reader && echo 'password=" +
          HttpsGitServer::password() + "'; }; f\"\n");
  BOOST_TEST(guarded.text_of(guarded.fetch_one(guarded.url("private"), fetch_request)) == "# 1\n");
  BOOST_TEST(guarded.asked() == "GET 401, GET 200, POST 200");
  BOOST_TEST(guarded.text_of(guarded.fetch_one(guarded.url("moved"), fetch_request)) == "# 1\n");
  BOOST_TEST(guarded.asked() == "GET 302, GET 200, POST 200");
  BOOST_TEST(outcome(guarded.fetch_one(with_password("elsewhere"), fetch_request)).substr(0, 14) == "AUTH_REQUIRED:");
}

BOOST_AUTO_TEST_CASE(a_redirect_is_judged_anew_before_the_fetch, *needs(HttpsGitServer::kPrograms)) {
  Fetched moved;
  BOOST_TEST(outcome(moved.backend->list_versions(moved.source(moved.url("moved")), "", moved.context)) == "ok");
  moved.context.check_source = [](const Source& source) -> Result<void> {
    return fail(Code::source_denied, "no " + source.package_identity());
  };
  BOOST_TEST(outcome(moved.fetch_one(moved.url("moved"), {moved.first, "refs/tags/v1.0.0", false})) ==
             "SOURCE_DENIED: no git::" + moved.url("open"));
  BOOST_TEST(moved.asked() == "GET 302, GET 200");
}

BOOST_AUTO_TEST_CASE(both_engines_install_the_same, *needs(HttpsGitServer::kPrograms)) {
  Fetched both;
  const ScopedEnvironment of_git("GIT_SSL_CAINFO", server()->authority().string());
  GitRepository& repository = both.repository;
  const std::string plain = "100644 blob " + repository.write_blob("a\r\nb\n") + "\t";
  const std::string script = "100755 blob " + repository.write_blob("#!/bin/sh\n") + "\t";
  const std::string link = "120000 blob " + repository.write_blob("../main.tf") + "\t";
  const std::string below = "040000 tree " + repository.write_tree(plain + "x.tf\n" + link + "link.tf\n") + "\t";
  const auto attributes = [&](const char* text) {
    return "100644 blob " + repository.write_blob(text) + "\t.gitattributes\n";
  };
  const std::string rest = plain + "$Id$.tf\n" + plain + "\"na\\303\\257ve.tf\"\n" + below + "sub\n" + script +
                           "run.sh\n" + "100664 blob " + repository.write_blob("") + "\tempty\n" + link + "dangling\n" +
                           plain + "v.tf\n";
  struct Row {
    const char* name;
    std::string tree;
    bool starts_git;
  };
  for (const Row& row : {
           Row{"all kinds of entries", rest, false},
           Row{"attributes that write no other bytes",
               attributes("* text=auto\n*.tf text eol=lf\n*.bin binary\nsub export-ignore\nv.tf export-subst\n"
                          "*.zip filter=mine\n*.sh crlf\n") +
                   rest,
               false},
           Row{"other line ends", attributes("*.sh text eol=crlf\n") + rest, true},
           Row{"identities", attributes("*.tf ident\n") + rest, true},
           Row{"another encoding", attributes("*.sh text working-tree-encoding=UTF-16\n") + rest, true},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      repository.tag("v3.0.0", repository.commit_tree(repository.write_tree(row.tree)));
      const FetchRequest fetch_request{repository.id("v3.0.0"), "refs/tags/v3.0.0", false};
      std::vector<std::map<std::string, std::string>> found;
      for (const GitEngine engine : {GitEngine::libgit2, GitEngine::git}) {
        fs::remove_all(both.directory / "cache");
        both.forget_git();
        both.renew_backend(engine);
        const auto tree = both.fetch_one(both.url(), fetch_request);
        BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
        BOOST_TEST(both.started_git() == (engine == GitEngine::git || row.starts_git));
        found.push_back(entries_of(tree->directory));
      }
      BOOST_TEST(found[0].size() >= 8U);
      BOOST_TEST((found[0] == found[1]));
    }
  }
}

BOOST_AUTO_TEST_CASE(without_git_packages_come, *needs(HttpsGitServer::kPrograms)) {
  Fetched alone;
  const ScopedEnvironment none("PATH", (alone.directory / "empty").string());
  BOOST_TEST(alone.text_of(alone.fetch_one(alone.url(), {.id = {}, .ref = "v1.1.0"})) == "# 2\n");
  BOOST_TEST(outcome(alone.fetch_one(alone.url(), {alone.first.substr(0, 39) + "0", "", true})) ==
             "TOOL_MISSING: git is needed to fetch from \"git::" + alone.url() + "\" and is not on PATH");
}

BOOST_AUTO_TEST_CASE(a_full_cache_is_named_and_nothing_is_left,
                     *needs(HttpsGitServer::kPrograms) * boost::unit_test::precondition(may_mount)) {
  Fetched full;
  std::string noise;
  for (unsigned x = 1; noise.size() < 2000000;) {
    x = x * 1103515245U + 12345U;
    noise += static_cast<char>(x >> 24U);
  }
  full.repository.commit({{"noise", noise}});
  full.forget_git();
  const SmallDisk disk(full.directory / "cache", 400);
  BOOST_TEST(outcome(full.fetch_one(full.url(), {.id = {}, .ref = "main"})) ==
             "IO_ERROR: git could not fetch from \"git::" + full.url() + "\": the disk that holds the cache is full");
  // What fits still comes.
  BOOST_TEST(full.text_of(full.fetch_one(full.url(), {.id = {}, .ref = "v1.0.0"})) == "# 1\n");
  BOOST_TEST(!full.started_git());
}

BOOST_AUTO_TEST_SUITE_END()

// A redirect, or a page of nothing, is no repository without versions.
BOOST_AUTO_TEST_CASE(an_advertisement_without_content_is_an_error) {
  GitFixture fixture;
  FakeHttpClient client;
  const std::string url = "https://git.test/m.git";
  const std::string advertisement = "application/x-git-upload-pack-advertisement";
  client.redirect(url + "/info/refs?service=git-upload-pack",
                  "https://moved.test/m.git/info/refs?service=git-upload-pack");
  client.on("https://moved.test/m.git/info/refs?service=git-upload-pack", "", advertisement);
  fixture.backend = make_git_backend({.cache_directory = fixture.directory / "cache", .http = &client});
  const auto listing = fixture.backend->list_versions(fixture.source(url), "", fixture.context);
  BOOST_TEST(outcome(listing) == "BAD_RESPONSE: git could not list the tags of \"git::" + url +
                                     "\": the response was truncated or malformed");
  BOOST_TEST(listing.error().notes.back() == "the list of references breaks off");
}

}  // namespace modlock::test
