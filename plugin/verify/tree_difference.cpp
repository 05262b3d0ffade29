#include "plugin/verify/tree_difference.h"

#include <algorithm>
#include <array>

namespace modlock {
namespace {

// OpenTofu's own copy of a package leaves out every file and directory whose name begins with a dot.
bool is_dotfile(const std::string& name) {
  return name.starts_with('.') || name.find("/.") != std::string::npos;
}

bool is_configuration(const std::string& name) {
  constexpr std::array<std::string_view, 4> kSuffixes = {".tf", ".tofu", ".tf.json", ".tofu.json"};
  return std::any_of(kSuffixes.begin(), kSuffixes.end(),
                     [&](std::string_view suffix) { return name.ends_with(suffix); });
}

}  // namespace

TreeDifference compare_trees(const TreeSummary& locked, const TreeSummary& installed) {
  TreeDifference difference;
  auto have = installed.files.begin();
  for (const FileDigest& file : locked.files) {
    while (have != installed.files.end() && have->name < file.name) {
      (is_configuration(have->name) ? difference.tampered : difference.harmless).push_back(have->name + " was added");
      ++have;
    }
    if (have == installed.files.end() || have->name != file.name) {
      (is_dotfile(file.name) ? difference.harmless : difference.tampered).push_back(file.name + " was deleted");
      continue;
    }
    if (have->sha256 != file.sha256) {
      difference.tampered.push_back(file.name + " was changed");
    }
    ++have;
  }
  for (; have != installed.files.end(); ++have) {
    (is_configuration(have->name) ? difference.tampered : difference.harmless).push_back(have->name + " was added");
  }
  return difference;
}

}  // namespace modlock
