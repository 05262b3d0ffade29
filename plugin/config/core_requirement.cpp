#include "plugin/config/core_requirement.h"

#include <fmt/format.h>

#include <utility>

#include "plugin/constraint/module_constraint.h"
#include "plugin/eval/evaluate.h"
#include "plugin/value/convert.h"

namespace modlock {
namespace {

Version version_of(std::string_view text) {
  return Version::parse(text).value_or(Version{});
}

// Without prerelease and metadata, which constraints ignore.
Version client_version_of(std::string_view version) {
  return version_of(version.substr(0, version.find_first_of("-+")));
}

bool has_language_blocks(ClientKind tool, const Version& release) {
  const std::string_view since = kLanguageBlocks.since(tool);
  return !since.empty() && release >= version_of(since);
}

// Whether the block has the argument, which may be null.
bool read_argument(CoreRequirement::Kind kind, const hcl::Block& block, std::string_view name, const ConfigText& file,
                   std::vector<CoreRequirement>& requirements) {
  const hcl::Attribute* attribute = block.body.find(name);
  const auto value = attribute != nullptr ? eval::constant_value(attribute->value, file.json, file.path)
                                          : Result<eval::Value>(fail(Error{}));
  const auto text = value ? eval::convert(*value, eval::Type::string()) : tl::unexpected(eval::ConversionError());
  if (text && !text->is_null()) {
    requirements.push_back({.kind = kind,
                            .constraint = text->as_string(),
                            .location = {file.path, attribute->value.range},
                            .tofu_file = file.name.ends_with(".tofu") || file.name.ends_with(".tofu.json")});
  }
  return text.has_value();
}

}  // namespace

std::vector<CoreRequirement> read_core_requirements(const std::vector<ConfigText>& files, ClientKind tool) {
  using Kind = CoreRequirement::Kind;
  std::vector<CoreRequirement> requirements;
  std::string overriding_file;  // the last override file with a required_version
  for (const ConfigText& file : files) {
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == "terraform" &&
          read_argument(Kind::required_version, block, "required_version", file, requirements) &&
          file.role == ConfigFile::Role::override_file) {
        overriding_file = file.path;
      }
      for (const hcl::Block& inner : block.body.blocks) {
        if (block.type == "language" && tool == ClientKind::opentofu && inner.type == "compatible_with") {
          read_argument(Kind::compatible_with, inner, "opentofu", file, requirements);
        }
      }
    }
  }
  for (CoreRequirement& requirement : requirements) {
    requirement.overridden = requirement.kind == Kind::required_version && !overriding_file.empty() &&
                             requirement.location.path != overriding_file;
  }
  return requirements;
}

bool applies(const CoreRequirement& requirement, ClientKind tool, const std::string& version) {
  const bool is_new = has_language_blocks(tool, client_version_of(version));
  if (requirement.kind == CoreRequirement::Kind::compatible_with) {
    return is_new;
  }
  return is_new ? requirement.tofu_file : !requirement.overridden;
}

Diagnostics check_core_requirements(const std::vector<CoreRequirement>& requirements, ClientKind tool,
                                    const std::string& version) {
  const std::string_view name = display_name(tool);
  const Version release = client_version_of(version);
  Diagnostics diagnostics;
  for (const CoreRequirement& requirement : requirements) {
    const auto constraint = ModuleConstraint::parse(requirement.constraint);
    if (!constraint || !applies(requirement, tool, version) || constraint->allows(release)) {
      continue;
    }
    const std::string summary =
        has_language_blocks(tool, release) ? "Incompatible module" : fmt::format("Unsupported {} Core version", name);
    diagnostics.push_back(
        {Severity::error,
         Error{.code = Code::constraint_conflict,
               .message = fmt::format("{}: this module is not compatible with {} v{}, it requires \"{}\"", summary,
                                      name, version, requirement.constraint),
               .location = requirement.location,
               .hint = fmt::format("choose another release of {} or of the module; such a constraint is normally set "
                                   "for good reason",
                                   name)}});
  }
  return diagnostics;
}

}  // namespace modlock
