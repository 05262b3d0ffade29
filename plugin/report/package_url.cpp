#include "plugin/report/package_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/address/go_url.h"
#include "backends/base/ascii.h"

namespace modlock {
namespace {

constexpr std::string_view kGitSuffix = ".git";

std::string without_suffix(std::string path) {
  if (path.ends_with(kGitSuffix)) {
    path.resize(path.size() - kGitSuffix.size());
  }
  return path;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Paths and qualifiers that come from an address are already percent-encoded: its "%" stays.
class Url {
 public:
  Url(std::string_view type, std::string_view path)
      : text_(fmt::format("pkg:{}/{}", type, percent_encoded(path, "/%"))) {}

  Url& at(const std::string& version) {
    if (!version.empty()) {
      text_ += "@" + percent_encoded(version);
    }
    return *this;
  }
  // Adds qualifiers in the order of their names, as in the canonical form.
  Url& with(std::vector<std::pair<std::string, std::string>> qualifiers) {
    std::sort(qualifiers.begin(), qualifiers.end());
    char sign = '?';
    for (const auto& [name, value] : qualifiers) {
      if (!value.empty()) {
        text_ += fmt::format("{}{}={}", sign, name, percent_encoded(value, "/:%"));
        sign = '&';
      }
    }
    return *this;
  }
  std::string below(const std::string& subdir) const {
    return subdir.empty() ? text_ : text_ + "#" + percent_encoded(subdir, "/");
  }

 private:
  std::string text_;
};

std::string first_of(std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) {
    if (!text.empty()) {
      return text;
    }
  }
  return {};
}

// GitHub, BitBucket and OCI ignore case; the canonical form is lower case.
std::string git_url(const Source& source, const ModuleLock& lock) {
  const std::string commit = lock.hash_value("git");
  const std::string path = without_suffix(source.path.substr(source.path.starts_with("/") ? 1 : 0));
  const std::string version = first_of({commit, lock.version.value_or("")});
  const bool is_repository_of_owner = std::count(path.begin(), path.end(), '/') == 1;
  if (is_repository_of_owner && (source.host == "github.com" || source.host == "bitbucket.org")) {
    const std::string_view type = source.host == "github.com" ? "github" : "bitbucket";
    return Url(type, ascii::lower(path)).at(version).below(source.subdir);
  }
  const std::string user = source.user.empty() ? "" : source.user + "@";
  const std::string repository = fmt::format("git+{}://{}{}{}", source.scheme, user, source.host, source.path);
  return Url("generic", package_name(source))
      .at(version)
      .with({{"vcs_url", commit.empty() ? repository : repository + "@" + commit}})
      .below(source.subdir);
}

std::string oci_url(const Source& source, const ModuleLock& lock) {
  return Url("oci", ascii::lower(package_name(source)))
      .at(lock.hash_value("oci"))
      .with({{"repository_url", ascii::lower(source.host + source.path)},
             {"tag", first_of({lock.version.value_or(""), source.query_value("tag")})}})
      .below(source.subdir);
}

std::string archive_url(const Source& source, const ModuleLock& lock) {
  const std::string zipped = lock.hash_value("zh");
  return Url("generic", package_name(source))
      .at(lock.version.value_or(""))
      .with({{"checksum", zipped.empty() ? "" : "sha256:" + zipped},
             {"download_url", fmt::format("{}://{}{}", source.scheme, source.host, source.path)}})
      .below(source.subdir);
}

}  // namespace

std::string package_name(const Source& source) {
  if (source.is_registry()) {
    return source.path.substr(source.path.find('/') + 1);
  }
  std::string path = source.path;
  while (path.ends_with("/")) {
    path.pop_back();
  }
  const std::string name = last_part(without_suffix(path));
  return name.empty() ? source.host : name;
}

std::string package_url(const Source& source, const ModuleLock& lock) {
  switch (source.kind) {
    case SourceKind::git:
      return git_url(source, lock);
    case SourceKind::oci:
      return oci_url(source, lock);
    case SourceKind::archive:
      return archive_url(source, lock);
    case SourceKind::registry:
      return Url("generic", source.path)
          .at(lock.version.value_or(""))
          .with({{"repository_url", source.host}})
          .below(source.subdir);
    default:
      return Url("generic", package_name(source))
          .at(lock.version.value_or(""))
          .with({{"download_url", source.package_identity()}})
          .below(source.subdir);
  }
}

std::string package_url(const ProviderAddress& provider, const std::string& version) {
  return Url("generic", provider.name_space() + "/terraform-provider-" + provider.type())
      .at(version)
      .with({{"repository_url", provider.host()}})
      .below("");
}

}  // namespace modlock
