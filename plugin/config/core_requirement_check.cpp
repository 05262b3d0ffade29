#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugin/config/core_requirement.h"
#include "plugin/constraint/module_constraint.h"

namespace modlock {
namespace {

Version version_of(std::string_view text) {
  return Version::parse(text).value_or(Version{});
}

// Without prerelease and metadata, which constraints do not look at.
Version client_version_of(std::string_view version) {
  return version_of(version.substr(0, version.find_first_of("-+")));
}

bool has_language_blocks(ClientKind tool, const Version& release) {
  return tool == ClientKind::opentofu && release >= version_of("1.12.0");
}

Diagnostic report(const CoreRequirement& requirement, Code code, std::string message, std::string hint) {
  return {
      Severity::error,
      Error{.code = code, .message = std::move(message), .location = requirement.location, .hint = std::move(hint)}};
}

Diagnostic incompatible(const CoreRequirement& requirement, ClientKind tool, const std::string& version, bool is_new) {
  const std::string_view name = display_name(tool);
  const std::string summary = is_new ? "Incompatible module" : fmt::format("Unsupported {} Core version", name);
  return report(requirement, Code::constraint_conflict,
                fmt::format("{}: this module is not compatible with {} v{}, it requires \"{}\"", summary, name, version,
                            requirement.constraint),
                fmt::format("choose another release of {} or of the module; such a constraint is normally set for good "
                            "reason",
                            name));
}

Diagnostic names_prerelease(const CoreRequirement& requirement, ClientKind tool) {
  return report(requirement, Code::config_parse,
                fmt::format("Invalid required_version constraint: prerelease version constraints are not supported, "
                            "found \"{}\"",
                            requirement.constraint),
                fmt::format("remove the prerelease information: prerelease versions of {} match by their version core",
                            display_name(tool)));
}

Diagnostic ineffective(const CoreRequirement& requirement) {
  Diagnostic warning = report(requirement, Code::config_parse,
                              fmt::format("Ineffective version constraint: releases before OpenTofu 1.12 do not know "
                                          "compatible_with, but \"{}\" admits them",
                                          requirement.constraint),
                              "exclude them with \">= 1.12\", or use required_version in a .tofu file");
  warning.severity = Severity::warning;
  return warning;
}

Diagnostic unknown_block(const CoreRequirement& requirement, const std::string& version) {
  return report(
      requirement, Code::config_parse,
      fmt::format("Unsupported block type: blocks of type \"language\" are not expected by OpenTofu v{}, they "
                  "came with 1.12",
                  version),
      "use OpenTofu 1.12 or newer, or required_version in a .tofu file");
}

// What the release says to a constraint that it obeys.
Diagnostics check_constraint(const CoreRequirement& requirement, ClientKind tool, const std::string& version) {
  const auto constraint = ModuleConstraint::parse(requirement.constraint);
  if (requirement.problem || !constraint) {
    return {{Severity::error, requirement.problem ? *requirement.problem : constraint.error()}};
  }
  const auto& items = constraint->items();
  if (std::any_of(items.begin(), items.end(), [](const auto& item) { return !item.version.prerelease().empty(); })) {
    return {names_prerelease(requirement, tool)};
  }
  const Version release = client_version_of(version);
  Diagnostics diagnostics;
  if (!constraint->allows(release)) {
    diagnostics.push_back(incompatible(requirement, tool, version, has_language_blocks(tool, release)));
  }
  if (requirement.kind == CoreRequirement::Kind::compatible_with && constraint->allows(version_of("1.11.0"))) {
    diagnostics.push_back(ineffective(requirement));
  }
  return diagnostics;
}

}  // namespace

bool applies(const CoreRequirement& requirement, ClientKind tool, const std::string& version) {
  const bool is_new = has_language_blocks(tool, client_version_of(version));
  switch (requirement.kind) {
    case CoreRequirement::Kind::required_version:
      return is_new ? requirement.tofu_file : !requirement.overridden;
    case CoreRequirement::Kind::compatible_with:
      return is_new;
    case CoreRequirement::Kind::language:
      return !is_new;
  }
  return false;
}

Diagnostics check_core_requirements(const std::vector<CoreRequirement>& requirements, ClientKind tool,
                                    const std::string& version) {
  Diagnostics diagnostics;
  for (const CoreRequirement& requirement : requirements) {
    if (!applies(requirement, tool, version)) {
      continue;
    }
    if (requirement.kind == CoreRequirement::Kind::language) {
      diagnostics.push_back(unknown_block(requirement, version));
      continue;
    }
    for (Diagnostic& diagnostic : check_constraint(requirement, tool, version)) {
      diagnostics.push_back(std::move(diagnostic));
    }
  }
  // A release that the module excludes may not understand the rest of it.
  const auto excludes = [](const Diagnostic& diagnostic) { return diagnostic.what.code == Code::constraint_conflict; };
  if (has_language_blocks(tool, client_version_of(version)) &&
      std::any_of(diagnostics.begin(), diagnostics.end(), excludes)) {
    std::erase_if(diagnostics, [&](const Diagnostic& diagnostic) { return !excludes(diagnostic); });
  }
  return diagnostics;
}

}  // namespace modlock
