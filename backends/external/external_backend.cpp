#include "backends/external/external_backend.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <utility>

#include "backends/address/hostname.h"
#include "backends/address/scrub.h"
#include "backends/address/source.h"
#include "backends/address/source_remote.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/external/answer.h"
#include "backends/external/connection.h"
#include "backends/package/byte_source.h"
#include "backends/tag_listing.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using namespace external;
namespace fs = std::filesystem;

constexpr std::size_t kParallel = 8;
constexpr std::array<std::string_view, 7> kTakenSchemes = {"git", "oci", "http", "https", "file", "h1", "zh"};
constexpr std::array<std::string_view, 6> kKindsWithHosts = {"git", "registry", "oci", "archive", "s3", "gcs"};

// The requested version, as a member of the params.
struct RequestedRef {
  const char* member;  // "id", "tag" or "ref"
  std::string name;

  std::string shown() const {
    return name.empty() ? "the default version" : fmt::format("the {} \"{}\"", member, name);
  }
};

RequestedRef named_by(const Source& source) {
  return {source.reference_argument() == "tag" ? "tag" : "ref", source.named_reference()};
}

// The name of a request is that of the source, or a listed tag. git has one name space for both.
RequestedRef wanted_by(const FetchRequest& request, const Source& source) {
  if (!request.id.empty()) {
    return {"id", request.id};
  }
  if (source.has_commits()) {
    return {"ref", request.ref};
  }
  RequestedRef own = named_by(source);
  return request.ref.empty() || request.ref == own.name ? own : RequestedRef{"tag", request.ref};
}

// Returns whether a name of git is no branch or tag: a part of the commit, alone or as git describe writes it
// ("v1.0.0-3-g8f2c0d0"), or an expression with a character that no branch or tag can have ("main~2", "@{1}").
bool is_revision(std::string_view name, std::string_view commit) {
  const std::size_t mark = name.rfind("-g");
  const std::string_view part = name.substr(mark == name.npos ? 0 : mark + 2);
  return (part.size() >= 4 && commit.starts_with(part)) || name.find_first_of("~^:") != name.npos ||
         name.find("@{") != name.npos;
}

// Returns the result of backend/list if it has all versions.
Result<OfferedTags> read_all_tags(const Json::Value& result) {
  auto offered = read_tags(result, IdForm::any);
  return !offered || offered->complete ? offered
                                       : fail(Code::bad_response, "expected all versions, and true at result.complete");
}

Result<fs::path> make_directory_below(const fs::path& parent) {
  const fs::path directory = fs::absolute(parent / random_hex(8));
  std::error_code failure;
  return fs::create_directory(directory, failure) ? Result<fs::path>(directory)
                                                  : system_failure("create", directory, failure.value());
}

// Fetches each request, several at the same time.
std::vector<Result<FetchedTree>> fetch_each(std::span<const FetchRequest> requests,
                                            const std::function<Result<FetchedTree>(const FetchRequest&)>& fetch) {
  std::vector<Result<FetchedTree>> trees(requests.size());
  parallel_for(requests.size(), kParallel, [&](std::size_t i) { trees[i] = fetch(requests[i]); });
  return trees;
}

class ExternalBackend final : public BackendCore {
 public:
  ExternalBackend(ExternalCommand command, ExternalLimits limits)
      : form_(command.scheme == "git" ? IdForm::commit : IdForm::any), program_(std::move(command), limits) {}

