#include "backends/archive/checksum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "backends/address/source_text.h"

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
    "write checksum=sha256:<64 hexadecimal digits> (or md5, sha1, sha512), or checksum=file:<URL of a list>";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

const Algorithm* by_name(std::string_view name) {
  const auto* const found =
      std::find_if(kAlgorithms.begin(), kAlgorithms.end(), [&](const Algorithm& row) { return row.name == name; });
  return found == kAlgorithms.end() ? nullptr : found;
}

std::optional<Checksum> of_type(std::string_view type, std::string_view digits) {
  Checksum checksum{.digits = lower_case(digits)};
  const Algorithm* const algorithm = by_name(lower_case(type));
  if (algorithm == nullptr || checksum.digits.size() != algorithm->digits ||
      checksum.digits.find_first_not_of("0123456789abcdef") != std::string::npos) {
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
  std::string_view name;  // empty: of any archive
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

}  // namespace

std::string Checksum::text() const {
  const auto* const row = std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                                       [&](const Algorithm& candidate) { return candidate.hash == algorithm; });
  return fmt::format("{}:{}", row->name, digits);
}

Result<Checksum> parse_checksum(std::string_view text) {
  const std::size_t colon = text.find(':');
  auto checksum =
      colon == std::string_view::npos ? of_length(text) : of_type(text.substr(0, colon), text.substr(colon + 1));
  if (!checksum) {
    return fail(Code::source_invalid, fmt::format("the checksum \"{}\" is none", printable_address(text)), kHint);
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
        line && (line->name.empty() || std::find(names.begin(), names.end(), line->name) != names.end())) {
      return line->checksum;
    }
  }
  return std::nullopt;
}

}  // namespace modlock::archive
