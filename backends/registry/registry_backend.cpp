#include "backends/registry/registry_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/parallel.h"
#include "backends/package/package_download.h"
#include "backends/registry/service_discovery.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using namespace registry;

// The work waits for the network, so this is more than the machine has cores.
constexpr std::size_t kWidth = 8;

bool is_archive_id(std::string_view id) {
  return id.substr(0, 3) == "zh:";
}

std::string join_subdir(const std::string& outer, const std::string& inner) {
  return outer.empty() || inner.empty() ? outer + inner : clean_path(outer + "/" + inner);
}

// Returns the address of a package without the directory of the module, and with its commit or digest instead of a
// reference.
std::string immutable_address(Source package, const std::string& id) {
  package.subdir.clear();
  if (package.has_tags()) {
    package.query = {{std::string(package.traits().id_argument), id}};
  }
  return package.identity();
}

Diagnostic moved(std::string message) {
  return {Severity::warning, Error{.code = Code::tag_moved,
                                   .message = std::move(message),
                                   .hint = "find out why the registry changed the content of a version; `tofu-modlock "
                                           "upgrade` locks the new content"}};
}

// For messages: `version 1.2.0 of "registry.opentofu.org/modules/ns/name/sys"`.
std::string version_display(const Source& source, std::string_view version) {
  return fmt::format("version {} of \"{}\"", version, source.package_identity());
}

// Sends the requests of the protocol "modules.v1". Thread-safe. `source` is a registry source; its subdirectory is
// ignored.
class RegistryClient {
 public:
  // A program has no credentials to send with a download.
  explicit RegistryClient(const RegistryBackendOptions& options)
      : http_(options.http),
        discovery_(http_, options.client),
        rules_(options.ask ? ClientRules::opentofu : options.rules),
        ask_program_(options.ask),
        answered_by_(options.answered_by) {}

  // Returns all versions of a module. Errors: NOT_FOUND (no such module or registry), those of parse_versions(),
  // ServiceDiscovery::find() and RegistryHttp::send().
  Result<Listing> versions(const Source& source, const Context& context) {
    const std::string purpose = fmt::format("list the versions of \"{}\"", source.package_identity());
    MODLOCK_TRY(const auto answer, ask(source, "", purpose, context));
    if (answer.response.status != 200) {
      return fail(about_answer(
          {.code = Code::bad_response, .message = fmt::format("expected status 200, got {}", answer.response.status)},
          purpose, answer.url));
    }
    return parse_versions(answer.response.body, answer.response.kept_since.value_or(std::chrono::system_clock::now()))
        .map_error([&](Error error) { return about_answer(std::move(error), purpose, answer.url); });
  }

  // Returns the location of a version. Errors: those of versions() and parse_location().
  Result<PackageLocation> locate(const Source& source, const std::string& version, const Context& context) {
    const std::string purpose = fmt::format("find the location of {}", version_display(source, version));
    MODLOCK_TRY(const auto answer, ask(source, version, purpose, context));
    return parse_location(answer.response, answer.url, rules_).map_error([&](Error error) {
      return about_answer(std::move(error), purpose, answer.url);
    });
  }

  // Downloads a package that the registry serves itself into a new directory below `parent`. As in OpenTofu 1.12
  // (InstallModulePackage), the content determines the format. The id is "zh:<sha256>" of the archive. A download is
  // not limited by the total timeout of the request policy, only by its silence: ten seconds are too short for a large
  // package. Errors: those of RegistryHttp::send() and unpack_archive(); BAD_RESPONSE (none of the formats).
  Result<FetchedTree> download(const Source& source, const std::string& version, const DirectPackage& direct,
                               const std::filesystem::path& parent, const Context& context) {
    const std::string purpose = fmt::format("download {}", version_display(source, version));
    const std::string display = printable_url(direct.url.reveal());
    HttpRequest request = http_.client_request(direct.url.reveal(), purpose);
    PackageDownload package(parent, {.display = display}, context);
    request.sink = &package;
    request.body_limit = UnpackLimits{}.total_bytes;
    request.timeouts.total.reset();
    request.headers.push_back({"Accept", "application/zip, application/x-tar; *;q=0.1"});
    MODLOCK_TRY(http_.send(std::move(request), direct.use_registry_credentials ? source.host : "", context));
    MODLOCK_TRY(const auto digests, package.finish());
    if (!package.format()) {
      return fail(Code::bad_response,
                  fmt::format("could not {}: {}: the package is neither a zip archive nor a tar archive compressed "
                              "with gzip, xz or bzip2",
                              purpose, display));
    }
    return package.unpack().map([&](FetchedTree tree) {
      tree.id = "zh:" + digests.sha256;
      return tree;
    });
  }

