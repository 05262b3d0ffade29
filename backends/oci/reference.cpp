#include "backends/oci/reference.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/http/url.h"

namespace modlock::oci {
namespace {

constexpr std::string_view kDefaultTag = "latest";

bool is_match(std::string_view text, const re2::RE2& form) {
  return re2::RE2::FullMatch({text.data(), text.size()}, form);
}

tl::unexpected<Error> invalid(const std::string& display, std::string_view why, std::string hint) {
  return fail(Code::source_invalid, fmt::format("the module source \"{}\" {}", display, why), std::move(hint));
}

// Like Go's strconv.ParseBool: a false `archive` disables unpacking, and go-getter then ignores the argument.
bool is_false(std::string_view text) {
  constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "false", "False", "FALSE"};
  return std::ranges::find(kFalse, text) != kFalse.end();
}

// go-getter removes its own two arguments before the others are checked.
Result<QueryArguments> own_arguments(const QueryArguments& query, const std::string& display) {
  QueryArguments kept;
  std::set<std::string> seen;
  for (const auto& [key, value] : query) {
    if (key == "archive" && !value.empty()) {
      if (!is_false(value)) {
        return invalid(display,
                       "has the argument \"archive\", which is not allowed here: the archive format is that of the "
                       "image manifest",
                       "remove \"archive=\"");
      }
      continue;
    }
    if (key == "checksum") {
      if (!value.empty()) {
        return invalid(display, "has the argument \"checksum\", which is not allowed here",
                       "write \"?digest=\" to fix the content of an OCI source");
      }
      continue;
    }
    if (!seen.insert(key).second) {
      return invalid(display, fmt::format("has too many \"{}\" arguments", escape_controls(key)), "write it once");
    }
    kept.emplace_back(key, value);
  }
  return kept;
}

Result<Reference> read_reference(const QueryArguments& arguments, const std::string& display) {
  Reference reference;
  for (const auto& [key, value] : arguments) {
    if (key != "tag" && key != "digest") {
      return invalid(display, fmt::format("has the unsupported argument \"{}\"", escape_controls(key)),
                     "an OCI source takes \"?tag=\" or \"?digest=\"");
    }
    if (value.empty()) {
      return invalid(display, fmt::format("has an empty argument \"{}\"", key), "give it a value, or remove it");
    }
    const std::string shown = escape_controls(value);
    if (key == "tag") {
      if (!is_tag_name(value)) {
        return invalid(display, fmt::format("has an invalid tag \"{}\"", shown),
                       "a tag is up to 128 letters, digits, \"_\", \".\" and \"-\", and starts with none of the last "
                       "two");
      }
      reference.tag = value;
      continue;
    }
    MODLOCK_TRY(check_digest(value, fmt::format("module source \"{}\"", display),
                             invalid(display, fmt::format("has an invalid digest \"{}\"", shown),
                                     "write \"sha256:\" and 64 lower-case hexadecimal digits")
                                 .value()));
    reference.digest = value;
  }
  if (!reference.tag.empty() && !reference.digest.empty()) {
    return invalid(display, "has both \"tag\" and \"digest\"", "remove one of them");
  }
  if (reference.text().empty()) {
    reference.tag = kDefaultTag;
  }
  return reference;
}

// Docker's name for its registry is not the name of the server.
std::string authority_of(const std::string& host) {
  return host == "docker.io" ? "registry-1.docker.io" : host_in_ascii(host);
}

}  // namespace

std::string Repository::url(std::string_view rest) const {
  return fmt::format("{}://{}/v2/{}/{}", plain_http ? "http" : "https", authority, name, rest);
}

