#pragma once

#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "plugin/lock/lock_file.h"

namespace modlock {

// Whether the source names the locked content itself: a commit, also by its first digits, or a digest.
bool names_content(const Source& source, const ModuleLock& lock);

// A reference for people: `the tag "v1.2.0"`, `the branch "main"`, `HEAD`, else `"default"` in quotes.
std::string reference_words(const Source& source, std::string_view ref);
std::string tag_words(std::string_view tag);

// The first digits of a commit or digest.
std::string short_id(std::string_view id);

}  // namespace modlock
