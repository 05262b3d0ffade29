#include "plugin/resolve/lock_entry.h"

#include <fmt/format.h>

#include <algorithm>

namespace modlock {

std::optional<std::string> why_not_answered(const ModuleNode& node, const ModuleLock& entry) {
  if (const std::string identity = node.address.source.identity(); entry.source != identity) {
    return fmt::format("it is locked from {}, and the configuration calls {}", entry.source, identity);
  }
  if (node.commit) {
    const std::string locked = entry.hash_value("git");
    return locked == *node.commit ? std::nullopt
                                  : std::optional(fmt::format("the configuration names commit {}, and {} is locked",
                                                              *node.commit, locked.empty() ? "none" : locked));
  }
  if (node.constraints.empty()) {
    return std::nullopt;
  }
  if (!entry.version) {
    return fmt::format("the constraint \"{}\" asks for a version, and a commit without one is locked",
                       *node.constraints_text());
  }
  const auto version = Version::parse(*entry.version);
  const bool allowed =
      version && std::all_of(node.constraints.begin(), node.constraints.end(),
                             [&](const ConstraintUse& use) { return use.constraint.allows(*version); });
  return allowed ? std::nullopt
                 : std::optional(fmt::format("the constraint \"{}\" excludes the locked version {}",
                                             *node.constraints_text(), *entry.version));
}

}  // namespace modlock
