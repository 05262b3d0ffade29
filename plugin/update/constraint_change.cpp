#include "plugin/update/constraint_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "plugin/constraint/module_constraint.h"

namespace modlock {
namespace {

using Item = ModuleConstraint::Item;

// The first `count` numbers of a version, where it has none zeros.
std::vector<std::int64_t> first_numbers(const Version& version, std::size_t count) {
  std::vector<std::int64_t> numbers = version.numbers();
  numbers.resize(count);
  return numbers;
}

std::string spell(const std::vector<std::int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, "."));
}

// The bound below which the version lies, one step above it at the last number that the old bound set.
std::string bound_above(const Version& bound, const Version& version) {
  std::size_t last = bound.given_numbers();
  while (last > 1 && bound.numbers()[last - 1] == 0) {
    --last;
  }
  std::vector<std::int64_t> numbers = first_numbers(version, last);
  ++numbers.back();
  numbers.resize(bound.given_numbers());
  return spell(numbers);
}

// What the item's version becomes; nullopt where the item must not change for it.
std::optional<std::string> new_bound(const Item& item, const Version& version) {
  switch (item.comparator) {
    case Comparator::equal:
    case Comparator::less_equal:
      return version.to_string();
    case Comparator::pessimistic:
      return version.prerelease().empty() ? spell(first_numbers(version, item.version.given_numbers()))
                                          : version.to_string();
    case Comparator::less:
      return bound_above(item.version, version);
    default:
      return std::nullopt;
  }
}

// An item as it stands in the text, blanks included.
Result<std::string> let_in_item(std::string_view written, const Version& version) {
  auto parsed = ModuleConstraint::parse(written);
  if (!parsed) {
    return fail(std::move(parsed.error()));
  }
  const Item& item = parsed->items().front();
  if (item.comparator != Comparator::equal && parsed->allows(version)) {
    return std::string(written);
  }
  std::optional<std::string> bound = new_bound(item, version);
  if (!bound) {
    return fail(Code::constraint_conflict,
                fmt::format("the constraint \"{}\" keeps {} out", parsed->text(), version.to_string()),
                "give the new constraint itself, as newConstraint");
  }
  const std::string& spelling = item.version.original();
  if (spelling.starts_with("v")) {
    bound->insert(0, "v");
  }
  std::string result(written);
  return result.replace(result.rfind(spelling), spelling.size(), *bound);
}

}  // namespace

Result<std::string> let_in(std::string_view text, const Version& version) {
  std::string result;
  while (true) {
    const std::size_t comma = text.find(',');
    auto item = let_in_item(text.substr(0, comma), version);
    if (!item) {
      return item;
    }
    result += *item;
    if (comma == std::string_view::npos) {
      return result;
    }
    result += ',';
    text.remove_prefix(comma + 1);
  }
}

}  // namespace modlock
