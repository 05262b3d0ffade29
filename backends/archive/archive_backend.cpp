#include "backends/archive/archive_backend.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"
#include "backends/archive/archive_request.h"
#include "backends/package/package_download.h"
#include "backends/package/tree_hash.h"
#include "backends/package/tree_scan.h"
#include "backends/package/unpack.h"
#include "backends/package/unpack_tree.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using namespace archive;

constexpr int kMostHops = 10;
constexpr std::size_t kLargestPage = std::size_t{4} << 20U;
constexpr std::size_t kLargestPackage = UnpackLimits{}.total_bytes;
constexpr std::size_t kLargestObject = std::size_t{64} << 20U;  // of a directory, because it is kept in memory
constexpr int kMostObjectPages = 1000;

// Fetches one package over any number of hops. One object serves one request, by the rules of make_archive_backend().
class ArchiveFetch {
 public:
  ArchiveFetch(HttpClient& http, Credentials& credentials, const BackendSet& others, const Source& source,
               const std::filesystem::path& parent, const Context& context)
      : http_(http),
        credentials_(credentials),
        others_(others),
        own_(others.find(source)),
        parent_(parent),
        context_(context) {}

  Result<FetchedTree> fetch(const SourceAddress& address, const FetchRequest& fetch_request);

 private:
  Result<FetchedTree> download(const SourceAddress& address, const ArchiveRequest& request,
                               const FetchRequest& fetch_request);
  Result<FetchedTree> fetch_objects(const SourceAddress& address, const ArchiveRequest& request);
  Result<void> write_objects(ArchiveRequest request, const std::string& display, FetchedTree& tree);
  Result<FetchedTree> follow(const SourceAddress& address, const ArchiveRequest& request,
                             const FetchRequest& fetch_request);
  Result<FetchedTree> fetch_from(Backend& backend, const SourceAddress& address, const FetchRequest& fetch_request);
  Result<Checksum> listed_checksum(const ArchiveRequest& archive, std::string_view list);
  Result<HttpResponse> send(const ArchiveRequest& request, std::string purpose, BodySink* sink,
                            std::string_view validator = {});

  HttpClient& http_;
  Credentials& credentials_;
  const BackendSet& others_;
  const Backend* const own_;
  const std::filesystem::path& parent_;
  const Context& context_;
  int hops_ = 0;
};

bool is_archive_id(std::string_view id) {
  return id.substr(0, 3) == "zh:";
}

Diagnostic moved(std::string message) {
  return {Severity::warning, Error{.code = Code::tag_moved,
                                   .message = std::move(message),
                                   .hint = "find out why it changed; if that is intended, lock it again with: " +
                                           tofu_modlock("upgrade")}};
}

// As in OpenTofu: only the directory that its address names is kept of a package that another server names.
Result<void> keep_subdir(FetchedTree& tree, const Source& source) {
  MODLOCK_TRY(const auto subdir, expand_subdir(tree.directory, source.subdir));
  std::error_code error;
  const auto package = std::filesystem::canonical(tree.directory, error);
  const auto kept = std::filesystem::canonical(tree.directory / subdir, error);
  if (error || !std::filesystem::is_directory(kept, error)) {
    return fail(Code::not_found, fmt::format("the package has no directory \"{}\"", subdir));
  }
  if (leads_outside(kept.lexically_relative(package).generic_string())) {
    return fail(Code::archive_unsafe, fmt::format("\"{}\" is a symbolic link that leaves the package", subdir));
  }
  tree.directory = kept;
  return {};
}

std::string path_of(const SecretText& url) {
  const auto parsed = GoUrl::parse(url.reveal());
  return parsed ? parsed->path : std::string();
}

Result<FetchedTree> ArchiveFetch::fetch(const SourceAddress& address, const FetchRequest& fetch_request) {
  MODLOCK_TRY(const auto request, read_request(address));
  return request.format   ? download(address, request, fetch_request)
         : request.object ? fetch_objects(address, request)
                          : follow(address, request, fetch_request);
}

