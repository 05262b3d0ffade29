#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace modlock {

// A URL as Go's net/url reads and prints it. OpenTofu records addresses that net/url has reprinted and compares them
// byte for byte, so any other parser would be wrong.
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
  std::string raw_path;      // the preferred encoding of the path; empty: the default encoding
  std::string raw_query;     // without "?"
  std::string fragment;      // decoded, without "#"
  std::string raw_fragment;  // like raw_path
  bool force_query = false;  // "?" with nothing after it
  bool omit_host = false;    // "scheme:/path" rather than "scheme:///path"

  // Returns nullopt if Go's url.Parse returns an error.
  static std::optional<GoUrl> parse(std::string_view text);

  std::string escaped_path() const;
  // Returns the user name as printed before the "@"; empty if there is none.
  std::string escaped_user() const;
  std::string to_string() const;
};

// Returns the arguments of a query in order, decoded. Arguments that Go rejects (bad escapes, semicolons) are left out
// and set `malformed`.
using QueryArguments = std::vector<std::pair<std::string, std::string>>;
QueryArguments parse_query(std::string_view query, bool* malformed = nullptr);
// Prints the arguments sorted by key, as Values.Encode does.
std::string encode_query(QueryArguments arguments);

// Escapes everything except the unreserved characters of a URL and `also`.
std::string percent_encoded(std::string_view text, std::string_view also = {});
// "%41" -> "A"; bad escapes are kept.
std::string percent_decode(std::string_view text);

}  // namespace modlock
