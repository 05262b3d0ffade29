#include "backends/providers/provider_mirrors.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source.h"
#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/single_flight_map.h"
#include "backends/http/url.h"

namespace modlock {
namespace {

constexpr int kRedirects = 5;

// `like` provides the code and the hint, if any.
tl::unexpected<Error> invalid(std::string_view why, const Error& like = {.code = Code::bad_response}) {
  return fail(like.code, fmt::format("invalid response content from mirror server: {}", why),
              like.hint.empty() ? "recreate the mirror, for example with \"tofu providers mirror\"" : like.hint);
}

// Returns the object member with this name; null if it is absent.
Result<Json::Value> object_member(std::string_view json, const char* name) {
  const auto answer = parse_json_body(json);
  if (!answer) {
    return invalid(answer.error().message, answer.error());
  }
  if (!answer->isObject()) {
    return invalid("it is not a JSON object");
  }
  const Json::Value& member = (*answer)[name];
  return member.isNull() || member.isObject() ? Result<Json::Value>(member)
                                              : invalid(fmt::format("its \"{}\" is not an object", name));
}

Result<MirrorArchive> parse_archive(const Json::Value& json, const std::string& platform) {
  const auto wrong = [&](std::string_view what) {
    return invalid(fmt::format("the archive of \"{}\" {}", escape_controls(platform), what));
  };
  if (!json.isObject() || !(json["url"].isNull() || json["url"].isString()) ||
      !(json["hashes"].isNull() || json["hashes"].isArray())) {
    return wrong("is not an object with a url and hashes");
  }
  MirrorArchive archive{.url = json["url"].asString(), .hashes = {}};
  for (const Json::Value& hash : json["hashes"]) {
    if (!hash.isString()) {
      return wrong("has a hash that is not a string");
    }
    const std::string text = hash.asString();
    if (text.find(':') == 0 || text.find(':') == std::string::npos) {
      return wrong(fmt::format("has the invalid hash \"{}\": it must start with a scheme keyword followed by a colon",
                               printable_address(text)));
    }
    archive.hashes.push_back(text);
  }
  return archive;
}

// The host of the mirror in the form that credentials use. Punycode is allowed in a URL.
std::string credentials_host(const std::string& url) {
  const auto parsed = GoUrl::parse(url);
  const std::string host = parsed ? parsed->host : std::string();
  const std::size_t colon = std::min(host.find(':'), host.size());
  const auto name = lookup_host(std::string_view(host).substr(0, colon));
  const auto forms = name ? parse_service_host(name->display + host.substr(colon)) : std::nullopt;
  return forms ? forms->ascii : std::string();
}

// Whether clients know the scheme: "h1:" or "zh:".
bool is_known_hash(const std::string& hash) {
  return hash.starts_with("h1:") || hash.starts_with("zh:");
}

// Returns the listed hashes that match this archive, as a client compares them (NewPackageHashAuthentication of
// OpenTofu); none if none are listed. Errors, in OpenTofu's words: HASH_MISMATCH (hashes of known schemes are listed,
// but none matches), SOURCE_UNSUPPORTED (no known scheme).
Result<std::vector<std::string>> matching_hashes(const std::vector<std::string>& listed,
                                                 const ProviderPackage& package) {
  std::vector<std::string> known;
  std::copy_if(listed.begin(), listed.end(), std::back_inserter(known), is_known_hash);
  if (known.empty() && !listed.empty()) {
    return fail(Code::source_unsupported,
                "this version of OpenTofu does not support any of the checksum formats given for this provider",
                "add \"h1:\" or \"zh:\" hashes to the mirror");
  }
  std::vector<std::string> matching;
  std::copy_if(known.begin(), known.end(), std::back_inserter(matching),
               [&](const std::string& hash) { return hash == package.archive_h1 || hash == package.zh; });
  if (matching.empty() && !known.empty()) {
    return fail(Code::hash_mismatch,
                known.size() == 1 ? fmt::format("provider package doesn't match the expected checksum \"{}\"",
                                                printable_address(known.front()))
                                  : std::string("provider package doesn't match the any of the expected checksums"),
                "do not use this archive: it differs from the one that the mirror lists");
  }
  return matching;
}

// The archives of one version on a mirror.
struct Archives {
  std::map<std::string, MirrorArchive> by_platform;
  std::string url;  // of the response
};

class NetworkMirror final : public ProviderSource {
 public:
  NetworkMirror(NetworkMirrorOptions options, registry::RegistryHttp metadata, HttpClient& http,
                ProviderArchives& archives)
      : options_(std::move(options)),
        display_(printable_url(options_.url)),
        host_(credentials_host(options_.url)),
        metadata_(std::move(metadata)),
        http_(http),
        archives_(archives) {}

