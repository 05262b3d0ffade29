#include "tests/support/http_proxy.h"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

#include "tests/support/loopback.h"

namespace modlock::test {
namespace {}  // namespace

HttpProxy::HttpProxy(const std::string& user, const std::string& password) {
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    port_ = free_port();
    write_text(directory_ / "tinyproxy.conf",
               fmt::format("Port {}\nListen 127.0.0.1\nAllow 127.0.0.1\nTimeout 60\nLogFile \"{}\"\nLogLevel Info\n{}",
                           port_, (directory_ / "proxy.log").string(),
                           user.empty() ? "" : fmt::format("BasicAuth {} {}\n", user, password)));
    process_.emplace(
        std::vector<std::string>{find_server("tinyproxy"), "-d", "-c", (directory_ / "tinyproxy.conf").string()},
        directory_ / "output.log");
    if (process_->wait_until([this] { return accepts(port_); })) {
      return;
    }
    process_.reset();
  }
  throw std::runtime_error("tinyproxy does not start: " + read_text(directory_ / "output.log"));
}

std::vector<std::string> HttpProxy::log() const {
  // CONNECT   Nov 21 12:00:00.000 [1]: Request (file descriptor 7): GET http://… HTTP/1.1
  constexpr std::string_view kMark = "Request (file descriptor ";
  std::istringstream lines(read_text(directory_ / "proxy.log"));
  std::vector<std::string> result;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(kMark);
    if (at != std::string::npos) {
      result.push_back(line.substr(line.find("): ", at) + 3));
    }
  }
  return result;
}

}  // namespace modlock::test
