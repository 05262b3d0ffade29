#include "backends/git/git_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iomanip>
#include <sstream>
#include <utility>

#include "backends/address/go_url.h"
#include "backends/base/ascii.h"
#include "backends/base/files.h"
#include "backends/base/text.h"
#include "backends/git/git_configuration.h"
#include "protocol/base/hint.h"

namespace modlock::git {
namespace {

using Setting = std::pair<std::string, std::string>;

constexpr std::array<std::string_view, 6> kTransports = {"https", "http", "ssh", "git", "file", kCodecommit};

// Variables that name a repository in which another process works, and traces that would mix with error output.
const std::vector<std::string>& repository_variables() {
  static const std::vector<std::string> names = {
      "GIT_DIR",           "GIT_WORK_TREE",        "GIT_INDEX_FILE",
      "GIT_INDEX_VERSION", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
      "GIT_COMMON_DIR",    "GIT_NAMESPACE",        "GIT_PREFIX",
      "GIT_INTERNAL_*",    "GIT_QUARANTINE_PATH",  "GIT_SHALLOW_FILE",
      "GIT_GRAFT_FILE",    "GIT_REPLACE_REF_BASE", "GIT_CONFIG",
      "GIT_DEFAULT_HASH",  "GIT_TEMPLATE_DIR",     "GIT_TRACE*",
      "GIT_TR2*",          "GIT_CURL_VERBOSE",     "GIT_REDACT_COOKIES",
      "LANGUAGE"};
  return names;
}

// Whether the user allows a transport by git's rules. GIT_ALLOW_PROTOCOL, which our own list replaces, would hide them.
bool is_allowed(std::string_view transport, bool is_submodule, const EnvironmentLookup& environment,
                const GitConfiguration& users) {
  if (const auto list = environment("GIT_ALLOW_PROTOCOL")) {
    return (":" + *list + ":").find(fmt::format(":{}:", transport)) != std::string::npos;
  }
  auto policy = users.find(fmt::format("protocol.{}.allow", transport));
  policy = policy ? policy : users.find("protocol.allow");
  if (!policy) {
    policy = transport == "file" || transport == kCodecommit ? "user" : "always";
  }
  const std::string lower = ascii::lower(*policy);
  return lower == "always" || (lower == "user" && !is_submodule &&
                               !is_false({"", environment("GIT_PROTOCOL_FROM_USER").value_or("1"), false}));
}

// Returns the transports that both we and the user allow. A server may redirect an https address only to https, so http
// is included only if the address itself uses another scheme, or if the user's own configuration rewrites it to http.
std::string allowed_transports(const RemoteAddress& remote, const EnvironmentLookup& environment,
                               const GitConfiguration& users) {
  const bool with_http =
      remote.scheme != "https" || (remote.full_url.empty() && users.rewrite(remote.url).starts_with("http://"));
  std::string result;
  for (const std::string_view transport : kTransports) {
    if ((with_http || transport != "http") && (remote.scheme == kCodecommit || transport != kCodecommit) &&
        is_allowed(transport, remote.is_submodule, environment, users)) {
      result += (result.empty() ? "" : ":") + std::string(transport);
    }
  }
  return result;
}

// Returns the user's own ssh command with prompts disabled.
std::string ssh_command(const EnvironmentLookup& environment, const std::optional<std::string>& configured_ssh,
                        const std::filesystem::path& ssh_key) {
  std::string command = "ssh";
  if (const auto whole = environment("GIT_SSH_COMMAND")) {
    command = *whole;
  } else if (configured_ssh) {
    command = *configured_ssh;
  } else if (const auto program = environment("GIT_SSH")) {
    command = shell_word(*program);
  }
  if (!ssh_key.empty()) {
    command += " -i " + shell_word(ssh_key.string());
  }
  const std::string variant = environment("GIT_SSH_VARIANT").value_or("ssh");
  if (variant == "plink" || variant == "putty" || variant == "tortoiseplink") {
    return command + " -batch";
  }
  return variant == "simple" ? command : command + " -o BatchMode=yes";
}

// Queries the askpass program in the words of git. The address is in variables, because a shell would run parts of it.
constexpr const char* kAskHelper =
    "!f() { test \"$1\" = get && u=$(sed -n s/^username=//p) && s=$MODLOCK_GIT_SCHEME h=$MODLOCK_GIT_HOST && "
    "{ test -n \"$u\" || u=$(\"$MODLOCK_ASKPASS\" \"Username for '$s://$h': \"); } && "
    "p=$(\"$MODLOCK_ASKPASS\" \"Password for '$s://$u@$h': \") && "
    "printf 'username=%s\\npassword=%s\\n' \"$u\" \"$p\"; }; f";

// The same for the password of a client certificate (http.sslCertPasswordProtected).
constexpr const char* kCertificateHelper =
    "!f() { test \"$1\" = get && i=$(cat) && g() { printf '%s\\n' \"$i\" | sed -n \"s/^$1=//p\"; } && "
    "test \"$(g protocol)\" = cert && p=$(\"$MODLOCK_ASKPASS\" \"Password for 'cert:///$(g path)': \") && "
    "printf 'password=%s\\n' \"$p\"; }; f";

// Binds credentials to the host of the address, so that a redirect to another host does not get them. An empty helper
// drops the user's helpers for this host, as git itself does for an address with user-info.
void add_credentials(const RemoteAddress& remote, const EnvironmentLookup& environment, const GitConfiguration& users,
                     std::vector<Setting>& settings, std::map<std::string, std::string>& variables) {
  if (remote.scheme != "https" && remote.scheme != "http") {
    return;
  }
  const std::string section = "credential." + remote.scheme + "://" + remote.host;
  if (!remote.password) {
    if (!remote.username.empty()) {
      settings.emplace_back(section + ".username", remote.username.reveal());
    }
    const auto url = GoUrl::parse(users.rewrite(remote.url));
    const auto program = askpass_program(environment, users);
    // Else a program that reads the host from the prompt could read another one in the user name.
    const std::string name = remote.username.reveal();
    const bool is_plain_name = std::ranges::all_of(
        name, [](char c) { return ascii::is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~'; });
    if (remote.uses_askpass && program && is_plain_name && url && url->scheme.starts_with("http")) {
      variables["MODLOCK_ASKPASS"] = *program;
      variables["MODLOCK_GIT_SCHEME"] = url->scheme;
      variables["MODLOCK_GIT_HOST"] = url->host;
      settings.emplace_back(fmt::format("credential.{}://{}.helper", url->scheme, url->host), kAskHelper);
      settings.emplace_back("credential.helper", kCertificateHelper);
    }
    return;
  }
  variables["MODLOCK_GIT_USERNAME"] = remote.username.reveal();
  variables["MODLOCK_GIT_PASSWORD"] = remote.password->reveal();
  settings.emplace_back(section + ".helper", "");
  settings.emplace_back(section + ".helper",
                        "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' "
                        "\"$MODLOCK_GIT_USERNAME\" \"$MODLOCK_GIT_PASSWORD\"; }; f");
}

constexpr std::string_view kHelper = "tofu-modlock";
constexpr std::string_view kRemoteName = "tofu-modlock-address";

// Other users of this machine can see arguments, but not environments. For a hidden query, git gets a custom transport,
// which is an alias: git-remote-https reads the address from the remote of that name. The rule from the address to
// itself overrides the user's rules.
void add_query(const RemoteAddress& remote, const EnvironmentLookup& environment, std::vector<Setting>& settings,
               Command& command) {
  std::string url = remote.full_url.reveal();
  // libcurl selects an entry of ~/.netrc by the user in the address. Another user may be a token, which arguments must
  // not show: of an entry without a login it is hidden as a query is.
  const std::string& user = remote.username.reveal();
  const auto logins = remote.password || user.empty() ? std::vector<std::string>() : netrc_logins(remote, environment);
  const bool is_login = std::ranges::find(logins, user) != logins.end();
  const bool may_be_token = !is_login && std::ranges::find(logins, "") != logins.end();
  if (auto parsed = is_login || may_be_token ? GoUrl::parse(url.empty() ? remote.url : url) : std::nullopt) {
    parsed->user = GoUrl::UserInfo{.name = user, .password = {}};
    url = parsed->to_string();
  }
  if (!remote.hides_query() && !may_be_token) {
    if (!url.empty()) {
      settings.emplace_back("url." + url + ".insteadOf", remote.url);
    }
    return;
  }
  settings.emplace_back(fmt::format("remote.{}.url", kRemoteName), url);
  settings.emplace_back("url." + url + ".insteadOf", url);
  settings.emplace_back(fmt::format("alias.remote-{}", kHelper),
                        fmt::format("!f() {{ exec git remote-{} {}; }}; f", remote.scheme, kRemoteName));
  std::ranges::replace(command.argv, remote.url, fmt::format("{}::{}", kHelper, remote.url));
  std::string& allowed = command.set_environment["GIT_ALLOW_PROTOCOL"];
  if ((":" + allowed + ":").find(":" + remote.scheme + ":") != std::string::npos) {
    allowed += fmt::format(":{}", kHelper);
  }
}

// The user's own variables follow the files that git does not include by itself, and ours follow those.
void add_settings(const std::vector<Setting>& settings, const EnvironmentLookup& environment,
                  const std::vector<std::string>& includes, std::map<std::string, std::string>& variables) {
  const std::string users = environment("GIT_CONFIG_COUNT").value_or("0");
  std::size_t count = 0;
  if (std::from_chars(users.data(), users.data() + users.size(), count).ec != std::errc{}) {
    count = 0;
  }
  for (std::size_t i = 0; i < count && !includes.empty(); ++i) {
    for (const char* name : {"GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"}) {
      variables[name + std::to_string(i + includes.size())] =
          environment((name + std::to_string(i)).c_str()).value_or("");
    }
  }
  for (std::size_t i = 0; i < includes.size(); ++i, ++count) {
    variables["GIT_CONFIG_KEY_" + std::to_string(i)] = "include.path";
    variables["GIT_CONFIG_VALUE_" + std::to_string(i)] = includes[i];
  }
  for (const auto& [key, value] : settings) {
    variables["GIT_CONFIG_KEY_" + std::to_string(count)] = key;
    variables["GIT_CONFIG_VALUE_" + std::to_string(count)] = value;
    ++count;
  }
  variables["GIT_CONFIG_COUNT"] = std::to_string(count);
}

}  // namespace

std::vector<std::string> netrc_logins(const RemoteAddress& remote, const EnvironmentLookup& environment) {
  const auto home = environment("HOME");
  std::istringstream text(home ? read_file(*home + "/.netrc").value_or("") : "");
  std::vector<std::string> logins;
  std::size_t others = 0;  // logins of the entries before
  bool is_of_host = false;
  bool in_macro = false;
  std::string next;  // what the next word is the value of
  for (std::string line; std::getline(text, line);) {
    in_macro = in_macro && !line.empty() && line != "\r";
    std::istringstream words(line);
    for (std::string word; !in_macro && (words >> std::ws).peek() != '#' && words >> std::quoted(word);) {
      const std::string lower = ascii::lower(word);
      const std::string key = std::exchange(next, "");
      if (key == "machine") {
        is_of_host = lower == ascii::lower(remote.host.substr(0, remote.host.find(':')));
        others = logins.size();
      } else if (key == "login" || (key == "password" && logins.size() == others)) {
        logins.push_back(key == "login" ? word : "");
      } else if (key.empty() && (lower == "machine" || (is_of_host && (lower == "login" || lower == "password")))) {
        next = lower;
      } else if (key.empty() && !is_of_host) {
        is_of_host = lower == "default";
        in_macro = lower == "macdef";
      }
    }
  }
  return logins;
}

std::optional<std::string> lookup_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Command network_command(const RemoteAddress& remote, std::vector<std::string> arguments,
                        const EnvironmentLookup& environment, const GitConfiguration* known,
                        const std::filesystem::path& ssh_key, bool follows_redirects, std::chrono::seconds patience) {
  const GitConfiguration users = known == nullptr ? GitConfiguration() : *known;
  Command command{.argv = std::move(arguments)};
  command.argv.insert(command.argv.begin(), "git");
  // Not our working directory: it may have a repository whose configuration must not apply to the remote.
  command.directory = "/";
  command.unset_environment = repository_variables();
  command.set_environment = {{"LC_ALL", "C"},
                             {"GIT_TERMINAL_PROMPT", "0"},
                             {"GIT_ASKPASS", ""},
                             {"SSH_ASKPASS", ""},
                             {"SSH_ASKPASS_REQUIRE", "never"},
                             {"GCM_INTERACTIVE", "never"},
                             {"GIT_NO_LAZY_FETCH", "1"},
                             {"GIT_ALLOW_PROTOCOL", allowed_transports(remote, environment, users)},
                             {"GIT_SSH_COMMAND", ssh_command(environment, users.find("core.sshcommand"), ssh_key)}};
  const char* const redirects = follows_redirects && !users.forbids_redirects(remote.url) ? "initial" : "false";
  std::vector<Setting> settings = {
      {"protocol.version", "2"},           {"http.followRedirects", redirects},
      {"http.lowSpeedLimit", "1"},         {"http.lowSpeedTime", std::to_string(patience.count())},
      {"core.hooksPath", "/dev/null"},     {"gc.auto", "0"},
      {"maintenance.auto", "false"},       {"fetch.recurseSubmodules", "false"},
      {"credential.interactive", "false"}, {"fetch.unpackLimit", "1"},
  };
  const auto& all = users.entries();  // a value for the URL would hide ours
  if (std::ranges::any_of(all, [](const auto& entry) { return entry.key.ends_with(".followredirects"); })) {
    const std::string url = remote.full_url.empty() ? users.rewrite(remote.url) : remote.full_url.reveal();
    settings.emplace_back(fmt::format("http.{}.followRedirects", url), redirects);
  }
  add_credentials(remote, environment, users, settings, command.set_environment);
  add_query(remote, environment, settings, command);
  if (users.has_remote_conditions() && !remote.hides_query()) {
    settings.emplace_back(fmt::format("remote.{}.url", kRemoteName), remote.url);
  }
  add_settings(settings, environment, users.includes(), command.set_environment);
  return command;
}

Command configuration_command(const RemoteAddress& remote, std::vector<std::string> arguments,
                              const EnvironmentLookup& environment, const GitConfiguration& users) {
  Command command{.argv = std::move(arguments), .directory = "/", .unset_environment = repository_variables()};
  command.argv.insert(command.argv.begin(), "git");
  const std::string& url = remote.full_url.empty() ? remote.url : remote.full_url.reveal();
  add_settings({{fmt::format("remote.{}.url", kRemoteName), url}}, environment, users.includes(),
               command.set_environment);
  return command;
}

std::optional<std::string> askpass_program(const EnvironmentLookup& environment, const GitConfiguration& users) {
  auto program = environment("GIT_ASKPASS");
  program = program ? program : users.find("core.askpass");
  program = program ? program : environment("SSH_ASKPASS");
  if (program && program->starts_with("~/")) {
    program = environment("HOME").value_or("") + program->substr(1);
  }
  return program && program->empty() ? std::nullopt : program;
}

Command version_command(const RemoteAddress& remote, const EnvironmentLookup& environment,
                        const GitConfiguration* users, bool follows_redirects, std::chrono::seconds patience) {
  Command command = network_command(remote, {"remote-" + remote.scheme, std::string(kRemoteName)}, environment, users,
                                    {}, follows_redirects, patience);
  command.input = "stateless-connect git-upload-pack\n";
  return command;
}

Command local_command(const std::filesystem::path& repository, std::vector<std::string> arguments,
                      const std::filesystem::path& directory, const std::filesystem::path& index) {
  Command command{.argv = {"git", "-c", "core.attributesFile=/dev/null", "-c", "core.hooksPath=/dev/null"}};
  command.argv.insert(command.argv.end(), std::make_move_iterator(arguments.begin()),
                      std::make_move_iterator(arguments.end()));
  command.unset_environment = {"GIT_*", "LANGUAGE"};
  command.set_environment = {{"LC_ALL", "C"},
                             {"GIT_DIR", repository.string()},
                             {"GIT_CONFIG_NOSYSTEM", "1"},
                             {"GIT_CONFIG_SYSTEM", "/dev/null"},
                             {"GIT_CONFIG_GLOBAL", "/dev/null"},
                             {"GIT_ATTR_NOSYSTEM", "1"},
                             {"GIT_NO_REPLACE_OBJECTS", "1"},
                             {"GIT_TERMINAL_PROMPT", "0"},
                             {"GIT_NO_LAZY_FETCH", "1"},
                             {"GIT_ALLOW_PROTOCOL", ""}};
  if (const auto programs = lookup_environment("GIT_EXEC_PATH")) {
    command.set_environment["GIT_EXEC_PATH"] = *programs;
  }
  if (!directory.empty()) {
    command.directory = directory;
    command.set_environment["GIT_WORK_TREE"] = directory.string();
    command.set_environment["GIT_INDEX_FILE"] = index.string();
  }
  return command;
}

Command enclosing_command(const std::filesystem::path& directory, std::vector<std::string> arguments) {
  // A partial clone must fail to fetch what it lacks. With GIT_NO_LAZY_FETCH, which users may set, git 2.44 and later
  // say instead that there is no such file.
  Command command{
      .argv = {"git", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}};
  command.argv.insert(command.argv.end(), std::make_move_iterator(arguments.begin()),
                      std::make_move_iterator(arguments.end()));
  command.directory = directory;
  command.unset_environment = repository_variables();
  command.set_environment = {{"LC_ALL", "C"},
                             {"GIT_NO_LAZY_FETCH", "0"},
                             {"GIT_TERMINAL_PROMPT", "0"},
                             {"GIT_OPTIONAL_LOCKS", "0"},
                             {"GIT_ALLOW_PROTOCOL", ""}};
  return command;
}

}  // namespace modlock::git
