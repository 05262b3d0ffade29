#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modlock {

// Text rules that all kinds of source addresses share.

// The parts between the separators, empty ones included: one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

// Takes the characters of a kind off the front.
template <typename Predicate>
std::string_view take_while(std::string_view& rest, Predicate predicate) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), predicate);
  const std::string_view taken = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(taken.size());
  return taken;
}

// The shortest path that means the same, by text alone (Go's path.Clean): "" becomes ".", "/.." becomes "/".
std::string clean_path(std::string_view path);

// Whether a cleaned path leads out of the directory it is relative to.
bool leads_outside(std::string_view cleaned);

// An address split into package and cleaned subdirectory at the first "//" that neither belongs to a "://" nor to the
// query; the query stays with the package.
std::pair<std::string, std::string> split_subdir(std::string_view address);

// The forced getter of "getter::rest", empty where there is none, and the rest.
std::pair<std::string_view, std::string_view> split_getter(std::string_view address);

// The address of a list of checksums, where a `checksum` argument is "file:<address>".
std::optional<std::string_view> checksum_list_address(std::string_view argument);

// Whether a `checksum` argument is made of what a checksum and its type are made of, and so of nothing secret.
bool is_plain_checksum(std::string_view argument);

// Whether the text has a control character or a line end: C0, DEL, C1, U+2028, U+2029.
bool has_control_characters(std::string_view text);

bool is_utf8(std::string_view text);

// The text with each control character as "\xNN" of its bytes, so that a message stays one line.
std::string escape_controls(std::string_view text);

// What a message may show of an address that was not understood: valid UTF-8, without query, fragment and anything that
// could be user-info, without control characters, and not longer than a line.
std::string printable_address(std::string_view address);

}  // namespace modlock
