#include "backends/address/source_remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/address/hostname.h"
#include "backends/address/source_text.h"
#include "protocol/base/result.h"

namespace modlock {
namespace {

struct GetterKind {
  std::string_view getter;
  SourceKind kind;
};

constexpr std::array kGetterKinds = {
    GetterKind{"git", SourceKind::git},        GetterKind{"oci", SourceKind::oci},
    GetterKind{"https", SourceKind::archive},  GetterKind{"http", SourceKind::archive},
    GetterKind{"file", SourceKind::directory}, GetterKind{"hg", SourceKind::hg},
    GetterKind{"s3", SourceKind::s3},          GetterKind{"gcs", SourceKind::gcs},
};
constexpr std::array<std::string_view, 5> kGitSchemes = {"https", "http", "ssh", "git", "file"};
constexpr std::array<std::string_view, 6> kIdentityArguments = {"ref", "rev", "tag", "digest", "archive", "checksum"};
constexpr std::array<std::string_view, 5> kNotForGit = {"ref", "depth", "sshkey", "archive", "checksum"};

template <typename Set>
bool is_one_of(const Set& set, std::string_view value) {
  return std::find(set.begin(), set.end(), value) != set.end();
}

SourceKind kind_of(std::string_view getter) {
  const auto* const found = std::find_if(kGetterKinds.begin(), kGetterKinds.end(),
                                         [&](const GetterKind& row) { return row.getter == getter; });
  return found == kGetterKinds.end() ? SourceKind::unsupported : found->kind;
}

Error invalid(const std::string& shown, std::string_view why, std::string hint = {}) {
  return {.code = Code::source_invalid,
          .message = fmt::format("the module source \"{}\" {}", shown, why),
          .hint = std::move(hint)};
}

Error denied(const std::string& shown, std::string_view why, std::string hint) {
  return {.code = Code::source_denied,
          .message = fmt::format("the module source \"{}\" is refused: {}", shown, why),
          .hint = std::move(hint)};
}

// "word::…", with which git starts the program git-remote-word.
bool names_transport_helper(std::string_view text) {
  const std::size_t end = text.find("::");
  const std::string_view word = text.substr(0, std::min(end, text.size()));
  return end != std::string_view::npos && word.find_first_of("/?#[@") == std::string_view::npos;
}

Result<void> check_git(const GoUrl& url, const std::string& shown) {
  if (!is_one_of(kGitSchemes, url.scheme)) {
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
    return fail(invalid(shown, "names no repository", "write its path behind the host"));
  }
  return {};
}

// The name of "name:port" (or "[address]:port") and ":port" with its colon.
std::pair<std::string, std::string> split_port(const std::string& host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.find(':', bracket == std::string::npos ? 0 : bracket);
  return {host.substr(0, colon), colon == std::string::npos ? std::string() : host.substr(colon)};
}

// What would read as an option on some command line, or as a second line in some protocol.
Result<void> check_words(const GoUrl& url, const QueryArguments& query, const std::string& shown) {
  const std::string user = url.user ? url.user->name : std::string();
  const std::string password = url.user ? url.user->password.value_or("") : std::string();
  std::vector<std::string> words = {user, password, url.host, url.path, url.fragment, percent_decode(url.opaque)};
  for (const auto& [key, value] : query) {
    words.push_back(key);
    words.push_back(value);
  }
  if (std::any_of(words.begin(), words.end(), has_control_characters)) {
    return fail(invalid(shown, "has an escaped control character or line end", "remove it"));
  }
  if (!std::all_of(words.begin(), words.end(), is_utf8)) {
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
    if ((key == "ref" || key == "rev" || key == "tag") && is_option(value)) {
      option = key;
    }
  }
  if (!option.empty()) {
    return fail(denied(shown, fmt::format("its {} starts with \"-\" and could be taken for an option", option),
                       "write a name that starts with another character"));
  }
  return {};
}

std::string to_lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// What a server's name is made of; an underscore is common on private networks.
bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  });
}

