#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <optional>

#include "backends/base/process.h"
#include "backends/git/smart_http.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A repository of three tags, one of them annotated, on a server that both git and our client trust.
struct Listed : GitFixture {
  explicit Listed(GitEngine engine = GitEngine::automatic)
      : repository(server()->repositories() / "m.git"),
        of_git("GIT_SSL_CAINFO", server()->authority().string()),
        of_client("SSL_CERT_FILE", server()->authority().string()) {
    first = repository.commit({{"main.tf", "# 1\n"}});
    repository.tag("v1.0.0");
    repository.tag("nested/v1.0.0");
    second = repository.commit({{"main.tf", "# 2\n"}});
    repository.annotated_tag("v1.1.0");
    repository.branch("side", "main");
    repository.git({"update-ref", "refs/pull/7/head", first});
    log_before = server()->log().size();
    renew_backend(engine);
  }
  ~Listed() { fs::remove_all(repository.path()); }

  std::string url(std::string_view prefix) const { return server()->url(prefix, "m.git"); }
  std::string url_with(std::string_view prefix, const std::string& user_info) const {
    return "https://" + user_info + "@" + url(prefix).substr(8);
  }
  Result<Listing> list(const std::string& from, std::string_view prefix = "") {
    return backend->list_versions(source(from), prefix, context);
  }
  void configure(const std::string& text) const { write_text(directory / "home" / ".gitconfig", text); }
  // "<method> <path> <status>" of every request since, and "+auth" where it had an Authorization.
  std::vector<std::string> asked() const {
    std::vector<std::string> lines = server()->log();
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(log_before));
    for (std::string& line : lines) {
      line.erase(0, line.find(' ') + 1);
      const bool anonymous = line.ends_with(" -");
      line.erase(anonymous ? line.size() - 2 : line.find(" Basic "));
      line += anonymous ? "" : " +auth";
    }
    return lines;
  }

  std::string last_asked() const {
    const std::vector<std::string> lines = asked();
    return lines.empty() ? std::string() : lines.back();
  }

  GitRepository repository;
  ScopedEnvironment of_git;
  ScopedEnvironment of_client;
  std::string first;
  std::string second;
  std::size_t log_before = 0;
};

