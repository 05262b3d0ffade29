#include "backends/address/source_text.h"

#include <fmt/ranges.h>

#include "backends/base/ascii.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

constexpr std::size_t kPrintableBytes = 200;

// Returns how many bytes at `i` form a control character or line ending; 0 if there is none.
std::size_t control_size(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  if (byte(i) < 0x20 || byte(i) == 0x7f) {
    return 1;
  }
  if (byte(i) == 0xc2 && byte(i + 1) >= 0x80 && byte(i + 1) <= 0x9f) {
    return 2;
  }
  const bool separator = byte(i) == 0xe2 && byte(i + 1) == 0x80 && (byte(i + 2) == 0xa8 || byte(i + 2) == 0xa9);
  return separator ? 3 : 0;
}

// Returns how many bytes at `i` form a character that is not visible or changes the direction of the text: U+061C,
// U+200B to U+200F, U+202A to U+202E, U+2060 to U+206F, U+FEFF and U+E0000 to U+E007F; 0 if there is none.
std::size_t invisible_size(std::string_view text, std::size_t i) {
  const std::string_view rest = text.substr(i);
  const auto byte = [&](std::size_t at) { return at < rest.size() ? static_cast<unsigned char>(rest[at]) : 0U; };
  if (rest.starts_with("\xd8\x9c")) {
    return 2;
  }
  const bool is_mark =
      rest.starts_with("\xe2\x80") && ((byte(2) >= 0x8b && byte(2) <= 0x8f) || (byte(2) >= 0xaa && byte(2) <= 0xae));
  const bool is_operator = rest.starts_with("\xe2\x81") && byte(2) >= 0xa0 && byte(2) <= 0xaf;
  if (is_mark || is_operator || rest.starts_with("\xef\xbb\xbf")) {
    return 3;
  }
  const bool is_tag =
      rest.starts_with("\xf3\xa0") && (byte(2) == 0x80 || byte(2) == 0x81) && byte(3) >= 0x80 && byte(3) <= 0xbf;
  return is_tag ? 4 : 0;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(at + 1);
  }
}

bool take(std::string_view& rest, std::string_view start) {
  const bool is_there = rest.starts_with(start);
  rest.remove_prefix(is_there ? start.size() : 0);
  return is_there;
}

std::string clean_path(std::string_view path) {
  const bool rooted = !path.empty() && path[0] == '/';
  std::vector<std::string_view> kept;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") {
      continue;
    }
    if (part != "..") {
      kept.push_back(part);
    } else if (!kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else if (!rooted) {
      kept.push_back(part);
    }
  }
  const std::string joined = fmt::format("{}{}", rooted ? "/" : "", fmt::join(kept, "/"));
  return joined.empty() ? "." : joined;
}

bool leads_outside(std::string_view cleaned) {
  return cleaned == ".." || cleaned.substr(0, 3) == "../";
}

bool has_dot_dot(std::string_view path) {
  std::string slashes(path);
  std::ranges::replace(slashes, '\\', '/');
  const auto parts = split(slashes, '/');
  return std::ranges::find(parts, "..") != parts.end();
}

std::pair<std::string, std::string> split_subdir(std::string_view address) {
  const std::string_view location = address.substr(0, address.find('?'));
  const std::size_t scheme = location.find("://");
  const std::size_t split = location.find("//", scheme == std::string_view::npos ? 0 : scheme + 3);
  if (split == std::string_view::npos) {
    return {std::string(address), {}};
  }
  const std::string_view subdir = location.substr(split + 2);
  std::string package(location.substr(0, split));
  package += address.substr(location.size());
  return {std::move(package), subdir.empty() ? std::string() : clean_path(subdir)};
}

std::pair<std::string_view, std::string_view> split_getter(std::string_view address) {
  const auto end = std::ranges::find_if_not(address, ascii::is_alnum);
  const auto length = static_cast<std::size_t>(end - address.begin());
  if (length == 0 || address.substr(length, 2) != "::" || address.size() == length + 2) {
    return {{}, address};
  }
  return {address.substr(0, length), address.substr(length + 2)};
}

std::optional<std::string_view> checksum_list_address(std::string_view argument) {
  constexpr std::string_view kPrefix = "file:";
  return argument.starts_with(kPrefix) ? std::optional(argument.substr(kPrefix.size())) : std::nullopt;
}

bool is_plain_checksum(std::string_view argument) {
  return std::ranges::all_of(argument, [](char c) { return ascii::is_alnum(c) || c == ':'; });
}

bool has_control_characters(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (control_size(text, i) != 0) {
      return true;
    }
  }
  return false;
}

std::string escape_controls(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t size = std::max(control_size(text, i), invisible_size(text, i));
    if (size == 0) {
      out += text[i];
      continue;
    }
    for (std::size_t byte = 0; byte < size; ++byte) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i + byte]));
    }
    i += size - 1;
  }
  return out;
}

std::string quotable(std::string_view text, std::size_t most) {
  return to_valid_utf8(escape_controls(cut_text(std::string(text), most)));
}

std::string without_user(std::string_view url, std::string_view instead) {
  const std::size_t scheme = url.find("://");
  const std::size_t start = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t at = url.rfind('@');
  return at == std::string_view::npos || at < start
             ? std::string(url)
             : fmt::format("{}{}{}", url.substr(0, start), instead, url.substr(at + 1));
}

std::string printable_address(std::string_view address) {
  std::string shown;
  std::string_view rest = address;
  while (true) {
    const auto [getter, behind] = split_getter(rest);
    if (getter.empty()) {
      break;
    }
    shown += fmt::format("{}::", getter);
    rest = behind;
  }
  const std::size_t end = std::min(rest.find_first_of("?#"), rest.size());
  const bool cut = end < rest.size();
  // If an address is malformed, its user-info may be too, so everything up to the last @ may be a secret.
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::size_t scheme = rest.find("://");
    const std::size_t user = scheme < at ? scheme + 3 : 0;
    shown += rest.substr(0, user);
    shown += rest.substr(user, at - user) == "git" ? "git" : "…";
    rest = at < end ? rest.substr(at, end - at) : std::string_view();
  } else {
    rest = rest.substr(0, end);
  }
  shown += rest;
  return shown.size() <= kPrintableBytes && cut ? quotable(shown + "…") : quotable(shown, kPrintableBytes);
}

}  // namespace modlock
