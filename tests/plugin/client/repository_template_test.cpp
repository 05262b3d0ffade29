#include "plugin/client/repository_template.h"

#include <boost/test/unit_test.hpp>

#include "backends/address/source.h"

using namespace modlock;

namespace {

std::vector<ProviderPattern> patterns(const std::vector<const char*>& texts) {
  std::vector<ProviderPattern> all;
  for (const char* text : texts) {
    all.push_back(ProviderPattern::parse(text, kOpenTofuRegistry).value());
  }
  return all;
}

struct Row {
  const char* name;
  const char* text;
  std::vector<const char*> include;
  const char* expected;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(repository_template)

BOOST_AUTO_TEST_CASE(names_a_repository) {
  const Row rows[] = {
      {"all parts", "a.io/${hostname}/${namespace}/${type}", {}, "a.io/registry.opentofu.org/acme/null"},
      {"a host by include", "a.io:5000/m/${namespace}-${type}", {"acme/*", "hashicorp/*"}, "a.io:5000/m/acme-null"},
      {"a namespace by include", "a.io/${type}", {"acme/*"}, "a.io/null"},
      {"all by include", "a.io/fixed", {"acme/null"}, "a.io/fixed"},
      {"one expression", "${\"a.io/${hostname}/${namespace}/${type}\"}", {}, "a.io/registry.opentofu.org/acme/null"},
      {"a conditional",
       "a.io/%{ if hostname == \"example.com\" }x%{ else }${hostname}%{ endif }/${namespace}/${type}",
       {},
       "a.io/registry.opentofu.org/acme/null"},
      {"a failure for this one",
       "a.io/${{\"example.com\": \"ok\"}[hostname]}/${namespace}/${type}",
       {},
       "CONFIG_PARSE"},
  };
  const auto provider = ProviderAddress::parse("acme/null", kOpenTofuRegistry).value();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto repository = read_repository_template(row.text, patterns(row.include));
      BOOST_REQUIRE_MESSAGE(repository.has_value(), (repository ? "" : repository.error().message));
      const auto named = (*repository)(provider);
      BOOST_TEST((named ? *named : std::string(to_string(named.error().code))) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(says_what_is_wrong) {
  const char* const kParts = " symbol unless the \"include\" argument selects exactly one ";
  const std::string host = std::string("template must refer to the \"hostname\"") + kParts + "registry hostname";
  const std::string name = std::string("template must refer to the \"namespace\"") + kParts + "provider namespace";
  const std::string type = std::string("template must refer to the \"type\"") + kParts + "provider";
  const std::string address =
      "template must generate a valid OCI repository address, including a registry hostname followed by a slash and "
      "then a repository name";
  const Row rows[] = {
      {"no host", "a.io/${namespace}/${type}", {}, host.c_str()},
      {"two hosts", "a.io/${namespace}/${type}", {"acme/*", "example.com/*/*"}, host.c_str()},
      {"no namespace", "a.io/${hostname}/${type}", {"example.com/*/*"}, name.c_str()},
      {"no type", "a.io/${hostname}/${namespace}", {"acme/*"}, type.c_str()},
      {"another name",
       "a.io/${hostname}/${namespace}/${type}/${version}",
       {},
       "the symbol \"version\" is not available for an OCI mirror repository address template. Only \"hostname\", "
       "\"namespace\", and \"type\" are available"},
      {"a tag", "a.io/${hostname}/${namespace}/${type}:latest", {}, address.c_str()},
      {"a scheme", "https://a.io/${hostname}/${namespace}/${type}", {}, address.c_str()},
      {"capitals", "a.io/A/${hostname}/${namespace}/${type}", {}, address.c_str()},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto repository = read_repository_template(row.text, patterns(row.include));
      BOOST_REQUIRE(!repository);
      BOOST_TEST((repository.error().code == Code::config_parse));
      BOOST_TEST(repository.error().message == row.expected);
    }
  }
  for (const char* text : {"a.io/${lower(hostname)}/${namespace}/${type}", "a.io/${hostname[1]}/${namespace}/${type}",
                           "a.io/${hostname + 1}/${namespace}/${type}", "a.io/${hostname"}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST((read_repository_template(text, {}).error().code == Code::config_parse));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
