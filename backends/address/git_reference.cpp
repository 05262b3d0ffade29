#include "backends/address/git_reference.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "backends/base/ascii.h"

namespace modlock {
namespace {

// The length of a step of no commits at the start of a text, such as "~0"; 0: it starts otherwise.
std::size_t empty_step(std::string_view text) {
  if (!text.starts_with('^') && !text.starts_with('~')) {
    return 0;
  }
  const std::size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
  return end > 1 && text.substr(1, end - 1).find_first_not_of('0') == std::string_view::npos ? end : 0;
}

// "refs/tags/" or "tags/"; empty if the reference starts with neither.
std::string_view tag_directory(std::string_view ref) {
  for (const std::string_view directory : {kGitTags, kGitTags.substr(std::string_view("refs/").size())}) {
    if (ref.starts_with(directory)) {
      return directory;
    }
  }
  return {};
}

}  // namespace

std::string without_peeling(std::string_view ref) {
  std::string plain;
  while (!ref.empty()) {
    std::size_t skipped = empty_step(ref);
    for (const std::string_view peeling : {kPeeled, std::string_view("^{commit}")}) {
      skipped = ref.starts_with(peeling) ? peeling.size() : skipped;
    }
    plain += skipped == 0 ? ref.substr(0, 1) : std::string_view();
    ref.remove_prefix(std::max<std::size_t>(skipped, 1));
  }
  return plain;
}

bool is_default_branch(std::string_view ref) {
  for (const std::string_view directory : {"refs/", "remotes/", "origin/"}) {
    ref.remove_prefix(ref.ends_with("origin/HEAD") && ref.starts_with(directory) ? directory.size() : 0);
  }
  return ref.empty() || ref == "HEAD" || ref == "@";
}

std::string tag_in_reference(std::string_view ref) {
  std::string plain = without_peeling(ref);
  constexpr std::string_view kNoCommits = "-0-g";
  if (const std::size_t mark = plain.rfind(kNoCommits);
      mark != std::string::npos &&
      std::all_of(plain.begin() + static_cast<std::ptrdiff_t>(mark + kNoCommits.size()), plain.end(), ascii::is_hex)) {
    plain.erase(mark);
  }
  if (const std::string_view directory = tag_directory(plain); !directory.empty()) {
    return plain.substr(directory.size());
  }
  constexpr std::array<std::string_view, 4> kBranches = {"refs/", "heads/", "remotes/", "origin/"};
  const bool is_other =
      plain == "HEAD" || plain == "@" ||
      std::ranges::any_of(kBranches, [&](std::string_view directory) { return plain.starts_with(directory); });
  return is_other ? std::string() : plain;
}

std::string reference_to_tag(std::string_view ref, std::string_view tag) {
  return std::string(tag_directory(ref)).append(tag);
}

}  // namespace modlock
