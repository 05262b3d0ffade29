#include "backends/address/hostname.h"

#include <idn2.h>

#include <algorithm>
#include <memory>

#include "backends/base/deleter.h"

namespace modlock {
namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string to_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

bool is_name_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool has_only_name_characters(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_name_character);
}

// Letters, digits and inner dashes, but not two dashes where IDNA keeps its marks. Empty labels are the resolver's
// business.
bool is_plain_label(std::string_view label) {
  if (label.empty()) {
    return true;
  }
  return has_only_name_characters(label) && label.front() != '-' && label.back() != '-' &&
         label.substr(2 < label.size() ? 2 : label.size(), 2) != "--";
}

bool has_only_plain_labels(std::string_view name) {
  while (true) {
    const std::size_t dot = name.find('.');
    if (!is_plain_label(name.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    name.remove_prefix(dot + 1);
  }
}

using Idn2Text = std::unique_ptr<char, Deleter<idn2_free>>;

// nullopt where there is none.
std::optional<std::string> to_ascii(const std::string& name) {
  char* raw = nullptr;
  if (idn2_to_ascii_8z(name.c_str(), &raw, IDN2_NONTRANSITIONAL) != IDN2_OK) {
    return std::nullopt;
  }
  return std::string(Idn2Text(raw).get());
}

}  // namespace

std::optional<HostForms> lookup_host(std::string_view name) {
  std::string lower = to_lower(name);
  if (is_ascii(lower) && lower.find("xn--") == std::string::npos) {
    if (!has_only_plain_labels(lower)) {
      return std::nullopt;
    }
    return HostForms{lower, lower};
  }
  if (!has_only_name_characters(lower)) {
    return std::nullopt;
  }
  // Under its STD3 rules libidn2 drops what maps to a forbidden character, so they are applied to what it gives.
  const auto ascii = to_ascii(lower);
  if (!ascii || !has_only_name_characters(*ascii)) {
    return std::nullopt;
  }
  char* raw = nullptr;
  if (idn2_to_unicode_8z8z(ascii->c_str(), &raw, 0) != IDN2_OK) {
    return std::nullopt;
  }
  const std::string display = Idn2Text(raw).get();
  // "xn--…" may hold what no name can.
  return to_ascii(display) == ascii ? std::optional(HostForms{*ascii, display}) : std::nullopt;
}

}  // namespace modlock
