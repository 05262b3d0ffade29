#include "plugin/install/package_lookup.h"

namespace modlock {

std::filesystem::path known_package(const ModuleNode& node, const DataDirectory& data, const LockFile& lock,
                                    const Store& store) {
  if (node.address.source.kind == SourceKind::directory) {
    return node.address.source.path;
  }
  std::error_code ignored;
  const auto place = data.place_of(node.key);
  return place && std::filesystem::is_directory(*place, ignored) ? *place : stored_package(node, lock, store);
}

std::filesystem::path stored_package(const ModuleNode& node, const LockFile& lock, const Store& store) {
  const auto entry = lock.modules.find(node.key);
  if (entry == lock.modules.end() || entry->second.source != node.address.source.identity()) {
    return {};
  }
  const auto package = store.find_by_h1("h1:" + entry->second.hash_value("h1"));
  return package ? package->directory : std::filesystem::path();
}

}  // namespace modlock
