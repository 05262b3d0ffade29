#pragma once

#include <filesystem>

#include "backends/context.h"
#include "backends/package/unpack_rules.h"
#include "backends/package/unpack_tree.h"
#include "protocol/result.h"

namespace modlock::unpack {

// Feeds every entry of an archive through the rules to the writer. Errors: those of unpack_archive().
Result<void> read_zip(const std::filesystem::path& archive, Rules& rules, TreeWriter& writer, const Context& context);
Result<void> read_tar(const std::filesystem::path& archive, ArchiveFormat format, Rules& rules, TreeWriter& writer,
                      const Context& context);

}  // namespace modlock::unpack
