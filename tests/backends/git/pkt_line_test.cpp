#include "backends/git/pkt_line.h"

#include <boost/test/unit_test.hpp>

#include "protocol/base/error.h"

namespace modlock::test {
namespace {

// Every packet of the bytes: "[payload]", "." for a flush; then what is left, or the error.
std::string taken(std::string_view bytes) {
  std::string text;
  while (true) {
    const auto packet = git::take_packet(bytes);
    if (!packet) {
      return text + std::string(to_string(packet.error().code)) + ": " + packet.error().message;
    }
    if (!*packet) {
      return text + std::string(bytes);
    }
    text += (*packet)->is_flush ? "." : "[" + std::string((*packet)->payload) + "]";
  }
}

std::string no_length(const std::string& digits) {
  return "BAD_RESPONSE: a packet of git's protocol was expected, and \"" + digits + "\" is no length of one";
}

}  // namespace

BOOST_AUTO_TEST_CASE(packets_are_taken_one_by_one) {
  struct Row {
    const char* name;
    std::string bytes;
    std::string expected;
  };
  for (const Row& row : {
           Row{"nothing", "", ""},
           Row{"a line, a flush, a line", "0006a\n00000005b", "[a\n].[b]"},
           Row{"an empty packet", "0004", "[]"},
           Row{"digits of both cases", "000Aabcdef000aABCDEF", "[abcdef][ABCDEF]"},
           Row{"the largest", "fff0" + std::string(65516, 'x'), "[" + std::string(65516, 'x') + "]"},
           Row{"a part of a length", "0006a\n00", "[a\n]00"},
           Row{"a part of a payload", "0009abc", "0009abc"},
           Row{"bytes of any kind", std::string("0007\0\x01\xff", 7), "[" + std::string("\0\x01\xff", 3) + "]"},
           Row{"no digits", "<!DOCTYPE html>", no_length("<!DO")},
           Row{"a part that can become no length", "<", no_length("<")},
           Row{"one shorter than itself", "0003", no_length("0003")},
           Row{"a delimiter of protocol v2", "0006a\n0001", "[a\n]" + no_length("0001")},
           Row{"one larger than any", "fff1", no_length("fff1")},
           Row{"a sign", "-001", no_length("-001")},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(taken(row.bytes) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(lines_are_written_as_packets) {
  BOOST_TEST(git::packet_line("done") == "0009done\n");
  BOOST_TEST(git::packet_line("deepen 1") == "000ddeepen 1\n");
  BOOST_TEST((git::Packet{false, "done\n"}.line()) == "done");
  BOOST_TEST((git::Packet{false, "done"}.line()) == "done");
}

}  // namespace modlock::test