 private:
  struct Answer {
    HttpResponse response;
    std::string url;  // of the request
  };

  // Requests the versions, or the location of one.
  Result<Answer> ask(const Source& source, const std::string& version, const std::string& purpose,
                     const Context& context) {
    if (ask_program_) {
      return ask_program_(source, version, context).map([](std::string body) {
        return Answer{{.status = 200, .headers = {}, .body = std::move(body)}, "its answer"};
      });
    }
    MODLOCK_TRY(
        const auto base,
        discovery_.find(source.host, "modules.v1", context).map_error(noting(fmt::format("needed to {}", purpose))));
    std::string url = fmt::format("{}{}/{}", base, source.path, version.empty() ? "versions" : version + "/download");
    HttpRequest question = http_.client_request(url, purpose);
    question.keep = version.empty();
    auto response = http_.send(std::move(question), source.host, context);
    if (!response) {
      Error error = std::move(response.error());
      if (error.code == Code::not_found && error.hint.empty()) {
        error.hint =
            "check the address and the version; a registry may also hide private modules from anonymous requests: " +
            tofu_modlock("explain", "--credentials", source.host);
      }
      return fail(std::move(error));
    }
    return Answer{std::move(*response), std::move(url)};
  }

  // Adds the request to an error about the response.
  Error about_answer(Error error, const std::string& purpose, const std::string& url) const {
    error.message = ask_program_ ? fmt::format("{} could not {}: its answer cannot be used: {}", answered_by_, purpose,
                                               error.message)
                                 : fmt::format("could not {}: {}: {}", purpose, printable_url(url), error.message);
    return error;
  }

  RegistryHttp http_;
  ServiceDiscovery discovery_;
  ClientRules rules_;
  const decltype(RegistryBackendOptions::ask) ask_program_;
  const std::string answered_by_;
};

// Fetches versions of one registry module: gets the location of each, and passes it to the backend that serves it. One
// object serves one call, by the rules of make_registry_backend().
class PackageFetch {
 public:
  PackageFetch(RegistryClient& client, const BackendSet& others, const Source& module,
               const std::filesystem::path& parent, const Context& context)
      : client_(client), others_(others), module_(module), parent_(parent), context_(context) {}

  std::vector<Result<FetchedTree>> fetch(std::span<const FetchRequest> requests) {
    results_.assign(requests.size(), FetchedTree{});
    inner_.resize(requests.size());
    locate(requests);
    parallel_for(requests.size(), kWidth, [&](std::size_t i) {
      const auto& location = locations_.at(requests[i].ref);
      const auto* address = location ? std::get_if<SourceAddress>(&*location) : nullptr;
      if (!location) {
        results_[i] = fail(location.error());
      } else if (address != nullptr) {
        results_[i] = prepare(requests[i], *address).map([&](Inner inner) {
          inner_[i] = std::move(inner);
          return FetchedTree();
        });
      }
    });
    const std::vector<Batch> batches = make_batches(requests);
    parallel_for(batches.size(), kWidth, [&](std::size_t i) { run(batches[i], requests); });
    return std::move(results_);
  }

 private:
  // A request for the source that the registry points to.
  struct Inner {
    SourceAddress address;
    Backend* backend = nullptr;
    FetchRequest request;
    Diagnostics warnings;
  };
  // One fetch: a direct download, or everything from one repository.
  struct Batch {
    std::optional<DirectPackage> direct;
    std::vector<std::size_t> requests;
  };

  void locate(std::span<const FetchRequest> requests) {
    for (const FetchRequest& request : requests) {
      locations_.emplace(request.ref, PackageLocation{});
    }
    std::vector<std::pair<const std::string, Result<PackageLocation>>*> open;
    for (auto& entry : locations_) {
      open.push_back(&entry);
    }
    parallel_for(open.size(), kWidth, [&](std::size_t i) {
      const std::string& version = open[i]->first;
      // It becomes a part of a URL.
      open[i]->second = Version::parse(version)
                            ? client_.locate(module_, version, context_)
                            : fail(Code::invalid_params,
                                   fmt::format("\"{}\" of \"{}\" cannot be fetched: a registry has only versions",
                                               escape_controls(version), module_.package_identity()));
    });
  }

