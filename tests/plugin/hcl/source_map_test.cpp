#include "plugin/hcl/lexer.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <vector>

#include "plugin/hcl/characters.h"
#include "plugin/hcl/json_syntax.h"

namespace {

using namespace modlock;
using namespace modlock::hcl;

struct Piece {
  std::string_view character;
  std::vector<std::string_view> spellings;
};

const std::vector<Piece>& pieces() {
  static const std::vector<Piece> list = {
      {"a", {"a", "\\u0061"}},
      {"\n", {"\\n", "\\u000A"}},
      {"\r", {"\\r"}},
      {"\"", {"\\\""}},
      {"\\", {"\\\\", "\\u005c"}},
      {"/", {"/", "\\/"}},
      {"é", {"é", "\\u00e9"}},
      {"€", {"€", "\\u20AC"}},
      {"😀", {"😀", "\\ud83d\\ude00"}},
      {"\u0301", {"\u0301", "\\u0301"}},
      {"\u200d", {"\u200d", "\\u200D"}},
      {"👩", {"👩"}},
  };
  return list;
}

BOOST_AUTO_TEST_SUITE(source_map)

// Random strings, spelled at random: each character's place is where its spelling stands.
BOOST_AUTO_TEST_CASE(every_character_maps_to_its_spelling) {
  const unsigned seed = std::random_device{}();
  BOOST_TEST_CONTEXT("seed " << seed) {
    std::mt19937 random(seed);
    for (int round = 0; round < 500; ++round) {
      std::string text = "{\n \"é\": \"";
      const std::size_t quote = text.size() - 1;
      std::vector<std::pair<std::size_t, std::size_t>> places;  // in the decoded text, in the file
      std::string decoded;
      for (auto count = random() % 20; count > 0; --count) {
        const Piece& piece = pieces()[random() % pieces().size()];
        places.emplace_back(decoded.size(), text.size());
        decoded += piece.character;
        text += piece.spellings[random() % piece.spellings.size()];
      }
      places.emplace_back(decoded.size(), text.size());
      text += "\"}";
      const ParsedFile file = parse_json(text, "f", {});
      BOOST_TEST_REQUIRE(file.diagnostics.empty());
      const Expression& value = file.body.attributes.at(0).value;
      const auto& string = std::get<JsonString>(value.node);
      BOOST_TEST_CONTEXT(text) {
        BOOST_TEST(string.text == decoded);
        BOOST_TEST(value.range.start.byte == quote);
        SourceMap map(string, value.range.start);
        for (const auto& [offset, byte] : places) {
          const Position place = SourceMap(string, value.range.start).at(offset);
          BOOST_TEST(place.byte == byte);
          BOOST_TEST((place == advance(value.range.start, std::string_view(text).substr(quote, byte - quote))));
          BOOST_TEST(map.at(offset).byte == byte);
        }
        BOOST_TEST(map.at(0).byte == quote + 1);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
