#include "backends/address/provider_address.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(platform_test)

BOOST_AUTO_TEST_CASE(reads_what_the_clients_read) {
  struct Row {
    const char* name;
    const char* text;
    const char* os;
    const char* arch;
  };
  constexpr Row kRows[] = {
      {"usual", "linux_amd64", "linux", "amd64"},
      {"digits", "windows_386", "windows", "386"},
      {"nobody builds for it", "Plan9_ppc64-le", "Plan9", "ppc64-le"},
  };
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto platform = Platform::parse(row.text);
      BOOST_REQUIRE(platform.has_value());
      BOOST_TEST(platform->os == row.os);
      BOOST_TEST(platform->arch == row.arch);
      BOOST_TEST(platform->to_string() == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_platform) {
  for (const char* text : {"", "linux", "_", "linux_", "_amd64", "linux_amd64_v2", "linux_amd 64", "linux_../amd64"}) {
    BOOST_TEST_CONTEXT(text) {
      const auto platform = Platform::parse(text);
      BOOST_REQUIRE(!platform.has_value());
      BOOST_TEST((platform.error().code == Code::invalid_params));
      BOOST_TEST(platform.error().message ==
                 "expected a platform such as \"linux_amd64\", found \"" + std::string(text) + "\"");
    }
  }
}

BOOST_AUTO_TEST_CASE(this_machine_is_one) {
  const Platform here = Platform::current();
  BOOST_TEST((Platform::parse(here.to_string()) == here));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
