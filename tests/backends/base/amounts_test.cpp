#include "backends/base/amounts.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(amounts)

BOOST_AUTO_TEST_CASE(counts_have_a_plural) {
  BOOST_TEST(counted(0, "tag") == "0 tags");
  BOOST_TEST(counted(1, "tag") == "1 tag");
  BOOST_TEST(counted(2, "tag") == "2 tags");
  BOOST_TEST(counted(1, "repository", "repositories") == "1 repository");
  BOOST_TEST(counted(2, "repository", "repositories") == "2 repositories");
}

BOOST_AUTO_TEST_CASE(sizes_are_never_shown_as_nothing) {
  struct Row {
    std::uint64_t bytes;
    const char* text;
  };
  for (const Row& row :
       {Row{0, "0 KiB"}, Row{1, "1 KiB"}, Row{1024, "1 KiB"}, Row{1025, "2 KiB"}, Row{104857, "103 KiB"},
        Row{104858, "0.1 MiB"}, Row{1572864, "1.5 MiB"}, Row{5368709120, "5120.0 MiB"}}) {
    BOOST_TEST(size_text(row.bytes) == row.text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
