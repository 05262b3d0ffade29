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
  Listing listing{.versions = {}, .skipped = {}, .fetched_at = fetched_at, .complete = true};
  auto& versions = listing.versions;
  versions.reserve(tags.size());
  for (Tag& tag : tags) {
    std::string reason;
    const std::string& text = tag.version_text.empty() ? tag.name : tag.version_text;
    if (auto version = parse_version_tag(text, prefix, &reason)) {
      versions.push_back({std::move(*version), std::move(tag.name), std::move(tag.id), std::move(tag.ref)});
    } else {
      listing.skipped.push_back({std::move(tag.name), std::move(reason)});
    }
  }
  tags = std::vector<Tag>();
  // Small keys are sorted instead of versions, which are large. The numbers decide nearly all comparisons.
  struct Key {
    std::array<std::int64_t, 3> numbers;
    std::size_t index;
  };
  std::vector<Key> newest_first;
  newest_first.reserve(versions.size());
  for (const ListedVersion& one : versions) {
    const auto& numbers = one.version.numbers();
    newest_first.push_back({{numbers[0], numbers[1], numbers[2]}, newest_first.size()});
  }
  std::ranges::stable_sort(newest_first, [&](const Key& left, const Key& right) {
    const Version& one = versions[left.index].version;
    const Version& other = versions[right.index].version;
    const auto order =
        left.numbers != right.numbers ? std::weak_ordering(right.numbers <=> left.numbers) : other <=> one;
    return order != 0 ? order < 0 : one.metadata() < other.metadata();
  });
  // Each version moves once, along the cycles of the order: a second list would double the memory.
  for (std::size_t start = 0; start < versions.size(); ++start) {
    ListedVersion first = std::move(versions[start]);
    std::size_t at = start;
    for (std::size_t next = 0; (next = std::exchange(newest_first[at].index, at)) != start; at = next) {
      versions[at] = std::move(versions[next]);
    }
    versions[at] = std::move(first);
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
    MODLOCK_TRY(versions[twins[i]].id, std::move(ids[i]));
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
