#include "plugin/constraint/module_constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/text.h"

namespace modlock {
namespace {

constexpr std::string_view kSpace = " \t\n\f\r";

// The text for a message. It is quoted there, so only characters that would break the line are replaced.
std::string shown(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return out;
}

bool is_commit(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) && std::all_of(text.begin(), text.end(), ascii::is_hex);
}

// Whether the comparator may compare the versions at all, given which of them is a prerelease.
bool prerelease_may_match(const Version& version, const Version& bound) {
  if (version.prerelease().empty()) {
    return true;
  }
  return !bound.prerelease().empty() && version.numbers() == bound.numbers();
}

bool allows_pessimistic(const Version& version, const Version& bound) {
  if (!bound.prerelease().empty() && version.prerelease().empty()) {
    return false;
  }
  const std::vector<std::int64_t>& have = version.numbers();
  const std::vector<std::int64_t>& want = bound.numbers();
  if (compare_as_go_version(version, bound) < 0 || want.size() > have.size()) {
    return false;
  }
  // All numbers but the last one given are fixed.
  const auto fixed = static_cast<std::ptrdiff_t>(bound.given_numbers()) - 1;
  return std::equal(want.begin(), want.begin() + fixed, have.begin()) && want[want.size() - 1] <= have[want.size() - 1];
}

bool item_allows(const ModuleConstraint::Item& item, const Version& version) {
  const int order = compare_as_go_version(version, item.version);
  if (item.comparator == Comparator::equal) {
    // Build metadata names one of several tags. go-version ignores it, and would take any of them.
    const std::string_view build = item.version.metadata();
    return order == 0 && (build.empty() || build == version.metadata());
  }
  if (item.comparator == Comparator::not_equal) {
    return order != 0;
  }
  if (!prerelease_may_match(version, item.version)) {
    return false;
  }
  return item.comparator == Comparator::pessimistic ? allows_pessimistic(version, item.version)
                                                    : is_on_side(item.comparator, order);
}

bool bounds_above(const ModuleConstraint::Item& item) {
  return item.comparator == Comparator::equal || item.comparator == Comparator::less ||
         item.comparator == Comparator::less_equal ||
         (item.comparator == Comparator::pessimistic &&
          (item.version.given_numbers() > 1 || !item.version.prerelease().empty()));
}

// The rule for prereleases reads the whole text in another grammar: a comma is an error, so is a space after the
// operator, a prerelease needs its dash, and only an exact version allows a prerelease.
std::string gate_version(std::string_view item, const Version& version) {
  if (item.substr(0, 1) == "=") {
    item.remove_prefix(1);
  }
  const std::string canonical = version.to_string();
  const std::size_t dash = canonical.find('-');
  const bool spaced = item.find_first_of(kSpace) != std::string_view::npos;
  if (dash == std::string::npos || version.prerelease().empty() || spaced || version.numbers().size() > 3 ||
      canonical.find('~') != std::string::npos) {
    return {};
  }
  const std::size_t numbers_end = std::min(item.find_first_not_of("v.0123456789"), item.size());
  return item.substr(numbers_end) == canonical.substr(dash) ? canonical : std::string();
}

}  // namespace

bool is_on_side(Comparator comparator, int order) {
  return comparator == Comparator::greater      ? order > 0
         : comparator == Comparator::less       ? order < 0
         : comparator == Comparator::less_equal ? order <= 0
                                                : order >= 0;
}

Result<ModuleConstraint> ModuleConstraint::parse(std::string_view text) {
  if (trimmed(text, kSpace).empty()) {
    return fail(Code::constraint_syntax,
                fmt::format("\"{}\" is not a version constraint: expected at least one version", shown(text)),
                fmt::format("{}, or leave the argument out", kConstraintHint));
  }
  if (is_commit(trimmed(text, kSpace))) {
    return fail(
        Code::constraint_syntax,
        fmt::format("\"{}\" is not a version constraint: expected versions, found a commit", trimmed(text, kSpace)),
        "a commit is a separate kind of constraint and cannot be combined with versions");
  }
  ModuleConstraint constraint;
  const auto items = split(text, ',');
  for (const std::string_view raw : items) {
    const std::string_view item = trimmed(raw, kSpace);
    const auto op = std::find_if(kComparators.begin(), kComparators.end(), [&](const ComparatorText& candidate) {
      return item.substr(0, candidate.text.size()) == candidate.text;
    });
    const std::string_view number = trimmed(item.substr(op->text.size()), kSpace);
    auto version = Version::parse(number);
    if (!version) {
      return fail(Code::constraint_syntax,
                  fmt::format("\"{}\" is not a version constraint: item \"{}\" must be an optional operator (=, !=, >, "
                              ">=, <, <=, ~>) and a version",
                              shown(text), shown(item)),
                  std::string(kConstraintHint));
    }
    constraint.text_ += constraint.text_.empty() ? "" : ", ";
    constraint.text_ += fmt::format("{}{}{}", op->text, op->text.empty() ? "" : " ", number);
    if (items.size() == 1 && op->comparator == Comparator::equal) {
      constraint.exact_prerelease_ = gate_version(item, *version);
    }
    constraint.items_.push_back({op->comparator, std::move(*version)});
  }
  return constraint;
}

bool ModuleConstraint::allows(const Version& version) const {
  return std::all_of(items_.begin(), items_.end(), [&](const Item& item) { return item_allows(item, version); });
}

bool ModuleConstraint::selects(const Version& version) const {
  return allows(version) && (version.prerelease().empty() || version.to_string() == exact_prerelease_);
}

bool ModuleConstraint::is_unbounded_pessimistic() const {
  const auto is_pessimistic = [](const Item& item) { return item.comparator == Comparator::pessimistic; };
  return std::any_of(items_.begin(), items_.end(), is_pessimistic) &&
         std::none_of(items_.begin(), items_.end(), bounds_above);
}

}  // namespace modlock
