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

// The same repository with so many references that its advertisement is over 256 KiB.
struct Large : Fetched {
  explicit Large(int count = 6000) {
    std::string lines = "# pack-refs with: peeled fully-peeled sorted \n";
    for (int i = 0; i < count; ++i) {
      lines += first + " refs/pull/" + std::to_string(100000 + i) + "/head\n";
    }
    write_text(repository.path() / "packed-refs", lines);
  }

  std::string url_with_password(std::string_view prefix) const {
    return "https://" + HttpsGitServer::user() + ":" + HttpsGitServer::encoded_password() + "@" + url(prefix).substr(8);
  }
  // A new run over the same cache.
  std::string fetched(const std::string& from, const std::string& ref) {
    renew_backend();
    stats.bytes = 0;
    return text_of(fetch_one(from, {.id = {}, .ref = ref}));
  }
  std::string pinned(const std::string& ref) {
    const auto pin = backend->pin(source(url() + (ref.empty() ? "" : "?ref=" + ref)), context);
    return pin ? pin->ref + " " + pin->id : outcome(pin);
  }
  // The file that remembers the repository.
  fs::path record() const {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory / "cache")) {
      if (entry.path().filename() == "modlock-endpoint") {
        return entry.path();
      }
    }
    return {};
  }
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
  moved.context.check_source = [](const Source& source, const ServerHop&) -> Result<void> {
    return fail(Code::source_denied, "no " + source.package_identity());
  };
  BOOST_TEST(outcome(moved.fetch_one(moved.url("moved"), {moved.first, "refs/tags/v1.0.0", false})) ==
             "SOURCE_DENIED: no git::" + moved.url("open"));
  BOOST_TEST(moved.asked() == "GET 302, GET 200");
}

