#include "plugin/settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "plugin/config/config_files.h"
#include "plugin/config/roots.h"
#include "plugin/settings/setting_table.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Finds the key files of the rules from `first` on. The keys of a repository are inside of it, so that a change of them
// is reviewed with it. Those of the user are outside, so that the repository cannot change them.
Result<void> find_key_files(const fs::path& directory, const fs::path& bound, std::size_t first, Settings& settings) {
  for (std::size_t i = first; i < settings.sources.size(); ++i) {
    auto& signature = settings.sources[i].signature;
    if (!signature) {
      continue;
    }
    signature->path = (directory / signature->file.text).lexically_normal();
    if (bound.empty()) {
      continue;
    }
    const bool inside = confine(signature->path, {bound}).has_value() ||
                        (settings.sources[i].of_user && lies_plainly_below(signature->path, bound));
    if (inside == settings.sources[i].of_user) {
      return fail(Error{.code = Code::path_outside_root,
                        .message = fmt::format("the key file \"{}\" is {} the repository", signature->file.text,
                                               inside ? "inside of" : "outside of"),
                        .location = signature->file.location,
                        .hint = inside ? "move it out of the repository, which could change it"
                                       : "copy it into the repository, or demand it in your own configuration"});
    }
  }
  return {};
}

// `bound`: the repository; empty: there is none.
Result<void> read_settings_file(const fs::path& path, std::string shown, SettingsPlace place, const fs::path& bound,
                                const Documents& documents, Settings& settings) {
  MODLOCK_TRY(const auto text, read_once(path, documents));
  if (!text) {
    return {};
  }
  settings.files.push_back(shown);
  const std::size_t first = settings.sources.size();
  MODLOCK_TRY(SettingsReader(*text, std::move(shown), place, settings).read());
  return find_key_files(path.parent_path(), bound, first, settings);
}

// A file of a checkout may be a link, but not to a file outside of the checkout.
Result<void> check_link(const fs::path& path, const fs::path& bound) {
  std::error_code ignored;
  const auto inside = fs::is_symlink(path, ignored) ? confine(path, {bound}) : path;
  return inside ? Result<void>() : fail(inside.error());
}

// Seconds of a unit; 0 for any other character.
double unit_seconds(char unit) {
  constexpr std::array<std::pair<char, int>, 5> kUnits = {
      {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}};
  const auto* const found = std::ranges::find(kUnits, unit, &std::pair<char, int>::first);
  return found == kUnits.end() ? 0 : found->second;
}

std::string file_and_line(const Location& location) {
  return location.range ? fmt::format("{}:{}", location.path, location.range->start.line) : location.path;
}

tl::unexpected<Error> denied(std::string message, const Location& location, std::string hint = {}) {
  return fail(Error{.code = Code::source_denied,
                    .message = std::move(message),
                    .location = location,
                    .hint = hint.empty() ? "use another source, or change the list" : std::move(hint)});
}

// For a server to which another one leads: "git::https://host/path" -> "git::https://host/*".
std::string server_hint(std::string_view identity) {
  const std::size_t scheme = identity.find("://");
  const std::size_t path = identity.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  return fmt::format("if you trust this server, add \"{}/*\" to allow_sources", identity.substr(0, path));
}

// An escape of a character that does not need it (RFC 3986, section 2.3), or of a slash, which servers decode.
bool has_odd_escape(std::string_view text) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    const std::string decoded = percent_decode(text.substr(at, 3));
    if (decoded.size() == 1 && percent_encoded(decoded, "/\\") == decoded) {
      return true;
    }
  }
  return false;
}

bool has_dot_segment(std::string_view path) {
  return std::ranges::any_of(split(path, '/'),
                             [](std::string_view segment) { return segment == "." || segment == ".."; });
}

bool has_default_port(std::string_view scheme, std::string_view port) {
  return (scheme.ends_with("https") && port == ":443") || (scheme.ends_with("ssh") && port == ":22") ||
         (scheme.ends_with("http") && port == ":80");
}

// Whether an address has a plainer equivalent spelling, which a list could name instead: dot segments, odd
// escapes, the default port, a port with leading zeros, a host that ends with a dot, an unusual form of an IP address.
bool has_other_spelling(std::string_view identity) {
  identity = identity.substr(0, identity.find('?'));
  const std::size_t mark = identity.find("://");
  if (mark == std::string_view::npos) {
    return false;
  }
  const std::string_view rest = identity.substr(mark + 3);
  const std::string_view authority = rest.substr(0, rest.find('/'));
  const std::size_t colon = authority.rfind(':');
  const bool has_port = colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  const std::string_view port = has_port ? authority.substr(colon) : "";
  const std::string_view user_and_host = authority.substr(0, authority.size() - port.size());
  const bool odd_port = port.starts_with(":0") || has_default_port(identity.substr(0, mark), port);
  // A server may serve the same repository below the home directory and below its top.
  const bool is_below_home = rest.substr(authority.size()).starts_with("/~/");
  return odd_port || is_below_home || user_and_host.ends_with('.') ||
         is_odd_ip_address(std::string(user_and_host.substr(user_and_host.rfind('@') + 1))) || has_odd_escape(rest) ||
         has_dot_segment(rest.substr(authority.size()));
}

