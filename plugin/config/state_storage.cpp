#include "plugin/config/state_providers.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

void take_argument(const hcl::Block& block, const ConfigText& file, std::string_view name,
                   std::optional<std::string>& out, StateStorage& storage) {
  const hcl::Attribute* attribute = block.body.find(name);
  if (attribute == nullptr) {
    return;
  }
  const auto value = hcl::static_value(attribute->value, file.path);
  if (value && value->as_string() != nullptr) {
    out = *value->as_string();
  } else if (!value || !value->is_null()) {
    storage.written_out = false;
  }
}

StateStorage read_backend(const hcl::Block& block, const ConfigText& file) {
  StateStorage storage{.backend = block.type == "cloud" ? "cloud" : block.labels.front().text,
                       .location = {file.path, block.header_range}};
  if (storage.backend == "local") {
    take_argument(block, file, "path", storage.path, storage);
    take_argument(block, file, "workspace_dir", storage.workspace_dir, storage);
  }
  return storage;
}

}  // namespace

StateStorage read_state_storage(const std::vector<ConfigText>& files) {
  StateStorage storage;
  bool found = false;
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
    for_each_block(files, role, "terraform", [&](const ConfigText& file, const hcl::Block& block) {
      for (const hcl::Block& inner : block.body.blocks) {
        const bool keeps_state = inner.type == "cloud" || (inner.type == "backend" && inner.labels.size() == 1);
        if (keeps_state && (role == ConfigFile::Role::override_file || !found)) {
          storage = read_backend(inner, file);
          found = true;
        }
      }
    });
  }
  return storage;
}

}  // namespace modlock