BOOST_AUTO_TEST_CASE(of_a_large_repository_a_part_is_listed, *needs(HttpsGitServer::kPrograms)) {
  struct Row {
    const char* name;
    const char* prefix;
    bool has_password;
    std::string first;
    std::string later;
  };
  const std::string fetch = "POST 200, POST 200";
  for (const Row& row : {
           Row{"an address", "open", false, "GET 200, GET 200, " + fetch, fetch},
           Row{"protocol v0 alone", "old", false, "GET 200, GET 200, POST 200", "GET 200, GET 200, POST 200"},
           Row{"a redirect", "moved", false, "GET 302, GET 200, GET 302, GET 200, " + fetch, fetch},
           Row{"a password", "private", true, "GET 200, GET 200, " + fetch, fetch},
           Row{"a credential helper", "private", false, "GET 401, GET 200, GET 200, " + fetch, "POST 401, " + fetch},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Large large;
      write_text(large.directory / "home" / ".gitconfig",
                 "[credential]\n\thelper = \"!f() { cat >/dev/null; test $1 = get && echo username=reader && "
                 "echo 'password=" +
                     HttpsGitServer::password() + "'; }; f\"\n");
      large.forget_git();
      const std::string url = row.has_password ? large.url_with_password(row.prefix) : large.url(row.prefix);
      BOOST_TEST(large.fetched(url, "v1.1.0") == "# 2\n");
      BOOST_TEST(large.asked() == row.first);
      BOOST_TEST(large.fetched(url, "v1.0.0") == "# 1\n");
      BOOST_TEST(large.asked() == row.later);
      const bool is_v2 = row.prefix != std::string("old");
      BOOST_TEST((large.stats.bytes < 100'000) == is_v2, large.stats.bytes.load());
      BOOST_TEST(large.record().empty() == !is_v2);
      BOOST_TEST(large.fetched(url, "main") == "# 3\n");
      BOOST_TEST(large.fetched(url, "") == "# 3\n");
      BOOST_TEST(large.fetched(url, "v1.0") ==
                 "NOT_FOUND: \"git::" + large.url(row.prefix) + "\" has no branch or tag \"v1.0\"");
      BOOST_TEST(large.started_git() == (row.later.starts_with("POST 401")));  // the helper
    }
  }
}

BOOST_AUTO_TEST_CASE(a_fetch_does_not_read_the_large_list_of_protocol_v0_again, *needs(HttpsGitServer::kPrograms)) {
  Large large(20'000);
  const auto listing = large.backend->list_versions(large.source(large.url("old")), "", large.context);
  BOOST_REQUIRE_EQUAL(outcome(listing), "ok");
  BOOST_TEST(large.text_of(large.fetch_one(large.url("old"), {large.second, "refs/tags/v1.1.0", false})) == "# 2\n");
  BOOST_TEST(large.asked() == "GET 200, GET 200, POST 200");
  BOOST_TEST(!large.started_git());
}

BOOST_AUTO_TEST_CASE(a_large_repository_has_all_its_versions_and_commits, *needs(HttpsGitServer::kPrograms)) {
  Large large;
  const ScopedEnvironment of_git("GIT_SSL_CAINFO", server()->authority().string());
  const auto listing = large.backend->list_versions(large.source(large.url()), "", large.context);
  BOOST_REQUIRE_EQUAL(outcome(listing), "ok");
  BOOST_TEST(listing->versions.size() == 2U);
  BOOST_TEST(large.text_of(large.fetch_one(large.url(), {large.second, "refs/tags/v1.1.0", false})) == "# 2\n");
  BOOST_TEST(large.asked() == "GET 200, GET 200, POST 200, POST 200");
  // Each reference is listed for itself, also if another one was listed before.
  large.backend =
      make_git_backend({.cache_directory = large.directory / "cache", .http = large.http.get(), .memoizes = true});
  BOOST_TEST(large.pinned("v1.0.0") == "refs/tags/v1.0.0 " + large.first);
  BOOST_TEST(large.pinned("v1.1.0") == "refs/tags/v1.1.0 " + large.second);
  BOOST_TEST(large.pinned("main") == "refs/heads/main " + large.third);
  BOOST_TEST(large.pinned("") == "HEAD " + large.third);
  BOOST_TEST(large.pinned("v1.1.0") == "refs/tags/v1.1.0 " + large.second);
  BOOST_TEST(large.asked() == "POST 200, POST 200, POST 200, POST 200");
  // An id must be that of a branch or tag: of all, and not only of those that were listed.
  large.renew_backend();
  const std::string tag = large.repository.id("refs/tags/v1.1.0");
  BOOST_TEST(large.pinned("v1.0.0") == "refs/tags/v1.0.0 " + large.first);
  BOOST_TEST(large.pinned(tag) == " " + large.second);
  BOOST_TEST(large.pinned(large.third) == " " + large.third);
  BOOST_TEST(large.asked() == "POST 200, POST 200");
  large.repository.git({"update-ref", "refs/pull/7/head",
                        large.repository.commit_tree(large.repository.id("main^{tree}"), large.first)});
  BOOST_TEST(large.pinned(large.repository.id("refs/pull/7/head")).starts_with("HASH_MISMATCH: "));
}

BOOST_AUTO_TEST_CASE(a_remembered_redirect_is_judged_and_grows_old, *needs(HttpsGitServer::kPrograms)) {
  Large moved;
  BOOST_TEST(moved.fetched(moved.url("moved"), "v1.1.0") == "# 2\n");
  BOOST_TEST(read_text(moved.record()).starts_with(moved.url("moved") + "\n" + moved.url("open") + "\n"));
  moved.asked();
  fs::last_write_time(moved.record(), fs::last_write_time(moved.record()) - std::chrono::hours(25));
  BOOST_TEST(moved.fetched(moved.url("moved"), "v1.0.0") == "# 1\n");
  BOOST_TEST(moved.asked() == "GET 302, GET 200, POST 200, POST 200");
  moved.context.check_source = [](const Source& source, const ServerHop&) -> Result<void> {
    return fail(Code::source_denied, "no " + source.package_identity());
  };
  const std::string denied = moved.fetched(moved.url("moved"), "main");
  BOOST_TEST(denied.starts_with("SOURCE_DENIED: "), denied);
  BOOST_TEST(moved.asked() == "GET 302");
}

// Another host gets no password, and nothing with a secret is remembered.
BOOST_AUTO_TEST_CASE(a_remembered_redirect_gets_no_secrets, *needs(HttpsGitServer::kPrograms)) {
  Large guarded;
  BOOST_TEST(guarded.fetched(guarded.url_with_password("private"), "v1.0.0") == "# 1\n");
  const std::string text = read_text(guarded.record());
  BOOST_TEST(text.starts_with(guarded.url("private") + "\n" + guarded.url("private") + "\n"), text);
  const std::string elsewhere = server()->url("private", "m.git").replace(8, 9, "127.0.0.1");
  const fs::path record = guarded.record();
  write_text(record, guarded.url("private") + "\n" + elsewhere + text.substr(text.rfind('\n', text.size() - 2)));
  guarded.asked();
  BOOST_TEST(guarded.fetched(guarded.url_with_password("private"), "v1.1.0") == "# 2\n");
  BOOST_TEST(guarded.asked() == "POST 401, GET 200, POST 200, POST 200");
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

BOOST_AUTO_TEST_CASE(a_full_cache_is_named_and_nothing_is_left, *needs(HttpsGitServer::kPrograms) * needs(kMount)) {
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

namespace {

FakeAnswer typed(const std::string& type, const std::string& body) {
  return {.headers = {{"Content-Type", "application/x-git-upload-pack-" + type}}, .body = body};
}

// A large repository on a server that is not real.
struct Answered : GitFixture {
  // `listed` is the answer to each list of protocol v2.
  Answered(const std::string& address, const std::string& info, const std::string& post, const FakeAnswer& listed)
      : url(address) {
    std::string many = packet("# service=git-upload-pack\n") + "0000";
    for (int i = 0; i < 6000; ++i) {
      many += packet(std::string(40, '1') + " refs/pull/" + std::to_string(i) + "/head\n");
    }
    const std::string v2 = packet("version 2\n") + packet("ls-refs\n") + packet("fetch=shallow\n") + "0000";
    client.on("GET", info, {typed("advertisement", many + "0000"), typed("advertisement", v2)});
    client.on("POST", post, {listed});
  }
  // A new run over the same cache.
  std::string pinned() {
    backend = make_git_backend({.cache_directory = directory / "cache", .http = &client});
    const auto pin = backend->pin(source(url + (url.ends_with("x") ? "&" : "?") + "ref=v1.0.0"), context);
    return pin ? pin->ref + " " + pin->id : outcome(pin);
  }

  std::string url;
  FakeHttpClient client;
};

}  // namespace

// Whatever is no list of protocol v2 makes a run begin with the address again, and is then an error.
BOOST_AUTO_TEST_CASE(hostile_lists_of_protocol_v2) {
  const std::string id(40, '1');
  const std::string other(40, '2');
  const std::string url = "https://git.test/m.git";
  const std::string tag = packet(id + " refs/tags/v1.0.0\n");
  const std::string failed = "BAD_RESPONSE: git could not list the branches and tags of \"git::" + url + "\": ";
  const std::string good = "refs/tags/v1.0.0 " + id;
  struct Row {
    const char* name;
    FakeAnswer answer;
    std::string expected;
    bool is_asked_again;
  };
  for (const Row& row : {
           Row{"a list", typed("result", tag + "0000"), good, false},
           Row{"a name twice", typed("result", tag + packet(other + " refs/tags/v1.0.0\n") + "0000"), good, false},
           Row{"more than was wanted", typed("result", packet(other + " refs/tags/v1.0.0.1\n") + tag + "0000"), good,
               false},
           Row{"a name that begins alike", typed("result", packet(id + " refs/tags/v1.0.0-rc1\n") + "0000"),
               "NOT_FOUND: \"git::" + url + "\" has no branch or tag \"v1.0.0\"", false},
           Row{"a list that breaks off", typed("result", tag), failed + "the response was truncated or malformed",
               true},
           Row{"an error", typed("result", packet("ERR no\x1bway\n")), failed + "the server said: no\\x1bway", true},
           Row{"another type", {.body = tag + "0000"}, failed + "the response was truncated or malformed", true},
           Row{"a page", typed("result", "<html>"), failed + "the response was truncated or malformed", true},
           Row{"a redirect",
               {.status = 302, .headers = {{"Location", "https://other.test/m.git/git-upload-pack"}}},
               failed + "the server redirected to an address that is not this repository",
               true},
           Row{"not found",
               {.status = 404},
               "NOT_FOUND: git could not list the branches and tags of \"git::" + url + "\": ",
               true},
           Row{"a server error",
               {.status = 500},
               "UNREACHABLE: git could not list the branches and tags of \"git::" + url + "\": ",
               false},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Answered answered(url, url + "/info/refs?service=git-upload-pack", url + "/git-upload-pack", row.answer);
      for (const bool is_later : {false, true}) {
        const std::size_t before = answered.client.sent().size();
        const std::string found = answered.pinned();
        BOOST_TEST(found.substr(0, row.expected.size()) == row.expected);
        const auto sent = answered.client.sent();
        std::string lines;
        for (std::size_t i = before; i < sent.size(); ++i) {
          lines += sent[i].method + (sent[i].header("Git-Protocol") == "version=2" ? "2 " : " ");
        }
        const std::string post = row.answer.status == 500 ? "POST2 POST2 POST2 " : "POST2 ";
        BOOST_TEST(lines == (is_later ? post + (row.is_asked_again ? "GET2 POST2 " : "") : "GET GET2 " + post));
      }
      BOOST_TEST(answered.client.sent().back().body ==
                 "0014command=ls-refs\n00010009peel\n0014ref-prefix HEAD\n0020ref-prefix refs/tags/v1.0.0\n"
                 "0021ref-prefix refs/heads/v1.0.0\n0000");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_large_repository_with_a_secret_in_its_address_is_not_remembered) {
  const std::string url = "https://git.test/m.git?token=x";
  Answered answered(url, url + "/info/refs&service=git-upload-pack", url + "/git-upload-pack",
                    typed("result", packet(std::string(40, '1') + " refs/tags/v1.0.0\n") + "0000"));
  for (const std::size_t requests : {3U, 5U}) {
    BOOST_TEST(answered.pinned() == "refs/tags/v1.0.0 " + std::string(40, '1'));
    BOOST_TEST(answered.client.sent().size() == requests);
  }
  BOOST_TEST(!fs::exists(answered.directory / "cache"));
}

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
