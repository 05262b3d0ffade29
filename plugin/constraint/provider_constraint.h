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

  // Reads a constraint of a configuration: hashicorp/go-version must accept the text first, then go-versions. Errors:
  // CONSTRAINT_SYNTAX in the wording of the one that rejects it.
  static Result<ProviderConstraint> parse(std::string_view text);
  // Reads a constraint of a lock file: only go-versions, which also accepts "" (any version) and a trailing comma.
  static Result<ProviderConstraint> parse_locked(std::string_view text);
  // All items of all constraints, which a provider has to satisfy together.
  static ProviderConstraint merge(std::span<const ProviderConstraint> all);

  // Whether it is a release that satisfies every item, or a prerelease that an `=` item names and every item allows.
  // Never true for 0.0.0.
  bool allows(const ProviderVersion& version) const;
  // The normal form in the lock file: no item twice, sorted by boundary, "" for no items.
  std::string canonical() const;
  const std::vector<Item>& items() const { return items_; }

 private:
  std::vector<Item> items_;
};

}  // namespace modlock
