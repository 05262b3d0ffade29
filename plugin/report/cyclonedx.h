#pragma once

#include <json/value.h>

#include <string>

#include "plugin/lock/lock_file.h"

namespace modlock {

struct SbomRequest {
  std::string name = "root module";  // of what was built from the parts: the root module
};

// A bill of materials in CycloneDX 1.6 (JSON) of what a lock file names, from its content alone: the same lock gives
// the same bytes, so there is no time in it and the serial number is made of the content.
// Each module package and each provider is a component (`type` "library") with its package URL, its version, what the
// lock says of it as properties ("tofu-modlock:call", ":source", ":constraints", ":hash"), for git the commit as
// pedigree and the repository as external reference, for an archive its SHA-256. Calls of one package in one version
// are one component. A module depends on those that it calls; providers are what the root depends on, for a lock does
// not say who needs them. What cannot be read as a source has a name and no package URL.
Json::Value bill_of_materials(const LockFile& lock, const SbomRequest& request);

}  // namespace modlock
