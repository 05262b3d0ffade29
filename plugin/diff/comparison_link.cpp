#include "plugin/diff/comparison_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backends/address/go_url.h"

namespace modlock {
namespace {

// The page of a kind of host. {0} is the repository, {1} and {2} are the two references.
struct Host {
  std::string_view name;  // one or more whole labels of the host name
  std::string_view page;
};
constexpr std::array<Host, 6> kHosts = {{{"github", "{0}/compare/{1}...{2}"},
                                         {"gitlab", "{0}/-/compare/{1}...{2}"},
                                         {"gitea", "{0}/compare/{1}...{2}"},
                                         {"forgejo", "{0}/compare/{1}...{2}"},
                                         {"codeberg.org", "{0}/compare/{1}...{2}"},
                                         {"bitbucket.org", "{0}/branches/compare/{2}%0D{1}"}}};

}  // namespace

std::string comparison_link(const Source& source, std::string_view before, std::string_view after) {
  const std::string without_port = source.host.substr(0, source.host.find(':'));
  const auto host = std::ranges::find_if(kHosts, [&](const Host& one) {
    return fmt::format(".{}.", without_port).find(fmt::format(".{}.", one.name)) != std::string::npos;
  });
  if (!source.has_commits() || host == kHosts.end() || before.empty() || after.empty()) {
    return "";
  }
  std::string path = source.path;
  if (path.ends_with(".git")) {
    path.erase(path.size() - 4);
  }
  // The port of ssh is not that of the pages.
  const std::string name = source.scheme == "ssh" ? without_port : source.host;
  // The source of a nested call is a text of a package: nothing in it is markup of a report.
  return fmt::format(fmt::runtime(host->page), "https://" + percent_encoded(name + path, "/+:%"),
                     percent_encoded(before, "/+"), percent_encoded(after, "/+"));
}

}  // namespace modlock
