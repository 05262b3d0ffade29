#pragma once

#include <string>
#include <string_view>

#include "protocol/base/error.h"

namespace modlock::http {

// Begins the reason of a failure if a server does not speak TLS.
inline constexpr std::string_view kNoTls = "no TLS connection to ";

// Returns whether a request failed because the server does not speak TLS.
inline bool lacks_tls(const Error& error) {
  return error.code == Code::unreachable && error.message.find(kNoTls) != std::string::npos;
}

}  // namespace modlock::http
