#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/platform.h"
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
  bool records_listed_hashes = true;  // that a package matches: OpenTofu from 1.10 on
  bool requires_signatures = false;   // OPENTOFU_ENFORCE_GPG_VALIDATION
};

// A network mirror (OpenTofu: internal/getproviders/http_mirror_source.go): `<host>/<namespace>/<type>/index.json` and
// `…/<version>.json`, relative to the URL, each asked for once in the life of the object, with the credentials of the
// mirror's host; archives are fetched without any. Where hashes are listed, one of them has to be that of the archive;
// with trust_all_hashes the hash of any platform will do, and all of them are published for providers of
// registry.opentofu.org.
// Errors beside those of ProviderSource: NOT_FOUND (`provider … was not found in any of the search locations`,
// `provider mirror <URL> does not have a package of …`), BAD_RESPONSE (another Content-Type than application/json, a
// version that the index has and the mirror does not, malformed answers), HASH_MISMATCH `provider package doesn't match
// …`. `http` answers from what listings were kept, and outlives the source as the archives do.
std::unique_ptr<ProviderSource> make_network_mirror(NetworkMirrorOptions options, registry::RegistryHttp metadata,
                                                    HttpClient& http, ProviderArchives& archives);

// What a network mirror answers (OpenTofu's provider network mirror protocol).

// The versions in `index.json`; what is no version is passed over. Errors: BAD_RESPONSE, without the URL.
Result<std::vector<ProviderVersion>> parse_mirror_versions(std::string_view json);

struct MirrorArchive {
  std::string url;                  // as written, relative to where the answer came from
  std::vector<std::string> hashes;  // "<scheme>:…" each, of any scheme
};

// The archives in `<version>.json` by platform, as it is written there. Errors: BAD_RESPONSE, without the URL (no JSON
// of that shape, a hash without a scheme).
Result<std::map<std::string, MirrorArchive>> parse_mirror_archives(std::string_view json);

}  // namespace modlock
