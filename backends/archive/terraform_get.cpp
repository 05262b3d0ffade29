#include "backends/archive/terraform_get.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "protocol/base/utf8.h"

namespace modlock::archive {
namespace {

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

std::string unescaped(std::string_view value) {
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

// Reads a page tag by tag. `rest_` is the unread part.
class Page {
 public:
  explicit Page(std::string_view text) : rest_(text) {}

  std::optional<std::string> find() {
    while (skip_to("<")) {
      bool fine = true;
      if (take("!--")) {
        fine = skip_to("-->");
      } else if (take("![CDATA[")) {
        fine = skip_to("]]>");
      } else if (take("?")) {
        fine = declaration();
      } else if (take("!")) {
        fine = skip_to(">");
      } else if (take("/")) {
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
  bool take(std::string_view text) {
    const bool is_there = rest_.substr(0, text.size()) == text;
    rest_.remove_prefix(is_there ? text.size() : 0);
    return is_there;
  }

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
    for (skip_blanks(); !take(">"); skip_blanks()) {
      if (take("/")) {
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
    if (!take("=")) {
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
    return unescaped(raw);
  }

  std::string_view rest_;
  std::string source_;
};

// The getters of OpenTofu except oci, which go-getter does not have after a redirect.
constexpr std::array<std::string_view, 7> kGetters = {"file", "gcs", "git", "hg", "http", "https", "s3"};

tl::unexpected<Error> says(std::string_view display, const std::string& where, Code code, std::string_view why) {
  return fail(
      code,
      fmt::format("\"{}\" states that the module package is at \"{}\", {}", display, printable_address(where), why),
      "the server must send a full address, such as https://host/path.tar.gz or git::https://host/path.git");
}

}  // namespace

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
  if (colon == std::string::npos || std::ranges::find(kGetters, getter) == kGetters.end()) {
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
