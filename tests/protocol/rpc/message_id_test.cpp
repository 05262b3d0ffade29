#include "protocol/rpc/message_id.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(message_id_test)

BOOST_AUTO_TEST_CASE(tokens) {
  struct Row {
    const char* token;
    const char* key;  // null: not an id
  };
  const Row rows[] = {
      {"1", "i1"},
      {"-1", "i-1"},
      {"0", "i0"},
      {"-0", "i0"},
      {"123456789012345678901234567890", "i123456789012345678901234567890"},
      {"\"\"", "s"},
      {"\"1\"", "s1"},
      {"\"a b\"", "sa b"},
      {"\"\\u0061\"", "sa"},
      {"1.0", nullptr},
      {"1.5", nullptr},
      {"1e3", nullptr},
      {"1E3", nullptr},
      {"null", nullptr},
      {"true", nullptr},
      {"{}", nullptr},
      {"[1]", nullptr},
      {"", nullptr},
      {"-", nullptr},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.token) {
      const auto id = parse_message_id(row.token);
      BOOST_TEST(id.has_value() == (row.key != nullptr));
      if (id && row.key != nullptr) {
        BOOST_TEST(id->token == row.token);
        BOOST_TEST(id->key == row.key);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
