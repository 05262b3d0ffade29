#include "backends/address/source_remote.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "backends/base/ascii.h"
#include "backends/base/collections.h"
#include "protocol/base/utf8.h"

namespace modlock {
namespace {

// The result of one detector: an address, an error, or nothing.
using Detection = std::optional<Result<std::string>>;

Error invalid(const std::string& shown, std::string_view why, std::string hint = {}) {
  return {.code = Code::source_invalid,
          .message = fmt::format("the module source \"{}\" {}", shown, why),
          .hint = std::move(hint)};
}

Error denied(const std::string& shown, std::string_view why, std::string hint) {
  return {.code = Code::source_denied,
          .message = fmt::format("the module source \"{}\" is rejected: {}", shown, why),
          .hint = std::move(hint)};
}

tl::unexpected<Error> invalid_address(std::string_view address, std::string_view why, std::string hint = {}) {
  return fail(invalid(printable_address(address), why, std::move(hint)));
}

// Joins the parts from `first` on with slashes.
std::string join_from(const std::vector<std::string_view>& parts, std::size_t first) {
  return fmt::format("{}", fmt::join(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end(), "/"));
}

Result<std::string> reprint(std::string_view address, std::string_view getter, const std::string& url_text) {
  const auto url = GoUrl::parse(url_text);
  if (!url) {
    return invalid_address(address, "does not make a valid URL", "escape \"%\" as %25");
  }
  return fmt::format("{}::{}", getter, url->to_string());
}

Detection detect_github(std::string_view address) {
  if (!address.starts_with("github.com/")) {
    return std::nullopt;
  }
  const std::string_view location = address.substr(0, address.find('?'));
  const auto parts = split(location, '/');
  if (parts.size() < 3) {
    return invalid_address(address, "must name an owner and a repository, as in github.com/owner/repository",
                           "write the whole address");
  }
  auto url = GoUrl::parse(fmt::format("https://{}/{}/{}", parts[0], parts[1], parts[2]));
  if (!url) {
    return invalid_address(address, "does not make a valid URL", "escape \"%\" as %25");
  }
  if (!url->path.ends_with(".git")) {
    url->path += ".git";
  }
  if (parts.size() > 3) {
    url->path += "//" + join_from(parts, 3);
  }
  std::string detected = "git::" + url->to_string();
  if (address.size() > location.size() + 1) {
    detected += address.substr(location.size());
  }
  return detected;
}

// Returns the host and path of "host:path" or "host:/path".
std::optional<std::pair<std::string_view, std::string_view>> match_scp(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size()) {
    return std::nullopt;
  }
  const std::string_view path = text.substr(colon + 1);
  return std::pair(text.substr(0, colon), path.size() > 1 && path[0] == '/' ? path.substr(1) : path);
}

// Reads [user@]host:path. Only the user "git" is supported; a malformed query is rejected for every user.
Detection detect_scp(std::string_view address) {
  const std::size_t at = address.find('@');
  auto match = at == std::string_view::npos || at == 0 ? std::nullopt : match_scp(address.substr(at + 1));
  const bool is_git = match && address.substr(0, at) == "git";
  match = match ? match : match_scp(address);
  if (!match) {
    return std::nullopt;
  }
  const auto [host, path] = *match;
  const std::string_view location = path.substr(0, path.find('?'));
  bool malformed = false;
  auto query = parse_query(path.substr(std::min(location.size() + 1, path.size())), &malformed);
  if (malformed) {
    return invalid_address(address, "has a query that is not valid", "escape \"%\" as %25 and \";\" as %3B");
  }
  if (!is_git) {
    return std::nullopt;
  }
  GoUrl url;
  url.scheme = "ssh";
  url.user = GoUrl::UserInfo{"git", std::nullopt};
  url.host = host;
  url.path = location;
  url.raw_query = encode_query(std::move(query));
  return "git::" + url.to_string();
}

Detection detect_bitbucket(std::string_view address) {
  if (!address.starts_with("bitbucket.org/")) {
    return std::nullopt;
  }
  const std::string_view location = address.substr(0, address.find_first_of("?#"));
  return fail(Code::source_unsupported,
              fmt::format("the module source \"{}\" is a shorthand that only a request to Bitbucket can resolve",
                          printable_address(address)),
              fmt::format("write the full URL: \"git::https://{}{}\"", printable_address(location),
                          location.ends_with(".git") ? "" : ".git"));
}

Detection detect_gcs(std::string_view address) {
  if (address.find(".googleapis.com/") == std::string_view::npos) {
    return std::nullopt;
  }
  const auto parts = split(address, '/');
  if (parts.size() < 5) {
    return invalid_address(address, "is not a Google Cloud Storage address: expected version, bucket and object",
                           "write the whole address");
  }
  return reprint(address, "gcs",
                 fmt::format("https://www.googleapis.com/storage/{}/{}/{}", parts[2], parts[3], join_from(parts, 4)));
}

Detection detect_s3(std::string_view address) {
  if (address.find(".amazonaws.com/") == std::string_view::npos) {
    return std::nullopt;
  }
  const auto parts = split(address, '/');
  const auto host = split(parts[0], '.');
  const std::string key = join_from(parts, 1);
  if (host.size() == 3) {
    return reprint(address, "s3", fmt::format("https://{}.amazonaws.com/{}", host[0], key));
  }
  if (host.size() == 4) {
    return reprint(address, "s3", fmt::format("https://{}.amazonaws.com/{}/{}", host[1], host[0], key));
  }
  if (host.size() == 5 && host[1] == "s3") {
    return reprint(address, "s3", fmt::format("https://s3.{}.amazonaws.com/{}/{}", host[2], host[0], key));
  }
  return invalid_address(address, "is not an S3 address: expected bucket and region in the host name",
                         "write the whole address");
}

Detection detect_path(std::string_view address) {
  if (address.empty()) {
    return std::nullopt;
  }
  if (address[0] != '/' && address.find("://") != std::string_view::npos) {
    return invalid_address(address, "is not a valid URL",
                           "to give a path after a colon, write git@host:path without ssh://");
  }
  if (address[0] != '/') {
    return invalid_address(
        address, "is not a known kind of source",
        fmt::format("write \"./{}\" if a path relative to the calling module was meant", printable_address(address)));
  }
  return "file:///" + std::string(address.substr(1));
}

Detection run_detectors(std::string_view address) {
  for (const auto detector : {detect_github, detect_scp, detect_bitbucket, detect_gcs, detect_s3, detect_path}) {
    if (auto detection = detector(address)) {
      return detection;
    }
  }
  return std::nullopt;
}

// Inserts a subdirectory before the query of the address. Go encodes the whole path again for that.
std::optional<std::string> with_subdir(const std::string& package, const std::string& subdir) {
  auto url = GoUrl::parse(package);
  if (!url) {
    return std::nullopt;
  }
  url->path += "//" + subdir;
  url->raw_path = url->path;
  return url->to_string();
}

constexpr std::array<std::string_view, 5> kGitSchemes = {"https", "http", "ssh", "git", "file"};
// Those of every kind, whether or not it reads them.
constexpr std::array<std::string_view, 6> kIdentityArguments = {"ref", "rev", "tag", "digest", "archive", "checksum"};
constexpr std::array<std::string_view, 5> kNotForGit = {"ref", "depth", "sshkey", "archive", "checksum"};

// Whether the text is "word::…", for which git starts the program git-remote-word.
bool names_transport_helper(std::string_view text) {
  const std::size_t end = text.find("::");
  const std::string_view word = text.substr(0, std::min(end, text.size()));
  return end != std::string_view::npos && word.find_first_of("/?#[@") == std::string_view::npos;
}

Result<void> check_git(const GoUrl& url, const std::string& shown) {
  if (!contains(kGitSchemes, url.scheme)) {
    return fail(denied(
        shown,
        fmt::format("git has no built-in transport \"{}\" and would run a program for it", escape_controls(url.scheme)),
        "write git::https://, git::ssh://user@host/path or git::file://"));
  }
  if (!url.fragment.empty()) {
    return fail(Code::source_unsupported,
                fmt::format("the module source \"{}\" has a fragment (\"#…\"), which git ignores", shown),
                "select a tag, branch or commit with \"?ref=\"");
  }
  if ((url.scheme == "file" || url.scheme == "ssh") && (url.path.empty() || url.path == "/")) {
    return fail(invalid(shown, "names no repository", "write its path after the host"));
  }
  return {};
}

// Whether the text could be parsed as an option on a command line, or as a second line in a protocol.
Result<void> check_words(const GoUrl& url, const QueryArguments& query, const std::string& shown) {
  const std::string user = url.user ? url.user->name : std::string();
  const std::string password = url.user ? url.user->password.value_or("") : std::string();
  std::vector<std::string> words = {user, password, url.host, url.path, url.fragment, percent_decode(url.opaque)};
  for (const auto& [key, value] : query) {
    words.push_back(key);
    words.push_back(value);
  }
  if (std::ranges::any_of(words, has_control_characters)) {
    return fail(invalid(shown, "has an escaped control character or line ending", "remove it"));
  }
  if (!std::ranges::all_of(words, is_utf8)) {
    return fail(invalid(shown, "has escapes that are not UTF-8", "escape the bytes of UTF-8 text"));
  }
  const auto is_option = [](std::string_view word) { return word.substr(0, 1) == "-"; };
  std::string_view option;
  if (is_option(url.host)) {
    option = "host";
  } else if (is_option(user)) {
    option = "user";
  } else if (is_option(url.path) || url.path.substr(0, 2) == "/-" || is_option(url.opaque)) {
    option = "path";
  }
  for (const auto& [key, value] : query) {
    if (names_reference(key) && is_option(value)) {
      option = key;
    }
  }
  if (!option.empty()) {
    return fail(denied(shown, fmt::format("its {} starts with \"-\" and could be parsed as an option", option),
                       "write a name that starts with another character"));
  }
  return {};
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, ascii::is_ascii);
}

