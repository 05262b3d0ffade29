#include "backends/git/http_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/address/go_url.h"

namespace modlock::git {
namespace {

using Entry = GitConfiguration::Entry;
using Reason = std::optional<std::string>;

// Variables that change git's own HTTP and that no other client supports.
constexpr std::array kForeignVariables = {"GIT_SSL_NO_VERIFY",
                                          "GIT_SSL_CERT",
                                          "GIT_SSL_KEY",
                                          "GIT_SSL_VERSION",
                                          "GIT_SSL_CAPATH",
                                          "GIT_SSL_CIPHER_LIST",
                                          "GIT_PROXY_SSL_CERT",
                                          "GIT_PROXY_SSL_KEY",
                                          "GIT_PROXY_SSL_CAINFO",
                                          "GIT_HTTP_USER_AGENT",
                                          "GIT_HTTP_PROXY_AUTHMETHOD",
                                          "ALL_PROXY",
                                          "all_proxy"};
// Settings that do not affect a listing.
constexpr std::array<std::string_view, 11> kHarmless = {"version",     "postbuffer",  "lowspeedlimit", "lowspeedtime",
                                                        "maxrequests", "minsessions", "savecookies",   "noepsv",
                                                        "receivepack", "uploadpack",  "ssltry"};

bool is_true(const Entry& entry) {
  return entry.is_bare || entry.value == "true" || entry.value == "yes" || entry.value == "on" || entry.value == "1";
}

bool names_proxy(const EnvironmentLookup& environment) {
  constexpr std::array kNames = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  return std::ranges::any_of(kNames, [&](const char* name) { return environment(name).has_value(); });
}

// Our HTTP client trusts SSL_CERT_FILE; git trusts the configured file.
bool trusts_the_same(const std::string& authorities, const EnvironmentLookup& environment) {
  return authorities == environment("SSL_CERT_FILE").value_or("") && !environment("SSL_CERT_DIR");
}

Reason variable_in_the_way(const RemoteAddress& remote, const EnvironmentLookup& environment) {
  for (const char* name : kForeignVariables) {
    if (environment(name)) {
      return fmt::format("{} is set", name);
    }
  }
  const auto authorities = environment("GIT_SSL_CAINFO");
  if (authorities && !trusts_the_same(*authorities, environment)) {
    return "GIT_SSL_CAINFO is set, and SSL_CERT_FILE does not name the same";
  }
  const auto allowed = environment("GIT_ALLOW_PROTOCOL");
  if (allowed && (":" + *allowed + ":").find(":" + remote.scheme + ":") == std::string::npos) {
    return "GIT_ALLOW_PROTOCOL does not name its transport";
  }
  return std::nullopt;
}

Reason add_header(HttpPlan& plan, const Entry& entry) {
  if (entry.value.empty()) {
    plan.secret_headers.clear();
    return std::nullopt;
  }
  const std::size_t colon = entry.value.find(':');
  if (colon == std::string::npos || colon == 0 || entry.value.find_first_of("\r\n") != std::string::npos) {
    return "http.extraHeader is no header";
  }
  const std::size_t start = std::min(entry.value.find_first_not_of(" \t", colon + 1), entry.value.size());
  plan.secret_headers.emplace_back(entry.value.substr(0, colon), SecretText(entry.value.substr(start)));
  return std::nullopt;
}

// If a setting is repeated, the last one applies; all headers apply.
Reason apply(HttpPlan& plan, const std::vector<Entry>& settings, const EnvironmentLookup& environment) {
  for (auto at = settings.begin(); at != settings.end(); ++at) {
    const Entry& entry = *at;
    if (entry.key == "extraheader") {
      if (auto reason = add_header(plan, entry)) {
        return reason;
      }
      continue;
    }
    const bool is_last =
        std::none_of(at + 1, settings.end(), [&](const Entry& later) { return later.key == entry.key; });
    if (!is_last || std::ranges::find(kHarmless, entry.key) != kHarmless.end()) {
      continue;
    }
    if (entry.key == "useragent" && !entry.value.empty()) {
      plan.user_agent = entry.value;
      continue;
    }
    const bool is_honoured =
        (entry.key == "sslverify" && is_true(entry)) || (entry.key == "emptyauth" && is_false(entry)) ||
        (entry.key == "followredirects" && !is_false(entry)) ||
        (entry.key == "proxy" && entry.value.empty() && !entry.is_bare && !names_proxy(environment)) ||
        (entry.key == "sslcainfo" && (environment("GIT_SSL_CAINFO") || trusts_the_same(entry.value, environment)));
    if (!is_honoured) {
      return fmt::format("http.{} is set", entry.key);
    }
  }
  return std::nullopt;
}

// Rewrites the address by url.<base>.insteadOf, whose base often contains a token. Credentials of the address are kept
// only if the host is the same.
Reason follow_rewriting(RemoteAddress& remote, const GitConfiguration& configuration) {
  const std::string rewritten = configuration.rewrite(remote.url);
  if (rewritten == remote.url) {
    return std::nullopt;
  }
  auto url = GoUrl::parse(rewritten);
  const bool is_http = url && (url->scheme == "https" || url->scheme == "http") && !url->host.empty();
  if (!is_http || !url->raw_query.empty() || !url->fragment.empty()) {
    return "url.<base>.insteadOf leads to another transport";
  }
  if (url->user || url->host != remote.host) {
    remote.username = SecretText(url->user ? url->user->name : "");
    remote.password.reset();
    if (url->user && url->user->password) {
      remote.password = SecretText(*url->user->password);
    }
  }
  url->user.reset();
  remote.scheme = url->scheme;
  remote.host = url->host;
  remote.url = url->to_string();
  return std::nullopt;
}

bool restricts_transports(const GitConfiguration& configuration) {
  return std::ranges::any_of(configuration.entries(), [](const Entry& entry) {
    return entry.key == "protocol.allow" || entry.key == "protocol.http.allow" || entry.key == "protocol.https.allow";
  });
}

}  // namespace

tl::expected<HttpPlan, std::string> plan_http(const RemoteAddress& remote, const EnvironmentLookup& environment,
                                              const Result<GitConfiguration>& configuration) {
  // Servers that also serve web pages at this address recognize git by its name.
  HttpPlan plan{remote, {}, "git/2.0 (tofu-modlock)"};
  if (!configuration) {
    return tl::unexpected<std::string>("git's configuration can be read by git alone");
  }
  if (restricts_transports(*configuration)) {
    return tl::unexpected<std::string>("protocol.allow is set");
  }
  if (remote.full_url.empty()) {
    if (auto reason = follow_rewriting(plan.remote, *configuration)) {
      return tl::unexpected(std::move(*reason));
    }
  }
  if (auto reason = variable_in_the_way(plan.remote, environment)) {
    return tl::unexpected(std::move(*reason));
  }
  const auto settings = configuration->http_settings(plan.remote.url);
  if (!settings) {
    return tl::unexpected<std::string>("http.<url> of git's configuration has a pattern");
  }
  if (auto reason = apply(plan, *settings, environment)) {
    return tl::unexpected(std::move(*reason));
  }
  return plan;
}

}  // namespace modlock::git
