#include "backends/registry/module_protocol.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

namespace modlock::registry {
namespace {

constexpr std::string_view kAsked = "https://registry.example.com/v1/modules/a/b/c/1.0.0/download";

std::string versions_of(std::string_view body) {
  const auto listing = parse_versions(body, {});
  if (!listing) {
    return std::string(to_string(listing.error().code)) + ": " + listing.error().message;
  }
  std::string text;
  for (const ListedVersion& version : listing->versions) {
    text += version.tag + "=" + version.ref + " ";
  }
  for (const SkippedTag& tag : listing->skipped) {
    text += "(" + tag.tag + ": " + tag.reason + ") ";
  }
  return text;
}

HttpResponse answer(int status, std::string body, const std::string& header = {}) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(body);
  if (!header.empty()) {
    response.headers.push_back({"x-terraform-get", header});
  }
  return response;
}

// "source <identity>", "direct <url> with|without token", or the error.
std::string location_of(const HttpResponse& response, ClientRules rules = ClientRules::opentofu_1_12) {
  const auto location = parse_location(response, kAsked, rules);
  if (!location) {
    return std::string(to_string(location.error().code)) + ": " + location.error().message;
  }
  if (const auto* address = std::get_if<SourceAddress>(&*location)) {
    return "source " + address->source.identity();
  }
  const auto& package = std::get<DirectPackage>(*location);
  return "direct " + package.url.reveal() + (package.use_registry_credentials ? " with" : " without") + " token";
}

BOOST_AUTO_TEST_SUITE(module_protocol_test)

BOOST_AUTO_TEST_CASE(versions_are_listed_newest_first) {
  struct Row {
    const char* name;
    const char* body;
    const char* expected;
  };
  const Row rows[] = {
      {"text after it", R"({"modules":[{"versions":[{"version":"1.0.0"}],"x":"}\""}]} {"more": 1} x)", "1.0.0=1.0.0 "},
      {"sorted", R"({"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.10.0"},{"version":"1.9.0"}]}]})",
       "1.10.0=1.10.0 1.9.0=1.9.0 1.0.0=1.0.0 "},
      {"spelled otherwise", R"({"modules":[{"versions":[{"version":"v1.0"},{"version":"2"}]}]})",
       "2=2.0.0 v1.0=1.0.0 "},
      {"prereleases", R"({"modules":[{"versions":[{"version":"1.0.0-rc1"},{"version":"1.0.0"}]}]})",
       "1.0.0=1.0.0 1.0.0-rc1=1.0.0-rc1 "},
      {"equal but for metadata: the order of the registry",
       R"({"modules":[{"versions":[{"version":"1.0.0+b"},{"version":"1.0.0"},{"version":"1.0.0+a"}]}]})",
       "1.0.0+b=1.0.0+b 1.0.0=1.0.0 1.0.0+a=1.0.0+a "},
      {"one version twice", R"({"modules":[{"versions":[{"version":"1.0.0"},{"version":"v1.0"}]}]})",
       "1.0.0=1.0.0 (v1.0: the same version as \"1.0.0\") "},
      {"no versions", R"({"modules":[{"versions":[{"version":"latest"},{"version":""},{},{"version":null}]}]})",
       "(latest: not a version) (: not a version) (: not a version) (: not a version) "},
      {"control characters", R"({"modules":[{"versions":[{"version":"1\u001b[31m"}]}]})",
       "(1\\x1b[31m: not a version) "},
      {"only the first module counts",
       R"({"modules":[{"versions":[{"version":"1.0.0"}]},{"versions":[{"version":"2.0.0"}]}]})", "1.0.0=1.0.0 "},
      {"other members", R"({"meta":{},"modules":[{"source":"x","versions":[{"version":"1.0.0","root":{}}]}]})",
       "1.0.0=1.0.0 "},
      {"names in another case", R"({"Modules":[{"Versions":[{"VERSION":"1.0.0"}]}]})", "1.0.0=1.0.0 "},
      {"no list", R"({"modules":[{}]})", ""},
      {"null", R"({"modules":[{"versions":null}]})", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(versions_of(row.body) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(dates_and_deprecation_of_a_version) {
  struct Row {
    const char* name;
    const char* members;
    std::optional<std::int64_t> published;  // seconds since 1970
    std::optional<std::string> deprecated;
  };
  const Row rows[] = {
      {"neither", R"("root":{})", std::nullopt, std::nullopt},
      {"nanoseconds", R"("discovered":"2026-09-18T20:01:35.204743996Z")", 1789761695, std::nullopt},
      {"an offset", R"("discovered":"2026-09-18T22:01:35+02:00")", 1789761695, std::nullopt},
      {"older than the dates of the registry", R"("discovered":"2026-04-21T00:00:00Z")", 0, std::nullopt},
      {"published_at", R"("published_at":"2026-09-18T20:01:35Z")", 1789761695, std::nullopt},
      {"published-at", R"("published-at":"2026-04-21T00:00:00Z")", 1776729600, std::nullopt},
      {"discovered is preferred", R"("published_at":"1970-01-01T00:00:01Z","discovered":"2026-09-18T20:01:35Z")",
       1789761695, std::nullopt},
      {"not a date", R"("discovered":"yesterday")", std::nullopt, std::nullopt},
      {"no zone", R"("discovered":"2026-09-18T20:01:35")", std::nullopt, std::nullopt},
      {"text after the zone", R"("discovered":"2026-09-18T20:01:35Z;")", std::nullopt, std::nullopt},
      {"a day that does not exist", R"("discovered":"2026-02-30T20:01:35Z")", std::nullopt, std::nullopt},
      {"before 1970", R"("discovered":"0001-01-01T00:00:00Z")", std::nullopt, std::nullopt},
      {"a number", R"("discovered":1789761695)", std::nullopt, std::nullopt},
      {"deprecated", R"("deprecation":{"reason":"use b","link":"https://example.com/b"})", std::nullopt,
       "use b, https://example.com/b"},
      {"deprecated without a reason", R"("deprecation":{})", std::nullopt, ""},
      {"a reason with control characters", R"("deprecation":{"reason":"a\u001b[31m"})", std::nullopt, "a\\x1b[31m"},
      {"not deprecated", R"("deprecation":null)", std::nullopt, std::nullopt},
      {"deprecation of another shape", R"("deprecation":"soon")", std::nullopt, std::nullopt},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto listing =
          parse_versions(fmt::format(R"({{"modules":[{{"versions":[{{"version":"1.0.0",{}}}]}}]}})", row.members), {});
      BOOST_TEST_REQUIRE(listing.has_value());
      const ListedVersion& version = listing->versions.at(0);
      BOOST_TEST((version.published.has_value() == row.published.has_value()));
      if (version.published && row.published) {
        BOOST_TEST(std::chrono::system_clock::to_time_t(*version.published) == *row.published);
      }
      BOOST_TEST((version.deprecated == row.deprecated));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_listing_of_another_shape_is_refused_by_path) {
  struct Row {
    const char* name;
    const char* body;
    const char* expected;
  };
  const Row rows[] = {
      {"a page", "<html>", "BAD_RESPONSE: the server sent an HTML page, not JSON"},
      {"truncated", R"({"modules":[{)",
       "BAD_RESPONSE: the text is not JSON: byte 13: expected a member name, found the end of the text"},
      {"a list", "[]", "BAD_RESPONSE: the response is a list, expected an object"},
      {"no modules", "{}", "BAD_RESPONSE: \"modules\" is null, expected a list"},
      {"modules", R"({"modules":{}})", "BAD_RESPONSE: \"modules\" is an object, expected a list"},
      {"empty", R"({"modules":[]})", "BAD_RESPONSE: \"modules\" is empty, expected the requested module"},
      {"module", R"({"modules":[null]})", "BAD_RESPONSE: \"modules[0]\" is null, expected an object"},
      {"versions", R"({"modules":[{"versions":"1.0.0"}]})",
       "BAD_RESPONSE: \"modules[0].versions\" is a string, expected a list"},
      {"a version", R"({"modules":[{"versions":[{"version":"1.0.0"},"1.1.0"]}]})",
       "BAD_RESPONSE: \"modules[0].versions[1]\" is a string, expected an object"},
      {"its text", R"({"modules":[{"versions":[{"version":1.5}]}]})",
       "BAD_RESPONSE: \"modules[0].versions[0].version\" is a number, expected a string"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(versions_of(row.body) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(three_hundred_thousand_versions_are_listed) {
  std::string body = R"({"modules":[{"versions":[{"version":"0.0.0","submodules":[]})";
  for (int i = 1; i < 300'000; ++i) {
    body += fmt::format(R"(,{{"version":"1.{}.{}","submodules":[]}})", i / 1000, i % 1000);
  }
  const auto listing = parse_versions(body + "]}]}", {});
  BOOST_REQUIRE(listing);
  BOOST_TEST(listing->versions.size() == 300'000U);
  BOOST_TEST(listing->versions.front().ref == "1.299.999");
  BOOST_TEST(listing->versions.back().ref == "0.0.0");
}

BOOST_AUTO_TEST_CASE(a_listing_of_too_many_values_is_refused) {
  std::string body = R"({"modules":[{"versions":[0)";
  for (int i = 0; i < 1'000'000; ++i) {
    body += ",0";
  }
  BOOST_TEST(versions_of(body + "]}]}") == "LIMIT_EXCEEDED: the JSON text has more than 1,000,000 values");
}

BOOST_AUTO_TEST_CASE(locations_of_module_sources) {
  struct Row {
    const char* name;
    HttpResponse response;
    const char* expected;
  };
  const Row rows[] = {
      {"header", answer(204, "", "git::https://example.com/m.git?ref=v1.0.0"),
       "source git::https://example.com/m.git?ref=v1.0.0"},
      {"body", answer(200, R"({"location":"https://example.com/m.zip"})"), "source https://example.com/m.zip"},
      {"body before header", answer(200, R"({"location":"https://example.com/m.zip"})", "https://example.com/h.zip"),
       "source https://example.com/m.zip"},
      {"a body of 204 says nothing", answer(204, R"({"location":"https://example.com/m.zip"})", "oci://example.com/m"),
       "source oci://example.com/m"},
      {"empty location", answer(200, R"({"location":""})", "https://example.com/h.zip"),
       "source https://example.com/h.zip"},
      {"null location", answer(200, R"({"location":null})", "https://example.com/h.zip"),
       "source https://example.com/h.zip"},
      {"no location", answer(200, "{}", "https://example.com/h.zip"), "source https://example.com/h.zip"},
      {"null", answer(200, "null", "https://example.com/h.zip"), "source https://example.com/h.zip"},
      {"a list", answer(200, "[]", "https://example.com/h.zip"),
       "BAD_RESPONSE: the response is a list, expected an object"},
      {"a name in another case", answer(200, R"({"Location":"https://example.com/m.zip"})"),
       "source https://example.com/m.zip"},
      {"root-relative", answer(204, "", "/p/m.zip"), "source https://registry.example.com/p/m.zip"},
      {"relative", answer(204, "", "./m.zip?archive=zip"),
       "source https://registry.example.com/v1/modules/a/b/c/1.0.0/m.zip?archive=zip"},
      {"parent", answer(204, "", "../../m.tar.gz"), "source https://registry.example.com/v1/modules/a/b/m.tar.gz"},
      {"another host", answer(204, "", "//cdn.example.com/m.zip"), "source https://cdn.example.com/m.zip"},
      {"subdirectory", answer(204, "", "/m.tar.gz//sub/dir"), "source https://registry.example.com/m.tar.gz//sub/dir"},
      {"glob", answer(204, "", "https://example.com/m.tar.gz//*?archive=tar.gz"),
       "source https://example.com/m.tar.gz//*?archive=tar.gz"},
      {"shorthand", answer(204, "", "github.com/o/r?ref=v1"), "source git::https://github.com/o/r.git?ref=v1"},
      {"not understood yet", answer(200, R"({"location":"https://example.com/m.zip","expires":1})"),
       "source https://example.com/m.zip"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(location_of(row.response) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(locations_of_direct_downloads) {
  struct Row {
    const char* name;
    const char* body;
    const char* expected;
  };
  const Row rows[] = {
      {"with", R"({"location":"https://example.com/m","use_registry_credentials":true})",
       "direct https://example.com/m with token"},
      {"without", R"({"location":"http://example.com/m?sig=x","use_registry_credentials":false})",
       "direct http://example.com/m?sig=x without token"},
      {"relative", R"({"location":"m.zip","use_registry_credentials":true})",
       "direct https://registry.example.com/v1/modules/a/b/c/1.0.0/m.zip with token"},
      {"a double slash is part of the URL",
       R"({"location":"https://example.com/a//b","use_registry_credentials":true})",
       "direct https://example.com/a//b with token"},
      {"null", R"({"location":"https://example.com/m.zip","use_registry_credentials":null})",
       "source https://example.com/m.zip"},
      {"text", R"({"location":"m.zip","use_registry_credentials":"true"})",
       "BAD_RESPONSE: \"use_registry_credentials\" is a string, expected true or false"},
      {"fragment", R"({"location":"https://example.com/m#x","use_registry_credentials":true})",
       "BAD_RESPONSE: the location \"https://example.com/m…\" has a fragment, which the URL of a package must not "
       "have"},
      {"scheme", R"({"location":"file:///etc/passwd","use_registry_credentials":true})",
       "BAD_RESPONSE: the location \"file:///etc/passwd\" is not a URL"},
      {"a module source", R"({"location":"git::https://example.com/m","use_registry_credentials":true})",
       "BAD_RESPONSE: the location \"git::https://example.com/m\" is not a URL"},
      {"no location", R"({"use_registry_credentials":true})",
       "BAD_RESPONSE: the response has no location, neither as \"location\" nor as X-Terraform-Get"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(location_of(answer(200, row.body)) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(each_client_reads_an_answer_by_its_own_rules) {
  struct Row {
    const char* name;
    HttpResponse response;
    const char* terraform;
    const char* opentofu;
    const char* opentofu_1_12;
  };
  const char* none = "BAD_RESPONSE: the response has no X-Terraform-Get, where Terraform expects the location";
  const Row rows[] = {
      {"body and header", answer(200, R"({"location":"https://example.com/b.zip"})", "https://example.com/h.zip"),
       "source https://example.com/h.zip", "source https://example.com/b.zip", "source https://example.com/b.zip"},
      {"body alone", answer(200, R"({"location":"https://example.com/b.zip"})"), none,
       "source https://example.com/b.zip", "source https://example.com/b.zip"},
      {"a header and no JSON", answer(200, "<html>", "https://example.com/h.zip"), "source https://example.com/h.zip",
       "BAD_RESPONSE: the server sent an HTML page, not JSON", "BAD_RESPONSE: the server sent an HTML page, not JSON"},
      {"nothing", answer(204, ""), none,
       "BAD_RESPONSE: the response has no location, neither as \"location\" nor as X-Terraform-Get",
       "BAD_RESPONSE: the response has no location, neither as \"location\" nor as X-Terraform-Get"},
      {"direct", answer(200, R"({"location":"https://example.com/b.zip","use_registry_credentials":true})"), none,
       "source https://example.com/b.zip", "direct https://example.com/b.zip with token"},
      {"almost direct", answer(200, R"({"location":"https://example.com/b.zip","use_registry_credentials":7})"), none,
       "source https://example.com/b.zip",
       "BAD_RESPONSE: \"use_registry_credentials\" is a number, expected true or false"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(location_of(row.response, ClientRules::terraform) == row.terraform);
      BOOST_TEST(location_of(row.response, ClientRules::opentofu) == row.opentofu);
      BOOST_TEST(location_of(row.response, ClientRules::opentofu_1_12) == row.opentofu_1_12);
    }
  }
}

BOOST_AUTO_TEST_CASE(locations_that_are_refused) {
  struct Row {
    const char* name;
    HttpResponse response;
    const char* expected;
  };
  const Row rows[] = {
      {"none", answer(204, ""),
       "BAD_RESPONSE: the response has no location, neither as \"location\" nor as X-Terraform-Get"},
      {"none in the body", answer(200, "{}"),
       "BAD_RESPONSE: the response has no location, neither as \"location\" nor as X-Terraform-Get"},
      {"no JSON beside a header", answer(200, "", "https://example.com/m.zip"),
       "BAD_RESPONSE: the text is not JSON: byte 0: expected a value, found the end of the text"},
      {"a list", answer(200, "[]"), "BAD_RESPONSE: the response is a list, expected an object"},
      {"no text", answer(200, R"({"location":["x"]})"), "BAD_RESPONSE: \"location\" is a list, expected a string"},
      {"another status", answer(202, R"({"location":"https://example.com/m.zip"})"),
       "BAD_RESPONSE: expected status 200 or 204, got 202"},
      {"a registry address", answer(204, "", "a/b/c"),
       "BAD_RESPONSE: the location \"a/b/c\" is a registry source, expected the address of a remote package"},
      {"a local path", answer(204, "", ".\\x"),
       "BAD_RESPONSE: the location \".\\x\" is a local source, expected the address of a remote package"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(location_of(row.response) == row.expected);
    }
  }
  const auto helper = parse_location(answer(204, "", "git::ext::sh -c x"), kAsked, ClientRules::opentofu_1_12);
  BOOST_REQUIRE(!helper);
  BOOST_TEST((helper.error().code == Code::source_denied));
}

BOOST_AUTO_TEST_CASE(secrets_of_a_location_stay_out_of_its_errors) {
  for (const char* location : {"https://user:CANARY@example.com/a/b?token=CANARY#CANARY", "/%zz?CANARY",
                               "https://u:CANARY@example.com:99999/m?x=CANARY", "CANARY::x::y?CANARY"}) {
    for (const char* direct : {"", R"(,"use_registry_credentials":true)"}) {
      const std::string body = std::string(R"({"location":")") + location + "\"" + direct + "}";
      const auto result = parse_location(answer(200, body), kAsked, ClientRules::opentofu_1_12);
      BOOST_TEST_CONTEXT(body) {
        BOOST_TEST((result || result.error().message.find("CANARY@") == std::string::npos));
        BOOST_TEST((result || result.error().message.find("=CANARY") == std::string::npos));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::registry
