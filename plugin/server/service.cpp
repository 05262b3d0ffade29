#include "plugin/server/service.h"

#include <algorithm>
#include <cstdlib>

#include "backends/git/git_backend.h"

namespace modlock {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

fs::path config_home() {
  const std::string xdg = environment("XDG_CONFIG_HOME");
  return xdg.empty() ? fs::path(environment("HOME")) / ".config" : fs::path(xdg);
}

bool wants(const std::vector<std::string>& forms, std::string_view form) {
  return forms.empty() || std::find(forms.begin(), forms.end(), form) != forms.end();
}

}  // namespace

ServiceOptions Service::default_options() {
  return {.cache_directory = default_store_root(), .user_settings = config_home() / "tofu-modlock" / "config.hcl"};
}

Result<void> Service::configure(const messages::InitializeParams& params) {
  options_.implementation = params.implementation ? params.implementation : options_.implementation;
  options_.implementation_version =
      params.implementation_version ? params.implementation_version : options_.implementation_version;
  options_.offline = params.offline.value_or(options_.offline);
  if (params.cache_dir) {
    options_.cache_directory = fs::absolute(*params.cache_dir);
  }
  if (params.config_file) {
    options_.user_settings = fs::absolute(*params.config_file);
  }
  for (const std::string& root : params.workspace_roots) {
    if (!fs::path(root).is_absolute()) {
      return fail(Code::invalid_params,
                  "decode: expected an absolute path in params.workspaceRoots, found \"" + root + "\"",
                  "name workspace roots from the file system's root");
    }
    options_.workspace_roots.push_back(fs::path(root).lexically_normal());
  }
  options_.edits_as_full_text = wants(params.edit_forms, "fullText");
  options_.edits_as_ranges = wants(params.edit_forms, "ranges");
  return {};
}

Result<void> Service::open() {
  auto store = Store::open(options_.cache_directory);
  if (!store) {
    return fail(std::move(store.error()));
  }
  store_.emplace(std::move(*store));
  backends_.add(make_git_backend(store_->git_directory()));
  return {};
}

}  // namespace modlock
