#include "plugin/workspace/local_modules.h"

#include <algorithm>
#include <deque>
#include <set>

#include "plugin/config/parsed_module.h"
#include "plugin/config/roots.h"
#include "plugin/hcl/value.h"
#include "plugin/settings/settings.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

// The directories of a root and of the local modules that it calls.
class LocalModules {
 public:
  LocalModules(const fs::path& root, const Context& context) : root_(document_path(root)), context_(context) {
    add(root_);
    while (!waiting_.empty()) {
      const fs::path directory = std::move(waiting_.front());
      waiting_.pop_front();
      read(directory);
    }
  }

  // Returns the directories, including targets of symbolic links.
  const std::set<fs::path>& directories() const { return directories_; }
  bool is_complete() const { return is_complete_; }

 private:
  void add(const fs::path& directory) {
    if (directories_.insert(directory).second) {
      waiting_.push_back(directory);
      std::error_code error;
      if (const fs::path real = fs::canonical(directory, error); !error) {
        directories_.insert(real);
      }
    }
  }

  void read(const fs::path& directory) {
    const auto module = read_module(directory, {}, ClientKind::opentofu, context_);
    if (!module) {
      is_complete_ = is_complete_ && module.error().code == Code::not_found;
      return;
    }
    take_calls(**module, directory);
    if (directory != root_) {
      return;
    }
    const auto tests = read_test_files(**module, {}, ClientKind::opentofu);
    if (tests) {
      take_calls(**tests, root_);
    } else {
      is_complete_ = false;
    }
  }

  void take_calls(const ParsedModule& module, const fs::path& directory) {
    is_complete_ = is_complete_ && !module.incomplete;
    for (const ModuleCallSyntax& call : module.calls) {
      const Argument source = call.find("source");
      if (source.attribute == nullptr) {
        continue;
      }
      const auto value =
          hcl::static_string(source.attribute->value, source.file->path, "the source", Code::config_parse);
      if (!value) {
        is_complete_ = false;
      } else if (value->starts_with("./") || value->starts_with("../") || value->starts_with('/')) {
        add(document_path(directory / *value));
      }
    }
  }

  const fs::path root_;
  const Context& context_;
  std::set<fs::path> directories_;
  std::deque<fs::path> waiting_;
  bool is_complete_ = true;
};

}  // namespace

bool is_settings_of(const fs::path& root, const fs::path& file) {
  const fs::path directory = file.parent_path();
  return file.filename() == kSettingsFileName && (directory == root || lies_plainly_below(root, directory));
}

std::optional<bool> reads_any(const fs::path& root, const std::vector<fs::path>& files, const Context& context) {
  const LocalModules modules(root, context);
  const bool reads = std::any_of(files.begin(), files.end(), [&](const fs::path& file) {
    return modules.directories().count(file.parent_path()) != 0 || is_settings_of(root, file);
  });
  return reads ? std::optional(true) : modules.is_complete() ? std::optional(false) : std::nullopt;
}

}  // namespace modlock
