#include "backends/http/proxy.h"

#include <cstdlib>

#include "backends/http/url.h"

namespace modlock::http {
namespace {

std::string variable(const char* upper, const char* lower) {
  for (const char* name : {upper, lower}) {
    const char* const value = name == nullptr ? nullptr : std::getenv(name);
    if (value != nullptr && *value != '\0') {
      return value;
    }
  }
  return {};
}

std::string either(std::string first, const std::string& second) {
  return first.empty() ? second : std::move(first);
}

}  // namespace

ProxySettings ProxySettings::from_environment() {
  const std::string all = variable("ALL_PROXY", "all_proxy");
  const bool is_cgi = std::getenv("REQUEST_METHOD") != nullptr;
  return {.https = either(variable("HTTPS_PROXY", "https_proxy"), all),
          .http = either(variable(is_cgi ? nullptr : "HTTP_PROXY", "http_proxy"), all),
          .none = variable("NO_PROXY", "no_proxy")};
}

std::string ProxySettings::proxy_for(std::string_view url) const {
  const auto parts = split_url(url);
  if (!parts || is_loopback(parts->host)) {
    return {};
  }
  return parts->scheme == "https" ? https : http;
}

}  // namespace modlock::http
