#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "backends/address/provider_version.h"
#include "backends/address/source.h"
#include "backends/address/version.h"
#include "plugin/constraint/module_constraint.h"
#include "plugin/constraint/provider_constraint.h"
#include "protocol/base/result.h"

namespace modlock {

// Returns the host, in lower case, that rules name for the same server: "github.com" for "www.github.com" and
// "ssh.github.com:443". Any other host is returned unchanged.
std::string usual_host(std::string_view host);

// A glob of module sources and provider addresses as users write them: "github.com/acme/vpc", any other spelling of
// this repository's URL, "terraform-aws-modules/vpc/aws", "oci://registry.example.com/*", "hashicorp/aws". Hosts and
// paths are compared, not the protocol or the user, so that one pattern covers a repository over https and ssh. Letter
// case is ignored, as hosts of repositories do. A name without a host means both default registries. `//DIRECTORY`
// limits the pattern to one directory of the package.
class SourcePattern {
 public:
  // Errors: INVALID_PARAMS (a local path, a query, a release after `@`, or no name).
  static Result<SourcePattern> parse(std::string_view text);
  bool matches(const Source& source) const;
  bool matches(const ProviderAddress& provider) const;
  const std::string& text() const { return text_; }

 private:
  bool matches_name(std::string_view name) const;

  std::string text_;
  std::vector<std::string> globs_;  // of "host/path"
  std::string subdir_;              // empty: any
};

// A version constraint in the dialect of modules and in that of providers.
struct ReleaseVersions {
  ModuleConstraint of_module;
  ProviderConstraint of_provider;
  // Errors: CONSTRAINT_SYNTAX if either dialect rejects the text.
  static Result<ReleaseVersions> parse(std::string_view text);
};

// Checks a commit ("8f2c0d0", at least 7 digits), and a digest or hash ("sha256:…", "h1:…", "zh:…").
bool is_commit_prefix(std::string_view text);
bool is_content_digest(std::string_view text);

// Releases of sources: those whose version matches, or whose content has one of the ids. Without either, all of them.
struct ReleasePattern {
  SourcePattern source;
  std::optional<ReleaseVersions> versions = {};
  std::vector<std::string> ids = {};  // commits, which may be abbreviated, digests and hashes; in lower case except h1

  // Reads "SOURCE[@VERSION|COMMIT|DIGEST]". Errors: INVALID_PARAMS, naming the text.
  static Result<ReleasePattern> parse(std::string_view text);

  // `version`: if unknown, the version that the tag of the source names. `hashes`: as in a lock entry, "git:8f2c…". A
  // source that names the id of an annotated tag's object may have any version, and matches.
  bool matches(const Source& release_of, const std::optional<Version>& version,
               std::span<const std::string> hashes) const;
  bool matches(const ProviderAddress& release_of, const ProviderVersion& version,
               std::span<const std::string> hashes) const;

 private:
  bool has_id(std::span<const std::string> hashes) const;
};

}  // namespace modlock
