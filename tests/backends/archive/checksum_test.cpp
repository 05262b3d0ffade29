#include "backends/archive/checksum.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;
using namespace modlock::archive;

namespace {

const std::string kMd5(32, 'a');
const std::string kSha1(40, 'b');
const std::string kSha256(64, 'c');
const std::string kSha384(96, 'e');
const std::string kSha512(128, 'd');

}  // namespace

BOOST_AUTO_TEST_SUITE(checksum)

BOOST_AUTO_TEST_CASE(reads_an_argument) {
  struct Row {
    const char* name;
    std::string text;
    std::string expected;  // empty: none
  };
  const Row rows[] = {
      {"md5", "md5:" + kMd5, "md5:" + kMd5},
      {"sha1", "sha1:" + kSha1, "sha1:" + kSha1},
      {"sha256", "sha256:" + kSha256, "sha256:" + kSha256},
      {"sha512", "sha512:" + kSha512, "sha512:" + kSha512},
      {"capitals", "SHA1:" + std::string(40, 'B'), "sha1:" + kSha1},
      {"by its length: md5", kMd5, "md5:" + kMd5},
      {"by its length: sha1", kSha1, "sha1:" + kSha1},
      {"by its length: sha256", kSha256, "sha256:" + kSha256},
      {"by its length: sha512", kSha512, "sha512:" + kSha512},
      {"no length of any", "abcd", ""},
      {"no hexadecimal digits", std::string(32, 'z'), ""},
      {"another type", "crc32:abcdef01", ""},
      {"a type that go-getter does not know", "sha384:" + kSha384, ""},
      {"a length that go-getter does not know", kSha384, ""},
      {"too short for its type", "sha256:" + kMd5, ""},
      {"nothing", "", ""},
      {"a type alone", "md5:", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto read = parse_checksum(row.text);
      BOOST_TEST((read ? read->text() : "") == row.expected);
      if (!read) {
        BOOST_TEST((read.error().code == Code::source_invalid));
        BOOST_TEST(read.error().message == "the checksum \"" + row.text + "\" is none");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(finds_an_archive_in_a_list) {
  struct Row {
    const char* name;
    std::string list;
    const char* list_path;
    std::string expected;  // for /d/a.zip; empty: none
  };
  const Row rows[] = {
      {"as sha256sum writes it", kSha256 + "  a.zip\n", "/d/SUMS", "sha256:" + kSha256},
      {"of a binary file", kSha256 + " *a.zip\n", "/d/SUMS", "sha256:" + kSha256},
      {"as shasum -p writes it", kSha256 + " ?a.zip\n", "/d/SUMS", "sha256:" + kSha256},
      {"as BSD writes it", "SHA1 (a.zip) = " + kSha1 + "\n", "/d/SUMS", "sha1:" + kSha1},
      {"without a line end", kMd5 + "  a.zip", "/d/SUMS", "md5:" + kMd5},
      {"with those of another system", kMd5 + "  b.zip\r\n" + kSha1 + "  a.zip\r\n", "/d/SUMS", "sha1:" + kSha1},
      {"by its path from the list", kMd5 + "  d/a.zip\n", "/SUMS", "md5:" + kMd5},
      {"by its path from the list, with ./", kMd5 + "  ./d/a.zip\n", "/SUMS", "md5:" + kMd5},
      {"by its whole path", kMd5 + "  /d/a.zip\n", "/x/SUMS", "md5:" + kMd5},
      {"of several the first", kMd5 + "  a.zip\n" + kSha1 + "  a.zip\n", "/d/SUMS", "md5:" + kMd5},
      {"a checksum alone", kSha512 + "\n", "/d/SUMS", "sha512:" + kSha512},
      {"a checksum and more than a name", kSha512 + " a b\n", "/d/SUMS", "sha512:" + kSha512},
      {"among lines that are none", "\n# sums\nabc  a.zip\nMD5 a.zip = " + kMd5 + "\n" + kSha1 + "  a.zip\n", "/d/SUMS",
       "sha1:" + kSha1},
      {"another archive alone", kMd5 + "  b.zip\n", "/d/SUMS", ""},
      {"a name that ends as it does", kMd5 + "  x-a.zip\n", "/d/SUMS", ""},
      {"an unknown type", "CRC (a.zip) = " + kMd5 + "\n", "/d/SUMS", ""},
      {"types that go-getter does not know are passed over",
       "SHA384 (a.zip) = " + kSha384 + "\n" + kSha384 + "  a.zip\n" + kSha1 + "  a.zip\n", "/d/SUMS", "sha1:" + kSha1},
      {"nothing", "", "/d/SUMS", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto found = find_checksum(row.list, "/d/a.zip", row.list_path);
      BOOST_TEST((found ? found->text() : "") == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
