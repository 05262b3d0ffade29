// The main job against a real server over TLS, with and without credentials.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "tests/e2e/scene.h"
#include "tests/support/base64.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// Enough for a pack to be cut in its middle.
std::string incompressible() {
  std::string text;
  for (std::uint32_t state = 1; text.size() < 8192;) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>('0' + (state >> 26U));
  }
  return text;
}

struct Https : Scene {
  Https() : vpc(server.repositories() / "vpc.git") {
    environment["GIT_SSL_CAINFO"] = server.authority().string();
    name_text(server.host(), "<host>");
    release(vpc, "3.19.0");
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 3.0"));
  }
  void use(const std::string& url) const { write("main.tf", module_call("vpc", "git::" + url)); }
  std::string with_user_info() const {
    return "https://" + HttpsGitServer::user() + ":" + HttpsGitServer::encoded_password() + "@" +
           server.url("private", "vpc.git").substr(8);
  }
  // No secret may stand anywhere but in the configuration and where the client compares it.
  void check_no_secret(const std::string& text) const {
    for (const std::string& secret : {std::string(HttpsGitServer::encoded_password()), HttpsGitServer::password()}) {
      BOOST_TEST(text.find(secret) == std::string::npos, "a secret in: " << text);
    }
  }
  HttpsGitServer server;
  GitRepository vpc;
};

constexpr const char* kHttpsLock = R"(# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

module "vpc" {
  version = "3.19.0"
  source  = "git::https://<host>/open/vpc.git"

  constraints = "~> 3.0"

  hashes = [
    "git:<3.19.0>",
    "h1:0sSiMAGVt2nBJk4Tu7mElW6A1VHATrGax0yUrDXOb9s=",
  ]
}
)";

BOOST_FIXTURE_TEST_SUITE(https, Https, *needs(HttpsGitServer::kPrograms))

