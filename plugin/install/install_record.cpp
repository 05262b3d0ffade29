#include "plugin/install/install_record.h"

#include "backends/crypto/digest.h"
#include "backends/files/files.h"

namespace modlock {
namespace {

constexpr std::string_view kHeader = "# A module that `tofu-modlock install` has installed, as its lock file had it.\n";

std::filesystem::path path_of(const Store& store, std::string_view h1) {
  return store.installed_directory() / sha256_hex(h1);
}

}  // namespace

void record_installed(const Store& store, const ModuleLock& entry) {
  const std::filesystem::path path = path_of(store, "h1:" + entry.hash_value("h1"));
  const std::string text = write_lock({}, {{entry.key, entry}}, kHeader);
  if (read_file(path).value_or("") != text && store.make_installed_directory()) {
    (void)write_file_atomically(path, text, Durable::no);
  }
}

std::optional<ModuleLock> find_installed(const Store& store, std::string_view h1) {
  const std::filesystem::path path = path_of(store, h1);
  const auto text = read_file(path);
  auto lock = text ? parse_lock(*text, path.string()) : fail(text.error());
  if (!lock || lock->modules.size() != 1 || "h1:" + lock->modules.begin()->second.hash_value("h1") != h1) {
    return std::nullopt;
  }
  return std::move(lock->modules.begin()->second);
}

}  // namespace modlock
