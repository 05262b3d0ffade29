#include "backends/registry/module_protocol.h"

#include <fmt/format.h>
#include <json/value.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "backends/address/source_text.h"
#include "backends/credentials/folded_member.h"
#include "backends/http/url.h"
#include "protocol/base/result.h"

namespace modlock::registry {
namespace {

std::string_view kind_of(const Json::Value& value) {
  switch (value.type()) {
    case Json::nullValue:
      return "null";
    case Json::booleanValue:
      return "a boolean";
    case Json::stringValue:
      return "a string";
    case Json::arrayValue:
      return "a list";
    case Json::objectValue:
      return "an object";
    default:
      return "a number";
  }
}

tl::unexpected<Error> wrong_shape(std::string_view path, std::string_view expected, const Json::Value& found) {
  return fail(Code::bad_response, fmt::format("{} is {}, expected {}", path, kind_of(found), expected));
}

// Returns the text of a member; empty if it is missing or null, as in Go.
Result<std::string> text_member(const Json::Value& object, std::string_view name, const std::string& path) {
  const Json::Value& value = folded_member(object, name);
  if (!value.isString() && !value.isNull()) {
    return wrong_shape(path, "a string", value);
  }
  return value.asString();
}

std::optional<std::string> read_deprecation(const Json::Value& version) {
  const Json::Value& deprecation = version["deprecation"];
  if (!deprecation.isObject()) {
    return std::nullopt;
  }
  std::string text;
  for (const char* name : {"reason", "link"}) {
    if (deprecation[name].isString() && !deprecation[name].asString().empty()) {
      text += (text.empty() ? "" : ", ") + escape_controls(deprecation[name].asString());
    }
  }
  return text;
}

void add_version(Listing& listing, std::unordered_map<std::string, std::string>& seen, const std::string& text,
                 const Json::Value& object) {
  auto version = Version::parse(text);
  if (!version) {
    listing.skipped.push_back({escape_controls(text), "not a version"});
    return;
  }
  std::string canonical = version->to_string();
  if (const auto [at, is_new] = seen.emplace(canonical, text); !is_new) {
    listing.skipped.push_back({text, fmt::format("the same version as \"{}\"", at->second)});
    return;
  }
  listing.versions.push_back({.version = std::move(*version),
                              .tag = text,
                              .id = {},
                              .ref = std::move(canonical),
                              .ambiguous_with = {},
                              .published = read_date(object),
                              .deprecated = read_deprecation(object)});
}

bool is_relative(std::string_view location) {
  return location.substr(0, 1) == "/" || location.substr(0, 2) == "./" || location.substr(0, 3) == "../";
}

struct SaidInBody {
  std::string location;
  std::optional<bool> use_registry_credentials;
};

Result<SaidInBody> read_location_body(std::string_view body, ClientRules rules) {
  MODLOCK_TRY(const auto document, parse_json_body(body));
  if (!document.isObject() && !document.isNull()) {
    return wrong_shape("the response", "an object", document);
  }
  MODLOCK_TRY(auto text, text_member(document, "location", "\"location\""));
  SaidInBody said{.location = std::move(text), .use_registry_credentials = {}};
  const Json::Value& credentials = folded_member(document, "use_registry_credentials");
  if (rules == ClientRules::opentofu_1_12 && !credentials.isNull()) {
    if (!credentials.isBool()) {
      return wrong_shape("\"use_registry_credentials\"", "true or false", credentials);
    }
    said.use_registry_credentials = credentials.asBool();
  }
  return said;
}

tl::unexpected<Error> bad_location(std::string_view location, std::string_view reason) {
  return fail(Code::bad_response, fmt::format("the location \"{}\" {}", printable_address(location), reason));
}

Result<PackageLocation> parse_indirect(std::string location, std::string_view download_url) {
  if (is_relative(location)) {
    auto absolute = resolve_url(download_url, location);
    if (!absolute) {
      return bad_location(location, "is not a relative URL");
    }
    location = std::move(*absolute);
  }
  auto address = parse_source(location);
  if (!address) {
    return address.error().code == Code::source_invalid
               ? bad_location(location, "is not a module source: " + address.error().message)
               : fail(std::move(address.error()));
  }
  if (address->source.is_local() || address->source.is_registry()) {
    return bad_location(location, fmt::format("is a {} source, expected the address of a remote package",
                                              to_string(address->source.kind)));
  }
  return PackageLocation(std::move(*address));
}

Result<PackageLocation> parse_direct(std::string_view location, std::string_view download_url,
                                     bool use_registry_credentials) {
  auto url = resolve_url(download_url, location);
  if (!url) {
    return bad_location(location, "is not a URL");
  }
  if (url->find('#') != std::string::npos) {
    return bad_location(location, "has a fragment, which the URL of a package must not have");
  }
  auto source = archive_source(*url);
  if (!source) {
    return bad_location(location, "is not an http or https URL");
  }
  return PackageLocation(DirectPackage{.url = SecretText(std::move(*url)),
                                       .source = std::move(*source),
                                       .use_registry_credentials = use_registry_credentials});
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> read_date(const Json::Value& version) {
  constexpr std::chrono::sys_days kFillIn = std::chrono::year{2026} / 4 / 21;  // src/internal/module/backfill.go
  if (const Json::Value& discovered = version["discovered"]; discovered.isString()) {
    const auto time = read_time(discovered.asString());
    return time == kFillIn ? kNoDate : time;
  }
  const Json::Value& published = version.isMember("published_at") ? version["published_at"] : version["published-at"];
  return published.isString() ? read_time(published.asString()) : std::nullopt;
}

Result<Listing> parse_versions(std::string_view body, std::chrono::system_clock::time_point fetched_at) {
  MODLOCK_TRY(const auto document, parse_json_body(first_json_text(body)));
  if (!document.isObject()) {
    return wrong_shape("the response", "an object", document);
  }
  const Json::Value& modules = folded_member(document, "modules");
  if (!modules.isArray()) {
    return wrong_shape("\"modules\"", "a list", modules);
  }
  if (modules.empty()) {
    return fail(Code::bad_response, "\"modules\" is empty, expected the requested module");
  }
  if (!modules[0].isObject()) {
    return wrong_shape("\"modules[0]\"", "an object", modules[0]);
  }
  const Json::Value& versions = folded_member(modules[0], "versions");
  if (!versions.isArray() && !versions.isNull()) {
    return wrong_shape("\"modules[0].versions\"", "a list", versions);
  }
  Listing listing{.versions = {}, .skipped = {}, .fetched_at = fetched_at};
  std::unordered_map<std::string, std::string> seen;
  for (Json::ArrayIndex i = 0; i < versions.size(); ++i) {
    if (!versions[i].isObject()) {
      return wrong_shape(fmt::format("\"modules[0].versions[{}]\"", i), "an object", versions[i]);
    }
    MODLOCK_TRY(const auto text,
                text_member(versions[i], "version", fmt::format("\"modules[0].versions[{}].version\"", i)));
    add_version(listing, seen, text, versions[i]);
  }
  std::stable_sort(listing.versions.begin(), listing.versions.end(),
                   [](const ListedVersion& left, const ListedVersion& right) { return right.version < left.version; });
  return listing;
}

Result<PackageLocation> parse_location(const HttpResponse& response, std::string_view download_url, ClientRules rules) {
  if (response.status != 200 && response.status != 204) {
    return fail(Code::bad_response, fmt::format("expected status 200 or 204, got {}", response.status));
  }
  SaidInBody said;
  if (response.status == 200 && rules != ClientRules::terraform) {
    MODLOCK_TRY(said, read_location_body(response.body, rules));
  }
  if (said.location.empty() && !said.use_registry_credentials) {
    said.location = response.header("X-Terraform-Get").value_or("");
  }
  if (said.location.empty()) {
    return fail(Code::bad_response,
                rules == ClientRules::terraform
                    ? "the response has no X-Terraform-Get, where Terraform expects the location"
                    : "the response has no location, neither as \"location\" nor as X-Terraform-Get");
  }
  return said.use_registry_credentials ? parse_direct(said.location, download_url, *said.use_registry_credentials)
                                       : parse_indirect(std::move(said.location), download_url);
}

}  // namespace modlock::registry