// Without letter case, with the protocol and the usual host of the same server, and without a slash at the end.
std::string plain_address(std::string_view text) {
  constexpr std::string_view kHttp = "git::http://";
  std::string plain = ascii::lower(std::string(text));
  if (plain.starts_with(kHttp)) {
    plain.replace(0, kHttp.size(), "git::https://");
  }
  if (const std::size_t scheme = plain.find("://"); scheme != std::string::npos) {
    const std::size_t slash = std::min(plain.find('/', scheme + 3), plain.size());
    const std::size_t user = plain.rfind('@', slash);
    const std::size_t host = user != std::string::npos && user > scheme ? user + 1 : scheme + 3;
    if (plain.compare(slash, 3, "/~/") == 0) {
      plain.erase(slash, 2);
    }
    plain.replace(host, slash - host, usual_host(std::string_view(plain).substr(host, slash - host)));
  }
  while (plain.ends_with('/')) {
    plain.pop_back();
  }
  return plain;
}

}  // namespace

Result<Settings> load_settings(const fs::path& root, const fs::path& repository_root,
                               const std::optional<fs::path>& user_file, const Documents& documents,
                               Settings overrides) {
  Settings settings = std::move(overrides);
  const fs::path start = document_path(root);
  const fs::path last = document_path(repository_root);
  const std::string way_down = start.lexically_relative(last).generic_string();
  const bool encloses = way_down != ".." && way_down.rfind("../", 0) != 0 && !way_down.empty();
  for (fs::path directory = start;; directory = directory.parent_path()) {
    const fs::path path = directory / kSettingsFileName;
    if (documents.count(path) == 0) {
      MODLOCK_TRY(check_link(path, encloses ? last : start));
    }
    const SettingsPlace place = directory == start ? SettingsPlace::beside_root : SettingsPlace::repository;
    MODLOCK_TRY(
        read_settings_file(path, relative_to_root(path, start), place, encloses ? last : start, documents, settings));
    if (!encloses || directory == last || directory == directory.parent_path()) {
      break;
    }
  }
  if (user_file) {
    const fs::path path = document_path(*user_file);
    auto declared = std::exchange(settings.implementation, std::nullopt);
    MODLOCK_TRY(read_settings_file(path, path.generic_string(), SettingsPlace::user, encloses ? last : start, documents,
                                   settings));
    settings.is_client_of_user = settings.implementation.has_value();
    if (!settings.is_client_of_user) {
      settings.implementation = std::move(declared);
    }
  }
  return settings;
}

Result<Settings> load_directory_settings(const fs::path& directory, const fs::path& bound) {
  Settings settings;
  const fs::path path = document_path(directory) / kSettingsFileName;
  MODLOCK_TRY(check_link(path, bound));
  MODLOCK_TRY(read_settings_file(path, path.generic_string(), SettingsPlace::beside_root, bound, {}, settings));
  return settings;
}

Result<void> load_replacements(const fs::path& root, Settings& settings) {
  Settings local;
  MODLOCK_TRY(read_settings_file(root / kLocalSettingsFileName, std::string(kLocalSettingsFileName),
                                 SettingsPlace::local, {}, {}, local));
  for (auto& [key, rule] : local.modules) {
    settings.modules.emplace(key, rule).first->second.replace = std::move(rule.replace);
  }
  return {};
}

Result<Settings> load_user_settings(const fs::path& user_file, Settings overrides) {
  Settings settings = std::move(overrides);
  const fs::path path = document_path(user_file);
  MODLOCK_TRY(read_settings_file(path, path.generic_string(), SettingsPlace::user, {}, {}, settings));
  return settings;
}

std::optional<std::chrono::seconds> parse_duration(std::string_view text) {
  if (text == "0") {
    return std::chrono::seconds{0};
  }
  constexpr double kLongest = 9223372036;  // Go counts nanoseconds in 63 bits
  double total = 0;
  if (text.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    const std::size_t size = text.find_first_not_of("0123456789.");
    if (size == 0 || size == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view number = text.substr(0, size);
    double value = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
    const double unit = unit_seconds(text[size]);
    // "ms" is Go's millisecond, which is not supported.
    const bool is_milli = text.substr(size, 2) == "ms";
    if (error != std::errc{} || end != number.data() + number.size() || unit == 0 || is_milli) {
      return std::nullopt;
    }
    total += value * unit;
    if (total > kLongest) {
      return std::nullopt;
    }
    text.remove_prefix(size + 1);
  }
  return std::chrono::seconds{static_cast<std::int64_t>(std::floor(total))};
}

std::optional<std::chrono::seconds> parse_fetch_timeout(std::string_view text) {
  const auto duration = parse_duration(text);
  const bool fits = duration && *duration >= std::chrono::seconds{1} && *duration <= std::chrono::minutes{10};
  return fits ? duration : std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const unsigned shift = unit == "MiB" ? 20 : unit == "GiB" ? 30 : 0;
  if (error != std::errc{} || shift == 0 || number > std::numeric_limits<std::uint64_t>::max() >> shift) {
    return std::nullopt;
  }
  return number << shift;
}

bool matches_glob(std::string_view glob, std::string_view text) {
  std::size_t g = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;  // the last `*` passed
  std::size_t resume = 0;                     // where its run may end next
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = t;
    } else if (g < glob.size() && glob[g] == text[t]) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string_view::npos;
}

