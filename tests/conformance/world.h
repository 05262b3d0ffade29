#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "backends/http/retrying_http_client.h"
#include "tests/conformance/origin.h"
#include "tests/support/certificates.h"
#include "tests/support/environment.h"
#include "tests/support/fault_server.h"
#include "tests/support/git_repository.h"
#include "tests/support/loopback.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// Where a request ends up.
enum class Place {
  origin,             // the server that is good but for its faults
  nowhere,            // a name that no resolver knows
  refused,            // a port that nobody listens on
  silent,             // a port whose listener says nothing, not even its part of TLS
  unknown_authority,  // certificates that nobody trusts
  expired,
  wrong_host,
};

// The servers of all rows, in an environment where only their authority is trusted and git has no configuration.
// Made once: the environment must not change while servers run.
class World {
 public:
  World();

  std::string base(Place place) const;  // "https://127.0.0.1:4711"
  // "127.0.0.1:4711"
  std::string authority(Place place) const { return base(place).substr(std::string("https://").size()); }

  FaultServer& server() { return server_; }
  // A good server on another host and port ("localhost"), which asks nobody for credentials.
  FaultServer& elsewhere() { return elsewhere_; }
  // The same without TLS.
  FaultServer& plain() { return plain_; }
  std::string elsewhere_base() const { return elsewhere_.url(""); }
  // One for all, as in a long-lived process.
  Transport& transport() { return *transport_; }
  Origin& origin() { return origin_; }
  // A new empty directory, that goes with the world.
  std::filesystem::path new_directory();
  // Where temporary files go that nobody is told about.
  std::filesystem::path temporary() const { return directory_ / "tmp"; }
  std::filesystem::path authority_file() const { return trusted_.certificate(); }

  // Whether command lines of children are collected whenever a server has a request in its hands.
  void watch_processes(bool on);
  std::set<std::string> command_lines() const;

  // Looks first, then behaves.
  Behaviour watched(Behaviour behaviour);

 private:
  void look();

  TemporaryDirectory directory_;
  int directories_ = 0;
  std::deque<ScopedEnvironment> environment_;
  CertificateAuthority trusted_;
  std::unique_ptr<Transport> transport_;
  CertificateAuthority unknown_;
  GitRepository repository_;
  Origin origin_;
  mutable std::mutex mutex_;
  bool watches_ = false;
  std::set<std::string> command_lines_;
  RefusedPort refused_;
  SilentServer silent_;
  FaultServer server_;
  FaultServer elsewhere_;
  FaultServer plain_;
  FaultServer of_unknown_authority_;
  FaultServer expired_;
  FaultServer wrong_host_;
};

}  // namespace modlock::test
