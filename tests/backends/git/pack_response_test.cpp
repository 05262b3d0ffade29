#include "backends/git/pack_response.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "backends/git/pack_writer.h"
#include "backends/git/repository.h"
#include "tests/backends/git/git_fixture.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A packet of exactly these bytes.
std::string packet(const std::string& payload) {
  return git::packet_line(payload.substr(1)).substr(0, 4) + payload;
}

// A commit, its pack, and an empty repository for it.
struct Packed : GitFixture {
  Packed() {
    std::string text;
    for (int i = 0; i < 4000; ++i) {
      text += std::to_string(i * 7919 % 10007) + "\n";
    }
    // The second is a delta of the first, and the pack longer than a page.
    commit = remote.commit({{"main.tf", text}, {"sub/x.tf", text + "# x\n"}});
    pack = remote.git({"pack-objects", "--quiet", "--stdout", "--revs", "--delta-base-offset"}, commit + "\n");
    BOOST_REQUIRE_EQUAL(outcome(git::make_bare_repository(into)), "ok");
  }

  // An answer with this pack in bands of `size` bytes.
  std::string answer(const std::string& bytes, std::size_t size = 1000) const {
    std::string text = packet("shallow " + commit + "\n") + "0000" + packet("NAK\n");
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      text += packet("\x01" + bytes.substr(at, size));
    }
    return text +
           packet(
               "\x02"
               "done\n") +
           "0000";
  }
  // Written in pieces of that many bytes.
  std::string take(git::PackResponse& answer, std::string_view bytes, std::size_t piece) const {
    auto done = answer.begin(std::nullopt);
    for (std::size_t at = 0; done && at < bytes.size(); at += piece) {
      done = answer.write(bytes.substr(at, piece));
    }
    return outcome(done ? answer.finish() : done);
  }
  std::size_t files_of_packs() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(into / "objects" / "pack"), fs::directory_iterator()));
  }

  GitRepository remote{directory / "remote.git"};
  fs::path into = directory / "into.git";
  std::string commit;
  std::string pack;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_pack_that_cannot_be_moved_leaves_nothing, Packed) {
  fs::remove_all(into / "objects" / "pack");
  write_text(into / "objects" / "pack", "");
  {
    git::PackResponse taking(into);
    const std::string refused = take(taking, answer(pack), 1000);
    BOOST_TEST(refused.starts_with("IO_ERROR: cannot write \"" + (into / "objects/pack/pack-").string()), refused);
  }
  for (const auto& entry : fs::directory_iterator(into)) {
    BOOST_TEST(!entry.path().filename().string().starts_with(git::kArriving), entry.path());
  }
}

BOOST_FIXTURE_TEST_CASE(a_pack_arrives_in_pieces_of_any_size, Packed) {
  for (const std::size_t piece : {1U, 7U, 100'000U}) {
    for (const std::size_t band : {1U, 50U, 60'000U}) {
      BOOST_TEST_CONTEXT(piece << " bytes of bands of " << band) {
        fs::remove_all(into / "objects" / "pack");
        fs::create_directories(into / "objects" / "pack");
        git::PackResponse taking(into);
        BOOST_TEST(take(taking, answer(pack, band), piece) == "ok");
        const auto objects = git::ObjectReader::open(into);
        BOOST_REQUIRE_EQUAL(outcome(objects), "ok");
        BOOST_TEST(objects->is_whole(commit));
        BOOST_TEST(files_of_packs() == 2U);
      }
    }
  }
}

BOOST_FIXTURE_TEST_CASE(what_an_earlier_attempt_wrote_is_void, Packed) {
  git::PackResponse taking(into);
  BOOST_TEST(take(taking, answer(pack).substr(0, 150), 10) == "BAD_RESPONSE: the pack breaks off");
  BOOST_TEST(take(taking, answer(pack), 10) == "ok");
  BOOST_TEST(files_of_packs() == 2U);
}

BOOST_FIXTURE_TEST_CASE(what_is_no_whole_pack_is_refused_and_leaves_nothing, Packed) {
  std::string bent = pack;
  bent[bent.size() / 2] = static_cast<char>(bent[bent.size() / 2] ^ 1);
  struct Row {
    const char* name;
    std::string bytes;
    std::string expected;  // the beginning
  };
  for (const Row& row : {
           Row{"nothing", "", "BAD_RESPONSE: the pack breaks off"},
           Row{"no pack", packet("NAK\n") + "0000", "BAD_RESPONSE: the pack breaks off"},
           Row{"no end", answer(pack).substr(0, answer(pack).size() - 4), "BAD_RESPONSE: the pack breaks off"},
           Row{"a part of the pack", answer(pack.substr(0, pack.size() - 1)), "BAD_RESPONSE: libgit2: "},
           Row{"bytes behind the pack", answer(pack + "x"), "BAD_RESPONSE: libgit2: "},
           Row{"a bit that fell over", answer(bent), "BAD_RESPONSE: libgit2: "},
           Row{"another format", answer("PACX" + pack.substr(4)), "BAD_RESPONSE: libgit2: "},
           Row{"more objects than there can be",
               answer("PACK" + std::string("\0\0\0\2\xff\xff\xff\xff", 8) + pack.substr(12)),
               "BAD_RESPONSE: libgit2: "},
           Row{"a page", "<html>", "BAD_RESPONSE: a packet of git's protocol was expected"},
           Row{"a line within the pack",
               packet("\x01"
                      "PACK") +
                   packet("NAK\n"),
               "BAD_RESPONSE: the answer has \"NAK\" where a part of a pack was expected"},
           Row{"a line of another kind", packet("hello\n"),
               "BAD_RESPONSE: the answer has \"hello\" where a part of a pack was expected"},
           Row{"an error", packet("ERR upload-pack: not our ref 1\n"),
               "BAD_RESPONSE: the server said: upload-pack: not our ref 1"},
           Row{"an error on its band",
               packet("\x01"
                      "PACK") +
                   packet("\x03"
                          "no\x1bway https://u:p@h/x\n"),
               "BAD_RESPONSE: the server said: no\\x1bway https://…@h/x"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      {
        git::PackResponse taking(into);
        const std::string said = take(taking, row.bytes, 64);
        BOOST_TEST(said.substr(0, row.expected.size()) == row.expected);
      }
      BOOST_TEST(files_of_packs() == 0U);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_pack_that_needs_other_objects_is_refused, Packed) {
  const std::string second = remote.commit({{"main.tf", "# 1\n" + std::string(5000, 'x')}});
  const std::string third = remote.commit({{"main.tf", "# 2\n" + std::string(5000, 'x')}});
  const std::string thin =
      remote.git({"pack-objects", "--quiet", "--stdout", "--revs", "--thin", "--delta-base-offset"},
                 third + "\n^" + second + "\n");
  git::PackResponse taking(into);
  BOOST_TEST(take(taking, answer(thin), 64).substr(0, 23) == "BAD_RESPONSE: libgit2: ");
}

BOOST_AUTO_TEST_CASE(one_request_wants_all_objects) {
  const std::string one(40, '1');
  const std::string two(40, '2');
  BOOST_TEST(git::pack_request({one, two}, "side-band-64k") ==
             "0040want " + one + " side-band-64k\n0032want " + two + "\n000ddeepen 1\n00000009done\n");
}

}  // namespace modlock::test
