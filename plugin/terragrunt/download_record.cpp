#include "plugin/terragrunt/download_record.h"

#include <fmt/format.h>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/text.h"

namespace modlock::terragrunt {
namespace {

namespace fs = std::filesystem;

fs::path place_of(const Store& store, const fs::path& version_file) {
  return store.download_directory() / sha256_hex(version_file.string());
}

std::string time_of(const fs::path& version_file) {
  std::error_code error;
  const auto time = fs::last_write_time(version_file, error);
  return error ? "" : std::to_string(time.time_since_epoch().count());
}

}  // namespace

std::optional<std::vector<std::string>> find_download_record(const Store& store, const fs::path& version_file) {
  const auto text = read_file(place_of(store, version_file));
  auto lines = lines_of(text.value_or(""));
  if (lines.empty() || lines.front() != time_of(version_file)) {
    return std::nullopt;
  }
  lines.erase(lines.begin());
  return lines;
}

void record_download(const Store& store, const fs::path& version_file, const std::vector<std::string>& added) {
  std::string text = time_of(version_file) + "\n";
  for (const std::string& name : added) {
    text += name + "\n";
  }
  if (store.make(store.download_directory())) {
    (void)write_file_atomically(place_of(store, version_file), text, Durable::no);
  }
}

}  // namespace modlock::terragrunt
