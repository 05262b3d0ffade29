#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>
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

// Returns the keys that any of several maps has, in order.
template <typename... Maps>
auto all_keys(const Maps&... maps) {
  std::set<typename std::tuple_element_t<0, std::tuple<Maps...>>::key_type> keys;
  (std::ranges::for_each(maps, [&](const auto& entry) { keys.insert(entry.first); }), ...);
  return keys;
}

// Returns the value that a map has for a key; null: none.
template <typename Map, typename Key>
auto* find_in(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

// Returns the first item of a range that fits; null: none does.
template <typename Range, typename Fits>
auto* find_where(Range& range, const Fits& fits) {
  const auto found = std::ranges::find_if(range, fits);
  return found == std::ranges::end(range) ? nullptr : &*found;
}

// Returns the first item of a range of which `of` (a function or a member) makes this value; null: there is none.
template <typename Range, typename Value, typename Of>
auto* find_by(Range& range, const Value& value, const Of& of) {
  return find_where(range, [&](const auto& item) { return std::invoke(of, item) == value; });
}

template <typename Range, typename Item>
bool contains(const Range& range, const Item& item) {
  return std::ranges::find(range, item) != std::ranges::end(range);
}

// Returns the items of a vector that fit, in their order.
template <typename Item, typename Fits>
std::vector<Item> filtered(const std::vector<Item>& items, const Fits& fits) {
  std::vector<Item> kept;
  std::ranges::copy_if(items, std::back_inserter(kept), fits);
  return kept;
}

// Sorts items and removes repeated ones.
template <typename Item>
void sort_unique(std::vector<Item>& items) {
  std::ranges::sort(items);
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace modlock
