#pragma once

#include <cstdint>
#include <filesystem>

#include "backends/package/unpack_rules.h"
#include "protocol/base/result.h"

namespace modlock::unpack {

// Judges the central directory of a zip file before a library holds it in memory (APPNOTE.TXT 4.3.12 to 4.3.16); its
// size in bytes.
// Errors: ARCHIVE_UNSAFE (more entries or name bytes than allowed, or more bytes by what it says itself; a NUL in a
// name, which libzip would show as a blank); BAD_RESPONSE (no zip file, or nothing in it); IO_ERROR.
Result<std::uint64_t> check_zip_directory(const std::filesystem::path& archive, const Rules& rules);

}  // namespace modlock::unpack
