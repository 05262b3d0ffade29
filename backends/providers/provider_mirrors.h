#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/oci/manifest.h"
#include "backends/providers/provider_archives.h"
#include "backends/registry/registry_http.h"

// The mirrors of providers: a local directory, a server of OpenTofu's mirror protocol, and repositories of OCI
// registries.
namespace modlock {

// A provider package in a directory of the local filesystem.
struct LocalProvider {
  ProviderVersion version;
  Platform platform;
  std::filesystem::path path;
  bool is_packed = false;  // a zip; else an extracted directory
};

using LocalProviders = std::map<ProviderAddress, std::vector<LocalProvider>>;

// Finds the provider packages below a directory as OpenTofu's SearchLocalDirectory does
// (internal/getproviders/filesystem_search.go):
//   <host>/<namespace>/<type>/<version>/<os>_<arch>/
//   <host>/<namespace>/<type>/terraform-provider-<type>_<version>_<os>_<arch>[_…].zip
// The host is in Unicode. Archive names match in any case. Symlinks are followed only for `directory` itself and for a
// package. Other entries are ignored. The packages of a provider are sorted by name, so an extracted one precedes an
// archive of the same version and platform.
// Errors: IO_ERROR with the directory that is missing or cannot be read.
Result<LocalProviders> find_local_providers(const std::filesystem::path& directory);

// Serves the provider packages below a local directory (find_local_providers()), which is read once, on first use. A
// client records only the h1 of a package's directory, also for an archive, so no other platform is covered. A provider
// without packages has an empty listing. A version that is missing for a platform is NOT_FOUND `provider <name>
// <version> is not available for <platform>`. Errors: those of find_local_providers() and of hashing a package.
// Store and archives outlive the source. The store caches the hashes of directories.
std::unique_ptr<ProviderSource> make_filesystem_mirror(std::filesystem::path directory, ProviderArchives& archives,
                                                       const Store& store);

struct NetworkMirrorOptions {
  std::string url = {};  // https, with a host
  int download_retries = 2;
  bool trust_all_hashes = false;
  bool records_listed_hashes = true;  // if the package matches: OpenTofu 1.10 and later
  bool requires_signatures = false;   // OPENTOFU_ENFORCE_GPG_VALIDATION
};

// A network mirror (OpenTofu: internal/getproviders/http_mirror_source.go). It requests
// `<host>/<namespace>/<type>/index.json` and `…/<version>.json`, relative to the URL, once each in the life of the
// object, with the credentials of the mirror's host. Archives are downloaded without credentials. If hashes are listed,
// the archive must match one of them. With trust_all_hashes a hash of any platform suffices, and all hashes are
// published for providers of registry.opentofu.org.
// Errors in addition to those of ProviderSource: NOT_FOUND (`provider … was not found in any of the search locations`,
// `provider mirror <URL> does not have a package of …`), BAD_RESPONSE (a Content-Type other than application/json, a
// version in the index that the mirror does not have, malformed responses), HASH_MISMATCH `provider package doesn't
// match …`. `http` may return cached listings. It outlives the source, as the archives do.
std::unique_ptr<ProviderSource> make_network_mirror(NetworkMirrorOptions options, registry::RegistryHttp metadata,
                                                    HttpClient& http, ProviderArchives& archives);

// Reads the responses of a network mirror (OpenTofu's provider network mirror protocol).

// Returns the versions in `index.json`; skips invalid ones. Errors: BAD_RESPONSE, without the URL.
Result<std::vector<ProviderVersion>> parse_mirror_versions(std::string_view json);

struct MirrorArchive {
  std::string url;                  // as written, relative to the URL of the response
  std::vector<std::string> hashes;  // "<scheme>:…" each, of any scheme
};

// Returns the archives in `<version>.json` by platform, spelled as there. Errors: BAD_RESPONSE, without the URL (JSON
// of another shape, a hash without a scheme).
Result<std::map<std::string, MirrorArchive>> parse_mirror_archives(std::string_view json);

// Repositories of OCI registries as a mirror (OpenTofu: internal/getproviders/oci_registry_mirror_source.go).
// `repository` maps a provider to its repository, "example.com/mirror/hashicorp/aws". A tag is a version, with "_" for
// "+"; other tags are ignored. A client records the h1 and the zh of the package that it installed, so no other
// platform is covered. A package whose hashes are in the store is not downloaded.
// Errors in addition to those of ProviderSource: those of `repository`; SOURCE_INVALID (its result is not a
// repository); SOURCE_UNSUPPORTED (not a provider); BAD_RESPONSE (a version without a tag; damaged manifests).
// `token_realms`: as for oci::Authorizer.
std::unique_ptr<ProviderSource> make_oci_mirror(std::function<Result<std::string>(const ProviderAddress&)> repository,
                                                HttpClient& http, Credentials& credentials, ProviderArchives& archives,
                                                std::vector<std::string> token_realms = {});

}  // namespace modlock

namespace modlock::oci {

// The manifest of a provider package in an index, by platform.
struct PlatformManifest {
  Platform platform;
  std::string digest;  // "sha256:…" or "sha512:…"
};

// Reads the index manifest of a provider version as OpenTofu does (fetchOCIIndexManifest and selectOCIImageManifest,
// internal/getproviders/oci_registry_mirror_source.go). It must be an OCI image index of the artifact type
// "application/vnd.opentofu.provider". Returns its image manifests of the artifact type
// "application/vnd.opentofu.provider-target" without an OS version. `what` names the version: `"1.0.0" of "oci://…"`.
// Errors: SOURCE_UNSUPPORTED (not a provider; the message states the type); BAD_RESPONSE (not a manifest).
Result<std::vector<PlatformManifest>> read_provider_index(std::string_view content_type, std::string_view body,
                                                          std::string_view what);

// Reads the image manifest of one platform, which must have exactly one layer of the type "archive/zip" with a SHA-256
// digest. Errors: those of read_provider_index().
Result<Layer> read_provider_manifest(std::string_view content_type, std::string_view body, std::string_view what);

}  // namespace modlock::oci
