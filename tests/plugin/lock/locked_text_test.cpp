#include "plugin/lock/locked_text.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(locked_texts)

const std::string kCommit = "git:8f2c01ab34cd56ef8f2c01ab34cd56ef8f2c01ab";
const std::string kDigest = "oci:sha256:5a7d62e67a5b5a7d62e67a5b5a7d62e67a5b5a7d62e67a5b5a7d62e67a5b5a7d";
const std::string kGit = "git::https://example.com/vpc.git";

BOOST_AUTO_TEST_CASE(text_of_each_kind_of_entry) {
  struct Row {
    const char* name;
    std::optional<std::string> version;
    std::string source;
    std::vector<std::string> hashes;
    const char* text;
  };
  const Row rows[] = {
      {"version", "1.2.0", kGit, {kCommit}, "1.2.0"},
      {"tag", {}, kGit + "?ref=v1.2.0", {kCommit, "h1:x"}, "v1.2.0 (8f2c01ab34cd)"},
      {"branch", {}, kGit + "?ref=main", {kCommit}, "main (8f2c01ab34cd)"},
      {"default branch", {}, kGit, {kCommit}, "commit 8f2c01ab34cd"},
      {"commit in the source", {}, kGit + "?ref=" + kCommit.substr(4), {kCommit}, "commit 8f2c01ab34cd"},
      {"OCI tag", {}, "oci://example.com/vpc?tag=1.2.0", {kDigest}, "1.2.0 (5a7d62e67a5b)"},
      {"OCI digest", {}, "oci://example.com/vpc?digest=" + kDigest.substr(4), {kDigest}, "manifest 5a7d62e67a5b"},
      {"archive", {}, "https://example.com/vpc.zip", {"zh:0123456789abcdef"}, "archive 0123456789ab"},
      {"another scheme", {}, "hg::https://example.com/vpc?rev=7", {"hg:0123456789abcdef"}, "7 (0123456789ab)"},
      {"reference without an id", {}, kGit + "?ref=v1.2.0", {"h1:x"}, "v1.2.0"},
      {"nothing", {}, "https://example.com/vpc.zip", {"h1:x"}, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(locked_text({.key = "vpc", .version = row.version, .source = row.source, .hashes = row.hashes}) ==
                 row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(argument_of_the_source_that_pins) {
  BOOST_TEST(pin_text(kGit, "v1.2.0") == "?ref=v1.2.0");
  BOOST_TEST(pin_text("oci://example.com/vpc", "1.2.0") == "?tag=1.2.0");
}

BOOST_AUTO_TEST_CASE(prefix_of_a_tag_that_names_a_version) {
  BOOST_TEST(tag_prefix_of("v1.2.0").value() == "");
  BOOST_TEST(tag_prefix_of("network/v1.2.0").value() == "network/");
  BOOST_TEST(!tag_prefix_of("main"));
  for (const char* four : {"1.0.0.1", "v1.0.0.9", "net/1.0.0.1", "net-v1.0.0.1", "2026.4.15.0", "2026.04.15.0"}) {
    BOOST_TEST(!tag_prefix_of(four), four);
  }
  for (const auto& [tag, prefix] : {std::pair("net.1.0.0", "net."), std::pair("net2.1.0.0", "net2."),
                                    std::pair("k8s-1.0.0", "k8s-"), std::pair("vv1.0.0", "v")}) {
    BOOST_TEST(tag_prefix_of(tag).value() == prefix, tag);
  }
  BOOST_TEST(!tag_prefix_of(""));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
