#include "protocol/rpc/line_reader.h"

#include <boost/test/unit_test.hpp>

#include <fcntl.h>

#include <fstream>
#include <thread>
#include <vector>

#include "tests/protocol/rpc/pipe.h"

namespace modlock {
namespace {

using test::Pipe;

// A line as it is, or "<too large>"; "<cut off>" behind what lacks its line end.
std::string shown(const Frame& frame) {
  return (frame.kind == Frame::Kind::line ? frame.text : "<too large>") + (frame.is_cut_off ? "<cut off>" : "");
}

// What the reader makes of some bytes.
std::vector<std::string> read_all(LineReader& reader) {
  std::vector<std::string> frames;
  for (Frame frame = reader.read(); frame.kind != Frame::Kind::end; frame = reader.read()) {
    frames.push_back(shown(frame));
  }
  return frames;
}

std::size_t resident_kib() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * 4;
}

BOOST_AUTO_TEST_SUITE(line_reader_test)

BOOST_AUTO_TEST_CASE(bytes_become_lines) {
  using namespace std::string_literals;
  struct Row {
    const char* name;
    std::string bytes;
    std::vector<std::string> frames;
  };
  const std::vector<Row> rows = {
      {"nothing", "", {}},
      {"one", "a\n", {"a"}},
      {"two", "a\nb\n", {"a", "b"}},
      {"crlf", "a\r\nb\r\n", {"a", "b"}},
      {"one CR only", "a\r\r\n", {"a\r"}},
      {"CR inside", "a\rb\n", {"a\rb"}},
      {"blank lines", "\n \t\n\r\n \r\na\n\n", {"a"}},
      {"unterminated", "a\nb", {"a", "b<cut off>"}},
      {"unterminated blank", "a\n  ", {"a"}},
      {"NUL kept", "a\0b\n"s, {"a\0b"s}},
      {"no other line ends", "\u2028b\u0085\v\n", {"\u2028b\u0085\v"}},
      {"at the limit", "12345678\n", {"12345678"}},
      {"at the limit with CRLF", "12345678\r\n", {"12345678"}},
      {"at the limit unterminated", "12345678", {"12345678<cut off>"}},
      {"over the limit", "123456789\nok\n", {"<too large>", "ok"}},
      {"over the limit with CRLF", "123456789\r\nok\n", {"<too large>", "ok"}},
      {"over the limit unterminated", "ok\n123456789", {"ok", "<too large><cut off>"}},
      {"far over the limit", std::string(300, 'x') + "\nok\n", {"<too large>", "ok"}},
      {"far over, unterminated", std::string(300, 'x'), {"<too large><cut off>"}},
      {"blank but too long", std::string(300, ' ') + "\nok\n", {"<too large>", "ok"}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Pipe whole;
      whole.send(row.bytes);
      whole.close_writer();
      LineReader reader(whole.reader(), 8);
      BOOST_TEST(read_all(reader) == row.frames, boost::test_tools::per_element());
    }
    BOOST_TEST_CONTEXT(row.name << ", byte by byte") {
      Pipe pipe;
      LineReader reader(pipe.reader(), 8);
      std::vector<std::string> frames;
      const auto drain = [&] {
        while (const auto frame = reader.next()) {
          if (frame->kind == Frame::Kind::end) {
            return;
          }
          frames.push_back(shown(*frame));
        }
      };
      for (const char byte : row.bytes) {
        pipe.send({&byte, 1});
        reader.fill();
        drain();
      }
      pipe.close_writer();
      reader.fill();
      drain();
      BOOST_TEST(frames == row.frames, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_end_stays_the_end) {
  Pipe pipe;
  pipe.close_writer();
  LineReader reader(pipe.reader());
  BOOST_TEST((reader.read().kind == Frame::Kind::end));
  BOOST_TEST((reader.read().kind == Frame::Kind::end));
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_fails_is_the_end) {
  LineReader reader(-1);
  reader.fill();
  BOOST_TEST((reader.next().value().kind == Frame::Kind::end));
}

BOOST_AUTO_TEST_CASE(a_non_blocking_descriptor_is_waited_for) {
  Pipe pipe;
  ::fcntl(pipe.reader(), F_SETFL, O_NONBLOCK);
  LineReader reader(pipe.reader());
  reader.fill();
  BOOST_TEST(!reader.next());
  std::thread host([&pipe] { pipe.send("late\n"); });
  BOOST_TEST(reader.read().text == "late");
  host.join();
}

BOOST_AUTO_TEST_CASE(lines_larger_than_a_read_come_whole) {
  Pipe pipe;
  const std::string large(1'000'000, 'x');
  std::thread host([&] {
    pipe.send(large + "\n" + large + "y\n");
    pipe.close_writer();
  });
  LineReader reader(pipe.reader());
  BOOST_TEST((reader.read().text == large));
  BOOST_TEST((reader.read().text == large + "y"));
  host.join();
}

BOOST_AUTO_TEST_CASE(a_line_without_end_takes_no_memory) {
  Pipe pipe;
  const std::string chunk(1 << 20, 'x');
  std::thread host([&] {
    for (int i = 0; i < 200; ++i) {
      pipe.send(chunk);
    }
    pipe.send("\nok\n");
    pipe.close_writer();
  });
  LineReader reader(pipe.reader(), 1 << 20);
  const std::size_t before = resident_kib();
  BOOST_TEST((reader.read().kind == Frame::Kind::too_large));
  BOOST_TEST(resident_kib() < before + 32 * 1024);
  BOOST_TEST(reader.read().text == "ok");
  host.join();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
