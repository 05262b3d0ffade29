#pragma once

#include <vector>

#include "plugin/diff/meaning.h"

namespace modlock {

// Finds what has another effect although a caller changes nothing: arguments of resources, data sources and module
// calls, local values, defaults and outputs that have another meaning, and new resources. After a cancellation, the
// result is incomplete. The caller checks the context.
void find_effective_changes(const PackageText& before, const PackageText& after, const KnownNames& known,
                            const Context& context, std::vector<PackageFinding>& out);

}  // namespace modlock
