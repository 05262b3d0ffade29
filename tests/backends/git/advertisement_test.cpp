#include "backends/git/advertisement.h"

#include <boost/test/unit_test.hpp>

#include "backends/git/pkt_line.h"
#include "protocol/base/error.h"

namespace modlock::test {
namespace {

const std::string kOne(40, '1');
const std::string kTwo(40, '2');
const std::string kZero(40, '0');

// The service's line and its flush, then these lines and a flush.
std::string body(const std::vector<std::string>& lines) {
  std::string text = git::packet_line("# service=git-upload-pack") + "0000";
  for (const std::string& line : lines) {
    text += git::packet_line(line);
  }
  return text + "0000";
}

std::string with_capabilities(const std::string& line, const std::string& capabilities) {
  return line + std::string(1, '\0') + capabilities;
}

// "name=id" of each, "/commit" behind it where it is another one; then "|" and the capabilities.
std::string read(std::string_view bytes, std::size_t piece) {
  git::AdvertisementReader reader;
  BOOST_TEST(reader.begin(std::nullopt).has_value());
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    BOOST_TEST(reader.write(bytes.substr(at, piece)).has_value());
  }
  BOOST_TEST(reader.body() == bytes);
  const auto advertisement = reader.finish();
  if (!advertisement) {
    return std::string(to_string(advertisement.error().code)) + ": " + advertisement.error().message;
  }
  std::string text;
  for (const git::Reference& reference : advertisement->references) {
    text += reference.name + "=" + reference.id.substr(0, 1) +
            (reference.peeled.empty() ? "" : "/" + reference.peeled.substr(0, 1)) + " ";
  }
  return text + "|" + advertisement->capabilities;
}

}  // namespace

BOOST_AUTO_TEST_CASE(advertisements_are_read) {
  struct Row {
    const char* name;
    std::string bytes;
    std::string expected;
  };
  const std::string broken = "BAD_RESPONSE: the list of references breaks off";
  const std::string unexpected = "BAD_RESPONSE: the list of references has \"";
  const std::string service = git::packet_line("# service=git-upload-pack");
  for (const Row& row : {
           Row{"references and capabilities",
               body({with_capabilities(kOne + " HEAD", "shallow agent=git/2"), kOne + " refs/heads/main"}),
               "HEAD=1 refs/heads/main=1 |shallow agent=git/2"},
           Row{"a peeled tag", body({kOne + " refs/tags/a", kTwo + " refs/tags/a^{}", kOne + " refs/tags/b"}),
               "refs/tags/a=1/2 refs/tags/b=1 |"},
           Row{"a peeled name without its tag", body({kOne + " refs/tags/a", kTwo + " refs/tags/b^{}"}),
               "refs/tags/a=1 |"},
           Row{"protocol v1", body({"version 1", with_capabilities(kOne + " HEAD", "x")}), "HEAD=1 |x"},
           Row{"an empty repository", body({with_capabilities(kZero + " capabilities^{}", "shallow")}), "|shallow"},
           Row{"an empty repository of an older git", body({}), "|"},
           Row{"a history that is cut on the server", body({kOne + " HEAD", "shallow " + kTwo}), "HEAD=1 |"},
           Row{"upper-case digits", body({std::string(40, 'A') + " HEAD"}), "HEAD=a |"},
           Row{"no capabilities", body({with_capabilities(kOne + " HEAD", "")}), "HEAD=1 |"},
           Row{"nothing", "", broken},
           Row{"the service alone", service, broken},
           Row{"without its last flush", service + "0000" + git::packet_line(kOne + " HEAD"), broken},
           Row{"broken off in a line", service + "0000" + "003d" + kOne, broken},
           Row{"a page", "<html>",
               "BAD_RESPONSE: a packet of git's protocol was expected, and \"<htm\" is no length of one"},
           Row{"another service", git::packet_line("# service=git-receive-pack") + "0000",
               unexpected + "# service=git-receive-pack\" where \"# service=git-upload-pack\" was expected"},
           Row{"no flush behind the service", service + git::packet_line(kOne + " HEAD"),
               unexpected + kOne + " HEAD\" where a flush was expected"},
           Row{"no id", body({"HEAD"}), unexpected + "HEAD\" where \"<id> <name>\" was expected"},
           Row{"no name", body({kOne + " "}), unexpected + kOne + " \" where \"<id> <name>\" was expected"},
           Row{"an id without a blank", body({kOne + "1HEAD"}),
               unexpected + kOne + "1HEAD\" where \"<id> <name>\" was expected"},
           Row{"a line end in a name", body({kOne + " refs/tags/a\nb"}),
               unexpected + kOne + " refs/tags/a\\x0ab\" where \"<id> <name>\" was expected"},
           Row{"capabilities in a later line", body({kOne + " HEAD", with_capabilities(kOne + " a", "x")}),
               unexpected + kOne + " a\\x00x\" where \"<id> <name>\" was expected"},
           Row{"an error", body({"ERR access denied or repository not exported"}),
               "BAD_RESPONSE: the server said: access denied or repository not exported"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const std::size_t piece : {1U, 3U, 50U, 1000U}) {
        BOOST_TEST(read(row.bytes, piece) == row.expected, piece);
      }
    }
  }
}

// What an attempt that broke off has brought is void.
BOOST_AUTO_TEST_CASE(an_advertisement_begins_anew) {
  git::AdvertisementReader reader;
  (void)reader.write(body({with_capabilities(kOne + " refs/tags/a", "x")}).substr(0, 90));
  BOOST_TEST(reader.begin(std::nullopt).has_value());
  const std::string second = body({kTwo + " refs/tags/b"});
  (void)reader.write(second);
  BOOST_TEST(reader.body() == second);
  const auto advertisement = reader.finish();
  BOOST_REQUIRE(advertisement.has_value());
  BOOST_TEST(advertisement->references.size() == 1U);
  BOOST_TEST(advertisement->capabilities == "");
}

BOOST_AUTO_TEST_CASE(capabilities_are_whole_words) {
  BOOST_TEST(git::offers("a shallow agent=git/2", "shallow"));
  BOOST_TEST(git::offers("a shallow agent=git/2", "agent"));
  BOOST_TEST(!git::offers("not-shallow side-band-64k", "shallow"));
  BOOST_TEST(!git::offers("side-band-64k", "side-band"));
  BOOST_TEST(!git::offers("", "shallow"));
}

}  // namespace modlock::test
