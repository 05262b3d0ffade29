#include "plugin/settings/release_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/address/git_reference.h"
#include "backends/address/go_url.h"
#include "backends/base/ascii.h"
#include "plugin/settings/settings.h"

namespace modlock {
namespace {

constexpr std::size_t kShortestCommit = 7;
constexpr std::size_t kCommitDigits = 40;

std::string_view without_suffix(std::string_view text, std::string_view suffix) {
  return text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text;
}

// Returns "host/path" for the part of an address after the protocol, decoded: no user, no default port of a protocol,
// no `.git`, no slash at the end.
std::string plain_name(std::string_view encoded) {
  const std::string decoded = percent_decode(encoded);
  std::string_view text = decoded;
  const std::size_t user = text.substr(0, text.find('/')).rfind('@');
  if (user != std::string_view::npos) {
    text.remove_prefix(user + 1);
  }
  const std::string lower = ascii::lower(text);
  text = lower;
  std::string host = usual_host(text.substr(0, text.find('/')));
  const std::string_view path =
      without_suffix(without_suffix(text.substr(std::min(text.find('/'), text.size())), "/"), ".git");
  for (const std::string_view port : {":443", ":22", ":80"}) {
    host = path.empty() ? host : std::string(without_suffix(host, port));
  }
  return host + std::string(path);
}

std::string name_of(const Source& source) {
  return plain_name(source.host + (source.path.starts_with('/') ? "" : "/") + source.path);
}

std::string name_of(const ProviderAddress& provider) {
  return fmt::format("{}/{}/{}", ascii::lower(provider.host()), provider.name_space(), provider.type());
}

tl::unexpected<Error> invalid(std::string_view text, std::string_view reason, std::string hint) {
  return fail(Code::invalid_params, fmt::format("\"{}\" does not name a source: {}", text, reason), std::move(hint));
}

// Returns the position of the `@` before a release; npos: there is none. A user is before the host:
// "git@github.com:acme/vpc".
std::size_t find_release(std::string_view text) {
  const std::size_t mark = text.rfind('@');
  if (mark == std::string_view::npos) {
    return mark;
  }
  const std::string_view release = text.substr(mark + 1);
  const std::size_t scheme = text.find("://");
  const std::size_t slash = text.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  const bool is_digest = release.starts_with("sha256:") || release.starts_with("h1:") || release.starts_with("zh:");
  const bool is_user =
      !is_digest && mark == text.find('@') && mark < slash && release.find_first_of("/:") != std::string_view::npos;
  return is_user ? std::string_view::npos : mark;
}

std::optional<Version> version_in_reference(const Source& source) {
  const std::string tag = source.named_tag();
  const std::size_t slash = tag.rfind('/');
  return parse_version_tag(tag, std::string_view(tag).substr(0, slash == std::string::npos ? 0 : slash + 1));
}

// Whether `?ref=` is the id of a git object, and not of the commit among the hashes: of an annotated tag. Which tag
// that is, only its repository knows.
bool names_tag_object(const Source& source, std::span<const std::string> hashes) {
  const std::string ref = ascii::lower(without_peeling(source.named_reference()));
  return ref.size() == kCommitDigits && is_commit_prefix(ref) &&
         std::any_of(hashes.begin(), hashes.end(), [&](std::string_view hash) {
           return hash.starts_with("git:") && is_commit_prefix(hash.substr(4)) && hash.substr(4) != ref;
         });
}

}  // namespace

std::string usual_host(std::string_view host) {
  struct Alias {
    std::string_view host;
    std::string_view usual;
  };
  // Hosts that redirect, or that serve ssh on the port of https.
  constexpr std::array<Alias, 4> kAliases = {{{"www.github.com", "github.com"},
                                              {"ssh.github.com", "github.com"},
                                              {"altssh.gitlab.com", "gitlab.com"},
                                              {"altssh.bitbucket.org", "bitbucket.org"}}};
  const std::string_view name = without_suffix(host, ":443");
  const auto alias = std::find_if(kAliases.begin(), kAliases.end(), [&](const Alias& one) { return one.host == name; });
  return std::string(alias == kAliases.end() ? host : alias->usual);
}

Result<SourcePattern> SourcePattern::parse(std::string_view text) {
  SourcePattern pattern;
  pattern.text_ = text;
  if (text.find('?') != std::string_view::npos) {
    return invalid(text, "it has query arguments", "name the release by its version, commit or digest instead");
  }
  if (text.starts_with('.') || text.starts_with('/')) {
    return invalid(text, "it is a local path", "name a module source or a provider");
  }
  if (find_release(text) != std::string_view::npos) {
    return invalid(text, "it has a release after @", "name the release with versions, commits or digests");
  }
  std::string_view rest = text;
  const std::size_t getter = rest.find("::");
  rest.remove_prefix(getter == std::string_view::npos ? 0 : getter + 2);
  const std::size_t scheme = rest.find("://");
  rest.remove_prefix(scheme == std::string_view::npos ? 0 : scheme + 3);
  if (const std::size_t subdir = rest.find("//"); subdir != std::string_view::npos) {
    pattern.subdir_ = without_suffix(rest.substr(subdir + 2), "/");
    rest = rest.substr(0, subdir);
  }
  std::string address(rest);
  const std::size_t user = address.find('@');
  const std::size_t colon = address.find(':', std::min(user, address.size()));
  const bool is_scp_like = scheme == std::string_view::npos && colon < address.find('/');
  if (is_scp_like) {
    address[colon] = '/';
  }
  const std::string name = plain_name(address);
  const std::string host = name.substr(0, name.find('/'));
  if (name.empty() || (host.size() == name.size() && name.find('*') == std::string::npos)) {
    return invalid(text, "it has no path",
                   "write it as in the configuration, for example terraform-aws-modules/vpc/aws");
  }
  if (host.find_first_of(".:*") != std::string::npos || scheme != std::string_view::npos || is_scp_like) {
    // The lock file has "modules" in addresses of registry modules, between host and namespace.
    const bool is_identity = name.substr(host.size()).starts_with("/modules/");
    pattern.globs_ = {name};
    if (is_identity && scheme == std::string_view::npos) {
      pattern.globs_.push_back(host + name.substr(host.size() + std::string_view("/modules").size()));
    }
  } else {
    pattern.globs_ = {fmt::format("{}/{}", kOpenTofuRegistry, name), fmt::format("{}/{}", kTerraformRegistry, name)};
  }
  return pattern;
}

bool SourcePattern::matches_name(std::string_view name) const {
  return std::any_of(globs_.begin(), globs_.end(), [&](const std::string& glob) { return matches_glob(glob, name); });
}

bool SourcePattern::matches(const Source& source) const {
  return source.is_remote() && (subdir_.empty() || matches_glob(subdir_, source.subdir)) &&
         matches_name(name_of(source));
}

bool SourcePattern::matches(const ProviderAddress& provider) const {
  return subdir_.empty() && matches_name(name_of(provider));
}

Result<ReleaseVersions> ReleaseVersions::parse(std::string_view text) {
  MODLOCK_TRY(auto of_module, ModuleConstraint::parse(text));
  MODLOCK_TRY(auto of_provider, ProviderConstraint::parse(text));
  return ReleaseVersions{std::move(of_module), std::move(of_provider)};
}

bool is_commit_prefix(std::string_view text) {
  return text.size() >= kShortestCommit && text.size() <= 64 && std::all_of(text.begin(), text.end(), ascii::is_hex);
}

bool is_content_digest(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view scheme = text.substr(0, std::min(colon, text.size()));
  const std::string_view value = text.substr(std::min(colon, text.size() - 1) + 1);
  return (scheme == "h1" && value.size() == 44) || ((scheme == "sha256" || scheme == "zh") && value.size() == 64 &&
                                                    std::all_of(value.begin(), value.end(), ascii::is_hex));
}

Result<ReleasePattern> ReleasePattern::parse(std::string_view text) {
  const std::size_t mark = find_release(text);
  MODLOCK_TRY(auto source, SourcePattern::parse(text.substr(0, mark)));
  ReleasePattern pattern{.source = std::move(source)};
  if (mark == std::string_view::npos) {
    return pattern;
  }
  const std::string_view selector = text.substr(mark + 1);
  if (is_content_digest(selector) || is_commit_prefix(selector)) {
    pattern.ids.push_back(selector.starts_with("h1:") ? std::string(selector) : ascii::lower(std::string(selector)));
    return pattern;
  }
  // A tag, which the dialect of providers does not accept.
  const bool is_tag = selector.size() > 1 && selector[0] == 'v' && ascii::is_digit(selector[1]);
  auto versions = ReleaseVersions::parse(selector.substr(is_tag ? 1 : 0));
  if (!versions) {
    return fail(
        Code::invalid_params,
        fmt::format("\"{}\" is not a version, a commit of at least {} digits, or a digest", selector, kShortestCommit),
        "write it after @: 2.1.0, 8f2c0d0b6c1f, or sha256: and 64 digits");
  }
  pattern.versions = std::move(*versions);
  return pattern;
}

bool ReleasePattern::has_id(std::span<const std::string> hashes) const {
  return std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
    return std::any_of(hashes.begin(), hashes.end(), [&](const std::string& hash) {
      const std::string_view value = std::string_view(hash).substr(hash.find(':') + 1);
      return hash == id || (!hash.starts_with("h1:") && !hash.starts_with("zh:") && value.starts_with(id));
    });
  });
}

bool ReleasePattern::matches(const Source& release_of, const std::optional<Version>& version,
                             std::span<const std::string> hashes) const {
  if (!source.matches(release_of)) {
    return false;
  }
  const auto known = version ? version : version_in_reference(release_of);
  return (!versions && ids.empty()) ||
         (versions && (known ? versions->of_module.allows(*known) : names_tag_object(release_of, hashes))) ||
         has_id(hashes);
}

bool ReleasePattern::matches(const ProviderAddress& release_of, const ProviderVersion& version,
                             std::span<const std::string> hashes) const {
  return source.matches(release_of) &&
         ((!versions && ids.empty()) || (versions && versions->of_provider.allows(version)) || has_id(hashes));
}

}  // namespace modlock
