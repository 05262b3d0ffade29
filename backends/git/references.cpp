#include "backends/git/references.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/address/git_reference.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/text.h"
#include "backends/tag_listing.h"

namespace modlock::git {
namespace {

constexpr std::size_t kShortestCommit = 4;  // git abbreviates no further

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, ascii::is_hex);
}

bool is_id(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) && is_hex(text);
}

const Reference* find_name(const References& references, std::string_view name) {
  const auto at = std::ranges::find(references, name, &Reference::name);
  return at == references.end() ? nullptr : &*at;
}

// Returns the full names that `ref` may stand for, in order of precedence. A clone has only branches and tags, so other
// names, such as those of pull requests, do not exist in it.
std::vector<std::string> candidates(std::string_view ref, bool prefers_branches) {
  const std::string text(ref);
  std::vector<std::string> names = {text, "refs/" + text};
  if (prefers_branches) {
    names.push_back(std::string(kGitBranches) + text);
  }
  names.push_back(std::string(kGitTags) + text);
  for (const std::string_view remote : {"refs/remotes/origin/", "remotes/origin/", "origin/"}) {
    if (ref.starts_with(remote)) {
      names.push_back(std::string(kGitBranches) + text.substr(remote.size()));
    }
  }
  names.push_back(std::string(kGitBranches) + text);
  std::erase_if(names,
                [](const std::string& name) { return !name.starts_with(kGitBranches) && !name.starts_with(kGitTags); });
  return names;
}

bool is_expression(std::string_view ref) {
  return ref.find_first_of("~^:") != std::string_view::npos || ref.find("@{") != std::string_view::npos ||
         ref.find("..") != std::string_view::npos;
}

// Whether the text is like "v1.2.0-3-g8f2c0d0" from git describe, where only the digits after "-g" matter.
bool is_description(std::string_view text) {
  const std::size_t mark = text.rfind("-g");
  return mark != std::string_view::npos && mark > 0 && !text.starts_with("refs/") && is_reference_name(text) &&
         is_abbreviation(text.substr(mark + 2));
}

// Whether the text has steps from a name to its ancestors: "main~2", "v1^", "8f2c0d0^2~1", "v1^{}~1".
bool is_way_to_ancestor(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of("~^"));
  const std::string steps = without_peeling(text.substr(name.size()));
  return name.size() < text.size() && steps.find_first_not_of("~^0123456789") == std::string::npos &&
         (name == "@" || is_reference_name(name));
}

}  // namespace

void add_reference(References& references, std::string_view name, std::string id) {
  if (!name.ends_with(kPeeled)) {
    references.push_back({std::string(name), std::move(id)});
    return;
  }
  name.remove_suffix(kPeeled.size());
  if (!references.empty() && references.back().name == name) {
    references.back().peeled = std::move(id);
  }
}

Result<References> parse_references(std::string_view output) {
  References references;
  while (!output.empty()) {  // there may be many lines
    const std::string_view line = take_line(output);
    const std::string_view id = line.substr(0, line.find('\t'));
    if (!is_id(id) || id.size() + 1 >= line.size()) {
      return fail(
          Code::bad_response,
          fmt::format("git listed a reference as \"{}\" where \"<id> TAB <name>\" was expected", quotable(line)));
    }
    add_reference(references, line.substr(id.size() + 1), std::string(id));
  }
  return references;
}

Listing make_listing(References references, std::string_view prefix, std::chrono::system_clock::time_point fetched_at) {
  std::vector<Tag> tags;
  tags.reserve(references.size());
  for (Reference& reference : references) {
    if (reference.name.starts_with(kGitTags)) {
      tags.push_back({.name = reference.name.substr(kGitTags.size()),
                      .id = std::move(reference.peeled.empty() ? reference.id : reference.peeled),
                      .ref = std::move(reference.name)});
    }
  }
  references = References();
  Listing listing = list_tags(std::move(tags), prefix, fetched_at);
  merge_equal_versions(listing, "commit");
  return listing;
}

bool is_full_commit(std::string_view text) {
  return text.size() == 40 && is_hex(text);
}

bool is_sha256_id(std::string_view text) {
  return text.size() == 64 && is_hex(text);
}

bool is_same_commit(std::string_view left, std::string_view right) {
  return ascii::equals_ignoring_case(left, right);
}

bool is_reference_name(std::string_view text) {
  if (text.empty() || text[0] == '-' || text[0] == '+' || text[0] == '/' || text.back() == '/' || text.back() == '.' ||
      text == "@") {
    return false;
  }
  for (const std::string_view sequence : {"..", "@{", "//", "/."}) {
    if (text.find(sequence) != std::string_view::npos) {
      return false;
    }
  }
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7F && std::string_view("~^:?*[\\").find(c) == std::string_view::npos;
  });
}

bool is_abbreviation(std::string_view text) {
  return text.size() >= kShortestCommit && text.size() < 40 && is_hex(text);
}

bool is_revision(std::string_view ref) {
  return ref == "@" || is_abbreviation(ref) || is_way_to_ancestor(ref) || is_description(ref);
}

Result<Pin> find_reference(const References& references, std::string_view written, std::string_view display,
                           bool prefers_branches) {
  const std::string ref = without_peeling(written);
  if (is_default_branch(ref)) {
    if (const Reference* head = find_name(references, "HEAD")) {
      return Pin{head->commit(), head->name};
    }
    return fail(Code::not_found,
                fmt::format("\"{}\" has no HEAD: it is empty, or its default branch does not exist", display),
                "name a branch, a tag or a full commit with ?ref=");
  }
  for (const std::string& name : candidates(ref, prefers_branches)) {
    if (const Reference* found = find_name(references, name)) {
      return Pin{found->commit(), found->name};
    }
  }
  if (is_expression(ref) && !is_revision(ref)) {
    return fail(
        Code::source_unsupported,
        fmt::format("\"{}\" is no branch or tag of \"{}\", and of revision expressions only steps to ancestors are "
                    "understood (\"~\", \"^\")",
                    ref, display),
        "write a branch, a tag or a full commit");
  }
  return fail(Code::not_found, fmt::format("\"{}\" has no branch or tag \"{}\"", display, ref),
              "check the spelling of ?ref=, or whether the branch or tag was deleted");
}

void add_possible_names(WantedReferences& wanted, std::string_view ref, bool prefers_branches) {
  const std::string name = without_peeling(ref);
  for (std::string& possible :
       is_default_branch(name) ? std::vector<std::string>{"HEAD"} : candidates(name, prefers_branches)) {
    if (is_reference_name(possible)) {
      wanted.push_back(std::move(possible));
    }
  }
}

const Reference* find_tag_object(const References& references, std::string_view id) {
  const auto found = std::ranges::find_if(references, [id](const Reference& reference) {
    return !reference.peeled.empty() && reference.name.starts_with(kGitTags) && is_same_commit(reference.id, id);
  });
  return found == references.end() ? nullptr : &*found;
}

bool is_advertised(const References& references, std::string_view commit) {
  return std::ranges::any_of(references, [commit](const Reference& reference) {
    return reference.commit() == commit &&
           (reference.name.starts_with(kGitBranches) || reference.name.starts_with(kGitTags));
  });
}

}  // namespace modlock::git
