#include "backends/address/provider_address.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace modlock;

namespace {

ProviderAddress address(const std::string& text) {
  return ProviderAddress::parse(text, kOpenTofuRegistry).value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_address_test)

BOOST_AUTO_TEST_CASE(reads_addresses_as_opentofu_does) {
  struct Row {
    const char* name;
    const char* text;
    const char* printed;
    const char* host_ascii;
    const char* shown;
  };
  const Row rows[] = {
      {"one part", "aws", "registry.opentofu.org/hashicorp/aws", "registry.opentofu.org", "hashicorp/aws"},
      {"two parts", "integrations/github", "registry.opentofu.org/integrations/github", "registry.opentofu.org",
       "integrations/github"},
      {"three parts", "example.com/a/b", "example.com/a/b", "example.com", "example.com/a/b"},
      {"default host written out", "registry.opentofu.org/a/b", "registry.opentofu.org/a/b", "registry.opentofu.org",
       "a/b"},
      {"upper case", "Example.COM/HashiCorp/AWS", "example.com/hashicorp/aws", "example.com",
       "example.com/hashicorp/aws"},
      {"dashes inside", "a-b/google-beta", "registry.opentofu.org/a-b/google-beta", "registry.opentofu.org",
       "a-b/google-beta"},
      {"digits", "0/1password", "registry.opentofu.org/0/1password", "registry.opentofu.org", "0/1password"},
      {"host without dot", "localhost/a/b", "localhost/a/b", "localhost", "localhost/a/b"},
      {"host that modules reserve", "github.com/a/b", "github.com/a/b", "github.com", "github.com/a/b"},
      {"port", "example.com:08443/a/b", "example.com:8443/a/b", "example.com:8443", "example.com:8443/a/b"},
      {"https port", "example.com:443/a/b", "example.com/a/b", "example.com", "example.com/a/b"},
      {"unicode host", "BÜCHER.example:80/a/b", "bücher.example:80/a/b", "xn--bcher-kva.example:80",
       "bücher.example:80/a/b"},
      {"unicode parts", "Faß/BÜCHER", "registry.opentofu.org/faß/bücher", "registry.opentofu.org", "faß/bücher"},
      {"underscores in the namespace", "A_0__-b/c", "registry.opentofu.org/a_0__-b/c", "registry.opentofu.org",
       "a_0__-b/c"},
      {"compatibility characters", "ａ/ﬀ", "registry.opentofu.org/a/ff", "registry.opentofu.org", "a/ff"},
      {"legacy", "-/aws", "registry.opentofu.org/-/aws", "registry.opentofu.org", "-/aws"},
      {"prefix in the namespace", "terraform-x/aws", "registry.opentofu.org/terraform-x/aws", "registry.opentofu.org",
       "terraform-x/aws"},
      {"no prefix without dash", "a/terraform", "registry.opentofu.org/a/terraform", "registry.opentofu.org",
       "a/terraform"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = ProviderAddress::parse(row.text, kOpenTofuRegistry);
      BOOST_REQUIRE_MESSAGE(parsed.has_value(), (parsed ? "" : parsed.error().message));
      BOOST_TEST(parsed->to_string() == row.printed);
      BOOST_TEST(parsed->host_ascii() == row.host_ascii);
      BOOST_TEST(parsed->for_display(kOpenTofuRegistry) == row.shown);
      BOOST_TEST((address(parsed->to_string()) == *parsed));
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_opentofu_refuses) {
  struct Row {
    const char* name;
    const char* text;
    const char* message;
  };
  const Row rows[] = {
      {"nothing", "", "invalid provider source string \"\": it must be in the format \"[hostname/][namespace/]name\""},
      {"four parts", "a/b/c/d",
       "invalid provider source string \"a/b/c/d\": it must be in the format \"[hostname/][namespace/]name\""},
      {"empty part", "a//b",
       "invalid provider source string \"a//b\": it must be in the format \"[hostname/][namespace/]name\""},
      {"slash at the end", "a/b/",
       "invalid provider source string \"a/b/\": it must be in the format \"[hostname/][namespace/]name\""},
      {"dot in the type", "a/b.c", "invalid provider type \"b.c\" in source \"a/b.c\": dots are not allowed"},
      {"two dashes in the type", "a/b--c",
       "invalid provider type \"b--c\" in source \"a/b--c\": cannot use multiple consecutive dashes"},
      {"punycode", "a/xn--bcher-kva",
       "invalid provider type \"xn--bcher-kva\" in source \"a/xn--bcher-kva\": cannot use multiple consecutive dashes"},
      {"underscore", "a/b_c",
       "invalid provider type \"b_c\" in source \"a/b_c\": must contain only letters, digits, and dashes, and may not "
       "use leading or trailing dashes"},
      {"underscore at the end of the namespace", "a_/b",
       "invalid provider namespace \"a_\" in source \"a_/b\": must contain only letters, digits, and dashes, and may "
       "not use leading or trailing dashes"},
      {"underscore before what maps to nothing", "a_\xC2\xAD/b",
       "invalid provider namespace \"a_\xC2\xAD\" in source \"a_\xC2\xAD/b\": must contain only letters, digits, and "
       "dashes, and may not use leading or trailing dashes"},
      {"dash at the end", "b-",
       "invalid provider type \"b-\" in source \"b-\": must contain only letters, digits, and dashes, and may not use "
       "leading or trailing dashes"},
      {"what maps to a slash", "a／b/c",
       "invalid provider namespace \"a／b\" in source \"a／b/c\": must contain only letters, digits, and dashes, and "
       "may not use leading or trailing dashes"},
      {"what maps to a dot", "a。b/c",
       "invalid provider namespace \"a。b\" in source \"a。b/c\": dots are not allowed"},
      {"what maps to nothing", "a/\xC2\xAD",
       "invalid provider type \"\xC2\xAD\" in source \"a/\xC2\xAD\": must have at least one character"},
      {"space in the namespace", "a b/c",
       "invalid provider namespace \"a b\" in source \"a b/c\": must contain only letters, digits, and dashes, and may "
       "not use leading or trailing dashes"},
      {"punycode host", "xn--bcher-kva.example/a/b",
       "invalid provider source hostname \"xn--bcher-kva.example\" in source \"xn--bcher-kva.example/a/b\": it is not "
       "a host name with an optional port"},
      {"high port", "example.com:65536/a/b",
       "invalid provider source hostname \"example.com:65536\" in source \"example.com:65536/a/b\": it is not a host "
       "name with an optional port"},
      {"empty label", "a..b/c/d",
       "invalid provider source hostname \"a..b\" in source \"a..b/c/d\": it is not a host name with an optional port"},
      {"user-info is not shown", "me:secret@example.com/a/b",
       "invalid provider source hostname \"…@example.com\" in source \"…@example.com/a/b\": it is not a host name with "
       "an optional port"},
      {"line end", "a/b\nc",
       "invalid provider type \"b\\x0ac\" in source \"a/b\\x0ac\": must contain only letters, digits, and dashes, and "
       "may not use leading or trailing dashes"},
      {"legacy at another host", "example.com/-/aws",
       "invalid provider namespace in source \"example.com/-/aws\": the legacy provider namespace \"-\" can be used "
       "only with hostname registry.opentofu.org"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = ProviderAddress::parse(row.text, kOpenTofuRegistry);
      BOOST_REQUIRE(!parsed.has_value());
      BOOST_TEST((parsed.error().code == Code::source_invalid));
      BOOST_TEST(parsed.error().message == row.message);
      BOOST_TEST(parsed.error().hint == "write the source as \"hashicorp/aws\" or \"example.com/namespace/name\"");
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_types_that_repeat_what_they_are_for) {
  struct Row {
    const char* name;
    const char* text;
    const char* message;
    const char* hint;
  };
  constexpr const char* kRename = "if you are the author of this provider, rename it to not include the prefix";
  const Row rows[] = {
      {"name of a repository", "hashicorp/terraform-provider-aws",
       "invalid provider type: source \"hashicorp/terraform-provider-aws\" has a type with the redundant prefix "
       "\"terraform-\", which isn't allowed",
       "provider repositories have this prefix, provider sources do not: did you mean \"hashicorp/aws\"?"},
      {"at another host, in upper case", "example.com/a/OpenTofu-Provider-B",
       "invalid provider type: source \"example.com/a/opentofu-provider-b\" has a type with the redundant prefix "
       "\"opentofu-\", which isn't allowed",
       "provider repositories have this prefix, provider sources do not: did you mean \"example.com/a/b\"?"},
      {"nothing behind the longer prefix", "a/terraform-provider",
       "invalid provider type: source \"a/terraform-provider\" has a type with the redundant prefix \"terraform-\", "
       "which isn't allowed",
       kRename},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto parsed = ProviderAddress::parse(row.text, kOpenTofuRegistry);
      BOOST_REQUIRE(!parsed.has_value());
      BOOST_TEST((parsed.error().code == Code::source_invalid));
      BOOST_TEST(parsed.error().message == row.message);
      BOOST_TEST(parsed.error().hint == row.hint);
    }
  }
}

BOOST_AUTO_TEST_CASE(takes_any_type_that_stands_alone) {
  for (const std::string type : {"terraform-aws", "terraform-provider-aws", "opentofu-aws"}) {
    BOOST_TEST_CONTEXT(type) {
      const auto parsed = ProviderAddress::parse(type, kOpenTofuRegistry);
      BOOST_REQUIRE_MESSAGE(parsed.has_value(), (parsed ? "" : parsed.error().message));
      BOOST_TEST(parsed->to_string() == "registry.opentofu.org/hashicorp/" + type);
      BOOST_TEST(!ProviderAddress::parse(parsed->to_string(), kOpenTofuRegistry).has_value());
    }
  }
}

BOOST_AUTO_TEST_CASE(completes_with_the_registry_of_the_tool) {
  const auto terraform = [](const char* text) { return ProviderAddress::parse(text, kTerraformRegistry); };
  BOOST_TEST(terraform("aws")->to_string() == "registry.terraform.io/hashicorp/aws");
  BOOST_TEST(terraform("registry.opentofu.org/a/b")->for_display(kTerraformRegistry) == "registry.opentofu.org/a/b");
  BOOST_TEST(terraform("-/aws")->is_legacy());
  BOOST_TEST(!terraform("registry.opentofu.org/-/aws").has_value());
  BOOST_TEST(terraform("a/opentofu-b").has_value());
  BOOST_TEST(!terraform("a/terraform-b").has_value());
}

BOOST_AUTO_TEST_CASE(knows_what_a_local_name_stands_for) {
  BOOST_TEST(ProviderAddress::implied("aws", kOpenTofuRegistry)->to_string() == "registry.opentofu.org/hashicorp/aws");
  BOOST_TEST(ProviderAddress::implied("AWS", kTerraformRegistry)->to_string() == "registry.terraform.io/hashicorp/aws");
  BOOST_TEST(ProviderAddress::implied("terraform", kOpenTofuRegistry)->to_string() == "terraform.io/builtin/terraform");
  BOOST_TEST(!ProviderAddress::implied("my_provider", kOpenTofuRegistry).has_value());
}

BOOST_AUTO_TEST_CASE(knows_providers_that_are_not_installed) {
  for (const std::string_view host : {kOpenTofuRegistry, kTerraformRegistry}) {
    BOOST_TEST(address("terraform.io/builtin/terraform").is_builtin(host));
    BOOST_TEST(address("opentofu.org/builtin/x").is_builtin(host) == (host == kOpenTofuRegistry));
    BOOST_TEST(!address("terraform.io/hashicorp/terraform").is_builtin(host));
    BOOST_TEST(!address("builtin/terraform").is_builtin(host));
  }
  BOOST_TEST(address("-/aws").is_legacy());
  BOOST_TEST(!address("aws").is_legacy());
}

BOOST_AUTO_TEST_CASE(sorts_as_the_lock_file_does) {
  const char* sorted[] = {
      "a.example/z/z",   "a.example:80/a/a",          "example.com/a/z",    "example.com/a-b/a",
      "example.com/é/a", "registry.opentofu.org/a/b", "bücher.example/a/a",  // its ASCII form starts with "xn--"
  };
  std::vector<ProviderAddress> addresses;
  std::transform(std::begin(sorted), std::end(sorted), std::back_inserter(addresses), address);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    for (std::size_t j = 0; j < addresses.size(); ++j) {
      BOOST_TEST_CONTEXT(sorted[i] << " and " << sorted[j]) {
        BOOST_TEST(((addresses[i] <=> addresses[j]) == (i <=> j)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(normalizes_parts) {
  BOOST_TEST(normalize_provider_part("Google-Beta").value() == "google-beta");
  BOOST_TEST(normalize_provider_part("").error().message == "must have at least one character");
  BOOST_TEST(normalize_provider_part("a.b").error().message == "dots are not allowed");
}

BOOST_AUTO_TEST_CASE(reads_back_what_it_prints) {
  constexpr unsigned kSeed = 20;
  std::mt19937 random(kSeed);
  const char* pieces[] = {"a",  "B",        "0", "-", "é", "ß",  "É", "日", "ａ", "ﬀ",  "İ", "terraform-",
                          "。", "\xC2\xAD", "_", ".", ":", "80", "/", "א",  "ς",  "－", "xn"};
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t i = 1 + random() % 8; i > 0; --i) {
      text += pieces[random() % std::size(pieces)];
    }
    const auto parsed = ProviderAddress::parse(text, kOpenTofuRegistry);
    const bool may_repeat = text.find('/') == std::string::npos && parsed && parsed->type().starts_with("terraform-");
    if (!parsed || may_repeat) {
      continue;
    }
    ++accepted;
    BOOST_TEST_CONTEXT("seed " << kSeed << ", \"" << text << "\"") {
      const auto again = ProviderAddress::parse(parsed->to_string(), kOpenTofuRegistry);
      BOOST_REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().message));
      BOOST_TEST((*again == *parsed));
      BOOST_TEST(again->to_string() == parsed->to_string());
      BOOST_TEST(normalize_provider_part(parsed->type()).value() == parsed->type());
    }
  }
  BOOST_TEST(accepted > 1000);
}

BOOST_AUTO_TEST_SUITE_END()
