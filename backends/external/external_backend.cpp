#include "backends/external/external_backend.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <utility>

#include "backends/address/hostname.h"
#include "backends/address/scrub.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "backends/external/answer.h"
#include "backends/external/connection.h"
#include "backends/tag_listing.h"
#include "protocol/base/json.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using namespace external;
namespace fs = std::filesystem;

constexpr std::size_t kParallel = 8;
constexpr std::array<std::string_view, 7> kTakenSchemes = {"git", "oci", "http", "https", "file", "h1", "zh"};
constexpr std::array<std::string_view, 2> kKindsWithHosts = {"git", "registry"};

// The requested version, as a member of the params.
struct RequestedRef {
  const char* member;  // "id", "tag" or "ref"
  std::string name;

  std::string shown() const {
    return name.empty() ? "the default version" : fmt::format("the {} \"{}\"", member, name);
  }
};

RequestedRef named_by(const Source& source) {
  if (std::string tag = source.query_value("tag"); !tag.empty()) {
    return {"tag", std::move(tag)};
  }
  const std::string rev = source.query_value("rev");
  return {"ref", rev.empty() ? source.query_value("ref") : rev};
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

class ExternalBackend final : public BackendCore {
 public:
  ExternalBackend(ExternalCommand command, ExternalLimits limits)
      : scheme_(command.scheme),
        name_(name_of(command)),
        form_(scheme_ == "git" ? IdForm::commit : IdForm::any),
        limits_(limits),
        program_(std::move(command)) {}

  bool serves(const Source& source) const override { return !scheme_.empty() && source.getter == scheme_; }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    MODLOCK_TRY(const auto offered,
                ask(
                    {.method = "backend/list", .doing = "list the tags of", .longest = limits_.answer}, source,
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
    std::vector<std::optional<Result<FetchedTree>>> fetched(requests.size());
    parallel_for(requests.size(), kParallel,
                 [&](std::size_t i) { fetched[i] = fetch_one(source, requests[i], parent, context); });
    std::vector<Result<FetchedTree>> trees;
    for (auto& tree : fetched) {
      trees.push_back(std::move(*tree));
    }
    return trees;
  }

  std::string hash_scheme() const override { return scheme_; }
  std::string answered_by() const override { return name_; }

  // The body of the response of a registry.
  Result<std::string> ask_registry(const Source& module, const std::string& version, const Context& context) {
    const bool lists = version.empty();
    Question question{.method = lists ? "backend/list" : "backend/locate",
                      .doing = lists ? "list the versions of" : fmt::format("find the location of {} of", version),
                      .longest = limits_.answer};
    question.params["version"] = version;
    const auto read = [lists](const Json::Value& result) -> Result<std::string> {
      if (!lists) {
        const std::string location = string_member(result, "location").value_or("");
        if (location.starts_with('/') || location.starts_with('.')) {
          return fail(Code::bad_response, "expected an absolute address at result.location");
        }
        return write_json(result);
      }
      MODLOCK_TRY(const auto offered, read_tags(result, IdForm::any));
      if (!offered.complete) {
        return fail(Code::bad_response, "expected all versions, and true at result.complete");
      }
      Json::Value body(Json::objectValue);
      for (Json::Value& one : body["modules"][0]["versions"] = result["versions"]) {
        one["version"] = one["tag"];
      }
      return write_json(body);
    };
    return ask(std::move(question), {.source = module, .normalised = {}, .package_url = {}}, read, context);
  }

 private:
  bool is_git() const { return form_ == IdForm::commit; }

  struct Question {
    const char* method;
    std::string doing;  // `list the tags of`
    std::chrono::milliseconds longest;
    Json::Value params = Json::Value(Json::objectValue);
  };

  template <typename Reader>
  auto ask(Question question, const SourceAddress& source, Reader read, const Context& context)
      -> decltype(read(Json::Value())) {
    const std::string identity = source.source.package_identity();
    const std::string doing = fmt::format("{} \"{}\"", question.doing, identity);
    if (context.offline) {
      return fail(Code::offline_miss,
                  fmt::format("the backend \"{}\" may not {} in offline mode: it is not in the cache", scheme_, doing),
                  "run the command without offline mode");
    }
    question.params["source"] = identity;
    question.params["url"] = source.package_url.reveal();
    const auto begun = std::chrono::steady_clock::now();
    const auto answer = program_.call({.method = question.method,
                                       .params = std::move(question.params),
                                       .doing = doing,
                                       .secrets = secrets_of(source),
                                       .end = begun + question.longest,
                                       .description_end = begun + limits_.answer},
                                      context);
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
    context.log->write(LogLevel::debug,
                       fmt::format("{}, {} {}: {} in {} ms", answered_by(), question.method, identity,
                                   answer ? "answered" : to_string(answer.error().code), time.count()));
    MODLOCK_TRY(answer);
    auto result = read(*answer);
    if (!result) {
      result.error().message =
          fmt::format("{} could not {}: its answer cannot be used: {}", answered_by(), doing, result.error().message);
    }
    return result;
  }

  Result<Found> find(const SourceAddress& source, const RequestedRef& wanted, const Context& context) {
    Question question{
        .method = "backend/pin", .doing = fmt::format("find {} of", wanted.shown()), .longest = limits_.answer};
    return ask_for_id(std::move(question), "found", source, wanted, context);
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
    MODLOCK_TRY(auto found, ask(std::move(question), source, read, context));
    if (names_id && found.id != named) {
      return fail(Code::hash_mismatch,
                  fmt::format("{} {} \"{}\" of \"{}\" where \"{}\" was asked for", answered_by(), done, found.id,
                              source.source.package_identity(), wanted.name),
                  "do not use it before you know where it comes from");
    }
    return found;
  }

  Result<FetchedTree> fetch_one(const SourceAddress& source, const FetchRequest& request, const fs::path& parent,
                                const Context& context) {
    if (!request.id.empty() && !is_id(request.id, form_)) {
      return fail(Code::source_invalid,
                  fmt::format("the id \"{}\" of \"{}\" cannot be one that the backend \"{}\" gave", request.id,
                              source.source.package_identity(), scheme_),
                  "correct the hashes in the lock file, or remove the entry and lock again");
    }
    const fs::path directory = parent / random_hex(8);
    std::error_code failure;
    if (!fs::create_directory(directory, failure)) {
      return system_failure("create", directory, failure.value());
    }
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
    Question question{
        .method = "backend/fetch", .doing = fmt::format("fetch {} of", wanted.shown()), .longest = limits_.fetch};
    question.params["directory"] = fs::absolute(directory).string();
    if (is_git() && !request.ref.empty()) {
      question.params["ref"] = request.ref;  // where the id is expected
    }
    MODLOCK_TRY(auto found, ask_for_id(std::move(question), "fetched", source, wanted, context));
    std::error_code ignored;
    if (fs::symlink_status(directory, ignored).type() != fs::file_type::directory) {
      return fail(Code::bad_response, fmt::format("{} fetched {} of \"{}\" and left no directory", answered_by(),
                                                  wanted.shown(), source.source.package_identity()));
    }
    found.ref = is_git() ? std::move(found.ref) : wanted.name;
    return found;
  }

  const std::string scheme_;
  const std::string name_;
  const IdForm form_;
  const ExternalLimits limits_;
  Program program_;
};

bool is_getter(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, ascii::is_alnum);
}

}  // namespace

