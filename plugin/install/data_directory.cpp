#include "plugin/install/data_directory.h"

#include "plugin/config/roots.h"

namespace modlock {

Result<DataDirectory> find_data_directory(const std::filesystem::path& root, const std::optional<std::string>& given) {
  auto path = data_directory(root, given ? std::optional<std::filesystem::path>(*given) : std::nullopt);
  if (!path) {
    return fail(std::move(path.error()));
  }
  std::string name = std::filesystem::path(given.value_or(".terraform")).lexically_normal().generic_string();
  if (name.size() > 1 && name.ends_with('/')) {
    name.pop_back();
  }
  return DataDirectory{.path = std::move(*path), .name = std::move(name)};
}

}  // namespace modlock
