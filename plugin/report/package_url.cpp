#include "plugin/report/package_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/address/go_url.h"
#include "backends/base/ascii.h"

namespace modlock {
namespace {

std::string without_suffix(const std::string& path) {
  return path.substr(0, path.size() - (path.ends_with(".git") ? 4 : 0));
}

// Paths and qualifiers that come from an address are already percent-encoded: its "%" stays. Qualifiers are in the
// order of their names, as in the canonical form; those without a value are left out.
std::string new_url(std::string_view type, const std::string& path, const std::string& version,
                    const std::map<std::string_view, std::string>& qualifiers, const std::string& subdir) {
  std::string url = fmt::format("pkg:{}/{}", type, percent_encoded(path, "/%"));
  url += version.empty() ? "" : "@" + percent_encoded(version);
  char sign = '?';
  for (const auto& [name, value] : qualifiers) {
    if (!value.empty()) {
      url += fmt::format("{}{}={}", sign, name, percent_encoded(value, "/:%"));
      sign = '&';
    }
  }
  return url + (subdir.empty() ? "" : "#" + percent_encoded(subdir, "/"));
}

// GitHub, BitBucket and OCI ignore case; the canonical form is lower case.
std::string git_url(const Source& source, const ModuleLock& lock) {
  const std::string commit = lock.hash_value("git");
  const std::string path = without_suffix(source.path.substr(source.path.starts_with("/") ? 1 : 0));
  const std::string version = commit.empty() ? lock.version.value_or("") : commit;
  const bool is_repository_of_owner = std::ranges::count(path, '/') == 1;
  if (is_repository_of_owner && (source.host == "github.com" || source.host == "bitbucket.org")) {
    const std::string_view type = source.host == "github.com" ? "github" : "bitbucket";
    return new_url(type, ascii::lower(path), version, {}, source.subdir);
  }
  const std::string user = source.user.empty() ? "" : source.user + "@";
  const std::string repository = fmt::format("git+{}://{}{}{}", source.scheme, user, source.host, source.path);
  return new_url("generic", package_name(source), version,
                 {{"vcs_url", commit.empty() ? repository : repository + "@" + commit}}, source.subdir);
}

std::string oci_url(const Source& source, const ModuleLock& lock) {
  const std::string version = lock.version.value_or("");
  return new_url("oci", ascii::lower(package_name(source)), lock.hash_value("oci"),
                 {{"repository_url", ascii::lower(source.host + source.path)},
                  {"tag", version.empty() ? source.named_reference() : version}},
                 source.subdir);
}

std::string archive_url(const Source& source, const ModuleLock& lock) {
  const std::string zipped = lock.hash_value("zh");
  return new_url("generic", package_name(source), lock.version.value_or(""),
                 {{"checksum", zipped.empty() ? "" : "sha256:" + zipped},
                  {"download_url", fmt::format("{}://{}{}", source.scheme, source.host, source.path)}},
                 source.subdir);
}

}  // namespace

std::string package_name(const Source& source) {
  if (source.is_registry()) {
    return source.path.substr(source.path.find('/') + 1);
  }
  std::string path = source.path;
  path.erase(path.find_last_not_of('/') + 1);
  const std::string name = without_suffix(path.substr(path.rfind('/') + 1));
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
      return new_url("generic", source.path, lock.version.value_or(""), {{"repository_url", source.host}},
                     source.subdir);
    default:
      return new_url("generic", package_name(source), lock.version.value_or(""),
                     {{"download_url", source.package_identity()}}, source.subdir);
  }
}

std::string package_url(const ProviderAddress& provider, const std::string& version) {
  return new_url("generic", provider.name_space() + "/terraform-provider-" + provider.type(), version,
                 {{"repository_url", provider.host()}}, "");
}

}  // namespace modlock