  Result<Inner> prepare(const FetchRequest& request, const SourceAddress& address) const {
    MODLOCK_TRY(check_redirected_source(address.source, context_)
                    .map_error(noting(fmt::format("{} is at this location", display(request)))));
    Inner inner{.address = address, .backend = others_.find(address.source), .request = {}, .warnings = {}};
    if (inner.backend == nullptr) {
      return fail(Code::source_unsupported,
                  fmt::format("{} is at \"{}\", but {} sources are not supported", display(request),
                              address.source.identity(), address.source.getter));
    }
    MODLOCK_TRY(inner.backend->check_redirected(address, context_).map_error(noting(lies_at(request, inner))));
    inner.request.ref = address.source.named_reference();
    MODLOCK_TRY(request.id.empty() ? expect_named(inner, request) : expect_locked(inner, request));
    return inner;
  }

  std::string lies_at(const FetchRequest& request, const Inner& inner) const {
    return fmt::format("{} is at \"{}\"", display(request), inner.address.source.identity());
  }

  // The source must verify a commit or digest before it is fetched directly.
  Result<void> expect_named(Inner& inner, const FetchRequest& request) const {
    if (inner.address.source.named_id().empty()) {
      return {};
    }
    MODLOCK_TRY(const auto pin, inner.backend->pin(inner.address, context_).map_error(noting(lies_at(request, inner))));
    inner.request = {.id = pin.id, .ref = pin.ref, .locked = pin.ref.empty()};
    return {};
  }

  Result<void> expect_locked(Inner& inner, const FetchRequest& request) const {
    const std::string here = inner.address.source.identity();
    const std::string id = inner.backend->id_of({&request.id, 1});
    if (id.empty() && is_archive_id(request.id)) {
      inner.warnings.push_back(moved(fmt::format("{} was an archive ({}) when it was locked, but is now at \"{}\"",
                                                 display(request), request.id, here)));
      return expect_named(inner, request);
    }
    if (id.empty()) {
      return fail(
          Code::hash_mismatch,
          fmt::format("{} is locked as {}, but the registry now points to \"{}\", which cannot serve that",
                      display(request), request.id, here),
          "find out why the registry changed it; if that is intended, lock it again with: " + tofu_modlock("upgrade"));
    }
    const std::string named = inner.address.source.named_id();
    if (!named.empty() && !ascii::lower(id).starts_with(named)) {
      inner.warnings.push_back(
          moved(fmt::format("the registry now points to \"{}\" for {}; the locked {} is used, if it still exists", here,
                            display(request), request.id)));
    }
    inner.request = {.id = id, .ref = named.empty() ? inner.request.ref : std::string(), .locked = true};
    return {};
  }

