#include "plugin/config/provider_use.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "plugin/config/module_call.h"
#include "plugin/config/object_address.h"
#include "plugin/config/provider_reference.h"
#include "plugin/config/traversal.h"
#include "plugin/hcl/characters.h"

namespace modlock {
namespace {

using DeclaredBy = ProviderRequirement::DeclaredBy;

struct Resource {
  DeclaredBy origin = DeclaredBy::resource;
  std::string type;
  std::string address;  // "data.aws_ami.this"
  std::optional<ProviderReference> provider = {};
  bool broken = false;  // its `provider` argument is none
  const ConfigText* file = nullptr;
  Range header = {};
};

// The local name that a type implies: all before the first underscore.
std::string_view prefix_of(std::string_view type) {
  return type.substr(0, type.find('_'));
}

class UseReader {
 public:
  UseReader(ClientKind tool, Diagnostics& diagnostics) : tool_(tool), diagnostics_(diagnostics) {}

  void read_resources(const ConfigText& file) {
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == "resource") {
        add(file, block, DeclaredBy::resource, "");
      } else if (block.type == "data") {
        add(file, block, DeclaredBy::data, "data.");
      } else if (block.type == "ephemeral") {
        add(file, block, DeclaredBy::ephemeral, "ephemeral.");
      } else if (block.type == "check" && file.role == ConfigFile::Role::primary) {
        for (const hcl::Block& inner : block.body.blocks) {
          if (inner.type == "data") {
            add(file, inner, DeclaredBy::data, "data.");
          }
        }
      }
    }
  }

  void conclude_resources() {
    for (const Resource& resource : resources_) {
      if (resource.broken) {
        continue;
      }
      ProviderUse use{.origin = resource.origin,
                      .by = resource.address,
                      .local_name = {},
                      .implied = !resource.provider,
                      .location = {resource.file->path, resource.header},
                      .reference = resource.provider};
      if (resource.provider) {
        use.local_name = resource.provider->name;
      } else if (auto name = implied_name(resource.type, *resource.file, resource.header)) {
        use.local_name = std::move(*name);
      } else {
        continue;
      }
      uses_.push_back(std::move(use));
    }
  }

  void read_imports(const ConfigText& file) {
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == "import") {
        read_import(file, block);
      }
    }
  }

  std::vector<ProviderUse> take() { return std::move(uses_); }

 private:
  void add(const ConfigText& file, const hcl::Block& block, DeclaredBy origin, std::string_view prefix) {
    if (block.labels.size() != 2) {
      return;
    }
    const bool overrides = file.role == ConfigFile::Role::override_file;
    Resource resource{.origin = origin,
                      .type = block.labels[0].text,
                      .address = fmt::format("{}{}.{}", prefix, block.labels[0].text, block.labels[1].text),
                      .file = &file,
                      .header = block.header_range};
    if (const hcl::Attribute* provider = block.body.find("provider")) {
      resource.provider = read_provider_reference(provider->value, "provider", file, diagnostics_);
      resource.broken = !resource.provider;
    }
    const auto found = places_.find(resource.address);
    if (found == places_.end() && !overrides) {
      places_.emplace(resource.address, resources_.size());
      resources_.push_back(std::move(resource));
    } else if (found != places_.end() && overrides && (resource.provider || resource.broken)) {
      resources_[found->second].provider = std::move(resource.provider);
      resources_[found->second].broken = resource.broken;
    }
  }

  std::optional<std::string> implied_name(const std::string& type, const ConfigText& file, const Range& range) {
    const std::string_view prefix = prefix_of(type);
    auto name = normalize_provider_part(prefix);
    if (!name) {
      diagnostics_.push_back(
          config_error(file, range,
                       fmt::format("Invalid provider local name: {} is an invalid implied provider local name: {}",
                                   hcl::quoted_for_message(prefix), name.error().message),
                       "name the provider with the provider argument, or correct the type"));
      return std::nullopt;
    }
    return std::move(*name);
  }

  void read_import(const ConfigText& file, const hcl::Block& block) {
    const hcl::Attribute* to = block.body.find("to");
    const auto target = to != nullptr ? read_target(to->value, file) : std::nullopt;
    if (!target) {
      return;
    }
    ProviderUse use{.origin = DeclaredBy::import_block,
                    .by = target->to_string(),
                    .local_name = {},
                    .location = {file.path, block.header_range}};
    const hcl::Attribute* argument = block.body.find("provider");
    const bool counts = tool_ == ClientKind::opentofu || target->module.empty();
    if (argument == nullptr) {
      auto name = implied_name(target->type, file, block.header_range);
      if (!name) {
        return;
      }
      use.local_name = std::move(*name);
    } else {
      if (!target->module.empty()) {
        report_provider(file, *argument,
                        "it can only be given for resources of this module; those of another are configured by the "
                        "providers argument of the module block");
      }
      const auto reference = read_provider_reference(argument->value, "provider", file, diagnostics_);
      if (!reference) {
        return;
      }
      compare_with_resource(*target, *reference, file, *argument);
      use.local_name = reference->name;
      use.implied = false;
    }
    if (counts) {
      uses_.push_back(std::move(use));
    }
  }

  std::optional<ObjectAddress> read_target(const hcl::Expression& expression, const ConfigText& file) const {
    const auto traversal = read_traversal(expression, file.path, {.dynamic_keys = true});
    auto address = traversal ? read_object_address(*traversal, tool_) : std::nullopt;
    return address && !address->is_module() ? std::move(address) : std::nullopt;
  }

  // A resource that is written down says itself which provider it belongs to; the import block may only repeat it.
  void compare_with_resource(const ObjectAddress& target, const ProviderReference& reference, const ConfigText& file,
                             const hcl::Attribute& argument) {
    const auto found = !target.module.empty() ? places_.end() : places_.find(target.to_string());
    if (found == places_.end() || resources_[found->second].broken) {
      return;
    }
    const auto& provider = resources_[found->second].provider;
    if (!provider) {
      report_provider(file, argument, "the provider argument of the target resource must be given and be the same");
    } else if (provider->to_string() != reference.to_string()) {
      report_provider(file, argument, "it must be the same as the provider argument of the target resource");
    }
  }

  void report_provider(const ConfigText& file, const hcl::Attribute& argument, std::string_view reason) {
    diagnostics_.push_back(config_error(file, argument.range(),
                                        fmt::format("Invalid import provider argument: {}", reason),
                                        "name the provider in the resource block"));
  }

  ClientKind tool_;
  Diagnostics& diagnostics_;
  std::vector<Resource> resources_;
  std::map<std::string, std::size_t, std::less<>> places_;  // in resources_, by address
  std::vector<ProviderUse> uses_;
};

}  // namespace

std::vector<ProviderUse> read_provider_uses(const std::vector<ConfigText>& files, ClientKind tool,
                                            Diagnostics& diagnostics) {
  UseReader reader(tool, diagnostics);
  for (const auto role : {ConfigFile::Role::primary, ConfigFile::Role::override_file}) {
    for (const ConfigText& file : files) {
      if (file.role == role) {
        reader.read_resources(file);
      }
    }
  }
  reader.conclude_resources();
  for (const ConfigText& file : files) {
    if (file.role == ConfigFile::Role::primary) {
      reader.read_imports(file);
    }
  }
  return reader.take();
}

}  // namespace modlock