  bool serves(const Source& source) const override {
    return !program_.command().scheme.empty() && source.getter == program_.command().scheme;
  }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    MODLOCK_TRY(const auto offered,
                program_.ask(
                    {.method = "backend/list", .doing = "list the tags of"}, source,
                    [this](const Json::Value& result) { return read_tags(result, form_); }, context));
    Listing listing = list_tags(offered.tags, tag_prefix, std::chrono::system_clock::now());
    listing.skipped.insert(listing.skipped.end(), offered.unusable.begin(), offered.unusable.end());
    listing.complete = offered.complete;
    MODLOCK_TRY(add_ids_of_equal_versions(listing.versions, [&](const ListedVersion& version) {
      return find(source, wanted_by({.id = {}, .ref = version.ref}, source.source), context).map([](Found found) {
        return std::move(found.id);
      });
    }));
    merge_equal_versions(listing, is_git() ? "commit" : "id");
    return listing;
  }

  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    const RequestedRef wanted = named_by(source.source);
    MODLOCK_TRY(auto found, find(source, wanted, context));
    return Pin{.id = found.id, .ref = is_git() ? found.ref : found.id == wanted.name ? "" : wanted.name};
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const fs::path& parent, const Context& context) override {
    return fetch_each(requests,
                      [&](const FetchRequest& request) { return fetch_one(source, request, parent, context); });
  }

  std::string hash_scheme() const override { return program_.command().scheme; }
  std::string answered_by() const override { return program_.command().name(); }

 private:
  bool is_git() const { return form_ == IdForm::commit; }

  Result<Found> find(const SourceAddress& source, const RequestedRef& wanted, const Context& context) {
    return ask_for_id({.method = "backend/pin", .doing = fmt::format("find {} of", wanted.shown())}, "found", source,
                      wanted, context);
  }

  // A lock file, or a source of git, that names an id gets no other one.
  Result<Found> ask_for_id(Question question, const char* done, const SourceAddress& source, const RequestedRef& wanted,
                           const Context& context) {
    question.params[wanted.member] = wanted.name;
    const std::string named = is_git() ? ascii::lower(wanted.name) : wanted.name;
    const bool names_id = std::string_view(wanted.member) == "id" || (is_git() && is_id(named, form_));
    const auto read = [&](const Json::Value& result) {
      auto found = read_found(result, form_);
      if (found && is_git() && found->ref.empty() && !names_id && !is_revision(named, found->id)) {
        found = fail(Code::bad_response, "expected the full name that was found, a string at result.ref");
      }
      return found;
    };
    MODLOCK_TRY(auto found, program_.ask(std::move(question), source, read, context));
    if (names_id && found.id != named) {
      return fail(Code::hash_mismatch,
                  fmt::format("{} {} \"{}\" of \"{}\" where \"{}\" was asked for", program_.command().name(), done,
                              found.id, source.source.package_identity(), wanted.name),
                  "do not use it before you know where it comes from");
    }
    return found;
  }

  Result<FetchedTree> fetch_one(const SourceAddress& source, const FetchRequest& request, const fs::path& parent,
                                const Context& context) {
    if (!request.id.empty() && !is_id(request.id, form_)) {
      return fail(Code::source_invalid,
                  fmt::format("the id \"{}\" of \"{}\" cannot be one that the backend \"{}\" gave", request.id,
                              source.source.package_identity(), program_.command().scheme),
                  "correct the hashes in the lock file, or remove the entry and lock again");
    }
    MODLOCK_TRY(const auto directory, make_directory_below(parent));
    auto found = fetch_into(source, request, directory, context);
    if (!found) {
      static_cast<void>(remove_tree(directory));  // the first error is more helpful
      return fail(std::move(found.error()));
    }
    return FetchedTree{.id = std::move(found->id),
                       .directory = directory,
                       .warnings = {},
                       .ref = request.id.empty() ? found->ref : request.ref,
                       .claimed = found->claimed};
  }

  Result<Found> fetch_into(const SourceAddress& source, const FetchRequest& request, const fs::path& directory,
                           const Context& context) {
    const RequestedRef wanted = wanted_by(request, source.source);
    Question question{.method = "backend/fetch", .doing = fmt::format("fetch {} of", wanted.shown())};
    question.params["directory"] = directory.string();
    if (is_git() && !request.ref.empty()) {
      question.params["ref"] = request.ref;  // where the id is expected
    }
    MODLOCK_TRY(auto found, ask_for_id(std::move(question), "fetched", source, wanted, context));
    std::error_code ignored;
    if (fs::symlink_status(directory, ignored).type() != fs::file_type::directory) {
      return fail(Code::bad_response,
                  fmt::format("{} fetched {} of \"{}\" and left no directory", program_.command().name(),
                              wanted.shown(), source.source.package_identity()));
    }
    found.ref = is_git() ? std::move(found.ref) : wanted.name;
    return found;
  }

  const IdForm form_;
  Program program_;
};

