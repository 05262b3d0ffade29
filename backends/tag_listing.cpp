#include "backends/tag_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace modlock {

namespace {

// Places are sorted and not versions, which are large.
void sort_newest_first(std::vector<ListedVersion>& versions) {
  std::vector<std::size_t> order(versions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return versions[left].version > versions[right].version;
  });
  std::vector<ListedVersion> sorted;
  sorted.reserve(versions.size());
  for (const std::size_t place : order) {
    sorted.push_back(std::move(versions[place]));
  }
  versions = std::move(sorted);
}

}  // namespace

Listing list_tags(std::vector<Tag> tags, std::string_view prefix, std::chrono::system_clock::time_point fetched_at) {
  Listing listing{.versions = {}, .skipped = {}, .fetched_at = fetched_at, .complete = true};
  listing.versions.reserve(tags.size());
  for (Tag& tag : tags) {
    std::string reason;
    const std::string& text = tag.version_text.empty() ? tag.name : tag.version_text;
    if (auto version = parse_version_tag(text, prefix, &reason)) {
      listing.versions.push_back({std::move(*version), std::move(tag.name), std::move(tag.id), std::move(tag.ref)});
    } else {
      listing.skipped.push_back({std::move(tag.name), std::move(reason)});
    }
  }
  sort_newest_first(listing.versions);
  return listing;
}

void merge_equal_versions(Listing& listing, std::string_view id_name) {
  auto first = listing.versions.begin();
  if (first == listing.versions.end()) {
    return;
  }
  for (auto next = first + 1; next != listing.versions.end(); ++next) {
    if (!(first->version == next->version)) {
      if (++first != next) {
        *first = std::move(*next);
      }
    } else if (first->id == next->id) {
      listing.skipped.push_back({next->tag, fmt::format("the same version and {} as \"{}\"", id_name, first->tag)});
    } else if (first->ambiguous_with.empty()) {
      first->ambiguous_with = next->tag;
    }
  }
  listing.versions.erase(first + 1, listing.versions.end());
}

}  // namespace modlock
