#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/certificates.h"
#include "tests/support/loopback.h"
#include "tests/support/process_group.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A real git server on a free port of the loopback: nginx, fcgiwrap and git-http-backend, with a certificate for
// "localhost" and 127.0.0.1 of an authority made by openssl when it starts. It serves the repositories below
// repositories(), under several prefixes:
//   /open/       as they are
//   /private/    after Basic authentication as user() with password()
//   /truncated/  every pack breaks off
//   /elsewhere/  redirects to /private/ on the host 127.0.0.1
//   /moved/      redirects to /open/ on the same host
//   /down/       redirects to /open/ over http
//   /old/        speaks protocol v0 alone, and so gives out no commit by its id
//   /dumb/       the files of a repository: git's "dumb" protocol, after git update-server-info
//   /forbidden/, /limited/, /failing/   403, 429, 500
// and, as plain files, whatever lies below files(), but for two rules, so that they can be a module registry:
//   /v1/modules/<package>/download          leads to /packages/<package>.tar.gz, to "module" in it
//   /v1/modules/pattern/<package>/download  leads to /packages/pattern/<package>.tar.gz, to its only directory, "*"
// The same over http on another port, and with HTTP/2 on a third one. Stopped, with all its processes, when the object
// goes.
class HttpsGitServer {
 public:
  static constexpr const char* kPrograms = "nginx, fcgiwrap, openssl, /usr/lib/git-core/git-http-backend";

  // Throws std::runtime_error with nginx's log where it does not start.
  HttpsGitServer();
  ~HttpsGitServer();
  HttpsGitServer(const HttpsGitServer&) = delete;
  HttpsGitServer& operator=(const HttpsGitServer&) = delete;

  std::filesystem::path repositories() const { return directory_ / "repositories"; }
  std::filesystem::path files() const { return directory_ / "files"; }
  std::filesystem::path authority() const { return directory_ / "authority.pem"; }
  // The server's own, for another server of the same authority.
  ServerCertificate certificate() const { return {directory_ / "server.pem", directory_ / "server.key"}; }
  int port() const { return port_; }
  std::string host() const { return "localhost:" + std::to_string(port_); }
  // "https://localhost:<port>/<prefix>/<name>"
  std::string url(std::string_view prefix, std::string_view name) const;
  // "http://localhost:<port>/<prefix>/<name>"
  std::string plain_url(std::string_view prefix, std::string_view name) const;
  // "https://localhost:<port>/<path>", where nginx speaks HTTP/2.
  std::string http2_url(std::string_view path) const;
  static std::string user() { return "reader"; }
  static std::string password() { return "p@ss/w:rd%41"; }
  static std::string encoded_password() { return "p%40ss%2Fw%3Ard%2541"; }  // as a URL has it

  // What was asked since the start: "<host> <method> <uri> <status> <authorization or ->".
  std::vector<std::string> log() const { return read_log("access.log"); }
  // The requests to http2_url(): "<number of the connection> <protocol>".
  std::vector<std::string> http2_log() const { return read_log("connections.log"); }
  void stop();

 private:
  std::vector<std::string> read_log(std::string_view name) const;
  void wait_until_logged() const;
  void make_credentials() const;
  void write_script(std::string_view name, std::string_view text) const;
  void write_configuration() const;
  bool start();

  TemporaryDirectory directory_;
  int port_ = 0;
  int plain_port_ = 0;
  int http2_port_ = 0;
  std::vector<ProcessGroup> groups_;
};

}  // namespace modlock::test
