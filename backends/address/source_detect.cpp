#include "backends/address/source_detect.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/address/source_text.h"

namespace modlock {
namespace {

// What one detector says: an address, an error, or nothing.
using Detection = std::optional<Result<std::string>>;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

Result<std::string> invalid(std::string_view address, std::string_view why, std::string hint = {}) {
  return fail(Code::source_invalid, fmt::format("the module source \"{}\" {}", printable_address(address), why),
              std::move(hint));
}

// The parts from `first` on, joined by slashes.
std::string join_from(const std::vector<std::string_view>& parts, std::size_t first) {
  return fmt::format("{}", fmt::join(parts.begin() + static_cast<std::ptrdiff_t>(first), parts.end(), "/"));
}

Result<std::string> reprint(std::string_view address, std::string_view getter, const std::string& url_text) {
  const auto url = GoUrl::parse(url_text);
  if (!url) {
    return invalid(address, "does not make a valid URL", "escape \"%\" as %25");
  }
  return fmt::format("{}::{}", getter, url->to_string());
}

Detection detect_github(std::string_view address) {
  if (!starts_with(address, "github.com/")) {
    return std::nullopt;
  }
  const std::string_view location = address.substr(0, address.find('?'));
  const auto parts = split(location, '/');
  if (parts.size() < 3) {
    return invalid(address, "must name an owner and a repository, as in github.com/owner/repository",
                   "write the whole address");
  }
  auto url = GoUrl::parse(fmt::format("https://{}/{}/{}", parts[0], parts[1], parts[2]));
  if (!url) {
    return invalid(address, "does not make a valid URL", "escape \"%\" as %25");
  }
  if (!ends_with(url->path, ".git")) {
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

// The host and path of "host:path" or "host:/path".
std::optional<std::pair<std::string_view, std::string_view>> match_scp(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == text.size()) {
    return std::nullopt;
  }
  const std::string_view path = text.substr(colon + 1);
  return std::pair(text.substr(0, colon), path.size() > 1 && path[0] == '/' ? path.substr(1) : path);
}

// [user@]host:path, of which only the user "git" counts; but a query is read, and refused, with any.
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
    return invalid(address, "has a query that is not valid", "escape \"%\" as %25 and \";\" as %3B");
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
  if (!starts_with(address, "bitbucket.org/")) {
    return std::nullopt;
  }
  const std::string_view location = address.substr(0, address.find_first_of("?#"));
  return fail(Code::source_unsupported,
              fmt::format("the module source \"{}\" is a shorthand that only a request to Bitbucket can resolve",
                          printable_address(address)),
              fmt::format("write the full URL: \"git::https://{}{}\"", printable_address(location),
                          ends_with(location, ".git") ? "" : ".git"));
}

Detection detect_gcs(std::string_view address) {
  if (address.find(".googleapis.com/") == std::string_view::npos) {
    return std::nullopt;
  }
  const auto parts = split(address, '/');
  if (parts.size() < 5) {
    return invalid(address, "is not a Google Cloud Storage address: expected version, bucket and object",
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
  return invalid(address, "is not an S3 address: expected bucket and region in the host name",
                 "write the whole address");
}

Detection detect_path(std::string_view address) {
  if (address.empty()) {
    return std::nullopt;
  }
  if (address[0] != '/' && address.find("://") != std::string_view::npos) {
    return invalid(address, "is not a valid URL", "to give a path after a colon, write git@host:path without ssh://");
  }
  if (address[0] != '/') {
    return invalid(
        address, "is of no known kind",
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

// The address with a subdirectory in front of its query. Go encodes the whole path anew for that.
std::optional<std::string> with_subdir(const std::string& package, const std::string& subdir) {
  auto url = GoUrl::parse(package);
  if (!url) {
    return std::nullopt;
  }
  url->path += "//" + subdir;
  url->raw_path = url->path;
  return url->to_string();
}

}  // namespace

Result<std::string> detect_package(std::string_view address) {
  const auto [forced, behind] = split_getter(address);
  const auto [package, own_subdir] = split_subdir(behind);
  if (const auto url = GoUrl::parse(package); url && !url->scheme.empty()) {
    return std::string(address);
  }
  auto detection = run_detectors(package);
  if (!detection) {
    return invalid(address, "is empty", "write the source of the module");
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
      return invalid(address, "does not make a valid URL", "escape \"%\" as %25");
    }
    result = std::move(*joined);
  }
  const std::string_view getter = forced.empty() ? found : forced;
  return getter.empty() ? result : fmt::format("{}::{}", getter, result);
}

}  // namespace modlock
