#include "plugin/resolve/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backends/address/source_text.h"
#include "plugin/hcl/near_names.h"

namespace modlock {
namespace {

constexpr std::string_view kModule = "module.";
constexpr std::string_view kProvider = "provider.";

// The bare names of a provider.
std::vector<std::string> names_of(const ProviderAddress& address) {
  return {address.type(), address.name_space() + "/" + address.type(), address.to_string()};
}

}  // namespace

Result<std::string> full_subject(const std::string& name, const ModuleTree& tree, std::string_view default_host) {
  if (name.starts_with(kModule) || name.starts_with(kProvider)) {
    return name;
  }
  std::vector<std::string> known;  // bare names
  std::vector<std::string> found;
  for (const auto& [key, node] : tree.nodes) {
    known.push_back(key);
    if (key == name) {
      found.push_back(node.subject());
    }
  }
  for (const auto& [address, uses] : required_providers(tree)) {
    const std::vector<std::string> names = names_of(address);
    known.insert(known.end(), names.begin(), names.end());
    if (!address.is_builtin(default_host) && std::find(names.begin(), names.end(), name) != names.end()) {
      found.push_back(std::string(kProvider) + address.to_string());
    }
  }
  if (found.size() == 1) {
    return std::move(found.front());
  }
  Error error{.code = Code::invalid_params, .subject = name};
  if (found.size() > 1) {
    error.message = fmt::format("\"{}\" is ambiguous: it may be {}", name, fmt::join(found, " or "));
    error.hint = "write one of these subjects";
    return fail(std::move(error));
  }
  if (name.find('/') != std::string::npos) {
    return std::string(kProvider) + name;
  }
  if (!tree.complete) {
    return std::string(kModule) + name;
  }
  error.message = fmt::format("\"{}\" matches no module call or provider", escape_controls(name));
  error.hint = subject_hint(name, known, "`tofu-modlock inspect` lists them");
  return fail(std::move(error));
}

std::string subject_hint(std::string_view subject, const std::vector<std::string>& known, std::string otherwise) {
  std::string nearest = hcl::did_you_mean(subject, {known.begin(), known.end()});
  return nearest.empty() ? std::move(otherwise) : nearest;
}

std::vector<std::string> module_subjects(const ModuleTree& tree) {
  std::vector<std::string> subjects;
  std::transform(tree.nodes.begin(), tree.nodes.end(), std::back_inserter(subjects),
                 [](const auto& entry) { return entry.second.subject(); });
  return subjects;
}

std::vector<std::string> provider_subjects(const std::vector<ProviderNeed>& needs, std::string_view default_host) {
  std::vector<std::string> subjects;
  for (const ProviderNeed& need : needs) {
    subjects.push_back(std::string(kProvider) + need.address.for_display(default_host));
    subjects.push_back(need.subject());
  }
  return subjects;
}

}  // namespace modlock
