#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modlock {

// Text rules for all kinds of source addresses.

// Returns the parts between the separators, including empty ones: one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

// Removes `start` from the front of the text, and returns whether it was there.
bool take(std::string_view& rest, std::string_view start);

// Removes the leading characters that match from the text, and returns them.
template <typename Predicate>
std::string_view take_while(std::string_view& rest, Predicate predicate) {
  const auto end = std::ranges::find_if_not(rest, predicate);
  const std::string_view taken = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(taken.size());
  return taken;
}

// Returns the shortest equivalent path, by text only (Go's path.Clean): "" becomes ".", "/.." becomes "/".
std::string clean_path(std::string_view path);

// Returns whether a cleaned path leaves the directory it is relative to.
bool leads_outside(std::string_view cleaned);

// Returns whether a part between slashes or backslashes is "..".
bool has_dot_dot(std::string_view path);

// Splits an address into package and cleaned subdirectory at the first "//" that is neither part of a "://" nor of the
// query; the query stays with the package.
std::pair<std::string, std::string> split_subdir(std::string_view address);

// Returns the forced getter of "getter::rest" (empty if there is none), and the rest.
std::pair<std::string_view, std::string_view> split_getter(std::string_view address);

// Returns the address of a checksum file if a `checksum` argument is "file:<address>".
std::optional<std::string_view> checksum_list_address(std::string_view argument);

// Returns whether a `checksum` argument has only the characters of a checksum and its type, so that it cannot contain a
// secret.
bool is_plain_checksum(std::string_view argument);

// Returns whether the text has a control character or a line ending: C0, DEL, C1, U+2028, U+2029.
bool has_control_characters(std::string_view text);

// Replaces each control character, and each character that is invisible or changes the direction of the text, by "\xNN"
// of its bytes, so that a message stays on one line and shows what it contains.
std::string escape_controls(std::string_view text);

// Makes a foreign name or text fit for a message: one line of valid UTF-8, cut to `most` bytes before it is escaped.
std::string quotable(std::string_view text, std::size_t most = std::string_view::npos);

// Returns the URL with `instead` for its user-info, up to the last "@". Words before the protocol are kept.
std::string without_user(std::string_view url, std::string_view instead = {});

// Returns the printable part of an address that could not be parsed: valid UTF-8, without query, fragment and possible
// user-info, without control characters, and not longer than a line.
std::string printable_address(std::string_view address);

}  // namespace modlock
