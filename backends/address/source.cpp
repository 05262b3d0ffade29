#include "backends/address/source.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "backends/address/git_reference.h"
#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source_remote.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

constexpr std::size_t kLongestName = 64;

bool is_lower_alphanumeric(char c) {
  return ascii::is_digit(c) || ascii::is_lower(c);
}
bool is_name_character(char c) {
  return ascii::is_alnum(c) || c == '-' || c == '_';
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && ascii::is_alnum(text.front()) &&
         ascii::is_alnum(text.back()) && std::ranges::all_of(text, is_name_character);
}

bool is_system(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, is_lower_alphanumeric);
}

std::optional<std::string> parse_host(std::string_view text) {
  const auto host = parse_service_host(text);
  if (!host || host->ascii.find('.') == std::string::npos || host->ascii == "github.com" ||
      host->ascii == "bitbucket.org") {
    return std::nullopt;
  }
  return host->display;
}

// OpenTofu joins the path to a directory, so a leading slash and "." mean the root.
std::string relative_subdir(std::string_view cleaned) {
  cleaned.remove_prefix(std::min(cleaned.find_first_not_of('/'), cleaned.size()));
  return cleaned == "." ? std::string() : std::string(cleaned);
}

// Reads [host/]namespace/name/system[//subdir]. Returns nullopt if the text is not a module registry address: OpenTofu
// then reads it as a remote one. `default_host` is the host of addresses without one.
std::optional<SourceAddress> parse_registry(std::string_view text, std::string_view default_host) {
  auto [package, subdir] = split_subdir(text);
  auto parts = split(package, '/');
  if (leads_outside(subdir) || (parts.size() != 3 && parts.size() != 4)) {
    return std::nullopt;
  }
  std::optional<std::string> host(default_host);
  if (parts.size() == 4) {
    host = parse_host(parts[0]);
    parts.erase(parts.begin());
  }
  if (!host || !is_name(parts[0]) || !is_name(parts[1]) || !is_system(parts[2])) {
    return std::nullopt;
  }
  const std::string module = fmt::format("{}", fmt::join(parts, "/"));
  SourceAddress address;
  address.normalised = SecretText(fmt::format("{}/{}{}{}", *host, module, subdir.empty() ? "" : "//", subdir));
  address.source = {.kind = SourceKind::registry, .host = *host, .path = module, .subdir = relative_subdir(subdir)};
  return address;
}

using enum SourceLocation;
using Versions = SourceVersions;
using Id = ContentId;

// One row for each SourceKind, in its order.
constexpr std::array<SourceTraits, 10> kTraits = {{
    {SourceKind::local, "local", {}, calling_package, Versions::none, Id::backend, "origin", ""},
    {SourceKind::registry, "registry", {}, remote, Versions::registry, Id::backend, "git or zh", "registry"},
    {SourceKind::git, "git", {"git"}, repository, Versions::tags, Id::commit, "git", "git", "ref", "ref", "HEAD"},
    {SourceKind::oci, "oci", {"oci"}, remote, Versions::tags, Id::digest, "oci", "oci", "tag", "digest", "latest"},
    {SourceKind::archive, "archive", {"https", "http"}, remote, Versions::none, Id::checksum, "zh", "download"},
    {SourceKind::directory, "directory", {"file"}, directory, Versions::none, Id::backend, "origin", ""},
    {SourceKind::hg, "hg", {"hg"}, repository, Versions::external, Id::backend, "origin", "download", "tag"},
    {SourceKind::s3, "s3", {"s3"}, remote, Versions::none, Id::checksum, "zh", "s3", "", "", "", "version"},
    {SourceKind::gcs, "gcs", {"gcs"}, remote, Versions::none, Id::checksum, "zh", "gcs", "", "", "", "", true},
    {SourceKind::unsupported, "unsupported", {}, remote, Versions::external, Id::backend, "origin", "download", "tag"},
}};

// Of kinds without tags, by precedence.
constexpr std::array<std::string_view, 3> kReferenceArguments = {"tag", "rev", "ref"};

