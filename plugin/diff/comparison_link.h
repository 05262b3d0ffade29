#pragma once

#include <string>
#include <string_view>

#include "backends/address/source.h"

namespace modlock {

// Returns the address of the page on which the host of a git repository compares two tags or commits: GitHub, GitLab,
// Gitea, Forgejo (Codeberg) and Bitbucket. Empty for other hosts, for other kinds of sources, and if a reference is
// empty. The host decides by its name: "gitlab.example.com" is a GitLab.
std::string comparison_link(const Source& source, std::string_view before, std::string_view after);

}  // namespace modlock
