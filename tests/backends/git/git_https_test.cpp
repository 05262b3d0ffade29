#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>
#include <optional>

#include "backends/base/process.h"
#include "backends/git/git_backend.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/https_git_server.h"
#include "tests/support/loopback.h"
#include "tests/support/needs.h"
#include "tests/support/signing_keys.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Https : GitFixture {
  Https() : repository(server()->repositories() / name), authority("GIT_SSL_CAINFO", server()->authority().string()) {
    first = repository.commit({{"main.tf", "# 1\n"}});
    repository.tag("v1.0.0");
    second = repository.commit({{"main.tf", "# 2\n"}});
    repository.tag("v1.1.0");
  }
  ~Https() { fs::remove_all(repository.path()); }

  std::string url(std::string_view prefix) const { return server()->url(prefix, name); }
  std::string url_with(std::string_view prefix, const std::string& user_info) const {
    return "https://" + user_info + "@" + url(prefix).substr(8);
  }
  std::string display(std::string_view prefix) const { return "git::" + url(prefix); }
  std::string list(const std::string& from) { return outcome(backend->list_versions(source(from), "", context)); }
  FetchRequest request() const { return {second, "refs/tags/v1.1.0", false}; }
  // The requests since this case began that hold `text`.
  std::vector<std::string> asked(std::string_view text) const {
    std::vector<std::string> lines = server()->log();
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(log_before));
    lines.erase(std::remove_if(lines.begin(), lines.end(),
                               [&](const std::string& line) { return line.find(text) == std::string::npos; }),
                lines.end());
    return lines;
  }

  // Makes bin/git, a git that keeps a record of its arguments in the file returned.
  fs::path record_arguments() const {
    fs::path record = directory / "record";
    const fs::path program = directory / "bin" / "git";
    write_text(program, "#!/bin/sh\necho \"$@\" >> " + record.string() + "\nexec " + find_program("git")->string() +
                            " \"$@\"\n");
    fs::permissions(program, fs::perms::owner_all);
    return record;
  }

  std::string name = "m.git";
  std::size_t log_before = server()->log().size();
  GitRepository repository;
  ScopedEnvironment authority;
  std::string first;
  std::string second;
};

