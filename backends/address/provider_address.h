#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "backends/address/source.h"
#include "protocol/base/result.h"

namespace modlock {

// A provider source address (`[host/][namespace/]type`), parsed and normalised as OpenTofu's registry-address library
// does. The rules: facts of ParseProviderSource in OpenTofu and Terraform.
class ProviderAddress {
 public:
  // `default_host` completes addresses of one or two parts: "registry.opentofu.org" or "registry.terraform.io". One
  // part has the namespace "hashicorp". Errors: SOURCE_INVALID in OpenTofu's words, naming the text (too many or empty
  // parts, a host that is none, characters that a namespace or type may not have, in two or three parts a type that
  // starts with "terraform-" or, for OpenTofu, "opentofu-"). So is a name that IDNA maps to one with dots or two
  // dashes, or to nothing: OpenTofu takes it here and could not read it back from its lock file.
  static Result<ProviderAddress> parse(std::string_view text, std::string_view default_host);
  // What a local name without a source stands for: `terraform` is the built-in provider, any other name
  // "<default_host>/hashicorp/<name>". Errors: SOURCE_INVALID where the name cannot be a type.
  static Result<ProviderAddress> implied(std::string_view local_name, std::string_view default_host);

  const std::string& host() const { return host_; }              // for display: Unicode, with ":port"
  const std::string& host_ascii() const { return host_ascii_; }  // for comparison and the network
  const std::string& name_space() const { return namespace_; }
  const std::string& type() const { return type_; }

  // "registry.opentofu.org/hashicorp/aws": the label in the lock file.
  std::string to_string() const;
  // Without the host where it is the default one: "hashicorp/aws", for people.
  std::string for_display(std::string_view default_host) const;

  // terraform.io/builtin/…, and opentofu.org/builtin/… but for Terraform, whose default host this is: part of the
  // client, never locked.
  bool is_builtin(std::string_view default_host) const;
  // "-/aws", which only states of Terraform 0.12 have.
  bool is_legacy() const;

  // OpenTofu's order in the lock file: host (ASCII), namespace, type, each bytewise.
  std::strong_ordering operator<=>(const ProviderAddress& other) const;
  bool operator==(const ProviderAddress& other) const { return (*this <=> other) == 0; }

 private:
  // What OpenTofu refuses of the whole address.
  std::optional<Error> find_problem(std::string_view default_host) const;

  std::string host_;
  std::string host_ascii_;
  std::string namespace_;
  std::string type_;
};

// A provider's type or namespace in normal form (lower case, IDNA mapped). Errors: SOURCE_INVALID saying what is wrong,
// without naming the text.
Result<std::string> normalize_provider_part(std::string_view text);

}  // namespace modlock
