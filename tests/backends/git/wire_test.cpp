#include "backends/git/wire.h"

#include <algorithm>

#include <boost/test/unit_test.hpp>

#include "backends/git/repository.h"
#include "protocol/base/error.h"
#include "tests/backends/git/git_fixture.h"

namespace modlock::test {
namespace {

// Every packet of the bytes: "[payload]", "." for a flush, "|" for a delimiter; then what is left, or the error.
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
    text += (*packet)->is_flush ? "." : (*packet)->is_delimiter ? "|" : "[" + std::string((*packet)->payload) + "]";
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
           Row{"a delimiter of protocol v2", "0006a\n00010005b", "[a\n]|[b]"},
           Row{"an end of protocol v2", "0006a\n0002", "[a\n]" + no_length("0002")},
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

// "name=id" of each, "/commit" behind it where it is another one; then "|" and the capabilities, "|2" for protocol v2.
std::string read(std::string_view bytes, std::size_t piece, bool is_listing = false) {
  git::AdvertisementReader reader(is_listing);
  BOOST_TEST(reader.begin(std::nullopt).has_value());
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    BOOST_TEST(reader.write(bytes.substr(at, piece)).has_value());
  }
  const auto advertisement = reader.finish();
  if (!advertisement) {
    return std::string(to_string(advertisement.error().code)) + ": " + advertisement.error().message;
  }
  std::string text;
  for (const git::Reference& reference : advertisement->references) {
    text += reference.name + "=" + reference.id.substr(0, 1) +
            (reference.peeled.empty() ? "" : "/" + reference.peeled.substr(0, 1)) + " ";
  }
  return text + "|" + advertisement->capabilities + (advertisement->is_v2 ? "|2" : "");
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
           Row{"protocol v2",
               packet("version 2\n") + packet("agent=git/2\n") + packet("fetch=shallow filter\n") + "0000",
               "|agent=git/2 fetch shallow filter |2"},
           Row{"protocol v2 behind the service", body({"version 2", "ls-refs=unborn", "fetch"}),
               "|ls-refs=unborn fetch |2"},
           Row{"protocol v2 without its end", packet("version 2\n") + packet("fetch\n"), broken},
           Row{"an attribute of protocol v2", body({kOne + " refs/tags/a peeled:" + kTwo}),
               unexpected + kOne + " refs/tags/a peeled:" + kTwo + "\" where \"<id> <name>\" was expected"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const std::size_t piece : {1U, 3U, 50U, 1000U}) {
        BOOST_TEST(read(row.bytes, piece) == row.expected, piece);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(listings_of_protocol_v2_are_read) {
  struct Row {
    const char* name;
    std::string bytes;
    std::string expected;
  };
  const std::string unexpected = "BAD_RESPONSE: the list of references has \"";
  const std::string main = packet(kOne + " refs/heads/main\n");
  for (const Row& row : {
           Row{"no references", "0000", "|"},
           Row{"a branch and an annotated tag", main + packet(kOne + " refs/tags/a peeled:" + kTwo + "\n") + "0000",
               "refs/heads/main=1 refs/tags/a=1/2 |"},
           Row{"other attributes",
               packet(kOne + " HEAD symref-target:refs/heads/main x peeled:" + kTwo + "\n") + "0000", "HEAD=1/2 |"},
           Row{"a name twice", main + packet(kTwo + " refs/heads/main\n") + "0000",
               "refs/heads/main=1 refs/heads/main=2 |"},
           Row{"broken off", main, "BAD_RESPONSE: the list of references breaks off"},
           Row{"broken off in a line", main + "003d" + kOne, "BAD_RESPONSE: the list of references breaks off"},
           Row{"a target that is no id", packet(kOne + " refs/tags/a peeled:2\n") + "0000",
               unexpected + kOne + " refs/tags/a peeled:2\" where \"<id> <name>\" was expected"},
           Row{"no name", packet(kOne + "  peeled:" + kTwo) + "0000",
               unexpected + kOne + "  peeled:" + kTwo + "\" where \"<id> <name>\" was expected"},
           Row{"a delimiter", main + "00010000", unexpected + "\" where \"<id> <name>\" was expected"},
           Row{"an advertisement", body({kOne + " HEAD"}),
               unexpected + "# service=git-upload-pack\" where \"<id> <name>\" was expected"},
           Row{"an error", packet("ERR no https://u:p@h/x\n"), "BAD_RESPONSE: the server said: no https://…@h/x"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const std::size_t piece : {1U, 3U, 50U, 1000U}) {
        BOOST_TEST(read(row.bytes, piece, true) == row.expected, piece);
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

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A packet of exactly these bytes.
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

BOOST_FIXTURE_TEST_CASE(a_pack_arrives_in_the_sections_of_protocol_v2, Packed) {
  const std::string of_v0 = packet("shallow " + commit + "\n") + "0000" + packet("NAK\n");
  for (const std::string& start :
       {packet("shallow-info\n") + packet("shallow " + commit + "\n") + "0001" + packet("packfile\n"),
        packet("packfile\n")}) {
    fs::remove_all(into / "objects" / "pack");
    fs::create_directories(into / "objects" / "pack");
    git::PackResponse taking(into);
    BOOST_TEST(take(taking, start + answer(pack).substr(of_v0.size()), 10) == "ok");
    BOOST_TEST(files_of_packs() == 2U);
    BOOST_TEST(take(taking, start + "0000", 10) == "BAD_RESPONSE: the pack breaks off");
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
  BOOST_TEST(git::pack_request({one, two}, "side-band-64k", false) ==
             "0040want " + one + " side-band-64k\n0032want " + two + "\n000ddeepen 1\n00000009done\n");
  BOOST_TEST(git::pack_request({one}, "agent=git/2 ofs-delta", false) ==
             packet("want " + one + " side-band-64k ofs-delta agent=tofu-modlock\n") + "000ddeepen 1\n00000009done\n");
  BOOST_TEST(git::pack_request({one, two}, "fetch shallow ", true) ==
             "0012command=fetch\n00010032want " + one + "\n0032want " + two +
                 "\n000ddeepen 1\n000eofs-delta\n0010no-progress\n0009done\n0000");
}

// Nothing is sent that the server has not named.
BOOST_AUTO_TEST_CASE(a_part_of_the_references_is_requested) {
  BOOST_TEST(git::list_request({"refs/tags/v1", "refs/heads/"}, "ls-refs=unborn ") ==
             "0014command=ls-refs\n00010009peel\n0014ref-prefix HEAD\n001cref-prefix refs/tags/v1\n"
             "001bref-prefix refs/heads/\n0000");
  BOOST_TEST(git::list_request({}, "agent=git/2 ls-refs object-format=sha1 ") ==
             "0014command=ls-refs\n0017agent=tofu-modlock\n0017object-format=sha1\n00010009peel\n"
             "0014ref-prefix HEAD\n0000");
}

}  // namespace modlock::test
