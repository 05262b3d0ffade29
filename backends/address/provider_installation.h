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

// `[host/]namespace/type`, where "*" stands for anything: one of the `include` or `exclude` patterns of a way to
// install providers (ParseMultiSourceMatchingPatterns of OpenTofu).
class ProviderPattern {
 public:
  // `default_host` completes two parts. Errors: SOURCE_INVALID naming the text (neither two nor three parts, a part
  // that is no name, a wildcard in front of a name).
  static Result<ProviderPattern> parse(std::string_view text, std::string_view default_host);

  bool matches(const ProviderAddress& provider) const;
  // The parts, "*" or a name; the host in ASCII.
  const std::string& host() const { return host_; }
  const std::string& name_space() const { return namespace_; }
  const std::string& type() const { return type_; }

 private:
  std::string host_;
  std::string namespace_;
  std::string type_;
};

// The block `provider_installation` of a client's CLI configuration: where providers come from.
struct ProviderInstallation {
  struct Method {
    enum class Kind { direct, filesystem_mirror, network_mirror, oci_mirror };
    Kind kind = Kind::direct;
    std::string location = {};  // the path or the URL, as written
    // Of an OCI mirror: the repository that has a provider, "example.com/mirror/hashicorp/aws".
    std::function<Result<std::string>(const ProviderAddress&)> repository = {};
    std::vector<ProviderPattern> include = {};  // empty: every provider
    std::vector<ProviderPattern> exclude = {};  // beats include
    std::optional<int> download_retries = {};
    bool trust_all_hashes = false;
    std::string from = {};  // "~/.tofurc:3"

    bool serves(const ProviderAddress& provider) const;
  };

  std::vector<Method> methods = {};  // the first that has a package gives it
  std::map<ProviderAddress, std::string> dev_overrides = {};
  std::string from = {};
};

}  // namespace modlock
