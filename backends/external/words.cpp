#include "backends/external/words.h"

#include <algorithm>

#include "backends/go_url.h"
#include "backends/source_text.h"
#include "protocol/utf8.h"

namespace modlock::external {
namespace {

constexpr std::size_t kShortestSecret = 4;
constexpr std::size_t kLongestQuote = 500;
constexpr std::string_view kLeftOut = "…";

std::string without_secret(std::string_view text, std::string_view secret) {
  std::string result;
  while (true) {
    const std::size_t at = text.find(secret);
    result += text.substr(0, at);
    if (at == std::string_view::npos) {
      return result;
    }
    result += kLeftOut;
    text.remove_prefix(at + secret.size());
  }
}

// A password may hold an unescaped "@" or "/": what stands before the last "@" of the word goes.
std::string without_url_secrets(std::string_view text) {
  constexpr std::string_view kMark = "://";
  std::string result;
  while (true) {
    const std::size_t mark = text.find(kMark);
    if (mark == std::string_view::npos) {
      return result.append(text);
    }
    result += text.substr(0, mark + kMark.size());
    text.remove_prefix(mark + kMark.size());
    std::string_view word = text.substr(0, text.find_first_of(" \t\r\n'\"<>"));
    text.remove_prefix(word.size());
    if (const std::size_t at = word.rfind('@'); at != std::string_view::npos) {
      result += kLeftOut;
      word.remove_prefix(at);
    }
    const std::size_t query = std::min(word.find('?'), word.size());
    result += word.substr(0, query);
    result += query < word.size() ? kLeftOut : std::string_view();
  }
}

std::string shortened(std::string text) {
  if (text.size() <= kLongestQuote) {
    return text;
  }
  std::size_t size = kLongestQuote;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) {
    --size;
  }
  text.resize(size);
  return text.append(kLeftOut);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

}  // namespace

std::vector<std::string> secrets_of(const SourceAddress& source) {
  std::vector<std::string> secrets;
  const auto url = GoUrl::parse(source.package_url.reveal());
  if (!url) {
    return secrets;
  }
  if (url->user) {
    if (url->scheme != "ssh" && url->user->name.size() >= kShortestSecret) {
      secrets.push_back(url->user->name);
    }
    if (!url->user->password.value_or("").empty()) {
      secrets.push_back(*url->user->password);
    }
  }
  const auto& shown = source.source.query;
  for (const auto& argument : parse_query(url->raw_query)) {
    if (argument.second.size() >= kShortestSecret && std::find(shown.begin(), shown.end(), argument) == shown.end()) {
      secrets.push_back(argument.second);
    }
  }
  return secrets;
}

std::string quotable(std::string_view text, const std::set<std::string>& secrets) {
  std::vector<std::string_view> by_length(secrets.begin(), secrets.end());
  // One may be a part of another.
  std::sort(by_length.begin(), by_length.end(),
            [](std::string_view left, std::string_view right) { return left.size() > right.size(); });
  std::string result = without_url_secrets(trimmed(text));
  for (const std::string_view secret : by_length) {
    result = without_secret(result, secret);
  }
  return shortened(to_valid_utf8(escape_controls(result)));
}

}  // namespace modlock::external
