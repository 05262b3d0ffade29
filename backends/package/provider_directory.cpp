#include "backends/package/provider_directory.h"

#include "backends/package/tree_hash.h"
#include "protocol/base/result.h"

namespace modlock {

Result<std::string> hash_provider_directory(const std::filesystem::path& directory, const Context& context) {
  MODLOCK_TRY(const auto entries, list_tree(directory, TreeRules::provider_package));
  return summarise_entries(entries, {}, context).map([](const TreeSummary& summary) { return summary.h1(); });
}

}  // namespace modlock