// Whether a server's name has only allowed characters; an underscore is common on private networks.
bool is_host_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return ascii::is_digit(c) || ascii::is_lower(c) || c == '-' || c == '.' || c == '_' || !ascii::is_ascii(c);
  });
}

// Returns both forms of the host of a URL, with its port. Only names with characters beyond ASCII must be valid in
// IDNA.
Result<HostForms> read_host(const std::string& host, const std::string& shown) {
  auto [name, port] = split_port(ascii::lower(host));
  port = port == ":" ? std::string() : port;
  std::uint16_t number = 0;
  const char* const end = port.data() + port.size();
  if (!port.empty() && std::from_chars(port.data() + 1, end, number) != std::from_chars_result{end, std::errc()}) {
    return fail(invalid(shown, "has a port that is not a number up to 65535",
                        "to give a path after a colon, write git@host:path without ssh://"));
  }
  if (name.substr(0, 1) != "[" && !is_host_name(name)) {
    return fail(invalid(shown, "has a host that is not a valid name", "write a valid DNS name"));
  }
  if (const auto forms = lookup_host(name)) {
    return HostForms{forms->ascii + port, forms->display + port};
  }
  if (!is_ascii(name)) {
    return fail(invalid(shown, "has a host that is not a valid internationalized name", "write the host in punycode"));
  }
  return HostForms{name + port, name + port};
}

