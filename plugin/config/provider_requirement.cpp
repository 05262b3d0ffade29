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

// Puts together what the parts of a module require.
class RequirementReader {
 public:
  RequirementReader(const ProviderDeclarations& written, ClientKind tool, Diagnostics& diagnostics)
      : written_(written), tool_(tool), diagnostics_(diagnostics) {}

  std::vector<ProviderRequirement> read() {
    add_required();
    add_blocks();
    add_uses();
    warn_of_repeated_entries();
    warn_of_other_names();
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
    for (const auto& [name, entry] : written_.required) {
      requirements_.push_back({.address = entry.address,
                               .local_name = name,
                               .origin = DeclaredBy::required_providers,
                               .constraint = entry.constraint,
                               .location = entry.location});
    }
  }

  // The address that a local name stands for; an impossible one is reported.
  std::optional<ProviderAddress> resolve(const std::string& local_name, const Location& location) {
    if (const auto found = written_.required.find(local_name); found != written_.required.end()) {
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
    for (const ProviderBlock& block : written_.blocks) {
      declared_.insert(block.name);
      if (auto address = resolve(block.name, block.location)) {
        requirements_.push_back({.address = std::move(*address),
                                 .local_name = block.name,
                                 .origin = DeclaredBy::provider_block,
                                 .constraint = block.constraint,
                                 .location = block.location});
      }
    }
  }

  void add_uses() {
    for (const ProviderUse& use : written_.uses) {
      if (written_.required.count(use.local_name) != 0 || !declared_.insert(use.local_name).second) {
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

  void warn(const Location& location, std::string message, std::string hint) {
    diagnostics_.push_back({Severity::warning, Error{.code = Code::config_parse,
                                                     .message = std::move(message),
                                                     .location = location,
                                                     .hint = std::move(hint)}});
  }

  std::string display(const ProviderAddress& address) const { return address.for_display(default_registry(tool_)); }

  void warn_of_repeated_entries() {
    for (const auto& [name, entry] : written_.required) {
      const Location location{entry.file->path, entry.value_range};
      const auto [place, added] = names_.emplace(entry.address, name);
      if (!added) {
        warn(location,
             fmt::format("Duplicate required provider: {} with the local name \"{}\" was previously required as \"{}\"",
                         display(entry.address), name, place->second),
             "require each provider once in required_providers");
        continue;
      }
      const std::string& type = entry.address.type();
      const bool is_default = entry.address.name_space() == "hashicorp" && name != type &&
                              entry.address.host_ascii() == default_registry(tool_);
      if (is_default && std::any_of(written_.blocks.begin(), written_.blocks.end(),
                                    [&](const ProviderBlock& block) { return block.name == type; })) {
        warn(location,
             fmt::format("Duplicate required provider: {} with the local name \"{}\" was implicitly required by a "
                         "provider block as \"{}\"",
                         display(entry.address), name, type),
             "give the provider block the name that required_providers has");
      }
    }
  }

  void warn_of_other_names() {
    for (const ProviderUse& use : written_.uses) {
      if (!use.implied || use.origin == DeclaredBy::import_block || written_.required.count(use.local_name) != 0) {
        continue;
      }
      const auto address = ProviderAddress::implied(use.local_name, default_registry(tool_));
      const auto found = address ? names_.find(*address) : names_.end();
      if (found != names_.end()) {
        warn(use.location,
             fmt::format("Duplicate required provider: {} was implicitly required by {}, but is listed in "
                         "required_providers as \"{}\"",
                         display(*address), use.by, found->second),
             fmt::format("write provider = {0} in the block, or name the provider in required_providers as its types "
                         "begin",
                         found->second));
      }
    }
  }

  // One that an override file has replaced is not among them: OpenTofu does not read it in this dialect either.
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

  // What OpenTofu says only when it installs, of addresses that nothing can be installed for.
  void check_address(const ProviderRequirement& requirement) {
    const ProviderAddress& address = requirement.address;
    const auto reject = [&](const Location& location, std::string message, std::string hint) {
      diagnostics_.push_back({Severity::error, Error{.code = Code::config_parse,
                                                     .message = std::move(message),
                                                     .location = location,
                                                     .hint = std::move(hint)}});
    };
    if (address.is_builtin(default_registry(tool_)) && address.type() != "terraform") {
      reject(requirement.location,
             fmt::format("Invalid dependency on built-in provider: {} has no built-in provider named \"{}\"",
                         display_name(tool_), address.type()),
             "the only built-in provider is terraform.io/builtin/terraform");
    } else if (address.is_builtin(default_registry(tool_)) && requirement.constraint) {
      reject(requirement.constraint->location,
             fmt::format("Invalid dependency on built-in provider: {} does not support an explicit version constraint",
                         address.to_string()),
             "remove the version");
    } else if (address.is_legacy()) {
      reject(requirement.location,
             fmt::format("Invalid legacy provider address: the provider \"{}\" has no namespace", address.to_string()),
             "write the namespace, for example \"hashicorp/aws\"");
    } else if (requirement.origin == DeclaredBy::required_providers && address.name_space() == "hashicorp" &&
               address.type() == "terraform" &&
               (address.host_ascii() == kOpenTofuRegistry || address.host_ascii() == kTerraformRegistry)) {
      warn(requirement.location,
           fmt::format("{} is an old release of the built-in provider terraform.io/builtin/terraform, which {} has in "
                       "itself",
                       address.to_string(), display_name(tool_)),
           "remove the entry: the built-in provider needs none");
    }
  }

  const ProviderDeclarations& written_;
  ClientKind tool_;
  Diagnostics& diagnostics_;
  std::set<std::string> declared_;                // local names with a requirement besides those of required_providers
  std::map<ProviderAddress, std::string> names_;  // the local name that required_providers has for an address
  std::vector<ProviderRequirement> requirements_;
};

}  // namespace

ProviderDeclarations read_written_providers(const std::vector<ConfigText>& files, ClientKind tool,
                                            Diagnostics& diagnostics) {
  auto required = read_required_providers(files, tool, diagnostics);
  auto blocks = read_provider_blocks(files, diagnostics);
  return {std::move(required), std::move(blocks), read_provider_uses(files, tool, diagnostics)};
}

std::vector<ProviderRequirement> provider_requirements(const ProviderDeclarations& written, ClientKind tool,
                                                       Diagnostics& diagnostics) {
  return RequirementReader(written, tool, diagnostics).read();
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
