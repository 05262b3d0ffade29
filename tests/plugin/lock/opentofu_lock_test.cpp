#include "plugin/lock/opentofu_lock.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(opentofu_lock)

namespace {

constexpr const char* kCommit = "90ef90a311c547dd05054a81d2de592885ba9996";

std::string read(const std::string& text) {
  const auto lock = parse_opentofu_lock(text, ".opentofu.lock.hcl");
  if (!lock) {
    return fmt::format("{}: {}", to_string(lock.error().code), lock.error().message);
  }
  std::string shown;
  for (const auto& [key, module] : lock->modules) {
    shown += fmt::format(
        "{}: {}{}{}{}{}\n", key, module.source, module.commit.empty() ? "" : " commit " + module.commit,
        module.digest.empty() ? "" : " digest " + module.digest,
        module.version ? " version " + module.version->to_string() : "", module.h1.empty() ? "" : " " + module.h1);
  }
  for (const auto& [address, provider] : lock->providers) {
    shown += fmt::format("{} {}\n", address.to_string(), provider.version.to_string());
  }
  return shown;
}

std::string block(const std::string& key, const std::string& body) {
  return fmt::format("module \"{}\" {{\n{}}}\n", key, body);
}

std::string locked(const std::string& key, const std::string& source, const std::string& package) {
  return block(key, fmt::format("  source  = \"{}\"\n  package = \"{}\"\n  hashes = [\"h1:x=\"]\n", source, package));
}

struct Row {
  const char* name;
  std::string text;
  std::string shown;
};

const std::string kVpc = "registry.opentofu.org/terraform-aws-modules/vpc/aws";
const std::string kProvider =
    "provider \"registry.opentofu.org/hashicorp/null\" {\n  version = \"3.2.1\"\n  hashes = [\"h1:x=\"]\n}\n";

const std::vector<Row> kRows = {
    {"git",
     locked("a.inner", "git::https://example.test/inner.git//modules/x?ref=v1",
            fmt::format("git::https://example.test/inner.git?ref={}", kCommit)),
     fmt::format("a.inner: git::https://example.test/inner.git//modules/x?ref=v1 commit {}\n", kCommit)},
    {"delegated_by_a_registry",
     locked("a", kVpc, fmt::format("git::https://github.com/terraform-aws-modules/terraform-aws-vpc?ref={}", kCommit)),
     fmt::format("a: registry.opentofu.org/modules/terraform-aws-modules/vpc/aws commit {}\n", kCommit)},
    {"hosted_by_a_registry", locked("a", "reg.example.test/ns/vpc/aws", "registry::reg.example.test/ns/vpc/aws@3.19.0"),
     "a: reg.example.test/modules/ns/vpc/aws version 3.19.0 h1:x=\n"},
    {"oci",
     locked("a", "oci://example.test/vpc?tag=1.0.0", "oci://example.test/vpc?digest=sha256:" + std::string(64, 'a')),
     "a: oci://example.test/vpc?tag=1.0.0 digest sha256:" + std::string(64, 'a') + "\n"},
    {"floating", block("a", "  source   = \"https://example.test/package.tar.gz//subdir\"\n  floating = true\n"), ""},
    {"reference_that_can_move",
     locked("a", "git::https://example.test/a.git", "git::https://example.test/a.git?ref=v1"), ""},
    {"unknown_arguments_are_ignored",
     block("a", fmt::format("  source = \"git::https://example.test/a.git\"\n  new = [true]\n"
                            "  package = \"git::https://example.test/a.git?ref={}\"\n",
                            kCommit)),
     fmt::format("a: git::https://example.test/a.git commit {}\n", kCommit)},
    {"form_of_the_other_draft", block(kVpc, "  version = \"3.19.0\"\n  hashes = [\"h1:x=\"]\n"), ""},
    {"providers",
     kProvider +
         locked("a", "git::https://example.test/a.git", fmt::format("git::https://example.test/a.git?ref={}", kCommit)),
     fmt::format("a: git::https://example.test/a.git commit {}\nregistry.opentofu.org/hashicorp/null 3.2.1\n",
                 kCommit)},
    {"syntax_error_in_a_module", "module \"a\" {\n  source = \n}\n", "LOCK_PARSE: "},
    {"invalid_provider", "provider \"null\" {\n}\n",
     "LOCK_PARSE: the label of provider \"null\" must be written as \"registry.opentofu.org/hashicorp/null\""},
};

}  // namespace

BOOST_AUTO_TEST_CASE(module_blocks_of_the_draft) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string shown = read(row.text);
      BOOST_TEST((row.shown == "LOCK_PARSE: " ? shown.substr(0, row.shown.size()) : shown) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(locations_of_provider_blocks_are_kept) {
  const auto lock = parse_opentofu_lock(
      block("a", "  source = \"./ä\"\n") + "provider \"registry.opentofu.org/hashicorp/null\" {\n}\n", "x");
  BOOST_REQUIRE(!lock);
  BOOST_TEST(lock.error().location->range->start.line == 4U);
}

BOOST_AUTO_TEST_SUITE_END()
