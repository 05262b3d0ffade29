#include "plugin/config/provider_requirement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "plugin/config/provider_declarations.h"
#include "plugin/constraint/provider_constraint.h"

namespace modlock {
namespace {

using DeclaredBy = ProviderRequirement::DeclaredBy;

// Combines the requirements of the parts of a module.
class RequirementReader {
 public:
  RequirementReader(const std::vector<ConfigText>& files, ClientKind tool, Diagnostics& diagnostics)
      : files_(files), tool_(tool), diagnostics_(diagnostics) {}

  std::vector<ProviderRequirement> read() {
    required_ = read_required_providers(files_, tool_, diagnostics_);
    add_required();
    add_blocks();
    add_uses();
    for (ProviderRequirement& requirement : requirements_) {
      check_constraint(requirement);
      check_address(requirement);
    }
    std::stable_sort(requirements_.begin(), requirements_.end(),
                     [](const auto& left, const auto& right) { return left.address < right.address; });
    return std::move(requirements_);
  }

 private:
  void add_required() {
    for (const auto& [name, entry] : required_) {
      requirements_.push_back({.address = entry.address,
                               .local_name = name,
                               .origin = DeclaredBy::required_providers,
                               .constraint = entry.constraint,
                               .location = entry.location});
    }
  }

  // Returns the address of a local name; reports an invalid one.
  std::optional<ProviderAddress> resolve(const std::string& local_name, const Location& location) {
    if (const auto found = required_.find(local_name); found != required_.end()) {
      return found->second.address;
    }
    auto address = ProviderAddress::implied(local_name, default_registry(tool_));
    if (!address) {
      Error error = std::move(address).error();
      error.location = location;
      diagnostics_.push_back({Severity::error, std::move(error)});
      return std::nullopt;
    }
    return std::move(*address);
  }

  void add_blocks() {
    for (ProviderBlock& block : read_provider_blocks(files_, diagnostics_)) {
      declared_.insert(block.name);
      if (auto address = resolve(block.name, block.location)) {
        requirements_.push_back({.address = std::move(*address),
                                 .local_name = block.name,
                                 .origin = DeclaredBy::provider_block,
                                 .constraint = std::move(block.constraint),
                                 .location = block.location});
      }
    }
  }

  void add_uses() {
    for (const ProviderUse& use : read_provider_uses(files_, tool_, diagnostics_)) {
      if (required_.count(use.local_name) != 0 || !declared_.insert(use.local_name).second) {
        continue;
      }
      if (auto address = resolve(use.local_name, use.location)) {
        requirements_.push_back({.address = std::move(*address),
                                 .local_name = use.local_name,
                                 .origin = use.origin,
                                 .by = use.by,
                                 .location = use.location});
      }
    }
  }

  // A requirement that an override file has replaced is not checked.
  void check_constraint(ProviderRequirement& requirement) {
    if (!requirement.constraint) {
      return;
    }
    if (auto read = ProviderConstraint::parse(requirement.constraint->text); !read) {
      Error error = std::move(read).error();
      error.location = std::move(requirement.constraint->location);
      diagnostics_.push_back({Severity::error, std::move(error)});
      requirement.constraint.reset();
    }
  }

  // A legacy address, which names no namespace, cannot be locked.
  void check_address(const ProviderRequirement& requirement) {
    if (requirement.address.is_legacy()) {
      diagnostics_.push_back(
          {Severity::error, Error{.code = Code::config_parse,
                                  .message = fmt::format("Invalid legacy provider address: the provider \"{}\" has no "
                                                         "namespace",
                                                         requirement.address.to_string()),
                                  .location = requirement.location,
                                  .hint = "write the namespace, for example \"hashicorp/aws\""}});
    }
  }

  const std::vector<ConfigText>& files_;
  ClientKind tool_;
  Diagnostics& diagnostics_;
  std::map<std::string, RequiredProvider, std::less<>> required_;  // by local name
  std::set<std::string> declared_;  // local names with a requirement besides those of required_providers
  std::vector<ProviderRequirement> requirements_;
};

}  // namespace

std::vector<ProviderRequirement> provider_requirements(const std::vector<ConfigText>& files, ClientKind tool,
                                                       Diagnostics& diagnostics) {
  return RequirementReader(files, tool, diagnostics).read();
}

void resolve_local_names(std::vector<ProviderRequirement>& requirements,
                         const std::vector<ProviderRequirement>& declared) {
  std::map<std::string_view, const ProviderAddress*> addresses;
  for (const ProviderRequirement& requirement : declared) {
    if (requirement.origin == DeclaredBy::required_providers) {
      addresses.emplace(requirement.local_name, &requirement.address);
    }
  }
  for (ProviderRequirement& requirement : requirements) {
    if (const auto found = addresses.find(requirement.local_name); found != addresses.end()) {
      requirement.address = *found->second;
    }
  }
  std::stable_sort(requirements.begin(), requirements.end(),
                   [](const auto& left, const auto& right) { return left.address < right.address; });
}

}  // namespace modlock
