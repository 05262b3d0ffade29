#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock {

// The operating system and architecture that a provider package is built for, as Go names them.
struct Platform {
  std::string os;
  std::string arch;

  // Parses "linux_amd64": exactly one underscore, no empty part, no blanks (ParsePlatform of OpenTofu). Because it
  // becomes part of a URL and of a path, only ASCII letters, digits and "-" are allowed. Errors: INVALID_PARAMS naming
  // the text.
  static Result<Platform> parse(std::string_view text);
  static Platform current();

  std::string to_string() const { return os + "_" + arch; }
  auto operator<=>(const Platform&) const = default;
};

// A provider source address (`[host/][namespace/]type`), parsed and normalized as OpenTofu's registry-address library
// does. The rules are those of ParseProviderSource in OpenTofu and Terraform.
class ProviderAddress {
 public:
  // `default_host` completes addresses of one or two parts: "registry.opentofu.org" or "registry.terraform.io". The
  // default namespace of one part is "hashicorp". Errors: SOURCE_INVALID with OpenTofu's wording, naming the text (too
  // many or empty parts, an invalid host, invalid characters in a namespace or type; in two or three parts a type that
  // starts with "terraform-" or, for OpenTofu, "opentofu-"). Also rejected is a name that IDNA maps to one with dots or
  // two dashes, or to an empty one: OpenTofu accepts it here but could not read it back from its lock file.
  static Result<ProviderAddress> parse(std::string_view text, std::string_view default_host);
  // Returns the address of a local name without a source: `terraform` is the built-in provider, any other name is
  // "<default_host>/hashicorp/<name>". Errors: SOURCE_INVALID if the name cannot be a type.
  static Result<ProviderAddress> implied(std::string_view local_name, std::string_view default_host);

  const std::string& host() const { return host_; }              // for display: Unicode, with ":port"
  const std::string& host_ascii() const { return host_ascii_; }  // for comparison and the network
  const std::string& name_space() const { return namespace_; }
  const std::string& type() const { return type_; }

  // "registry.opentofu.org/hashicorp/aws": the label in the lock file.
  std::string to_string() const;
  // Omits the default host: "hashicorp/aws", for people.
  std::string for_display(std::string_view default_host) const;

  // Returns whether it is part of the client and never locked: terraform.io/builtin/…, and also opentofu.org/builtin/…
  // unless the default host is Terraform's.
  bool is_builtin(std::string_view default_host) const;
  // Returns whether it is like "-/aws", which only states of Terraform 0.12 have.
  bool is_legacy() const;

  // OpenTofu's order in the lock file: host (ASCII), namespace, type, each bytewise.
  std::strong_ordering operator<=>(const ProviderAddress& other) const;
  bool operator==(const ProviderAddress& other) const { return (*this <=> other) == 0; }

 private:
  // Applies OpenTofu's rules for the whole address.
  std::optional<Error> find_problem(std::string_view default_host) const;

  std::string host_;
  std::string host_ascii_;
  std::string namespace_;
  std::string type_;
};

// Returns a provider's type or namespace in normal form (lower case, IDNA mapped). Errors: SOURCE_INVALID with the
// reason, without naming the text.
Result<std::string> normalize_provider_part(std::string_view text);

// `[host/]namespace/type` with "*" as a wildcard: one of the `include` or `exclude` patterns of an installation method
// (ParseMultiSourceMatchingPatterns of OpenTofu).
class ProviderPattern {
 public:
  // `default_host` completes two parts. Errors: SOURCE_INVALID naming the text (neither two nor three parts, an invalid
  // part, a wildcard before a name).
  static Result<ProviderPattern> parse(std::string_view text, std::string_view default_host);

  bool matches(const ProviderAddress& provider) const;
  // The parts, each "*" or a name; the host in ASCII.
  const std::string& host() const { return host_; }
  const std::string& name_space() const { return namespace_; }
  const std::string& type() const { return type_; }

 private:
  std::string host_;
  std::string namespace_;
  std::string type_;
};

// The block `provider_installation` of a client's CLI configuration, which lists the sources of providers.
struct ProviderInstallation {
  struct Method {
    enum class Kind { direct, filesystem_mirror, network_mirror, oci_mirror };
    Kind kind = Kind::direct;
    std::string location = {};  // the path or the URL, as written
    // For an OCI mirror: returns the repository of a provider, "example.com/mirror/hashicorp/aws".
    std::function<Result<std::string>(const ProviderAddress&)> repository = {};
    std::vector<ProviderPattern> include = {};  // empty: every provider
    std::vector<ProviderPattern> exclude = {};  // takes precedence over include
    std::optional<int> download_retries = {};
    bool trust_all_hashes = false;
    std::string from = {};  // "~/.tofurc:3"

    bool serves(const ProviderAddress& provider) const;
  };

  std::vector<Method> methods = {};  // the first one that has a package serves it
  std::map<ProviderAddress, std::string> dev_overrides = {};
  std::string from = {};
};

}  // namespace modlock
