#include <boost/test/unit_test.hpp>
#include <random>

#include "plugin/lock/lock_file.h"
#include "tests/plugin/lock/samples.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(provider_lock)

namespace {

ProviderAddress address(std::string_view text) {
  return *ProviderAddress::parse(text, kOpenTofuRegistry);
}

ProviderVersion version(std::string_view text) {
  return *ProviderVersion::parse(text);
}

LockFile read(const std::string& text) {
  auto lock = parse_lock(text, ".terraform.lock.hcl");
  BOOST_TEST_REQUIRE(lock.has_value(), (lock ? "" : lock.error().message + "\n" + text));
  return *lock;
}

ProviderLocks random_providers(std::mt19937& random) {
  const std::string hosts[] = {"", "registry.terraform.io/", "example.com:8443/", "m\xC3\xBCnchen.example/"};
  const std::string constraints[] = {"",        "~> 1.2", ">= 1.0.0, < 2.0.0", "1.2.3-beta+foo.bar", "~> 2.0-beta",
                                     "!= 1.0.0"};
  const std::string versions[] = {"1.0.0", "0.1.0-rc1", "10.20.30+x.1", "1.2.3-beta+foo.bar"};
  ProviderLocks providers;
  for (std::size_t i = random() % 6; i > 0; --i) {
    ProviderLock lock{.version = version(versions[random() % std::size(versions)]),
                      .constraints = constraints[random() % std::size(constraints)]};
    for (std::size_t n = random() % 4; n > 0; --n) {
      lock.hashes.push_back((random() % 2 == 0 ? "h1:" : "zh:") + random_text(random));
    }
    std::sort(lock.hashes.begin(), lock.hashes.end());
    lock.hashes.erase(std::unique(lock.hashes.begin(), lock.hashes.end()), lock.hashes.end());
    const std::string space = random() % 2 == 0 ? "a/" : "a-b/";
    providers.insert_or_assign(address(hosts[random() % std::size(hosts)] + space + "t" + std::to_string(random() % 5)),
                               lock);
  }
  return providers;
}

}  // namespace

