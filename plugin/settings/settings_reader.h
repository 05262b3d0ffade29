#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugin/settings/settings.h"
#include "plugin/settings/settings_text.h"

namespace modlock {

enum class SettingsPlace { beside_root, repository, user };

// Adds what one settings file says to the settings of the nearer files.
class SettingsReader final : private SettingsText {
 public:
  // `path` is what messages name.
  SettingsReader(std::string_view text, std::string path, SettingsPlace place, Settings& settings);

  // Errors: as load_settings(). `required_version` is judged first: a newer file may hold what we do not know.
  Result<void> read();

 private:
  Result<void> check_release() const;
  Result<void> deny_programs(const hcl::Body& body) const;
  Result<void> read_setting(const hcl::Attribute& attribute);
  Result<void> read_platforms(const hcl::Attribute& attribute);
  Result<void> read_workspace_roots(const hcl::Attribute& attribute);
  Result<void> read_source_list(const hcl::Attribute& attribute);
  Result<void> read_directory_globs(const hcl::Attribute& attribute);
  Result<void> read_block(const hcl::Block& block);
  Result<void> read_module(const hcl::Block& block);
  Result<void> read_source(const hcl::Block& block);
  Result<void> read_backend(const hcl::Block& block);

  SettingsPlace place_;
  Settings& settings_;
  std::vector<const hcl::Block*> read_blocks_;
};

}  // namespace modlock
