#include "backends/archive/archive_request.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "protocol/base/utf8.h"

namespace modlock::archive {
namespace {

using re2::RE2;

struct Algorithm {
  std::string_view name;
  Hash hash;
  std::size_t digits;
};

constexpr std::array kAlgorithms = {Algorithm{"md5", Hash::md5, 32}, Algorithm{"sha1", Hash::sha1, 40},
                                    Algorithm{"sha256", Hash::sha256, 64}, Algorithm{"sha512", Hash::sha512, 128}};

constexpr const char* kHint =
    "write checksum=sha256:<64 hexadecimal digits> (or md5, sha1, sha512), or checksum=file:<URL of a checksum file>";

const Algorithm* by_name(std::string_view name) {
  const auto* const found = std::ranges::find(kAlgorithms, name, &Algorithm::name);
  return found == kAlgorithms.end() ? nullptr : found;
}

std::optional<Checksum> of_type(std::string_view type, std::string_view digits) {
  Checksum checksum{.digits = ascii::lower(digits)};
  const Algorithm* const algorithm = by_name(ascii::lower(type));
  if (algorithm == nullptr || checksum.digits.size() != algorithm->digits ||
      !std::ranges::all_of(digits, ascii::is_hex)) {
    return std::nullopt;
  }
  checksum.algorithm = algorithm->hash;
  return checksum;
}

std::optional<Checksum> of_length(std::string_view digits) {
  for (const Algorithm& row : kAlgorithms) {
    if (row.digits == digits.size()) {
      return of_type(row.name, digits);
    }
  }
  return std::nullopt;
}

struct Line {
  Checksum checksum;
  std::string name;  // empty: any archive
};

std::optional<Line> read_line(std::string_view text) {
  std::istringstream words{std::string(text)};
  const std::vector<std::string> fields(std::istream_iterator<std::string>(words), {});
  std::optional<Checksum> checksum;
  std::string_view name;
  if (fields.size() == 4) {
    const std::string_view quoted = fields[1];
    if (quoted.size() > 2 && quoted.front() == '(' && quoted.back() == ')') {
      name = quoted.substr(1, quoted.size() - 2);
      checksum = of_type(fields[0], fields[3]);
    }
  } else if (!fields.empty()) {
    name = fields.size() == 2 ? fields[1] : std::string_view();
    checksum = of_length(fields[0]);
  }
  return checksum ? std::optional(Line{std::move(*checksum), std::string(name)}) : std::nullopt;
}

// What begins a part of a page that is no start tag, and what ends it.
constexpr std::array<std::pair<const char*, const char*>, 5> kMarkup = {
    {{"!--", "-->"}, {"![CDATA[", "]]>"}, {"?", "?>"}, {"!", ">"}, {"/", ">"}}};

tl::unexpected<Error> says(std::string_view display, const std::string& where, Code code, std::string_view why) {
  return fail(
      code,
      fmt::format("\"{}\" states that the module package is at \"{}\", {}", display, printable_address(where), why),
      "the server must send a full address, such as https://host/path.tar.gz or git::https://host/path.git");
}

}  // namespace

std::string first_value(const QueryArguments& query, std::string_view key) {
  const auto found = std::ranges::find(query, key, &QueryArguments::value_type::first);
  return found == query.end() ? std::string() : found->second;
}

std::string unescape_xml(std::string_view value) {
  static const RE2 kReference("(?s)(.*?)(&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,8})|#x([0-9a-fA-F]{1,7}));)", RE2::Latin1);
  static const std::map<std::string, char32_t> kNamed = {
      {"amp", U'&'}, {"lt", U'<'}, {"gt", U'>'}, {"quot", U'"'}, {"apos", U'\''}};
  re2::StringPiece rest(value.data(), value.size());
  std::string text;
  std::string before;
  std::string reference;
  std::string name;
  std::string decimal;
  std::string hexadecimal;
  while (RE2::Consume(&rest, kReference, &before, &reference, &name, &decimal, &hexadecimal)) {
    const auto code = !name.empty()     ? kNamed.at(name)
                      : decimal.empty() ? static_cast<char32_t>(std::stoul(hexadecimal, nullptr, 16))
                                        : static_cast<char32_t>(std::stoul(decimal));
    text += before;
    if (code < 0x110000 && (code < 0xD800 || code > 0xDFFF)) {
      append_utf8(text, code);
    } else {
      text += reference;
    }
  }
  return text + rest.as_string();
}

std::string Checksum::text() const {
  const auto* const row = std::ranges::find(kAlgorithms, algorithm, &Algorithm::hash);
  return fmt::format("{}:{}", row->name, digits);
}

Result<Checksum> parse_checksum(std::string_view text) {
  const std::size_t colon = text.find(':');
  auto checksum =
      colon == std::string_view::npos ? of_length(text) : of_type(text.substr(0, colon), text.substr(colon + 1));
  if (!checksum) {
    return fail(Code::source_invalid, fmt::format("invalid checksum \"{}\"", printable_address(text)), kHint);
  }
  return std::move(*checksum);
}

std::optional<Checksum> find_checksum(std::string_view list, std::string_view archive_path,
                                      std::string_view list_path) {
  namespace fs = std::filesystem;
  const fs::path path = fs::path(archive_path).lexically_normal();
  const std::string name = path.filename().string();
  const std::string relative = path.lexically_relative(fs::path(list_path).lexically_normal().parent_path()).string();
  const std::array names = {name, "*" + name, "?" + name, relative, "./" + relative, path.string()};
  for (const std::string_view text : split(list, '\n')) {
    if (const auto line = read_line(text);
        line && (line->name.empty() || std::ranges::find(names, line->name) != names.end())) {
      return line->checksum;
    }
  }
  return std::nullopt;
}

std::optional<CredentialQuery> download_credentials(const SourceAddress& address, const GoUrl& url) {
  const bool has_user = url.user && !url.user->name.empty();
  return has_user ? std::nullopt : std::optional(CredentialQuery{CredentialUse::download, address.source.host});
}

Result<ArchiveRequest> read_request(const SourceAddress& address) {
  auto url = GoUrl::parse(address.package_url.reveal());
  if (!url) {
    return fail(Code::source_invalid, fmt::format("\"{}\" has no valid URL", address.source.identity()));
  }
  ArchiveRequest request;
  request.credentials = download_credentials(address, *url);
  QueryArguments query = parse_query(url->raw_query);
  const std::string named = first_value(query, "archive");
  request.format = named.empty() ? archive_format_of_path(url->path) : archive_format_of_name(named);
  request.checksum = first_value(query, "checksum");
  std::erase_if(query, [&](const auto& argument) {
    return argument.first == "checksum" || (argument.first == "archive" && !named.empty());
  });
  if (request.format) {
    MODLOCK_TRY(expect_tree_format(*request.format, address.source.identity()));
  } else {
    if (!request.checksum.empty()) {
      return fail(
          Code::source_invalid,
          fmt::format("\"{}\" has a checksum, but neither its name nor its `archive` argument makes it an archive",
                      address.source.identity()),
          "if it is an archive, add archive=zip (or tar.gz, tar.xz, tar.bz2) to its query; else remove the "
          "checksum");
    }
    query.emplace_back("terraform-get", "1");
  }
  if (address.source.kind == SourceKind::s3 || address.source.kind == SourceKind::gcs) {
    const auto read = address.source.kind == SourceKind::s3 ? read_s3_object : read_gcs_object;
    MODLOCK_TRY(const auto object, read(*url, address.source.identity()));
    if (object.is_google && request.format && !std::ranges::all_of(object.version, ascii::is_digit)) {
      return fail(
          Code::source_invalid,
          fmt::format("\"{}\" has a fragment that is not the generation of an object", address.source.identity()),
          "remove the text after #, or write the number of a generation");
    }
    request.object = object;
    request.credentials =
        object.is_google
            ? CredentialQuery{CredentialUse::gcs, "Google Cloud Storage", "", address.is_users}
            : CredentialQuery{CredentialUse::s3, "S3", first_value(query, "aws_profile"), address.is_users};
    if (object.is_google && !object.bucket.starts_with(kGoogleStorage)) {  // as the client, to no emulator
      request.credentials.reset();
    }
    const std::string argument = object.is_google ? "generation" : "versionId";
    request.url =
        object.version.empty() ? object.url(object.key) : object.url(object.key, {{argument, object.version}});
    return request;
  }
  url->raw_query = encode_query(std::move(query));
  url->force_query = false;
  url->host = host_in_ascii(url->host);
  request.url = SecretText(url->to_string());
  return request;
}

std::optional<std::string> meta_source(std::string_view page) {
  constexpr const char* kNameForm = R"re(([A-Za-z_\x80-\xff][\w\x80-\xff.:-]*))re";
  static const RE2 kName(kNameForm, RE2::Latin1);
  static const RE2 kAttribute(R"([ \t\r\n/]*)" + std::string(kNameForm) +
                                  R"re((?:[ \t\r\n]*(=)[ \t\r\n]*(?:"([^"<]*)"|'([^'<]*)'|([\w\x80-\xff:-]*)))?)re",
                              RE2::Latin1);
  static const RE2 kEnd(R"([ \t\r\n/]*>)", RE2::Latin1);
  static const RE2 kEncoding(R"re(encoding=["']([^"']*))re", RE2::Latin1);
  re2::StringPiece rest(page.data(), page.size());
  const auto skip_to = [&rest](re2::StringPiece text) {
    const std::size_t at = rest.find(text);
    rest.remove_prefix(at == re2::StringPiece::npos ? rest.size() : at + text.size());
    return at != re2::StringPiece::npos;
  };
  while (skip_to("<")) {
    std::string tag;
    std::string encoding;
    if (const auto* markup = find_where(kMarkup, [&](const auto& one) { return rest.starts_with(one.first); })) {
      const auto [start, end] = *markup;
      rest.remove_prefix(std::string_view(start).size());
      RE2::PartialMatch(*start == '?' ? rest.substr(0, rest.find(end)) : "", kEncoding, &encoding);
      const bool ends_head =
          *start == '/' && RE2::Consume(&rest, kName, &tag) && ascii::equals_ignoring_case(tag, "head");
      if (ends_head || !(encoding.empty() || ascii::equals_ignoring_case(encoding, "utf-8")) || !skip_to(end)) {
        return std::nullopt;
      }
      continue;
    }
    if (!RE2::Consume(&rest, kName, &tag) || ascii::equals_ignoring_case(tag, "body")) {
      return std::nullopt;
    }
    std::map<std::string, std::string> attributes;  // the first of each that is not empty
    std::string name;
    std::string equals;
    std::array<std::string, 3> value;
    while (!RE2::Consume(&rest, kEnd)) {
      if (!RE2::Consume(&rest, kAttribute, &name, &equals, &value[0], &value[1], &value[2])) {
        return std::nullopt;
      }
      std::string& kept = attributes[ascii::lower(name)];
      kept = !kept.empty() ? kept : equals.empty() ? name : unescape_xml(value[0] + value[1] + value[2]);
    }
    if (ascii::equals_ignoring_case(tag, "meta") && attributes["name"] == "terraform-get" &&
        !attributes["content"].empty()) {
      return attributes["content"];
    }
  }
  return std::nullopt;
}

