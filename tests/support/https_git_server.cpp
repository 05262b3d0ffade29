#include "tests/support/https_git_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "backends/process/process.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {

constexpr int kAttempts = 5;      // another process may take the free port first
constexpr int kReadyPolls = 500;  // of 10 ms each
constexpr const char* kGitBackend = "/usr/lib/git-core/git-http-backend";

std::string program(std::string_view name) {
  for (const std::string& path : {std::string(name), "/usr/sbin/" + std::string(name)}) {
    if (const auto found = find_program(path)) {
      return found->string();
    }
  }
  return {};
}

// A listening socket on a free port, and the port.
std::pair<int, int> listen_on_loopback() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (listener < 0 || ::bind(listener, plain, size) != 0 || ::listen(listener, 16) != 0 ||
      ::getsockname(listener, plain, &size) != 0) {
    throw std::runtime_error("cannot listen on the loopback");
  }
  return {listener, ntohs(address.sin_port)};
}

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

bool accepts(int port) {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool connected = ::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  ::close(client);
  return connected;
}

// Starts a program at the head of a process group of its own; its output goes to `log`.
int start_group(std::vector<std::string> arguments, const std::filesystem::path& log) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    throw std::runtime_error("cannot start " + arguments[0]);
  }
  return pid;
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

bool HttpsGitServer::available(std::string_view what) {
  for (const char* name : {"nginx", "fcgiwrap", "openssl", kGitBackend}) {
    if (program(name).empty()) {
      std::cout << "skipped: " << what << " (" << name << " is not installed)\n";
      return false;
    }
  }
  return true;
}

HttpsGitServer::HttpsGitServer() {
  std::filesystem::create_directories(repositories());
  make_certificates();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto [listener, port] = listen_on_loopback();
    ::close(listener);
    port_ = port;
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

void HttpsGitServer::make_certificates() const {
  const auto path = [&](const char* name) { return (directory_ / name).string(); };
  const std::vector<std::string> new_key = {"-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"};
  std::vector<std::string> ask = {"openssl",
                                  "req",
                                  "-x509",
                                  "-days",
                                  "2",
                                  "-subj",
                                  "/CN=Test authority",
                                  "-keyout",
                                  path("authority.key"),
                                  "-out",
                                  path("authority.pem")};
  ask.insert(ask.end(), new_key.begin(), new_key.end());
  run(ask);
  ask = {"openssl", "req", "-subj", "/CN=localhost", "-keyout", path("server.key"), "-out", path("server.csr")};
  ask.insert(ask.end(), new_key.begin(), new_key.end());
  run(ask);
  write_text(directory_ / "names", "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  run({"openssl", "x509", "-req", "-days", "2", "-in", path("server.csr"), "-CA", path("authority.pem"), "-CAkey",
       path("authority.key"), "-CAcreateserial", "-extfile", path("names"), "-out", path("server.pem")});
  const std::string hash = run({"openssl", "passwd", "-apr1", "-stdin"}, {}, {}, password() + "\n");
  write_text(directory_ / "passwords", user() + ":" + hash);
}

void HttpsGitServer::write_configuration() const {
  const std::string root = directory_.path().string();
  const std::filesystem::path truncating = directory_ / "truncating";
  // The listing passes whole; of a pack's answer only the beginning does.
  write_text(truncating,
             fmt::format("#!/bin/sh\nif [ \"$REQUEST_METHOD\" = POST ] && [ \"${{CONTENT_LENGTH:-0}}\" != 0 "
                         "]; then\n  {0} | head -c \"${{MODLOCK_TRUNCATE:-900}}\"\nelse\n  exec {0}\nfi\n",
                         kGitBackend));
  std::filesystem::permissions(truncating, std::filesystem::perms::owner_all | std::filesystem::perms::group_read |
                                               std::filesystem::perms::others_read);
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
                          git_location("truncated", truncating.string(), "");
  locations += fmt::format(
      "\n    rewrite ^/elsewhere/(.*)$ https://127.0.0.1:{0}/private/$1 redirect;"
      "\n    rewrite ^/moved/(.*)$ https://localhost:{0}/open/$1 redirect;"
      "\n    location /forbidden/ {{ return 403; }}\n    location /limited/ {{ return 429; }}"
      "\n    location /failing/ {{ return 500; }}\n",
      port_);
  // Root's workers would drop to a user that may not enter our directory.
  write_text(directory_ / "nginx.conf", fmt::format(R"({0}
daemon off;
worker_processes 1;
pid {1}/nginx.pid;
error_log {1}/error.log;
events {{ worker_connections 64; }}
http {{
  log_format asked '$host $request_method $request_uri $status $http_authorization';
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
}}
)",
                                                    ::geteuid() == 0 ? "user root;" : "", root, port_, locations));
}

bool HttpsGitServer::start() {
  const std::string root = directory_.path().string();
  const std::filesystem::path output = directory_ / "output.log";
  std::filesystem::remove(directory_ / "fcgiwrap.sock");
  groups_.push_back(start_group({program("fcgiwrap"), "-c", "4", "-s", "unix:" + root + "/fcgiwrap.sock"}, output));
  groups_.push_back(
      start_group({program("nginx"), "-e", root + "/error.log", "-p", root, "-c", root + "/nginx.conf"}, output));
  for (int poll = 0; poll < kReadyPolls; ++poll) {
    if (::waitpid(groups_.back(), nullptr, WNOHANG) != 0) {
      return false;
    }
    if (accepts(port_) && std::filesystem::exists(directory_ / "fcgiwrap.sock")) {
      return true;
    }
    ::poll(nullptr, 0, 10);
  }
  return false;
}

void HttpsGitServer::stop() {
  // fcgiwrap leaves its children where only the parent is told; as orphans they become ours, and are waited for.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int group : groups_) {
    ::kill(-group, SIGKILL);
    while (::waitpid(-group, nullptr, 0) > 0) {
    }
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  groups_.clear();
}

std::string HttpsGitServer::url(std::string_view prefix, std::string_view name) const {
  return fmt::format("https://{}/{}/{}", host(), prefix, name);
}

// nginx writes a request's line before it closes the connection: alone with it, everything has been written.
void HttpsGitServer::wait_until_logged() const {
  for (int poll = 0; poll < kReadyPolls; ++poll) {
    if (ask_unix_socket(directory_ / "status.sock").find("Active connections: 1 ") != std::string::npos) {
      return;
    }
    ::poll(nullptr, 0, 10);
  }
  throw std::runtime_error("a connection to the git server never ended");
}

std::vector<std::string> HttpsGitServer::log() const {
  if (!groups_.empty()) {
    wait_until_logged();
  }
  std::istringstream lines(read_text(directory_ / "access.log"));
  std::vector<std::string> result;
  for (std::string line; std::getline(lines, line);) {
    result.push_back(line);
  }
  return result;
}

SilentServer::SilentServer() {
  std::tie(socket_, port_) = listen_on_loopback();
}

SilentServer::~SilentServer() {
  ::close(socket_);
}

}  // namespace modlock::test
