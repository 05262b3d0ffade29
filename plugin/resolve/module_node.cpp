#include <algorithm>

#include "plugin/resolve/module_tree.h"

namespace modlock {

bool is_below(std::string_view key, std::string_view ancestor) {
  return key == ancestor || (key.starts_with(ancestor) && key[ancestor.size()] == '.');
}

std::optional<std::string> ModuleNode::constraints_text() const {
  if (commit) {
    return commit;
  }
  if (constraints.empty()) {
    return std::nullopt;
  }
  std::string text;
  for (const ConstraintUse& use : constraints) {
    text += (text.empty() ? "" : ", ") + use.constraint.text();
  }
  return text;
}

std::string ModuleNode::subdir() const {
  const std::string& own = address.source.subdir;
  return package_subdir.empty() || own.empty() ? package_subdir + own : package_subdir + "/" + own;
}

bool ModuleNode::is_pinned_by_source() const {
  const auto& query = address.source.query;
  return std::any_of(query.begin(), query.end(), [](const auto& argument) {
    return argument.first == "ref" || argument.first == "tag" || argument.first == "digest" || argument.first == "rev";
  });
}

}  // namespace modlock
