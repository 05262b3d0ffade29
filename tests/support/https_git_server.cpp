#include "tests/support/https_git_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <sstream>
#include <stdexcept>

#include "tests/support/certificates.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {

constexpr const char* kGitBackend = "/usr/lib/git-core/git-http-backend";

// The answer to a plain GET over a socket in the file system; empty where nobody listens.
std::string ask_unix_socket(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  constexpr std::string_view kRequest = "GET / HTTP/1.0\r\n\r\n";
  std::string answer;
  if (::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::write(client, kRequest.data(), kRequest.size()) == static_cast<ssize_t>(kRequest.size())) {
    char piece[512];
    for (ssize_t got = 0; (got = ::read(client, piece, sizeof(piece))) > 0;) {
      answer.append(piece, static_cast<std::size_t>(got));
    }
  }
  ::close(client);
  return answer;
}

std::string git_location(std::string_view prefix, std::string_view script, std::string_view more) {
  return fmt::format(R"(
    location /{0}/ {{
      {2}
      include fastcgi.conf;
      rewrite ^/{0}(/.*)$ $1 break;
      fastcgi_param PATH_INFO $uri;
      fastcgi_param SCRIPT_FILENAME {1};
    }})",
                     prefix, script, more);
}

}  // namespace

HttpsGitServer::HttpsGitServer() {
  std::filesystem::create_directories(repositories());
  std::filesystem::create_directories(files());
  make_credentials();
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    port_ = free_port();
    plain_port_ = free_port();
    http2_port_ = free_port();
    write_configuration();
    if (start()) {
      return;
    }
    stop();
  }
  throw std::runtime_error("nginx does not start: " + read_text(directory_ / "output.log"));
}

HttpsGitServer::~HttpsGitServer() {
  stop();
}

// Once for all servers of a program, because it takes longer than a server takes to start.
void HttpsGitServer::make_credentials() const {
  struct Made {
    Made() {
      CertificateAuthority(directory.path()).issue("server");
      const std::string hash = run({"openssl", "passwd", "-apr1", "-stdin"}, {}, {}, password() + "\n");
      directory.write("passwords", user() + ":" + hash);
    }
    TemporaryDirectory directory;
  };
  static const Made made;
  std::filesystem::copy(made.directory.path(), directory_.path());
}

void HttpsGitServer::write_script(std::string_view name, std::string_view text) const {
  write_text(directory_ / name, text);
  std::filesystem::permissions(directory_ / name, std::filesystem::perms::owner_all |
                                                      std::filesystem::perms::group_read |
                                                      std::filesystem::perms::others_read);
}