Result<void> check_external_command(const ExternalCommand& command) {
  const std::string& scheme = command.scheme;
  if (!is_getter(scheme)) {
    return fail(Code::config_parse, fmt::format("a backend needs a scheme of letters and digits, found \"{}\"", scheme),
                "name what stands before the \"::\" of its sources");
  }
  const bool has_kind = std::ranges::find(kKindsWithHosts, scheme) != kKindsWithHosts.end();
  const bool is_taken = std::ranges::find(kTakenSchemes, scheme) != kTakenSchemes.end();
  if (!command.hosts.empty() && !has_kind) {
    return fail(Code::config_parse,
                fmt::format("the backend \"{}\" cannot have hosts: {}those with hosts are for {}", scheme,
                            is_taken ? "" : "it serves all sources of its scheme; ", fmt::join(kKindsWithHosts, ", ")),
                is_taken ? fmt::format("name a kind that can have hosts: {}", fmt::join(kKindsWithHosts, " or "))
                         : "remove hosts");
  }
  const auto wrong = std::ranges::find_if(command.hosts, [](const auto& host) { return !parse_service_host(host); });
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

std::function<Result<std::string>(const Source&, const std::string&, const Context&)> make_external_registry(
    ExternalCommand command, ExternalLimits limits) {
  return [backend = std::make_shared<ExternalBackend>(std::move(command), limits)](
             const Source& module, const std::string& version, const Context& context) {
    return backend->ask_registry(module, version, context);
  };
}

std::string name_of(const ExternalCommand& command) {
  return fmt::format("the backend \"{}\" (\"{}\")", command.scheme, command.command.empty() ? "" : command.command[0]);
}

}  // namespace modlock
