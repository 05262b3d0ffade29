#include "backends/git/git_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <map>

#include "backends/git/git_configuration.h"
#include "tests/backends/git/git_fixture.h"
#include "tests/support/run.h"

namespace modlock::git {

BOOST_AUTO_TEST_SUITE(git_command)

namespace {

using Variables = std::map<std::string, std::string>;

EnvironmentLookup fake(Variables variables) {
  return [variables = std::move(variables)](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional(at->second);
  };
}

RemoteAddress remote(const std::string& scheme) {
  return {.url = scheme + "://h.test:1/m.git",
          .full_url = {},
          .display = "m",
          .scheme = scheme,
          .host = "h.test:1",
          .username = {},
          .password = {}};
}

// The configuration that the child gets through its environment, in order.
std::string settings(const Command& command, std::size_t first = 0) {
  std::string text;
  const std::size_t count = std::stoul(command.set_environment.at("GIT_CONFIG_COUNT"));
  for (std::size_t i = first; i < count; ++i) {
    text += command.set_environment.at("GIT_CONFIG_KEY_" + std::to_string(i)) + "=" +
            command.set_environment.at("GIT_CONFIG_VALUE_" + std::to_string(i)) + "\n";
  }
  return text;
}

bool unsets(const Command& command, const std::string& name) {
  return std::find(command.unset_environment.begin(), command.unset_environment.end(), name) !=
         command.unset_environment.end();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_network_command_cannot_prompt_and_sees_no_repository) {
  const Command command =
      network_command(remote("https"), {"ls-remote"}, fake({}), {}, {}, true, std::chrono::seconds{7});
  BOOST_TEST(command.argv == (std::vector<std::string>{"git", "ls-remote"}), boost::test_tools::per_element());
  const Variables& set = command.set_environment;
  BOOST_TEST(set.at("GIT_TERMINAL_PROMPT") == "0");
  BOOST_TEST(set.at("GIT_ASKPASS") == "");
  BOOST_TEST(set.at("SSH_ASKPASS") == "");
  BOOST_TEST(set.at("LC_ALL") == "C");
  BOOST_TEST(set.at("GIT_SSH_COMMAND") == "ssh -o BatchMode=yes");
  BOOST_TEST(set.at("GIT_ALLOW_PROTOCOL") == "https:ssh:git:file");
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_TRACE*"}) {
    BOOST_TEST(unsets(command, name), name);
  }
  for (const char* name : {"GIT_SSL_CAINFO", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "GIT_*"}) {
    BOOST_TEST(!unsets(command, name), name);
  }
  BOOST_TEST(settings(command) ==
             "protocol.version=2\nhttp.followRedirects=initial\nhttp.lowSpeedLimit=1\nhttp.lowSpeedTime=7\n"
             "core.hooksPath=/dev/null\ngc.auto=0\nmaintenance.auto=false\nfetch.recurseSubmodules=false\n"
             "credential.interactive=false\nfetch.unpackLimit=1\n");
}

BOOST_AUTO_TEST_CASE(our_settings_follow_the_users) {
  const Command command = network_command(remote("https"), {"fetch"}, fake({{"GIT_CONFIG_COUNT", "2"}}));
  BOOST_TEST(command.set_environment.count("GIT_CONFIG_KEY_1") == 0U);
  BOOST_TEST(command.set_environment.at("GIT_CONFIG_KEY_2") == "protocol.version");
  BOOST_TEST(command.set_environment.at("GIT_CONFIG_COUNT") == "12");
}

BOOST_AUTO_TEST_CASE(a_password_goes_through_a_helper_bound_to_its_host) {
  RemoteAddress address = remote("https");
  address.username = SecretText("user");
  address.password = SecretText("secret'\"$(id)");
  const Command command = network_command(address, {"fetch"}, fake({}));
  for (const std::string& argument : command.argv) {
    BOOST_TEST(argument.find("secret") == std::string::npos);
  }
  BOOST_TEST(settings(command).find("secret") == std::string::npos);
  BOOST_TEST(settings(command, 10) ==
             "credential.https://h.test:1.helper=\n"
             "credential.https://h.test:1.helper=!f() { test \"$1\" = get && printf "
             "'username=%s\\npassword=%s\\n' \"$MODLOCK_GIT_USERNAME\" "
             "\"$MODLOCK_GIT_PASSWORD\"; }; f\n");
  BOOST_TEST(command.set_environment.at("MODLOCK_GIT_PASSWORD") == "secret'\"$(id)");
}

BOOST_AUTO_TEST_CASE(a_user_alone_leaves_the_password_to_the_users_helpers) {
  RemoteAddress address = remote("https");
  address.username = SecretText("user");
  BOOST_TEST(settings(network_command(address, {"fetch"}, fake({})), 10) ==
             "credential.https://h.test:1.username=user\n");
}

BOOST_AUTO_TEST_CASE(a_query_is_put_back_by_the_environment) {
  RemoteAddress address = remote("https");
  address.full_url = SecretText("https://h.test:1/m.git?token=T0KEN");
  const Command command = network_command(address, {"ls-remote", address.url}, fake({}));
  BOOST_TEST(command.argv == (std::vector<std::string>{"git", "ls-remote", "tofu-modlock::https://h.test:1/m.git"}),
             boost::test_tools::per_element());
  BOOST_TEST(settings(command, 10) ==
             "remote.tofu-modlock-address.url=https://h.test:1/m.git?token=T0KEN\n"
             "url.https://h.test:1/m.git?token=T0KEN.insteadOf=https://h.test:1/m.git?token=T0KEN\n"
             "alias.remote-tofu-modlock=!f() { exec git remote-https tofu-modlock-address; }; f\n");
  BOOST_TEST(command.set_environment.at("GIT_ALLOW_PROTOCOL") == "https:ssh:git:file:tofu-modlock");
  const Command refused = network_command(address, {}, fake({{"GIT_ALLOW_PROTOCOL", "ssh"}}));
  BOOST_TEST(refused.set_environment.at("GIT_ALLOW_PROTOCOL") == "ssh");
  const Command asking = version_command(address, fake({}), nullptr, true, std::chrono::seconds{30});
  BOOST_TEST(asking.argv == (std::vector<std::string>{"git", "remote-https", "tofu-modlock-address"}),
             boost::test_tools::per_element());
}

// As `git ls-remote` with libcurl 7.88 sends them.
BOOST_AUTO_TEST_CASE(logins_of_netrc_follow_the_grammar_of_libcurl) {
  struct Row {
    const char* name;
    const char* text;
    std::vector<std::string> logins;
  };
  const std::string two = "machine h.test login v password q\nmachine h.test login u password p\n";
  const test::TemporaryDirectory home;
  for (const Row& row : {
           Row{"plain", "", {"v", "u"}},
           Row{"a comment", "# a comment of five words\n", {"v", "u"}},
           Row{"a comment after values", "machine h.test login w password p # of three words\n", {"w", "v", "u"}},
           Row{"a password with #", "machine a.test login w password p#q\n", {"v", "u"}},
           Row{"a macro", "macdef init\ncd /x/y\nmachine h.test login w\n\n", {"v", "u"}},
           Row{"a macro with CRLF", "macdef init\r\ncd /x/y\r\n\r\n", {"v", "u"}},
           Row{"a macro of another host", "machine a.test macdef x\nmachine h.test login w\n\n", {"v", "u"}},
           Row{"a quoted password", "machine a.test login x password \"p w machine h.test login w\"\n", {"v", "u"}},
           Row{"an escaped quote", R"(machine a.test login "x\" machine h.test login w" password p)", {"v", "u"}},
           Row{"a quoted login", "machine h.test login \"w\" password p\n", {"w", "v", "u"}},
           Row{"on several lines", "machine\n  h.test\n  login\n  w\n", {"w", "v", "u"}},
           Row{"keywords in upper case", "MACHINE H.TEST LOGIN w PASSWORD p\n", {"w", "v", "u"}},
           Row{"an unknown word", "machine h.test port login w password p\n", {"w", "v", "u"}},
           Row{"default", "default login w password p\n", {"w", "v", "u"}},
           Row{"a password before the login", "machine h.test password p login w\n", {"", "w", "v", "u"}},
           Row{"a password alone", "machine h.test password p\n", {"", "v", "u"}},
           Row{"no password", "machine h.test\n", {"v", "u"}},
           Row{"another host", "machine a.test login w password p\n", {"v", "u"}},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      test::write_text(home / ".netrc", std::string(row.text) + "\n" + two);
      BOOST_TEST(netrc_logins(remote("https"), fake({{"HOME", home.path().string()}})) == row.logins,
                 boost::test_tools::per_element());
    }
  }
}

// The user of an address may be a token. Only one that ~/.netrc names as a login is not.
BOOST_AUTO_TEST_CASE(the_user_of_an_entry_without_a_login_is_in_no_argument) {
  const test::TemporaryDirectory home;
  RemoteAddress address = remote("https");
  address.username = SecretText("T0KEN");
  for (const char* const login : {"", " login T0KEN"}) {
    BOOST_TEST_CONTEXT(login) {
      test::write_text(home / ".netrc", fmt::format("machine h.test{} password x\n", login));
      const Command command =
          network_command(address, {"ls-remote", address.url}, fake({{"HOME", home.path().string()}}));
      const bool is_hidden = *login == '\0';
      BOOST_TEST(command.argv.back() ==
                 (is_hidden ? "tofu-modlock::https://h.test:1/m.git" : "https://h.test:1/m.git"));
      BOOST_TEST(settings(command, 11) ==
                 (is_hidden ? "remote.tofu-modlock-address.url=https://T0KEN@h.test:1/m.git\n"
                              "url.https://T0KEN@h.test:1/m.git.insteadOf=https://T0KEN@h.test:1/m.git\n"
                              "alias.remote-tofu-modlock=!f() { exec git remote-https tofu-modlock-address; }; f\n"
                            : "url.https://T0KEN@h.test:1/m.git.insteadOf=https://h.test:1/m.git\n"));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_address_that_a_server_led_to_is_put_in_by_the_environment) {
  RemoteAddress address = remote("https");
  address.full_url = SecretText("https://elsewhere.test/m.git");
  const Command command = network_command(address, {"ls-remote", address.url}, fake({}));
  BOOST_TEST(command.argv == (std::vector<std::string>{"git", "ls-remote", "https://h.test:1/m.git"}),
             boost::test_tools::per_element());
  BOOST_TEST(settings(command, 10) == "url.https://elsewhere.test/m.git.insteadOf=https://h.test:1/m.git\n");
}

BOOST_AUTO_TEST_CASE(the_users_ssh_is_told_not_to_ask) {
  struct Row {
    const char* name;
    Variables variables;
    std::optional<std::string> configured;
    const char* expected;
  };
  for (const Row& row : {
           Row{"default", {}, std::nullopt, "ssh -o BatchMode=yes"},
           Row{"command",
               {{"GIT_SSH_COMMAND", "ssh -i k"}, {"GIT_SSH", "/x"}},
               "ssh -p 2",
               "ssh -i k -o BatchMode=yes"},
           Row{"configuration", {{"GIT_SSH", "/x"}}, "ssh -p 2", "ssh -p 2 -o BatchMode=yes"},
           Row{"program", {{"GIT_SSH", "/my ssh's"}}, std::nullopt, "'/my ssh'\\''s' -o BatchMode=yes"},
           Row{"plink", {{"GIT_SSH", "plink"}, {"GIT_SSH_VARIANT", "plink"}}, std::nullopt, "plink -batch"},
           Row{"simple", {{"GIT_SSH", "mine"}, {"GIT_SSH_VARIANT", "simple"}}, std::nullopt, "mine"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const GitConfiguration users(
          row.configured ? std::vector<GitConfiguration::Entry>{{"core.sshcommand", *row.configured, false}}
                         : std::vector<GitConfiguration::Entry>{});
      const Command command = network_command(remote("ssh"), {"fetch"}, fake(row.variables), &users);
      BOOST_TEST(command.set_environment.at("GIT_SSH_COMMAND") == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_user_may_allow_less_than_we_do_and_not_more) {
  struct Row {
    const char* name;
    const char* users;
    const char* expected;
  };
  for (const Row& row :
       {Row{"less", "https:ssh", "https:ssh"}, Row{"more", "ext:https", "https"}, Row{"none", "", ""}}) {
    BOOST_TEST_CONTEXT(row.name) {
      const Command command = network_command(remote("https"), {}, fake({{"GIT_ALLOW_PROTOCOL", row.users}}));
      BOOST_TEST(command.set_environment.at("GIT_ALLOW_PROTOCOL") == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(http_is_for_addresses_of_http) {
  BOOST_TEST(network_command(remote("http"), {}, fake({})).set_environment.at("GIT_ALLOW_PROTOCOL") ==
             "https:http:ssh:git:file");
  for (const char* users : {"https:http", "https:ssh"}) {
    const auto environment = fake({{"GIT_ALLOW_PROTOCOL", users}});
    const auto allowed = [&](const GitConfiguration* known) {
      return network_command(remote("https"), {}, environment, known).set_environment.at("GIT_ALLOW_PROTOCOL");
    };
    BOOST_TEST(allowed(nullptr) == (users == std::string("https:ssh") ? users : "https"));
    const GitConfiguration rewriting({{"url.http://m.test/.insteadof", "https://h.test:1/", false}});
    BOOST_TEST(allowed(&rewriting) == users);
  }
}

BOOST_AUTO_TEST_CASE(the_policy_of_the_user_narrows_ours) {
  using Entries = std::vector<GitConfiguration::Entry>;
  struct Row {
    const char* name;
    Variables variables;
    Entries entries;
    const char* transports;
    const char* redirects;
  };
  for (const Row& row : {
           Row{"none", {}, {}, "https:http:ssh:git:file", "initial"},
           Row{"only https",
               {},
               {{"protocol.allow", "never", false}, {"protocol.https.allow", "always", false}},
               "https",
               "initial"},
           Row{"no file", {}, {{"protocol.file.allow", "never", false}}, "https:http:ssh:git", "initial"},
           Row{"ext", {}, {{"protocol.ext.allow", "always", false}}, "https:http:ssh:git:file", "initial"},
           Row{"no value of git", {}, {{"protocol.http.allow", "perhaps", false}}, "https:ssh:git:file", "initial"},
           Row{"not from a user", {{"GIT_PROTOCOL_FROM_USER", "0"}}, {}, "https:http:ssh:git", "initial"},
           Row{"only for users, and not from one",
               {{"GIT_PROTOCOL_FROM_USER", "0"}},
               {{"protocol.http.allow", "user", false}},
               "https:ssh:git",
               "initial"},
           Row{"a list hides the settings",
               {{"GIT_ALLOW_PROTOCOL", "http"}},
               {{"protocol.allow", "never", false}},
               "http",
               "initial"},
           Row{"no redirects", {}, {{"http.followredirects", "No", false}}, "https:http:ssh:git:file", "false"},
           Row{"all redirects", {}, {{"http.followredirects", "true", false}}, "https:http:ssh:git:file", "initial"},
           Row{"no redirects of the host",
               {},
               {{"http.http://h.test:1/.followredirects", "false", false}},
               "https:http:ssh:git:file",
               "false"},
           Row{"no redirects of another host",
               {},
               {{"http.http://i.test/.followredirects", "false", false}},
               "https:http:ssh:git:file",
               "initial"},
           Row{"no redirects of a pattern",
               {},
               {{"http.http://*.test:1/.followredirects", "false", false}},
               "https:http:ssh:git:file",
               "false"},
           Row{"no redirects, but all of another pattern",
               {},
               {{"http.followredirects", "false", false}, {"http.http://*.i.test/.followredirects", "true", false}},
               "https:http:ssh:git:file",
               "false"},
           Row{"no redirects, but all of the host",
               {},
               {{"http.followredirects", "false", false}, {"http.http://h.test:1/.followredirects", "true", false}},
               "https:http:ssh:git:file",
               "initial"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const GitConfiguration users(row.entries);
      const Command command = network_command(remote("http"), {}, fake(row.variables), &users);
      BOOST_TEST(command.set_environment.at("GIT_ALLOW_PROTOCOL") == row.transports);
      BOOST_TEST(settings(command).find(std::string("http.followRedirects=") + row.redirects) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_policy_for_addresses_of_the_user_is_not_for_submodules) {
  RemoteAddress address = remote("https");
  const GitConfiguration users({{"protocol.ssh.allow", "User", false}, {"protocol.git.allow", "always", false}});
  for (const auto& [is_submodule, expected] : {std::pair{false, "https:ssh:git:file"}, {true, "https:git"}}) {
    address.is_submodule = is_submodule;
    const Command command = network_command(address, {}, fake({{"GIT_PROTOCOL_FROM_USER", "1"}}), &users);
    BOOST_TEST(command.set_environment.at("GIT_ALLOW_PROTOCOL") == expected);
  }
}

// Asks git which value applies to the URL that it requests.
BOOST_AUTO_TEST_CASE(no_value_of_the_user_for_a_url_hides_ours) {
  const modlock::test::TemporaryDirectory directory;
  struct Row {
    const char* name;
    const char* pattern;
    const char* base;      // of url.<base>.insteadOf; empty: none
    const char* full_url;  // empty: none
    const char* requested;
  };
  for (const Row& row : {
           Row{"the host", "https://H.test:1", "", "", "https://h.test:1/m.git/"},
           Row{"the repository", "https://h.test:1/m.git/", "", "", "https://h.test:1/m.git/"},
           Row{"a wildcard", "https://*.test:1/m.git", "", "", "https://h.test:1/m.git/"},
           Row{"a mirror", "https://u@i.test/m.git", "https://u@i.test/", "", "https://u@i.test/m.git/"},
           Row{"a query", "https://h.test:1/", "", "https://h.test:1/m.git?t=a.b", "https://h.test:1/m.git?t=a.b/"},
           Row{"a redirect", "https://i.test/", "", "https://i.test/m.git", "https://i.test/m.git/"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string key = fmt::format("http.{}.followRedirects", row.pattern);
      RemoteAddress address = remote("https");
      address.full_url = SecretText(row.full_url);
      const GitConfiguration users({{fmt::format("http.{}.followredirects", row.pattern), "true", false},
                                    {fmt::format("url.{}.insteadof", row.base), "https://h.test:1/", false}});
      auto variables = network_command(address, {}, fake({}), &users, {}, false).set_environment;
      directory.write("gitconfig", fmt::format("[http \"{}\"]\n\tfollowRedirects = true\n", row.pattern));
      variables["GIT_CONFIG_GLOBAL"] = (directory / "gitconfig").string();
      BOOST_TEST(modlock::test::run({"git", "config", "--get-urlmatch", "http.followRedirects", row.requested},
                                    directory.path(), variables) == "false\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(only_addresses_of_the_user_query_the_askpass_program) {
  using Entries = std::vector<GitConfiguration::Entry>;
  struct Row {
    const char* name;
    Variables variables;
    Entries entries;
    const char* program;  // empty: none
    const char* host;
    const char* username = "";
  };
  for (const Row& row : {
           Row{"none", {}, {}, "", ""},
           Row{"GIT_ASKPASS", {{"GIT_ASKPASS", "/a"}, {"SSH_ASKPASS", "/s"}}, {}, "/a", "h.test:1"},
           Row{"an empty GIT_ASKPASS", {{"GIT_ASKPASS", ""}, {"SSH_ASKPASS", "/s"}}, {}, "", ""},
           Row{"core.askPass",
               {{"HOME", "/home/u"}, {"SSH_ASKPASS", "/s"}},
               {{"core.askpass", "~/a", false}},
               "/home/u/a",
               "h.test:1"},
           Row{"SSH_ASKPASS", {{"SSH_ASKPASS", "/s"}}, {}, "/s", "h.test:1"},
           Row{"a mirror of the user",
               {{"GIT_ASKPASS", "/a"}},
               {{"url.https://mirror.test/.insteadof", "https://h.test:1/", false}},
               "/a",
               "mirror.test"},
           Row{"a user", {{"GIT_ASKPASS", "/a"}}, {}, "/a", "h.test:1", "ci-bot_1.x~"},
           Row{"a user like another host", {{"GIT_ASKPASS", "/a"}}, {}, "", "", "x@bank.test"},
           Row{"a user that ends the prompt", {{"GIT_ASKPASS", "/a"}}, {}, "", "", "x@bank.test':"},
           Row{"a user with a space", {{"GIT_ASKPASS", "/a"}}, {}, "", "", "x y"},
           Row{"a user with an escape", {{"GIT_ASKPASS", "/a"}}, {}, "", "", "x%40bank.test"},
           Row{"a user like a path", {{"GIT_ASKPASS", "/a"}}, {}, "", "", "bank.test/"},
       }) {
    for (const bool is_users : {true, false}) {
      BOOST_TEST_CONTEXT(row.name << " " << is_users) {
        RemoteAddress address = remote("https");
        address.uses_askpass = is_users;
        address.username = SecretText(row.username);
        const GitConfiguration users(row.entries);
        const Command command = network_command(address, {}, fake(row.variables), &users);
        BOOST_TEST(command.set_environment.at("GIT_ASKPASS") == "");
        BOOST_TEST(command.set_environment.at("SSH_ASKPASS") == "");
        const auto program = command.set_environment.find("MODLOCK_ASKPASS");
        BOOST_TEST((program == command.set_environment.end() ? "" : program->second) == (is_users ? row.program : ""));
        const std::string helper = std::string("credential.https://") + row.host + ".helper=!f()";
        for (const std::string& setting : {helper, std::string("credential.helper=!f()")}) {
          BOOST_TEST((settings(command).find(setting) != std::string::npos) == (is_users && *row.program != '\0'));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_local_command_sees_no_configuration_and_no_network) {
  const Command command = local_command("/cache/r", {"read-tree", "x"}, "/srv/t", "/srv/t.index");
  BOOST_TEST(command.argv == (std::vector<std::string>{"git", "-c", "core.attributesFile=/dev/null", "-c",
                                                       "core.hooksPath=/dev/null", "read-tree", "x"}),
             boost::test_tools::per_element());
  BOOST_TEST(unsets(command, "GIT_*"));
  const Variables& set = command.set_environment;
  BOOST_TEST(set.at("GIT_DIR") == "/cache/r");
  BOOST_TEST(set.at("GIT_WORK_TREE") == "/srv/t");
  BOOST_TEST(set.at("GIT_INDEX_FILE") == "/srv/t.index");
  BOOST_TEST(set.at("GIT_CONFIG_GLOBAL") == "/dev/null");
  BOOST_TEST(set.at("GIT_CONFIG_NOSYSTEM") == "1");
  BOOST_TEST(set.at("GIT_ATTR_NOSYSTEM") == "1");
  BOOST_TEST(set.at("GIT_ALLOW_PROTOCOL") == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::git
