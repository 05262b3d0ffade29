#include "backends/address/go_url.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "backends/base/ascii.h"

namespace modlock {
namespace {

// The parts of a URL, which differ in which bytes need no escape.
enum class Part { path, host, zone, user, query, fragment };

bool has_character(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

// Whether Go prints a byte unescaped in that part.
bool is_plain(char c, Part part) {
  if (ascii::is_alnum(c) || has_character("-_.~", c)) {
    return true;
  }
  switch (part) {
    case Part::path:
      return has_character("$&+,/:;=@", c);
    case Part::host:
    case Part::zone:
      return has_character("!$&'()*+,;=:[]<>\"", c);
    case Part::user:
      return has_character("$&+,;=", c);
    case Part::query:
      return false;
    case Part::fragment:
      return has_character("$&+,/:;=?@!()*", c);
  }
  return false;
}

bool is_escape(std::string_view text, std::size_t i) {
  return i + 2 < text.size() && ascii::is_hex(text[i + 1]) && ascii::is_hex(text[i + 2]);
}

char escaped_byte(std::string_view text, std::size_t i) {
  return static_cast<char>(ascii::hex_value(text[i + 1]) * 16 + ascii::hex_value(text[i + 2]));
}

// Whether a host may contain this escape: only bytes outside ASCII, and in a zone also "%" and the bytes that may be
// unescaped there.
bool may_escape(std::string_view escape, char byte, Part part) {
  if (escape == "%25") {
    return true;
  }
  if (part == Part::host) {
    return static_cast<unsigned char>(byte) >= 0x80;
  }
  return part != Part::zone || byte == ' ' || is_plain(byte, Part::host);
}

std::optional<std::string> unescape(std::string_view text, Part part) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (!is_escape(text, i) || !may_escape(text.substr(i, 3), escaped_byte(text, i), part)) {
        return std::nullopt;
      }
      out += escaped_byte(text, i);
      i += 2;
    } else if (c == '+' && part == Part::query) {
      out += ' ';
    } else {
      const bool in_host = part == Part::host || part == Part::zone;
      if (in_host && static_cast<unsigned char>(c) < 0x80 && !is_plain(c, part)) {
        return std::nullopt;
      }
      out += c;
    }
  }
  return out;
}