std::string git_url(GoUrl url, const std::string& ascii_host) {
  QueryArguments query = parse_query(url.raw_query);
  std::erase_if(query, [](const auto& argument) { return contains(kNotForGit, argument.first); });
  url.raw_query = encode_query(std::move(query));
  url.force_query = false;
  if (!is_ascii(url.host)) {
    url.host = ascii_host;
  }
  return url.to_string();
}

// The address of a checksum file may contain secrets, like that of a package. Its whole query is removed, because no
// argument of it is known.
std::string shown_checksum(const std::string& argument) {
  if (const auto list = checksum_list_address(argument)) {
    const auto described = describe_package(list->substr(0, list->find_first_of("?#")), {});
    if (described && described->source.kind == SourceKind::archive) {
      return "file:" + described->source.identity();
    }
  }
  return is_plain_checksum(argument) ? argument : printable_address(argument);
}

// Keeps only the first of a repeated argument, and drops empty ones, as go-getter does.
QueryArguments identity_query(const SourceTraits& traits, const QueryArguments& query) {
  const std::array own = {traits.tag_argument, traits.id_argument, traits.own_argument};
  QueryArguments kept;
  for (const auto& argument : query) {
    const auto same_key = [&](const auto& other) { return other.first == argument.first; };
    const bool is_own = !argument.first.empty() && contains(own, argument.first);
    if ((is_own || contains(kIdentityArguments, argument.first)) && std::ranges::none_of(kept, same_key)) {
      kept.emplace_back(argument.first,
                        argument.first == "checksum" ? shown_checksum(argument.second) : argument.second);
    }
  }
  std::erase_if(kept, [](const auto& argument) { return argument.second.empty(); });
  return kept;
}