void HttpsGitServer::write_configuration() const {
  const std::string root = directory_.path().string();
  // The listing passes whole; of a pack's answer only the beginning does.
  write_script("truncating",
               fmt::format("#!/bin/sh\nif [ \"$REQUEST_METHOD\" = POST ] && [ \"${{CONTENT_LENGTH:-0}}\" != 0 "
                           "]; then\n  {0} | head -c \"${{MODLOCK_TRUNCATE:-900}}\"\nelse\n  exec {0}\nfi\n",
                           kGitBackend));
  write_script("old", fmt::format("#!/bin/sh\nunset GIT_PROTOCOL HTTP_GIT_PROTOCOL\nexec {}\n", kGitBackend));
  write_text(directory_ / "fastcgi.conf", fmt::format(R"(fastcgi_pass unix:{0}/fcgiwrap.sock;
fastcgi_param GIT_PROJECT_ROOT {0}/repositories;
fastcgi_param GIT_HTTP_EXPORT_ALL "";
fastcgi_param GIT_PROTOCOL $http_git_protocol;
fastcgi_param HTTP_CONTENT_ENCODING $http_content_encoding;
fastcgi_param GIT_CONFIG_NOSYSTEM 1;
fastcgi_param GIT_CONFIG_GLOBAL /dev/null;
fastcgi_param REMOTE_USER $remote_user;
fastcgi_param REMOTE_ADDR $remote_addr;
fastcgi_param REQUEST_METHOD $request_method;
fastcgi_param QUERY_STRING $query_string;
fastcgi_param CONTENT_TYPE $content_type;
fastcgi_param CONTENT_LENGTH $content_length;
)",
                                                      root));
  const std::string auth = fmt::format("auth_basic \"git\"; auth_basic_user_file {}/passwords;", root);
  std::string locations = git_location("open", kGitBackend, "") + git_location("private", kGitBackend, auth) +
                          git_location("truncated", (directory_ / "truncating").string(), "") +
                          git_location("old", (directory_ / "old").string(), "");
  locations += fmt::format(
      "\n    rewrite ^/elsewhere/(.*)$ https://127.0.0.1:{0}/private/$1 redirect;"
      "\n    rewrite ^/moved/(.*)$ https://localhost:{0}/open/$1 redirect;"
      "\n    rewrite ^/down/(.*)$ http://localhost:{2}/open/$1 redirect;"
      "\n    location /forbidden/ {{ return 403; }}\n    location /limited/ {{ return 429; }}"
      "\n    location /failing/ {{ return 500; }}"
      "\n    location /dumb/ {{ alias {1}/repositories/; }}"
      "\n    location ~ ^/v1/modules/(?<package>pattern/.+)/download$ {{"
      "\n      add_header X-Terraform-Get /packages/$package.tar.gz//*;\n      return 204;\n    }}"
      "\n    location ~ ^/v1/modules/(?<package>.+)/download$ {{"
      "\n      add_header X-Terraform-Get /packages/$package.tar.gz//module;\n      return 204;\n    }}"
      "\n    location / {{ root {1}/files; default_type application/json; }}\n",
      port_, root, plain_port_);
  // Root's workers would drop to a user that may not enter our directory.
  write_text(directory_ / "nginx.conf",
             fmt::format(R"({0}
daemon off;
worker_processes 1;
pid {1}/nginx.pid;
error_log {1}/error.log;
events {{ worker_connections 64; }}
http {{
  log_format asked '$host $request_method $request_uri $status $http_authorization';
  log_format connection '$connection $server_protocol';
  access_log {1}/access.log asked;
  client_body_temp_path {1}/t1; proxy_temp_path {1}/t2; fastcgi_temp_path {1}/t3; uwsgi_temp_path {1}/t4;
  scgi_temp_path {1}/t5;
  server {{
    listen unix:{1}/status.sock;
    access_log off;
    location / {{ stub_status; }}
  }}
  server {{
    listen 127.0.0.1:{2} ssl;
    server_name localhost;
    ssl_certificate {1}/server.pem;
    ssl_certificate_key {1}/server.key;
{3}
  }}
  server {{
    listen 127.0.0.1:{4};
    server_name localhost;
{3}
  }}
  server {{
    listen 127.0.0.1:{5} ssl http2;
    server_name localhost;
    ssl_certificate {1}/server.pem;
    ssl_certificate_key {1}/server.key;
    access_log {1}/access.log asked;
    access_log {1}/connections.log connection;
{3}
  }}
}}
)",
                         ::geteuid() == 0 ? "user root;" : "", root, port_, locations, plain_port_, http2_port_));
}

bool HttpsGitServer::start() {
  const std::string root = directory_.path().string();
  const std::filesystem::path output = directory_ / "output.log";
  std::filesystem::remove(directory_ / "fcgiwrap.sock");
  groups_.emplace_back(
      std::vector<std::string>{find_server("fcgiwrap"), "-c", "4", "-s", "unix:" + root + "/fcgiwrap.sock"}, output);
  groups_.emplace_back(
      std::vector<std::string>{find_server("nginx"), "-e", root + "/error.log", "-p", root, "-c", root + "/nginx.conf"},
      output);
  return groups_.back().wait_until(
      [this] { return accepts(port_) && std::filesystem::exists(directory_ / "fcgiwrap.sock"); });
}

void HttpsGitServer::stop() {
  groups_.clear();
}

std::string HttpsGitServer::url(std::string_view prefix, std::string_view name) const {
  return fmt::format("https://{}/{}/{}", host(), prefix, name);
}

std::string HttpsGitServer::http2_url(std::string_view path) const {
  return fmt::format("https://localhost:{}/{}", http2_port_, path);
}

std::string HttpsGitServer::plain_url(std::string_view prefix, std::string_view name) const {
  return fmt::format("http://localhost:{}/{}/{}", plain_port_, prefix, name);
}

// nginx writes a request's line before it closes its connection or waits for the next one: where the question itself is
// all that is being answered, everything has been written.
void HttpsGitServer::wait_until_logged() const {
  for (int poll = 0; poll < kReadyPolls; ++poll) {
    if (ask_unix_socket(directory_ / "status.sock").find("Reading: 0 Writing: 1 ") != std::string::npos) {
      return;
    }
    ::poll(nullptr, 0, 10);
  }
  throw std::runtime_error("a request to the git server never ended");
}

std::vector<std::string> HttpsGitServer::read_log(std::string_view name) const {
  if (!groups_.empty()) {
    wait_until_logged();
  }
  std::istringstream lines(read_text(directory_ / name));
  std::vector<std::string> result;
  for (std::string line; std::getline(lines, line);) {
    result.push_back(line);
  }
  return result;
}

}  // namespace modlock::test
