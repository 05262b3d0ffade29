#include "backends/git/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "backends/address/git_reference.h"
#include "backends/address/scrub.h"
#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/private_file.h"
#include "backends/git/git_command.h"
#include "backends/git/git_configuration.h"
#include "backends/git/repository.h"
#include "backends/git/smart_http.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

constexpr std::size_t kLongestListing = std::size_t{64} << 20U;
constexpr std::string_view kFetching = "fetch from";

// For Result::map_error().
auto with_purpose(std::string_view doing, std::string_view display) {
  return [=](Error error) {
    return error.code == Code::tool_missing
               ? git_missing(doing, display)
               : with_note(std::move(error), fmt::format("while git was to {} \"{}\"", doing, display));
  };
}

// The file system controls who may read a repository on this machine; its owner may be another user.
void add_upload_pack(const RemoteAddress& address, std::vector<std::string>& arguments) {
  if (address.scheme == "file") {
    arguments.emplace_back("--upload-pack=git -c safe.directory=* upload-pack");
  }
}

}  // namespace

Result<Finished> Remote::run(const std::vector<std::string>& arguments, std::string_view doing) const {
  auto finished = run_at(address_, arguments, doing);
  if (http_ == nullptr || !context_.check_source || !finished || finished->exit_code == 0 ||
      classify(finished->error_output) != GitFailure::redirected) {
    return finished;
  }
  auto led_to = http_->resolve(address_, doing, context_);
  if (!led_to) {
    return finished;
  }
  if (!*led_to) {
    return fail(std::move(led_to->error()));
  }
  RemoteAddress moved = address_;
  moved.full_url = std::move(**led_to);
  return run_at(moved, arguments, doing);
}

Result<Finished> Remote::run_at(const RemoteAddress& address, const std::vector<std::string>& arguments,
                                std::string_view doing) const {
  if (context_.offline) {
    return fail(not_in_cache(address_.display, doing));
  }
  std::optional<PrivateFile> key;
  if (address_.scheme == "ssh" && !address_.ssh_key.empty()) {
    MODLOCK_TRY(auto written, PrivateFile::create("key", address_.ssh_key.reveal()));
    key.emplace(std::move(written));
  }
  // Without it, its limits would not apply.
  MODLOCK_TRY(
      const auto users,
      GitConfiguration::of(address, lookup_environment, context_).map_error(with_purpose(doing, address_.display)));
  Command command =
      network_command(address, arguments, lookup_environment, &users, key ? key->path() : std::filesystem::path(),
                      !context_.check_source, std::chrono::ceil<std::chrono::seconds>(context_.children.idle));
  command.output_limit = kLongestListing;
  if (address.hides_query() && std::ranges::find(arguments, "fetch") != arguments.end()) {
    MODLOCK_TRY(auto asked, ask_version(address, &users, doing));
    if (asked.output.empty()) {
      return asked;  // with the reason in its error output
    }
  }
  context_.count_request();
  const auto begun = std::chrono::steady_clock::now();
  auto finished = run_command(command, context_);
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
  context_.log->write(
      LogLevel::debug,
      fmt::format("git {} {}: {} in {} ms", arguments.front() == "ls-remote" ? "ls-remote" : "fetch", address.display,
                  finished ? fmt::format("exit code {}", finished->exit_code) : "failed", time.count()));
  return std::move(finished).map_error(with_purpose(doing, address_.display));
}

// With another version, git would start programs with the whole address.
Result<Finished> Remote::ask_version(const RemoteAddress& address, const GitConfiguration* users,
                                     std::string_view doing) const {
  context_.count_request();
  const Command command = version_command(address, lookup_environment, users, !context_.check_source,
                                          std::chrono::ceil<std::chrono::seconds>(context_.children.idle));
  MODLOCK_TRY(auto asked, run_command(command, context_).map_error(with_purpose(doing, address_.display)));
  const bool is_unclear = asked.output.empty() && asked.exit_code == 0;
  if (asked.output.starts_with("fallback") || is_unclear) {
    return fail(Code::source_unsupported,
                fmt::format("git could not {} \"{}\": the server does not speak version 2 of git's protocol, and with "
                            "an older one git would show the query of the address to every user of this machine",
                            doing, address_.display),
                "name a branch or a tag, or give git a credential for the host in place of the query");
  }
  return asked;
}

Result<Advertising> Remote::list(const WantedReferences& wanted, std::string_view doing) const {
  auto listed = http_ == nullptr ? std::nullopt : http_->list(address_, wanted, doing, context_);
  return listed ? std::move(*listed) : list_by_git(wanted, doing);
}

Result<Advertising> Remote::list_by_git(const WantedReferences& wanted, std::string_view doing) const {
  const auto is_tag = [](const std::string& name) { return name.starts_with(kGitTags); };
  const bool needs_only_tags = !wanted.empty() && std::ranges::all_of(wanted, is_tag);
  std::vector<std::string> arguments = {"ls-remote", "--quiet"};
  if (std::ranges::find(wanted, "HEAD") == wanted.end()) {
    arguments.emplace_back("--tags");
    if (!needs_only_tags) {
      arguments.emplace_back("--heads");
    }
  }
  add_upload_pack(address_, arguments);
  arguments.insert(arguments.end(), {"--end-of-options", address_.url});
  MODLOCK_TRY(auto finished, run(arguments, doing));
  if (finished.exit_code != 0) {
    return fail(explain(address_, doing, finished.exit_code, finished.error_output));
  }
  MODLOCK_TRY(auto references, parse_references(finished.output).map_error(with_purpose(doing, address_.display)));
  if (!references.empty() && !is_full_commit(references.front().id)) {
    return fail(explain(address_, doing, GitFailure::object_format));
  }
  constexpr std::string_view kRedirect = "warning: redirecting to ";
  const std::size_t at = std::min(finished.error_output.rfind(kRedirect), finished.error_output.size());
  const std::string target = finished.error_output.substr(at, finished.error_output.find('\n', at) - at);
  return Advertising{
      .references = std::move(references),
      .is_whole = !needs_only_tags,
      .redirected_to = target.empty() ? "" : other_repository(address_.url, target.substr(kRedirect.size()))};
}

