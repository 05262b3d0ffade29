#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/base/context.h"
#include "backends/oci/registry.h"
#include "backends/remote/closure.h"
#include "backends/remote/layout.h"
#include "protocol/base/result.h"

namespace modlock::remote {

struct PushReport {
  std::size_t sent = 0;       // packages of modules and providers
  std::size_t present = 0;    // those that the registry had
  std::size_t providers = 0;  // versions in the layout
};

// Returns the repository of a provider below that of a bundle: "REPOSITORY/HOSTNAME/NAMESPACE/TYPE". Errors:
// SOURCE_INVALID (not a valid name, for example because of a port).
Result<oci::Repository> provider_repository(const oci::Repository& repository, std::string_view provider);

// Whether push() trusts that a repository still has the parts of what it has.
enum class Presence { trusted, checked };

// Uploads the closures of a layout to a repository: packages and providers first, the index of a closure last, so that
// an index never names what is missing. `other` may be a repository of push() with the same blobs: a registry that has
// both need not receive them. A closure that the repository has costs one request, and packages that it has are not
// sent; with Presence::checked each of their parts costs one, and what is missing is sent. Providers that are only in
// the registry are kept. Errors: those of Registry, Layout and provider_repository(); BAD_RESPONSE (the registry loses
// what it confirmed).
Result<PushReport> push(const Layout& layout, oci::Registry& registry, const oci::Repository& repository,
                        const Context& context, const std::optional<oci::Repository>& other = {},
                        Presence presence = Presence::trusted);

// A closure, and the context of the requests for what no closure before it needs.
struct WantedClosure {
  NamedClosure closure;
  const Context* context;
};

// Adds closures to `writer`, after it has downloaded the packages and providers of them that `writer` lacks from the
// repositories of push(). Errors: those of Registry::blob(), provider_repository() and LayoutWriter::add_closure();
// SOURCE_INVALID (a closure does not match its packages); IO_ERROR.
Result<void> pull(std::vector<WantedClosure> closures, oci::Registry& registry, const oci::Repository& repository,
                  LayoutWriter& writer);

// Returns the closure with this tag; nullopt: the repository does not have it. One request. Errors: those of Registry
// and read_closure().
Result<std::optional<Closure>> find_closure(oci::Registry& registry, const oci::Repository& repository,
                                            const std::string& tag, const Context& context);

// Returns the package with the tag, source, origin and h1 of `wanted`; nullopt: the repository does not have it. One
// request. Errors: those of Registry and read_package_manifest(); SOURCE_INVALID (the package of another lock entry).
Result<std::optional<BundledPackage>> find_package(oci::Registry& registry, const oci::Repository& repository,
                                                   const BundledPackage& wanted, const Context& context);

// Downloads a blob to a file. Errors: those of Registry::blob(); HASH_MISMATCH; IO_ERROR.
Result<void> download(oci::Registry& registry, const oci::Repository& repository, const Blob& blob,
                      const std::filesystem::path& file, const Context& context);

}  // namespace modlock::remote