Source read_source(SourceKind kind, std::string_view getter, const GoUrl& url, const QueryArguments& query) {
  Source source;
  source.kind = kind;
  source.getter = getter;
  source.scheme = url.scheme;
  source.user = url.scheme == "ssh" ? url.escaped_user() : std::string();
  source.path = url.escaped_path();
  if (kind == SourceKind::directory) {
    // go-getter opens the path as written, including escapes, unless it was written in the default encoding.
    source.path = url.raw_path.empty() ? url.path : url.raw_path;
  }
  source.query = identity_query(source.traits(), query);
  if (source.traits().has_numbered_content && std::ranges::all_of(url.fragment, ascii::is_digit)) {
    source.fragment = url.fragment;
  }
  return source;
}

constexpr std::string_view kCodecommit = "git::codecommit";

// "codecommit://repository" or "codecommit::region://repository": git would run a program for it. So the source is not
// served until serve_by_git_helper().
Result<RemotePackage> describe_codecommit(std::string_view rest, const std::string& shown) {
  constexpr std::string_view kHelper = "codecommit::";
  const auto url = GoUrl::parse(rest.substr(rest.starts_with(kHelper) ? kHelper.size() : 0));
  if (!url || url->scheme.empty() || url->host.empty()) {
    return fail(invalid(shown, "names no repository", "write git::codecommit::region://repository"));
  }
  const QueryArguments query = parse_query(url->raw_query);
  MODLOCK_TRY(check_words(*url, query, shown));
  Source source = read_source(SourceKind::unsupported, kCodecommit, *url, query);
  source.scheme = rest.starts_with(kHelper) ? url->scheme : source.getter;
  source.user = url->escaped_user();  // a profile of AWS, and so an account
  source.host = url->host;
  return RemotePackage{std::move(source), std::string(rest)};
}

}  // namespace

std::optional<std::string> ssh_url(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view host = text.substr(0, colon);
  const std::string_view path = text.substr(std::min(colon + 1, text.size()));
  const bool is_name = !host.empty() && ascii::is_alnum(host[0]) && std::ranges::all_of(host, [](char c) {
    return ascii::is_alnum(c) || c == '-' || c == '.' || c == '_';
  });
  if (!is_name || path.empty() || path.find_first_of("#%") != std::string_view::npos ||
      path.find("//") != std::string_view::npos || path[0] == ':' || path[0] == '-' || contains(kGitSchemes, host)) {
    return std::nullopt;
  }
  return fmt::format("ssh://{}{}{}", host, path[0] == '/' ? "" : "/~/", path);
}

