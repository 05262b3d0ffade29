#include "backends/providers/listed_hashes.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_text.h"

namespace modlock {

bool is_known_hash(const std::string& hash) {
  return hash.starts_with("h1:") || hash.starts_with("zh:");
}

Result<std::vector<std::string>> matching_hashes(const std::vector<std::string>& listed,
                                                 const ProviderPackage& package) {
  std::vector<std::string> known;
  std::copy_if(listed.begin(), listed.end(), std::back_inserter(known), is_known_hash);
  if (known.empty() && !listed.empty()) {
    return fail(Code::source_unsupported,
                "this version of OpenTofu does not support any of the checksum formats given for this provider",
                "have the mirror list \"h1:\" or \"zh:\" hashes");
  }
  std::vector<std::string> matching;
  std::copy_if(known.begin(), known.end(), std::back_inserter(matching),
               [&](const std::string& hash) { return hash == package.archive_h1 || hash == package.zh; });
  if (matching.empty() && !known.empty()) {
    return fail(Code::hash_mismatch,
                known.size() == 1 ? fmt::format("provider package doesn't match the expected checksum \"{}\"",
                                                printable_address(known.front()))
                                  : std::string("provider package doesn't match the any of the expected checksums"),
                "the mirror, or something between, serves another archive than it lists: do not use it");
  }
  return matching;
}

}  // namespace modlock
