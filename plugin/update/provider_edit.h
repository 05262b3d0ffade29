#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/version.h"
#include "plugin/resolve/module_tree.h"
#include "plugin/update/text_origin.h"

namespace modlock {

// What a host wants of one provider. At least one of the two is given.
struct ProviderUpdate {
  ProviderAddress address;
  std::optional<Version> new_version = {};
  std::optional<std::string> new_constraint = {};

  std::string subject() const { return "provider." + address.to_string(); }
};

// Why the files of a module cannot be edited, by its key; empty: they can.
using RefusalOf = std::function<std::string(const std::string& key)>;

// What has to be written where in required_providers entries and in provider blocks. A new constraint takes the place
// of those of the root module, where it has none, of those of its local modules. A new version is let in (let_in()) by
// every constraint of these that keeps it out or names another one exactly; without a new constraint only. Constraints
// of packages stay: whether they allow it is for who plans the lock. Errors: INVALID_PARAMS (there is no constraint
// that could be changed); CONSTRAINT_SYNTAX; those of let_in(); CONFIG_NON_STATIC (a constraint that is no plain
// literal).
Result<std::vector<FileSplice>> change_provider_constraints(const ModuleTree& tree, const ProviderUpdate& update,
                                                            const RefusalOf& refusal_of);

}  // namespace modlock
