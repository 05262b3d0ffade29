#include "backends/git/git_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "backends/git/arrival.h"
#include "backends/git/checkout.h"
#include "backends/git/named_fetch.h"
#include "backends/git/references.h"
#include "backends/git/remote.h"
#include "backends/git/remote_address.h"
#include "backends/git/repository.h"

namespace modlock {
namespace {

using namespace git;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

class GitBackend final : public Backend {
 public:
  explicit GitBackend(std::filesystem::path cache_directory) : cache_directory_(std::move(cache_directory)) {}

  bool serves(const Source& source) const override { return source.kind == SourceKind::git; }

  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    const auto address = make_remote_address(source);
    if (!address) {
      return fail(address.error());
    }
    const auto references = Remote(*address, context).list(Remote::Part::tags, "list the tags of");
    if (!references) {
      return fail(references.error());
    }
    return make_listing(*references, tag_prefix, std::chrono::system_clock::now());
  }

  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    const auto address = make_remote_address(source);
    if (!address) {
      return fail(address.error());
    }
    const std::string ref = source.source.query_value("ref");
    const Remote remote(*address, context);
    if (is_full_commit(ref)) {
      return pin_commit(remote, lower_case(ref), context);
    }
    const bool is_head = ref.empty() || ref == "HEAD";
    const auto references = remote.list(is_head ? Remote::Part::everything : Remote::Part::branches_and_tags,
                                        is_head ? "find the HEAD of" : "list the branches and tags of");
    return references ? find_reference(*references, ref, address->display) : fail(references.error());
  }

  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchWish> wishes,
                                         const std::filesystem::path& parent, const Context& context) override {
    std::vector<Result<FetchedTree>> trees;
    const auto all_fail = [&](const Error& error) {
      trees.assign(wishes.size(), fail(error));
      return trees;
    };
    const auto address = make_remote_address(source);
    if (!address) {
      return all_fail(address.error());
    }
    const auto repository = open(*address, context);
    if (!repository) {
      return all_fail(repository.error());
    }
    const Remote remote(*address, context);
    const std::vector<Result<FetchWish>> settled = settle(remote, *repository, wishes);
    std::vector<FetchWish> named;
    for (const auto& wish : settled) {
      if (wish) {
        named.push_back(*wish);
      }
    }
    const auto arrived = bring(remote, *repository, named, context);
    std::size_t next = 0;
    for (const auto& wish : settled) {
      if (!wish) {
        trees.push_back(fail(wish.error()));
        continue;
      }
      const auto& brought = arrived[next++];
      if (!brought) {
        trees.push_back(fail(brought.error()));
        continue;
      }
      auto tree = check_out(*repository, wish->id, parent, address->display, context);
      if (tree) {
        tree->warnings.insert(tree->warnings.begin(), brought->begin(), brought->end());
        tree->ref = wish->ref;
      }
      trees.push_back(std::move(tree));
    }
    return trees;
  }

  std::string id_hash(std::string_view id) const override { return fmt::format("git:{}", id); }
  std::string id_of(std::span<const std::string> hashes) const override { return find_hash(hashes, "git"); }

 private:
  Result<Repository> open(const RemoteAddress& address, const Context& context) const {
    if (context.offline && !Repository::exists(cache_directory_, address.display)) {
      return fail(Code::offline_miss,
                  fmt::format("git may not fetch from \"{}\": offline was asked for, and it is not in the cache",
                              address.display),
                  "run once without offline");
    }
    return Repository::open(cache_directory_, address.display, context);
  }

  // Gives every wish its id.
  static std::vector<Result<FetchWish>> settle(const Remote& remote, const Repository& repository,
                                               std::span<const FetchWish> wishes) {
    std::vector<std::string> references;
    for (const FetchWish& wish : wishes) {
      if (wish.id.empty()) {
        references.push_back(wish.ref);
      }
    }
    auto pins = references.empty() ? std::vector<Result<Pin>>{} : bring_references(remote, repository, references);
    std::vector<Result<FetchWish>> settled;
    std::size_t next = 0;
    for (const FetchWish& wish : wishes) {
      if (!wish.id.empty()) {
        settled.emplace_back(wish);
      } else if (auto& pin = pins[next++]; pin) {
        settled.emplace_back(FetchWish{.id = pin->id, .ref = pin->ref, .locked = false});
      } else {
        settled.push_back(fail(std::move(pin.error())));
      }
    }
    return settled;
  }

  // A commit that was accepted once lay on a branch or tag: nothing to ask.
  Result<Pin> pin_commit(const Remote& remote, const std::string& commit, const Context& context) const {
    const auto repository = open(remote.address(), context);
    if (!repository) {
      return fail(repository.error());
    }
    if (!repository->has_commit(commit)) {
      if (auto fine = check_commit(remote, *repository, commit, context); !fine) {
        return fail(std::move(fine.error()));
      }
    }
    return Pin{commit, ""};
  }

  std::filesystem::path cache_directory_;
};

}  // namespace

std::unique_ptr<Backend> make_git_backend(std::filesystem::path cache_directory) {
  return std::make_unique<GitBackend>(std::move(cache_directory));
}

}  // namespace modlock
