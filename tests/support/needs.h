#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace modlock::test {

// The stock clients on PATH: "tofu" and "terraform", in that order.
std::vector<std::string> clients();

// For needs(): without it a SmallDisk is not mounted.
inline constexpr const char* kMount = "permission to mount";
// The same for a FoldingDisk.
inline constexpr const char* kFuse = "permission to mount with /dev/fuse";

// The programs of a list like "openssl, tofu or terraform" that are neither on PATH nor in /usr/sbin:
// "tofu or terraform". "" if none is missing. "root" is the user.
std::string missing_programs(std::string_view list);

// A decorator of Boost.Test; see needs().
class Needs : public boost::unit_test::decorator::base {
 public:
  explicit Needs(std::string_view programs) : programs_(programs) {}

 private:
  void apply(boost::unit_test::test_unit& unit) override;
  boost::unit_test::decorator::base_ptr clone() const override;

  std::string programs_;
};

// A test case or suite with this decorator is skipped if one of these programs is missing, and the reason names it:
//   BOOST_AUTO_TEST_CASE(name, *needs("openssl, tofu or terraform"))
// With a client among them it gets the label "client", and with root or the permission to mount "root", by which the
// tests that need one run on their own.
inline Needs needs(std::string_view programs) {
  return Needs(programs);
}

}  // namespace modlock::test
