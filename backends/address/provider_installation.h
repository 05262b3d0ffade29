#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/address/provider_address.h"
#include "protocol/base/result.h"

namespace modlock {

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
