#include "backends/external/quoting.h"

#include <algorithm>

#include "backends/address/source_text.h"
#include "protocol/base/utf8.h"

namespace modlock::external {
namespace {

constexpr std::size_t kLongestQuote = 500;
constexpr std::string_view kLeftOut = "…";

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

std::string quotable(std::string_view text, const Secrets& secrets) {
  return shortened(to_valid_utf8(escape_controls(secrets.scrub(scrub_urls(trimmed(text))))));
}

}  // namespace modlock::external
