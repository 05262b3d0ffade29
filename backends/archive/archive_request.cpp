#include "backends/archive/archive_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "protocol/base/utf8.h"

namespace modlock::archive {
namespace {

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

constexpr std::string_view kBlanks = " \t\r\n";

bool is_letter(char c) {
  return ascii::is_alpha(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

bool is_name(char c) {
  return is_letter(c) || ascii::is_digit(c) || c == '-' || c == '.' || c == ':';
}

// Appends the character of "&<name>;"; returns false if it is unknown.
bool append_reference(std::string& text, std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNamed = {
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [known, meant] : kNamed) {
    if (known == name) {
      text += meant;
      return true;
    }
  }
  if (name.size() < 2 || name[0] != '#') {
    return false;
  }
  const bool is_hexadecimal = name[1] == 'x';
  const std::string_view digits = name.substr(is_hexadecimal ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hexadecimal ? 16 : 10);
  const bool is_character = code < 0x110000 && (code < 0xD800 || code > 0xDFFF);
  if (error != std::errc() || end != digits.data() + digits.size() || !is_character) {
    return false;
  }
  append_utf8(text, code);
  return true;
}

// Reads a page tag by tag. `rest_` is the unread part.
class Page {
 public:
  explicit Page(std::string_view text) : rest_(text) {}

  std::optional<std::string> find() {
    while (skip_to("<")) {
      bool fine = true;
      if (take(rest_, "!--")) {
        fine = skip_to("-->");
      } else if (take(rest_, "![CDATA[")) {
        fine = skip_to("]]>");
      } else if (take(rest_, "?")) {
        fine = declaration();
      } else if (take(rest_, "!")) {
        fine = skip_to(">");
      } else if (take(rest_, "/")) {
        fine = !ascii::equals_ignoring_case(name(), "head") && skip_to(">");
      } else {
        fine = element();
      }
      if (!fine || !source_.empty()) {
        break;
      }
    }
    return source_.empty() ? std::nullopt : std::optional(source_);
  }

 private:
  // Skips to the end of the next occurrence; returns false if there is none.
  bool skip_to(std::string_view text) {
    const std::size_t at = rest_.find(text);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + text.size());
    return at != std::string_view::npos;
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size())); }

  // Returns an empty text if there is no name.
  std::string_view name() {
    return rest_.empty() || !is_letter(rest_[0]) ? std::string_view() : take_while(rest_, is_name);
  }

  // "<?xml … ?>" must not name an encoding other than UTF-8.
  bool declaration() {
    const std::string_view text = rest_.substr(0, rest_.find("?>"));
    const std::size_t at = text.find("encoding=");
    if (at != std::string_view::npos) {
      const std::string_view value = text.substr(at + 9);
      if (value.size() < 2 || !ascii::equals_ignoring_case(value.substr(1, value.find(value[0], 1) - 1), "utf-8")) {
        return false;
      }
    }
    return skip_to("?>");
  }

  // False if the search ends here.
  bool element() {
    const std::string_view tag = name();
    if (tag.empty() || ascii::equals_ignoring_case(tag, "body")) {
      return false;
    }
    std::string called;
    std::string content;
    for (skip_blanks(); !take(rest_, ">"); skip_blanks()) {
      if (take(rest_, "/")) {
        continue;
      }
      const std::string_view key = name();
      std::optional<std::string> given = key.empty() ? std::nullopt : value(key);
      if (!given) {
        return false;
      }
      if (ascii::equals_ignoring_case(key, "name") && called.empty()) {
        called = std::move(*given);
      } else if (ascii::equals_ignoring_case(key, "content") && content.empty()) {
        content = std::move(*given);
      }
    }
    if (ascii::equals_ignoring_case(tag, "meta") && called == "terraform-get") {
      source_ = std::move(content);
    }
    return true;
  }

  // Reads the value of an attribute after its name; returns nullopt if it is unterminated.
  std::optional<std::string> value(std::string_view key) {
    skip_blanks();
    if (!take(rest_, "=")) {
      return std::string(key);
    }
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    if (quote != '"' && quote != '\'') {
      return std::string(take_while(rest_, [](char c) { return is_name(c) && c != '.'; }));
    }
    rest_.remove_prefix(1);
    const std::size_t end = rest_.find(quote);
    const std::string_view raw = rest_.substr(0, end);
    if (end == std::string_view::npos || raw.find('<') != std::string_view::npos) {
      return std::nullopt;
    }
    rest_.remove_prefix(end + 1);
    return unescape_xml(raw);
  }

  std::string_view rest_;
  std::string source_;
};

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
  constexpr std::size_t kLongest = 12;
  std::string text;
  while (!value.empty()) {
    const std::size_t end = value.substr(0, kLongest).find(';');
    if (value[0] == '&' && end != std::string_view::npos && append_reference(text, value.substr(1, end - 1))) {
      value.remove_prefix(end + 1);
    } else {
      text += value[0];
      value.remove_prefix(1);
    }
  }
  return text;
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

Result<ArchiveRequest> read_request(const SourceAddress& address) {
  auto url = GoUrl::parse(address.package_url.reveal());
  if (!url) {
    return fail(Code::source_invalid, fmt::format("\"{}\" has no valid URL", address.source.identity()));
  }
  ArchiveRequest request;
  request.host = address.source.host;
  request.has_user = url->user && !url->user->name.empty();
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
    request.object = object;
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
  return Page(page).find();
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
