#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/address/version.h"
#include "protocol/base/result.h"

namespace modlock {

enum class Comparator { equal, not_equal, greater, greater_equal, less, less_equal, pessimistic };

// A module version constraint in OpenTofu's module dialect: hashicorp/go-version's NewConstraint, and at selection the
// stricter gate for prereleases (apparentlymart/go-versions over the whole constraint text).
class ModuleConstraint {
 public:
  // "~> 1.2, != 1.2.3"; comma means and. Errors: CONSTRAINT_SYNTAX naming the text, the item and what was expected;
  // `version = ""` and a trailing comma are errors as in OpenTofu.
  static Result<ModuleConstraint> parse(std::string_view text);

  // go-version's Check: whether a version that is already installed or locked may stay.
  bool allows(const Version& version) const;
  // Whether OpenTofu would choose the version from a listing: allows(), and the prerelease gate.
  bool selects(const Version& version) const;
  // True for `~> 2`: a pessimistic comparator over one number has no upper bound in this dialect, and no other item
  // sets one.
  bool is_unbounded_pessimistic() const;
  // Items joined by ", ", one space after each operator, order kept: what the lock file writes.
  const std::string& text() const { return text_; }

  struct Item {
    Comparator comparator = Comparator::equal;
    Version version;
  };
  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
  std::string text_;
  std::string exact_prerelease_;  // the one prerelease version that the gate lets through, canonical; else empty
};

}  // namespace modlock
