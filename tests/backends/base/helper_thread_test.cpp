#include "backends/base/helper_thread.h"

#include <sched.h>

#include <boost/test/unit_test.hpp>

using namespace modlock;

namespace {

cpu_set_t allowed_here() {
  cpu_set_t allowed = {};
  BOOST_REQUIRE(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  return allowed;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_helper_may_run_where_its_maker_may) {
  const cpu_set_t all = allowed_here();
  cpu_set_t one = {};
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  for (const cpu_set_t& maker : {all, one}) {
    BOOST_REQUIRE(::sched_setaffinity(0, sizeof maker, &maker) == 0);
    cpu_set_t helper = {};
    bool has_run = false;
    {
      const HelperThread thread([&] {
        ::sched_getaffinity(0, sizeof helper, &helper);
        has_run = true;
      });
    }
    BOOST_TEST(has_run);
    BOOST_TEST(CPU_EQUAL(&helper, &maker));
  }
  ::sched_setaffinity(0, sizeof all, &all);
}