// Answers the requests of a built-in kind with what a program says, and with the files that it writes below `parent`.
// For one call of a backend, which fetches one package at a time.
class ProgramHttpClient final : public HttpClient {
 public:
  ProgramHttpClient(Program& program, const SourceAddress& source, HttpClient& others, fs::path parent = {})
      : program_(program), source_(source), others_(others), parent_(std::move(parent)) {}
  ~ProgramHttpClient() override { remove_files(); }
  ProgramHttpClient(const ProgramHttpClient&) = delete;
  ProgramHttpClient& operator=(const ProgramHttpClient&) = delete;

  Result<HttpResponse> send(const HttpRequest& request, const Context& context) override {
    MODLOCK_TRY(auto response, source_.source.kind == SourceKind::oci ? ask_for_repository(request, context)
                                                                      : ask_for_archive(request, context));
    if (response.status == 0) {  // of the program, and not of another server
      response.status = 200;
      response.url = request.url;
    }
    return response;
  }

 private:
  void remove_files() const {
    if (!directory_.empty()) {
      static_cast<void>(remove_tree(directory_));
    }
  }

  template <typename Reader>
  auto ask_for_files(Question question, const SourceAddress& source, Reader read, const Context& context)
      -> decltype(read(Json::Value())) {
    remove_files();
    MODLOCK_TRY(directory_, make_directory_below(parent_));
    question.params["directory"] = directory_.string();
    return program_.ask(std::move(question), source, read, context);
  }

  Result<HttpResponse> response_of(const char* name, const HttpRequest& request, const Context& context) const {
    const fs::path file = directory_ / name;
    std::error_code failure;
    const bool is_file = fs::symlink_status(file, failure).type() == fs::file_type::regular;
    auto body = request.sink == nullptr ? read_small_file(file, request.body_limit)
                : is_file               ? std::optional<std::string>("")
                                        : std::nullopt;
    if (!body) {
      return fail(Code::bad_response,
                  fmt::format("{} fetched \"{}\" and left no file \"{}\" of at most {} bytes",
                              program_.command().name(), source_.source.package_identity(), name, request.body_limit));
    }
    if (request.sink != nullptr) {
      StreamedFile written(file);
      MODLOCK_TRY(written.adopt());
      unpack::DownloadStream bytes(written);
      MODLOCK_TRY(request.sink->begin(fs::file_size(file, failure)));
      for (;;) {
        MODLOCK_TRY(const auto piece, bytes.next());
        if (piece.empty()) {
          break;
        }
        MODLOCK_TRY(request.sink->write(piece));
        MODLOCK_TRY(context.check());
      }
    }
    return HttpResponse{.body = std::move(*body)};
  }

