#include "plugin/install/install_record.h"

#include <vector>

#include "backends/base/digest.h"
#include "backends/base/files.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader = "# A module that `tofu-modlock install` has installed, as its lock file had it.\n";

std::string h1_of(const ModuleLock& entry) {
  return "h1:" + entry.hash_value("h1");
}

std::optional<ModuleLock> read_record(const fs::path& records, std::string_view h1, std::string_view modes) {
  const fs::path path = records / content_key(h1, modes);
  const auto text = read_file(path);
  auto lock = text ? parse_lock(*text, path.string()) : fail(text.error());
  const bool is_record = lock && lock->modules.size() == 1 && h1_of(lock->modules.begin()->second) == h1;
  return is_record ? std::optional(std::move(lock->modules.begin()->second)) : std::nullopt;
}

std::filesystem::path path_of(const DataDirectory& data, std::string_view h1) {
  return data.file_lists() / sha256_hex(h1);
}

std::filesystem::path place_path_of(const DataDirectory& data, std::string_view h1) {
  return path_of(data, h1) += ".place";
}

// The last directory is the same whichever backends claim addresses: a copy comes from none of them.
fs::path copy_path(const Store& store, const fs::path& place) {
  return store.installed_directories().back() / ("copy-" + sha256_hex(place.string()));
}

// Writes a file that lies directly in file_lists().
Result<void> write_beside_lists(const DataDirectory& data, const fs::path& path, std::string_view text) {
  MODLOCK_TRY(const auto lists, data.pin(data.file_lists()));
  return write_file_atomically(lists.path() / path.filename(), text).map_error([&](Error error) {
    return lists.with_real_path(std::move(error));
  });
}

}  // namespace

void record_installed(const fs::path& records, const ModuleLock& entry, std::string_view modes) {
  const fs::path path = records / content_key(h1_of(entry), modes);
  const std::string text = write_lock({}, {{entry.key, entry}}, kHeader);
  if (read_file(path).value_or("") != text && make_directories(records)) {
    (void)write_file_atomically(path, text, Durable::no);
  }
}

bool is_recorded(const fs::path& records, const ModuleLock& entry, std::string_view modes) {
  const auto installed = read_record(records, h1_of(entry), modes);
  return installed && installed->version == entry.version && installed->origin_hash() == entry.origin_hash() &&
         package_of(*installed) == package_of(entry);
}

std::optional<ModuleLock> find_installed(const Store& store, std::string_view h1, std::string_view modes) {
  std::optional<ModuleLock> found;
  for (const fs::path& records : store.installed_directories()) {
    found = found ? std::move(found) : read_record(records, h1, modes);
    for (const std::string& others : found ? std::vector<std::string>() : store.modes_below(records, h1)) {
      found = found ? std::move(found) : read_record(records, h1, others);
    }
  }
  return found;
}

bool has_locked_modes(const ModuleLock& entry, const fs::path& place, const DataDirectory& data, const Store& store,
                      const Context& context) {
  const auto entries = list_tree(place);
  const std::string h1 = h1_of(entry);
  const bool is_linked = entries && place == store.package_directory(h1, hash_modes(*entries)) / "tree";
  if (!entries || (!is_linked && !has_copied_modes(*entries))) {
    return false;
  }
  // Only the cache proves that a commit was reachable from a branch or tag: a checkout with a lock file may also
  // contain a data directory.
  const bool is_commit = !entry.hash_value("git").empty();
  std::vector<fs::path> places = store.installed_directories();
  if (!is_commit) {
    places.push_back(data.file_lists());
  }
  for (const fs::path& records : places) {
    if (const auto installed = read_record(records, h1, hash_modes(*entries))) {
      return installed->origin_hash() == entry.origin_hash() && package_of(*installed) == package_of(entry);
    }
    if (!store.modes_below(records, h1).empty()) {
      return false;
    }
  }
  return !is_commit && context.offline;
}

void record_copy(const Store& store, const fs::path& place, const PlacedCopy& copy) {
  const fs::path path = copy_path(store, place);
  if (copy.h1.empty()) {
    (void)remove_tree(path);
  } else if (make_directories(path.parent_path())) {
    (void)write_file_atomically(path, copy.h1 + " " + copy.directory.string(), Durable::no);
  }
}

PlacedCopy find_copy(const Store& store, const fs::path& place) {
  const std::string text = read_file(copy_path(store, place)).value_or("");
  const std::size_t space = text.find(' ');
  return space == std::string::npos ? PlacedCopy() : PlacedCopy{text.substr(0, space), text.substr(space + 1)};
}

std::string_view package_of(const ModuleLock& entry) {
  const std::string_view source = std::string_view(entry.source).substr(0, entry.source.find('?'));
  const std::size_t scheme = source.find("://");
  return source.substr(0, source.find("//", scheme == std::string_view::npos ? 0 : scheme + 3));
}

Result<void> write_file_list(const DataDirectory& data, const TreeSummary& summary) {
  const fs::path path = path_of(data, summary.h1());
  return path_exists(path) ? Result<void>() : write_beside_lists(data, path, summary.text());
}

std::optional<TreeSummary> read_file_list(const DataDirectory& data, std::string_view h1) {
  const auto text = read_file(path_of(data, h1));
  auto summary = text ? parse_tree_summary(*text) : std::nullopt;
  return summary && summary->h1() == h1 ? std::move(summary) : std::nullopt;
}

Result<void> write_module_place(const DataDirectory& data, std::string_view h1, std::string_view subdir) {
  return read_module_place(data, h1) == subdir ? Result<void>()
                                               : write_beside_lists(data, place_path_of(data, h1), subdir);
}

std::optional<std::string> read_module_place(const DataDirectory& data, std::string_view h1) {
  auto subdir = read_file(place_path_of(data, h1));
  return subdir ? std::optional(std::move(*subdir)) : std::nullopt;
}

}  // namespace modlock
