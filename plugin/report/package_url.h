#pragma once

#include <string>

#include "backends/address/provider_address.h"
#include "backends/address/source.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// The package URL (ECMA-427, the purl specification) of what is locked. GitHub, BitBucket and OCI have types of their
// own; everything else is of type "generic" with the qualifiers that the specification knows (`vcs_url`,
// `download_url`, `repository_url`, `checksum`), for no type is registered for modules and providers yet. The version
// is what names content best: a commit or a digest where the lock has one, else the version, else none.
// A directory in the package is the subpath, without the sum: `h1:` is no checksum that the specification knows.
std::string package_url(const Source& source, const ModuleLock& lock);
std::string package_url(const ProviderAddress& provider, const std::string& version);

// The part of a source that people call it by: "network" for "git::https://example.com/team/network.git//modules/a",
// "vpc/aws" for the registry module "example/vpc/aws".
std::string package_name(const Source& source);

}  // namespace modlock
