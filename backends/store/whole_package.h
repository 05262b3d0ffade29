#pragma once

#include <optional>

#include "backends/base/context.h"
#include "backends/store/store.h"

namespace modlock {

// What the store found, where its tree still has its h1; files that cannot have changed since it was last looked at are
// not read (tree_memo.h). nullopt where it has not, or cannot be read: the store has then forgotten it, for what was
// damaged must be neither read nor installed. What the run's end interrupts is taken as it is.
std::optional<Package> load_intact_package(const Store& store, std::optional<Package> found, const Context& context);

// What is said of a package that was not whole and has been fetched again.
Diagnostic damage_warning(const Source& source);

}  // namespace modlock
