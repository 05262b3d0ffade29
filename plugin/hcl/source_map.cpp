#include "plugin/hcl/source_map.h"

#include <algorithm>
#include <string_view>

#include "plugin/hcl/characters.h"

namespace modlock::hcl {
namespace {

// Returns the start of the character that ends before `end`.
std::size_t character_before(std::string_view text, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

}  // namespace

SourceMap::SourceMap(const JsonString& string, Position quote)
    : string_(string), quote_(quote), raw_(1, '"'), last_(quote) {
  const std::string_view text = string.text;
  std::size_t done = 0;
  std::size_t ahead = 0;
  for (const auto& [offset, shift] : string.shifts) {
    const std::size_t escaped = character_before(text, offset);
    raw_.append(text.substr(done, escaped - done));
    // An escape is plain ASCII.
    raw_.append(offset - escaped + shift - ahead, 'x');
    done = offset;
    ahead = shift;
  }
  raw_.append(text.substr(done));
}

Position SourceMap::at(std::size_t offset) {
  const auto& shifts = string_.shifts;
  const auto next = std::upper_bound(shifts.begin(), shifts.end(), offset,
                                     [](std::size_t value, const auto& shift) { return value < shift.first; });
  const std::size_t raw = 1 + offset + (next == shifts.begin() ? 0 : (next - 1)->second);
  if (quote_.byte + raw < last_.byte) last_ = quote_;
  const std::size_t done = last_.byte - quote_.byte;
  last_ = advance(last_, std::string_view(raw_).substr(done, raw - done));
  return last_;
}

}  // namespace modlock::hcl
