#include "backends/address/provider_address.h"

#include <boost/test/unit_test.hpp>

#include "backends/address/source.h"

using namespace modlock;

namespace {

ProviderAddress provider(std::string_view text) {
  return ProviderAddress::parse(text, kOpenTofuRegistry).value();
}

std::vector<ProviderPattern> patterns(const std::vector<const char*>& texts) {
  std::vector<ProviderPattern> all;
  for (const char* text : texts) {
    all.push_back(ProviderPattern::parse(text, kOpenTofuRegistry).value());
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_installation)

BOOST_AUTO_TEST_CASE(patterns_are_normalised) {
  struct Row {
    const char* text;
    const char* expected;
  };
  const Row rows[] = {
      {"hashicorp/aws", "registry.opentofu.org/hashicorp/aws"},
      {"HashiCorp/AWS", "registry.opentofu.org/hashicorp/aws"},
      {"Example.COM:0443/a/b", "example.com/a/b"},
      {"example.com:8443/a/*", "example.com:8443/a/*"},
      {"example.com/*/*", "example.com/*/*"},
      {"*/*", "registry.opentofu.org/*/*"},
      {"*/*/*", "*/*/*"},
      {"b\u00fccher.example/a/b", "xn--bcher-kva.example/a/b"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto pattern = ProviderPattern::parse(row.text, kOpenTofuRegistry);
      BOOST_REQUIRE(pattern.has_value());
      BOOST_TEST(pattern->host() + "/" + pattern->name_space() + "/" + pattern->type() == row.expected);
    }
  }
  BOOST_TEST(ProviderPattern::parse("a/b", kTerraformRegistry)->host() == kTerraformRegistry);
}

BOOST_AUTO_TEST_CASE(patterns_that_are_none) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"aws", "must have either two or three slash-separated segments"},
      {"a/b/c/d", "must have either two or three slash-separated segments"},
      {"exa mple.com/a/b", "\"exa mple.com\" is not a host name with an optional port"},
      {"xn--bcher-kva.example/a/b", "\"xn--bcher-kva.example\" is not a host name with an optional port"},
      {"a_b/c", "\"a_b\" is neither the wildcard * nor a name"},
      {"a/", "\"\" is neither the wildcard * nor a name"},
      {"a/b*", "\"b*\" is neither the wildcard * nor a name"},
      {"*/a/*", "hostname can be a wildcard only if both namespace and provider type are also wildcards"},
      {"*/a", "namespace can be a wildcard only if the provider type is also a wildcard"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto pattern = ProviderPattern::parse(row.text, kOpenTofuRegistry);
      BOOST_REQUIRE(!pattern);
      BOOST_TEST((pattern.error().code == Code::source_invalid));
      BOOST_TEST(pattern.error().message ==
                 "invalid provider matching pattern \"" + std::string(row.text) + "\": " + row.message);
    }
  }
}

BOOST_AUTO_TEST_CASE(exclude_beats_include) {
  struct Row {
    const char* name;
    std::vector<const char*> include;
    std::vector<const char*> exclude;
    const char* provider;
    bool serves;
  };
  const Row rows[] = {
      {"no patterns", {}, {}, "example.com/a/b", true},
      {"included by name", {"hashicorp/aws"}, {}, "hashicorp/aws", true},
      {"another type", {"hashicorp/aws"}, {}, "hashicorp/null", false},
      {"another namespace", {"hashicorp/*"}, {}, "acme/null", false},
      {"another host", {"hashicorp/*"}, {}, "example.com/hashicorp/null", false},
      {"a host", {"example.com/*/*"}, {}, "example.com/a/b", true},
      {"the host with another port", {"example.com/*/*"}, {}, "example.com:8443/a/b", false},
      {"everything", {"*/*/*"}, {}, "example.com:8443/a/b", true},
      {"the second pattern", {"hashicorp/aws", "acme/*"}, {}, "acme/null", true},
      {"excluded", {}, {"example.com/*/*"}, "example.com/a/b", false},
      {"not excluded", {}, {"example.com/*/*"}, "hashicorp/aws", true},
      {"both", {"hashicorp/*"}, {"hashicorp/aws"}, "hashicorp/aws", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ProviderInstallation::Method method;
      method.include = patterns(row.include);
      method.exclude = patterns(row.exclude);
      BOOST_TEST(method.serves(provider(row.provider)) == row.serves);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
