#include "plugin/settings/settings.h"

#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "plugin/settings/settings_reader.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

Result<void> read_settings_file(const fs::path& path, std::string shown, SettingsPlace place,
                                const Documents& documents, Settings& settings) {
  MODLOCK_TRY(const auto text, read_document(path, documents));
  if (!text) {
    return {};
  }
  settings.files.push_back(shown);
  return SettingsReader(*text, std::move(shown), place, settings).read();
}

// A file of a checkout may be a link, but not to a file elsewhere.
Result<void> check_link(const fs::path& path, const fs::path& bound) {
  std::error_code ignored;
  const auto inside = fs::is_symlink(path, ignored) ? confine(path, {bound}) : path;
  return inside ? Result<void>() : fail(inside.error());
}

}  // namespace

Result<Settings> load_settings(const fs::path& root, const fs::path& repository_root,
                               const std::optional<fs::path>& user_file, const Documents& documents) {
  Settings settings;
  const fs::path start = document_path(root);
  const fs::path last = document_path(repository_root);
  const std::string way_down = start.lexically_relative(last).generic_string();
  const bool encloses = way_down != ".." && way_down.rfind("../", 0) != 0 && !way_down.empty();
  for (fs::path directory = start;; directory = directory.parent_path()) {
    const fs::path path = directory / kSettingsFileName;
    if (documents.count(path) == 0) {
      MODLOCK_TRY(check_link(path, encloses ? last : start));
    }
    const SettingsPlace place = directory == start ? SettingsPlace::beside_root : SettingsPlace::repository;
    MODLOCK_TRY(read_settings_file(path, relative_to_root(path, start), place, documents, settings));
    if (!encloses || directory == last || directory == directory.parent_path()) {
      break;
    }
  }
  if (user_file) {
    const fs::path path = document_path(*user_file);
    MODLOCK_TRY(read_settings_file(path, path.generic_string(), SettingsPlace::user, documents, settings));
  }
  return settings;
}

Result<Settings> load_directory_settings(const fs::path& directory, const fs::path& bound) {
  Settings settings;
  const fs::path path = document_path(directory) / kSettingsFileName;
  auto done = check_link(path, bound);
  if (done) {
    done = read_settings_file(path, path.generic_string(), SettingsPlace::beside_root, {}, settings);
  }
  return done ? Result<Settings>(std::move(settings)) : fail(std::move(done).error());
}

Result<Settings> load_user_settings(const fs::path& user_file) {
  Settings settings;
  const fs::path path = document_path(user_file);
  auto done = read_settings_file(path, path.generic_string(), SettingsPlace::user, {}, settings);
  return done ? Result<Settings>(std::move(settings)) : fail(std::move(done).error());
}

}  // namespace modlock
