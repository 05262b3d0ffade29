#include "backends/git/file_transport.h"

#include <fmt/format.h>

#include "backends/base/process.h"
#include "backends/git/git_command.h"

namespace modlock::git {

Result<void> check_file_transport(const RemoteAddress& address, std::string_view thing, std::string_view reason,
                                  const Context& context) {
  if (address.scheme != "file") {
    return {};
  }
  if (const auto allowed = lookup_environment("GIT_ALLOW_PROTOCOL")) {
    return {};  // git itself refuses what it does not name
  }
  for (const char* setting : {"protocol.file.allow", "protocol.allow"}) {
    const auto asked = run_command(network_command(address, {"config", "--get", setting}, lookup_environment), context);
    if (asked && asked->exit_code == 0) {
      if (asked->output == "always\n") {
        return {};
      }
      break;
    }
  }
  return fail(Code::source_denied, fmt::format("the {} \"{}\" is on this machine, {}", thing, address.display, reason),
              "if you trust it: git config --global protocol.file.allow always");
}

}  // namespace modlock::git
