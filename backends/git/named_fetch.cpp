#include "backends/git/named_fetch.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>

#include "backends/base/files.h"
#include "backends/git/history.h"
#include "backends/git/references.h"

namespace modlock::git {
namespace {

// Names that git's own rules and OpenTofu's resolve alike: a tag of that name, else a branch.
bool is_plain_name(const std::string& name) {
  constexpr std::array<std::string_view, 5> kOther = {"refs/", "tags/", "heads/", "remotes/", "origin/"};
  const bool is_hex = name.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  return name.empty() || (is_reference_name(name) && !is_hex &&
                          std::none_of(kOther.begin(), kOther.end(),
                                       [&](std::string_view prefix) { return name.starts_with(prefix); }));
}

// It names the URL with its query, which may hold a token.
void remove_fetch_head(const Repository& repository) {
  std::error_code ignored;
  std::filesystem::remove(repository.path() / "FETCH_HEAD", ignored);
}

// One fetch for all; nullopt where it takes a closer look.
std::optional<std::vector<Result<Pin>>> fetch_at_once(const Remote& remote, const Repository& repository,
                                                      std::span<const std::string> references) {
  if (!std::all_of(references.begin(), references.end(), is_plain_name)) {
    return std::nullopt;
  }
  repository.clear_incoming();
  std::vector<std::string> refspecs;
  for (std::size_t i = 0; i < references.size(); ++i) {
    refspecs.push_back("+" + (references[i].empty() ? std::string("HEAD") : references[i]) + ":" +
                       Repository::incoming(i));
  }
  auto fetched = remote.fetch(repository.path(), {"--depth=1", "--write-fetch-head"}, std::move(refspecs));
  if (!fetched) {
    remove_fetch_head(repository);
  }
  if (!fetched && fetched.error().unknown_reference) {
    return std::nullopt;
  }
  if (!fetched) {
    return std::vector<Result<Pin>>(references.size(), fail(std::move(fetched.error().error)));
  }
  const auto fetch_head = read_file(repository.path() / "FETCH_HEAD");
  remove_fetch_head(repository);
  const std::vector<std::string> names = fetch_head ? parse_fetch_head(*fetch_head) : std::vector<std::string>{};
  if (names.size() != references.size()) {
    return std::nullopt;
  }
  std::vector<Result<Pin>> pins;
  for (std::size_t i = 0; i < references.size(); ++i) {
    const auto arrived = repository.objects().peel(Repository::incoming(i));
    if (names[i].empty() || !arrived || arrived->kind != "commit") {
      return std::nullopt;
    }
    auto accepted = repository.accept(arrived->id);
    pins.push_back(accepted ? Result<Pin>(Pin{arrived->id, names[i]}) : fail(std::move(accepted.error())));
  }
  repository.clear_incoming();
  return pins;
}

}  // namespace

std::vector<Result<Pin>> fetch_references(const Remote& remote, const Repository& repository,
                                          std::span<const std::string> references, const Context& context) {
  constexpr std::string_view kListing = "list the references of";
  const auto now = remote.advertised(false, kListing);
  if (!now) {
    if (auto pins = fetch_at_once(remote, repository, references)) {
      return std::move(*pins);
    }
  }
  const auto listed = !now   ? remote.list(Remote::Part::everything, kListing)
                      : *now ? Result<References>((*now)->references)
                             : fail(now->error());
  std::vector<Result<Pin>> pins;
  for (const std::string& reference : references) {
    pins.push_back(listed ? find_reference(*listed, reference, remote.address().display) : fail(listed.error()));
    Result<Pin>& pin = pins.back();
    if (!pin && pin.error().code == Code::not_found && is_revision(reference)) {
      pin = find_revision(remote, repository, reference, context);
    }
  }
  return pins;
}

std::vector<std::string> parse_fetch_head(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    // "<id> TAB <not-for-merge or nothing> TAB <what> of <url>"
    const std::string_view what = line.substr(std::min(line.size(), line.rfind('\t') + 1));
    const std::size_t end = what.rfind("' of ");
    std::string name;
    for (const auto& [kind, folder] :
         {std::pair<std::string_view, std::string_view>{"tag '", "refs/tags/"}, {"branch '", "refs/heads/"}}) {
      if (what.starts_with(kind) && end != std::string_view::npos) {
        name = std::string(folder) + std::string(what.substr(kind.size(), end - kind.size()));
      }
    }
    const bool is_head = what.find('\'') == std::string_view::npos;
    names.push_back(is_head ? "HEAD" : name);
  }
  return names;
}

}  // namespace modlock::git
