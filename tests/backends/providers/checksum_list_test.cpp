#include "backends/providers/checksum_list.h"

#include <boost/test/unit_test.hpp>

namespace modlock::provider_registry {
namespace {

const std::string kA(64, 'a');
const std::string kB(64, 'b');

std::string text_of(const Result<void>& result) {
  return result ? "" : std::string(to_string(result.error().code)) + ": " + result.error().message;
}

BOOST_AUTO_TEST_SUITE(checksum_list_test)

BOOST_AUTO_TEST_CASE(one_file) {
  struct Row {
    const char* name;
    std::string document;
    std::string failure;
  };
  const Row rows[] = {
      {"two blanks", kA + "  f.zip\n", ""},
      {"tab, carriage return", kA + "\tf.zip\r\n", ""},
      {"no line end", kB + "  g.zip\n" + kA + "  f.zip", ""},
      {"blanks in front", "  " + kA + " f.zip\n", ""},
      {"in upper case", std::string(64, 'A') + "  f.zip\n", ""},
      {"more behind", kA + "  f.zip more\n", ""},
      {"the first counts", kB + "  f.zip\n" + kA + "  f.zip\n",
       "HASH_MISMATCH: checksum list has unexpected SHA-256 hash " + kB + " (expected " + kA + ")"},
      {"a blank line before it", "\n" + kA + "  f.zip\n", ""},
      {"empty", "", "BAD_RESPONSE: checksum list has no SHA-256 hash for \"f.zip\""},
      {"another file", kA + "  f.zip.sig\n", "BAD_RESPONSE: checksum list has no SHA-256 hash for \"f.zip\""},
      {"binary mark", kA + " *f.zip\n", "BAD_RESPONSE: checksum list has no SHA-256 hash for \"f.zip\""},
      {"no hash", "abc  f.zip\n", "BAD_RESPONSE: checksum list has invalid SHA256 hash \"abc\""},
      {"too long a hash", kA + "aa  f.zip\n", "BAD_RESPONSE: checksum list has invalid SHA256 hash \"" + kA + "aa\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(text_of(expect_listed(row.document, "f.zip", "zh:" + kA)) == row.failure);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_without_a_name_is_in_no_list) {
  BOOST_TEST(text_of(expect_listed(kA + "\n", "", "zh:" + kA)) ==
             "BAD_RESPONSE: checksum list has no SHA-256 hash for \"\"");
}

BOOST_AUTO_TEST_CASE(all_hashes) {
  struct Row {
    const char* name;
    std::string document;
    std::vector<std::string> hashes;
    const char* failure;
  };
  const Row rows[] = {
      {"in their order, whatever the files", kB + "  g.json\n" + kA + "  f.zip\n", {"zh:" + kB, "zh:" + kA}, ""},
      {"in upper case", std::string(64, 'A') + "  f.zip", {"zh:" + kA}, ""},
      {"empty", "", {}, ""},
      {"one field", kA + "  f.zip\n" + kB + "\n", {}, ""},
      {"no hash", kA + "  f.zip\nabc  g.zip\n", {}, ""},
      {"no hexadecimal digits", std::string(64, 'g') + "  f.zip\n", {}, ""},
      {"a blank line inside", kA + "  f.zip\n\n" + kB + "  g.zip\n", {}, "checksum list has a blank line"},
      {"a blank line at the end", kA + "  f.zip\n\n", {}, "checksum list has a blank line"},
      {"a line of blanks", kA + "  f.zip\n \t\n", {}, "checksum list has a blank line"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto hashes = hashes_of(row.document);
      BOOST_TEST((hashes ? "" : hashes.error().message) == row.failure);
      BOOST_TEST(hashes.value_or(std::vector<std::string>()) == row.hashes, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::provider_registry
