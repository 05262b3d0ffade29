#include "backends/package/read_ahead.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;
using unpack::ByteSource;
using unpack::ReadAhead;

namespace {

// The numbers from 0 on, and then an end of either kind.
class Numbers final : public ByteSource {
 public:
  Numbers(int count, Result<void> end) : count_(count), end_(std::move(end)) {}

  Result<std::string_view> next() override {
    if (at_ == count_) {
      return end_ ? Result<std::string_view>(std::string_view()) : fail(end_.error());
    }
    text_ = std::to_string(at_++);
    return std::string_view(text_);
  }

 private:
  int count_;
  int at_ = 0;
  Result<void> end_;
  std::string text_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(read_ahead)

BOOST_AUTO_TEST_CASE(gives_what_the_source_gives) {
  for (const bool is_good : {true, false}) {
    for (const int count : {0, 1, 3, 4, 5, 1000}) {
      const Result<void> end = is_good ? Result<void>() : fail(Code::bad_response, "damaged");
      ReadAhead ahead(std::make_unique<Numbers>(count, end));
      for (int i = 0; i < count; ++i) {
        BOOST_REQUIRE(ahead.next().value() == std::to_string(i));
      }
      const auto last = ahead.next();
      BOOST_TEST((last ? "end" : last.error().message) == (is_good ? "end" : "damaged"));
      BOOST_TEST((last ? last->size() : 0U) == 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_piece_lives_until_the_next_call) {
  ReadAhead ahead(std::make_unique<Numbers>(1000, Result<void>()));
  std::string_view piece = ahead.next().value();
  for (int i = 0; i < 999; ++i) {
    BOOST_REQUIRE(piece == std::to_string(i));
    piece = ahead.next().value();
  }
}

BOOST_AUTO_TEST_CASE(ends_before_the_source_does) {
  ReadAhead unread(std::make_unique<Numbers>(1000, Result<void>()));
  ReadAhead ahead(std::make_unique<Numbers>(1000, Result<void>()));
  BOOST_TEST(ahead.next().value() == "0");
}

BOOST_AUTO_TEST_SUITE_END()
