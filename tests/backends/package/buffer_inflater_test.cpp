#include "backends/package/buffer_inflater.h"

#include <zlib.h>

#include <boost/test/unit_test.hpp>
#include <string>

namespace modlock::test {
namespace {

using unpack::BufferInflater;

// Raw deflate, as zip files have it.
std::string raw_deflate(std::string_view text) {
  z_stream stream{};
  BOOST_TEST_REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  BOOST_TEST_REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::uint32_t crc_of(std::string_view text) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(inflate_whole)

// What is not exactly what was announced is left to others to judge.
BOOST_AUTO_TEST_CASE(gives_what_was_announced_and_nothing_else) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "resource " + std::to_string(i) + " {}\n";
  const std::string packed = raw_deflate(text);
  const std::uint32_t crc = crc_of(text);
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(~damaged[packed.size() / 2]);
  struct Row {
    const char* name;
    std::string packed;
    std::size_t size;
    std::uint32_t crc;
    bool fits;
  };
  const std::string nothing = raw_deflate("");
  const Row rows[] = {
      {"as announced", packed, text.size(), crc, true},
      {"nothing packed", nothing, 0, 0, true},
      {"as announced, after a smaller one", packed, text.size(), crc, true},
      {"one byte more than announced", packed, text.size() - 1, crc, false},
      {"one byte less than announced", packed, text.size() + 1, crc, false},
      {"much more than announced", packed, 1, crc, false},
      {"another checksum", packed, text.size(), crc ^ 1U, false},
      {"a byte behind the end", packed + "x", text.size(), crc, false},
      {"cut", packed.substr(0, packed.size() - 1), text.size(), crc, false},
      {"no bytes", "", text.size(), crc, false},
      {"no bytes for nothing", "", 0, 0, false},
      {"damaged", damaged, text.size(), crc, false},
      {"not packed", text, text.size(), crc, false},
      {"as announced, after all of these", packed, text.size(), crc, true},
  };
  BufferInflater inflater;
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = inflater.inflate(row.packed, row.size, row.crc);
      BOOST_TEST(found.has_value() == row.fits);
      BOOST_TEST((!found || *found == std::string_view(text).substr(0, row.size)));
    }
  }
}

// Several packages at the same time take no more than is allowed together; what is given back serves others.
BOOST_AUTO_TEST_CASE(memory_is_bounded_over_all_of_them) {
  using unpack::BoundedBuffer;
  constexpr std::size_t kHalf = BoundedBuffer::kMostHeld / 2;
  BoundedBuffer first;
  BoundedBuffer second;
  BOOST_TEST(first.reserve(kHalf) != nullptr);
  BOOST_TEST(second.reserve(kHalf + 1) == nullptr);
  BOOST_TEST(second.reserve(kHalf) != nullptr);
  BOOST_TEST(second.reserve(1) != nullptr);  // of what it has
  const std::string text = "text";
  BufferInflater inflater;
  BOOST_TEST(!inflater.inflate(raw_deflate(text), text.size(), crc_of(text)).has_value());
  {
    const BoundedBuffer moved = std::move(first);
    BOOST_TEST(!inflater.inflate(raw_deflate(text), text.size(), crc_of(text)).has_value());
  }
  BOOST_TEST(inflater.inflate(raw_deflate(text), text.size(), crc_of(text)).value() == text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
