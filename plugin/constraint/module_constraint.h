#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/version.h"
#include "protocol/base/result.h"

namespace modlock {

inline constexpr std::string_view kConstraintHint = "write a constraint such as \"~> 1.2\" or \">= 1.2.0, < 2.0.0\"";

enum class Comparator { equal, not_equal, greater, greater_equal, less, less_equal, pessimistic };

struct ComparatorText {
  std::string_view text;
  Comparator comparator;
};

// The operators of both dialects, longer ones first. The empty text stands for "=".
inline constexpr std::array kComparators = {
    ComparatorText{"<=", Comparator::less_equal}, ComparatorText{">=", Comparator::greater_equal},
    ComparatorText{"!=", Comparator::not_equal},  ComparatorText{"~>", Comparator::pessimistic},
    ComparatorText{"<", Comparator::less},        ComparatorText{">", Comparator::greater},
    ComparatorText{"=", Comparator::equal},       ComparatorText{"", Comparator::equal},
};

// Returns whether a version that has this order to a bound (negative: it is older) is on the side that `>`, `>=`, `<`
// or
// `<=` allows. `~>` is a lower bound here.
bool is_on_side(Comparator comparator, int order);

// A module version constraint in OpenTofu's module dialect: hashicorp/go-version's NewConstraint and, for selection, a
// stricter rule for prereleases (apparentlymart/go-versions over the whole constraint text).
class ModuleConstraint {
 public:
  // Reads "~> 1.2, != 1.2.3"; a comma means and. Errors: CONSTRAINT_SYNTAX naming the text, the item and what was
  // expected; `version = ""` and a trailing comma are errors as in OpenTofu.
  static Result<ModuleConstraint> parse(std::string_view text);

  // go-version's Check, whether an installed or locked version may stay; except that `= 1.2.0+b` allows only this
  // build.
  bool allows(const Version& version) const;
  // Whether OpenTofu would select the version from a listing: allows(), and the rule for prereleases.
  bool selects(const Version& version) const;
  // True for `~> 2`: a pessimistic comparator with one number has no upper bound in this dialect, and no other item
  // sets one.
  bool is_unbounded_pessimistic() const;
  // Items joined by ", ", with one space after each operator, in their original order: the form in the lock file.
  const std::string& text() const { return text_; }

  struct Item {
    Comparator comparator = Comparator::equal;
    Version version;
  };
  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
  std::string text_;
  std::string exact_prerelease_;  // the only prerelease that may be selected, canonical; else empty
};

}  // namespace modlock