  Result<ProviderListing> list_versions(const ProviderAddress& provider, const Context& context) override {
    auto response = ask(provider, "index.json", context);
    if (!response) {
      return response.error().code == Code::not_found ? provider_not_found(provider)
                                                      : fail(std::move(response.error()));
    }
    auto versions = parse_mirror_versions(response->body);
    if (!versions) {
      return query_failed(provider, versions.error());
    }
    ProviderListing listing{.versions = std::move(*versions), .warnings = {}};
    order_newest_first(listing.versions);
    return listing;
  }

  Result<ProviderRelease> release(const ProviderAddress& provider, const ProviderVersion& version,
                                  std::span<const Platform> platforms, const Context& context) override {
    MODLOCK_TRY(const auto archives, archives_of(provider, version, context));
    ProviderRelease release{.covers_all_platforms = false};
    for (const Platform& platform : platforms) {
      MODLOCK_TRY(const auto* archive, find(provider, version, platform, archives));
      const std::vector<std::string> accepted = options_.trust_all_hashes ? all_hashes(archives) : archive->hashes;
      MODLOCK_TRY(auto package, fetch(provider, version, platform, archives, *archive, context));
      auto matching = matching_hashes(accepted, package);
      if (!matching) {
        matching.error().message = fmt::format("{} from {}: {}", package_display(provider, version, platform), display_,
                                               matching.error().message);
        return fail(std::move(matching.error()));
      }
      package.recorded = {package.h1};
      if (options_.records_listed_hashes) {
        package.recorded.insert(package.recorded.end(), matching->begin(), matching->end());
      }
      sort_unique(package.recorded);
      release.packages.insert_or_assign(platform, std::move(package));
    }
    if (publishes_all(provider)) {
      std::vector<std::string> listed = all_hashes(archives);
      std::copy_if(listed.begin(), listed.end(), std::back_inserter(release.published), is_known_hash);
      release.covers_all_platforms = !release.published.empty();
    }
    return release;
  }

  Result<void> download(const ProviderAddress& provider, const ProviderVersion& version, const Platform& platform,
                        BodySink& sink, const Context& context) override {
    MODLOCK_TRY(const auto archives, archives_of(provider, version, context));
    MODLOCK_TRY(const auto* archive, find(provider, version, platform, archives));
    MODLOCK_TRY(auto request,
                archive_request(provider, archives, *archive, package_display(provider, version, platform), context));
    return send_archive(std::move(request), sink, context);
  }

 private:
  Result<const MirrorArchive*> find(const ProviderAddress& provider, const ProviderVersion& version,
                                    const Platform& platform, const Archives& archives) const {
    const auto archive = archives.by_platform.find(platform.to_string());
    if (archive == archives.by_platform.end()) {
      return fail(Code::not_found,
                  fmt::format("provider mirror {} does not have a package of {}", display_,
                              package_display(provider, version, platform)),
                  "add the package to the mirror, or omit the platform");
    }
    return &archive->second;
  }

  // All listed hashes, sorted, without duplicates.
  static std::vector<std::string> all_hashes(const Archives& archives) {
    std::vector<std::string> hashes;
    for (const auto& [platform, archive] : archives.by_platform) {
      hashes.insert(hashes.end(), archive.hashes.begin(), archive.hashes.end());
    }
    sort_unique(hashes);
    return hashes;
  }

  // A client trusts a mirror's hashes only if no signature is required.
  bool publishes_all(const ProviderAddress& provider) const {
    return options_.trust_all_hashes && !options_.requires_signatures && provider.host_ascii() == kOpenTofuRegistry;
  }

  Result<Archives> archives_of(const ProviderAddress& provider, const ProviderVersion& version,
                               const Context& context) {
    const std::string text = version.to_string();
    return archives_by_version_.get(
        fmt::format("{} {}", provider.to_string(), text), context, [&]() -> Result<Archives> {
          auto response = ask(provider, text + ".json", context);
          if (!response) {
            return response.error().code == Code::not_found
                       ? query_failed(provider,
                                      {.message = fmt::format("provider mirror does not have archive index for "
                                                              "previously-reported {} version {}",
                                                              provider.to_string(), text)})
                       : fail(std::move(response.error()));
          }
          auto archives = parse_mirror_archives(response->body);
          return archives ? Result<Archives>({std::move(*archives), response->url.reveal()})
                          : query_failed(provider, archives.error());
        });
  }

