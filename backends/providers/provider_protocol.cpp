#include "backends/providers/provider_protocol.h"

#include <fmt/format.h>
#include <json/value.h>

#include <algorithm>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/credentials/folded_member.h"
#include "backends/http/http_client.h"
#include "backends/registry/module_protocol.h"

namespace modlock::provider_registry {
namespace {

// The protocols that the clients support: 5 and 6.
constexpr std::uint64_t kOldestProtocol = 5;
constexpr std::uint64_t kFirstUnknownProtocol = 7;

tl::unexpected<Error> bad(std::string message) {
  return fail(Code::bad_response, std::move(message));
}

// Reads JSON as Go's decoder fills a struct: names ignore case, null counts as absent.
class Member {
 public:
  Member(const Json::Value& value, std::string path) : value_(&value), path_(std::move(path)) {}

  Member operator[](std::string_view name) const {
    return {folded_member(*value_, name), path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name)};
  }
  // Required for reading a struct or a map.
  Result<void> expect_object() const { return expect(value_->isObject(), "an object"); }

  Result<std::string> text() const {
    return expect(value_->isString(), "a string").map([this] { return value_->asString(); });
  }
  Result<std::int64_t> number() const {
    return expect(value_->isInt64(), "a whole number").map([this] { return value_->isNull() ? 0 : value_->asInt64(); });
  }
  Result<std::vector<Member>> elements() const {
    std::vector<Member> found;
    MODLOCK_TRY(expect(value_->isArray(), "a list"));
    for (Json::ArrayIndex i = 0; i < value_->size(); ++i) {
      found.emplace_back((*value_)[i], fmt::format("{}[{}]", path_, i));
    }
    return found;
  }
  Result<std::vector<std::string>> texts() const {
    return elements().and_then([](const std::vector<Member>& members) -> Result<std::vector<std::string>> {
      std::vector<std::string> found;
      for (const Member& member : members) {
        MODLOCK_TRY(auto text, member.text());
        found.push_back(std::move(text));
      }
      return found;
    });
  }
  // Returns the members of an object or null, with their names as written.
  Result<std::vector<std::pair<std::string, Member>>> members() const {
    MODLOCK_TRY(expect_object());
    std::vector<std::pair<std::string, Member>> found;
    for (const std::string& name : value_->getMemberNames()) {
      found.emplace_back(name, Member((*value_)[name], fmt::format("{}.{}", path_, name)));
    }
    return found;
  }
  bool is_null() const { return value_->isNull(); }
  const Json::Value& value() const { return *value_; }

 private:
  Result<void> expect(bool fits, std::string_view expected) const {
    if (fits || value_->isNull()) {
      return {};
    }
    return bad(
        fmt::format("{} is not {}", path_.empty() ? "the response" : '"' + escape_controls(path_) + '"', expected));
  }

  const Json::Value* value_;
  std::string path_;
};

Result<Json::Value> parse_document(std::string_view body) {
  MODLOCK_TRY(auto document, parse_json_body(body));
  MODLOCK_TRY(Member(document, "").expect_object());
  return document;
}

Result<ProviderVersion> parse_version(const std::string& text, std::string_view what) {
  auto version = ProviderVersion::parse(text);
  if (!version) {
    return bad(fmt::format("registry response includes invalid {} string \"{}\": {}", what, escape_controls(text),
                           version.error().message));
  }
  return version;
}

bool is_spoken(const ProviderVersion& protocol) {
  return protocol.prerelease.empty() && protocol.major >= kOldestProtocol && protocol.major < kFirstUnknownProtocol;
}

Result<bool> is_any_spoken(const std::vector<std::string>& protocols, std::string_view what) {
  bool any = false;
  for (const std::string& text : protocols) {
    MODLOCK_TRY(const auto protocol, parse_version(text, what));
    any = any || is_spoken(protocol);
  }
  return any;
}

Result<SecretText> absolute_url(const Member& member, std::string_view base, std::string_view what) {
  MODLOCK_TRY(const auto text, member.text());
  const auto written = GoUrl::parse(text);
  auto url = resolve_url(base, text);
  if (written && !written->scheme.empty() && written->scheme != "http" && written->scheme != "https") {
    return bad(fmt::format("registry response includes invalid {}: must use http or https scheme", what));
  }
  if (!url) {
    return bad(fmt::format("registry response includes invalid {}: \"{}\"", what, printable_address(text)));
  }
  return SecretText(std::move(*url));
}

Result<std::vector<std::string>> parse_hashes(const Member& member) {
  MODLOCK_TRY(auto hashes, member.texts());
  for (const std::string& hash : hashes) {
    if (const std::size_t colon = hash.find(':'); colon == std::string::npos || colon == 0) {
      return bad(
          fmt::format("registry response includes invalid package hash \"{}\": hash string must start with a "
                      "scheme keyword followed by a colon",
                      escape_controls(hash)));
    }
  }
  return hashes;
}

Result<std::map<Platform, ListedPackage>> parse_packages(const Member& member) {
  std::map<Platform, ListedPackage> packages;
  MODLOCK_TRY(const auto members, member.members());
  for (const auto& [name, package] : members) {
    const auto platform = Platform::parse(name);
    if (!platform) {
      return bad(
          fmt::format("registry response includes invalid package platform \"{}\": must be two words separated "
                      "by an underscore",
                      escape_controls(name)));
    }
    MODLOCK_TRY(package.expect_object());
    MODLOCK_TRY(auto hashes, parse_hashes(package["hashes"]));
    MODLOCK_TRY(const auto size, package["package_size"].number());
    packages.emplace(*platform, ListedPackage{std::move(hashes), size});
  }
  return packages;
}

Result<std::vector<std::string>> parse_keys(const Member& member) {
  std::vector<std::string> keys;
  MODLOCK_TRY(member.expect_object());
  MODLOCK_TRY(const auto elements, member["gpg_public_keys"].elements());
  for (const Member& element : elements) {
    MODLOCK_TRY(element.expect_object());
    MODLOCK_TRY(auto key, element["ascii_armor"].text());
    keys.push_back(std::move(key));
  }
  return keys;
}

Result<void> expect_target(const Member& document, const Platform& platform) {
  MODLOCK_TRY(const auto os, document["os"].text());
  MODLOCK_TRY(const auto arch, document["arch"].text());
  if (os != platform.os || arch != platform.arch) {
    return bad(fmt::format("registry response to request for {} archive has incorrect target {}_{}",
                           platform.to_string(), escape_controls(os), escape_controls(arch)));
  }
  return {};
}

Result<void> read_checksum(const Member& member, PackageMetadata& metadata) {
  MODLOCK_TRY(auto checksum, member.text());
  auto zh = zh_of_checksum(checksum);
  if (!zh) {
    return bad(fmt::format("registry response includes invalid SHA256 hash \"{}\"", escape_controls(checksum)));
  }
  metadata.zh = std::move(*zh);
  metadata.checksum = std::move(checksum);
  return {};
}

}  // namespace

