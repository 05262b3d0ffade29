#include <algorithm>
#include <cstddef>
#include <vector>

#include "plugin/value/conversion_rules.h"
#include "plugin/value/convert.h"

namespace modlock::eval {
namespace {

using Kind = Type::Kind;
using Types = std::vector<Type>;

// The search among types of several kinds compares each type with every other.
constexpr std::size_t kMaxMixedTypes = 1000;

Types distinct(std::span<const Type> types) {
  std::unordered_multimap<std::size_t, const Type*> seen;
  Types out;
  for (const Type& type : types) {
    const auto [begin, end] = seen.equal_range(type.hash());
    if (std::any_of(begin, end, [&](const auto& entry) { return *entry.second == type; })) continue;
    seen.emplace(type.hash(), &type);
    out.push_back(type);
  }
  return out;
}

Type collection_of(Kind kind, Type element) {
  if (kind == Kind::list) return Type::list(std::move(element));
  return kind == Kind::set ? Type::set(std::move(element)) : Type::map(std::move(element));
}

bool all_convert(const Types& types, const Type& to, Safety safety) {
  return std::all_of(types.begin(), types.end(),
                     [&](const Type& type) { return type == to || is_convertible(type, to, safety); });
}

std::optional<Type> unify_collections(Kind kind, const Types& types, Safety safety) {
  Types elements;
  for (const Type& type : types) elements.push_back(type.element());
  auto element = unify(elements, safety);
  if (!element) return std::nullopt;
  Type unified = collection_of(kind, std::move(*element));
  if (!all_convert(types, unified, safety)) return std::nullopt;
  return unified;
}

// Tuples to a list, objects to a map.
std::optional<Type> unify_parts(Kind collection, const Types& types, Safety safety) {
  Types parts;
  for (const Type& type : types) {
    const Types more = type.is(Kind::object) ? attribute_types(type) : type.items();
    parts.insert(parts.end(), more.begin(), more.end());
  }
  auto element = unify(parts, safety);
  if (!element) return std::nullopt;
  Type unified = collection_of(collection, std::move(*element));
  if (!all_convert(types, unified, safety)) return std::nullopt;
  return unified;
}

bool has_same_names(const Type& left, const Type& right) {
  return std::equal(left.attributes().begin(), left.attributes().end(), right.attributes().begin(),
                    right.attributes().end(), [](const auto& l, const auto& r) { return l.first == r.first; });
}

std::optional<Type> unify_objects(const Types& types, Safety safety) {
  const Type& first = types.front();
  const bool same_names =
      std::all_of(types.begin(), types.end(), [&](const Type& type) { return has_same_names(first, type); });
  if (!same_names) return unify_parts(Kind::map, types, safety);
  std::map<std::string, Type> attributes;
  for (const auto& [name, unused] : first.attributes()) {
    Types across;
    for (const Type& type : types) across.push_back(type.attributes().at(name));
    auto unified = unify(across, safety);
    if (!unified) return std::nullopt;
    attributes.emplace(name, std::move(*unified));
  }
  Type unified = Type::object(std::move(attributes));
  return all_convert(types, unified, safety) ? unified : unify_parts(Kind::map, types, safety);
}

std::optional<Type> unify_tuples(const Types& types, Safety safety) {
  const std::size_t size = types.front().items().size();
  const bool same_size =
      std::all_of(types.begin(), types.end(), [&](const Type& type) { return type.items().size() == size; });
  if (!same_size) return unify_parts(Kind::list, types, safety);
  Types items;
  for (std::size_t i = 0; i < size; ++i) {
    Types across;
    for (const Type& type : types) across.push_back(type.items()[i]);
    auto unified = unify(across, safety);
    if (!unified) return std::nullopt;
    items.push_back(std::move(*unified));
  }
  Type unified = Type::tuple(std::move(items));
  return all_convert(types, unified, safety) ? unified : unify_parts(Kind::list, types, safety);
}

// A tuple next to lists is treated as a list, an object next to maps as a map.
std::optional<Type> unify_disguised(Kind structural, Kind collection, const Types& types, Safety safety) {
  Types hidden;
  Types others;
  for (const Type& type : types) (type.is(structural) ? hidden : others).push_back(type);
  auto found = unify_parts(collection, hidden, safety);
  if (!found) return std::nullopt;
  others.push_back(std::move(*found));
  auto unified = unify(others, safety);
  return unified && unified->is(collection) ? unified : std::nullopt;
}

// Which of two types is more general: negative for `left`, zero if undecided.
int compare_generality(const Type& left, const Type& right);

// Compares all pairs of parts; zero if they disagree.
template <typename Parts, typename PartOf>
int compare_parts(const Parts& left, const Parts& right, PartOf part_of) {
  bool left_wins = false;
  bool right_wins = false;
  for (auto l = left.begin(), r = right.begin(); l != left.end(); ++l, ++r) {
    const int order = compare_generality(part_of(*l), part_of(*r));
    left_wins = left_wins || order < 0;
    right_wins = right_wins || order > 0;
  }
  return left_wins == right_wins ? 0 : (left_wins ? -1 : 1);
}

// Lists rank above tuples, tuples above sets, maps above objects.
int rank(Kind kind) {
  switch (kind) {
    case Kind::list:
    case Kind::map:
      return 0;
    case Kind::tuple:
    case Kind::object:
      return 1;
    default:
      return 2;
  }
}

int compare_generality(const Type& left, const Type& right) {
  const auto is_dynamic = [](const Type& type) { return type.is(Kind::dynamic) ? 1 : 0; };
  if (is_dynamic(left) != is_dynamic(right)) return is_dynamic(left) - is_dynamic(right);
  if (left.is_primitive() && right.is_primitive()) {
    return (right.is(Kind::string) ? 1 : 0) - (left.is(Kind::string) ? 1 : 0);
  }
  if (left.kind() != right.kind()) return rank(left.kind()) - rank(right.kind());
  if (left.is_collection()) return compare_generality(left.element(), right.element());
  if (left.is(Kind::tuple) && left.items().size() == right.items().size()) {
    return compare_parts(left.items(), right.items(), [](const Type& type) -> const Type& { return type; });
  }
  if (left.is(Kind::object) && has_same_names(left, right)) {
    return compare_parts(left.attributes(), right.attributes(),
                         [](const auto& entry) -> const Type& { return entry.second; });
  }
  return 0;
}

// More general types first; otherwise in the order given.
std::vector<std::size_t> by_generality(const Types& types) {
  std::vector<std::vector<std::size_t>> less_general(types.size());
  std::vector<std::size_t> waits_for(types.size(), 0);
  for (std::size_t i = 0; i < types.size(); ++i) {
    for (std::size_t j = i + 1; j < types.size(); ++j) {
      const int order = compare_generality(types[i], types[j]);
      if (order == 0) continue;
      less_general[order < 0 ? i : j].push_back(order < 0 ? j : i);
      ++waits_for[order < 0 ? j : i];
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (waits_for[i] == 0) order.push_back(i);
  }
  for (std::size_t done = 0; done < order.size(); ++done) {
    for (const std::size_t next : less_general[order[done]]) {
      if (--waits_for[next] == 0) order.push_back(next);
    }
  }
  return order;
}

// The first of the types, the more general ones first, that all others convert to.
std::optional<Type> choose(const Types& types, Safety safety) {
  if (types.size() > kMaxMixedTypes) return std::nullopt;
  for (const std::size_t index : by_generality(types)) {
    if (all_convert(types, types[index], safety)) return types[index];
  }
  return std::nullopt;
}

}  // namespace

std::optional<Type> unify(std::span<const Type> types, Safety safety) {
  if (types.empty()) return std::nullopt;
  const Types all = distinct(types);
  if (all.size() == 1) return all.front();
  const auto count = [&](Kind kind) {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const Type& t) { return t.is(kind); }));
  };
  const bool has_dynamic = count(Kind::dynamic) > 0;
  const std::size_t others = all.size() - count(Kind::dynamic);
  for (const Kind kind : {Kind::map, Kind::list, Kind::set, Kind::object, Kind::tuple}) {
    if (count(kind) != others) continue;
    if (has_dynamic) return Type::dynamic();
    if (kind == Kind::object) return unify_objects(all, safety);
    return kind == Kind::tuple ? unify_tuples(all, safety) : unify_collections(kind, all, safety);
  }
  if (count(Kind::object) > 0 && count(Kind::tuple) > 0) return std::nullopt;
  std::optional<Type> found;
  if (count(Kind::map) > 0 && count(Kind::map) + count(Kind::object) == others) {
    found = unify_disguised(Kind::object, Kind::map, all, safety);
  } else if (count(Kind::list) > 0 && count(Kind::list) + count(Kind::tuple) == others) {
    found = unify_disguised(Kind::tuple, Kind::list, all, safety);
  }
  return found ? found : choose(all, safety);
}

std::optional<Type> unify_unsafe(std::span<const Type> types) {
  return types.empty() ? Type::dynamic() : unify(types, Safety::unsafe);
}

}  // namespace modlock::eval