  Result<HttpResponse> ask(const ProviderAddress& provider, const std::string& file, const Context& context) {
    GoUrl path;
    path.path = fmt::format("{}/{}/{}/{}", provider.host_ascii(), provider.name_space(), provider.type(), file);
    const auto url = resolve_url(options_.url, path.escaped_path());
    if (!url) {
      return query_failed(provider, {.message = fmt::format("cannot request \"{}\" from the mirror", path.path)});
    }
    HttpRequest request =
        metadata_.client_request(*url, fmt::format("query provider mirror {} for {}", display_, provider.to_string()));
    request.headers.push_back({"Accept", "application/json"});
    request.retries = 0;
    request.redirects = kRedirects;
    request.keep = true;
    auto response = metadata_.send(std::move(request), host_, context);
    if (!response) {
      return response;
    }
    if (response->status != 200) {
      return query_failed(provider,
                          {.message = fmt::format("server returned unsuccessful status {}", response->status)});
    }
    if (http::media_type(response->header("Content-Type").value_or("")) != "application/json") {
      return query_failed(provider, {.message = "response has invalid Content-Type: must be application/json"});
    }
    return response;
  }

  Result<HttpRequest> archive_request(const ProviderAddress& provider, const Archives& archives,
                                      const MirrorArchive& archive, const std::string& display,
                                      const Context& context) const {
    const auto url = resolve_url(archives.url, archive.url);
    if (!url) {
      return query_failed(provider, {.message = fmt::format("provider mirror returned invalid URL \"{}\"",
                                                            printable_url(archive.url))});
    }
    MODLOCK_TRY(check_url_allowed(*url, context));
    HttpRequest request;
    request.url = SecretText(*url);
    request.purpose = fmt::format("download {}", display);
    request.body_limit = UnpackLimits{}.total_bytes;
    request.is_large = true;
    request.retries = options_.download_retries;
    return request;
  }

  Result<void> send_archive(HttpRequest request, BodySink& sink, const Context& context) {
    request.sink = &sink;
    auto response = expect_success(http_.send(request, context), request);
    return response ? Result<void>() : fail(not_as_listed(std::move(response.error())));
  }

  Result<ProviderPackage> fetch(const ProviderAddress& provider, const ProviderVersion& version,
                                const Platform& platform, const Archives& archives, const MirrorArchive& archive,
                                const Context& context) {
    const std::string display = package_display(provider, version, platform);
    MODLOCK_TRY(const auto request, archive_request(provider, archives, archive, display, context));
    const auto zh = std::find_if(archive.hashes.begin(), archive.hashes.end(),
                                 [](const std::string& hash) { return hash.starts_with("zh:"); });
    return archives_.hashes_of(
        {.display = display, .type = provider.type(), .zh = zh == archive.hashes.end() ? std::string() : *zh},
        [&](BodySink& sink) { return send_archive(request, sink, context); }, context);
  }

  tl::unexpected<Error> query_failed(const ProviderAddress& provider, const Error& reason) const {
    return fail(
        Code::bad_response,
        fmt::format("failed to query provider mirror {} for {}: {}", display_, provider.to_string(), reason.message),
        reason.hint.empty() ? "recreate the mirror, for example with \"tofu providers mirror\"" : reason.hint);
  }

  const NetworkMirrorOptions options_;
  const std::string display_;
  const std::string host_;
  const registry::RegistryHttp metadata_;
  HttpClient& http_;
  ProviderArchives& archives_;
  SingleFlightMap<std::string, Archives> archives_by_version_;
};

}  // namespace

Result<std::vector<ProviderVersion>> parse_mirror_versions(std::string_view json) {
  MODLOCK_TRY(const auto listed, object_member(json, "versions"));
  std::vector<ProviderVersion> versions;
  for (const std::string& text : listed.getMemberNames()) {
    if (auto version = ProviderVersion::parse(text)) {
      versions.push_back(std::move(*version));
    }
  }
  return versions;
}

Result<std::map<std::string, MirrorArchive>> parse_mirror_archives(std::string_view json) {
  MODLOCK_TRY(const auto listed, object_member(json, "archives"));
  std::map<std::string, MirrorArchive> archives;
  for (const std::string& platform : listed.getMemberNames()) {
    MODLOCK_TRY(auto archive, parse_archive(listed[platform], platform));
    archives.emplace(platform, std::move(archive));
  }
  return archives;
}

std::unique_ptr<ProviderSource> make_network_mirror(NetworkMirrorOptions options, registry::RegistryHttp metadata,
                                                    HttpClient& http, ProviderArchives& archives) {
  return std::make_unique<NetworkMirror>(std::move(options), std::move(metadata), http, archives);
}

}  // namespace modlock
