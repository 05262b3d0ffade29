#include "plugin/install/reference_kind.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/source_text.h"

namespace modlock {
namespace {

constexpr std::string_view kTags = "refs/tags/";
constexpr std::string_view kBranches = "refs/heads/";

}  // namespace

bool names_content(const Source& source, const ModuleLock& lock) {
  if (!source.has_commits()) {
    return !source.named_id().empty();
  }
  constexpr std::size_t kLeastDigits = 4;
  std::string ref = source.query_value("ref");
  std::transform(ref.begin(), ref.end(), ref.begin(),
                 [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ref.size() >= kLeastDigits && lock.hash_value("git").starts_with(ref);
}

std::string tag_words(std::string_view tag) {
  return fmt::format("the tag \"{}\"", escape_controls(tag));
}

std::string reference_words(const Source& source, std::string_view ref) {
  if (ref.starts_with(kTags) || source.traits().content_id == ContentId::digest) {
    return tag_words(ref.starts_with(kTags) ? ref.substr(kTags.size()) : ref);
  }
  if (ref.starts_with(kBranches)) {
    return fmt::format("the branch \"{}\"", escape_controls(ref.substr(kBranches.size())));
  }
  return ref.empty() || ref == "HEAD" ? "HEAD" : fmt::format("\"{}\"", escape_controls(ref));
}

std::string short_id(std::string_view id) {
  constexpr std::size_t kShown = 12;
  return std::string(id.substr(id.rfind(':') + 1, kShown));
}

}  // namespace modlock
