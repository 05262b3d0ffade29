#include "plugin/install/file_list.h"

#include "backends/base/digest.h"
#include "backends/base/files.h"

namespace modlock {
namespace {

std::filesystem::path path_of(const DataDirectory& data, std::string_view h1) {
  return data.file_lists() / sha256_hex(h1);
}

std::filesystem::path place_path_of(const DataDirectory& data, std::string_view h1) {
  return path_of(data, h1) += ".place";
}

}  // namespace

Result<void> write_file_list(const DataDirectory& data, const TreeSummary& summary) {
  const std::filesystem::path path = path_of(data, summary.h1());
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    return {};
  }
  if (auto ok = make_directories(path.parent_path()); !ok) {
    return ok;
  }
  return write_file_atomically(path, summary.text());
}

std::optional<TreeSummary> read_file_list(const DataDirectory& data, std::string_view h1) {
  auto text = read_file(path_of(data, h1));
  if (!text) {
    return std::nullopt;
  }
  auto summary = parse_tree_summary(*text);
  if (!summary || summary->h1() != h1) {
    return std::nullopt;
  }
  return summary;
}

Result<void> write_module_place(const DataDirectory& data, std::string_view h1, std::string_view subdir) {
  if (read_module_place(data, h1) == subdir) {
    return {};
  }
  const std::filesystem::path path = place_path_of(data, h1);
  auto ok = make_directories(path.parent_path());
  return ok ? write_file_atomically(path, subdir) : ok;
}

std::optional<std::string> read_module_place(const DataDirectory& data, std::string_view h1) {
  auto subdir = read_file(place_path_of(data, h1));
  return subdir ? std::optional(std::move(*subdir)) : std::nullopt;
}

}  // namespace modlock
