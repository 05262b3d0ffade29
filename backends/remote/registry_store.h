#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "backends/base/context.h"
#include "backends/oci/registry.h"
#include "backends/remote/closure.h"
#include "backends/remote/layout.h"
#include "protocol/base/result.h"

namespace modlock::remote {

struct PushReport {
  std::size_t sent = 0;     // packages
  std::size_t present = 0;  // packages that the repository had
};

// Uploads the closures of a layout to a repository: packages first, the index of a closure last, so that an index never
// names what is missing. A closure that the repository has costs one request, and packages that it has are not sent.
// Errors: those of Registry and Layout.
Result<PushReport> push(const Layout& layout, oci::Registry& registry, const oci::Repository& repository,
                        const Context& context);

// Returns the closure with this tag; nullopt: the repository does not have it. One request. Errors: those of Registry
// and read_closure().
Result<std::optional<Closure>> find_closure(oci::Registry& registry, const oci::Repository& repository,
                                            const std::string& tag, const Context& context);

// Downloads a blob to a file. Errors: those of Registry::blob(); HASH_MISMATCH; IO_ERROR.
Result<void> download(oci::Registry& registry, const oci::Repository& repository, const Blob& blob,
                      const std::filesystem::path& file, const Context& context);

}  // namespace modlock::remote
