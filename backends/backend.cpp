#include "backends/backend.h"

namespace modlock {

std::string find_hash(std::span<const std::string> hashes, std::string_view scheme) {
  for (const std::string& hash : hashes) {
    if (hash.size() > scheme.size() && hash.starts_with(scheme) && hash[scheme.size()] == ':') {
      return hash.substr(scheme.size() + 1);
    }
  }
  return {};
}

}  // namespace modlock