constexpr std::array<std::string_view, 4> kLocalPrefixes = {"./", "../", ".\\", "..\\"};

bool is_local(std::string_view text) {
  return std::ranges::any_of(kLocalPrefixes,
                             [&](std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; });
}

SourceAddress parse_local(std::string_view text) {
  std::string path(text);
  std::ranges::replace(path, '\\', '/');
  path = clean_path(path);
  // A single ".." gets the prefix too: OpenTofu writes "./.." into modules.json.
  if (path.substr(0, 3) != "../") {
    path.insert(0, "./");
  }
  SourceAddress address;
  address.source.kind = SourceKind::local;
  address.source.path = path;
  address.normalised = SecretText(std::move(path));
  return address;
}

Result<SourceAddress> parse_remote(std::string_view text, const std::string& shown) {
  auto [given, subdir] = split_subdir(text);
  const auto outside = [&] {
    return fail(Code::source_invalid,
                fmt::format("the module source \"{}\" has a subdirectory outside of its package", shown),
                "name a directory inside the package after \"//\"");
  };
  if (leads_outside(subdir)) {
    return outside();
  }
  MODLOCK_TRY(const auto detected, detect_package(given));
  const auto [package, detected_subdir] = split_subdir(detected);
  if (!detected_subdir.empty()) {
    subdir = subdir.empty() ? detected_subdir : clean_path(detected_subdir + "/" + subdir);
  }
  if (leads_outside(subdir)) {
    return outside();
  }
  MODLOCK_TRY(auto described, describe_package(package, shown));
  SourceAddress address;
  address.source = std::move(described.source);
  address.source.subdir = relative_subdir(subdir);
  if (std::string& path = address.source.path; !subdir.empty() || path.ends_with("//")) {
    // A detector may leave a slash there. When OpenTofu reads its own form again, the "//" of the subdirectory absorbs
    // it, even if the subdirectory is the root.
    path.erase(path.find_last_not_of('/') + 1);
  }
  std::string normalised = package;
  if (!subdir.empty()) {
    normalised.insert(std::min(normalised.find('?'), normalised.size()), "//" + subdir);
  }
  address.normalised = SecretText(std::move(normalised));
  address.package_url = SecretText(std::move(described.url));
  return address;
}

// The percent sign of an IPv6 zone is the only character of a parsed host that must be escaped in a URL.
std::string escape_host(const std::string& host) {
  const std::size_t percent = host.find('%');
  return percent == std::string::npos ? host : host.substr(0, percent) + "%25" + host.substr(percent + 1);
}

}  // namespace

const SourceTraits& traits_of(SourceKind kind) {
  return kTraits.at(static_cast<std::size_t>(kind));
}

SourceKind kind_of_getter(std::string_view getter) {
  const auto has_getter = [&](const SourceTraits& traits) { return contains(traits.getters, getter); };
  const SourceTraits* const found = getter.empty() ? nullptr : find_where(kTraits, has_getter);
  return found == nullptr ? SourceKind::unsupported : found->kind;
}

std::string_view to_string(SourceKind kind) {
  return traits_of(kind).name;
}

bool names_reference(std::string_view argument) {
  return contains(kReferenceArguments, argument) ||
         (!argument.empty() && find_by(kTraits, argument, &SourceTraits::tag_argument) != nullptr);
}

bool names_version(std::string_view argument) {
  return names_reference(argument) ||
         (!argument.empty() && find_by(kTraits, argument, &SourceTraits::id_argument) != nullptr);
}

bool is_public_argument(std::string_view argument) {
  const std::string_view name = argument.substr(0, argument.find('='));
  const bool is_checksum =
      name == "checksum" && is_plain_checksum(argument.substr(std::min(name.size() + 1, argument.size())));
  return names_version(name) || name == "depth" || name == "archive" || is_checksum;
}

