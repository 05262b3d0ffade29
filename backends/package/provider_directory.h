#pragma once

#include <filesystem>
#include <string>

#include "backends/base/context.h"
#include "protocol/base/result.h"

namespace modlock {

// "h1:" of an unpacked provider package, as the clients compute it: golang.org/x/mod/sumdb/dirhash HashDir() without a
// prefix. Other than in a module's package (hash_tree()) nothing is left out, and a link counts as the file that it
// leads to, be that outside the package. `directory` itself may be a link.
// Errors: IO_ERROR (no directory; a link that leads to no file), ARCHIVE_UNSAFE (a device, pipe or socket, a newline in
// a name) naming the entry; REQUEST_CANCELLED and DEADLINE_EXCEEDED.
Result<std::string> hash_provider_directory(const std::filesystem::path& directory, const Context& context);

}  // namespace modlock
