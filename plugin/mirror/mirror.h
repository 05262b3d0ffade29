#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "backends/base/private_file.h"
#include "plugin/engine/engine.h"
#include "plugin/engine/open_root.h"
#include "plugin/mirror/mirror_server.h"
#include "protocol/base/result.h"

namespace modlock {

// Makes the module registries and git repositories of a root module serve only what is locked to commands that run with
// its environment(). Providers and other services of these hosts stay unchanged.
class Mirror {
 public:
  // Warnings, such as calls that a mirror cannot enforce (LOCK_UNENFORCED), are diagnostics of the run. `engine` and
  // `run` outlive the mirror. Errors: FROZEN if a call is not locked; those of reading the root and of its sources;
  // CONFIG_PARSE for a CLI configuration that cannot be copied (client_configuration_copy()); IO_ERROR.
  static Result<Mirror> start(const Engine& engine, const messages::RootParams& root, Run& run);

  // Returns the variables that a command needs in addition to its own. Empty: no module comes from a registry
  // or from git.
  std::map<std::string, std::string> environment() const;

 private:
  Mirror() = default;

  std::unique_ptr<OpenRoot> open_;    // with the packages of the remote store, which the server reads
  std::shared_ptr<Context> context_;  // of the server
  std::unique_ptr<MirrorServer> server_;
  std::optional<PrivateFile> client_configuration_;
  std::optional<PrivateFile> git_configuration_;  // beside the repositories that it names
};

}  // namespace modlock
