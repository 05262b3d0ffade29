#include "backends/base/digest.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

using namespace modlock;
namespace fs = std::filesystem;

namespace {

std::string digest_of_pieces(std::string_view bytes, std::size_t piece) {
  Sha256 sha;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    sha.update(bytes.substr(at, piece));
  }
  return hex(sha.finish());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(digest)

BOOST_AUTO_TEST_CASE(sha256_of_known_texts) {
  struct Row {
    const char* name;
    std::string bytes;
    const char* expected;
  };
  const Row rows[] = {
      {"empty", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"two blocks", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"a million", std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(sha256_hex(row.bytes) == row.expected);
      BOOST_TEST(digest_of_pieces(row.bytes, 7) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(starts_again_after_finish_and_can_be_moved) {
  Sha256 first;
  first.update("left over");
  (void)first.finish();
  Sha256 second = std::move(first);
  second.update("abc");
  const auto digest = second.finish();
  BOOST_TEST(hex(std::span(digest).first(4)) == "ba7816bf");
}

BOOST_AUTO_TEST_CASE(sha256_of_a_file_and_of_none) {
  const fs::path directory = fs::temp_directory_path() / ("modlock-digest-" + random_hex(8));
  fs::create_directory(directory);
  const std::string bytes(300000, 'x');
  std::ofstream(directory / "file", std::ios::binary) << bytes;
  const auto digest = sha256_file(directory / "file");
  BOOST_REQUIRE(digest.has_value());
  BOOST_TEST(hex(*digest) == sha256_hex(bytes));

  const auto none = sha256_file(directory / "none");
  BOOST_REQUIRE(!none.has_value());
  BOOST_TEST(to_string(none.error().code) == "IO_ERROR");
  BOOST_TEST(none.error().message ==
             "cannot read \"" + (directory / "none").string() + "\": No such file or directory");
  const auto is_directory = sha256_file(directory);
  BOOST_REQUIRE(!is_directory.has_value());
  BOOST_TEST(is_directory.error().message == "cannot read \"" + directory.string() + "\": Is a directory");
  fs::remove_all(directory);
}

BOOST_AUTO_TEST_CASE(base64_of_known_texts) {
  struct Row {
    const char* bytes;
    const char* expected;
  };
  const Row rows[] = {{"", ""},        {"f", "Zg=="},          {"fo", "Zm8="},
                      {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xbf", "+/+/"}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.expected) {
      const std::string_view bytes = row.bytes;
      BOOST_TEST(base64(bytes) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(reads_base64) {
  struct Row {
    const char* text;
    std::optional<std::string> expected;
  };
  const Row rows[] = {
      {"", ""},         {"\r\n", ""},
      {"Zg==", "f"},    {"Zm8=", "fo"},
      {"Zm9v", "foo"},  {"Zm9v\nYmFy\r\n", "foobar"},
      {"Zg=\n=", "f"},  {"+/+/", "\xfb\xff\xbf"},
      {"Zh==", "f"},  // spare bits
      {"=", {}},        {"====", {}},
      {"Z===", {}},     {"Zg", {}},
      {"Zg=", {}},      {"Zm9vZ", {}},
      {"Zg==Zg==", {}}, {"Z=g=", {}},
      {"Zm9v====", {}}, {"Zm9-", {}},
      {"Zm9v ", {}},    {" Zm9v", {}},
      {"Zm\tv", {}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST((decode_base64(row.text) == row.expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(random_names_differ) {
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) {
    const std::string name = random_hex(8);
    BOOST_TEST(name.size() == 16U);
    BOOST_TEST(name.find_first_not_of("0123456789abcdef") == std::string::npos);
    names.insert(name);
  }
  BOOST_TEST(names.size() == 100U);
}

BOOST_AUTO_TEST_SUITE_END()
