#include "tests/conformance/columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/archive/archive_backend.h"
#include "backends/base/digest.h"
#include "backends/external/external_backend.h"
#include "backends/git/git_backend.h"
#include "backends/oci/oci_backend.h"
#include "backends/registry/registry_backend.h"
#include "plugin/resolve/source_fetcher.h"
#include "tests/conformance/canaries.h"

namespace modlock::test {
namespace {

constexpr const char* kGitPath = "/git/vpc.git";

Result<void> wrong(std::string message) {
  return fail(Code::internal, std::move(message));
}

}  // namespace

void Notebook::write(LogLevel /*level*/, std::string_view line) {
  const std::lock_guard lock(mutex_);
  text_.append(line).append("\n");
}

void Notebook::report(std::string_view message, std::size_t /*done*/, std::size_t /*total*/) {
  write(LogLevel::info, message);
}

std::string Notebook::text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

Caller::Caller(World& a_world, Ask an_ask, Place a_place, std::filesystem::path directory)
    : world(a_world),
      ask(an_ask),
      place(a_place),
      store(Store::open(std::move(directory)).value()),
      http(make_watched_client(a_world.transport(), wire)) {
  context.log = &notebook;
  context.progress = &notebook;
  context.stats = &stats;
  for (const std::string& host : {world.authority(Place::origin), world.authority(place)}) {
    credentials.add_token(CredentialUse::registry, host, kRegistryToken);
    credentials.add_basic(CredentialUse::oci, host, kUser, kOciPassword);
    credentials.add_basic(CredentialUse::download, host, kUser, kNetrcPassword);
  }
  backends.add(make_registry_backend(
      {.http = registry::RegistryHttp(*http, credentials, {}, "1.12.6"), .client = client, .others = backends}));
  backends.add(make_oci_backend(*http, credentials));
  backends.add(make_archive_backend(*http, credentials, backends));
  backends.add(
      make_git_backend({.cache_directory = store.git_directory(),
                        .http = http.get(),
                        .engine = column(ask).means == Means::git_program ? GitEngine::git : GitEngine::libgit2}));
  backends.add(make_external_backend({.scheme = "fetched", .command = {MODLOCK_URL_BACKEND}}));
  world.origin().lead(world.base(Place::origin), column(ask).path, world.base(place));
}

Result<void> Caller::list(const std::string& text, std::string_view tag) {
  const auto source = parse_source(text);
  Backend* const backend = source ? backends.find(source->source) : nullptr;
  if (backend == nullptr) {
    return wrong("nobody serves " + text);
  }
  const auto listing = backend->list_versions(*source, "", context);
  if (!listing) {
    return fail(listing.error());
  }
  const bool is_right = listing->versions.size() == 1 && listing->versions[0].tag == tag;
  return is_right ? Result<void>() : wrong("another listing than the origin's");
}

Result<void> Caller::fetch(const std::string& text, const FetchRequest& request) {
  const auto source = parse_source(text);
  if (!source || backends.find(source->source) == nullptr) {
    return wrong("nobody serves " + text);
  }
  modlock::SourceFetcher outside(backends, store, context);
  const modlock::SourceFetcher::PackageRequest wanted{&*source, request};
  const modlock::SourceFetcher::FetchTask task{.choose = [&] { return std::vector{wanted}; }};
  outside.run({&task, 1});
  const auto& package = outside.package(*source, request);
  if (!package) {
    return fail(package.error());
  }
  if (!package->warnings.empty()) {
    return wrong("a warning: " + package->warnings[0].what.message);
  }
  const bool is_right = files_below(package->directory) == "main.tf" &&
                        read_text(package->directory / "main.tf") == Origin::files().at("main.tf");
  return is_right ? Result<void>() : wrong("another package than the origin's");
}

// A blob lies where its manifest does, and no registry can have a name that no resolver would take.
bool Caller::needs_redirect() const {
  return (ask == Ask::oci_blob && place != Place::origin) ||
         (ask == Ask::registry_discovery && place == Place::nowhere);
}

std::string Caller::address() const {
  const std::string there = world.authority(needs_redirect() ? Place::origin : place);
  const std::string with_password = fmt::format("https://{}:{}@{}", kUser, kUrlPassword, there);
  switch (ask) {
    case Ask::registry_discovery:
      return there + "/acme/vpc/aws";
    case Ask::registry_versions:
    case Ask::registry_location:
    case Ask::registry_package:
      return world.authority(Place::origin) + "/acme/vpc/aws";
    case Ask::oci_token:
      return "oci://" + world.authority(Place::origin) + "/with-token/vpc";
    case Ask::oci_tags:
    case Ask::oci_manifest:
    case Ask::oci_blob:
      return "oci://" + there + "/team/vpc";
    case Ask::archive_location:
      return fmt::format("{}/where/vpc?token={}", with_password, kUrlQuery);
    case Ask::archive_package:
      return fmt::format("https://{}/archives/vpc.zip?checksum={}&token={}", there,
                         world.origin().module().package_digest, kUrlQuery);
    case Ask::git_listing:
    case Ask::git_fetch:
    case Ask::git_program_listing:
    case Ask::git_program_fetch:
      return fmt::format("git::{}{}", with_password, kGitPath);
    case Ask::external_listing:
    case Ask::external_fetch:
      return fmt::format("fetched::{}/fetched/vpc?token={}", with_password, kUrlQuery);
  }
  return {};
}

Result<void> Caller::get_acquainted() {
  const bool is_challenged = ask == Ask::oci_tags || ask == Ask::oci_manifest || ask == Ask::oci_blob;
  const bool is_known =
      (is_challenged && needs_redirect()) || ((is_challenged || ask == Ask::git_fetch) && place == Place::origin);
  return is_known ? list(address(), "v1.0.0") : Result<void>();
}

Result<void> Caller::act() {
  switch (ask) {
    case Ask::registry_discovery:
    case Ask::registry_versions:
      return list(address(), "1.0.0");
    case Ask::oci_token:
    case Ask::oci_tags:
    case Ask::git_listing:
    case Ask::git_program_listing:
    case Ask::external_listing:
      return list(address(), "v1.0.0");
    case Ask::registry_location:
    case Ask::registry_package:
      return fetch(address(), {.id = {}, .ref = "1.0.0"});
    case Ask::oci_manifest:
    case Ask::oci_blob:
      return fetch(address(), {.id = world.origin().module().manifest_digest, .ref = {}});
    case Ask::archive_location:
    case Ask::archive_package:
      return fetch(address(), {.id = {}, .ref = {}});
    case Ask::git_fetch:
    case Ask::git_program_fetch:
      return fetch(address(), {.id = world.origin().commit(), .ref = "refs/tags/v1.0.0"});
    case Ask::external_fetch:
      return fetch(address(), {.id = sha256_hex(Origin::files().at("main.tf")), .ref = {}});
  }
  return {};
}

const std::vector<Column>& columns() {
  // Discovery is asked once and a registry's other requests twice, as OpenTofu does; everything else three times.
  static const std::vector<Column> all = {
      {Ask::registry_discovery, "registry discovery", "/.well-known/terraform.json", 1},
      {Ask::registry_versions, "registry versions", "/v1/modules/acme/vpc/aws/versions", 2},
      {Ask::registry_location, "registry location", "/v1/modules/acme/vpc/aws/1.0.0/download", 2},
      {Ask::registry_package, "registry package", "/packages/", 2},
      {Ask::oci_token, "oci token", "/token", 3},
      {Ask::oci_tags, "oci tags", "/v2/team/vpc/tags/list", 3},
      {Ask::oci_manifest, "oci manifest", "/v2/team/vpc/manifests/", 3},
      {Ask::oci_blob, "oci blob", "/v2/team/vpc/blobs/", 3},
      {Ask::archive_location, "archive location", "/where/", 3},
      {Ask::archive_package, "archive package", "/archives/", 3},
      {Ask::git_listing, "git listing", "/git/", 3},
      {Ask::git_fetch, "git fetch", "/git/", 3},
      {Ask::git_program_listing, "git listing by program", "/git/", 1, Means::git_program, 20},
      {Ask::git_program_fetch, "git fetch by program", "/git/", 1, Means::git_program},
      {Ask::external_listing, "external listing", "/fetched/vpc/tags", 1, Means::external_program},
      {Ask::external_fetch, "external fetch", "/fetched/vpc/main.tf", 1, Means::external_program},
  };
  return all;
}

const Column& column(Ask ask) {
  return *std::find_if(columns().begin(), columns().end(), [ask](const Column& row) { return row.ask == ask; });
}

}  // namespace modlock::test
