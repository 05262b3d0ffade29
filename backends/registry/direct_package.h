#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/registry/module_protocol.h"
#include "backends/registry/registry_http.h"

namespace modlock::registry {

// Downloads and unpacks a package that a registry hands out itself (OpenTofu 1.12, InstallModulePackage): the format is
// told by the content, whatever the server calls it. `request` asks for package.url; `host` has the token (empty:
// anonymously). The id is "zh:<sha256>" of the archive; the tree lands in a new directory below `parent`. The policy
// judges every redirect. A download is not held to the total timeout of the request policy, only to its silence: a
// client that gives up a large package after ten seconds is no model.
// Errors: those of RegistryHttp::send() and unpack_archive(); BAD_RESPONSE (none of the formats); SOURCE_DENIED.
Result<FetchedTree> fetch_direct(const RegistryHttp& http, HttpRequest request, std::string_view host,
                                 const std::filesystem::path& parent, const Context& context);

}  // namespace modlock::registry
