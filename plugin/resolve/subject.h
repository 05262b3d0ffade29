#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugin/resolve/module_tree.h"
#include "plugin/resolve/provider_tree.h"
#include "protocol/base/result.h"

namespace modlock {

// What the subject of a provider begins with: provider.registry.opentofu.org/hashicorp/aws
inline constexpr std::string_view kProviderSubject = "provider.";

// Returns the subject that a user means: "module.vpc" for "vpc" or its source as written, "module.vpc.nested" for the
// address `module.vpc["a"].module.nested` that clients print, and "provider.HOST/hashicorp/aws" for "hashicorp/aws",
// "aws" or the whole address. Returns any other name that starts with "module." or "provider." unchanged, and of others
// that match nothing the form that later checks can reject: "module.NAME" if a part of the tree was not read,
// "provider.NAME" if the name has a slash. Errors: INVALID_PARAMS if several match, all of which it lists, or none; the
// subject of the error is the name.
Result<std::string> full_subject(const std::string& name, const ModuleTree& tree, std::string_view default_host);
// Returns whether full_subject() returns the name unchanged for any tree.
bool is_full_subject(std::string_view name);

// Returns INVALID_PARAMS (Reason::unknown_subject), with the nearest of the known ones.
Error unknown_subject(const std::string& subject, const std::vector<std::string>& known);

// Returns the subjects of the module calls of a tree.
std::vector<std::string> module_subjects(const ModuleTree& tree);
// Returns the subjects of these providers, those of the default host also without it.
std::vector<std::string> provider_subjects(const std::vector<ProviderNeed>& needs, std::string_view default_host);

}  // namespace modlock
