#pragma once

#include <optional>
#include <string_view>

#include "backends/backend.h"
#include "plugin/install/verdict.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// Whether what an entry names beside its h1 has to have that h1: a commit or a digest, whose content never changes. The
// checksum of an archive is evidence alone: it may have been packed again.
bool names_fixed_content(std::string_view id);

// The entry contradicts itself where its commit or digest is known to have another h1: tampered, for one of the two
// was edited. nullopt: both say the same. `id` is the backend's, `h1` ("h1:…") what its content has.
std::optional<Verdict> check_locked_content(const ModuleLock& lock, const Backend& backend, std::string_view id,
                                            std::string_view h1);

}  // namespace modlock
