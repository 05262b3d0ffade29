#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/process_group.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A real proxy, tinyproxy, on a free port of the loopback. With a user it asks for Basic authentication.
class HttpProxy {
 public:
  static constexpr const char* kPrograms = "tinyproxy";

  // Throws std::runtime_error with the proxy's log where it does not start.
  explicit HttpProxy(const std::string& user = {}, const std::string& password = {});

  int port() const { return port_; }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  // What it was asked, in order: "CONNECT host:port HTTP/1.1", "GET http://host:port/path HTTP/1.1".
  std::vector<std::string> log() const;

 private:
  TemporaryDirectory directory_;
  int port_ = 0;
  std::optional<ProcessGroup> process_;
};

}  // namespace modlock::test
