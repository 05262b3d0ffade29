#include "plugin/update/argument_change.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "backends/address/go_url.h"
#include "plugin/constraint/module_constraint.h"
#include "plugin/constraint/provider_constraint.h"

namespace modlock {
namespace {

using Item = ModuleConstraint::Item;

// Returns the first `count` numbers of a version, with zeros for missing ones.
std::vector<std::int64_t> first_numbers(const Version& version, std::size_t count) {
  std::vector<std::int64_t> numbers = version.numbers();
  numbers.resize(count);
  return numbers;
}

std::string spell(const std::vector<std::int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, "."));
}

// Returns a bound above the version, one step up at the last nonzero number of the old bound.
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

// Returns the new version of the item; nullopt if the item must not change for it.
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

tl::unexpected<Error> kept_out(std::string_view constraint, const Version& version) {
  return fail(Code::constraint_conflict,
              fmt::format("the constraint \"{}\" excludes {}", constraint, version.to_string()),
              "specify a constraint in place of the version");
}

// Takes an item as written in the text, including spaces.
Result<std::string> let_in_item(std::string_view written, const Version& version, ConstraintDialect dialect) {
  MODLOCK_TRY(auto parsed, ModuleConstraint::parse(written));
  const Item& item = parsed.items().front();
  if (item.comparator != Comparator::equal && lets_in(written, version, dialect)) {
    return std::string(written);
  }
  std::optional<std::string> bound = new_bound(item, version);
  if (!bound) {
    return kept_out(parsed.text(), version);
  }
  const std::string& spelling = item.version.original();
  if (spelling.starts_with("v")) {
    bound->insert(0, "v");
  }
  std::string result(written);
  return result.replace(result.rfind(spelling), spelling.size(), *bound);
}

}  // namespace

std::string Splice::apply(std::string_view before) const {
  return std::string(before.substr(0, start)) + text + std::string(before.substr(end));
}

Splice set_query_argument(std::string_view source, std::initializer_list<std::string_view> replaced,
                          std::string_view name, std::string_view value) {
  const std::string encoded = percent_encoded(value, "/:@");
  const std::string argument = fmt::format("{}={}", name, encoded);
  const std::size_t question = source.find('?');
  if (question == std::string_view::npos) {
    return {source.size(), source.size(), "?" + argument};
  }
  std::size_t start = question + 1;
  while (start <= source.size()) {
    const std::size_t end = std::min(source.find('&', start), source.size());
    const std::string_view written = source.substr(start, end - start);
    const std::string_view written_name = written.substr(0, written.find('='));
    if (std::ranges::find(replaced, written_name) != replaced.end()) {
      // If the name stays, only the value changes: it may be written somewhere else.
      const bool keeps_name = written_name == name && written_name.size() < written.size();
      return keeps_name ? Splice{start + name.size() + 1, end, encoded} : Splice{start, end, argument};
    }
    start = end + 1;
  }
  const bool is_first = question + 1 == source.size();
  return {source.size(), source.size(), (is_first ? "" : "&") + argument};
}

bool lets_in(std::string_view constraint, const Version& version, ConstraintDialect dialect) {
  if (dialect == ConstraintDialect::module) {
    const auto parsed = ModuleConstraint::parse(constraint);
    return parsed && parsed->allows(version);
  }
  const auto parsed = ProviderConstraint::parse(constraint);
  const auto offered = ProviderVersion::parse(version.to_string());
  return parsed && offered && parsed->allows(*offered);
}

Result<std::string> let_in(std::string_view text, const Version& version, ConstraintDialect dialect) {
  std::string result;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    auto item = let_in_item(rest.substr(0, comma), version, dialect);
    if (!item) {
      return item;
    }
    result += *item;
    if (comma == std::string_view::npos) {
      break;
    }
    result += ',';
    rest.remove_prefix(comma + 1);
  }
  if (dialect == ConstraintDialect::provider && !lets_in(result, version, dialect)) {
    return kept_out(text, version);
  }
  return result;
}

}  // namespace modlock
