#include "backends/git/remote_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/address/go_url.h"
#include "backends/address/source_remote.h"
#include "backends/base/ascii.h"
#include "backends/base/digest.h"

namespace modlock::git {
namespace {

constexpr std::array<std::string_view, 5> kSchemes = {"https", "http", "ssh", "git", "file"};

bool has_control_character(std::string_view text) {
  return std::ranges::any_of(text, ascii::is_control);
}

bool looks_like_option(std::string_view text) {
  return !text.empty() && text[0] == '-';
}

tl::unexpected<Error> denied(const std::string& display, std::string_view why) {
  return fail(Code::source_denied, fmt::format("the git source \"{}\" is refused: {}", display, why),
              "write the repository as an https, http, ssh, git or file URL");
}

// Moves the user-info from the URL to `address`. For ssh, and for CodeCommit, where the user names a profile, only
// drops the password.
void take_user(GoUrl& url, RemoteAddress& address) {
  if (!url.user) {
    return;
  }
  if (address.scheme == "ssh" || address.scheme == kCodecommit) {
    url.user->password.reset();
    return;
  }
  address.username = SecretText(url.user->name);
  if (url.user->password) {
    address.password = SecretText(*url.user->password);
  }
  url.user.reset();
}

Result<SecretText> ssh_key_of(const SourceAddress& source, const std::string& display) {
  const std::string& text = source.normalised.reveal();
  const std::size_t question = text.find('?');
  if (question == std::string::npos) {
    return SecretText();
  }
  for (const auto& [name, value] : parse_query(std::string_view(text).substr(question + 1))) {
    if (name == "sshkey") {
      auto key = decode_base64(value);
      return key ? Result<SecretText>(SecretText(std::move(*key)))
                 : fail(Code::source_invalid,
                        fmt::format("the argument sshkey of the git source \"{}\" is not base64", display),
                        "write the private key in base64, with every \"+\" as %2B: base64 -w0 KEY | jq -sRr @uri");
    }
  }
  return SecretText();
}

}  // namespace

Result<RemoteAddress> make_remote_address(const SourceAddress& source) {
  RemoteAddress address;
  address.display = source.source.package_identity();
  address.prefers_branches = is_shallow(source);
  address.uses_askpass = source.is_users;
  const std::string& text = source.package_url.reveal();
  if (has_control_character(text)) {
    return denied(address.display, "it holds a control character");
  }
  const bool has_helper = source.source.kind == SourceKind::git && source.source.scheme.starts_with(kCodecommit);
  constexpr std::string_view kCodecommitHelper = "codecommit::";
  const std::string_view helper =
      has_helper && text.starts_with(kCodecommitHelper) ? kCodecommitHelper : std::string_view();
  const auto alias = has_helper ? std::nullopt : ssh_url(text);
  auto url = GoUrl::parse(alias ? *alias : text.substr(helper.size()));
  if (!url) {
    return fail(Code::source_invalid, fmt::format("the git source \"{}\" is not a URL", address.display),
                "write the repository as an https, http, ssh, git or file URL");
  }
  if (url->scheme.empty() && !url->path.empty() && url->path[0] == '/') {
    url->scheme = "file";
  }
  const bool is_known = has_helper || std::ranges::find(kSchemes, url->scheme) != kSchemes.end();
  if (!is_known || !url->opaque.empty()) {
    return denied(address.display,
                  fmt::format("its transport \"{}\" is not one of https, http, ssh, git and file", url->scheme));
  }
  address.scheme = has_helper ? kCodecommit : url->scheme;
  address.host = url->host;
  // If "~" follows the first slash, ssh gets the path without that slash, so the rest must be checked too.
  if (looks_like_option(url->host) || looks_like_option(url->path) || url->path.substr(0, 2) == "/-" ||
      (url->user && looks_like_option(url->user->name))) {
    return denied(address.display, "its host, user or path starts with \"-\" and would be taken for an option");
  }
  const bool bad_user =
      url->user && (has_control_character(url->user->name) || has_control_character(url->user->password.value_or("")));
  if (bad_user || has_control_character(url->host) || has_control_character(url->path)) {
    return denied(address.display, "it holds a percent-encoded control character");
  }
  MODLOCK_TRY(address.ssh_key, ssh_key_of(source, address.display));
  take_user(*url, address);
  url->fragment.clear();
  url->raw_fragment.clear();
  if (url->force_query || !url->raw_query.empty()) {
    // The query of a helper's address has only arguments of the client, such as `ref`.
    address.full_url = SecretText(has_helper ? std::string() : url->to_string());
    url->force_query = false;
    url->raw_query.clear();
  }
  if (address.scheme.starts_with("http")) {  // as libcurl does for git
    for (std::string* path : {&url->path, &url->raw_path}) {
      if (path->find("/.") != std::string::npos) {
        *path = std::filesystem::path(*path).lexically_normal().string();
      }
    }
  }
  address.url = alias ? text : std::string(helper) + url->to_string();
  return address;
}

}  // namespace modlock::git
