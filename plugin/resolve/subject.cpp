#include "plugin/resolve/subject.h"

#include <fmt/ranges.h>

#include "backends/address/source_text.h"
#include "backends/base/collections.h"
#include "backends/base/text.h"

namespace modlock {
namespace {

constexpr std::string_view kModule = "module.";

// The bare names of a provider.
std::vector<std::string> names_of(const ProviderAddress& address) {
  return {address.type(), address.name_space() + "/" + address.type(), address.to_string()};
}

// Returns "module.vpc.nested" for `module.vpc["a"].module.nested[0]`, and any other name unchanged.
std::string subject_of_address(std::string_view name) {
  std::string subject = "module";
  std::string_view address = name;
  while (address.starts_with(kModule)) {
    address.remove_prefix(kModule.size());
    const std::size_t end = std::min(address.find_first_of(".["), address.size());
    subject += "." + std::string(address.substr(0, end));
    address.remove_prefix(end);
    if (address.starts_with('[')) {
      const std::string_view closing = address.starts_with("[\"") ? "\"]" : "]";
      const std::size_t close = address.find(closing, 1);
      address.remove_prefix(close == std::string_view::npos ? 0 : close + closing.size());
    }
    if (address.empty()) {
      return subject;
    }
    address.remove_prefix(address.starts_with('.') ? 1 : 0);
  }
  return std::string(name);
}

}  // namespace

bool is_full_subject(std::string_view name) {
  return name.starts_with(kProviderSubject) || (name.starts_with(kModule) && subject_of_address(name) == name);
}

Result<std::string> full_subject(const std::string& name, const ModuleTree& tree, std::string_view default_host) {
  if (is_full_subject(name)) {
    return name;
  }
  if (name.starts_with(kModule)) {
    return tree.nodes.contains(std::string_view(name).substr(kModule.size())) ? name : subject_of_address(name);
  }
  std::vector<std::string> known;  // bare names
  std::vector<std::string> found;
  std::vector<std::string> nested;  // calls in modules with this name
  for (const auto& [key, node] : tree.nodes) {
    known.push_back(key);
    if (key.ends_with("." + name)) {
      nested.push_back(node.subject());
    }
    if (key == name || node.call.source.text == name) {
      found.push_back(node.subject());
    }
  }
  for (const auto& [address, uses] : required_providers(tree)) {
    const std::vector<std::string> names = names_of(address);
    known.insert(known.end(), names.begin(), names.end());
    if (!address.is_builtin(default_host) && contains(names, name)) {
      found.push_back(std::string(kProviderSubject) + address.to_string());
    }
  }
  if (found.size() == 1) {
    return std::move(found.front());
  }
  if (found.size() > 1) {
    return fail(Error{.code = Code::invalid_params,
                      .message = fmt::format("\"{}\" is ambiguous: it may be {}", name, fmt::join(found, " or ")),
                      .subject = name,
                      .hint = "write one of these subjects"});
  }
  if (name.find('/') != std::string::npos) {
    return std::string(kProviderSubject) + name;
  }
  if (!tree.complete) {
    return std::string(kModule) + name;
  }
  Error error = unknown_subject(name, known);
  if (!nested.empty()) {
    error.hint = fmt::format("did you mean {}?", fmt::join(nested, " or "));
  }
  return fail(std::move(error));
}

Error unknown_subject(const std::string& subject, const std::vector<std::string>& known) {
  const std::string nearest = did_you_mean(subject, {known.begin(), known.end()});
  return {.code = Code::invalid_params,
          .message = fmt::format("\"{}\" matches no module call or provider", escape_controls(subject)),
          .subject = subject,
          .hint = nearest.empty() ? "`" + tofu_modlock("inspect") + "` lists them" : Hint(nearest),
          .reason = Reason::unknown_subject};
}

std::vector<std::string> module_subjects(const ModuleTree& tree) {
  return mapped(tree.nodes, [](const auto& entry) { return entry.second.subject(); });
}

std::vector<std::string> provider_subjects(const std::vector<ProviderNeed>& needs, std::string_view default_host) {
  std::vector<std::string> subjects;
  for (const ProviderNeed& need : needs) {
    subjects.push_back(std::string(kProviderSubject) + need.address.for_display(default_host));
    subjects.push_back(need.subject());
  }
  return subjects;
}

}  // namespace modlock
