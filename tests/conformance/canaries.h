#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "protocol/base/error.h"

namespace modlock::test {

// Secrets that stand nowhere else, one for each way a secret can come to us. Whoever finds one of them where a secret
// must not be has found a leak.
inline constexpr const char* kUser = "reader";
inline constexpr const char* kRegistryToken = "canary-registry-token";
inline constexpr const char* kOciPassword = "canary-oci-password";
inline constexpr const char* kOciToken = "canary-oci-token";  // that a token service issues
inline constexpr const char* kNetrcPassword = "canary-netrc-password";
inline constexpr const char* kUrlPassword = "canary-url-password";
inline constexpr const char* kUrlQuery = "canary-url-query";

// "Basic …" of kUser and a password.
std::string basic_authorization(std::string_view password);

// The canaries in a text, as they are or as Basic authorization carries them: "a-canary, another"; empty: none.
std::string canaries_in(std::string_view text);

// The same for the names and contents of all files below a directory.
std::string canaries_below(const std::filesystem::path& directory);

// The files below a directory, relative to it, in order and separated by blanks.
std::string files_below(const std::filesystem::path& directory);

// Everything of an error that anybody is shown.
std::string everything_said(const Error& error);

// The command lines of all processes that this one started, and of those that they did, at this moment.
std::set<std::string> command_lines_of_children();

}  // namespace modlock::test
