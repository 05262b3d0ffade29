#include "plugin/mirror/client_configuration_copy.h"

#include <boost/test/unit_test.hpp>

#include "plugin/client/client_configuration.h"
#include "tests/backends/credentials/user.h"

using namespace modlock;
using namespace modlock::test;

namespace {

const ServicesByHost kServices = {{"a.example", {{"modules.v1", "http://127.0.0.1:1/v1/"}}}};
const std::string kBlock =
    "host \"a.example\" {\n  services = {\n    \"modules.v1\" = \"http://127.0.0.1:1/v1/\"\n  }\n}\n";
const std::string kMember = R"("host":{"a.example":{"services":{"modules.v1":"http://127.0.0.1:1/v1/"}}})";

struct Row {
  const char* name;
  std::vector<std::pair<const char*, std::string>> files;
  std::string expected;
};

std::string copy(const User& user, ClientKind tool = ClientKind::opentofu) {
  const auto text = client_configuration_copy(tool, user.environment(), kServices);
  return text ? *text : text.error().message;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(client_configuration_copies)

BOOST_AUTO_TEST_CASE(one_file_stays_as_it_is) {
  for (const Row& row : {
           Row{"no file", {}, kBlock},
           Row{"native",
               {{".tofurc", "# mine\r\nplugin_cache_dir = \"x\"\r\n"}},
               "# mine\r\nplugin_cache_dir = \"x\"\r\n" + kBlock},
           Row{"without an end of line",
               {{".tofurc", "disable_checkpoint = true # so"}},
               "disable_checkpoint = true # so\n" + kBlock},
           Row{"a block of the host",
               {{".tofurc", "host \"b.example\" { services = {} }\n"}},
               "host \"b.example\" { services = {} }\n" + kBlock},
           Row{"JSON", {{".tofurc", "{\"credentials\": {}}\n"}}, "{\"credentials\": {}," + kMember + "}\n"},
           Row{"JSON with nothing in it", {{".tofurc", " { }\n"}}, " { " + kMember + "}\n"},
           Row{"JSON with a comma left", {{".tofurc", "{\"a\": 1, }"}}, "{\"a\": 1, " + kMember + "}"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const User user;
      for (const auto& [name, text] : row.files) {
        user.write(name, text);
      }
      BOOST_TEST(copy(user) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_host_keeps_the_spelling_of_the_user) {
  const User user;
  user.write(".tofurc", "host \"A.example\" {\n}\n");
  BOOST_TEST(copy(user) ==
             "host \"A.example\" {\n}\nhost \"A.example\" {\n  services = {\n    \"modules.v1\" = "
             "\"http://127.0.0.1:1/v1/\"\n  }\n}\n");
}

// A client puts two blocks of one label together, service by service.
BOOST_AUTO_TEST_CASE(other_services_of_a_block_stay_in_every_form) {
  const std::string native =
      "host \"a.example\" {\n  services = {\n    \"login.v1\" = {\n      client = \"cli\"\n      ports = [10000, "
      "10010]\n    }\n    \"modules.v1\" = \"https://a.example/\"\n  }\n}\n";
  const std::string services =
      R"({"login.v1":{"client":"cli","ports":[10000,10010]},"modules.v1":"https://a.example/"})";
  for (const Row& row : {
           Row{"native", {{".tofurc", native}}, ""},
           Row{"JSON", {{".tofurc", R"({"host":{"a.example":{"services":)" + services + "}}}"}}, ""},
           Row{"JSON with lists", {{".tofurc", R"({"host":[{"a.example":[{"services":[)" + services + "]}]}]}"}}, ""},
           Row{"several files", {{".tofurc", "disable_checkpoint = true\n"}, {".terraform.d/a.tfrc", native}}, ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const User user;
      for (const auto& [name, text] : row.files) {
        user.write(name, text);
      }
      const User other;
      other.write(".tofurc", copy(user));
      const ClientConfiguration after = read_client_configuration(ClientKind::opentofu, other.environment());
      BOOST_TEST(after.warnings.empty());
      BOOST_TEST(after.hosts.at("a.example").services.at("modules.v1") == "http://127.0.0.1:1/v1/");
      BOOST_TEST(copy(user).find("10010") != std::string::npos, copy(user));
    }
  }
}

// A client reads such blocks behind those with a label.
BOOST_AUTO_TEST_CASE(blocks_that_would_win_are_written_with_their_label) {
  const std::string expected = "host \"a.example\" {\n  services {\n    \"modules.v1\" = \"u\"\n  }\n}\n" + kBlock;
  for (const char* text :
       {R"({"host": [{"a.example": [{"services": [{"modules.v1": "u"}]}]}]})",
        "host {\n  \"a.example\" {\n    services {\n      \"modules.v1\" = \"u\"\n    }\n  }\n}\n"}) {
    const User user;
    user.write(".tofurc", text);
    BOOST_TEST(copy(user) == expected);
  }
}

BOOST_AUTO_TEST_CASE(several_files_become_one) {
  const User user;
  user.write(".tofurc",
             "plugin_cache_dir = \"main\"\ncredentials \"x.example\" {\n  token = \"old\"\n}\n"
             "registry_protocols {\n  retry_count = 3\n}\n");
  user.write(".terraform.d/a.tfrc", "# verbatim\ncredentials \"y.example\" {\n  token = \"why\"\n}\n");
  user.write(".terraform.d/b.tfrc", "plugin_cache_dir = \"other\"\nregistry_protocols {\n  retry_count = 5\n}\n");
  user.write(".terraform.d/credentials.tfrc.json",
             R"({"credentials": {"x.example": {"token": "a\"${b}\u0007"}}, "list": ["a", 1]})");
  BOOST_TEST(copy(user) ==
             "plugin_cache_dir = \"main\"\nregistry_protocols {\n  retry_count = 3\n}\n"
             "# verbatim\ncredentials \"y.example\" {\n  token = \"why\"\n}\n"
             "credentials \"x.example\" {\n  token = \"a\\\"\\u0024{b}\\u0007\"\n}\nlist = [\"a\", 1]\n" +
                 kBlock);
}

BOOST_AUTO_TEST_CASE(the_copy_says_what_the_files_say) {
  const User user;
  user.write(".tofurc",
             "credentials \"x.example\" {\n  token = \"canary-1\"\n}\n"
             "oci_credentials \"o.example/team\" {\n  username = \"u\"\n  password = \"canary-2\"\n}\n"
             "oci_default_credentials {\n  docker_style_config_files = [\"docker.json\", \"/abs.json\"]\n}\n");
  user.write(
      ".terraform.d/c.tfrc.json",
      R"({"credentials_helper": {"h": {"args": ["a", "b"]}}, "credentials": {"y.example": {"token": "canary-3"}}})");
  const ClientConfiguration before = read_client_configuration(ClientKind::opentofu, user.environment());
  const std::string text = copy(user);
  const User other;
  other.write(".tofurc", text);
  const ClientConfiguration after = read_client_configuration(ClientKind::opentofu, other.environment());
  BOOST_TEST(after.warnings.empty());
  BOOST_TEST(after.tokens.at("x.example").token.reveal() == "canary-1");
  BOOST_TEST(after.tokens.at("y.example").token.reveal() == "canary-3");
  BOOST_REQUIRE(after.helper.has_value());
  BOOST_TEST(after.helper->arguments == before.helper->arguments, boost::test_tools::per_element());
  BOOST_REQUIRE(after.oci.size() == 1U);
  BOOST_TEST(after.oci.front().password.reveal() == "canary-2");
  BOOST_REQUIRE((after.oci_defaults && after.oci_defaults->files && before.oci_defaults->files));
  BOOST_TEST(*after.oci_defaults->files == *before.oci_defaults->files, boost::test_tools::per_element());
  BOOST_TEST(after.hosts.at("a.example").services.at("modules.v1") == "http://127.0.0.1:1/v1/");
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_is_an_error) {
  const User user;
  user.write(".terraformrc", "credentials \"x\" {\n  token = \"canary-1\n}\n");
  for (const ClientKind tool : {ClientKind::opentofu, ClientKind::terraform}) {
    const auto refused = client_configuration_copy(tool, user.environment(), kServices);
    BOOST_REQUIRE(!refused);
    BOOST_TEST(to_string(refused.error().code) == "CONFIG_PARSE");
    BOOST_TEST(refused.error().message.starts_with("~/.terraformrc:"));
    BOOST_TEST(!has_canary(refused.error().message));
  }
}

BOOST_AUTO_TEST_SUITE_END()
