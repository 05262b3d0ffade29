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

class Reader {
 public:
  explicit Reader(ClientKind tool) : tool_(tool) {}

  std::vector<CoreRequirement> read(const std::vector<ConfigText>& files) {
    for (const ConfigText& file : files) {
      if (file.role != ConfigFile::Role::test) {
        read_file(file);
      }
    }
    for (CoreRequirement& requirement : requirements_) {
      requirement.overridden = requirement.kind == CoreRequirement::Kind::required_version &&
                               !overriding_file_.empty() && requirement.location.path != overriding_file_;
    }
    return std::move(requirements_);
  }

 private:
  void read_file(const ConfigText& file) {
    for (const hcl::Block& block : file.parsed.body.blocks) {
      if (block.type == "terraform") {
        const bool is_given = read_argument(CoreRequirement::Kind::required_version, block, "required_version", file);
        if (is_given && file.role == ConfigFile::Role::override_file) {
          overriding_file_ = file.path;
        }
      } else if (block.type == "language" && tool_ == ClientKind::opentofu) {
        for (const hcl::Block& inner : block.body.blocks) {
          if (inner.type == "compatible_with") {
            read_argument(CoreRequirement::Kind::compatible_with, inner, "opentofu", file);
          }
        }
      }
    }
  }

  // Whether the block has the argument, which may be null.
  bool read_argument(CoreRequirement::Kind kind, const hcl::Block& block, std::string_view name,
                     const ConfigText& file) {
    const hcl::Attribute* attribute = block.body.find(name);
    const auto value = attribute != nullptr ? eval::constant_value(attribute->value, file.json, file.path)
                                            : Result<eval::Value>(fail(Error{}));
    const auto text = value ? eval::convert(*value, eval::Type::string()) : tl::unexpected(eval::ConversionError());
    if (text && !text->is_null()) {
      requirements_.push_back({.kind = kind,
                               .constraint = text->as_string(),
                               .location = {file.path, attribute->value.range},
                               .tofu_file = file.name.ends_with(".tofu") || file.name.ends_with(".tofu.json")});
    }
    return text.has_value();
  }

  const ClientKind tool_;
  std::vector<CoreRequirement> requirements_;
  std::string overriding_file_;  // the last override file with a required_version
};

}  // namespace

std::vector<CoreRequirement> read_core_requirements(const std::vector<ConfigText>& files, ClientKind tool) {
  return Reader(tool).read(files);
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