std::optional<std::string> zh_of_checksum(std::string_view text) {
  const bool fits = text.size() == 64 && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  return fits ? std::optional("zh:" + ascii::lower(text)) : std::nullopt;
}

Result<ProviderVersions> parse_versions(std::string_view body) {
  MODLOCK_TRY(const auto document, parse_document(first_json_text(body)));
  MODLOCK_TRY(const auto elements, Member(document, "")["versions"].elements());
  MODLOCK_TRY(auto warnings, Member(document, "")["warnings"].texts());
  ProviderVersions found{.versions = {}, .warnings = std::move(warnings)};
  for (const Member& element : elements) {
    MODLOCK_TRY(element.expect_object());
    MODLOCK_TRY(const auto text, element["version"].text());
    MODLOCK_TRY(auto protocols, element["protocols"].texts());
    MODLOCK_TRY(auto version, parse_version(text, "version"));
    found.versions.push_back({std::move(version), std::move(protocols), registry::read_date(element.value())});
  }
  const auto newer = [](const ListedProvider& left, const ListedProvider& right) {
    const int order = compare(left.version, right.version);
    return order != 0 ? order > 0 : left.version.metadata < right.version.metadata;
  };
  std::stable_sort(found.versions.begin(), found.versions.end(), newer);
  const auto same = [](const ListedProvider& left, const ListedProvider& right) {
    return left.version == right.version;
  };
  found.versions.erase(std::unique(found.versions.begin(), found.versions.end(), same), found.versions.end());
  return found;
}

Result<const ListedProvider*> newest_supported(const ProviderVersions& versions) {
  for (const ListedProvider& listed : versions.versions) {
    MODLOCK_TRY(const auto spoken, is_any_spoken(listed.protocols, "protocol"));
    if (spoken) {
      return &listed;
    }
  }
  return nullptr;
}

Result<PackageMetadata> parse_package(std::string_view body, std::string_view url, const Platform& platform,
                                      ClientRules rules) {
  MODLOCK_TRY(const auto parsed, parse_document(body));
  const Member document(parsed, "");
  PackageMetadata metadata;
  MODLOCK_TRY(const auto protocols, document["protocols"].texts());
  MODLOCK_TRY(const auto spoken, is_any_spoken(protocols, "version"));
  if (!protocols.empty() && !spoken) {
    metadata.is_supported = false;
    return metadata;
  }
  MODLOCK_TRY(expect_target(document, platform));
  MODLOCK_TRY(metadata.archive_url, absolute_url(document["download_url"], url, "download URL"));
  if (rules == ClientRules::opentofu_1_12) {
    MODLOCK_TRY(metadata.packages, parse_packages(document["packages"]));
  }
  MODLOCK_TRY(read_checksum(document["shasum"], metadata));
  MODLOCK_TRY(metadata.checksums_url, absolute_url(document["shasums_url"], url, "SHASUMS URL"));
  MODLOCK_TRY(metadata.signature_url, absolute_url(document["shasums_signature_url"], url, "SHASUMS signature URL"));
  MODLOCK_TRY(metadata.file_name, document["filename"].text());
  MODLOCK_TRY(metadata.keys, parse_keys(document["signing_keys"]));
  return metadata;
}

}  // namespace modlock::provider_registry