std::string escape(std::string_view text, Part part) {
  std::string out;
  for (const char c : text) {
    if (is_plain(c, part)) {
      out += c;
    } else if (c == ' ' && part == Part::query) {
      out += '+';
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

// Returns the hint if it is a valid encoding of the value, else the default encoding.
std::string escape_with_hint(const std::string& value, const std::string& hint, Part part) {
  const auto valid = [&](char c) { return is_plain(c, part) || has_character("!$&'()*+,;=:@[]%", c); };
  if (!hint.empty() && std::ranges::all_of(hint, valid) && unescape(hint, part) == value) {
    return hint;
  }
  return escape(value, part);
}

bool is_optional_port(std::string_view text) {
  return text.empty() || (text[0] == ':' && text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

bool is_ipv6(std::string_view text) {
  const std::size_t zone = text.find('%');
  if (zone != std::string_view::npos && zone + 1 == text.size()) {
    return false;
  }
  in6_addr address{};
  return inet_pton(AF_INET6, std::string(text.substr(0, zone)).c_str(), &address) == 1;
}

std::optional<std::string> parse_bracketed_host(std::string_view host) {
  const std::size_t close = host.rfind(']');
  if (close == std::string_view::npos || !is_optional_port(host.substr(close + 1))) {
    return std::nullopt;
  }
  const std::string_view name = host.substr(1, close - 1);
  const std::size_t zone = std::min(name.find("%25"), name.size());
  const auto address = unescape(name.substr(0, zone), Part::host);
  const auto zone_name = unescape(name.substr(zone), Part::zone);
  if (!address || !zone_name || !is_ipv6(*address + *zone_name)) {
    return std::nullopt;
  }
  return fmt::format("[{}{}]{}", *address, *zone_name, host.substr(close + 1));
}

std::optional<std::string> parse_host(std::string_view scheme, std::string_view host) {
  if (const std::size_t open = host.rfind('['); open != std::string_view::npos) {
    return open == 0 ? parse_bracketed_host(host) : std::nullopt;
  }
  const bool strict = scheme == "http" || scheme == "https";
  const std::size_t colon = strict ? host.find(':') : host.rfind(':');
  if (colon != std::string_view::npos && !is_optional_port(host.substr(colon))) {
    return std::nullopt;
  }
  return unescape(host, Part::host);
}

std::optional<GoUrl::UserInfo> parse_user(std::string_view text) {
  const auto valid = [](char c) { return ascii::is_alnum(c) || has_character("-._:~!$&'()*+,;=%@", c); };
  if (!std::ranges::all_of(text, valid)) {
    return std::nullopt;
  }
  const std::size_t colon = text.find(':');
  auto name = unescape(text.substr(0, colon), Part::user);
  if (!name) {
    return std::nullopt;
  }
  if (colon == std::string_view::npos) {
    return GoUrl::UserInfo{std::move(*name), std::nullopt};
  }
  auto password = unescape(text.substr(colon + 1), Part::user);
  if (!password) {
    return std::nullopt;
  }
  return GoUrl::UserInfo{std::move(*name), std::move(*password)};
}

// Removes "scheme:" from the front. Returns false if the text starts with a colon.
bool take_scheme(std::string_view& rest, std::string& scheme) {
  if (!rest.empty() && rest[0] == ':') {
    return false;
  }
  const auto end = std::ranges::find_if_not(rest, [](char c) { return ascii::is_alnum(c) || has_character("+-.", c); });
  const auto length = static_cast<std::size_t>(end - rest.begin());
  if (length == 0 || length == rest.size() || rest[length] != ':' || has_character("0123456789+-.", rest[0])) {
    return true;
  }
  scheme = ascii::lower(rest.substr(0, length));
  rest.remove_prefix(length + 1);
  return true;
}

bool take_authority(std::string_view& rest, GoUrl& url) {
  std::string_view authority = rest.substr(2);
  authority = authority.substr(0, authority.find('/'));
  rest.remove_prefix(2 + authority.size());
  const std::size_t at = authority.rfind('@');
  auto host = parse_host(url.scheme, at == std::string_view::npos ? authority : authority.substr(at + 1));
  if (!host) {
    return false;
  }
  url.host = std::move(*host);
  if (at == std::string_view::npos) {
    return true;
  }
  url.user = parse_user(authority.substr(0, at));
  return url.user.has_value();
}

// Removes "?query" from the end.
void take_query(std::string_view& rest, GoUrl& url) {
  const std::size_t mark = rest.find('?');
  if (mark == std::string_view::npos) {
    return;
  }
  url.force_query = mark + 1 == rest.size();
  url.raw_query = rest.substr(mark + 1);
  rest = rest.substr(0, mark);
}

bool set_encoded(std::string_view encoded, Part part, std::string& value, std::string& hint) {
  auto decoded = unescape(encoded, part);
  if (!decoded) {
    return false;
  }
  value = std::move(*decoded);
  if (escape(value, part) != encoded) {
    hint = encoded;
  }
  return true;
}

}  // namespace

std::optional<GoUrl> GoUrl::parse(std::string_view text) {
  GoUrl url;
  const std::size_t mark = text.find('#');
  if (mark != std::string_view::npos) {
    if (!set_encoded(text.substr(mark + 1), Part::fragment, url.fragment, url.raw_fragment)) {
      return std::nullopt;
    }
    text = text.substr(0, mark);
  }
  const bool has_control = std::ranges::any_of(text, ascii::is_control);
  std::string_view rest = text;
  if (has_control || !take_scheme(rest, url.scheme)) {
    return std::nullopt;
  }
  take_query(rest, url);
  if (rest.substr(0, 1) != "/") {
    if (!url.scheme.empty()) {
      url.opaque = rest;
      return url;
    }
    if (rest.substr(0, rest.find('/')).find(':') != std::string_view::npos) {
      return std::nullopt;
    }
  }
  const bool authority = rest.substr(0, 2) == "//" && (!url.scheme.empty() || rest.substr(0, 3) != "///");
  if (authority && !take_authority(rest, url)) {
    return std::nullopt;
  }
  url.omit_host = !authority && !url.scheme.empty() && rest.substr(0, 1) == "/";
  if (!set_encoded(rest, Part::path, url.path, url.raw_path)) {
    return std::nullopt;
  }
  return url;
}

std::string GoUrl::escaped_path() const {
  return path == "*" ? path : escape_with_hint(path, raw_path, Part::path);
}

std::string GoUrl::escaped_user() const {
  return user ? escape(user->name, Part::user) : std::string();
}

std::string GoUrl::to_string() const {
  std::string out;
  if (!scheme.empty()) {
    out += scheme + ":";
  }
  if (!opaque.empty()) {
    out += opaque;
  } else {
    const bool silent = omit_host && host.empty() && !user;
    if (!silent && (!host.empty() || user || (!scheme.empty() && !path.empty()))) {
      out += "//";
      if (user) {
        out += escaped_user();
        out += user->password ? ":" + escape(*user->password, Part::user) : std::string();
        out += "@";
      }
      out += escape(host, Part::host);
    }
    const std::string encoded = escaped_path();
    if (!encoded.empty() && encoded[0] != '/' && !host.empty()) {
      out += "/";
    }
    if (out.empty() && encoded.substr(0, encoded.find('/')).find(':') != std::string::npos) {
      out += "./";
    }
    out += encoded;
  }
  if (force_query || !raw_query.empty()) {
    out += "?" + raw_query;
  }
  if (!fragment.empty()) {
    out += "#" + escape_with_hint(fragment, raw_fragment, Part::fragment);
  }
  return out;
}

QueryArguments parse_query(std::string_view query, bool* malformed) {
  QueryArguments arguments;
  while (!query.empty()) {
    const std::string_view argument = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(argument.size() + 1, query.size()));
    if (argument.empty()) {
      continue;
    }
    const std::size_t equals = argument.find('=');
    auto key = unescape(argument.substr(0, equals), Part::query);
    auto value = equals == std::string_view::npos ? std::string() : unescape(argument.substr(equals + 1), Part::query);
    if (argument.find(';') != std::string_view::npos || !key || !value) {
      if (malformed != nullptr) {
        *malformed = true;
      }
      continue;
    }
    arguments.emplace_back(std::move(*key), std::move(*value));
  }
  return arguments;
}

std::string encode_query(QueryArguments arguments) {
  std::ranges::stable_sort(arguments, {}, &QueryArguments::value_type::first);
  std::string out;
  for (const auto& [key, value] : arguments) {
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", escape(key, Part::query), escape(value, Part::query));
  }
  return out;
}

std::string percent_encoded(std::string_view text, std::string_view also) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = ascii::is_alnum(c) || has_character("-._~", c) || has_character(also, c);
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && is_escape(text, i)) {
      out += escaped_byte(text, i);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace modlock
