#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace modlock {

// Returns what `of` (a function or a member) makes of each item of a range, in its order.
template <typename Range, typename Of>
auto mapped(const Range& range, const Of& of) {
  std::vector<std::decay_t<decltype(std::invoke(of, *std::begin(range)))>> made;
  std::transform(std::begin(range), std::end(range), std::back_inserter(made),
                 [&](const auto& item) { return std::invoke(of, item); });
  return made;
}

// Returns the keys or the values of a map, in their order.
template <typename Map>
auto keys_of(const Map& map) {
  return mapped(map, &Map::value_type::first);
}
template <typename Map>
auto values_of(const Map& map) {
  return mapped(map, &Map::value_type::second);
}

// Sorts items and removes repeated ones.
template <typename Item>
void sort_unique(std::vector<Item>& items) {
  std::ranges::sort(items);
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace modlock