std::string Source::identity() const {
  if (is_local()) {
    return path;
  }
  const std::string below = subdir.empty() ? std::string() : "//" + subdir;
  if (is_registry()) {
    return fmt::format("{}/modules/{}{}", host, path, below);
  }
  const bool says_getter = kind == SourceKind::git || getter != scheme;
  std::string text = fmt::format("{}{}{}://{}{}{}{}{}", says_getter ? getter : "", says_getter ? "::" : "", scheme,
                                 user, user.empty() ? "" : "@", escape_host(host), path, below);
  char separator = '?';
  for (const auto& [key, value] : query) {
    text += fmt::format("{}{}={}", separator, key, percent_encoded(value, "/:@,"));  // readable: "ref=feature/a"
    separator = '&';
  }
  if (!fragment.empty()) {  // would be a part of a subdirectory without the "?"
    text += fmt::format("{}#{}", separator == '?' && !below.empty() ? "?" : "", fragment);
  }
  return text;
}

std::string Source::package_identity() const {
  Source package = *this;
  package.subdir.clear();
  if (has_commits()) {
    std::erase_if(package.query, [&](const auto& argument) { return argument.first == traits().tag_argument; });
  }
  return package.identity();
}

std::string Source::query_value(std::string_view name) const {
  const auto* const found = find_by(query, name, &decltype(query)::value_type::first);
  return found == nullptr ? std::string() : found->second;
}

std::string_view Source::reference_argument() const {
  const auto* const written =
      find_where(kReferenceArguments, [&](std::string_view name) { return !query_value(name).empty(); });
  return has_tags() ? traits().tag_argument : written == nullptr ? std::string_view() : *written;
}

std::string Source::named_id() const {
  std::string id = query_value(traits().id_argument);
  if (!has_commits()) {
    return id;
  }
  constexpr std::size_t kShortestCommit = 7;
  const bool is_commit = id.size() >= kShortestCommit && std::ranges::all_of(id, ascii::is_hex);
  return is_commit ? ascii::lower(id) : std::string();
}

std::string Source::named_tag() const {
  return has_commits() ? tag_in_reference(named_reference()) : named_reference();
}

std::string printable_form(const SourceAddress& address) {
  const std::string& text = address.normalised.reveal();
  if (address.source.is_local() || address.source.is_registry()) {
    return text;
  }
  const std::string identity = address.source.identity();
  const std::size_t query = text.find('?');
  if (text.substr(0, query) != identity.substr(0, identity.find('?'))) {
    return identity;
  }
  for (std::size_t at = query; at != std::string::npos; at = text.find('&', at + 1)) {
    if (!is_public_argument(std::string_view(text).substr(at + 1, text.find('&', at + 1) - at - 1))) {
      return identity;
    }
  }
  return text;
}

Result<SourceAddress> parse_source(std::string_view text, std::string_view default_registry) {
  const std::string shown = printable_address(text);
  if (has_control_characters(text)) {
    return fail(Code::source_invalid,
                fmt::format("the module source \"{}\" has a control character or line ending", shown), "remove it");
  }
  if (!is_utf8(text)) {
    return fail(Code::source_invalid, fmt::format("the module source \"{}\" is not UTF-8", shown), "write UTF-8 text");
  }
  if (is_local(text)) {
    return parse_local(text);
  }
  if (auto registry = parse_registry(text, default_registry)) {
    return std::move(*registry);
  }
  return parse_remote(text, shown);
}

Result<Source> parse_identity(std::string_view text) {
  // "host/modules/ns/name/system" has five parts; an address as people write it has four.
  const std::string_view package = text.substr(0, text.find("//"));
  const std::size_t slash = text.find('/');
  constexpr std::string_view kModules = "/modules/";
  if (std::ranges::count(package, '/') == 4 && text.substr(slash, kModules.size()) == kModules) {
    std::string written(text.substr(0, slash + 1));
    written += text.substr(slash + kModules.size());
    if (auto registry = has_control_characters(text) ? std::nullopt : parse_registry(written, kOpenTofuRegistry)) {
      return std::move(registry->source);
    }
  }
  MODLOCK_TRY(auto address, parse_source(text));
  return std::move(address.source);
}

}  // namespace modlock
