#pragma once

#include <json/value.h>

#include <map>
#include <string>

#include "plugin/lock/lock_file.h"

namespace modlock {

// Returns an SBOM of a lock file in CycloneDX 1.6 (JSON), only from its content. The same lock gives the same bytes:
// there is no time in it, and the serial number is derived from the content. Each module package and each provider is a
// component (`type` "library") with its package URL, its version and its lock entry as properties ("tofu-modlock:call",
// ":source", ":constraints", ":hash"). A git component also has the commit as pedigree and the repository as external
// reference, an archive its SHA-256. Calls of the same package and version are one component. A module depends on the
// modules that it calls. The root depends on the providers, because a lock does not contain which modules need them. An
// entry that cannot be read as a source has a name and no package URL. `name`: of the product; empty: "root module".
// `files`: the text of each lock file, by name; its digest is an external reference of the product.
Json::Value bill_of_materials(const LockFile& lock, const std::string& name,
                              const std::map<std::string, std::string>& files = {});

}  // namespace modlock
