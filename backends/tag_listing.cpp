#include "backends/tag_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace modlock {

Listing list_tags(std::vector<Tag> tags, std::string_view prefix, std::chrono::system_clock::time_point fetched_at) {
  struct Named {
    Version version;
    Tag& tag;
  };
  Listing listing{.versions = {}, .skipped = {}, .fetched_at = fetched_at, .complete = true};
  std::vector<Named> named;
  named.reserve(tags.size());
  for (Tag& tag : tags) {
    std::string reason;
    const std::string& text = tag.version_text.empty() ? tag.name : tag.version_text;
    if (auto version = parse_version_tag(text, prefix, &reason)) {
      named.push_back({std::move(*version), tag});
    } else {
      listing.skipped.push_back({std::move(tag.name), std::move(reason)});
    }
  }
  // Pointers are sorted and not versions, which are large.
  std::vector<Named*> newest_first(named.size());
  std::transform(named.begin(), named.end(), newest_first.begin(), [](Named& one) { return &one; });
  std::stable_sort(newest_first.begin(), newest_first.end(),
                   [](const Named* left, const Named* right) { return left->version > right->version; });
  listing.versions.reserve(named.size());
  for (Named* const next : newest_first) {
    Tag& tag = next->tag;
    listing.versions.push_back({std::move(next->version), std::move(tag.name), std::move(tag.id), std::move(tag.ref)});
  }
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
