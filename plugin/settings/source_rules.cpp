#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "plugin/settings/settings.h"

namespace modlock {
namespace {

std::string file_and_line(const Location& location) {
  return location.range ? fmt::format("{}:{}", location.path, location.range->start.line) : location.path;
}

tl::unexpected<Error> denied(std::string message, const Location& location) {
  return fail(Error{.code = Code::source_denied,
                    .message = std::move(message),
                    .location = location,
                    .hint = "use another source, or change the list"});
}

bool is_unreserved(int c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

// An escape of a character that needs none (RFC 3986, section 2.3).
bool has_needless_escape(std::string_view text) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    int code = 0;
    const std::string_view digits = text.substr(at + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error == std::errc{} && end == digits.data() + 2 && is_unreserved(code)) {
      return true;
    }
  }
  return false;
}

bool has_dot_segment(std::string_view path) {
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") {
      return true;
    }
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
  }
  return false;
}

// Whether an address has a plainer spelling that means the same, which a list could name instead: dot segments,
// needless escapes, a port with leading zeros, a host that ends with a dot.
bool has_other_spelling(std::string_view identity) {
  identity = identity.substr(0, identity.find('?'));
  const std::size_t mark = identity.find("://");
  if (mark == std::string_view::npos) {
    return false;
  }
  const std::string_view rest = identity.substr(mark + 3);
  const std::string_view authority = rest.substr(0, rest.find('/'));
  const std::size_t colon = authority.rfind(':');
  const bool odd_port = colon != std::string_view::npos && authority.substr(colon).starts_with(":0");
  return odd_port || authority.substr(0, colon).ends_with('.') || has_needless_escape(rest) ||
         has_dot_segment(rest.substr(authority.size()));
}

}  // namespace

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

Result<void> check_source_allowed(const Settings& settings, std::string_view identity) {
  const bool judged = !settings.deny_sources.empty() || !settings.allow_lists.empty();
  if (judged && has_other_spelling(identity)) {
    const Location& list =
        settings.deny_sources.empty() ? settings.allow_lists.front().location : settings.deny_sources.front().location;
    return denied(fmt::format("the source \"{}\" is not written in its plain form, so the lists of {} cannot judge it",
                              identity, file_and_line(list)),
                  list);
  }
  const auto matches = [&](const SourceText& glob) { return matches_glob(glob.text, identity); };
  const auto deny = std::find_if(settings.deny_sources.begin(), settings.deny_sources.end(), matches);
  if (deny != settings.deny_sources.end()) {
    return denied(
        fmt::format("the source \"{}\" is denied by \"{}\" in {}", identity, deny->text, file_and_line(deny->location)),
        deny->location);
  }
  for (const AllowList& list : settings.allow_lists) {
    if (std::none_of(list.globs.begin(), list.globs.end(), matches)) {
      return denied(fmt::format("the source \"{}\" matches no entry of allow_sources in {}", identity,
                                file_and_line(list.location)),
                    list.location);
    }
  }
  return {};
}

}  // namespace modlock