Result<Address> read_address(const SourceAddress& source) {
  const auto url = GoUrl::parse(source.package_url.reveal());
  const std::string identity = fmt::format("oci://{}{}", source.source.host, escape_controls(source.source.path));
  if (!url || source.source.scheme != "oci") {
    return invalid(identity, "has another URL scheme after the getter \"oci\"", "write oci://host/repository");
  }
  std::string name = url->path.substr(url->path.substr(0, 1) == "/" ? 1 : 0);
  if (!is_repository_name(name)) {
    return invalid(
        identity, fmt::format("names an invalid repository \"{}\"", escape_controls(name)),
        "a repository is lower-case letters and digits, joined by \"/\", \".\", \"_\" and \"-\"; select with "
        "\"?tag=\" or \"?digest=\" rather than \":\" or \"@\"");
  }
  MODLOCK_TRY(const auto arguments, own_arguments(parse_query(url->raw_query), identity));
  MODLOCK_TRY(auto reference, read_reference(arguments, identity));
  const std::string& host = source.source.host;
  std::string authority = authority_of(host);
  const std::string display = fmt::format("oci://{}/{}", host, name);
  return Address{{display, host, std::move(authority), std::move(name)}, std::move(reference)};
}

Result<Repository> parse_repository(std::string_view text) {
  const std::string shown = printable_address(text);
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string host(text.substr(0, slash));
  const auto url = GoUrl::parse("dummy://" + host);
  if (!url || host.empty() || url->host != host) {
    return fail(Code::source_invalid, fmt::format("\"{}\" names no registry", shown),
                "write the repository as \"example.com/team/name\"");
  }
  const std::string name(text.substr(std::min(slash + 1, text.size())));
  if (!is_repository_name(name)) {
    return fail(Code::source_invalid,
                fmt::format("invalid repository \"{}\" in \"{}\"", printable_address(name), shown),
                "a repository is lower-case letters and digits, joined by \"/\", \".\", \"_\" and \"-\"");
  }
  std::string authority = authority_of(host);
  return Repository{fmt::format("oci://{}/{}", host, name), host, std::move(authority), name};
}

Result<Repository> over_plain_http(Repository repository) {
  repository.plain_http = true;
  const auto url = http::split_url(repository.url(""));
  if (!url || !http::is_loopback(url->host)) {
    return fail(
        Code::invalid_params,
        fmt::format("\"{}\" is not on this machine, and plain http is only for the loopback", repository.display),
        "remove --plain-http and TOFU_MODLOCK_REMOTE_PLAIN_HTTP to use https, or name a registry on 127.0.0.1, "
        "[::1] or localhost");
  }
  return repository;
}

DigestForm digest_form(std::string_view text) {
  static const re2::RE2 kSupported("sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}");
  static const re2::RE2 kOther("sha384:[0-9a-f]{96}");
  return is_match(text, kSupported) ? DigestForm::supported
         : is_match(text, kOther)   ? DigestForm::other_algorithm
                                    : DigestForm::invalid;
}

tl::unexpected<Error> unsupported_digest(std::string_view where, std::string_view digest) {
  return fail(Code::source_unsupported,
              fmt::format("the {} has a digest of the algorithm \"{}\", but only sha256 and sha512 are supported",
                          where, digest.substr(0, digest.find(':'))),
              "have the module package pushed with sha256 digests");
}

Result<void> check_digest(std::string_view digest, std::string_view where, Error invalid) {
  const DigestForm form = digest_form(digest);
  return form == DigestForm::supported         ? Result<void>()
         : form == DigestForm::other_algorithm ? unsupported_digest(where, digest)
                                               : fail(std::move(invalid));
}

Hash digest_algorithm(std::string_view digest) {
  return digest.starts_with("sha512:") ? Hash::sha512 : Hash::sha256;
}

std::string digest_text(Hash algorithm, const std::vector<std::uint8_t>& hash) {
  return (algorithm == Hash::sha512 ? "sha512:" : "sha256:") + hex(hash);
}

bool is_repository_name(std::string_view text) {
  constexpr std::string_view kSegment = "[a-z0-9]+(?:(?:[._]|__|-*)[a-z0-9]+)*";
  static const re2::RE2 kName(fmt::format("{0}(?:/{0})*", kSegment));
  return is_match(text, kName);
}

bool is_tag_name(std::string_view text) {
  static const re2::RE2 kTag(R"(\w[\w.-]{0,127})");
  return is_match(text, kTag);
}

}  // namespace modlock::oci
