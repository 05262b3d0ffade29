// A registry and its archives that are files behind nginx with a certificate of an own authority.

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"

using namespace modlock;
using namespace modlock::test;

namespace {

struct StaticRegistry : Scene {
  StaticRegistry() {
    environment["SSL_CERT_FILE"] = server.authority().string();
    name_text(host, "<host>");
    serve(".well-known/terraform.json", R"({"modules.v1": "/v1/modules/"})");
    serve("v1/modules/acme/vpc/aws/versions",
          R"({"modules": [{"versions": [{"version": "1.0.0"}, {"version": "1.1.0"}, {"version": "2.0.0"}]}]})");
    for (const std::string version : {"1.0.0", "1.1.0", "2.0.0"}) {
      const std::vector<ArchiveEntry> files = {{.name = "module/main.tf", .content = output(version)}};
      serve("packages/acme/vpc/aws/" + version + ".tar.gz", compress("gzip", make_tar(files)));
    }
    serve("packages/dns.zip", make_zip({{.name = "main.tf", .content = output("dns")}}));
    write("main.tf", module_call("dns", "https://" + host + "/packages/dns.zip") +
                         module_call("vpc", host + "/acme/vpc/aws", "~> 1.0"));
  }

  void serve(const std::string& name, const std::string& content) const { write_text(server.files() / name, content); }
  static std::string output(const std::string& value) { return "output \"x\" {\n  value = \"" + value + "\"\n}\n"; }

  HttpsGitServer server;
  std::string host = "127.0.0.1:" + std::to_string(server.port());  // the host of a registry has a dot
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(static_registry, StaticRegistry, *needs(HttpsGitServer::kPrograms))

BOOST_AUTO_TEST_CASE(is_listed_locked_and_installed_offline) {
  const Ran versions = modlock({"versions", host + "/acme/vpc/aws"});
  BOOST_TEST(versions.exit_code == 0, versions.err);
  BOOST_TEST(versions.out == "* 2.0.0\n  1.1.0\n  1.0.0\n3 versions, 0 tags skipped.\n");
  const Ran locked = modlock({"lock"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  const std::string text = shown(lock());
  BOOST_TEST(text.find("  source = \"https://<host>/packages/dns.zip\"\n") != std::string::npos, text);
  BOOST_TEST(text.find("  version = \"1.1.0\"\n  source  = \"<host>/modules/acme/vpc/aws\"\n") != std::string::npos,
             text);
  server.stop();
  const Ran installed = modlock({"install", "--offline"});
  BOOST_TEST(installed.exit_code == 0, installed.err);
  BOOST_TEST(read(".terraform/modules/vpc/module/main.tf") == output("1.1.0"));
  BOOST_TEST(read(".terraform/modules/dns/main.tf") == output("dns"));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_stock_client_takes_the_same, *needs("tofu or terraform")) {
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      std::filesystem::remove_all(root() / ".terraform");
      const Ran ran = program({client, "init", "-input=false", "-no-color"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      const std::string manifest = read(".terraform/modules/modules.json");
      std::filesystem::remove_all(root() / ".terraform");
      BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
      BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
      BOOST_TEST(read(".terraform/modules/vpc/module/main.tf") == output("1.1.0"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