Result<HttpResponse> ArchiveFetch::send(const ArchiveRequest& request, std::string purpose, BodySink* sink,
                                        std::string_view validator) {
  HttpRequest sent;
  sent.url = request.url;
  sent.purpose = std::move(purpose);
  sent.sink = sink;
  sent.timeouts = HttpTimeouts::of_silence(context_.children.idle);
  if (sink != nullptr) {
    sent.body_limit = kLargestPackage;
  } else {
    sent.body_limit = request.object ? kLargestObject : kLargestPage;
    sent.timeouts.total = kSmallAnswerTime;
  }
  if (const std::size_t blank = validator.find(' '); blank != std::string_view::npos) {
    sent.validators = {{"If-None-Match", std::string(validator.substr(blank + 1))}};
    sent.validated_address = validator.substr(0, blank);
  }
  auto needed = request.credentials;
  Source server;
  server.kind = SourceKind::archive;
  server.host = needed ? needed->host : "";
  if (own_ != nullptr && !own_->answered_by().empty() && (request.object || others_.find(server) == own_)) {
    needed.reset();  // the program has credentials of its own
  }
  if (needed) {
    MODLOCK_TRY(const auto found, credentials_.find(*needed, context_));
    if (const auto* basic = std::get_if<BasicCredential>(&found.secret)) {
      sent.secret_headers.emplace_back("Authorization", basic_authorization(*basic));
    } else if (const auto* token = std::get_if<TokenCredential>(&found.secret)) {
      sent.secret_headers.emplace_back("Authorization", SecretText("Bearer " + token->access_token.reveal()));
    } else if (const auto* key = std::get_if<AwsCredential>(&found.secret)) {
      sign_request(sent, *key, request.object->region, std::chrono::system_clock::now());
    }
  }
  if (request.object) {  // the signature or the token is only for this host
    sent.redirects = 0;
    sent.decodes = request.object->is_google;
  }
  const auto answer = http_.send(sent, context_);
  return expect_success(answer, sent).map_error([&](Error error) {
    error = request.object && answer ? explain_s3_error(std::move(error), *answer) : std::move(error);
    const bool is_refusal = error.code == Code::auth_required || error.code == Code::forbidden;
    return is_refusal && needed ? explain_refusal(std::move(error), *needed, credentials_, context_)
           : is_refusal && request.object && !request.credentials
               ? with_note(std::move(error), "no token is sent to STORAGE_EMULATOR_HOST")
               : error;
  });
}

Result<FetchedTree> ArchiveFetch::download(const SourceAddress& address, const ArchiveRequest& request,
                                           const FetchRequest& fetch_request) {
  const std::string display = address.source.identity();
  if (!fetch_request.id.empty() && !is_archive_id(fetch_request.id)) {
    return fail(Code::hash_mismatch,
                fmt::format("it is locked as {}, but \"{}\" is an archive", fetch_request.id, display),
                "find out why it changed; if that is intended, lock it again with: " + tofu_modlock("upgrade"));
  }
  std::optional<Checksum> expected;
  if (!request.checksum.empty()) {
    const auto list = checksum_list_address(request.checksum);
    MODLOCK_TRY(expected, (list ? listed_checksum(request, *list) : parse_checksum(request.checksum))
                              .map_error(noting(fmt::format("it is an argument of \"{}\"", display))));
  }
  PackageDownload package(parent_,
                          {.display = display,
                           .format = request.format,
                           .also = expected ? std::optional(expected->algorithm) : std::nullopt},
                          context_);
  // A server that points to another location may point to another archive with the same validator. And a checksum of
  // the configuration may have changed.
  const bool may_be_held = hops_ == 0 && (!expected || "zh:" + expected->digits == fetch_request.held);
  MODLOCK_TRY(const auto response, send(request, "download the module package", &package,
                                        may_be_held ? fetch_request.validator : std::string_view()));
  if (response.status == 304) {
    return FetchedTree{.id = fetch_request.held, .directory = {}, .warnings = {}};
  }
  MODLOCK_TRY(const auto digests, package.finish());
  if (expected && digests.also != expected->digits) {
    return fail(Code::hash_mismatch,
                fmt::format("\"{}\" does not match its checksum: expected {}, got {}", display, expected->text(),
                            Checksum{expected->algorithm, digests.also}.text()),
                "find out which checksum is correct before you trust the archive");
  }
  return package.unpack().map([&](FetchedTree tree) {
    tree.id = "zh:" + digests.sha256;
    // Not Last-Modified: a server compares it with "newer than", and an older file may take the place of this one.
    if (const auto etag = response.header("ETag"); hops_ == 0 && etag) {
      tree.validator = validator_scope(response.url.reveal()) + " " + *etag;
    }
    if (!fetch_request.id.empty() && fetch_request.id != tree.id) {
      tree.warnings.push_back(moved(fmt::format(
          "the archive \"{}\" differs from the locked archive (it may have been repacked): expected {}, got {}",
          display, fetch_request.id, tree.id)));
    }
    return tree;
  });
}

