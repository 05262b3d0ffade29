#define BOOST_TEST_MODULE tofu_modlock
#include <boost/test/unit_test.hpp>