bool matches_source(std::string_view glob, std::string_view identity) {
  const std::string wanted = plain_address(glob);
  const std::string_view address = identity.substr(0, identity.find('?'));
  const std::size_t scheme = address.find("://");
  const std::size_t end = address.find("//", scheme == std::string_view::npos ? 0 : scheme + 3);
  const std::string_view subdir = end == std::string_view::npos ? "" : address.substr(end);
  const std::string_view query = identity.substr(address.size());
  std::vector<std::string> packages = {plain_address(address.substr(0, end))};
  if (identity.starts_with("git::")) {
    constexpr std::string_view kSuffix = ".git";
    const std::string& package = packages.front();
    packages.push_back(package.ends_with(kSuffix) ? package.substr(0, package.size() - kSuffix.size())
                                                  : package + std::string(kSuffix));
  }
  return std::any_of(packages.begin(), packages.end(), [&](const std::string& package) {
    return matches_glob(wanted, package) || matches_glob(wanted, package + ascii::lower(std::string(query))) ||
           matches_glob(wanted, package + ascii::lower(std::string(subdir))) ||
           matches_glob(wanted, ascii::lower(fmt::format("{}{}{}", package, subdir, query)));
  });
}

std::string DenyRule::text() const {
  return fmt::format("denied by \"{}\" in {}{}{}", releases.source.text(), file_and_line(location),
                     reason.empty() ? "" : ": ", reason);
}

Error denied_release(const DenyRule& rule, std::string_view release, std::string_view address,
                     const std::string& subject, const Hint& command) {
  return {.code = Code::release_denied,
          .message = fmt::format("{} of \"{}\" is {}", release, address, rule.text()),
          .subject = subject,
          .related = {{"the rule is here", rule.location}},
          .hint = "to select a release that no rule denies, run: " + command};
}

bool allows_source(const std::vector<SourceText>& globs, std::string_view identity) {
  return !has_other_spelling(identity) && std::any_of(globs.begin(), globs.end(), [&](const SourceText& glob) {
    return matches_glob(glob.text, identity);
  });
}

void serve_externally(const Settings& settings, Source& source) {
  const auto serves_all = [&](const auto& backend) { return backend.scheme == source.getter && backend.hosts.empty(); };
  if (source.traits().content_id == ContentId::checksum && std::ranges::any_of(settings.backends, serves_all)) {
    std::erase_if(source.query, [&](const auto& each) { return each.first == source.traits().own_argument; });
    source.fragment.clear();
    source.kind = SourceKind::unsupported;
  }
}

Result<void> check_source_allowed(const Settings& settings, std::string_view identity, const ServerHop& hop) {
  const auto signing = std::find_if(settings.sources.begin(), settings.sources.end(),
                                    [](const SourceRule& rule) { return rule.signature.has_value(); });
  const Location* const rule = !settings.deny_sources.empty()      ? &settings.deny_sources.front().location
                               : !settings.allow_lists.empty()     ? &settings.allow_lists.front().location
                               : !settings.deny_rules.empty()      ? &settings.deny_rules.front().location
                               : signing != settings.sources.end() ? &signing->location
                                                                   : nullptr;
  if (rule != nullptr && has_other_spelling(identity)) {
    return denied(fmt::format("the source \"{}\" is not written in its plain form, so the rules of {} cannot match it",
                              identity, file_and_line(*rule)),
                  *rule);
  }
  const auto matches = [&](const SourceText& glob) { return matches_glob(glob.text, identity); };
  const auto denies = [&](const SourceText& glob) {
    return matches_source(glob.text, identity) ||
           (!hop.from.empty() && matches_source(glob.text, hop.to) && !matches_source(glob.text, hop.from));
  };
  const auto deny = std::find_if(settings.deny_sources.begin(), settings.deny_sources.end(), denies);
  if (deny != settings.deny_sources.end()) {
    return denied(
        fmt::format("the source \"{}\" is denied by \"{}\" in {}", identity, deny->text, file_and_line(deny->location)),
        deny->location);
  }
  for (const AllowList& list : settings.allow_lists) {
    if (std::none_of(list.globs.begin(), list.globs.end(), matches)) {
      return denied(fmt::format("the source \"{}\" matches no entry of allow_sources in {}", identity,
                                file_and_line(list.location)),
                    list.location, hop.to.empty() ? std::string() : server_hint(identity));
    }
  }
  return {};
}

}  // namespace modlock
