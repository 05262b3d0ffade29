#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend_set.h"
#include "backends/store/store.h"
#include "protocol/messages/initialize.h"

namespace modlock {

// What a host settled with `initialize`; one-shot commands settle it from flags and TOFU_MODLOCK_*.
struct ServiceOptions {
  std::filesystem::path cache_directory;
  std::optional<std::filesystem::path> user_settings;
  std::vector<std::filesystem::path> workspace_roots = {};  // absolute
  std::optional<std::string> implementation = {};
  std::optional<std::string> implementation_version = {};
  bool offline = false;
  bool edits_as_full_text = true;
  bool edits_as_ranges = true;
};

// What handlers share: the options, the store and the backends. Configured by `initialize` before any worker uses it,
// not changed afterwards.
class Service {
 public:
  // The defaults of this user: cache and settings below the XDG directories.
  static ServiceOptions default_options();

  explicit Service(ServiceOptions options) : options_(std::move(options)) {}

  // Errors: INVALID_PARAMS, PATH_OUTSIDE_ROOT is not among them: roots are judged by request.
  Result<void> configure(const messages::InitializeParams& params);
  // Opens the store and makes the backends. Errors: those of Store::open().
  Result<void> open();

  const ServiceOptions& options() const { return options_; }
  const Store& store() const { return *store_; }
  const BackendSet& backends() const { return backends_; }
  bool is_open() const { return store_.has_value(); }

 private:
  ServiceOptions options_;
  std::optional<Store> store_;
  BackendSet backends_;
};

}  // namespace modlock
