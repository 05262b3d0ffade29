#include "backends/archive/archive_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"

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

std::vector<std::string_view> fields_of(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  std::vector<std::string_view> fields;
  for (std::size_t begin = line.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
  return fields;
}

struct Line {
  Checksum checksum;
  std::string_view name;  // empty: any archive
};

std::optional<Line> read_line(std::string_view text) {
  const std::vector<std::string_view> fields = fields_of(text);
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
  return checksum ? std::optional(Line{std::move(*checksum), name}) : std::nullopt;
}

std::string first_value(const QueryArguments& query, std::string_view key) {
  const auto found = std::ranges::find(query, key, &QueryArguments::value_type::first);
  return found == query.end() ? std::string() : found->second;
}

void remove_all(QueryArguments& query, std::string_view key) {
  std::erase_if(query, [&](const auto& argument) { return argument.first == key; });
}

}  // namespace

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
  if (const std::string named = first_value(query, "archive"); named.empty()) {
    request.format = archive_format_of_path(url->path);
  } else {
    request.format = archive_format_of_name(named);
    remove_all(query, "archive");
  }
  request.checksum = first_value(query, "checksum");
  remove_all(query, "checksum");
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
  url->raw_query = encode_query(std::move(query));
  url->force_query = false;
  url->host = host_in_ascii(url->host);
  request.url = SecretText(url->to_string());
  return request;
}

}  // namespace modlock::archive
