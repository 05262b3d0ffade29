// Secrets of addresses inside of addresses.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <utility>

#include "backends/base/digest.h"
#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/module_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using Answer = ModuleRegistry::Answer;

struct ListedArchive : Scene {
  ListedArchive() {
    name_text(server.authority(), "<server>");
    server.serve("/p.zip", {.body = zip, .type = "application/zip"});
    const std::string host = server.url().substr(server.url().find("://") + 3);
    source = server.url() + "/p.zip?checksum=file:http://reader:Canary-password@" + host + "/SUMS%3Ftoken=Canary-token";
    write("main.tf", module_call("vpc", source));
    list({.body = sha256_hex(zip) + "  p.zip\n", .type = "text/plain"});
  }
  void list(Answer answer) { server.serve("/SUMS", std::move(answer)); }
  // Everything that the commands print and leave, except for what the client compares with the configuration. Each ends
  // with its exit code: a command that crashed would print no secret either.
  void check_no_secret(const std::vector<std::pair<std::vector<std::string>, int>>& commands) const {
    for (const auto& [command, exit_code] : commands) {
      const Ran ran = modlock(command);
      BOOST_TEST(ran.exit_code == exit_code, command[0] << ran.out << ran.err);
      BOOST_TEST(!(ran.out + ran.err).empty(), command[0]);
      BOOST_TEST((ran.out + ran.err).find("Canary") == std::string::npos, command[0] << ran.out << ran.err);
    }
    std::string kept = has(".terraform.lock.hcl") ? lock() : std::string();
    fs::create_directories(cache());
    fs::create_directories(root() / ".terraform/tofu-modlock");
    for (const fs::path& place : {cache(), root() / ".terraform/tofu-modlock"}) {
      for (const auto& entry : fs::recursive_directory_iterator(place)) {
        kept += entry.path().string() + (entry.is_regular_file() ? read_text(entry.path()) : "");
      }
    }
    BOOST_TEST(kept.find("Canary") == std::string::npos, kept);
  }

  ModuleRegistry server;
  std::string zip = make_zip({{.name = "main.tf", .content = "# vpc\n"}});
  std::string source;
};

BOOST_FIXTURE_TEST_SUITE(secrets_in_addresses, ListedArchive)

BOOST_AUTO_TEST_CASE(of_a_list_of_checksums) {
  check_no_secret({{{"lock", "--install"}, 0},
                   {{"lock", "--json"}, 0},
                   {{"inspect"}, 0},
                   {{"inspect", "--json"}, 0},
                   {{"graph"}, 0},
                   {{"verify", "--json"}, 0},
                   {{"verify", "--online", "--json"}, 0},
                   {{"install", "--json"}, 0},
                   {{"sbom"}, 0},
                   {{"upgrade", "--json"}, 0},
                   {{"explain", "module.vpc"}, 0},
                   {{"versions", source}, 8}});
  BOOST_TEST(shown(lock()).find("source = \"http://<server>/p.zip?checksum=file:http://<server>/SUMS\"\n") !=
                 std::string::npos,
             lock());
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  bool has_asked = false;
  for (const ModuleRegistry::Request& request : server.requests()) {
    has_asked = has_asked || (request.target == "/SUMS?token=Canary-token" &&
                              request.header("Authorization") == "Basic cmVhZGVyOkNhbmFyeS1wYXNzd29yZA==");
  }
  BOOST_TEST(has_asked);
}

BOOST_AUTO_TEST_CASE(of_a_list_of_checksums_that_fails) {
  for (const Answer& answer :
       {Answer{.status = 404}, Answer{.status = 401}, Answer{.status = 500, .body = "Canary-password"},
        Answer{.body = std::string(64, '0') + "  p.zip\n"}, Answer{.body = "Canary-token\n"},
        Answer{.status = 302, .headers = {{"Location", "ftp://Canary-token/"}}},
        Answer{.status = 302, .headers = {{"Location", "http://127.0.0.1:1/Canary-password"}}}}) {
    BOOST_TEST_CONTEXT(answer.status << " " << answer.body) {
      list(answer);
      const int code = modlock({"lock"}).exit_code;
      BOOST_TEST((code >= 3 && code <= 8), code);
      check_no_secret({{{"lock"}, code}, {{"lock", "--json"}, code}, {{"upgrade"}, code}});
    }
  }
}

BOOST_AUTO_TEST_CASE(of_what_is_no_list_of_checksums) {
  for (const std::string& checksum :
       {std::string("file:git::https://me:Canary-pw@127.0.0.1:1/x"), std::string("https://me:Canary-pw@127.0.0.1:1/x"),
        std::string("file:ftp://me:Canary-pw@127.0.0.1:1/x%3Ftoken=Canary"),
        std::string("file:http://me:Canary/pw@127.0.0.1:1/x")}) {
    BOOST_TEST_CONTEXT(checksum) {
      write("main.tf", module_call("vpc", server.url() + "/p.zip?checksum=" + checksum));
      BOOST_TEST(modlock({"lock"}).exit_code == 8);
      check_no_secret({{{"lock"}, 8}, {{"lock", "--json"}, 8}, {{"inspect", "--json"}, 0}, {{"inspect"}, 0}});
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
