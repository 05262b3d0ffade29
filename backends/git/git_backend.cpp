#include "backends/git/git_backend.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "backends/address/git_reference.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/git/checkout.h"
#include "backends/git/commit_fetch.h"
#include "backends/git/fetch.h"
#include "backends/git/references.h"
#include "backends/git/remote.h"
#include "backends/git/remote_address.h"
#include "backends/git/repository.h"
#include "backends/git/signature.h"
#include "backends/git/smart_http.h"
#include "backends/git/submodules.h"
#include "backends/memo.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

using namespace git;

Result<RemoteAddress> address_of(const SourceAddress& source, const Context& context) {
  auto address = make_remote_address(source);
  if (address) {
    address->clone_directory = context.clone_directory;
  }
  return address;
}

std::string question_of(const RemoteAddress& address, bool is_head) {
  std::string question = address.url + (is_head ? "\nHEAD" : "");
  for (const SecretText& secret :
       {address.full_url, address.username, address.password.value_or(SecretText()), address.ssh_key}) {
    question += '\n' + sha256_hex(secret.reveal());
  }
  return question;
}

class GitBackend final : public BackendCore, public GitAbilities {
 public:
  explicit GitBackend(GitOptions options)
      : cache_directory_(std::move(options.cache_directory)),
        http_(options.http, options.engine, cache_directory_),
        memoizes_(options.memoizes) {}