std::optional<References> Remote::known(const WantedReferences& wanted) const {
  return http_ == nullptr || context_.offline ? std::nullopt : http_->recall(address_, wanted);
}

Result<References> Remote::known_or_listed(const WantedReferences& wanted, std::string_view doing) const {
  auto kept = known(wanted);
  return kept ? *std::move(kept)
              : list(wanted, doing).map([](Advertising listed) { return std::move(listed.references); });
}

std::optional<Result<Advertising>> Remote::advertised(bool may_be_old, const WantedReferences& wanted,
                                                      std::string_view doing) const {
  if (auto said = may_be_old ? known({}) : std::nullopt) {
    return Advertising{.references = std::move(*said), .is_new = false};
  }
  return http_ == nullptr ? std::nullopt : http_->list(address_, wanted, doing, context_);
}

std::optional<Result<bool>> Remote::fetch_objects(const Repository& repository,
                                                  const std::vector<std::string>& ids) const {
  if (http_ == nullptr) {
    return std::nullopt;
  }
  std::vector<std::string> wanted = ids;
  sort_unique(wanted);
  auto fetched = http_->fetch(address_, wanted, repository.path(), kFetching, context_);
  if (!fetched || !*fetched || !**fetched) {
    return fetched;
  }
  for (const std::string& id : wanted) {
    if (!repository.objects().is_whole(id)) {
      Error error = explain(address_, kFetching, GitFailure::broken_response);
      error.notes.push_back(fmt::format("the pack lacks a part of {}", id));
      return fail(std::move(error));
    }
  }
  MODLOCK_TRY(repository.keep_incoming(ids));
  return true;
}

tl::expected<void, FetchFailure> Remote::fetch(const std::filesystem::path& repository,
                                               std::vector<std::string> options,
                                               std::vector<std::string> refspecs) const {
  std::vector<std::string> arguments = {"--git-dir=" + repository.string(),
                                        "fetch",
                                        "--quiet",
                                        "--no-progress",
                                        "--no-tags",
                                        "--no-prune",
                                        "--no-write-fetch-head",
                                        "--no-recurse-submodules",
                                        "--no-auto-maintenance",
                                        "--no-write-commit-graph",
                                        "--refmap="};
  arguments.insert(arguments.end(), options.begin(), options.end());
  add_upload_pack(address_, arguments);
  arguments.insert(arguments.end(), {"--end-of-options", address_.url});
  arguments.insert(arguments.end(), refspecs.begin(), refspecs.end());
  auto finished = run(arguments, kFetching);
  if (finished && finished->error_output.find("does not support shallow capabilities") != std::string::npos) {
    std::erase_if(arguments, [](const std::string& argument) { return argument.starts_with("--depth="); });
    finished = run(arguments, kFetching);  // a server of plain files has only whole packs
  }
  // A git that writes more is ended, and git reports this like any truncated pack.
  const bool is_too_large =
      (!finished || finished->exit_code != 0) && remove_partial_packs(repository) >= context_.children.file_size;
  if (!finished) {
    return tl::unexpected(FetchFailure{.error = std::move(finished.error())});
  }
  if (is_too_large) {
    return tl::unexpected(FetchFailure{.error = explain(address_, kFetching, GitFailure::too_large)});
  }
  if (finished->exit_code != 0) {
    return tl::unexpected(FetchFailure{classify(finished->error_output),
                                       explain(address_, kFetching, finished->exit_code, finished->error_output)});
  }
  return {};
}

Result<Finished> run_local(const Command& command, std::string_view doing, std::string_view display,
                           const Context& context) {
  MODLOCK_TRY(auto finished, run_command(command, context).map_error(with_purpose(doing, display)));
  if (finished.exit_code != 0) {
    const GitFailure failure = classify(finished.error_output);
    // git gives no reason if it cannot write a file of a work tree.
    const bool unwritten = finished.error_output.find("unable to write file") != std::string::npos;
    const std::string_view why = failure == GitFailure::disk_full   ? "the disk is full"
                                 : unwritten                        ? "a file cannot be written, the disk may be full"
                                 : failure == GitFailure::read_only ? "the directory cannot be written"
                                                                    : "git failed";
    Error error{.code = Code::io_error,
                .message = fmt::format("git could not {} \"{}\": {}", doing, display, why),
                .hint = "make room or make the cache directory writable; if it stays so, remove the cache directory"};
    error.notes.push_back("git: " +
                          quotable(scrub_urls(finished.error_output.substr(0, finished.error_output.find('\n')))));
    return fail(std::move(error));
  }
  return finished;
}

}  // namespace modlock::git
