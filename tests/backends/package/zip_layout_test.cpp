#include "backends/package/zip_layout.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(zip_layout_test)

BOOST_AUTO_TEST_CASE(programs) {
  const std::vector<ZipEntry> entries = {{.name = "terraform-provider-b"},
                                         {.name = "terraform-provider-a_v1"},
                                         {.name = "d/terraform-provider-c"},
                                         {.name = "terraform-provider-d/e"},
                                         {.name = "LICENSE"},
                                         {.name = "./terraform-provider-a_v1"}};
  const auto layout = zip_layout(entries, {}, "x").value();
  const std::vector<std::string> expected = {"terraform-provider-a_v1", "terraform-provider-b"};
  BOOST_TEST(layout.programs == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(whose_program) {
  struct Row {
    const char* program;
    bool is_found;
  };
  const Row rows[] = {
      {"terraform-provider-null", true},     {"terraform-provider-null_v3.2.0_x5", true},
      {"terraform-provider-null.exe", true}, {"terraform-provider-null-data", false},
      {"terraform-provider-nulls", false},   {"terraform-provider-nul", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.program) {
      const auto found = expect_provider_program({row.program}, "null", "x");
      BOOST_TEST(found.has_value() == row.is_found);
      BOOST_TEST((found ? "" : found.error().message) ==
                 (row.is_found ? ""
                               : "\"x\": provider binary not found: could not find executable file starting with "
                                 "terraform-provider-null"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