  bool serves(const Source& source) const override { return source.kind == SourceKind::git; }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    MODLOCK_TRY(const auto address, address_of(source, context));
    MODLOCK_TRY(auto listed, Remote(address, context, &http_).list({std::string(kGitTags)}, "list the tags of"));
    auto listing = make_listing(std::move(listed.references), tag_prefix, std::chrono::system_clock::now());
    listing.redirected_to = std::move(listed.redirected_to);
    return listing;
  }

  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    MODLOCK_TRY(const auto address, address_of(source, context));
    const std::string ref = without_peeling(source.source.query_value("ref"));
    const Remote remote(address, context, &http_);
    if (is_full_commit(ref)) {
      return pin_commit(remote, ascii::lower(ref), context);
    }
    const bool is_head = is_default_branch(ref);
    WantedReferences wanted;
    add_possible_names(wanted, ref, address.prefers_branches);
    bool is_own = false;
    const auto list = [&](const Context& given) {
      is_own = true;
      return Remote(address, given, &http_)
          .list(wanted, is_head ? "find the HEAD of" : "list the branches and tags of");
    };
    const std::string question = question_of(address, is_head);
    MODLOCK_TRY(auto listed, memoizes_ ? references_.get(question, context, list) : list(context));
    if (!listed.is_whole && !is_own) {  // listed for another reference
      MODLOCK_TRY(listed, references_.get(fmt::format("{}\n{}", question, fmt::join(wanted, "\n")), context, list));
    }
    auto pin = find_reference(listed.references, ref, address.display, address.prefers_branches);
    if (pin) {
      pin->redirected_to = listed.redirected_to;
    }
    if (!may_name_commit(pin, remote, ref)) {
      return pin;
    }
    MODLOCK_TRY(const auto repository, open(address, context));
    return find_in_history(std::move(pin), remote, repository, ref, context);
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    const auto address = address_of(source, context);
    if (!address) {
      return {requests.size(), fail(address.error())};
    }
    std::vector<Result<Placed>> placed = place(*address, requests, parent, context);
    std::vector<Result<FetchedTree>> trees;
    for (auto& tree : placed) {
      trees.push_back(tree ? complete(source, *address, std::move(*tree), context) : fail(std::move(tree.error())));
    }
    return trees;
  }

  std::string hash_scheme() const override { return "git"; }
  GitAbilities* git() override { return this; }

  std::optional<CommitDistance> commit_distance(const SourceAddress& source, const std::string& older,
                                                const std::string& newer, const Context& context) override {
    const auto address = address_of(source, context);
    if (!address || !is_full_commit(older) || !is_full_commit(newer)) {
      return std::nullopt;
    }
    const auto repository = open(*address, context);
    return repository ? find_descent(Remote(*address, context, &http_), *repository, older, newer, context)
                      : std::nullopt;
  }

  Result<std::filesystem::path> repository_with(const SourceAddress& source, std::span<const FetchRequest> requests,
                                                const Context& context) override {
    MODLOCK_TRY(const auto address, address_of(source, context));
    MODLOCK_TRY(auto repository, open(address, context));
    const Remote remote(address, context, &http_);
    auto brought = bring(remote, repository, requests, context);
    if (!brought && repository.is_old() && !context.offline && may_be_damage(brought.error())) {
      MODLOCK_TRY(repository, Repository::empty(std::move(repository)));
      brought = bring(remote, repository, requests, context);
    }
    MODLOCK_TRY(brought);
    return repository.path();
  }

  Result<std::string> verify_signature(const SourceAddress& source, const FetchRequest& request,
                                       const SignatureDemand& demand, const Context& context) override {
    MODLOCK_TRY(const auto address, address_of(source, context));
    MODLOCK_TRY(const auto repository, open(address, context));
    return git::verify_signature(Remote(address, context, &http_), repository, request, demand, context);
  }

  // Rejects a repository on this machine unless git's own protocol.file.allow allows it as a submodule. OpenTofu
  // follows such a redirect.
  Result<void> check_redirected(const SourceAddress& source, const Context& context) override {
    const auto address = address_of(source, context);
    return address ? check_file_transport(*address, "repository", "and a server must not redirect to it", context)
                   : fail(address.error());
  }

 private:
  Result<Repository> open(const RemoteAddress& address, const Context& context) const {
    return Repository::open(cache_directory_, address.display, context);
  }

  // A tree on disk without its submodules.
  struct Placed {
    FetchedTree tree;
    std::vector<Submodule> submodules;
    std::shared_ptr<PackageSize> size;  // so far
  };

  // Holds the cached repository, so it must end before submodules are filled in: two packages may contain each other.
  std::vector<Result<Placed>> place(const RemoteAddress& address, std::span<const FetchRequest> requests,
                                    const std::filesystem::path& parent, const Context& context) const {
    auto repository = open(address, context);
    if (!repository) {
      return {requests.size(), fail(repository.error())};
    }
    const Remote remote(address, context, &http_);
    auto placed = place_from(*repository, remote, requests, parent, context);
    if (context.offline || !repository->is_old() || !std::ranges::any_of(placed, is_damaged)) {
      return placed;
    }
    // The files of earlier runs may be damaged, so try again with an empty repository.
    repository = Repository::empty(std::move(*repository));
    return repository ? place_from(*repository, remote, requests, parent, context)
                      : std::vector<Result<Placed>>{requests.size(), fail(repository.error())};
  }

  static bool may_be_damage(const Error& error) {
    return error.code == Code::bad_response || error.code == Code::io_error;
  }
  static bool is_damaged(const Result<Placed>& placed) { return !placed && may_be_damage(placed.error()); }

  static Result<void> bring(const Remote& remote, const Repository& repository, std::span<const FetchRequest> requests,
                            const Context& context) {
    for (const auto& arrived : fetch_commits(remote, repository, requests, context)) {
      MODLOCK_TRY(arrived);
    }
    const bool is_whole = std::ranges::all_of(
        requests, [&](const FetchRequest& request) { return repository.objects().is_whole(request.id); });
    return is_whole ? Result<void>()
                    : fail(Code::io_error,
                           fmt::format("the cached repository of \"{}\" is damaged", remote.address().display));
  }

  static std::vector<Result<Placed>> place_from(const Repository& repository, const Remote& remote,
                                                std::span<const FetchRequest> requests,
                                                const std::filesystem::path& parent, const Context& context) {
    const std::vector<Result<FetchRequest>> resolved = resolve_ids(remote, repository, requests, context);
    std::vector<FetchRequest> named;
    for (const auto& request : resolved) {
      if (request) {
        named.push_back(*request);
      }
    }
    const auto arrived = fetch_commits(remote, repository, named, context);
    std::vector<Result<Placed>> placed;
    std::size_t next = 0;
    for (const auto& request : resolved) {
      if (!request) {
        placed.push_back(fail(request.error()));
        continue;
      }
      const auto& brought = arrived[next++];
      placed.push_back(brought ? place_one(repository, *request, *brought, parent, remote.address().display, context)
                               : fail(brought.error()));
    }
    return placed;
  }

  static Result<Placed> place_one(const Repository& repository, const FetchRequest& request,
                                  const Diagnostics& warnings, const std::filesystem::path& parent,
                                  std::string_view display, const Context& context) {
    // git runs inside the work tree, where a relative name would be resolved differently.
    std::error_code ignored;
    const std::filesystem::path directory = std::filesystem::absolute(parent, ignored) / ("git-" + random_hex(8));
    auto size = std::make_shared<PackageSize>();
    auto done = check_out(repository, request.id, directory, directory.string() + ".index", display, *size, context);
    if (!done) {
      (void)remove_tree(directory);
      return fail(std::move(done.error()));
    }
    Placed placed{FetchedTree{request.id, directory, warnings, request.ref}, std::move(done->submodules),
                  std::move(size)};
    if (const auto made = repository.objects().commit_time(request.id)) {
      constexpr std::chrono::sys_seconds kLatest = std::chrono::sys_days{std::chrono::year{2200} / 1 / 1};
      placed.tree.claimed = std::clamp(*made, std::chrono::sys_seconds{}, kLatest);
    }
    placed.tree.warnings.insert(placed.tree.warnings.end(), done->warnings.begin(), done->warnings.end());
    return placed;
  }

  Result<FetchedTree> complete(const SourceAddress& source, const RemoteAddress& address, Placed placed,
                               const Context& context) const {
    const Superproject top{source.package_url, address, placed.tree.id, placed.tree.directory, placed.submodules};
    const auto warnings = fill_submodules(cache_directory_, top, *placed.size, &http_, context);
    if (!warnings) {
      (void)remove_tree(placed.tree.directory);
      return fail(warnings.error());
    }
    placed.tree.warnings.insert(placed.tree.warnings.end(), warnings->begin(), warnings->end());
    return std::move(placed.tree);
  }

  // Gives each request its id.
  static std::vector<Result<FetchRequest>> resolve_ids(const Remote& remote, const Repository& repository,
                                                       std::span<const FetchRequest> requests, const Context& context) {
    std::vector<std::string> references;
    for (const FetchRequest& request : requests) {
      if (request.id.empty()) {
        references.push_back(request.ref);
      }
    }
    auto pins =
        references.empty() ? std::vector<Result<Pin>>{} : fetch_references(remote, repository, references, context);
    std::vector<Result<FetchRequest>> resolved;
    std::size_t next = 0;
    for (const FetchRequest& request : requests) {
      if (!request.id.empty()) {
        resolved.emplace_back(request);
      } else if (auto& pin = pins[next++]; pin) {
        resolved.emplace_back(FetchRequest{.id = pin->id, .ref = pin->ref, .locked = false});
      } else {
        resolved.push_back(fail(std::move(pin.error())));
      }
    }
    return resolved;
  }

  // A commit that was accepted before was on a branch or tag, so it costs no request.
  Result<Pin> pin_commit(const Remote& remote, const std::string& commit, const Context& context) const {
    MODLOCK_TRY(const auto repository, open(remote.address(), context));
    MODLOCK_TRY(auto found, repository.has_commit(commit) ? Result<std::string>(commit)
                                                          : check_commit(remote, repository, commit, context));
    return Pin{std::move(found), ""};
  }

  std::filesystem::path cache_directory_;
  SmartHttp http_;
  const bool memoizes_;
  Memo<Advertising> references_;
};

}  // namespace

std::unique_ptr<BackendCore> make_git_backend(GitOptions options) {
  return std::make_unique<GitBackend>(std::move(options));
}

}  // namespace modlock
