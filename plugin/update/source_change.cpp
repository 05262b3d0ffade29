#include "plugin/update/source_change.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlock {
namespace {

std::string encode(std::string_view value) {
  constexpr std::string_view kPlain = "-._~/:@";
  std::string result;
  for (const char c : value) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          kPlain.find(c) != std::string_view::npos;
    result += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace

std::string Splice::apply(std::string_view before) const {
  return std::string(before.substr(0, start)) + text + std::string(before.substr(end));
}

Splice set_query_argument(std::string_view source, std::initializer_list<std::string_view> replaced,
                          std::string_view name, std::string_view value) {
  const std::string argument = fmt::format("{}={}", name, encode(value));
  const std::size_t question = source.find('?');
  if (question == std::string_view::npos) {
    return {source.size(), source.size(), "?" + argument};
  }
  std::size_t start = question + 1;
  while (start <= source.size()) {
    const std::size_t end = std::min(source.find('&', start), source.size());
    const std::string_view written = source.substr(start, end - start);
    const std::string_view written_name = written.substr(0, written.find('='));
    if (std::find(replaced.begin(), replaced.end(), written_name) != replaced.end()) {
      // Where the name stays, it is the value alone that changes: it may be written somewhere else.
      const bool keeps_name = written_name == name && written_name.size() < written.size();
      return keeps_name ? Splice{start + name.size() + 1, end, encode(value)} : Splice{start, end, argument};
    }
    start = end + 1;
  }
  const bool is_first = question + 1 == source.size();
  return {source.size(), source.size(), (is_first ? "" : "&") + argument};
}

}  // namespace modlock
