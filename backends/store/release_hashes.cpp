#include "backends/store/release_hashes.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/base/digest.h"
#include "backends/base/files.h"

namespace modlock {

std::filesystem::path ReleaseHashes::path_of(const ProviderAddress& provider, const ProviderVersion& version,
                                             std::span<const Platform> platforms) const {
  std::string key = fmt::format("{}\n{}\n{}", rules_, provider.to_string(), version.to_string());
  for (const Platform& platform : platforms) {
    key += "\n" + platform.to_string();
  }
  return store_.hash_directory() / ("release-" + sha256_hex(key));
}

std::optional<std::vector<std::string>> ReleaseHashes::find(const ProviderAddress& provider,
                                                            const ProviderVersion& version,
                                                            std::span<const Platform> platforms) const {
  const auto text = read_file(path_of(provider, version, platforms));
  if (!text || text->empty() || text->back() != '\n') {
    return std::nullopt;
  }
  std::vector<std::string> hashes;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.find(':') == std::string_view::npos) {
      return std::nullopt;
    }
    hashes.emplace_back(line);
    rest.remove_prefix(line.size() + 1);
  }
  return hashes;
}

void ReleaseHashes::note(const ProviderAddress& provider, const ProviderVersion& version,
                         std::span<const Platform> platforms, const std::vector<std::string>& hashes) const {
  const bool is_plain = std::none_of(hashes.begin(), hashes.end(), [](const std::string& hash) {
    return hash.find_first_of("\r\n") != std::string::npos;
  });
  if (hashes.empty() || !is_plain || !store_.make_hash_directory()) {
    return;
  }
  std::string text;
  for (const std::string& hash : hashes) {
    text += hash + "\n";
  }
  // Where it fails, the registry is asked again.
  (void)write_file_atomically(path_of(provider, version, platforms), text, Durable::no);
}

}  // namespace modlock
