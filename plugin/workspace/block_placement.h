#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/messages/lock_plan.h"

// Whether module blocks are in .terraform.lock.hcl (inline), from which a bare client drops them.
namespace modlock {

// The setting that moves module blocks out of it.
inline constexpr std::string_view kUseSidecar = "module_lock_file = \"sidecar\"";

// Returns whether a lock file below `top` may have inline blocks, except those of these roots. True if the files cannot
// be listed, or a lock file cannot be parsed.
bool may_have_inline_blocks(const std::filesystem::path& top, const std::vector<std::string>& except = {});

// Returns whether these edits write the first module blocks of a root, inline, and no setting decides.
bool places_first_blocks_inline(const std::filesystem::path& root, const messages::WorkspaceEdit& edits,
                                const std::optional<std::filesystem::path>& user_settings);

}  // namespace modlock
