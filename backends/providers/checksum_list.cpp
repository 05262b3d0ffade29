#include "backends/providers/checksum_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "backends/address/source_text.h"
#include "backends/http/text.h"
#include "protocol/base/utf8.h"

namespace modlock::provider_registry {
namespace {

constexpr std::string_view kBlanks = " \t\v\f\r";

// The first two fields of a line; empty where it has fewer.
struct Line {
  std::string_view hash;
  std::string_view file_name;
};

std::string_view take_field(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  const std::string_view field = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(field.size());
  return field;
}

// Takes the next line off; nullopt at the end. What follows the last line end is a line where anything does.
std::optional<Line> take_line(std::string_view& rest) {
  if (rest.empty()) {
    return std::nullopt;
  }
  std::string_view text = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(text.size() + 1, rest.size()));
  Line line;
  line.hash = take_field(text);
  line.file_name = take_field(text);
  return line;
}

// "zh:…" in lower case; nullopt where the text is no SHA-256.
std::optional<std::string> hash_of_text(std::string_view text) {
  const bool fits = text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
                      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
                    });
  return fits ? std::optional("zh:" + http::lower_case(text)) : std::nullopt;
}

}  // namespace

Result<void> expect_listed(std::string_view document, std::string_view file_name, std::string_view zh) {
  while (const auto line = take_line(document)) {
    if (line->file_name.empty() || line->file_name != file_name) {
      continue;
    }
    const auto hash = hash_of_text(line->hash);
    if (!hash) {
      return fail(Code::bad_response, fmt::format("checksum list has invalid SHA256 hash \"{}\"",
                                                  to_valid_utf8(escape_controls(line->hash.substr(0, 80)))));
    }
    if (*hash != zh) {
      return fail(Code::hash_mismatch, fmt::format("checksum list has unexpected SHA-256 hash {} (expected {})",
                                                   hash->substr(3), zh.substr(3)));
    }
    return {};
  }
  return fail(Code::bad_response,
              fmt::format("checksum list has no SHA-256 hash for \"{}\"", escape_controls(file_name)));
}

Result<std::vector<std::string>> hashes_of(std::string_view document) {
  std::vector<std::string> hashes;
  while (const auto line = take_line(document)) {
    if (line->hash.empty()) {
      return fail(Code::bad_response, "checksum list has a blank line");
    }
    auto hash = line->file_name.empty() ? std::nullopt : hash_of_text(line->hash);
    if (!hash) {
      return std::vector<std::string>();
    }
    hashes.push_back(std::move(*hash));
  }
  return hashes;
}

}  // namespace modlock::provider_registry
