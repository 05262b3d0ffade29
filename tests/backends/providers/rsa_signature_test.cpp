#include "backends/providers/openpgp.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "backends/base/digest.h"
#include "tests/support/openpgp_key.h"

namespace modlock {
namespace {

using test::OpenPgpKey;

constexpr std::string_view kSignedText = "document";

// What is in the armor, without its checksum.
std::string packets_of(const OpenPgpKey& key) {
  const std::string& text = key.armored();
  const std::size_t begin = text.find("\n\n") + 2;
  return decode_base64(text.substr(begin, text.find("\n=") + 1 - begin)).value();
}

BOOST_AUTO_TEST_SUITE(rsa_signature_test)

BOOST_AUTO_TEST_CASE(signatures) {
  const OpenPgpKey key;
  const OpenPgpKey other;
  const std::string good = key.sign(kSignedText);
  struct Row {
    const char* name;
    std::string signature;
    bool is_good;
  };
  const Row rows[] = {
      {"good", good, true},
      {"behind that of another key", other.sign(kSignedText) + good, true},
      {"of something else", key.sign("something else"), false},
      {"of another key", other.sign(kSignedText), false},
      {"none", "", false},
      {"text", "text", false},
      {"another packet", "\xC6\x01\x04", false},
      {"a length in parts", "\xC2\xE1" + good.substr(2), false},
      {"a length past the end", "\xC2\xFF\xFF\xFF\xFF\xFF" + good.substr(6), false},
      {"a length past the end, old format", "\x8A\xFF\xFF\xFF\xFF" + good.substr(6), false},
      {"no length, old format", "\x8B" + good.substr(6), false},
      {"empty", std::string("\xC2\x00", 2), false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(is_rsa_signed(packets_of(key), kSignedText, row.signature) == row.is_good);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_byte_counts) {
  const OpenPgpKey key;
  const std::string packets = packets_of(key);
  const std::string good = key.sign(kSignedText);
  const std::size_t head = 6;  // of the packet
  const auto two_bytes_at = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(good[at])) << 8U |
           static_cast<unsigned char>(good[at + 1]);
  };
  // Behind four numbers of a byte and what is signed: the issuer, which nobody signs, and the beginning of the digest,
  // a hint. What follows is the signature, which is a byte shorter where it begins with zeros.
  const std::size_t free_from = head + 4 + 2 + two_bytes_at(head + 4) + 2;
  const std::size_t free_to = free_from + two_bytes_at(free_from - 2) + 2;
  BOOST_TEST(free_to - free_from == 12U);
  for (std::size_t i = head; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const bool is_good = is_rsa_signed(packets, kSignedText, changed);
    const bool is_free = i >= free_from && i < free_to;
    BOOST_TEST((!is_good || is_free), i);
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    BOOST_TEST(!is_rsa_signed(packets, kSignedText, good.substr(0, size)), size);
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_rsa_key) {
  const OpenPgpKey key;
  const std::string packets = packets_of(key);
  const std::string good = key.sign(kSignedText);
  BOOST_REQUIRE(is_rsa_signed(packets, kSignedText, good));
  const auto changed = [&](std::size_t at, char to) {
    std::string bytes = packets;
    bytes[at] = to;
    return bytes;
  };
  BOOST_TEST(!is_rsa_signed("", kSignedText, good));
  BOOST_TEST(!is_rsa_signed(packets.substr(0, 100), kSignedText, good));
  BOOST_TEST(!is_rsa_signed(changed(0, '\xCD'), kSignedText, good));  // a user id
  BOOST_TEST(!is_rsa_signed(changed(6, 3), kSignedText, good));       // version 3
  BOOST_TEST(!is_rsa_signed(changed(11, 17), kSignedText, good));     // DSA
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
