#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "plugin/config/module_call.h"
#include "plugin/config/provider_reference.h"
#include "plugin/config/provider_use.h"
#include "plugin/config/required_providers.h"
#include "plugin/eval/constant_value.h"
#include "plugin/value/convert.h"

namespace modlock {
namespace {

// A constant as a string, which may be null; nullopt: it is none.
std::optional<eval::Value> read_text(const hcl::Attribute& attribute, const ConfigText& file) {
  const auto value = eval::constant_value(attribute.value, file.json, file.path);
  const auto text = value ? eval::convert(*value, eval::Type::string()) : tl::unexpected(eval::ConversionError());
  return text ? std::optional(*text) : std::nullopt;
}

std::string read_alias(const hcl::Block& block, const ConfigText& file) {
  const hcl::Attribute* attribute = block.body.find("alias");
  const auto text = attribute != nullptr ? read_text(*attribute, file) : std::nullopt;
  return text && !text->is_null() ? text->as_string() : std::string();
}

// Whether it holds more than arguments that speak of the block itself.
bool is_configured(const hcl::Block& block) {
  constexpr std::array<std::string_view, 6> kMeta = {"alias", "for_each", "count", "depends_on", "source", "//"};
  const auto& attributes = block.body.attributes;
  const auto& blocks = block.body.blocks;
  return std::any_of(attributes.begin(), attributes.end(),
                     [&](const hcl::Attribute& attribute) {
                       return std::find(kMeta.begin(), kMeta.end(), attribute.name) == kMeta.end();
                     }) ||
         std::any_of(blocks.begin(), blocks.end(), [](const hcl::Block& inner) {
           return inner.type != "_" || !inner.body.attributes.empty() || !inner.body.blocks.empty();
         });
}

std::optional<SourceText> read_version(const hcl::Block& block, const ConfigText& file, Diagnostics& diagnostics) {
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
  const auto text = read_text(*attribute, file);
  if (!text) {
    diagnostics.push_back(config_error(file, range, "Invalid version constraint: the version must be a constant string",
                                       "write the constraint, for example \"~> 5.0\""));
    return std::nullopt;
  }
  return text->is_null() ? std::nullopt : read_provider_constraint(text->as_string(), {file.path, range}, diagnostics);
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
                         .location = {file.path, block.header_range},
                         .is_configured = is_configured(block),
                         .is_repeated = block.body.find("for_each") != nullptr};
    const std::string scope = file.role == ConfigFile::Role::test ? file.path : std::string();
    const auto [place, added] = places.emplace(std::tuple(scope, result.name, result.alias), blocks.size());
    if (added) {
      blocks.push_back(std::move(result));
    } else if (file.role == ConfigFile::Role::override_file) {
      ProviderBlock& overridden = blocks[place->second];
      if (result.constraint) {
        overridden.constraint = std::move(result.constraint);
      }
      // OpenTofu looks into no body that is merged of two.
      overridden.is_configured = overridden.constraint.has_value();
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
