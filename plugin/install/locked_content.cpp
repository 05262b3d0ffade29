#include "plugin/install/locked_content.h"

#include <fmt/format.h>

namespace modlock {

bool names_fixed_content(std::string_view id) {
  return !id.empty() && !id.starts_with("zh:");
}

std::optional<Verdict> check_locked_content(const ModuleLock& lock, const Backend& backend, std::string_view id,
                                            std::string_view h1) {
  const std::string locked = lock.hash_value("h1");
  if (locked.empty() || "h1:" + locked == h1) {
    return std::nullopt;
  }
  return Verdict{.subject = "module." + lock.key,
                 .kind = VerdictKind::tampered,
                 .expected = "h1:" + locked,
                 .actual = std::string(h1),
                 .detail = fmt::format("{}, for the content of its {} has another checksum; take it from version "
                                       "control again",
                                       kContradiction, backend.id_hash(id))};
}

}  // namespace modlock
