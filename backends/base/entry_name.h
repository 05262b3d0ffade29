#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace modlock {

// Returns whether this is the name of git's own directory, or of the file that points to it. No package has such an
// entry.
bool is_git_entry(std::string_view name);

// Returns a text without case, normalization, and the code points that Unicode ignores by default; one that is not
// UTF-8 in lower case of ASCII.
std::string fold(std::string_view text);

// The name that another file system reads instead of `name`, if it is `.git`, `.terraform`, or that of a lock file or
// of our settings: there, the entry would be a live repository, or a file that a program trusts.
// nullopt: none of them, or spelled as it is. These file systems fold case and normalize names (macOS, WSL), ignore
// code points (HFS+), or drop what NTFS drops; `git~1` is the short name of `.git`. The rules for `.git` are those of
// git's core.protectHFS and core.protectNTFS.
std::optional<std::string_view> disguised_name(std::string_view name);
// The rest of an error for such an entry: `the entry "…" <this>`.
inline constexpr const char* kDisguised = "has a name that other file systems read as \"{}\"";

// Returns whether the file system folds case at `path`, which is there and has a letter in its name.
bool folds_case(const std::filesystem::path& path);

// The entry beside `path` that this file system takes for it, by its own name: "README.md" for "…/readme.md", if case
// folds there. nullopt: `path` is not there, or its name is spelled as it was made.
std::optional<std::string> name_on_disk(const std::filesystem::path& path);

}  // namespace modlock
