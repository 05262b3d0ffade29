#include "backends/package/byte_source.h"

#include <atomic>
#include <boost/test/unit_test.hpp>

using namespace modlock;
using unpack::ByteSource;
using unpack::ReadAhead;

namespace {

// Numbers of seven digits, each on a line, and then an end of either kind.
class Numbers final : public ByteSource {
 public:
  Numbers(int count, Result<void> end, std::atomic<int>* given = nullptr)
      : count_(count), end_(std::move(end)), given_(given) {}

  Result<std::string_view> next() override {
    if (at_ == count_) {
      return end_ ? Result<std::string_view>(std::string_view()) : fail(end_.error());
    }
    text_ = number(at_++);
    if (given_ != nullptr) {
      *given_ = at_;
      given_->notify_all();
    }
    return std::string_view(text_);
  }

  static std::string number(int value) { return std::to_string(1'000'000 + value) + "\n"; }

 private:
  int count_;
  int at_ = 0;
  Result<void> end_;
  std::atomic<int>* given_;  // how many; nobody's where it is null
  std::string text_;
};

std::string numbers(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    all += Numbers::number(i);
  }
  return all;
}

constexpr int kOfPiece = 32'768;
constexpr int kOfRing = 4 * kOfPiece;
constexpr int kMany = 400'000;

}  // namespace

BOOST_AUTO_TEST_SUITE(read_ahead)

BOOST_AUTO_TEST_CASE(gives_what_the_source_gives) {
  for (const bool is_good : {true, false}) {
    for (const int count : {0, 1, kOfPiece, kOfPiece + 1, kOfRing, kMany}) {
      const Result<void> end = is_good ? Result<void>() : fail(Code::bad_response, "damaged");
      ReadAhead ahead(std::make_unique<Numbers>(count, end));
      std::string all;
      auto piece = ahead.next();
      for (; piece && !piece->empty(); piece = ahead.next()) {
        all += *piece;
      }
      BOOST_TEST((all == numbers(count)));
      BOOST_TEST((piece ? "end" : piece.error().message) == (is_good ? "end" : "damaged"));
    }
  }
}

// Whatever is read ahead meanwhile.
BOOST_AUTO_TEST_CASE(a_piece_lives_until_the_next_call) {
  std::atomic<int> given{0};
  ReadAhead ahead(std::make_unique<Numbers>(kMany, Result<void>(), &given));
  const std::string_view piece = ahead.next().value();
  for (int now = given; now < kOfRing; now = given) {
    given.wait(now);
  }
  BOOST_TEST((piece == numbers(kOfPiece)));
  BOOST_TEST(given == kOfRing);
}

BOOST_AUTO_TEST_CASE(ends_before_the_source_does) {
  ReadAhead unread(std::make_unique<Numbers>(kMany, Result<void>()));
  ReadAhead ahead(std::make_unique<Numbers>(kMany, Result<void>()));
  BOOST_TEST(ahead.next().value().substr(0, 8) == "1000000\n");
}

BOOST_AUTO_TEST_SUITE_END()