// What the master side of a terminal shows until its slave is closed.
std::string read_terminal(int master) {
  std::string shown;
  std::array<char, 256> piece{};
  for (ssize_t got = 0; (got = ::read(master, piece.data(), piece.size())) > 0;) {
    shown.append(piece.data(), static_cast<std::size_t>(got));
  }
  return shown;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(git_https, *boost::unit_test::fixture<ServerOfSuite>())

// The tag object arrives with its commit; otherwise one fetch brings it.
BOOST_AUTO_TEST_CASE(a_signed_tag_costs_no_further_request, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  const ScopedEnvironment no_setting_of_git("GIT_SSL_CAINFO", std::nullopt);
  const ScopedEnvironment authority("SSL_CERT_FILE", server()->authority().string());
  SigningKeys keys(https.directory / "keys");
  const SignatureDemand demand{.keys = keys.ssh_key("release"), .keys_name = "signers"};
  keys.sign_tag(https.repository, "v1.1.0", https.second, "release");
  for (const bool is_fetched : {true, false}) {
    BOOST_TEST_CONTEXT(is_fetched) {
      fs::remove_all(https.directory / "cache");
      https.renew_backend(GitEngine::libgit2);
      BOOST_TEST_REQUIRE((!is_fetched || https.fetch_one(https.url("open"), https.request())));
      const std::size_t before = https.asked("upload-pack").size();
      const auto signer = https.backend->git()->verify_signature(https.source(https.url("open")), https.request(),
                                                                 demand, https.context);
      BOOST_TEST(outcome(signer) == "ok");
      BOOST_TEST((https.asked("upload-pack").size() == before) == is_fetched);
    }
  }
}

BOOST_AUTO_TEST_CASE(versions_references_and_packages_come, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  const auto listing = https.backend->list_versions(https.source(https.url("open")), "", https.context);
  BOOST_REQUIRE_EQUAL(outcome(listing), "ok");
  BOOST_TEST(listing->versions.size() == 2U);
  BOOST_TEST(https.asked("/open/m.git/info/refs").size() == 1U);
  BOOST_TEST(https.asked("POST /open/m.git/git-upload-pack").size() == 1U);
  const auto tree = https.fetch_one(https.url("open"), https.request());
  BOOST_REQUIRE_EQUAL(outcome(tree), "ok");
  BOOST_TEST(read_text(tree->directory / "main.tf") == "# 2\n");
  const auto pin = https.backend->pin(https.source(https.url("open") + "?ref=" + https.first), https.context);
  BOOST_TEST(outcome(pin) == "ok");
}

BOOST_AUTO_TEST_CASE(an_unknown_authority_is_refused, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  const ScopedEnvironment none("GIT_SSL_CAINFO", std::nullopt);
  BOOST_TEST(https.list(https.url("open")) == "UNREACHABLE: git could not list the tags of \"" + https.display("open") +
                                                  "\": the server's certificate was not accepted");
}

BOOST_AUTO_TEST_CASE(answers_of_servers_have_their_codes, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  struct Row {
    const char* prefix;
    const char* expected;
  };
  for (const Row& row : {Row{"absent", "NOT_FOUND"}, Row{"forbidden", "FORBIDDEN"}, Row{"limited", "RATE_LIMITED"},
                         Row{"failing", "UNREACHABLE"}, Row{"private", "AUTH_REQUIRED"}, Row{"moved", "ok"}}) {
    BOOST_TEST_CONTEXT(row.prefix) {
      const std::string found = https.list(https.url(row.prefix));
      BOOST_TEST(found.substr(0, found.find(':')) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_asked_on_a_terminal, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  int master = -1;
  std::fflush(nullptr);  // or the child writes what is left of ours
  const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    const std::string found = https.list(https.url("private"));
    ::_exit(found.substr(0, 14) == "AUTH_REQUIRED:" ? 0 : 1);
  }
  const std::string shown = read_terminal(master);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(master);
  BOOST_TEST(shown == "");
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

BOOST_AUTO_TEST_CASE(missing_credentials_say_what_to_do, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  const auto listing = https.backend->list_versions(https.source(https.url("private")), "", https.context);
  BOOST_TEST(outcome(listing) == "AUTH_REQUIRED: git could not list the tags of \"" + https.display("private") +
                                     "\": " + server()->host() +
                                     " requires authentication (looked in: the address, git's credential helpers, "
                                     "~/.netrc)");
  BOOST_TEST(https.list(https.url_with("private", "reader:wrong")) ==
             "AUTH_REQUIRED: git could not list the tags of \"" + https.display("private") + "\": " + server()->host() +
                 " rejected the credentials (looked in: the address, git's credential helpers, ~/.netrc)");
}

BOOST_AUTO_TEST_CASE(a_password_of_the_address_stays_out_of_arguments_and_cache, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  const fs::path record = https.record_arguments();
  const ScopedEnvironment path("PATH", (https.directory / "bin").string() + ":/usr/bin:/bin");

  const std::string url = https.url_with("private", "reader:" + std::string(HttpsGitServer::encoded_password()));
  BOOST_TEST(https.list(url) == "ok");
  BOOST_TEST(outcome(https.fetch_one(url, https.request())) == "ok");
  BOOST_TEST(outcome(https.backend->pin(https.source(url + "?ref=" + https.first), https.context)) == "ok");
  std::string kept = read_text(record);
  BOOST_TEST(kept.find("fetch") != std::string::npos);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(https.directory / "cache")) {
    kept += entry.path().string() + (entry.is_regular_file() ? read_text(entry.path()) : "");
  }
  for (const char* secret : {"p@ss", "p%40ss", "reader"}) {
    BOOST_TEST(kept.find(secret) == std::string::npos, secret);
  }
}

BOOST_AUTO_TEST_CASE(a_query_is_asked_for_and_stays_out_of_arguments_and_notes, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  const fs::path record = https.record_arguments();
  const ScopedEnvironment path("PATH", (https.directory / "bin").string() + ":/usr/bin:/bin");
  for (const char* prefix : {"open", "private", "forbidden", "absent"}) {
    BOOST_TEST_CONTEXT(prefix) {
      const auto source = https.source(https.url_with(prefix, "reader:wrong") + "?token=T0KEN");
      const auto listing = https.backend->list_versions(source, "", https.context);
      BOOST_REQUIRE(!listing.has_value());
      const Error& error = listing.error();
      std::string said = error.message + error.hint;
      for (const std::string& note : error.notes) {
        said += "\n" + note;
      }
      BOOST_TEST(said.find("T0KEN") == std::string::npos, said);
      BOOST_TEST(!https.asked("/" + std::string(prefix) + "/m.git?token=T0KEN").empty());
    }
  }
  const std::string arguments = read_text(record);
  BOOST_TEST(arguments.find(https.url("private")) != std::string::npos);
  BOOST_TEST(arguments.find("T0KEN") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_users_own_credentials_are_used, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  const std::string password = HttpsGitServer::password();
  write_text(https.directory / "home" / ".netrc", "machine localhost login reader password " + password + "\n");
  BOOST_TEST(https.list(https.url("private")) == "ok");
  // The user in the address selects the account.
  for (const auto& [first, second, is_found] :
       {std::tuple("login other", "login reader", true), std::tuple("login reader", "login other", false),
        std::tuple("login other", "", true), std::tuple("login other", "login default", false)}) {
    write_text(
        https.directory / "home" / ".netrc",
        fmt::format("machine localhost {} password x\nmachine localhost {} password {}\n", first, second, password));
    BOOST_TEST((https.list(https.url_with("private", "reader")) == "ok") == is_found,
               std::string(first) + ", " + second);
  }
  fs::remove(https.directory / "home" / ".netrc");
  const std::string helper = "\"!f() { echo username=reader; echo 'password=" + password + "'; }; f\"";
  write_text(https.directory / "home" / ".gitconfig", "[credential]\n\thelper = " + helper + "\n");
  BOOST_TEST(https.list(https.url("private")) == "ok");
}

BOOST_AUTO_TEST_CASE(a_redirect_to_another_host_gets_no_credentials, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  const std::string found =
      https.list(https.url_with("elsewhere", "reader:" + std::string(HttpsGitServer::encoded_password())));
  BOOST_TEST(found.substr(0, 14) == "AUTH_REQUIRED:");
  const auto elsewhere = https.asked("127.0.0.1 ");
  BOOST_REQUIRE(!elsewhere.empty());
  for (const std::string& line : elsewhere) {
    BOOST_TEST(line.substr(line.size() - 2) == " -", line);
  }
}

BOOST_AUTO_TEST_CASE(a_submodule_may_be_redirected_and_is_judged_there, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  GitRepository inner(server()->repositories() / "inner.git");
  const std::string commit = inner.commit({{"inner.tf", "# inner\n"}});
  const auto fetch_with = [&](const std::string& url) {
    GitRepository& top = https.repository;
    const std::string description = "[submodule \"i\"]\n\tpath = i\n\turl = " + url + "\n";
    top.branch("main", top.commit_tree(top.write_tree("100644 blob " + top.write_blob(description) +
                                                      "\t.gitmodules\n160000 commit " + commit + "\ti\n")));
    return https.fetch_one(https.url_with("open", "reader:canary-password"),
                           {top.id("main"), "refs/heads/main", false});
  };
  const auto moved = fetch_with(server()->url("moved", "inner.git"));
  BOOST_REQUIRE_EQUAL(outcome(moved), "ok");
  BOOST_TEST(read_text(moved->directory / "i/inner.tf") == "# inner\n");
  BOOST_TEST(!https.asked("/open/inner.git").empty());

  // To another host, which asks for credentials: it gets none, not the superproject's either.
  const auto elsewhere = fetch_with(server()->url("elsewhere", "inner.git"));
  BOOST_TEST(outcome(elsewhere).substr(0, 14) == "AUTH_REQUIRED:");
  for (const std::string& line : https.asked("inner.git")) {
    BOOST_TEST(line.substr(line.size() - 2) == " -", line);
  }

  https.context.check_source = [](const Source& source, const ServerHop&) -> Result<void> {
    return source.path.starts_with("/private/") ? fail(Code::source_denied, "not there") : Result<void>();
  };
  const std::size_t before = https.asked("/private/").size();
  const ScopedEnvironment trusted("SSL_CERT_FILE", server()->authority().string());
  https.renew_backend();
  const auto denied = fetch_with(server()->url("elsewhere", "inner.git"));
  BOOST_TEST(outcome(denied).substr(0, 14) == "SOURCE_DENIED:");
  BOOST_TEST(https.asked("/private/").size() == before);
  fs::remove_all(inner.path());
}

BOOST_AUTO_TEST_CASE(a_truncated_pack_is_a_bad_response_and_leaves_nothing, *needs(HttpsGitServer::kPrograms)) {
  Https https;
  // Bytes that do not compress: the pack is longer than what arrives of it.
  std::string noise;
  for (unsigned i = 0, x = 1; i < 4000; ++i) {
    x = x * 1103515245U + 12345U;
    noise += static_cast<char>('!' + (x >> 16U) % 90U);
  }
  const std::string big = https.repository.commit({{"noise", noise}});
  https.repository.tag("v2.0.0");
  const FetchRequest request{big, "refs/tags/v2.0.0", false};
  for (int attempt = 0; attempt < 2; ++attempt) {
    BOOST_TEST(outcome(https.fetch_one(https.url("truncated"), request)) ==
               "BAD_RESPONSE: git could not fetch from \"" + https.display("truncated") +
                   "\": the response was truncated or malformed");
  }
  BOOST_TEST(fs::is_empty(https.directory / "parent"));
}

BOOST_AUTO_TEST_CASE(a_silent_server_ends_at_the_deadline) {
  GitFixture fixture;
  const SilentServer silent;
  const auto start = std::chrono::steady_clock::now();
  fixture.context.deadline = start + std::chrono::milliseconds(300);
  const std::string url = "https://127.0.0.1:" + std::to_string(silent.port()) + "/m.git";
  const auto listing = fixture.backend->list_versions(fixture.source(url), "", fixture.context);
  BOOST_REQUIRE(!listing.has_value());
  BOOST_TEST(to_string(listing.error().code) == "DEADLINE_EXCEEDED");
  BOOST_TEST(listing.error().notes.back() == "while git was to list the tags of \"git::" + url + "\"");
  BOOST_TEST((std::chrono::steady_clock::now() - start < std::chrono::seconds(10)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
