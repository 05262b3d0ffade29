#include "plugin/workspace/local_modules.h"

#include <algorithm>
#include <set>

#include "plugin/config/parsed_module.h"
#include "plugin/config/roots.h"
#include "plugin/hcl/value.h"
#include "plugin/settings/settings.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// Adds the directories that are called as local modules. Returns whether all sources are known.
bool add_calls(const ParsedModule& module, const fs::path& directory, std::vector<fs::path>& called) {
  bool is_complete = !module.incomplete;
  for (const ModuleCallSyntax& call : module.calls) {
    const Argument source = call.find("source");
    if (source.attribute == nullptr) {
      continue;
    }
    const auto value = hcl::static_string(source.attribute->value, source.file->path, "the source", Code::config_parse);
    is_complete = is_complete && value;
    if (value && (value->starts_with("./") || value->starts_with("../") || value->starts_with('/'))) {
      called.push_back(document_path(directory / *value));
    }
  }
  return is_complete;
}

// The same for the files of a directory; for a root also for its test files.
bool read_calls(const fs::path& directory, bool is_root, const Context& context, std::vector<fs::path>& called) {
  const auto module = read_module(directory, {}, ClientKind::opentofu, context);
  if (!module) {
    return module.error().code == Code::not_found;
  }
  const bool is_complete = add_calls(**module, directory, called);
  if (!is_root) {
    return is_complete;
  }
  const auto tests = read_test_files(**module, {}, ClientKind::opentofu);
  return tests && add_calls(**tests, directory, called) && is_complete;
}

}  // namespace

bool is_settings_of(const fs::path& root, const fs::path& file) {
  const fs::path directory = file.parent_path();
  return file.filename() == kSettingsFileName && (directory == root || lies_plainly_below(root, directory));
}

std::optional<bool> reads_any(const fs::path& root, const std::vector<fs::path>& files, const Context& context) {
  std::set<fs::path> directories;  // with the targets of symbolic links
  std::vector<fs::path> waiting = {document_path(root)};
  bool is_complete = true;
  while (!waiting.empty()) {
    const fs::path directory = std::move(waiting.back());
    waiting.pop_back();
    const bool is_root = directories.empty();
    if (directories.insert(directory).second) {
      std::error_code error;
      directories.insert(fs::weakly_canonical(directory, error));
      is_complete = read_calls(directory, is_root, context, waiting) && is_complete;
    }
  }
  const bool reads = std::ranges::any_of(files, [&](const fs::path& file) {
    return directories.count(file.parent_path()) != 0 || is_settings_of(root, file);
  });
  return reads ? std::optional(true) : is_complete ? std::optional(false) : std::nullopt;
}

}  // namespace modlock