Result<SourceAddress> read_terraform_get(const HttpResponse& response, std::string_view display) {
  std::string where = response.header("X-Terraform-Get").value_or("");
  if (where.empty()) {
    where = meta_source(response.body).value_or("");
  }
  if (where.empty()) {
    return fail(Code::bad_response,
                fmt::format("\"{}\" does not have the name of an archive, and neither its X-Terraform-Get header nor a "
                            "<meta name=\"terraform-get\"> tag points to the module package",
                            display),
                "if it is an archive, add archive=zip (or tar.gz, tar.xz, tar.bz2) to its query");
  }
  const std::size_t colon = where.find(':');
  const std::string_view getter = std::string_view(where).substr(0, std::min(colon, where.size()));
  if (colon != std::string::npos && getter == "oci") {
    return says(display, where, Code::source_unsupported, "which OpenTofu does not follow");
  }
  if (colon == std::string::npos || kind_of_getter(getter) == SourceKind::unsupported) {
    return says(display, where, Code::bad_response, "which is not a full address");
  }
  auto address = parse_source(where);
  if (!address && address.error().code == Code::source_invalid) {
    Error error = says(display, where, Code::bad_response, "which is not a module source").value();
    return fail(with_note(std::move(error), address.error().message));
  }
  return address;
}

}  // namespace modlock::archive
