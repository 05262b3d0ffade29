#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "protocol/base/error.h"

namespace modlock::test {

// What a test expects of an error. `place` is "file:line:column" or "file".
struct ExpectedError {
  Code code = Code::internal;
  std::string_view message;
  std::string_view place;
};

inline void check_error(const Error& error, const ExpectedError& expected) {
  BOOST_TEST(to_string(error.code) == to_string(expected.code));
  BOOST_TEST(error.message == expected.message);
  BOOST_TEST(error.location.has_value());
  BOOST_TEST((error.location ? to_string(*error.location) : "") == expected.place);
}

}  // namespace modlock::test
