#include "protocol/base/json_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/base/utf8.h"

namespace modlock {
namespace {

// Whether a byte stands for itself in a string of JSON.
bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

// How many bytes at the start of `text` do. Most are many: they are looked at in blocks, without a branch for each.
std::size_t plain_size(std::string_view text) {
  constexpr std::size_t kBlock = 16;
  std::size_t size = 0;
  bool all_plain = true;
  while (all_plain && size + kBlock <= text.size()) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      all_plain &= is_plain(text[size + i]);
    }
    size += all_plain ? kBlock : 0;
  }
  while (size < text.size() && is_plain(text[size])) {
    ++size;
  }
  return size;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kShort = "\"\"\\\\\bb\ff\nn\rr\tt";
  for (std::size_t at = 0; at < kShort.size(); at += 2) {
    if (kShort[at] == c) {
      out.append(1, '\\').append(1, kShort[at + 1]);
      return;
    }
  }
  out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
}

// The size of the string that `text` starts with, quotes and all.
std::size_t string_size(std::string_view text) {
  for (std::size_t quote = text.find('"', 1); quote < text.size(); quote = text.find('"', quote + 1)) {
    const std::size_t escapes = quote - 1 - text.find_last_not_of('\\', quote - 1);
    if (escapes % 2 == 0) {
      return quote + 1;
    }
  }
  return text.size();
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (true) {
    const std::size_t plain = plain_size(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) {
      break;
    }
    const std::size_t length = utf8_sequence_length(text);
    if (length > 1) {
      out += text.substr(0, length);
    } else if (length == 1) {
      append_escaped(out, text[0]);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  out += '"';
}

std::string indent_json(std::string_view compact) {
  std::string out;
  out.reserve(2 * compact.size());
  std::string line_start = "\n";
  for (std::size_t at = 0; at < compact.size(); ++at) {
    const char c = compact[at];
    const bool is_empty = (c == '{' || c == '[') && at + 1 < compact.size() && compact[at + 1] == c + 2;
    if (c == '"') {
      const std::size_t size = string_size(compact.substr(at));
      out += compact.substr(at, size);
      at += size - 1;
    } else if (is_empty) {
      out += compact.substr(at++, 2);
    } else if (c == '{' || c == '[') {
      out.append(1, c).append(line_start += "  ");
    } else if (c == '}' || c == ']') {
      line_start.resize(line_start.size() - 2);
      out.append(line_start).append(1, c);
    } else if (c == ',') {
      out.append(1, c).append(line_start);
    } else {
      out.append(c == ':' ? std::string_view(": ") : compact.substr(at, 1));
    }
  }
  return out += '\n';
}

}  // namespace modlock
