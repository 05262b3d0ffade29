#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modlock {

// A URL as Go's net/url reads and prints it. OpenTofu records addresses that this package has reprinted and compares
// them byte for byte, so no other reading will do.
struct GoUrl {
  struct UserInfo {
    std::string name;  // decoded
    std::optional<std::string> password;
  };

  std::string scheme;  // lower case
  std::string opaque;  // of "scheme:opaque", encoded; then user, host and path are empty
  std::optional<UserInfo> user;
  std::string host;          // decoded, with ":port"
  std::string path;          // decoded
  std::string raw_path;      // a hint how to encode the path; empty: the default encoding
  std::string raw_query;     // without "?"
  std::string fragment;      // decoded, without "#"
  std::string raw_fragment;  // a hint like raw_path
  bool force_query = false;  // "?" with nothing behind it
  bool omit_host = false;    // "scheme:/path" rather than "scheme:///path"

  // nullopt where Go's url.Parse gives an error.
  static std::optional<GoUrl> parse(std::string_view text);

  std::string escaped_path() const;
  // The user name as it is printed before the "@"; empty where there is none.
  std::string escaped_user() const;
  std::string to_string() const;
};

// The arguments of a query in order, decoded; what Go refuses (bad escapes, semicolons) is left out and sets
// `malformed`.
using QueryArguments = std::vector<std::pair<std::string, std::string>>;
QueryArguments parse_query(std::string_view query, bool* malformed = nullptr);
// Sorted by key, as Values.Encode prints it.
std::string encode_query(QueryArguments arguments);

// "%41" -> "A"; bad escapes stay as they are.
std::string percent_decode(std::string_view text);

}  // namespace modlock
