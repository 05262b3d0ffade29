
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <thread>

#include "backends/package/byte_source.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::TemporaryDirectory;

namespace {

// All that a reader gets, and the code that ended it.
std::string read_all(const StreamedFile& file) {
  unpack::DownloadStream bytes(file);
  std::string text;
  for (;;) {
    const auto piece = bytes.next();
    if (!piece) {
      return fmt::format("{} {}", text, to_string(piece.error().code));
    }
    if (piece->empty()) {
      return text;
    }
    text += *piece;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(arriving_file)

BOOST_AUTO_TEST_CASE(is_read_while_it_is_written) {
  const TemporaryDirectory directory;
  StreamedFile file(directory / "a");
  std::string found;
  std::string expected;
  {
    const std::jthread reader([&] { found = read_all(file); });
    BOOST_REQUIRE(file.create());
    for (int i = 0; i < 2000; ++i) {
      const std::string piece(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
      BOOST_REQUIRE(file.write(piece));
      expected += piece;
    }
    BOOST_REQUIRE(file.complete());
  }
  BOOST_TEST(found == expected);
}

BOOST_AUTO_TEST_CASE(tells_how_much_is_there) {
  const TemporaryDirectory directory;
  StreamedFile file(directory / "a");
  BOOST_REQUIRE(file.create());
  BOOST_REQUIRE(file.write(std::string(200'000, 'a')));
  BOOST_TEST(file.wait_for(3).value() == 200'000U);
  BOOST_REQUIRE(file.write("12345"));
  BOOST_REQUIRE(file.complete());
  BOOST_TEST(file.wait_for(StreamedFile::kAll).value() == 200'005U);
  StreamedFile same(directory / "a");
  BOOST_REQUIRE(same.adopt());
  BOOST_TEST(same.wait_for(StreamedFile::kAll).value() == 200'005U);
}

BOOST_AUTO_TEST_CASE(wakes_its_readers_where_it_is_given_up) {
  const TemporaryDirectory directory;
  StreamedFile file(directory / "a");
  BOOST_REQUIRE(file.create());
  BOOST_REQUIRE(file.write(std::string(200'000, 'a')));
  std::string found;
  {
    const std::jthread reader([&] { found = read_all(file); });
    file.abandon();
  }
  BOOST_TEST(found.substr(found.find(' ')) == " REQUEST_CANCELLED");
}

BOOST_AUTO_TEST_CASE(reports_the_system) {
  const TemporaryDirectory directory;
  const std::filesystem::path nowhere = directory / "none/a";
  StreamedFile file(nowhere);
  BOOST_TEST(file.create().error().message ==
             fmt::format("cannot write \"{}\": No such file or directory", nowhere.string()));
  StreamedFile missing(nowhere);
  BOOST_TEST(missing.adopt().error().message ==
             fmt::format("cannot read \"{}\": No such file or directory", nowhere.string()));
}

BOOST_AUTO_TEST_SUITE_END()
