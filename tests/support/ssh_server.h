#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/process_group.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A real sshd on a free port of the loopback, with a host key and a key of its one user made when it starts. Whoever
// has that key runs programs as the user of the tests. Stopped with the object.
class SshServer {
 public:
  static constexpr const char* kPrograms = "sshd, ssh, ssh-keygen";

  // Throws std::runtime_error with sshd's log where it does not start.
  SshServer();

  int port() const { return port_; }
  // "ssh://<user>@127.0.0.1:<port><path>"
  std::string url(const std::filesystem::path& path) const;
  static std::string user();
  // The private key of the user, 0600.
  std::filesystem::path key() const { return directory_ / "user_key"; }

  // An `ssh -F <file>` that knows this server's key under 127.0.0.1 and the alias "modlock-alias", offers the user's
  // key where `with_key` is true, and nothing else of the machine's.
  std::string command(bool with_key = true, bool knows_host = true) const;

 private:
  bool start();

  TemporaryDirectory directory_;
  int port_ = 0;
  std::optional<ProcessGroup> daemon_;
};

}  // namespace modlock::test