// As the client does, one after the other, and without those that stand for directories.
Result<void> ArchiveFetch::write_objects(ArchiveRequest request, const std::string& display, FetchedTree& tree) {
  unpack::Rules rules(display, [](std::uint64_t enough) { return Result<std::uint64_t>(enough); }, {});
  MODLOCK_TRY(auto writer, unpack::TreeWriter::open(tree.directory));
  std::string prefix = request.object->key.substr(0, request.object->key.find_last_not_of('/') + 1);
  prefix += prefix.empty() ? "" : "/";
  QueryArguments query = {{"list-type", "2"}, {"prefix", prefix}};
  // An ETag of Google also depends on the encoding of the response.
  const bool is_google = request.object->is_google;
  for (int pages = 0; pages < kMostObjectPages; ++pages) {
    request.url = request.object->url("", query);
    MODLOCK_TRY(const auto response, send(request, "list the objects of the module package", nullptr));
    MODLOCK_TRY(const auto page, read_object_page(response.body, display, is_google ? "Generation" : "ETag", context_));
    for (const auto& [key, state] : page.objects) {
      if (!key.starts_with(prefix)) {
        return unpack::unsafe_entry(display, key, "is outside of the listed directory");
      }
      if (key.ends_with('/')) {
        continue;
      }
      // As the client, which refuses "/x" only in a whole bucket.
      const std::size_t start = prefix.empty() ? 0 : key.find_first_not_of('/', prefix.size());
      MODLOCK_TRY(const auto place, rules.place(key.substr(start), unpack::EntryType::file));
      request.url = request.object->url(key);
      MODLOCK_TRY(const auto object, send(request, "download an object of the module package", nullptr));
      if (!state.empty() && object.header(is_google ? "x-goog-generation" : "ETag").value_or(state) != state) {
        return fail(Code::bad_response, fmt::format("\"{}\" changed while it was downloaded", display),
                    "run the command again");
      }
      MODLOCK_TRY(rules.grow(key, object.body.size()));
      if (place) {
        MODLOCK_TRY(writer.make_directories(*place, display));
        MODLOCK_TRY(auto file, writer.make_file(*place, display));
        MODLOCK_TRY(file.write(object.body));
        MODLOCK_TRY(file.end(0644, tree.digests));
      }
    }
    if (page.next.empty()) {
      return {};
    }
    query = {{"list-type", "2"}, {"prefix", prefix}, {"continuation-token", page.next}};
  }
  return fail(Code::limit_exceeded,
              fmt::format("the list of the objects of \"{}\" has more than {} pages", display, kMostObjectPages));
}

// Its id depends only on its content.
Result<FetchedTree> ArchiveFetch::fetch_objects(const SourceAddress& address, const ArchiveRequest& request) {
  const std::string display = address.source.identity();
  FetchedTree tree{.id = {}, .directory = parent_ / fmt::format("tree-{}", random_hex(8)), .warnings = {}};
  MODLOCK_TRY(make_directories(tree.directory));
  const auto summary =
      write_objects(request, display, tree).and_then([&] { return summarise_tree(tree.directory, context_); });
  if (summary && !summary->files.empty()) {
    tree.id = "zh:" + sha256_hex(summary->text());
    return tree;
  }
  (void)remove_tree(tree.directory);
  return !summary ? fail(summary.error())
                  : fail(Code::not_found, fmt::format("there are no objects below \"{}\"", display),
                         "check the address; if it is an archive, add archive=zip (or tar.gz, tar.xz, tar.bz2)");
}

Result<FetchedTree> ArchiveFetch::follow(const SourceAddress& address, const ArchiveRequest& request,
                                         const FetchRequest& fetch_request) {
  const std::string display = address.source.identity();
  if (++hops_ > kMostHops) {
    return fail(
        Code::bad_response,
        fmt::format("\"{}\" is the last of {} servers that each point to another location of the module package",
                    display, kMostHops + 1));
  }
  MODLOCK_TRY(const auto response, send(request, "locate the module package", nullptr));
  MODLOCK_TRY(const auto next, read_terraform_get(response, display));
  const std::string note = fmt::format("\"{}\" points to this location of the module package", display);
  MODLOCK_TRY(check_redirected_source(next.source, context_).map_error(noting(note)));
  Result<FetchedTree> tree;
  Backend* const backend = others_.find(next.source);
  if (next.source.kind == SourceKind::archive) {
    // A program for hosts of archives follows all locations itself, so that two of them cannot form an endless loop.
    const bool is_own = backend == nullptr || backend == own_ || (own_ != nullptr && !own_->answered_by().empty());
    tree = is_own ? fetch(next, fetch_request)
                  : std::move(backend->fetch(next, {&fetch_request, 1}, parent_, context_).front());
  } else if (backend != nullptr) {
    tree = fetch_from(*backend, next, fetch_request);
  } else {
    tree =
        fail(Code::source_unsupported, fmt::format("the module package is at \"{}\", but {} sources are not supported",
                                                   next.source.identity(), next.source.getter));
  }
  MODLOCK_TRY(
      tree.and_then([&](FetchedTree& found) { return keep_subdir(found, next.source); }).map_error(noting(note)));
  return tree;
}

