#include "backends/base/text.h"

#include <fmt/ranges.h>

#include <numeric>

namespace modlock {
namespace {

constexpr std::size_t kNear = 2;
constexpr std::size_t kLongestName = 64;

bool sizes_are_near(std::string_view left, std::string_view right) {
  return std::max(left.size(), right.size()) - std::min(left.size(), right.size()) <= kNear;
}

// Levenshtein distance.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char from : left) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t substituted = diagonal + (from == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::optional<std::string_view> nearest_name(std::string_view name, std::span<const std::string_view> known) {
  std::optional<std::string_view> nearest;
  std::size_t least = kNear + 1;
  for (const std::string_view word : known) {
    if (!sizes_are_near(name, word)) continue;
    const std::size_t far = distance(name, word);
    if (far >= least) continue;
    least = far;
    nearest = word;
  }
  return nearest;
}

std::string some_of(const std::vector<std::string>& texts, std::size_t most) {
  const auto shown = std::span(texts).first(std::min(texts.size(), most));
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     texts.size() > most ? fmt::format(" and {} more", texts.size() - most) : "");
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known) {
  if (name.size() > kLongestName || known.size() > kMostCompared) {
    return {};
  }
  const auto nearest = nearest_name(name, known);
  return nearest ? fmt::format("did you mean \"{}\"?", *nearest) : std::string{};
}

}  // namespace modlock
