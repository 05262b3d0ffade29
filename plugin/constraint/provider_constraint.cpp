#include "plugin/constraint/provider_constraint.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/base/text.h"

namespace modlock {
namespace {

constexpr std::string_view kNoV = "a \"v\" prefix should not be used when specifying versions";
constexpr std::array<std::string_view, 3> kNumberNames = {"major", "minor", "patch"};

const ComparatorText* find_operator(std::string_view text) {
  const auto found = std::find_if(kComparators.begin(), kComparators.end(),
                                  [&](const ComparatorText& known) { return known.text == text; });
  return found == kComparators.end() ? nullptr : &*found;
}

std::string operator_problem(std::string_view op) {
  const std::string_view meant = op == "=<" ? "<=" : op == "=>" ? ">=" : "";
  return fmt::format("invalid constraint operator \"{}\"{}", op,
                     meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant));
}

std::optional<std::string> separator_problem(const ScannedItem& item) {
  if (item.sep.empty() || (item.sep == " " && !item.op.empty())) {
    return std::nullopt;
  }
  if (item.sep.find('v') != std::string_view::npos) {
    return std::string(kNoV);
  }
  if (item.op.empty()) {
    return "extraneous spaces at start of specification";
  }
  return fmt::format("only one space is expected after the operator \"{}\"", item.op);
}

std::optional<std::string> number_problem(const ScannedItem& item) {
  if (item.number_count > item.numbers.size()) {
    return "too many numbered portions; only three are allowed (major, minor, patch)";
  }
  for (std::size_t i = 0; i < item.numbers.size(); ++i) {
    if (is_wildcard(item.numbers[i])) {
      return fmt::format("can't use wildcard for {} number; omit segments that should be unconstrained",
                         kNumberNames[i]);
    }
  }
  return std::nullopt;
}

// The item as go-versions reads it, or the error in it.
tl::expected<ProviderConstraint::Item, std::string> to_item(const ScannedItem& scanned) {
  const ComparatorText* op = find_operator(scanned.op);
  if (op == nullptr) {
    return tl::unexpected(operator_problem(scanned.op));
  }
  if (auto problem = separator_problem(scanned)) {
    return tl::unexpected(std::move(*problem));
  }
  if (auto problem = number_problem(scanned)) {
    return tl::unexpected(std::move(*problem));
  }
  auto version = version_of(scanned);
  if (!version) {
    return tl::unexpected(std::string("a number is too large"));
  }
  return ProviderConstraint::Item{op->comparator, std::move(*version), static_cast<int>(scanned.number_count)};
}

// The upper bound of a pessimistic item; the numbers wrap around as in the reference.
ProviderVersion pessimistic_limit(const ProviderConstraint::Item& item) {
  if (item.is_patch_only()) {
    return {.major = item.version.major, .minor = item.version.minor + 1};
  }
  return {.major = item.version.major + 1};
}

bool admits(const ProviderConstraint::Item& item, const ProviderVersion& version) {
  // Unlike an order, equality includes the build metadata.
  if (item.comparator == Comparator::equal || item.comparator == Comparator::not_equal) {
    return (version == item.version) == (item.comparator == Comparator::equal);
  }
  return is_on_side(item.comparator, compare(version, item.version)) &&
         (item.comparator != Comparator::pessimistic || compare(version, pessimistic_limit(item)) < 0);
}

// The order among items of the same version: lower bounds first, exclusions last.
int rank(const ProviderConstraint::Item& item) {
  constexpr std::array kOrder = {Comparator::greater,     Comparator::greater_equal, Comparator::equal,
                                 Comparator::pessimistic, Comparator::less_equal,    Comparator::less,
                                 Comparator::not_equal};
  const auto at = std::find(kOrder.begin(), kOrder.end(), item.comparator) - kOrder.begin();
  // `~> 1.2.3` stands before `~> 1.2` and `~> 1`.
  return static_cast<int>(2 * at) + (item.comparator == Comparator::pessimistic && !item.is_patch_only() ? 1 : 0);
}

bool stands_before(const ProviderConstraint::Item& left, const ProviderConstraint::Item& right) {
  int order = compare(left.version, right.version);
  if (order == 0) {
    order = compare_extra(left.version.metadata, right.version.metadata);
  }
  return order == 0 ? rank(left) < rank(right) : order < 0;
}

bool says_the_same(const ProviderConstraint::Item& left, const ProviderConstraint::Item& right) {
  return left.version == right.version && rank(left) == rank(right);
}

std::string written(const ProviderConstraint::Item& item) {
  std::string version = item.version.to_string();
  if (item.comparator == Comparator::pessimistic && !item.is_patch_only()) {
    const std::size_t patch = version.find('.', version.find('.') + 1);
    version.erase(patch, std::min(version.find_first_of("-+", patch), version.size()) - patch);
  }
  if (item.comparator == Comparator::equal) {
    return version;
  }
  const auto op = std::find_if(kComparators.begin(), kComparators.end(),
                               [&](const ComparatorText& known) { return known.comparator == item.comparator; });
  return fmt::format("{} {}", op->text, version);
}

}  // namespace

Result<ProviderConstraint> ProviderConstraint::parse(std::string_view text) {
  if (auto as_module = ModuleConstraint::parse(text); !as_module) {
    as_module.error().hint = kConstraintHint;
    return tl::unexpected(std::move(as_module.error()));
  }
  return parse_locked(text);
}

Result<ProviderConstraint> ProviderConstraint::parse_locked(std::string_view text) {
  const auto malformed = [&](std::string_view problem) {
    return fail(Code::constraint_syntax,
                fmt::format("\"{}\" is not a version constraint: {}", escape_controls(text), escape_controls(problem)),
                std::string(kConstraintHint));
  };
  ProviderConstraint constraint;
  std::string_view remain = trimmed(text);
  while (!remain.empty()) {
    const ScannedItem scanned = scan_item(remain);
    const std::string_view consumed = remain.substr(0, remain.size() - scanned.rest.size());
    auto item = to_item(scanned);
    if (!item) {
      return malformed(fmt::format("invalid specification \"{}\": {}", consumed, item.error()));
    }
    remain = trimmed(scanned.rest);
    if (!remain.empty()) {
      if (remain[0] == 'v') {
        return malformed(kNoV);
      }
      if (remain[0] != ',') {
        return malformed(fmt::format("missing comma after \"{}\"", consumed));
      }
      remain = trimmed(remain.substr(1));
    }
    constraint.items_.push_back(std::move(*item));
  }
  return constraint;
}

ProviderConstraint ProviderConstraint::merge(std::span<const ProviderConstraint> all) {
  ProviderConstraint merged;
  for (const ProviderConstraint& one : all) {
    merged.items_.insert(merged.items_.end(), one.items_.begin(), one.items_.end());
  }
  return merged;
}

bool ProviderConstraint::allows(const ProviderVersion& version) const {
  const auto names_it = [&](const Item& item) {
    return item.comparator == Comparator::equal && item.version == version;
  };
  return version != ProviderVersion{} &&
         (version.prerelease.empty() || std::any_of(items_.begin(), items_.end(), names_it)) &&
         std::all_of(items_.begin(), items_.end(), [&](const Item& item) { return admits(item, version); });
}

std::string ProviderConstraint::canonical() const {
  std::vector<Item> items = items_;
  std::sort(items.begin(), items.end(), stands_before);
  items.erase(std::unique(items.begin(), items.end(), says_the_same), items.end());
  std::vector<std::string> texts;
  texts.reserve(items.size());
  std::transform(items.begin(), items.end(), std::back_inserter(texts), written);
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace modlock