Result<FetchedTree> ArchiveFetch::fetch_from(Backend& backend, const SourceAddress& address,
                                             const FetchRequest& fetch_request) {
  MODLOCK_TRY(backend.check_redirected(address, context_));
  FetchRequest inner{.id = fetch_request.id.empty() ? std::string() : backend.id_of({&fetch_request.id, 1}),
                     .ref = {},
                     .locked = true};
  Diagnostics warnings;
  if (!fetch_request.id.empty() && inner.id.empty()) {
    const std::string what =
        fmt::format("it is locked as {}, but is now at \"{}\"", fetch_request.id, address.source.identity());
    if (!is_archive_id(fetch_request.id)) {
      return fail(Code::hash_mismatch, what + ", which cannot serve that",
                  "find out why it changed; if that is intended, lock it again with: " + tofu_modlock("upgrade"));
    }
    warnings.push_back(moved(what));
  }
  // The address may name a commit, which must be reachable there.
  const auto pin = backend.pin(address, context_);
  const bool has_references = address.source.traits().content_id != ContentId::checksum;
  if (!pin && ((has_references && inner.id.empty()) || pin.error().code != Code::not_found)) {
    return fail(pin.error());
  }
  if (pin) {
    inner.ref = pin->ref;
    inner.locked = !inner.id.empty() || pin->ref.empty();
    inner.id = inner.id.empty() ? pin->id : inner.id;
  }
  auto tree = std::move(backend.fetch(address, {&inner, 1}, parent_, context_).front());
  if (tree) {
    tree->id = backend.id_hash(tree->id);
    tree->ref.clear();
    tree->warnings.insert(tree->warnings.begin(), warnings.begin(), warnings.end());
  }
  return tree;
}

Result<Checksum> ArchiveFetch::listed_checksum(const ArchiveRequest& archive, std::string_view list) {
  const auto address = parse_source(list);
  if (!address || address->source.kind != SourceKind::archive) {
    return fail(Code::source_unsupported,
                fmt::format("the checksum file \"{}\" does not have an http or https URL", printable_address(list)),
                "write checksum=file:https://host/path, or the checksum itself");
  }
  MODLOCK_TRY(context_.check_allowed(address->source).map_error(noting("it is the location of the checksum file")));
  ArchiveRequest request;
  request.url = address->package_url;
  const auto url = GoUrl::parse(address->package_url.reveal());
  request.credentials = url ? download_credentials(*address, *url) : std::nullopt;
  MODLOCK_TRY(const auto response, send(request, "download the checksum file", nullptr));
  auto checksum = find_checksum(response.body, path_of(archive.url), path_of(address->package_url));
  if (!checksum) {
    return fail(Code::bad_response,
                fmt::format("the checksum file \"{}\" has no checksum for the archive", address->source.identity()));
  }
  return std::move(*checksum);
}

class ArchiveBackend final : public BackendCore {
 public:
  ArchiveBackend(HttpClient& http, Credentials& credentials, const BackendSet& others, SourceKind kind)
      : http_(http), credentials_(credentials), others_(others), kind_(kind) {}

  bool serves(const Source& source) const override { return source.kind == kind_; }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view /*tag_prefix*/,
                                const Context& /*context*/) override {
    return fail(Code::source_unsupported,
                fmt::format("\"{}\" is an archive, which has no versions", source.source.package_identity()),
                "a version constraint needs a registry, git or OCI source; remove it, or change the source");
  }

  Result<Pin> pin(const SourceAddress& source, const Context& /*context*/) override {
    return fail(Code::not_found,
                fmt::format("\"{}\" has no references to pin: it is an archive", source.source.package_identity()));
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    std::vector<Result<FetchedTree>> trees;
    for (const FetchRequest& request : requests) {
      if (context.offline) {
        trees.push_back(fail(Code::offline_miss,
                             fmt::format("cannot download \"{}\" in offline mode", source.source.package_identity()),
                             "run the command without offline mode"));
      } else {
        trees.push_back(
            ArchiveFetch(http_, credentials_, others_, source.source, parent, context).fetch(source, request));
      }
    }
    return trees;
  }

 private:
  HttpClient& http_;
  Credentials& credentials_;
  const BackendSet& others_;
  const SourceKind kind_;
};

}  // namespace

std::unique_ptr<BackendCore> make_archive_backend(HttpClient& http, Credentials& credentials, const BackendSet& others,
                                                  SourceKind kind) {
  return std::make_unique<ArchiveBackend>(http, credentials, others, kind);
}

}  // namespace modlock
