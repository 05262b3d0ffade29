#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/credentials/client_configuration.h"
#include "backends/registry/registry_http.h"

namespace modlock {

// The referenced objects are read on demand and outlive the backend. `others` may contain the backend itself.
struct RegistryBackendOptions {
  registry::RegistryHttp http;
  const ClientConfiguration& client;
  const BackendSet& others;  // serve the sources that registries point to
  registry::ClientRules rules = registry::ClientRules::opentofu_1_12;
  std::vector<std::string> trusted_dates = {};  // hosts, in ASCII, whose publication dates are trusted
  // A program that answers in place of the registries, with the body of a response: the versions of a module, or the
  // location of one version.
  std::function<Result<std::string>(const Source& module, const std::string& version, const Context& context)> ask = {};
  std::string answered_by = {};  // BackendCore::answered_by()
};

// Serves registry modules ("modules.v1"). A registry only states the location of a version. The package comes from
// another backend, or directly from the registry. Ids are the full hash texts of the package: "git:<commit>",
// "oci:sha256:…", "zh:<sha256>". FetchRequest::ref is the canonical version. FetchedTree::subdir is the part after "//"
// of the registry's location, as written; the caller expands globs. FetchedTree::package is that location as an
// immutable address.
//
// list_versions lists all versions that differ only in metadata, in the registry's order, so that the first match is
// OpenTofu's choice. It never sets `ambiguous_with`. It fails with INVALID_PARAMS if a tag prefix is given, because a
// registry has no tags.
// pin fails with NOT_FOUND, without a request: a registry source has no references.
// fetch requests each version once per call. Requests whose packages share a repository are one fetch of it. A
// requested id is a locked id: it must come from where the registry points now, under the rules of the backend there.
// Errors in addition to those of Backend: HASH_MISMATCH (a locked commit or digest, but the registry now points to
// another kind of source), SOURCE_UNSUPPORTED (an unsupported kind of source), SOURCE_DENIED (Context::check_source),
// and those of the other backend, with a note. An archive that differs from the locked digest is a warning, because the
// caller still verifies its tree.
std::unique_ptr<BackendCore> make_registry_backend(RegistryBackendOptions options);

}  // namespace modlock