// Both forms of the host of a URL, with its port. Only names beyond ASCII are held to IDNA.
Result<HostForms> read_host(const std::string& host, const std::string& shown) {
  auto [name, port] = split_port(to_lower(host));
  port = port == ":" ? std::string() : port;
  std::uint16_t number = 0;
  const char* const end = port.data() + port.size();
  if (!port.empty() && std::from_chars(port.data() + 1, end, number) != std::from_chars_result{end, std::errc()}) {
    return fail(invalid(shown, "has a port that is not a number up to 65535",
                        "to give a path after a colon, write git@host:path without ssh://"));
  }
  if (name.substr(0, 1) != "[" && !is_name(name)) {
    return fail(invalid(shown, "has a host that is not a valid name", "write the host as DNS knows it"));
  }
  if (const auto forms = lookup_host(name)) {
    return HostForms{forms->ascii + port, forms->display + port};
  }
  if (!is_ascii(name)) {
    return fail(invalid(shown, "has a host that is not a valid internationalised name", "write the host in punycode"));
  }
  return HostForms{name + port, name + port};
}

std::string git_url(GoUrl url, const std::string& ascii_host) {
  QueryArguments query = parse_query(url.raw_query);
  const auto end = std::remove_if(query.begin(), query.end(),
                                  [](const auto& argument) { return is_one_of(kNotForGit, argument.first); });
  query.erase(end, query.end());
  url.raw_query = encode_query(std::move(query));
  url.force_query = false;
  const bool ascii =
      std::all_of(url.host.begin(), url.host.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!ascii) {
    url.host = ascii_host;
  }
  return url.to_string();
}

// The address of a list of checksums may hold secrets as that of a package may. A list has no arguments of ours, so its
// query goes whole.
std::string shown_checksum(const std::string& argument) {
  if (const auto list = checksum_list_address(argument)) {
    const auto described = describe_package(list->substr(0, list->find_first_of("?#")), {});
    if (described && described->source.kind == SourceKind::archive) {
      return "file:" + described->source.identity();
    }
  }
  return is_plain_checksum(argument) ? argument : printable_address(argument);
}

// Only the first of a repeated argument counts, and an empty one as none: so go-getter reads them.
QueryArguments identity_query(const QueryArguments& query) {
  QueryArguments kept;
  for (const auto& argument : query) {
    const auto same_key = [&](const auto& other) { return other.first == argument.first; };
    if (is_one_of(kIdentityArguments, argument.first) && std::none_of(kept.begin(), kept.end(), same_key)) {
      kept.emplace_back(argument.first,
                        argument.first == "checksum" ? shown_checksum(argument.second) : argument.second);
    }
  }
  kept.erase(std::remove_if(kept.begin(), kept.end(), [](const auto& argument) { return argument.second.empty(); }),
             kept.end());
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
    // go-getter opens the path as it was written, escapes included, unless it was written in the default encoding.
    source.path = url.raw_path.empty() ? url.path : url.raw_path;
  }
  source.query = identity_query(query);
  return source;
}

}  // namespace

Result<RemotePackage> describe_package(std::string_view package, const std::string& shown) {
  const auto [forced, rest] = split_getter(package);
  if (!forced.empty() && names_transport_helper(rest)) {
    return fail(denied(shown, "\"::\" behind the getter would run a transport helper of git",
                       "write the URL alone, as in git::https://host/path"));
  }
  const auto url = GoUrl::parse(rest);
  if (!url) {
    return fail(invalid(shown, "is not a valid URL", "escape \"%\" as %25"));
  }
  const std::string_view getter = forced.empty() ? std::string_view(url->scheme) : forced;
  const SourceKind kind = kind_of(getter);
  const QueryArguments query = parse_query(url->raw_query);
  MODLOCK_TRY(check_words(*url, query, shown));
  if (kind == SourceKind::git) {
    MODLOCK_TRY(check_git(*url, shown));
  }
  if (kind == SourceKind::archive && !url->fragment.empty()) {
    return fail(Code::source_unsupported,
                fmt::format("the module source \"{}\" has a fragment (\"#…\"), which no server is sent", shown),
                "remove it, or escape the \"#\" as %23");
  }
  if (kind != SourceKind::unsupported && url->scheme != "file" && url->host.empty()) {
    return fail(invalid(shown, "names no host", "write the whole URL, as in https://host/path"));
  }
  if (kind == SourceKind::directory && url->path.empty()) {
    return fail(invalid(shown, "names no path", "write file:///path"));
  }
  Source source = read_source(kind, getter, *url, query);
  source.host = to_lower(url->host);
  std::string ascii_host = source.host;
  if (kind != SourceKind::unsupported && !url->host.empty()) {
    MODLOCK_TRY(auto host, read_host(url->host, shown));
    source.host = std::move(host.display);
    ascii_host = std::move(host.ascii);
  }
  return RemotePackage{std::move(source), kind == SourceKind::git ? git_url(*url, ascii_host) : std::string(rest)};
}

}  // namespace modlock
