#include "backends/git/git_configuration.h"

#include <fmt/format.h>
#include <git2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "backends/address/go_url.h"
#include "backends/base/ascii.h"
#include "backends/base/deleter.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "backends/base/text.h"
#include "backends/git/git_error.h"
#include "backends/git/library.h"
#include "backends/http/url.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

namespace fs = std::filesystem;

using Entry = GitConfiguration::Entry;
using Config = std::unique_ptr<git_config, Deleter<git_config_free>>;

constexpr std::size_t kMostVariables = 10'000;

bool is_true(const Entry& entry) {
  const std::string lower = ascii::lower(entry.value);
  return entry.is_bare || lower == "true" || lower == "yes" || lower == "on" || lower == "1";
}

// Converts the section and the name to lower case, and keeps the part between them.
std::string canonical_key(std::string_view key) {
  const std::size_t first = std::min(key.find('.'), key.size());
  const std::size_t last = key.rfind('.');
  if (last == std::string_view::npos || last <= first) {
    return ascii::lower(key);
  }
  return ascii::lower(key.substr(0, first)) + std::string(key.substr(first, last - first)) +
         ascii::lower(key.substr(last));
}

constexpr std::string_view kOfRepository = "includeif.gitdir";
constexpr std::string_view kOfRemotes = "includeif.hasconfig:";

// libgit2 ignores such an include, or its condition.
bool is_beyond_libgit2(const Entry& entry) {
  return (entry.key == "include.path" && entry.value.substr(0, 1) == "~") || entry.key.starts_with(kOfRepository) ||
         entry.key.starts_with(kOfRemotes);
}

// Returns an absolute path for one in the configuration: below the home directory, or beside the file that names it.
std::string absolute_path(const std::string& path, const std::string& file, const EnvironmentLookup& environment) {
  if (path.starts_with("~/")) {
    return environment("HOME").value_or("") + path.substr(1);
  }
  return (fs::path(file).parent_path() / path).string();
}

// Matches as git's wildmatch() with WM_PATHNAME, without sets of characters.
bool matches_path(std::string_view pattern, std::string_view path) {
  if (pattern.starts_with("**/")) {
    const std::size_t slash = path.find('/');
    return matches_path(pattern.substr(3), path) ||
           (slash != std::string_view::npos && matches_path(pattern, path.substr(slash + 1)));
  }
  if (pattern.starts_with('*')) {
    return pattern == "**" || matches_path(pattern.substr(1), path) ||
           (!path.empty() && path[0] != '/' && matches_path(pattern, path.substr(1)));
  }
  if (pattern.empty() || path.empty()) {
    return pattern.empty() && path.empty();
  }
  const bool fits = pattern[0] == path[0] || (pattern[0] == '?' && path[0] != '/');
  return fits && matches_path(pattern.substr(1), path.substr(1));
}

// Returns the file that "includeif.gitdir:<pattern>.path" in `file` includes for the clone.
std::optional<std::string> included_file(const Entry& entry, const std::string& file, const fs::path& clone,
                                         const EnvironmentLookup& environment) {
  constexpr std::string_view kEnd = ".path";
  if (clone.empty() || !entry.key.starts_with(kOfRepository) || !entry.key.ends_with(kEnd)) {
    return std::nullopt;
  }
  const bool ignores_case = entry.key.substr(kOfRepository.size()).starts_with("/i:");
  std::string pattern = entry.key.substr(std::min(kOfRepository.size() + (ignores_case ? 3 : 1), entry.key.size()));
  pattern.resize(pattern.size() - std::min(kEnd.size(), pattern.size()));
  if (pattern.starts_with("~/") || pattern.starts_with("./")) {
    pattern = fs::path(absolute_path(pattern, file, environment)).lexically_normal().string();
  } else if (!pattern.starts_with('/')) {
    pattern = "**/" + pattern;
  }
  pattern += pattern.ends_with('/') ? "**" : "";
  std::error_code ignored;
  // A clone would follow links below the data directory too, but a checkout can make these.
  const fs::path data = clone.parent_path().parent_path();
  for (const fs::path& directory : {fs::weakly_canonical(data, ignored), data}) {
    const std::string path = (directory / clone.lexically_relative(data) / ".git").string();
    if (ignores_case ? matches_path(ascii::lower(pattern), ascii::lower(path)) : matches_path(pattern, path)) {
      return absolute_path(entry.value, file, environment);
    }
  }
  return std::nullopt;
}

