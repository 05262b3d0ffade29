#include "tests/support/ssh_server.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "tests/support/loopback.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {}  // namespace

SshServer::SshServer() {
  if (::geteuid() == 0) {
    std::filesystem::create_directories("/run/sshd");  // where sshd, as root, locks its children into
  }
  for (const char* name : {"host_key", "user_key"}) {
    run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", (directory_ / name).string()});
  }
  std::filesystem::copy_file(directory_ / "user_key.pub", directory_ / "authorized_keys");
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    if (start()) {
      return;
    }
    daemon_.reset();
  }
  throw std::runtime_error("sshd does not start: " + read_text(directory_ / "sshd.log"));
}

bool SshServer::start() {
  port_ = free_port();
  const std::string root = directory_.path().string();
  write_text(directory_ / "sshd_config", fmt::format(R"(Port {0}
ListenAddress 127.0.0.1
HostKey {1}/host_key
AuthorizedKeysFile {1}/authorized_keys
PidFile {1}/sshd.pid
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
)",
                                                     port_, root));
  const std::string host_key = read_text(directory_ / "host_key.pub");
  write_text(directory_ / "known_hosts", fmt::format("[127.0.0.1]:{} {}", port_, host_key));
  write_text(directory_ / "nobody_known", "");
  for (const bool with_key : {true, false}) {
    for (const bool knows_host : {true, false}) {
      const std::string identity = with_key ? fmt::format("  IdentityFile {}/user_key\n", root) : "";
      write_text(directory_ / fmt::format("client-{}-{}", with_key, knows_host),
                 fmt::format("Host modlock-alias\n  HostName 127.0.0.1\n  Port {0}\n  User {1}\nHost *\n"
                             "  UserKnownHostsFile {2}/{3}\n  GlobalKnownHostsFile /dev/null\n  IdentityAgent none\n"
                             "  StrictHostKeyChecking yes\n{4}",
                             port_, user(), root, knows_host ? "known_hosts" : "nobody_known",
                             identity.empty() ? "  IdentityFile /dev/null\n" : identity));
    }
  }
  daemon_.emplace(std::vector<std::string>{find_server("sshd"), "-D", "-e", "-f", root + "/sshd_config"},
                  directory_ / "sshd.log");
  return daemon_->wait_until([this] { return accepts(port_); });
}

std::string SshServer::url(const std::filesystem::path& path) const {
  return fmt::format("ssh://{}@127.0.0.1:{}{}", user(), port_, path.string());
}

std::string SshServer::user() {
  const passwd* const entry = ::getpwuid(::geteuid());
  return entry == nullptr ? "root" : entry->pw_name;
}

std::string SshServer::command(bool with_key, bool knows_host) const {
  return fmt::format("ssh -F {}", (directory_ / fmt::format("client-{}-{}", with_key, knows_host)).string());
}

}  // namespace modlock::test
