#include <fmt/format.h>

#include <map>
#include <tuple>

#include "plugin/config/module_call.h"
#include "plugin/config/provider_reference.h"
#include "plugin/config/provider_use.h"
#include "plugin/config/required_providers.h"
#include "plugin/hcl/value.h"

namespace modlock {
namespace {

std::string read_alias(const hcl::Block& block, const ConfigText& file) {
  const hcl::Attribute* attribute = block.body.find("alias");
  const auto value = attribute != nullptr ? hcl::static_value(attribute->value, file.path) : hcl::Value{};
  return value && value->as_string() != nullptr ? *value->as_string() : std::string();
}

std::optional<Written> read_version(const hcl::Block& block, const ConfigText& file, Diagnostics& diagnostics) {
  const hcl::Attribute* attribute = block.body.find("version");
  if (attribute == nullptr) {
    return std::nullopt;
  }
  const Range& range = attribute->value.range;
  Diagnostic deprecated =
      config_error(file, range, "Version constraints inside provider configuration blocks are deprecated",
                   "move the constraint into required_providers");
  deprecated.severity = Severity::warning;
  diagnostics.push_back(std::move(deprecated));
  const auto value = hcl::static_value(attribute->value, file.path);
  if (value && value->is_null()) {
    return std::nullopt;
  }
  const auto* number = value ? std::get_if<hcl::NumberValue>(&value->data) : nullptr;
  if (number == nullptr && (!value || value->as_string() == nullptr)) {
    diagnostics.push_back(config_error(file, range,
                                       "Invalid version constraint: the version must be a string that is written out",
                                       "write the constraint, for example \"~> 5.0\""));
    return std::nullopt;
  }
  return read_provider_constraint(number != nullptr ? number->text : *value->as_string(), {file.path, range},
                                  diagnostics);
}

}  // namespace

std::vector<ProviderBlock> read_provider_blocks(const std::vector<ConfigText>& files, Diagnostics& diagnostics) {
  std::vector<ProviderBlock> blocks;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  const auto read = [&](const ConfigText& file, const hcl::Block& block) {
    if (block.labels.size() != 1 ||
        !check_local_name(block.labels.front().text, file, block.header_range, diagnostics)) {
      return;
    }
    ProviderBlock result{.name = block.labels.front().text,
                         .alias = read_alias(block, file),
                         .constraint = read_version(block, file, diagnostics),
                         .location = {file.path, block.header_range}};
    const std::string scope = file.role == ConfigFile::Role::test ? file.path : std::string();
    const auto [place, added] = places.emplace(std::tuple(scope, result.name, result.alias), blocks.size());
    if (added) {
      blocks.push_back(std::move(result));
    } else if (file.role == ConfigFile::Role::override_file && result.constraint) {
      blocks[place->second].constraint = std::move(result.constraint);
    }
  };
  for (const bool overrides : {false, true}) {
    for (const ConfigText& file : files) {
      if ((file.role == ConfigFile::Role::override_file) != overrides) {
        continue;
      }
      for (const hcl::Block& block : file.parsed.body.blocks) {
        if (block.type == "provider") {
          read(file, block);
        }
      }
    }
  }
  return blocks;
}

}  // namespace modlock
