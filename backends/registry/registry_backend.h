#pragma once

#include <memory>
#include <string>

#include "backends/backend.h"
#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/registry/module_protocol.h"
#include "backends/registry/registry_http.h"

namespace modlock {

// What the referenced objects say is read when it is needed: they outlive the backend. `others` may hold the backend
// itself.
struct RegistryBackendOptions {
  HttpClient& http;
  Credentials& credentials;
  const ClientConfiguration& client;
  const BackendSet& others;             // serve the sources that registries point to
  registry::RequestPolicy policy = {};  // request_policy() of the environment and of `client`
  std::string client_version = {};      // X-Terraform-Version; empty: not sent
  registry::LocationRules rules = registry::LocationRules::opentofu_1_12;
  std::string user_agent = {};  // with TF_APPEND_USER_AGENT; empty: that of `http`
};

// Serves modules of registries ("modules.v1"). A registry only says where a version lies: the package comes from
// another backend, or from the registry's own hands, and ids are the full hash texts of what it came as:
// "git:<commit>", "oci:sha256:…", "zh:<sha256>". FetchRequest::ref is the canonical version. FetchedTree::subdir is the
// part of the registry's location behind "//", as written: globs are the caller's to expand.
//
// list_versions: of versions that differ in metadata alone all are listed, in the registry's order, so that the first
// that fits is OpenTofu's choice; `ambiguous_with` is never set. INVALID_PARAMS where a tag prefix is given: a registry
// has no tags.
// pin: NOT_FOUND, without a request; a registry source has no references.
// fetch: each version is asked for once per call; requests whose packages share a repository are one fetch of it.
// An id that is requested is locked: it must come from where the registry points now, under the rules of the backend
// there. Beside the errors of Backend: HASH_MISMATCH (a locked commit or digest, and the registry now points to another
// kind of source), SOURCE_UNSUPPORTED (nobody serves what it points to), SOURCE_DENIED (Context::check_source), and
// those of the other backend, with a note. An archive with another digest than the locked one is a warning: its tree
// has to prove itself.
std::unique_ptr<BackendCore> make_registry_backend(RegistryBackendOptions options);

}  // namespace modlock
