#include "backends/store/whole_package.h"

#include <fmt/format.h>

#include "backends/store/tree_memo.h"

namespace modlock {

std::optional<Package> load_intact_package(const Store& store, std::optional<Package> found, const Context& context) {
  if (!found) {
    return found;
  }
  const auto h1 = hash_installed(store, found->directory, {}, context);
  if (h1 ? *h1 == found->h1 : !context.check().has_value()) {
    return found;
  }
  store.drop(*found);
  return std::nullopt;
}

Diagnostic damage_warning(const Source& source) {
  return {Severity::warning,
          Error{.code = Code::hash_mismatch,
                .message = fmt::format("the cached package of {} was damaged: it has been fetched again",
                                       source.package_identity()),
                .hint = "find out what writes into the cache; nothing but tofu-modlock should"}};
}

}  // namespace modlock