Result<std::string> detect_package(std::string_view address) {
  const auto [forced, behind] = split_getter(address);
  const auto [package, own_subdir] = split_subdir(behind);
  if (const auto url = GoUrl::parse(package); url && !url->scheme.empty()) {
    return std::string(address);
  }
  auto detection = run_detectors(package);
  if (!detection) {
    return invalid_address(address, "is empty", "write the source of the module");
  }
  if (!*detection) {
    return tl::unexpected<Error>(std::move(detection->error()));
  }
  const auto [found, found_rest] = split_getter(**detection);
  auto [result, subdir] = split_subdir(found_rest);
  if (!own_subdir.empty()) {
    subdir = subdir.empty() ? own_subdir : clean_path(subdir + "/" + own_subdir);
  }
  if (!subdir.empty()) {
    auto joined = with_subdir(result, subdir);
    if (!joined) {
      return invalid_address(address, "does not make a valid URL", "escape \"%\" as %25");
    }
    result = std::move(*joined);
  }
  const std::string_view getter = forced.empty() ? found : forced;
  return getter.empty() ? result : fmt::format("{}::{}", getter, result);
}

Result<RemotePackage> describe_package(std::string_view package, const std::string& shown) {
  const auto [forced, rest] = split_getter(package);
  if (forced == "git" && rest.starts_with("codecommit:")) {
    return describe_codecommit(rest, shown);
  }
  if (!forced.empty() && names_transport_helper(rest)) {
    return fail(denied(shown, "\"::\" after the getter would run a transport helper of git",
                       "write only the URL, as in git::https://host/path"));
  }
  const auto alias = forced == "git" ? ssh_url(rest) : std::nullopt;
  auto url = GoUrl::parse(alias ? std::string_view(*alias) : rest);
  if (forced == "git" && url && (url->scheme == "git+ssh" || url->scheme == "ssh+git")) {
    url->scheme = "ssh";
  }
  if (!url) {
    return fail(invalid(shown, "is not a valid URL", "escape \"%\" as %25"));
  }
  const std::string_view getter = forced.empty() ? std::string_view(url->scheme) : forced;
  const SourceKind kind = kind_of_getter(getter);
  const QueryArguments query = parse_query(url->raw_query);
  MODLOCK_TRY(check_words(*url, query, shown));
  if (kind == SourceKind::git) {
    MODLOCK_TRY(check_git(*url, shown));
  }
  if (kind == SourceKind::archive) {  // a fragment is never sent
    url->fragment.clear();
    url->raw_fragment.clear();
  }
  if (kind != SourceKind::unsupported && url->scheme != "file" && url->host.empty()) {
    return fail(invalid(shown, "names no host", "write the whole URL, as in https://host/path"));
  }
  if (kind == SourceKind::directory && url->path.empty()) {
    return fail(invalid(shown, "names no path", "write file:///path"));
  }
  Source source = read_source(kind, getter, *url, query);
  source.host = ascii::lower(url->host);
  std::string ascii_host = source.host;
  if (kind != SourceKind::unsupported && !url->host.empty()) {
    MODLOCK_TRY(auto host, read_host(url->host, shown));
    source.host = std::move(host.display);
    ascii_host = std::move(host.ascii);
  }
  if (alias) {
    // url.<base>.insteadOf may have a rule for the alias. It applies only to relative paths, which lists reject.
    const std::string_view address = rest[rest.find(':') + 1] == '/' ? std::string_view(*alias) : rest;
    return RemotePackage{std::move(source), std::string(address.substr(0, address.find('?')))};
  }
  return RemotePackage{std::move(source), kind == SourceKind::git       ? git_url(*url, ascii_host)
                                          : kind == SourceKind::archive ? std::string(rest.substr(0, rest.find('#')))
                                                                        : std::string(rest)};
}

void serve_by_git_helper(SourceAddress& address) {
  Source& source = address.source;
  if (source.kind == SourceKind::unsupported && source.getter == kCodecommit) {
    source.kind = SourceKind::git;
    source.scheme = source.scheme == source.getter ? "codecommit" : "codecommit::" + source.scheme;
    source.getter = "git";
  }
}

bool is_shallow(const SourceAddress& address) {
  const std::string_view text = address.normalised.reveal();
  const QueryArguments query = parse_query(text.substr(std::min(text.find('?'), text.size() - 1) + 1));
  return std::ranges::any_of(query, [](const auto& argument) {
    const auto& [name, value] = argument;
    return name == "depth" && std::ranges::all_of(value, ascii::is_digit) &&
           value.find_first_not_of('0') != std::string::npos;
  });
}

}  // namespace modlock
