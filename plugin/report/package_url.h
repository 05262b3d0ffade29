#pragma once

#include <string>

#include "backends/address/provider_address.h"
#include "backends/address/source.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// Returns the package URL (ECMA-427, the purl specification) of a lock entry. GitHub, BitBucket and OCI have types of
// their own. Everything else has type "generic" with the qualifiers of the specification (`vcs_url`, `download_url`,
// `repository_url`, `checksum`), because no type is registered for modules and providers yet. The version is the commit
// or digest of the lock if there is one, or else the version. A directory in the package is the subpath, without
// checksum, because the specification does not know `h1:`.
std::string package_url(const Source& source, const ModuleLock& lock);
std::string package_url(const ProviderAddress& provider, const std::string& version);

// Returns the short name of a source: "network" for "git::https://example.com/team/network.git//modules/a", "vpc/aws"
// for the registry module "example/vpc/aws".
std::string package_name(const Source& source);

}  // namespace modlock
