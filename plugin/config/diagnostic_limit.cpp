#include "plugin/config/diagnostic_limit.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/ascii.h"

namespace modlock {
namespace {

constexpr std::size_t kLongestWord = 100;

bool is_of_word(char c) {
  return ascii::is_alnum(c) || c == '_' || c == '-' || !ascii::is_ascii(c);
}

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

void cut_long_words(std::string& text) {
  if (text.size() <= kLongestWord) {
    return;
  }
  std::string cut;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    std::size_t characters = 0;
    std::size_t keep = 0;
    for (; end < text.size() && is_of_word(text[end]); ++end) {
      if (starts_character(text[end]) && characters++ == kLongestWord) {
        keep = end;
      }
    }
    cut += text.substr(at, (keep == 0 ? end : keep) - at);
    cut += keep == 0 ? "" : "…";
    at = end;
    if (at < text.size()) {
      cut += text[at++];
    }
  }
  text = std::move(cut);
}

}  // namespace

void limit_diagnostics(Diagnostics& diagnostics, std::size_t from) {
  if (diagnostics.size() > from + kMostDiagnostics) {
    const std::size_t left_out = diagnostics.size() - from - kMostDiagnostics;
    const auto first = diagnostics.begin() + static_cast<std::ptrdiff_t>(from + kMostDiagnostics);
    const bool is_error =
        std::any_of(first, diagnostics.end(), [](const Diagnostic& one) { return one.severity == Severity::error; });
    Diagnostic rest{is_error ? Severity::error : Severity::warning,
                    Error{.code = Code::config_parse,
                          .message = fmt::format("{} more problems of this module are not shown", left_out),
                          .location = first->what.location,
                          .hint = "fix the problems shown, then run the command again"}};
    diagnostics.erase(first, diagnostics.end());
    diagnostics.push_back(std::move(rest));
  }
  for (Diagnostic& diagnostic : diagnostics) {
    cut_long_words(diagnostic.what.message);
    for (Related& related : diagnostic.what.related) {
      cut_long_words(related.message);
    }
  }
}

bool is_reported_already(const Error& error) {
  return error.message.empty();
}

}  // namespace modlock