// The first error that OpenTofu finds in each block; its own table of such files has these cases and more.
BOOST_AUTO_TEST_CASE(what_opentofu_refuses) {
  const auto versioned = [](const std::string& text) { return "provider \"a/b/c\" {\n  version = " + text + "\n}\n"; };
  const auto constrained = [](const std::string& text) {
    return "provider \"a/b/c\" {\n  version = \"1.0.0\"\n  constraints = " + text + "\n}\n";
  };
  const auto labelled = [](const std::string& text) {
    return "provider \"" + text + "\" {\n  version = \"1.0.0\"\n}\n";
  };
  struct Row {
    const char* name;
    std::string text;
    std::string message;
    std::size_t line;
    std::size_t column;
  };
  const Row rows[] = {
      {"type alone", labelled("aws"),
       "the label of provider \"aws\" must be written as \"registry.opentofu.org/hashicorp/aws\"", 1, 10},
      {"no host", labelled("hashicorp/aws"),
       "the label of provider \"hashicorp/aws\" must be written as \"registry.opentofu.org/hashicorp/aws\"", 1, 10},
      {"host in capitals", labelled("Registry.opentofu.org/a/b"),
       "the label of provider \"Registry.opentofu.org/a/b\" must be written as \"registry.opentofu.org/a/b\"", 1, 10},
      {"namespace in capitals", labelled("h.example/A/b"),
       "the label of provider \"h.example/A/b\" must be written as \"h.example/a/b\"", 1, 10},
      {"type in capitals", labelled("h.example/a/B"),
       "the label of provider \"h.example/a/B\" must be written as \"h.example/a/b\"", 1, 10},
      {"port that goes without saying", labelled("h.example:443/a/b"),
       "the label of provider \"h.example:443/a/b\" must be written as \"h.example/a/b\"", 1, 10},
      {"punycode", labelled("xn--mnchen-3ya.example/a/b"),
       "the label of provider \"xn--mnchen-3ya.example/a/b\" must be an address \"hostname/namespace/type\"", 1, 10},
      {"too many parts", labelled("a/b/c/d"),
       "the label of provider \"a/b/c/d\" must be an address \"hostname/namespace/type\"", 1, 10},
      {"empty part", labelled("a//c"), "the label of provider \"a//c\" must be an address \"hostname/namespace/type\"",
       1, 10},
      {"redundant type", labelled("h.example/a/terraform-provider-b"),
       "the label of provider \"h.example/a/terraform-provider-b\" must be an address \"hostname/namespace/type\"", 1,
       10},
      {"legacy", labelled("registry.opentofu.org/-/null"),
       "provider \"registry.opentofu.org/-/null\" has the namespace of Terraform 0.12 and cannot be locked", 1, 10},
      {"built in", labelled("terraform.io/builtin/foo"),
       "provider \"terraform.io/builtin/foo\" is part of the client and has no version to lock", 1, 10},
      {"empty label", labelled(""),
       "the label of a provider block must be the provider's address, found an empty string", 1, 10},
      {"version empty", versioned("\"\""), "the version \"\" of provider \"a/b/c\" is not a version number", 2, 13},
      {"version with v", versioned("\"v1.0.0\""),
       "the version \"v1.0.0\" of provider \"a/b/c\" is not a version number", 2, 13},
      {"two numbers", versioned("\"1.0\""),
       "the version of provider \"a/b/c\" must be written as \"1.0.0\", found \"1.0\"", 2, 13},
      {"leading zero", versioned("\"1.02.0\""),
       "the version of provider \"a/b/c\" must be written as \"1.2.0\", found \"1.02.0\"", 2, 13},
      {"version null", versioned("null"), "the version of provider \"a/b/c\" must be a string, found null", 2, 13},
      {"version number", versioned("1"), "the version of provider \"a/b/c\" must be a string, found a number", 2, 13},
      {"constraints that are none", constrained("\"latest\""),
       "the constraints of provider \"a/b/c\" cannot be read: \"latest\" is not a version constraint: missing comma "
       "after \"\"",
       3, 17},
      {"constraints in disorder", constrained("\"< 2.0.0, >= 1.0.0\""),
       "the constraints of provider \"a/b/c\" must be written as \">= 1.0.0, < 2.0.0\", found \"< 2.0.0, >= 1.0.0\"", 3,
       17},
      {"constraints with an equals sign", constrained("\"= 1.0.0\""),
       "the constraints of provider \"a/b/c\" must be written as \"1.0.0\", found \"= 1.0.0\"", 3, 17},
      {"constraints with a trailing comma", constrained("\">= 1.0.0,\""),
       "the constraints of provider \"a/b/c\" must be written as \">= 1.0.0\", found \">= 1.0.0,\"", 3, 17},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto lock = parse_lock(row.text, "l");
      BOOST_TEST_REQUIRE(!lock.has_value());
      BOOST_TEST((lock.error().code == Code::lock_parse));
      BOOST_TEST(lock.error().message == row.message);
      BOOST_TEST_REQUIRE((lock.error().location && lock.error().location->range));
      BOOST_TEST(lock.error().location->range->start.line == row.line);
      BOOST_TEST(lock.error().location->range->start.column == row.column);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_client_decides_what_an_address_may_be) {
  const std::string text = "provider \"registry.terraform.io/-/aws\" {\n  version = \"1.0.0\"\n}\n";
  BOOST_TEST(parse_lock(text, "l").error().message ==
             "the label of provider \"registry.terraform.io/-/aws\" must be an address \"hostname/namespace/type\"");
  BOOST_TEST(parse_lock(text, "l", kTerraformRegistry).error().message ==
             "provider \"registry.terraform.io/-/aws\" has the namespace of Terraform 0.12 and cannot be locked");
  const std::string builtin = "provider \"opentofu.org/builtin/x\" {\n  version = \"1.0.0\"\n}\n";
  BOOST_TEST(!parse_lock(builtin, "l").has_value());
  BOOST_TEST(parse_lock(builtin, "l", kTerraformRegistry).has_value());
}

BOOST_AUTO_TEST_CASE(hashes_keep_their_order_until_they_are_written) {
  const LockFile lock =
      read("provider \"a/b/c\" {\n  version = \"1.0.0\"\n  hashes = [\"zh:b\", \"h2:x\", \"zh:b\", \"zh:a\"]\n}\n");
  const std::vector<std::string> hashes = {"zh:b", "h2:x", "zh:b", "zh:a"};
  BOOST_TEST(lock.providers.at(address("a/b/c")).hashes == hashes, boost::test_tools::per_element());
  BOOST_TEST(
      write_whole_lock({}, lock.providers, "") ==
      "\nprovider \"a/b/c\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h2:x\",\n    \"zh:a\",\n    \"zh:b\",\n"
      "  ]\n}\n");
}

BOOST_AUTO_TEST_CASE(a_whole_file) {
  const ProviderLocks one = {{address("hashicorp/aws"), {.version = version("5.0.0"), .constraints = "~> 5.0"}}};
  struct Row {
    const char* name;
    ModuleLocks modules;
    ProviderLocks providers;
    std::string text;
  };
  const Row rows[] = {
      {"nothing", {}, {}, ""},
      {"version alone",
       {},
       {{address("h.example/a/b"), {.version = version("1.0.0")}}},
       "\nprovider \"h.example/a/b\" {\n  version = \"1.0.0\"\n}\n"},
      {"constraints",
       {},
       one,
       "\nprovider \"registry.opentofu.org/hashicorp/aws\" {\n  version     = \"5.0.0\"\n  constraints = \"~> "
       "5.0\"\n}\n"},
      {"everything",
       {},
       {{address("h.example/a/b"),
         {.version = version("1.0.0-rc1+x"), .constraints = "1.0.0-rc1+x", .hashes = {"zh:1", "h1:2"}}}},
       "\nprovider \"h.example/a/b\" {\n  version     = \"1.0.0-rc1+x\"\n  constraints = \"1.0.0-rc1+x\"\n"
       "  hashes = [\n    \"h1:2\",\n    \"zh:1\",\n  ]\n}\n"},
      {"hashes without constraints",
       {},
       {{address("h.example/a/b"), {.version = version("1.0.0"), .hashes = {"h1:2"}}}},
       "\nprovider \"h.example/a/b\" {\n  version = \"1.0.0\"\n  hashes = [\n    \"h1:2\",\n  ]\n}\n"},
      {"a hash with something to escape",
       {},
       {{address("h.example/a/b"), {.version = version("1.0.0"), .hashes = {"x:${a}%{b}\"\\\n\xC3\xA9\xC2\xA0"}}}},
       "\nprovider \"h.example/a/b\" {\n  version = \"1.0.0\"\n  hashes = [\n"
       "    \"x:$${a}%%{b}\\\"\\\\\\n\xC3\xA9\\u00a0\",\n  ]\n}\n"},
      {"in the order of host, namespace, type, hosts in punycode",
       {},
       {{address("z.example/a/b"), {.version = version("1.0.0")}},
        {address("\xC3\xA4.example/a/b"), {.version = version("1.0.0")}},
        {address("a.example/a-b/c"), {.version = version("1.0.0")}},
        {address("a.example/a/c"), {.version = version("1.0.0")}}},
       "\nprovider \"a.example/a/c\" {\n  version = \"1.0.0\"\n}\n"
       "\nprovider \"a.example/a-b/c\" {\n  version = \"1.0.0\"\n}\n"
       "\nprovider \"\xC3\xA4.example/a/b\" {\n  version = \"1.0.0\"\n}\n"
       "\nprovider \"z.example/a/b\" {\n  version = \"1.0.0\"\n}\n"},
      {"modules come first", locks({nested_module()}), one,
       "\n" + kNestedBlock +
           "\nprovider \"registry.opentofu.org/hashicorp/aws\" {\n  version     = \"5.0.0\"\n  constraints = \"~> "
           "5.0\"\n}\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(write_whole_lock(row.modules, row.providers, kOpenTofuLockHeader) == kHeader + row.text);
    }
  }
  BOOST_TEST(write_whole_lock({}, {}, kTerraformLockHeader) ==
             "# This file is maintained automatically by \"terraform init\".\n"
             "# Manual edits may be lost in future updates.\n");
}

BOOST_AUTO_TEST_CASE(what_a_client_wrote_stays_as_it_is) {
  for (const std::string& text : {kHeader, kHeader + kProviders}) {
    const LockFile lock = read(text);
    BOOST_TEST(write_whole_lock({}, lock.providers, kOpenTofuLockHeader) == text);
  }
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_again) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const ModuleLocks modules = random_locks(random);
    const ProviderLocks providers = random_providers(random);
    const std::string text = write_whole_lock(modules, providers, kOpenTofuLockHeader);
    const LockFile lock = read(text);
    BOOST_TEST_REQUIRE((lock.modules == modules));
    BOOST_TEST_REQUIRE((lock.providers == providers), text);
    BOOST_TEST_REQUIRE(write_whole_lock(lock.modules, lock.providers, kOpenTofuLockHeader) == text);
    // Without the blocks of modules it is what a client writes.
    BOOST_TEST_REQUIRE(write_lock(lock, {}) == write_whole_lock({}, providers, kOpenTofuLockHeader));
  }
}

BOOST_AUTO_TEST_SUITE_END()
