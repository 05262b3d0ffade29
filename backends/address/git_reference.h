#pragma once

#include <string>
#include <string_view>

namespace modlock {

// References of git, as `?ref=` of a source and the lines of an advertisement name them.

inline constexpr std::string_view kGitTags = "refs/tags/";
inline constexpr std::string_view kGitBranches = "refs/heads/";
inline constexpr std::string_view kPeeled = "^{}";  // after the name of a tag: its target

// Removes what names the commit of a name and no ancestor of it: "^{}", "^{commit}", "^0" and "~0" (gitrevisions(7)).
std::string without_peeling(std::string_view ref);

// Returns whether a reference is the default branch: "", "HEAD", "@", "origin/HEAD".
bool is_default_branch(std::string_view ref);

// Returns the tag that a reference names, if it is not a branch of that name: "v1.0.0" for "v1.0.0", "tags/v1.0.0",
// "refs/tags/v1.0.0" and each of them with "^{}" or as git describe writes it ("v1.0.0-0-g8f2c0d0"). Empty: it can name
// no tag ("", "HEAD", "refs/heads/main").
std::string tag_in_reference(std::string_view ref);

// Returns the reference to another tag in the spelling of `ref`: "tags/v1.1.0" for "tags/v1.0.0".
std::string reference_to_tag(std::string_view ref, std::string_view tag);

}  // namespace modlock
