#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_version.h"
#include "plugin/constraint/module_constraint.h"
#include "protocol/base/result.h"

namespace modlock {

// A version constraint in OpenTofu's provider dialect (apparentlymart/go-versions, Ruby style).
class ProviderConstraint {
 public:
  struct Item {
    Comparator comparator = Comparator::equal;
    ProviderVersion version;
    int numbers = 3;  // how many were written
    // `~> 1.2.3` bounds the minor number; with fewer numbers `~>` bounds the major one.
    bool is_patch_only() const { return numbers == 3; }
    bool operator==(const Item&) const = default;
  };

  // A constraint of a configuration: hashicorp/go-version must accept the text first, then go-versions. Errors:
  // CONSTRAINT_SYNTAX in the words of the one that refuses.
  static Result<ProviderConstraint> parse(std::string_view text);
  // A constraint of a lock file: go-versions alone, which also takes "" (any version) and a trailing comma.
  static Result<ProviderConstraint> parse_locked(std::string_view text);
  // All items of all of them: what a provider has to satisfy.
  static ProviderConstraint merge(std::span<const ProviderConstraint> all);

  // Releases that satisfy every item, and prereleases that an `=` item names and every item admits. 0.0.0 never.
  bool allows(const ProviderVersion& version) const;
  // The normal form that the lock file writes: no item twice, sorted by boundary, "" for none.
  std::string canonical() const;
  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
};

}  // namespace modlock