// Returns false if the file cannot be read as git reads it. A missing file counts as empty.
bool add_file(const fs::path& path, std::vector<Entry>& entries) {
  if (path.empty() || path == "/dev/null" || !path_exists(path)) {
    return true;
  }
  start_library();  // only now, because it reads the certificates of this system
  git_config* raw = nullptr;
  if (git_config_open_ondisk(&raw, path.c_str()) != 0) {
    return false;
  }
  const Config config(raw);
  using Add = int (*)(const git_config_entry*, void*) noexcept;
  const Add add = [](const git_config_entry* found, void* to) noexcept {
    Entry entry{found->name, found->value == nullptr ? "" : found->value, found->value == nullptr};
    const bool ends = is_beyond_libgit2(entry);
    static_cast<std::vector<Entry>*>(to)->push_back(std::move(entry));
    return ends ? int{GIT_EUSER} : 0;
  };
  return git_config_foreach(config.get(), add, &entries) == 0;
}

std::vector<fs::path> files_of(const EnvironmentLookup& environment) {
  std::vector<fs::path> files;
  if (!is_true({"", environment("GIT_CONFIG_NOSYSTEM").value_or("")})) {
    files.emplace_back(environment("GIT_CONFIG_SYSTEM").value_or("/etc/gitconfig"));
  }
  if (const auto global = environment("GIT_CONFIG_GLOBAL")) {
    files.emplace_back(*global);
    return files;
  }
  const std::string home = environment("HOME").value_or("");
  const std::string xdg = environment("XDG_CONFIG_HOME").value_or("");
  if (!xdg.empty()) {
    files.emplace_back(fs::path(xdg) / "git" / "config");
  } else if (!home.empty()) {
    files.emplace_back(fs::path(home) / ".config" / "git" / "config");
  }
  if (!home.empty()) {
    files.emplace_back(fs::path(home) / ".gitconfig");
  }
  return files;
}

// Adds GIT_CONFIG_KEY_<n> and GIT_CONFIG_VALUE_<n>. git refuses to run if they are malformed.
bool add_variables(const EnvironmentLookup& environment, std::vector<Entry>& entries) {
  const std::string text = environment("GIT_CONFIG_COUNT").value_or("");
  if (text.empty()) {
    return true;
  }
  std::size_t count = 0;
  const char* const end = text.data() + text.size();
  if (std::from_chars(text.data(), end, count) != std::from_chars_result{end, std::errc()} || count > kMostVariables) {
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto key = environment(("GIT_CONFIG_KEY_" + std::to_string(i)).c_str());
    const auto value = environment(("GIT_CONFIG_VALUE_" + std::to_string(i)).c_str());
    if (!key || !value || key->find('.') == std::string::npos) {
      return false;
    }
    entries.push_back({canonical_key(*key), *value, false});
    if (entries.back().key.starts_with("include")) {
      return false;
    }
  }
  return true;
}

// With a slash at the end.
std::string path_of(const http::UrlParts& url) {
  return std::string(url.path) + (url.path.ends_with('/') ? "" : "/");
}

using GitOnlyReason = std::optional<std::string>;

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

bool names_proxy(const EnvironmentLookup& environment) {
  constexpr std::array kNames = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
  return std::ranges::any_of(kNames, [&](const char* name) { return environment(name).has_value(); });
}

// Our HTTP client trusts SSL_CERT_FILE; git trusts the configured file.
bool trusts_the_same(const std::string& authorities, const EnvironmentLookup& environment) {
  return authorities == environment("SSL_CERT_FILE").value_or("") && !environment("SSL_CERT_DIR");
}

