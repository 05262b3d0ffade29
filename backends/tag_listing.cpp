#include "backends/tag_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "backends/base/parallel.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

constexpr std::size_t kQuestionsAtOnce = 8;

// Returns whether a neighbor is an equal version.
bool has_twin(const std::vector<ListedVersion>& versions, std::size_t i) {
  return (i > 0 && versions[i - 1].version == versions[i].version) ||
         (i + 1 < versions.size() && versions[i + 1].version == versions[i].version);
}

}  // namespace

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
  // Small keys are sorted instead of versions, which are large. The numbers decide nearly all comparisons.
  struct Key {
    std::array<std::int64_t, 3> numbers;
    Named* named;
  };
  std::vector<Key> newest_first;
  newest_first.reserve(named.size());
  for (Named& one : named) {
    const auto& numbers = one.version.numbers();
    newest_first.push_back({{numbers[0], numbers[1], numbers[2]}, &one});
  }
  std::stable_sort(newest_first.begin(), newest_first.end(), [](const Key& left, const Key& right) {
    const auto order = left.numbers != right.numbers ? std::weak_ordering(right.numbers <=> left.numbers)
                                                     : right.named->version <=> left.named->version;
    return order != 0 ? order < 0 : left.named->version.metadata() < right.named->version.metadata();
  });
  listing.versions.reserve(named.size());
  for (const Key& next : newest_first) {
    Tag& tag = next.named->tag;
    listing.versions.push_back(
        {std::move(next.named->version), std::move(tag.name), std::move(tag.id), std::move(tag.ref)});
  }
  return listing;
}

Result<void> add_ids_of_equal_versions(std::vector<ListedVersion>& versions,
                                       const std::function<Result<std::string>(const ListedVersion&)>& find_id) {
  std::vector<std::size_t> twins;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (versions[i].id.empty() && has_twin(versions, i)) {
      twins.push_back(i);
    }
  }
  std::vector<Result<std::string>> ids(twins.size());
  parallel_for(twins.size(), kQuestionsAtOnce, [&](std::size_t i) { ids[i] = find_id(versions[twins[i]]); });
  for (std::size_t i = 0; i < twins.size(); ++i) {
    MODLOCK_TRY(auto id, std::move(ids[i]));
    versions[twins[i]].id = std::move(id);
  }
  return {};
}

void merge_equal_versions(Listing& listing, std::string_view id_name) {
  auto first = listing.versions.begin();
  if (first == listing.versions.end()) {
    return;
  }
  for (auto next = first + 1; next != listing.versions.end(); ++next) {
    if (first->version != next->version || first->version.metadata() != next->version.metadata()) {
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