  // The requests of oci::Registry.
  Result<HttpResponse> ask_for_repository(const HttpRequest& request, const Context& context) {
    const std::string url = request.url.reveal();
    const std::string name = url.substr(url.rfind('/') + 1);
    const std::size_t colon = name.find(':');
    if (request.sink != nullptr) {
      return response_of(name.substr(colon + 1).c_str(), request, context);
    }
    if (url.ends_with("/tags/list")) {
      const auto read = [](const Json::Value& result) {
        return read_all_tags(result).map([&](const OfferedTags&) {
          Json::Value page(Json::objectValue);
          for (const Json::Value& version : result["versions"]) {
            page["tags"].append(version["tag"]);
          }
          return HttpResponse{.body = write_json(page)};
        });
      };
      return program_.ask({.method = "backend/list", .doing = "list the tags of"}, source_, read, context);
    }
    const bool is_pin = request.method == HttpRequest::Method::head;
    const char* const member = colon == std::string::npos ? "tag" : "id";
    Question question{.method = is_pin ? "backend/pin" : "backend/fetch",
                      .doing = fmt::format("{} the {} \"{}\" of", is_pin ? "find" : "fetch", member, name)};
    question.params[member] = name;
    const auto read = [](const Json::Value& result) { return read_found(result, IdForm::digest); };
    MODLOCK_TRY(const auto found, is_pin ? program_.ask(std::move(question), source_, read, context)
                                         : ask_for_files(std::move(question), source_, read, context));
    HttpResponse response;
    if (!is_pin) {
      MODLOCK_TRY(response, response_of("manifest.json", request, context));
      const auto manifest = parse_json(response.body);
      const auto type = manifest ? string_member(*manifest, "mediaType") : std::nullopt;
      response.headers = {{"Content-Type", type.value_or("")}};
    }
    response.headers.push_back({"Docker-Content-Digest", found.id});
    return response;
  }

  // A package, its location, or a list of checksums. Of a bucket: an object, or a page of the list of objects.
  Result<HttpResponse> ask_for_archive(const HttpRequest& request, const Context& context) {
    SourceAddress asked = {.source = source_.source, .normalised = {}, .package_url = request.url};
    const bool is_of_bucket = request.redirects == 0;  // unlike that for a list of checksums
    if (!is_of_bucket) {
      const std::string url = request.url.reveal();
      MODLOCK_TRY(auto package, describe_package(url, printable_url(url)));
      asked.source = std::move(package.source);
      if (source_.source.kind != SourceKind::archive || !contains(program_.command().hosts, asked.source.host)) {
        return others_.send(request, context);
      }
    }
    const auto read = [](const Json::Value& result) -> Result<std::string> {
      return string_member(result, "location").value_or("");
    };
    MODLOCK_TRY(const auto location,
                ask_for_files({.method = "backend/fetch", .doing = "fetch"}, asked, read, context));
    return request.sink != nullptr || is_of_bucket || location.empty()
               ? response_of("archive", request, context)
               : HttpResponse{.headers = {{"X-Terraform-Get", location}}};
  }

  Program& program_;
  const SourceAddress& source_;
  HttpClient& others_;
  const fs::path parent_;
  fs::path directory_;
};

// A built-in kind that sends its requests to a program.
class AnsweredBackend final : public BackendCore {
 public:
  AnsweredBackend(ExternalCommand command, ExternalLimits limits, HttpClient& others, BuiltInKind make)
      : program_(std::move(command), limits), others_(others), make_(std::move(make)), kind_(make_(others)) {}

  bool serves(const Source& source) const override { return kind_->serves(source); }
  std::string hash_scheme() const override { return kind_->hash_scheme(); }
  std::string answered_by() const override { return program_.command().name(); }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    ProgramHttpClient http(program_, source, others_);
    return make_(http)->list_versions(source, tag_prefix, context);
  }

  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    ProgramHttpClient http(program_, source, others_);
    return make_(http)->pin(source, context);
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const fs::path& parent, const Context& context) override {
    return fetch_each(requests, [&](const FetchRequest& request) {
      ProgramHttpClient http(program_, source, others_, parent);
      return std::move(make_(http)->fetch(source, {&request, 1}, parent, context).front());
    });
  }

 private:
  Program program_;
  HttpClient& others_;
  const BuiltInKind make_;
  const std::unique_ptr<BackendCore> kind_;
};

}  // namespace

std::optional<std::string> host_in_sources(std::string_view scheme, const std::string& host) {
  if (scheme == "registry") {
    const auto forms = parse_service_host(host);
    return forms ? std::optional(forms->display) : std::nullopt;
  }
  const auto address = parse_source("https://" + host + "/a.zip");
  return address && host.find_first_of("/@?#") == std::string::npos ? std::optional(address->source.host)
                                                                    : std::nullopt;
}