GitOnlyReason variable_in_the_way(const RemoteAddress& remote, const EnvironmentLookup& environment) {
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

GitOnlyReason add_header(HttpPlan& plan, const Entry& entry) {
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
GitOnlyReason apply(HttpPlan& plan, const std::vector<Entry>& settings, const EnvironmentLookup& environment) {
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
GitOnlyReason follow_rewriting(RemoteAddress& remote, const GitConfiguration& configuration) {
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

std::optional<GitConfiguration> GitConfiguration::read(const EnvironmentLookup& environment) {
  if (environment("GIT_CONFIG_PARAMETERS")) {
    return std::nullopt;
  }
  std::vector<Entry> entries;
  for (const fs::path& file : files_of(environment)) {
    if (!add_file(file, entries)) {
      return std::nullopt;
    }
  }
  if (!add_variables(environment, entries)) {
    return std::nullopt;
  }
  return GitConfiguration(std::move(entries));
}

Result<GitConfiguration> GitConfiguration::of(const RemoteAddress& remote, const EnvironmentLookup& environment,
                                              const Context& context) {
  if (auto known = read(environment)) {
    return *std::move(known);
  }
  constexpr std::size_t kDeepest = 10;  // as in git; each file may include further ones
  GitConfiguration found;
  for (std::size_t depth = 0; depth < kDeepest; ++depth) {
    MODLOCK_TRY(
        const auto listed,
        run_command(configuration_command(remote, {"config", "--list", "--show-origin", "-z"}, environment, found),
                    context));
    if (listed.exit_code != 0) {
      Error error = explain(remote, "read its configuration for", listed.exit_code, listed.error_output);
      error.code = Code::io_error;
      error.hint = "run `git config --list --show-origin`, and repair what it reports";
      return fail(std::move(error));
    }
    found.entries_.clear();
    const std::size_t known = found.includes_.size();
    const std::vector<std::string> fields = lines_of(listed.output, '\0');
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
      constexpr std::string_view kFile = "file:";
      const std::string& origin = fields[i];
      const std::string& text = fields[i + 1];
      const std::size_t end = std::min(text.find('\n'), text.size());
      Entry entry{text.substr(0, end), text.substr(std::min(end + 1, text.size())), end == text.size()};
      const std::string file(origin.starts_with(kFile) ? origin.substr(kFile.size()) : "");
      auto included = included_file(entry, file, remote.clone_directory, environment);
      if (included && std::ranges::find(found.includes_, *included) == found.includes_.end()) {
        found.includes_.push_back(std::move(*included));
      }
      found.entries_.push_back(std::move(entry));
    }
    if (found.includes_.size() == known) {
      break;
    }
  }
  return found;
}

std::optional<std::string> GitConfiguration::find(std::string_view key) const {
  const auto found =
      std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries_.rend() ? std::nullopt : std::optional(found->value);
}

bool GitConfiguration::has_remote_conditions() const {
  return std::ranges::any_of(entries_, [](const Entry& entry) { return entry.key.starts_with(kOfRemotes); });
}

bool GitConfiguration::forbids_redirects(std::string_view url) const {
  const auto settings = http_settings(rewrite(url));
  const auto names_it = [](const Entry& entry) { return entry.key.ends_with("followredirects"); };
  if (!settings) {
    return std::ranges::any_of(entries_, [&](const Entry& entry) { return names_it(entry) && is_false(entry); });
  }
  const auto last = std::find_if(settings->rbegin(), settings->rend(), names_it);
  return last != settings->rend() && is_false(*last);
}

bool is_false(const Entry& entry) {
  const std::string lower = ascii::lower(entry.value);
  return !entry.is_bare && (lower.empty() || lower == "false" || lower == "no" || lower == "off" || lower == "0");
}

std::string GitConfiguration::rewrite(std::string_view url) const {
  constexpr std::string_view kStart = "url.";
  constexpr std::string_view kEnd = ".insteadof";
  const Entry* best = nullptr;
  for (const Entry& entry : entries_) {
    const bool is_rule =
        entry.key.starts_with(kStart) && entry.key.ends_with(kEnd) && entry.key.size() > kStart.size() + kEnd.size();
    if (is_rule && !entry.is_bare && url.starts_with(entry.value) &&
        (best == nullptr || entry.value.size() > best->value.size())) {
      best = &entry;
    }
  }
  if (best == nullptr) {
    return std::string(url);
  }
  const std::string base = best->key.substr(kStart.size(), best->key.size() - kStart.size() - kEnd.size());
  return base + std::string(url.substr(best->value.size()));
}

std::optional<std::vector<Entry>> GitConfiguration::http_settings(std::string_view url) const {
  constexpr std::string_view kSection = "http.";
  const auto asked = http::split_url(url);
  if (!asked) {
    return std::nullopt;
  }
  std::vector<Entry> settings;
  std::map<std::string, std::size_t> specific;  // by name: the length of the best match so far
  for (const Entry& entry : entries_) {
    if (!entry.key.starts_with(kSection)) {
      continue;
    }
    const std::size_t last = entry.key.rfind('.');
    const std::string name = entry.key.substr(last + 1);
    std::size_t match = 0;
    if (last >= kSection.size()) {
      const std::string pattern = entry.key.substr(kSection.size(), last - kSection.size());
      const auto named = http::split_url(pattern);
      if (!named || pattern.find_first_of("*@") != std::string::npos) {
        return std::nullopt;
      }
      if (http::origin_of(*named) != http::origin_of(*asked) || !path_of(*asked).starts_with(path_of(*named))) {
        continue;
      }
      match = path_of(*named).size();
    }
    std::size_t& best = specific[name];
    if (match >= best) {
      best = match;
      settings.push_back({name, entry.value, entry.is_bare});
    }
  }
  return settings;
}

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