std::string request(const std::string& prefix, const std::string& outcome) {
  return "GET /" + prefix + "/m.git/info/refs?service=git-upload-pack " + outcome;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

std::string tags(const Result<Listing>& listing) {
  std::string text = outcome(listing);
  for (std::size_t i = 0; listing && i < listing->versions.size(); ++i) {
    text += " " + listing->versions[i].tag + "=" + listing->versions[i].id;
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_listing, *boost::unit_test::fixture<ServerOfSuite>())

BOOST_AUTO_TEST_CASE(versions_are_listed_with_one_request_and_no_program, *needs(HttpsGitServer::kPrograms)) {
  for (const bool over_tls : {true, false}) {
    for (const char* prefix : {"open", "old"}) {
      Listed listed(GitEngine::libgit2);
      const ScopedEnvironment path("PATH", (listed.directory / "empty").string());
      const std::string url = over_tls ? listed.url(prefix) : server()->plain_url(prefix, "m.git");
      BOOST_TEST(tags(listed.list(url)) == "ok v1.1.0=" + listed.second + " v1.0.0=" + listed.first);
      BOOST_TEST(joined(listed.asked()) == request(prefix, "200") + "\n");
      BOOST_TEST(listed.requests() == 1U);
    }
  }
}

BOOST_AUTO_TEST_CASE(both_engines_see_the_same, *needs(HttpsGitServer::kPrograms)) {
  std::vector<std::string> seen;
  for (const GitEngine engine : {GitEngine::libgit2, GitEngine::git}) {
    Listed listed(engine);
    std::string text = tags(listed.list(listed.url("open"))) + tags(listed.list(listed.url("open"), "nested/"));
    for (const char* ref : {"", "?ref=side", "?ref=v1.1.0", "?ref=pull/7/head", "?ref=refs/pull/7/head", "?ref=no"}) {
      const auto pin = listed.backend->pin(listed.source(listed.url("open") + ref), listed.context);
      text += "\n" + outcome(pin) + (pin ? " " + pin->ref + " " + pin->id : "");
    }
    seen.push_back(text);
    BOOST_TEST((joined(listed.asked()).find("POST") != std::string::npos) == (engine == GitEngine::git));
  }
  BOOST_TEST(seen[0] == seen[1]);
  BOOST_TEST(seen[0].find("ok nested/v1.0.0=") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(both_engines_say_the_same_of_what_goes_wrong, *needs(HttpsGitServer::kPrograms)) {
  for (const char* prefix : {"open", "absent", "forbidden", "private", "moved", "elsewhere"}) {
    BOOST_TEST_CONTEXT(prefix) {
      std::vector<std::string> said;
      for (const GitEngine engine : {GitEngine::libgit2, GitEngine::git}) {
        Listed listed(engine);
        const auto listing = listed.list(listed.url(prefix));
        said.push_back(outcome(listing) + (listing ? "" : "\n" + listing.error().hint.text()));
      }
      BOOST_TEST(said[0] == said[1]);
    }
  }
}

// What the askpass program was asked, with the password "x" of the server in a variable.
struct Asked : Listed {
  explicit Asked(GitEngine engine) : Listed(engine) {
    write_text(directory / "ask", "#!/bin/sh\necho \"$1\" >> " + (directory / "asked").string() +
                                      "\ncase $1 in User*) echo reader;; *) echo 'p@ss/w:rd%41';; esac\n");
    fs::permissions(directory / "ask", fs::perms::owner_all);
  }
  SourceAddress of_user(const std::string& prefix) const {
    SourceAddress address = source(url(prefix));
    address.is_users = true;
    return address;
  }
  std::string questions() const { return fs::exists(directory / "asked") ? read_text(directory / "asked") : ""; }
};

BOOST_AUTO_TEST_CASE(the_askpass_program_is_queried_for_addresses_of_the_user, *needs(HttpsGitServer::kPrograms)) {
  struct Row {
    const char* name;
    const char* variable;
    const char* configuration;
    const char* prefix;
    bool is_users;
    bool is_asked;
  };
  for (const GitEngine engine : {GitEngine::libgit2, GitEngine::git}) {
    for (const Row& row : {
             Row{"GIT_ASKPASS", "GIT_ASKPASS", "", "private", true, true},
             Row{"SSH_ASKPASS", "SSH_ASKPASS", "", "private", true, true},
             Row{"core.askPass", "X", "[core]\n\taskPass = ../ask\n", "private", true, false},
             Row{"core.askPass of the home directory", "X", "[core]\n\taskPass = ~/../ask\n", "private", true, true},
             Row{"of a package", "GIT_ASKPASS", "", "private", false, false},
             Row{"of a server", "GIT_ASKPASS", "", "elsewhere", true, false},
         }) {
      BOOST_TEST_CONTEXT(row.name << (engine == GitEngine::git ? ", git" : ", libgit2")) {
        Asked asked(engine);
        asked.configure(row.configuration);
        const ScopedEnvironment program(row.variable, (asked.directory / "ask").string());
        SourceAddress address = asked.of_user(row.prefix);
        address.is_users = row.is_users;
        const auto listing = asked.backend->list_versions(address, "", asked.context);
        const std::string host = server()->host();
        BOOST_TEST(outcome(listing).starts_with(row.is_asked ? "ok" : "AUTH_REQUIRED"), outcome(listing));
        BOOST_TEST(asked.questions() == (row.is_asked ? "Username for 'https://" + host +
                                                            "': \nPassword for 'https://reader@" + host + "': \n"
                                                      : ""));
        if (!listing && row.is_users) {
          BOOST_TEST(outcome(listing).ends_with("(looked in: the address, git's credential helpers, ~/.netrc, "
                                                "GIT_ASKPASS, core.askPass, SSH_ASKPASS)"),
                     outcome(listing));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(redirects_are_not_followed_if_the_user_forbids_them, *needs(HttpsGitServer::kPrograms)) {
  for (const GitEngine engine : {GitEngine::automatic, GitEngine::git}) {
    for (const bool is_checked : {false, true}) {
      Listed listed(engine);
      listed.configure("[http]\n\tfollowRedirects = false\n");
      if (is_checked) {
        listed.context.check_source = [](const Source&, const ServerHop&) { return Result<void>(); };
      }
      BOOST_TEST(tags(listed.list(listed.url("moved"))) ==
                 "BAD_RESPONSE: git could not list the tags of \"git::" + listed.url("moved") +
                     "\": the server redirected to an address that is not this repository");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_empty_repository_has_no_versions, *needs(HttpsGitServer::kPrograms)) {
  Listed listed(GitEngine::libgit2);
  const GitRepository empty(server()->repositories() / "empty.git");
  BOOST_TEST(tags(listed.list(server()->url("open", "empty.git"))) == "ok");
  fs::remove_all(empty.path());
}

BOOST_AUTO_TEST_CASE(credentials_of_the_address_go_along_at_once, *needs(HttpsGitServer::kPrograms)) {
  Listed listed(GitEngine::libgit2);
  BOOST_TEST(outcome(listed.list(
                 listed.url_with("private", "reader:" + std::string(HttpsGitServer::encoded_password())))) == "ok");
  BOOST_TEST(joined(listed.asked()) == request("private", "200 +auth") + "\n");
  BOOST_TEST(outcome(listed.list(listed.url_with("private", "reader:wrong"))) ==
             "AUTH_REQUIRED: git could not list the tags of \"git::" + listed.url("private") +
                 "\": " + server()->host() +
                 " rejected the credentials (looked in: the address, git's credential helpers, "
                 "~/.netrc)");
}

BOOST_AUTO_TEST_CASE(an_entry_of_netrc_that_was_not_sent_is_not_rejected, *needs(HttpsGitServer::kPrograms)) {
  Listed listed(GitEngine::libgit2);
  write_text(listed.directory / "home" / ".netrc", "machine localhost login reader password wrong\n");
  const auto listing = listed.list(listed.url("private"));
  BOOST_TEST(outcome(listing).find(" requires authentication (looked in: ") != std::string::npos, outcome(listing));
  BOOST_REQUIRE(!listing);
  BOOST_TEST(listing.error().hint == "choose the engine \"auto\" or \"git\"");
  BOOST_TEST(joined(listed.asked()) == request("private", "401") + "\n");
}

BOOST_AUTO_TEST_CASE(credential_helpers_are_asked_and_told, *needs(HttpsGitServer::kPrograms)) {
  Listed listed;
  const std::string record = (listed.directory / "told").string();
  const auto helper = [&](const std::string& password) {
    listed.configure("[credential]\n\thelper = \"!f() { cat >/dev/null; echo $1 >> " + record +
                     "; test $1 = get && echo username=reader && echo 'password=" + password + "'; }; f\"\n");
  };
  helper(HttpsGitServer::password());
  write_text(listed.directory / "home" / ".netrc", "machine other.test login reader password wrong\n");
  BOOST_TEST(outcome(listed.list(listed.url("private"))) == "ok");
  BOOST_TEST(joined(listed.asked()) == request("private", "401") + "\n" + request("private", "200 +auth") + "\n");
  BOOST_TEST(read_text(record) == "get\nstore\n");
  BOOST_TEST(listed.requests() == 2U);

  helper("wrong");
  BOOST_TEST(outcome(listed.list(listed.url("private"))).substr(0, 14) == "AUTH_REQUIRED:");
  BOOST_TEST(read_text(record) == "get\nstore\nget\nerase\n");
}

BOOST_AUTO_TEST_CASE(what_git_has_another_way_is_left_to_git, *needs(HttpsGitServer::kPrograms)) {
  struct Row {
    const char* name;
    const char* prefix;
    std::string configuration;
    std::string netrc;
    std::string expected;  // the first and the last request
  };
  const std::string of_git = "POST /open/m.git/git-upload-pack 200";
  for (const Row& row : {
           Row{"netrc", "private", "", "machine localhost login reader password " + HttpsGitServer::password() + "\n",
               "POST /private/m.git/git-upload-pack 200 +auth"},
           Row{"plain files", "dumb", "", "", "GET /dumb/m.git/HEAD 200"},
           Row{"a version of TLS", "open", "[http]\n\tsslVersion = tlsv1.2\n", "", of_git},
           Row{"certificates that are not checked", "open", "[http]\n\tsslVerify = false\n", "", of_git},
           Row{"the same for this host", "open", "[http \"https://" + server()->host() + "\"]\n\tsslVerify = false\n",
               "", of_git},
           Row{"a host pattern", "open", "[http \"https://*.test\"]\n\tsslVerify = false\n", "", of_git},
           Row{"cookies", "open", "[http]\n\tcookieFile = /nowhere\n", "", of_git},
           Row{"an include that git reads", "open", "[include]\n\tpath = ~/more\n", "", request("open", "200")},
           Row{"another host's settings", "open", "[http \"https://other.test\"]\n\tsslVerify = false\n", "",
               request("open", "200")},
           Row{"harmless settings", "open", "[http]\n\tpostBuffer = 1\n\tsslVerify\n[user]\n\tname = x\n", "",
               request("open", "200")},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      Listed listed;
      listed.repository.git({"update-server-info"});
      listed.configure(row.configuration);
      if (!row.netrc.empty()) {
        write_text(listed.directory / "home" / ".netrc", row.netrc);
      }
      BOOST_TEST(tags(listed.list(listed.url(row.prefix))) == "ok v1.1.0=" + listed.second + " v1.0.0=" + listed.first);
      BOOST_TEST(listed.last_asked() == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(without_git_what_only_git_can_do_is_named, *needs(HttpsGitServer::kPrograms)) {
  Listed listed(GitEngine::libgit2);
  listed.configure("[http]\n\tcookieFile = /nowhere\n");
  BOOST_TEST(outcome(listed.list(listed.url("open"))) ==
             "SOURCE_UNSUPPORTED: libgit2 could not list the tags of \"git::" + listed.url("open") +
                 "\": http.cookiefile is set, which git alone honours");
  listed.configure("");
  const auto dumb = listed.list(listed.url("dumb"));
  BOOST_TEST(outcome(dumb).substr(0, 10) == "NOT_FOUND:");
  listed.repository.git({"update-server-info"});
  const auto files = listed.list(listed.url("dumb"));
  BOOST_TEST(outcome(files) == "BAD_RESPONSE: git could not list the tags of \"git::" + listed.url("dumb") +
                                   "\": the response was truncated or malformed");
  BOOST_TEST(files.error().notes.back() == "git itself was not asked: the server does not speak git's smart protocol");
}

BOOST_AUTO_TEST_CASE(an_unknown_authority_is_asked_of_git_too, *needs(HttpsGitServer::kPrograms)) {
  Listed listed;
  const ScopedEnvironment none("SSL_CERT_FILE", std::nullopt);
  listed.renew_backend(GitEngine::automatic);
  BOOST_TEST(outcome(listed.list(listed.url("open"))) == "ok");
  const ScopedEnvironment neither("GIT_SSL_CAINFO", std::nullopt);
  for (const GitEngine engine : {GitEngine::automatic, GitEngine::libgit2}) {
    listed.renew_backend(engine);
    BOOST_TEST(outcome(listed.list(listed.url("open"))) ==
               "UNREACHABLE: git could not list the tags of \"git::" + listed.url("open") +
                   "\": the server's certificate was not accepted");
  }
}

BOOST_AUTO_TEST_CASE(rewritten_addresses_and_headers_are_honoured, *needs(HttpsGitServer::kPrograms)) {
  Listed listed(GitEngine::libgit2);
  const std::string base =
      "https://reader:" + std::string(HttpsGitServer::encoded_password()) + "@" + server()->host() + "/private/";
  listed.configure("[url \"" + base + "\"]\n\tinsteadOf = https://example.test/\n");
  BOOST_TEST(outcome(listed.list("https://example.test/m.git")) == "ok");
  BOOST_TEST(joined(listed.asked()) == request("private", "200 +auth") + "\n");

  listed.configure("[http \"https://" + server()->host() +
                   "/private\"]\n\textraHeader = Authorization: Basic cmVhZGVyOnBAc3MvdzpyZCU0MQ==\n");
  BOOST_TEST(outcome(listed.list(listed.url("private"))) == "ok");
  BOOST_TEST(listed.last_asked() == request("private", "200 +auth"));
}

BOOST_AUTO_TEST_CASE(a_redirect_is_judged_and_gets_no_credentials, *needs(HttpsGitServer::kPrograms)) {
  Listed listed(GitEngine::libgit2);
  std::string judged;
  listed.context.check_source = [&](const Source& source, const ServerHop&) -> Result<void> {
    judged += source.package_identity() + "\n";
    return fail(Code::source_denied, "no");
  };
  const std::string denied = outcome(listed.list(listed.url("moved")));
  BOOST_TEST(denied.starts_with("SOURCE_DENIED: "));
  BOOST_TEST(denied.ends_with(": it redirects to " + listed.url("open") + "/info/refs: no"));
  BOOST_TEST(judged == "git::" + listed.url("open") + "\n");
  listed.context.check_source = {};
  const std::string url = listed.url_with("elsewhere", "reader:" + std::string(HttpsGitServer::encoded_password()));
  BOOST_TEST(outcome(listed.list(url)).substr(0, 14) == "AUTH_REQUIRED:");
  BOOST_TEST(listed.last_asked() == request("private", "401"));
}

BOOST_AUTO_TEST_CASE(a_repository_of_the_sha256_object_format_is_refused, *needs(HttpsGitServer::kPrograms)) {
  Listed listed(GitEngine::libgit2);
  const std::string path = (server()->repositories() / "sha256.git").string();
  const auto git = [&](std::vector<std::string> arguments) {
    return listed.repository.git(std::move(arguments), {}, {{"GIT_DIR", path}});
  };
  git({"init", "--quiet", "--bare", "--template=", "--object-format=sha256", "--initial-branch=main", path});
  git({"update-ref", "refs/heads/main",
       git({"commit-tree", "-m", "1", git({"hash-object", "-w", "-t", "tree", "/dev/null"})})});
  BOOST_TEST(outcome(listed.list(server()->url("open", "sha256.git"))) ==
             "SOURCE_UNSUPPORTED: git could not list the tags of \"git::" + server()->url("open", "sha256.git") +
                 "\": it is a repository of the SHA-256 object format, and only SHA-1 is understood");
  fs::remove_all(path);
}

BOOST_AUTO_TEST_CASE(git_is_led_nowhere_that_was_not_judged, *needs(HttpsGitServer::kPrograms)) {
  Listed listed(GitEngine::git);
  const FetchRequest fetch_request{listed.second, "refs/tags/v1.1.0", false};
  std::string judged;
  listed.context.check_source = [&](const Source& source, const ServerHop&) -> Result<void> {
    judged += source.package_identity() + "\n";
    return fail(Code::source_denied, "no");
  };
  for (const bool is_listing : {true, false}) {
    const std::string denied = is_listing ? outcome(listed.list(listed.url("moved")))
                                          : outcome(listed.fetch_one(listed.url("moved"), fetch_request));
    BOOST_TEST(denied.starts_with("SOURCE_DENIED: "));
    BOOST_TEST(denied.ends_with(": it redirects to " + listed.url("open") + "/info/refs: no"));
  }
  BOOST_TEST(judged == "git::" + listed.url("open") + "\ngit::" + listed.url("open") + "\n");
  BOOST_TEST(joined(listed.asked()).find("/open/") == std::string::npos);
  listed.context.check_source = [](const Source&, const ServerHop&) { return Result<void>(); };
  BOOST_TEST(outcome(listed.list(listed.url("moved"))) == "ok");
  BOOST_TEST(outcome(listed.fetch_one(listed.url("moved"), fetch_request)) == "ok");
  const std::string url = listed.url_with("elsewhere", "reader:" + std::string(HttpsGitServer::encoded_password()));
  BOOST_TEST(outcome(listed.list(url)).substr(0, 14) == "AUTH_REQUIRED:");
  BOOST_TEST(listed.last_asked() == request("private", "401"));
}

BOOST_AUTO_TEST_CASE(nothing_leads_from_https_to_http, *needs(HttpsGitServer::kPrograms)) {
  for (const GitEngine engine : {GitEngine::git, GitEngine::libgit2, GitEngine::automatic}) {
    Listed listed(engine);
    const std::string start = "BAD_RESPONSE: git could not list the tags of \"git::" + listed.url("down") + "\": ";
    const auto listing = listed.list(listed.url("down"));
    BOOST_TEST(outcome(listing).starts_with(start), outcome(listing));
    BOOST_TEST((outcome(listing) + joined(listing.error().notes)).find("from https to http") != std::string::npos);
    const FetchRequest fetch_request{listed.second, "refs/tags/v1.1.0", false};
    BOOST_TEST(outcome(listed.fetch_one(listed.url("down"), fetch_request)).starts_with("BAD_RESPONSE: "));
    BOOST_TEST(joined(listed.asked()).find("/open/") == std::string::npos);
  }
  // What the user's own configuration writes for an address is no redirect.
  Listed listed(GitEngine::git);
  listed.configure("[url \"" + server()->plain_url("open", "") + "\"]\n\tinsteadOf = https://example.test/\n");
  BOOST_TEST(outcome(listed.list("https://example.test/m.git")) == "ok");
}

BOOST_AUTO_TEST_CASE(a_redirect_that_nobody_can_judge_is_not_followed, *needs(HttpsGitServer::kPrograms)) {
  Listed listed(GitEngine::git);
  listed.backend = make_git_backend({.cache_directory = listed.directory / "cache", .engine = GitEngine::git});
  listed.context.check_source = [](const Source&, const ServerHop&) { return Result<void>(); };
  const auto listing = listed.list(listed.url("moved"));
  BOOST_TEST(outcome(listing) == "BAD_RESPONSE: git could not list the tags of \"git::" + listed.url("moved") +
                                     "\": the server redirected to an address that is not this repository");
  BOOST_TEST(listing.error().hint == "write the address that the repository has now");
  BOOST_TEST(joined(listed.asked()).find("/open/") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
