// Servers whose answers never end, are larger than anything that is kept, or say why there is none.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>

#include "tests/backends/git/git_fixture.h"
#include "tests/support/fault_server.h"
#include "tests/support/faults.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kOfferedCommit = "1111111111111111111111111111111111111111";

std::string many(const std::string& text) {
  std::string all;
  while (all.size() < 60'000) {
    all += text;
  }
  return all;
}

std::string head(const std::string& type) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-" + type + "\r\n\r\n";
}

std::string first_reference() {
  return packet("# service=git-upload-pack\n") + "0000" +
         packet(std::string(kOfferedCommit) + " refs/tags/v1.0.0" + '\0' + "shallow side-band-64k ofs-delta\n");
}

// Up to the pack, whose only object says that it has 1 TiB.
std::string pack_start() {
  std::string pack("PACK\0\0\0\2\0\0\0\1", 12);
  pack += "\xb0\x80\x80\x80\x80\x80\x04";
  return packet('\1' + pack + "\x78\x01");
}

// Of zlib: a block that is not packed, and not the last.
std::string pack_piece() {
  constexpr std::size_t kSize = 32'768;
  return packet(std::string(1, '\1') + std::string("\0\x00\x80\xff\x7f", 5) + std::string(kSize, 'x'));
}

struct Hostile : GitFixture {
  Hostile() : server([](const ReceivedRequest&) { return ServerAnswer{.status = 404}; }) {
    context.children.memory = 48U << 20U;
    context.children.file_size = 4U << 20U;
  }
  std::string url() const { return "http://" + server.host() + "/m.git"; }
  void advertise(const std::string& tail) {
    server.add({.behaviour = faults::bytes(head("advertisement") + first_reference() + tail), .path = "/m.git/info"});
  }
  // git asks twice: first for where the history is cut, and then, done, for the pack.
  void answer(const std::string& pack, const std::string& piece) {
    const std::string start = head("result") + packet("shallow " + std::string(kOfferedCommit) + "\n") + "0000";
    server.add({.behaviour =
                    [=](ServerStream& stream, const ReceivedRequest& request, const auto& good) {
                      const bool is_done = request.body.find("0009done\n") != std::string::npos;
                      return (is_done ? faults::endless(start + packet("NAK\n") + pack, piece) : faults::bytes(start))(
                          stream, request, good);
                    },
                .path = "/m.git/git-upload-pack"});
  }
  // As answer(), with these bytes in place of the pack.
  void refuse(const std::string& bytes) {
    const std::string start = head("result") + packet("shallow " + std::string(kOfferedCommit) + "\n") + "0000";
    server.add({.behaviour =
                    [=](ServerStream& stream, const ReceivedRequest& request, const auto& good) {
                      const bool is_done = request.body.find("0009done\n") != std::string::npos;
                      return faults::bytes(is_done ? start + bytes : start)(stream, request, good);
                    },
                .path = "/m.git/git-upload-pack"});
  }
  std::size_t asked() const { return server.lines().size(); }
  // Nothing of what arrived stays.
  std::uintmax_t kept() const {
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory / "cache")) {
      bytes += entry.is_regular_file() ? entry.file_size() : 0;
    }
    return bytes;
  }

  FaultServer server;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(git_limits)