Result<void> check_external_command(const ExternalCommand& command) {
  const std::string& scheme = command.scheme;
  if (scheme.empty() || !std::ranges::all_of(scheme, ascii::is_alnum)) {
    return fail(Code::config_parse, fmt::format("a backend needs a scheme of letters and digits, found \"{}\"", scheme),
                "name what stands before the \"::\" of its sources");
  }
  const bool has_kind = contains(kKindsWithHosts, scheme);
  const bool is_taken = contains(kTakenSchemes, scheme);
  if (!command.hosts.empty() && !has_kind) {
    return fail(Code::config_parse,
                fmt::format("the backend \"{}\" cannot have hosts: {}those with hosts are for {}", scheme,
                            is_taken ? "" : "it serves all sources of its scheme; ", fmt::join(kKindsWithHosts, ", ")),
                is_taken ? fmt::format("name a kind that can have hosts: {}", fmt::join(kKindsWithHosts, " or "))
                         : "remove hosts");
  }
  const auto wrong =
      std::ranges::find_if(command.hosts, [&](const auto& host) { return !host_in_sources(scheme, host); });
  if (wrong != command.hosts.end()) {
    const auto forms = wrong->find("xn--") == std::string::npos ? std::nullopt : lookup_host(split_port(*wrong).first);
    return fail(
        Code::config_parse,
        fmt::format("the hosts of the backend \"{}\" must be names of hosts, found \"{}\"", scheme,
                    quotable(*wrong, Secrets{})),
        forms ? fmt::format("write the name in Unicode: \"{}\"", forms->display) : "write it as \"git.example.com\"");
  }
  if (command.hosts.empty() && is_taken) {
    return fail(Code::config_parse, fmt::format("no backend can be added for \"{}\": the name is taken", scheme),
                has_kind ? "name the hosts that it serves: hosts = [\"git.example.com\"]"
                         : "backends are for schemes that are not served without them");
  }
  const std::string program = command.command.empty() ? std::string() : command.command[0];
  if (program.empty() || (program[0] != '/' && program.find('/') != std::string::npos)) {
    return fail(Code::config_parse,
                fmt::format("the command of the backend \"{}\" must begin with the name or the whole path of a "
                            "program, found \"{}\"",
                            scheme, program),
                "the working directory must not choose the program: write a path that begins with \"/\"");
  }
  return {};
}

std::unique_ptr<BackendCore> make_external_backend(ExternalCommand command, ExternalLimits limits) {
  return std::make_unique<ExternalBackend>(std::move(command), limits);
}

std::unique_ptr<BackendCore> make_answered_backend(ExternalCommand command, HttpClient& others, BuiltInKind make,
                                                   ExternalLimits limits) {
  return std::make_unique<AnsweredBackend>(std::move(command), limits, others, std::move(make));
}

std::function<Result<std::string>(const Source&, const std::string&, const Context&)> make_external_registry(
    ExternalCommand command, ExternalLimits limits) {
  return [program = std::make_shared<Program>(std::move(command), limits)](
             const Source& module, const std::string& version, const Context& context) {
    const bool lists = version.empty();
    Question question{.method = lists ? "backend/list" : "backend/locate",
                      .doing = lists ? "list the versions of" : fmt::format("find the location of {} of", version)};
    question.params["version"] = version;
    const auto read = [lists](const Json::Value& result) -> Result<std::string> {
      if (!lists) {
        const std::string location = string_member(result, "location").value_or("");
        if (location.starts_with('/') || location.starts_with('.')) {
          return fail(Code::bad_response, "expected an absolute address at result.location");
        }
        return write_json(result);
      }
      MODLOCK_TRY(read_all_tags(result));
      Json::Value body(Json::objectValue);
      for (Json::Value& one : body["modules"][0]["versions"] = result["versions"]) {
        one["version"] = one["tag"];
      }
      return write_json(body);
    };
    return program->ask(std::move(question), {.source = module, .normalised = {}, .package_url = {}}, read, context);
  };
}

}  // namespace modlock
