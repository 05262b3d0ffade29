#pragma once

#include <functional>
#include <memory>
#include <string>

#include "backends/credentials/credentials.h"
#include "backends/http/http_client.h"
#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_source.h"

namespace modlock {

// Repositories of OCI registries as a mirror (OpenTofu: internal/getproviders/oci_registry_mirror_source.go).
// `repository` says which has a provider, "example.com/mirror/hashicorp/aws". A tag is a version, with "_" for "+";
// other tags are passed over. A client records the h1 and the zh of the package that it installed, so no other platform
// is covered; a package whose hashes the store knows is not fetched.
// Errors beside those of ProviderSource: those of `repository`; SOURCE_INVALID (what it gives is no repository);
// SOURCE_UNSUPPORTED (something else than a provider); BAD_RESPONSE (a version without a tag; damaged manifests).
std::unique_ptr<ProviderSource> make_oci_mirror(std::function<Result<std::string>(const ProviderAddress&)> repository,
                                                HttpClient& http, Credentials& credentials, ProviderArchives& archives);

}  // namespace modlock
