#include "plugin/resolve/origin.h"

#include <fmt/format.h>

#include <functional>
#include <optional>

#include "backends/crypto/digest.h"
#include "backends/files/files.h"
#include "backends/parallel.h"

namespace modlock {
namespace {

// Waiting for the network, not computing: wider than the machine has cores.
constexpr std::size_t kWidth = 8;

// What two addresses must share to be asked as one. A query argument that the identity leaves out may choose other
// content, but for git, where the address behind it is the same repository.
std::string package_key(const SourceAddress& address) {
  const Source& source = address.source;
  const bool is_identified =
      source.kind == SourceKind::git || source.kind == SourceKind::registry || source.kind == SourceKind::oci;
  return source.package_identity() + (is_identified ? "" : "\n" + sha256_hex(address.package_url.reveal()));
}

// Versions of a registry module may share an id (one commit) and lie in different directories of it.
std::string wished_thing(const Source& source, const FetchWish& wish) {
  const bool needs_ref = wish.id.empty() || source.kind == SourceKind::registry;
  return needs_ref ? fmt::format("{} ref:{}", wish.id, wish.ref) : wish.id;
}

}  // namespace

void Origin::ask(std::span<const ListingWish> listings, std::span<const SourceAddress* const> pins) {
  std::map<Key, const ListingWish*> to_list;
  for (const ListingWish& wish : listings) {
    Key key{package_key(*wish.source), wish.tag_prefix};
    if (listings_.find(key) == listings_.end()) {
      to_list.emplace(std::move(key), &wish);
    }
  }
  std::map<std::string, const SourceAddress*> to_pin;
  for (const SourceAddress* source : pins) {
    std::string key = source->source.identity();
    if (pins_.find(key) == pins_.end()) {
      to_pin.emplace(std::move(key), source);
    }
  }
  std::vector<std::function<void()>> work;
  for (const auto& [key, wish] : to_list) {
    Result<Listing>& slot = listings_.emplace(key, Listing{}).first->second;
    work.emplace_back([this, wish = wish, &slot] {
      context_.progress->report("listing " + wish->source->source.package_identity(), 0, 0);
      slot = backend(wish->source->source)->list_versions(*wish->source, wish->tag_prefix, context_);
    });
  }
  for (const auto& [key, source] : to_pin) {
    Result<Pin>& slot = pins_.emplace(key, Pin{}).first->second;
    work.emplace_back([this, source = source, &slot] {
      context_.progress->report("asking " + source->source.identity(), 0, 0);
      slot = backend(source->source)->pin(*source, context_);
    });
  }
  parallel_for(work.size(), kWidth, [&](std::size_t i) { work[i](); });
}

const Result<Listing>& Origin::listing(const SourceAddress& source, std::string_view tag_prefix) const {
  return listings_.at(Key{package_key(source), tag_prefix});
}

const Listing* Origin::known_listing(const SourceAddress& source) const {
  const auto found = listings_.find(Key{package_key(source), ""});
  return found != listings_.end() && found->second ? &*found->second : nullptr;
}

const Result<Pin>& Origin::pinned(const Source& source) const {
  return pins_.at(source.identity());
}

const Result<Package>& Origin::package(const SourceAddress& source, const FetchWish& wish) const {
  return packages_.at(Key{package_key(source), wished_thing(source.source, wish)});
}

std::optional<Package> Origin::stored(const Source& source, const FetchWish& wish) const {
  return store_.find(source, wish.id, wish.ref);
}

void Origin::remember(const Source& source, const FetchWish& wish, const Package& package) const {
  Package known = package;
  known.id = wish.id;
  // The store is a cache: what it does not take is fetched again.
  (void)store_.record(source, known);
}

void Origin::fetch(std::span<const PackageWish> wishes) {
  std::map<std::string, std::vector<const PackageWish*>> by_source;
  for (const PackageWish& wish : wishes) {
    const std::string package = package_key(*wish.source);
    Key key{package, wished_thing(wish.source->source, wish.wish)};
    if (packages_.find(key) != packages_.end()) {
      continue;
    }
    if (auto known = stored(wish.source->source, wish.wish)) {
      context_.count_cache_hit();
      packages_.emplace(std::move(key), std::move(*known));
      continue;
    }
    packages_.emplace(std::move(key), Package{});
    by_source[package].push_back(&wish);
  }
  fetch_missing(by_source);
}

void Origin::fetch_missing(const std::map<std::string, std::vector<const PackageWish*>>& by_source) {
  std::vector<std::function<void()>> work;
  for (const auto& [package, wishes] : by_source) {
    work.emplace_back([this, package = &package, wishes = &wishes] {
      const SourceAddress& source = *wishes->front()->source;
      const auto slot = [&](std::size_t i) -> Result<Package>& {
        return packages_.at(Key{*package, wished_thing(source.source, (*wishes)[i]->wish)});
      };
      context_.progress->report("fetching " + source.source.package_identity(), 0, 0);
      auto parent = store_.make_temporary();
      if (!parent) {
        for (std::size_t i = 0; i < wishes->size(); ++i) {
          slot(i) = fail(parent.error());
        }
        return;
      }
      std::vector<FetchWish> plain;
      for (const PackageWish* wish : *wishes) {
        plain.push_back(wish->wish);
      }
      auto trees = backend(source.source)->fetch(source, plain, *parent, context_);
      for (std::size_t i = 0; i < trees.size(); ++i) {
        if (trees[i] && trees[i]->ref.empty()) {
          trees[i]->ref = plain[i].ref;
        }
        slot(i) =
            trees[i] ? store_.admit(source.source, std::move(*trees[i]), context_) : fail(std::move(trees[i].error()));
      }
      // What admit() did not take is of no use to anybody; failing to remove it is `cache prune`'s matter.
      (void)remove_tree(*parent);
    });
  }
  parallel_for(work.size(), kWidth, [&](std::size_t i) { work[i](); });
}

}  // namespace modlock