BOOST_AUTO_TEST_CASE(references_without_end_are_not_handed_on_to_git) {
  for (const GitEngine engine : {GitEngine::automatic, GitEngine::git}) {
    for (const char* reference : {"", "?ref=1234567"}) {
      BOOST_TEST_CONTEXT(static_cast<int>(engine) << " " << reference) {
        Hostile hostile;
        hostile.renew_backend(engine);
        hostile.server.add({.behaviour = faults::endless(head("advertisement") + first_reference(),
                                                         many(packet(std::string(kOfferedCommit) + " refs/heads/" +
                                                                     std::string(1000, 'a') + "\n"))),
                            .path = "/m.git/info"});
        const auto source = hostile.source(hostile.url() + reference);
        const auto found = *reference == '\0' ? outcome(hostile.backend->list_versions(source, "", hostile.context))
                                              : outcome(hostile.backend->pin(source, hostile.context));
        BOOST_TEST(found.substr(0, 15) == "LIMIT_EXCEEDED:", found);
        BOOST_TEST(hostile.asked() == (engine == GitEngine::git ? 1U : 2U));  // also with protocol v2
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(packs_and_progress_without_end) {
  struct Row {
    const char* name;
    std::string start;
    std::string piece;
    std::chrono::milliseconds total;
    const char* code;
    std::size_t requests;  // of our own HTTP
  };
  for (const Row& row : {
           Row{"progress", "", many(packet("\2Counting objects: 1\r")), 1s, "TIMEOUT", 2},
           Row{"progress that no line ends", "", many(packet("\2x")), 1s, "TIMEOUT", 2},
           Row{"a pack", pack_start(), pack_piece(), 1min, "LIMIT_EXCEEDED", 2},
       }) {
    for (const GitEngine engine : {GitEngine::automatic, GitEngine::git}) {
      BOOST_TEST_CONTEXT(row.name << " " << static_cast<int>(engine)) {
        Hostile hostile;
        // Our own HTTP counts everything against the size, git only its files.
        hostile.context.children.file_size = row.total == 1s ? std::uint64_t{64} << 30U : std::uint64_t{4} << 20U;
        hostile.context.children.total = row.total;
        hostile.renew_backend(engine);
        hostile.advertise("0000");
        hostile.answer(row.start, row.piece);
        const auto found = outcome(hostile.fetch_one(hostile.url(), {kOfferedCommit, "refs/tags/v1.0.0", false}));
        BOOST_TEST(found.substr(0, found.find(':')) == row.code, found);
        BOOST_TEST(hostile.kept() < 100'000U);
        BOOST_TEST(hostile.asked() == row.requests + (engine == GitEngine::git ? 1U : 0U));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_words_of_a_server_that_refuses_are_shown) {
  const std::string words = "no \x1bway, see https://me:secret@h.test/";
  // Of what ends it git itself shows no control character.
  const auto shown = [](bool by_git) {
    return std::string("the server said: no ") + (by_git ? "?" : "\\x1b") + "way, see https://…@h.test/";
  };
  for (const GitEngine engine : {GitEngine::automatic, GitEngine::git}) {
    BOOST_TEST_CONTEXT(static_cast<int>(engine)) {
      Hostile hostile;
      hostile.renew_backend(engine);
      hostile.server.add({.behaviour = faults::bytes(head("advertisement") + packet("# service=git-upload-pack\n") +
                                                     "0000" + packet("ERR " + words + "\n") + "0000"),
                          .path = "/none.git/info"});
      const std::string url = "http://" + hostile.server.host() + "/none.git";
      BOOST_TEST(outcome(hostile.backend->list_versions(hostile.source(url), "", hostile.context)) ==
                 "BAD_RESPONSE: git could not list the tags of \"git::" + url +
                     "\": " + shown(engine == GitEngine::git));
      for (const char* row : {"in a packet", "in band 3"}) {
        BOOST_TEST_CONTEXT(row) {
          Hostile refusing;
          refusing.renew_backend(engine);
          refusing.advertise("0000");
          refusing.refuse(std::string(row) == "in band 3" ? packet("NAK\n") + packet("\3" + words + "\n") + "0000"
                                                          : packet("ERR " + words + "\n"));
          BOOST_TEST(outcome(refusing.fetch_one(refusing.url(), {kOfferedCommit, "refs/tags/v1.0.0", false})) ==
                     "BAD_RESPONSE: git could not fetch from \"git::" + refusing.url() +
                         "\": " + shown(engine == GitEngine::git && std::string(row) == "in a packet"));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_says_nothing_is_given_up) {
  for (const GitEngine engine : {GitEngine::automatic, GitEngine::git}) {
    BOOST_TEST_CONTEXT(static_cast<int>(engine)) {
      Hostile hostile;
      hostile.context.children.idle = 300ms;
      hostile.renew_backend(engine);
      hostile.advertise("0000");
      hostile.server.add({.behaviour = faults::black_hole(), .path = "/m.git/git-upload-pack"});
      const auto found = outcome(hostile.fetch_one(hostile.url(), {kOfferedCommit, "refs/tags/v1.0.0", false}));
      BOOST_TEST(found.substr(0, 8) == "TIMEOUT:", found);
    }
  }
}

// A pack may take a while to make, but a list of references is sent at once.
BOOST_AUTO_TEST_CASE(a_list_of_references_that_drips_is_given_up) {
  struct Row {
    const char* name;
    const char* path;
    const char* type;
  };
  for (const Row& row : {Row{"the first response", "/m.git/info", "advertisement"},
                         Row{"the list of protocol v2", "/m.git/git-upload-pack", "result"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      Hostile hostile;
      hostile.context.children.idle = 300ms;
      hostile.renew_backend(GitEngine::automatic);
      hostile.server.add({.behaviour =
                              [&](ServerStream& stream, const ReceivedRequest&, const auto&) {
                                bool is_there = stream.write(head(row.type));
                                while (is_there) {
                                  is_there = stream.pause(100ms) && stream.write("0");
                                }
                                return false;
                              },
                          .path = row.path});
      hostile.server.add({.behaviour = faults::bytes(head("advertisement") + packet("version 2\n") +
                                                     packet("ls-refs=unborn\n") + "0000"),
                          .path = "/m.git/info"});
      const auto found = outcome(hostile.backend->list_versions(hostile.source(hostile.url()), "", hostile.context));
      BOOST_TEST(found.substr(0, 8) == "TIMEOUT:", found);
      BOOST_TEST(hostile.server.lines().back().find(row.path) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