BOOST_AUTO_TEST_CASE(the_main_job) {
  use(server.url("open", "vpc.git"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(shown(lock()) == kHttpsLock);
  release(vpc, "3.20.0");
  age_lock();
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(lock_is_aged());
  const Ran upgraded = modlock({"upgrade", "--install"});
  BOOST_TEST(upgraded.out.find("module.vpc  3.19.0 -> 3.20.0  (~> 3.0)\n") == 0U, upgraded.out);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  server.stop();
  fs::remove_all(root() / ".terraform/modules");
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  const std::size_t asked = server.log().size();
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(server.log().size() == asked);
}

BOOST_AUTO_TEST_CASE(a_commit_of_the_lock_is_fetched_where_the_store_is_empty) {
  use(server.url("open", "vpc.git"));
  modlock({"lock"});
  release(vpc, "3.20.0");
  fs::remove_all(cache());
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(credentials_in_the_source) {
  use(with_user_info());
  const Ran ran = modlock({"lock", "--install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  check_no_secret(ran.out + ran.err + lock());
  BOOST_TEST(shown(lock()).find("source  = \"git::https://<host>/private/vpc.git\"\n") != std::string::npos);
  // The client compares this one with the configuration.
  BOOST_TEST(read(".terraform/modules/modules.json").find(HttpsGitServer::encoded_password()) != std::string::npos);
  for (const auto& entry : fs::recursive_directory_iterator(cache())) {
    if (entry.is_regular_file()) {
      check_no_secret(entry.path().string() + read_text(entry.path()));
    }
  }
  check_no_secret(modlock({"lock", "--json"}).out);
  check_no_secret(modlock({"inspect", "--json"}).out);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

// Whoever speaks with the server, and whether it has what is asked for or not.
BOOST_AUTO_TEST_CASE(credentials_of_the_git_configuration) {
  environment["SSL_CERT_FILE"] = server.authority().string();  // git's own variable alone is for git alone
  const std::string user = HttpsGitServer::user() + ":" + HttpsGitServer::password();
  const std::string authorization = base64_of(user);
  write_text(path("home/.git-credentials"), "https://" + HttpsGitServer::user() + ":" +
                                                HttpsGitServer::encoded_password() + "@" + server.host() + "\n");
  struct Row {
    const char* name;
    std::string configuration;
  };
  for (const Row& row :
       {Row{"a credential helper", "[credential]\n\thelper = store\n"},
        Row{"a header for all requests", "[http \"https://" + server.host() +
                                             "/\"]\n\textraHeader = Authorization: Basic " + authorization + "\n"}}) {
    write_text(path("home/.gitconfig"), row.configuration);
    for (const char* engine : {"auto", "in-process", "libgit2", "git"}) {
      BOOST_TEST_CONTEXT(row.name << ", " << engine) {
        environment["TOFU_MODLOCK_GIT_ENGINE"] = engine;
        for (const char* left : {"cache", "root/.terraform", "root/.terraform.lock.hcl"}) {
          fs::remove_all(path(left));
        }
        use(server.url("private", "vpc.git"));
        const Ran ran = modlock({"lock", "--install"});
        BOOST_TEST(ran.exit_code == 0, ran.err);
        std::string seen = ran.out + ran.err + lock() + read(".terraform/modules/modules.json");
        use(server.url("private", "gone.git"));
        const Ran missed = modlock({"lock"});
        BOOST_TEST(missed.exit_code == 7, missed.err);
        seen += missed.out + missed.err + modlock({"lock", "--json"}).out;
        for (const auto& entry : fs::recursive_directory_iterator(cache())) {
          seen += entry.path().string() + (entry.is_regular_file() ? read_text(entry.path()) : "");
        }
        check_no_secret(seen);
        BOOST_TEST(seen.find(authorization) == std::string::npos, seen);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_password_is_asked_and_nobody_knows_it) {
  use(server.url("private", "vpc.git"));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.err.find("[AUTH_REQUIRED]") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("<host>") != std::string::npos, ran.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_not_shown) {
  use("https://reader:wr0ng-s3cret@" + server.url("private", "vpc.git").substr(8));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST((ran.out + ran.err).find("wr0ng-s3cret") == std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(bad_answers) {
  struct Row {
    const char* name;
    const char* prefix;
    const char* code;
  };
  release(vpc, "3.20.0", {{"large.txt", incompressible()}});
  for (const Row& row :
       {Row{"a truncated pack", "truncated", "[BAD_RESPONSE]"}, Row{"forbidden", "forbidden", "[FORBIDDEN]"},
        Row{"too many requests", "limited", "[RATE_LIMITED]"}, Row{"a server error", "failing", "[UNREACHABLE]"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      use(server.url(row.prefix, "vpc.git"));
      const Ran ran = modlock({"lock"});
      BOOST_TEST(ran.exit_code == 7);
      BOOST_TEST(ran.err.find(row.code) != std::string::npos, ran.err);
      BOOST_TEST(!has(".terraform.lock.hcl"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_truncated_pack_keeps_what_was_installed) {
  use(server.url("truncated", "vpc.git"));
  release(vpc, "3.20.0", {{"large.txt", incompressible()}});
  write(".terraform/modules/vpc/main.tf", "# old\n");
  write(".terraform.lock.hcl", kHttpsLock);
  const std::string before = lock();
  BOOST_TEST(modlock({"lock"}).exit_code == 7);
  BOOST_TEST(lock() == before);
  BOOST_TEST(read(".terraform/modules/vpc/main.tf") == "# old\n");
}

BOOST_AUTO_TEST_CASE(a_redirect_on_the_same_host_is_followed) {
  use(server.url("moved", "vpc.git"));
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

// A renamed or taken over repository would look like an ordinary update.
BOOST_AUTO_TEST_CASE(updates_name_the_address_that_a_repository_redirects_to) {
  const std::string warning = shown("Warning: \"git::" + server.url("moved", "vpc.git") +
                                    "\" redirects to another address, " + server.url("open", "vpc.git") + " [");
  environment["SSL_CERT_FILE"] = server.authority().string();
  use(server.url("open", "vpc.git"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(modlock({"outdated"}).err.find("redirects to") == std::string::npos);
  use(server.url("moved", "vpc.git"));
  const Ran locked = modlock({"lock", "--install"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST(locked.err.find("redirects to") == std::string::npos, locked.err);
  release(vpc, "3.20.0");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"update", "vpc"},
                                                  {"outdated"},
                                                  {"outdated", "--git-engine", "git"},
                                                  {"upgrade"},
                                                  {"diff"}}) {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code == 0, ran.err);
    BOOST_TEST(occurrences(ran.err, warning) == 1U, command[0] << ": " << ran.err);
  }
}

// git asks for the protocol first. It follows the redirect itself, because no setting limits the sources.
BOOST_AUTO_TEST_CASE(verify_asks_a_repository_once_for_all_its_calls) {
  environment["SSL_CERT_FILE"] = server.authority().string();  // git's own variable alone is for git alone
  GitRepository::Files files;
  for (int i = 0; i < 40; ++i) {
    files["d" + std::to_string(i) + "/main.tf"] = "";
  }
  vpc.branch("side", release(vpc, "3.20.0", files));
  struct Row {
    const char* name;
    const char* prefix;
    const char* engine;
    std::size_t requests;
  };
  for (const Row& row : {Row{"in this process", "open", "libgit2", 1}, Row{"git", "open", "git", 2},
                         Row{"redirected", "moved", "git", 3}}) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string calls;
      for (int i = 0; i < 40; ++i) {
        calls +=
            module_call("m" + std::to_string(i), "git::" + server.url(row.prefix, "vpc.git") + "//d" +
                                                     std::to_string(i) + (i % 2 == 0 ? "?ref=v3.20.0" : "?ref=side"));
      }
      write(".tofu-modlock.hcl", "");
      write("main.tf", calls);
      fs::remove(root() / ".terraform.lock.hcl");
      const Ran locked = modlock({"lock", "--install", "--git-engine", row.engine});
      BOOST_TEST(locked.exit_code == 0, locked.err);
      const std::size_t asked = server.log().size();
      const Ran ran = modlock({"verify", "--online", "--git-engine", row.engine});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(server.log().size() - asked == row.requests);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_redirect_to_another_host_gets_no_credentials) {
  use("https://" + HttpsGitServer::user() + ":" + HttpsGitServer::encoded_password() + "@" +
      server.url("elsewhere", "vpc.git").substr(8));
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(!has(".terraform.lock.hcl"));
  for (const std::string& line : server.log()) {
    BOOST_TEST((line.find("127.0.0.1 ") != 0U || line.ends_with(" -")), line);
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_authority_is_an_error) {
  use(server.url("open", "vpc.git"));
  environment.erase("GIT_SSL_CAINFO");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.err.find("certificate") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(libgit2_names_the_variable_that_it_reads) {
  use(server.url("open", "vpc.git"));
  environment.erase("GIT_SSL_CAINFO");
  const Ran ran = modlock({"lock", "--git-engine", "libgit2"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.err.find("certificates in SSL_CERT_FILE\n") != std::string::npos, ran.err);
  environment["SSL_CERT_FILE"] = server.authority().string();
  const Ran again = modlock({"lock", "--git-engine", "libgit2"});
  BOOST_TEST(again.exit_code == 0, again.err);
}

BOOST_AUTO_TEST_CASE(a_host_of_repositories_is_no_registry_for_doctor) {
  environment["SSL_CERT_FILE"] = server.authority().string();
  write(".tofu-modlock.hcl", "");
  const Ran ran = modlock({"doctor", "--host", server.host()});
  BOOST_TEST(ran.exit_code == 0, ran.out);
  BOOST_TEST(ran.out.find("serves no registry protocols; a host of git repositories need not") != std::string::npos,
             ran.out);
}

BOOST_AUTO_TEST_CASE(a_stopped_server_is_unreachable) {
  use(server.url("open", "vpc.git"));
  server.stop();
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.err.find("[UNREACHABLE]") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
