#include "backends/package/unpack_queue.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <thread>

using namespace modlock;
using unpack::PendingFile;
using unpack::UnpackQueue;

namespace {

struct LineFixture {
  // Adds so many files and takes them all, as that many threads would.
  void put(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      BOOST_REQUIRE(line.add(PendingFile{.entry = i, .name = fmt::format("f{}", i), .file = unpack::NewFile({}, {})}));
    }
    for (std::size_t i = 0; i < count; ++i) {
      BOOST_REQUIRE(line.take({}).value().first == i);
    }
  }

  std::string outcome() {
    const auto result = line.result();
    return result ? "fine" : result.error().message;
  }

  unpack::Rules rules{"x.zip", [](std::uint64_t) { return 1000; }, {.total_bytes = 100}};
  UnpackQueue line{rules};
};

Result<void> damaged(int i) {
  return fail(Code::bad_response, fmt::format("{} is damaged", i));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(unpack_line, LineFixture)

BOOST_AUTO_TEST_CASE(the_first_failure_in_the_order_counts) {
  put(4);
  line.finish(3, damaged(3), {});
  line.finish(1, damaged(1), {});
  line.finish(2, damaged(2), {});
  line.finish(0, {}, {});
  BOOST_TEST(outcome() == "1 is damaged");
}

BOOST_AUTO_TEST_CASE(nothing_is_begun_behind_a_failure) {
  put(2);
  BOOST_REQUIRE(line.add(PendingFile{.entry = 2, .name = "f2", .file = unpack::NewFile({}, {})}));
  line.finish(0, damaged(0), {});
  BOOST_TEST(!line.take({}).has_value());
  BOOST_TEST(!line.add(PendingFile{.entry = 3, .name = "f3", .file = unpack::NewFile({}, {})}));
  BOOST_TEST(line.grow(1, "f1", 1).error().message == "0 is damaged");
  line.finish(1, {}, {});
  BOOST_TEST(outcome() == "0 is damaged");
}

BOOST_AUTO_TEST_CASE(sizes_are_judged_in_the_order) {
  put(3);
  BOOST_REQUIRE(line.grow(2, "f2", 60));
  BOOST_REQUIRE(line.grow(0, "f0", 30));
  Result<void> second;
  {
    // Too much with what is there already, but not by this file's fault.
    const std::jthread thread([&] {
      second = line.grow(1, "f1", 20);
      line.finish(1, second, {});
    });
    line.finish(0, {}, {});
  }
  BOOST_TEST(second.has_value());
  const auto third = line.grow(2, "f2", 10);
  BOOST_REQUIRE(!third.has_value());
  BOOST_TEST(third.error().message == R"(the entry "f2" of "x.zip" makes it exceed the 100 bytes allowed)");
  line.finish(2, third, {});
  BOOST_TEST(outcome() == third.error().message);
}

BOOST_AUTO_TEST_CASE(what_earlier_files_add_counts_for_finished_ones) {
  for (const bool is_damaged : {false, true}) {
    LineFixture fixture;
    fixture.put(2);
    BOOST_REQUIRE(fixture.line.grow(1, "f1", 90));
    fixture.line.finish(1, is_damaged ? damaged(1) : Result<void>(), {});
    BOOST_REQUIRE(fixture.line.grow(0, "f0", 20));
    fixture.line.finish(0, {}, {});
    BOOST_TEST(fixture.outcome() == R"(the entry "f1" of "x.zip" makes it exceed the 100 bytes allowed)");
  }
}

BOOST_AUTO_TEST_CASE(collects_the_digests) {
  put(2);
  line.finish(1, {}, {{"b", {2}}});
  line.finish(0, {}, {{"a", {1}}});
  const auto digests = line.result();
  BOOST_REQUIRE(digests.has_value());
  BOOST_TEST((*digests == FileDigests{{"a", {1}}, {"b", {2}}}));
}

BOOST_AUTO_TEST_CASE(a_thread_that_is_told_to_stop_takes_what_is_left) {
  BOOST_REQUIRE(line.add(PendingFile{.entry = 7, .name = "f", .file = unpack::NewFile({}, {})}));
  std::stop_source stop;
  stop.request_stop();
  BOOST_TEST(line.take(stop.get_token()).value().second.entry == 7U);
  BOOST_TEST(!line.take(stop.get_token()).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