  std::vector<Batch> make_batches(std::span<const FetchRequest> requests) {
    std::vector<Batch> batches;
    std::map<std::string, std::size_t> by_package;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!results_[i]) {
        continue;
      }
      if (!inner_[i]) {
        batches.push_back({std::get<DirectPackage>(*locations_.at(requests[i].ref)), {i}});
        continue;
      }
      // The URL without the version. Source::package_identity() would not do: it omits arguments of an archive's URL
      // that may select the archive.
      const std::string key = inner_[i]->address.source.getter + "::" + inner_[i]->address.package_url.reveal();
      const auto [at, is_new] = by_package.emplace(key, batches.size());
      if (is_new) {
        batches.emplace_back();
      }
      batches[at->second].requests.push_back(i);
    }
    return batches;
  }

  void run(const Batch& batch, std::span<const FetchRequest> requests) {
    const std::size_t first = batch.requests.front();
    if (batch.direct) {
      results_[first] = download(requests[first], *batch.direct);
      return;
    }
    std::vector<FetchRequest> inner;
    for (const std::size_t i : batch.requests) {
      inner.push_back(inner_[i]->request);
    }
    auto trees = inner_[first]->backend->fetch(inner_[first]->address, inner, parent_, context_);
    for (std::size_t k = 0; k < batch.requests.size(); ++k) {
      const std::size_t i = batch.requests[k];
      results_[i] = complete(requests[i], *inner_[i], std::move(trees[k]));
    }
  }

  Result<FetchedTree> download(const FetchRequest& request, const DirectPackage& package) const {
    MODLOCK_TRY(check_redirected_source(package.source, context_)
                    .map_error(noting(fmt::format("{} is at this location", display(request)))));
    const std::string here = package.source.identity();
    if (!request.id.empty() && !is_archive_id(request.id)) {
      return fail(
          Code::hash_mismatch,
          fmt::format("{} is locked as {}, but the registry now serves an archive, \"{}\"", display(request),
                      request.id, here),
          "find out why the registry changed it; if that is intended, lock it again with: " + tofu_modlock("upgrade"));
    }
    MODLOCK_TRY(auto tree, client_.download(module_, request.ref, package, parent_, context_));
    if (!request.id.empty() && request.id != tree.id) {
      tree.warnings.push_back(
          moved(fmt::format("the archive of {} at \"{}\" differs from the locked archive (it may have been repacked): "
                            "expected {}, got {}",
                            display(request), here, request.id, tree.id)));
    }
    tree.ref = request.ref;
    tree.package = fmt::format("registry::{}/{}@{}", module_.host, module_.path, request.ref);
    return tree;
  }

  Result<FetchedTree> complete(const FetchRequest& request, const Inner& inner, Result<FetchedTree> fetched) const {
    MODLOCK_TRY(auto tree, std::move(fetched).map_error(noting(lies_at(request, inner))));
    tree.package = immutable_address(inner.address.source, tree.id);
    tree.id = inner.backend->id_hash(tree.id);
    tree.ref = request.ref;
    tree.subdir = join_subdir(tree.subdir, inner.address.source.subdir);
    tree.warnings.insert(tree.warnings.begin(), inner.warnings.begin(), inner.warnings.end());
    return tree;
  }

  std::string display(const FetchRequest& request) const { return version_display(module_, request.ref); }

  RegistryClient& client_;
  const BackendSet& others_;
  const Source& module_;
  const std::filesystem::path& parent_;
  const Context& context_;
  std::map<std::string, Result<PackageLocation>> locations_;  // by version
  std::vector<std::optional<Inner>> inner_;                   // by request; nullopt for a direct download
  std::vector<Result<FetchedTree>> results_;                  // by request
};

Error offline_miss(const Source& source) {
  return {.code = Code::offline_miss,
          .message = fmt::format("cannot query the registry for \"{}\" in offline mode", source.package_identity()),
          .hint = "run the command without offline mode"};
}

class RegistryBackend final : public BackendCore {
 public:
  explicit RegistryBackend(RegistryBackendOptions options)
      : client_(options),
        answered_by_(std::move(options.answered_by)),
        others_(options.others),
        trusted_dates_(std::move(options.trusted_dates)) {}

  bool serves(const Source& source) const override { return source.kind == SourceKind::registry; }
  std::string answered_by() const override { return answered_by_; }

  bool trusts_dates(const Source& source) const override {
    return std::find(trusted_dates_.begin(), trusted_dates_.end(), source.host) != trusted_dates_.end();
  }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    if (!tag_prefix.empty()) {
      return fail(Code::invalid_params,
                  fmt::format("a tag prefix (\"{}\") was given for \"{}\", but a registry has versions, not tags",
                              tag_prefix, source.source.package_identity()),
                  "remove the tag prefix");
    }
    return context.offline ? fail(offline_miss(source.source)) : client_.versions(source.source, context);
  }

  Result<Pin> pin(const SourceAddress& source, const Context& /*context*/) override {
    return fail(Code::not_found, fmt::format("\"{}\" has no references to pin: a registry has only versions",
                                             source.source.package_identity()));
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    if (context.offline) {
      return std::vector<Result<FetchedTree>>(requests.size(), fail(offline_miss(source.source)));
    }
    return PackageFetch(client_, others_, source.source, parent, context).fetch(requests);
  }

 private:
  RegistryClient client_;
  const std::string answered_by_;
  const BackendSet& others_;
  const std::vector<std::string> trusted_dates_;
};

}  // namespace

std::unique_ptr<BackendCore> make_registry_backend(RegistryBackendOptions options) {
  return std::make_unique<RegistryBackend>(std::move(options));
}

}  // namespace modlock
