#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/http/http_client.h"
#include "backends/providers/provider_archives.h"
#include "backends/providers/provider_source.h"
#include "backends/registry/registry_http.h"
#include "protocol/base/result.h"

namespace modlock {

struct NetworkMirrorOptions {
  std::string url = {};             // https, with a host
  std::string client_version = {};  // X-Terraform-Version; empty: not sent
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

}  // namespace modlock
