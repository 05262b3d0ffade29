#include "plugin/mirror/registry_routes.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

namespace {

RegistryRoutes make_routes() {
  return RegistryRoutes({{.host = "a.example", .name = "acme/net/aws", .version = "1.2.0"},
                         {.host = "a.example", .name = "acme/vpc/aws", .version = "2.0.0-rc1", .subdir = "modules/a b"},
                         {.host = "b.example:8443", .name = "acme/net/aws", .version = "3.0.0"}},
                        "/secret");
}

// "status", then what the answer has.
std::string shown(const MirrorResponse& answer) {
  std::string text = std::to_string(answer.status);
  for (const std::string& part : {answer.location, answer.body}) {
    text += part.empty() ? "" : " " + part;
  }
  return text +
         (answer.package == nullptr ? "" : " package of " + answer.package->name + " " + answer.package->version);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(registry_routes)

BOOST_AUTO_TEST_CASE(answers_by_path) {
  struct Row {
    const char* name;
    const char* path;
    const char* answer;
  };
  const RegistryRoutes routes = make_routes();
  for (const Row& row : {
           Row{"discovery", "/secret/a.example/.well-known/terraform.json",
               "200 {\"modules.v1\":\"/secret/a.example/v1/\"}"},
           Row{"versions", "/secret/a.example/v1/acme/net/aws/versions",
               "200 {\"modules\":[{\"versions\":[{\"version\":\"1.2.0\"}]}]}"},
           Row{"the same name of another host", "/secret/b.example:8443/v1/acme/net/aws/versions",
               "200 {\"modules\":[{\"versions\":[{\"version\":\"3.0.0\"}]}]}"},
           Row{"download", "/secret/a.example/v1/acme/net/aws/1.2.0/download", "204 /secret/packages/0.tar.gz"},
           Row{"download with a subdirectory", "/secret/a.example/v1/acme/vpc/aws/2.0.0-rc1/download",
               "204 /secret/packages/1.tar.gz//modules/a%20b"},
           Row{"package", "/secret/packages/2.tar.gz", "200 package of acme/net/aws 3.0.0"},
           Row{"another version", "/secret/a.example/v1/acme/net/aws/1.3.0/download", "404"},
           Row{"a module that is not locked", "/secret/a.example/v1/acme/other/aws/versions", "404"},
           Row{"another host", "/secret/c.example/v1/acme/net/aws/versions", "404"},
           Row{"another service", "/secret/a.example/v2/acme/net/aws/versions", "404"},
           Row{"no such package", "/secret/packages/3.tar.gz", "404"},
           Row{"no number", "/secret/packages/x.tar.gz", "404"},
           Row{"a number that is none", "/secret/packages/99999999999999999999999.tar.gz", "404"},
           Row{"another suffix", "/secret/packages/0.zip", "404"},
           Row{"without the prefix", "/a.example/v1/acme/net/aws/versions", "404"},
           Row{"a longer prefix", "/secrets/a.example/v1/acme/net/aws/versions", "404"},
           Row{"download of nothing", "/secret/a.example/v1/download", "404"},
           Row{"the prefix alone", "/secret", "404"},
           Row{"nothing", "", "404"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(shown(routes.answer(row.path)) == row.answer);
    }
  }
}

BOOST_AUTO_TEST_CASE(hosts_are_named_once) {
  const RegistryRoutes routes = make_routes();
  BOOST_TEST(routes.hosts() == (std::vector<std::string>{"a.example", "b.example:8443"}),
             boost::test_tools::per_element());
  BOOST_TEST(routes.modules_path("a.example") == "/secret/a.example/v1/");
}

BOOST_AUTO_TEST_SUITE_END()
