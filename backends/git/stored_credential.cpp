#include "backends/git/stored_credential.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "backends/base/process.h"
#include "backends/git/git_command.h"
#include "protocol/base/result.h"

namespace modlock::git {
namespace {

// The description that git's helpers read (git-credential(1)). A line end in a value would be a line of its own.
std::string describe(const RemoteAddress& remote, const SecretText& username) {
  const std::size_t host = remote.url.find("://");
  const std::size_t path = host == std::string::npos ? std::string::npos : remote.url.find('/', host + 3);
  std::string text = fmt::format("protocol={}\nhost={}\n", remote.scheme, remote.host);
  if (path != std::string::npos && path + 1 < remote.url.size()) {
    text += fmt::format("path={}\n", remote.url.substr(path + 1));
  }
  if (!username.empty()) {
    text += fmt::format("username={}\n", username.reveal());
  }
  return text;
}

std::string value_of(std::string_view output, std::string_view name) {
  while (!output.empty()) {
    const std::string_view line = output.substr(0, output.find('\n'));
    output.remove_prefix(std::min(output.size(), line.size() + 1));
    if (line.starts_with(name) && line.substr(name.size()).starts_with('=')) {
      return std::string(line.substr(name.size() + 1));
    }
  }
  return {};
}

Command credential_command(const RemoteAddress& remote, std::string_view action, std::string input) {
  Command command = network_command(remote, {"credential", std::string(action)}, lookup_environment);
  command.input = std::move(input);
  return command;
}

}  // namespace

Result<std::optional<StoredCredential>> fill_credential(const RemoteAddress& remote, const Context& context) {
  const auto asked = run_command(credential_command(remote, "fill", describe(remote, remote.username) + "\n"), context);
  MODLOCK_TRY(context.check());
  if (!asked || asked->exit_code != 0) {
    return std::nullopt;
  }
  StoredCredential found{SecretText(value_of(asked->output, "username")),
                         SecretText(value_of(asked->output, "password"))};
  return found.password.empty() ? std::optional<StoredCredential>() : std::optional(std::move(found));
}

void report_credential(const RemoteAddress& remote, const StoredCredential& credential, std::string_view verdict,
                       const Context& context) {
  std::string input =
      describe(remote, credential.username) + fmt::format("password={}\n\n", credential.password.reveal());
  // What a helper makes of it is no matter of the listing.
  (void)run_command(credential_command(remote, verdict, std::move(input)), context);
}

}  // namespace modlock::git
