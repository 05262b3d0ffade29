#include "backends/git/git_configuration.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <map>

#include "tests/support/environment.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock::git {
namespace {

using Variables = std::map<std::string, std::string>;

// A home of its own, and only these variables.
struct Home {
  EnvironmentLookup lookup(Variables variables) const {
    variables.try_emplace("HOME", directory.path().string());
    variables.try_emplace("GIT_CONFIG_NOSYSTEM", "1");
    return [variables](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }
  static std::string text(const std::vector<GitConfiguration::Entry>& entries) {
    std::string all;
    for (const auto& entry : entries) {
      all += entry.key + (entry.is_bare ? "" : "=" + entry.value) + "\n";
    }
    return all;
  }
  std::string read(const Variables& variables) const {
    const auto configuration = GitConfiguration::read(lookup(variables));
    return configuration ? text(configuration->entries()) : "git alone";
  }
  // Whether a repository that is cloned there has the value of the file "more".
  bool includes_more(const std::filesystem::path& clone) const {
    const RemoteAddress remote{.url = "https://h.test/m.git",
                               .full_url = {},
                               .display = "m",
                               .scheme = "https",
                               .host = "h.test",
                               .username = {},
                               .password = {},
                               .clone_directory = clone};
    const auto configuration = GitConfiguration::of(remote, lookup({}), Context{});
    BOOST_REQUIRE(configuration);
    return configuration->find("x.y") == "more";
  }
  // What git itself lists, with the same variables.
  std::string listed_by_git(Variables variables) const {
    variables.try_emplace("HOME", directory.path().string());
    variables.try_emplace("GIT_CONFIG_NOSYSTEM", "1");
    variables.try_emplace("XDG_CONFIG_HOME", "");
    return modlock::test::run({"git", "config", "--list"}, directory.path(), variables);
  }

  modlock::test::TemporaryDirectory directory;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(git_configuration, Home)

BOOST_AUTO_TEST_CASE(it_reads_what_git_reads) {
  const std::string other = (directory / "other").string();
  directory.write(".config/git/config", "[a]\n\tb = xdg\n");
  directory.write("xdg/git/config", "[a]\n\tb = other xdg\n");
  directory.write(".gitconfig",
                  "[A]\n\tB = home\n[url \"https://X@Host/\"]\n\tinsteadOf = h:\n[include]\n\tpath = more\n[a]\n"
                  "\tlast = yes\n\tbare\n");
  directory.write("more", "[included]\n\tkey = \"quo ted\" # remark\n");
  directory.write("other", "[a]\n\tb = other\n");
  directory.write("system", "[a]\n\tb = system\n");
  struct Row {
    const char* name;
    Variables variables;
  };
  const std::string xdg = (directory / "xdg").string();
  const std::string system = (directory / "system").string();
  for (const Row& row : {
           Row{"home", {}},
           Row{"another XDG directory", {{"XDG_CONFIG_HOME", xdg}}},
           Row{"a global file", {{"GIT_CONFIG_GLOBAL", other}}},
           Row{"no global file", {{"GIT_CONFIG_GLOBAL", "/dev/null"}}},
           Row{"a system file", {{"GIT_CONFIG_NOSYSTEM", "0"}, {"GIT_CONFIG_SYSTEM", system}}},
           Row{"a system file that does not count", {{"GIT_CONFIG_NOSYSTEM", "true"}, {"GIT_CONFIG_SYSTEM", system}}},
           Row{"variables",
               {{"GIT_CONFIG_COUNT", "2"},
                {"GIT_CONFIG_KEY_0", "Http.https://H.test/.ExtraHeader"},
                {"GIT_CONFIG_VALUE_0", "A: b"},
                {"GIT_CONFIG_KEY_1", "A.B"},
                {"GIT_CONFIG_VALUE_1", ""}}},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(read(row.variables) == listed_by_git(row.variables));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_only_git_reads_right_is_left_to_it) {
  struct Row {
    const char* name;
    const char* file;
    Variables variables;
  };
  for (const Row& row : {
           Row{"command line settings", "", {{"GIT_CONFIG_PARAMETERS", "'a.b=c'"}}},
           Row{"an include of the home", "[include]\n\tpath = ~/more\n", {}},
           Row{"a condition about remotes", "[includeIf \"hasconfig:remote.*.url:https://**\"]\n\tpath = more\n", {}},
           Row{"a condition about the repository", "[includeIf \"gitdir:~/work/\"]\n\tpath = more\n", {}},
           Row{"an include of a variable",
               "",
               {{"GIT_CONFIG_COUNT", "1"}, {"GIT_CONFIG_KEY_0", "include.path"}, {"GIT_CONFIG_VALUE_0", "/more"}}},
           Row{"no syntax", "[a\n", {}},
           Row{"a count that is none", "", {{"GIT_CONFIG_COUNT", "x"}}},
           Row{"a count without keys", "", {{"GIT_CONFIG_COUNT", "1"}}},
           Row{"a key without a section",
               "",
               {{"GIT_CONFIG_COUNT", "1"}, {"GIT_CONFIG_KEY_0", "a"}, {"GIT_CONFIG_VALUE_0", "b"}}},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      directory.write(".gitconfig", row.file);
      BOOST_TEST(read(row.variables) == "git alone");
    }
  }
}

// Compared with what git reads in a repository at the place of the clone.
BOOST_AUTO_TEST_CASE(conditions_apply_as_for_the_clone) {
  const std::string home = directory.path().string();
  const std::filesystem::path clone = directory / "work/root/.terraform/modules/m";
  modlock::test::run({"git", "init", "-q", clone.string()}, directory.path(), {{"HOME", home}});
  modlock::test::run({"git", "remote", "add", "origin", "https://h.test/m.git"}, clone, {{"HOME", home}});
  directory.write("c/more", "[x]\n\ty = more\n");
  directory.write("c/nested", "[includeIf \"gitdir:**/modules/*/\"]\n\tpath = more\n");
  struct Row {
    const char* name;
    const char* condition;
    const char* file;
    bool applies;
  };
  for (const Row& row : {
           Row{"below the home directory", "gitdir:~/work/", "c/more", true},
           Row{"an absolute path", "gitdir:HOME/work/", "c/more", true},
           Row{"beside the file", "gitdir:./work/", "c/more", true},
           Row{"a name", "gitdir:root/", "c/more", true},
           Row{"a part of a name", "gitdir:oot/", "c/more", false},
           Row{"a star", "gitdir:~/*/root/", "c/more", true},
           Row{"a star for two names", "gitdir:~/*/.terraform/", "c/more", false},
           Row{"a question mark", "gitdir:~/w?rk/", "c/more", true},
           Row{"two stars", "gitdir:~/**/modules/**", "c/more", true},
           Row{"the directory without a slash", "gitdir:~/work", "c/more", false},
           Row{"another case", "gitdir:~/WORK/", "c/more", false},
           Row{"any case", "gitdir/i:~/WORK/", "c/more", true},
           Row{"another directory", "gitdir:~/home/", "c/more", false},
           Row{"a file of the home directory", "gitdir:~/work/", "~/c/more", true},
           Row{"a missing file", "gitdir:~/work/", "c/none", false},
           Row{"nested", "gitdir:~/work/", "c/nested", true},
           Row{"the remote", "hasconfig:remote.*.url:https://h.test/**", "c/more", true},
           Row{"another remote", "hasconfig:remote.*.url:https://i.test/**", "c/more", false},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string condition = row.condition;
      if (const std::size_t at = condition.find("HOME"); at != std::string::npos) {
        condition.replace(at, 4, home);
      }
      directory.write(".gitconfig", "[includeIf \"" + condition + "\"]\n\tpath = " + row.file + "\n");
      const modlock::test::ScopedEnvironment at_home("HOME", home);
      BOOST_TEST(includes_more(clone) == row.applies);
      const std::string by_git =
          modlock::test::run({"git", "config", "--default", "none", "x.y"}, clone, {{"HOME", home}});
      BOOST_TEST((by_git == "more\n") == row.applies);
    }
  }
}

// git would follow them; a checkout could select with them what applies elsewhere.
BOOST_AUTO_TEST_CASE(links_below_the_data_directory_select_no_include) {
  namespace fs = std::filesystem;
  const std::string home = directory.path().string();
  const modlock::test::ScopedEnvironment at_home("HOME", home);
  directory.write("more", "[x]\n\ty = more\n");
  fs::create_directories(directory / "work/m");
  fs::create_directories(directory / "plain/.terraform/modules");
  fs::create_directories(directory / "modules/.terraform");
  fs::create_directory_symlink(directory / "work", directory / "modules/.terraform/modules");
  fs::create_directories(directory / "module/.terraform/modules");
  fs::create_directory_symlink(directory / "work/m", directory / "module/.terraform/modules/m");
  fs::create_directory_symlink("plain", directory / "way");
  struct Row {
    const char* name;
    const char* condition;
    const char* root;
    bool applies;
  };
  for (const Row& row : {
           Row{"no link", "gitdir:~/plain/", "plain", true},
           Row{"a link to the root, as written", "gitdir:~/way/", "way", true},
           Row{"the target of a link to the root", "gitdir:~/plain/", "way", true},
           Row{"the target of the modules", "gitdir:~/work/", "modules", false},
           Row{"linked modules, as written", "gitdir:~/modules/.terraform/modules/", "modules", true},
           Row{"the target of a module", "gitdir:~/work/", "module", false},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      directory.write(".gitconfig", fmt::format("[includeIf \"{}\"]\n\tpath = more\n", row.condition));
      BOOST_TEST(includes_more(directory / row.root / ".terraform/modules/m") == row.applies);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_longest_rewriting_rule_counts) {
  const GitConfiguration configuration({{"url.https://mirror.test/.insteadof", "https://h.test/", false},
                                        {"url.ssh://git@h.test/a/.insteadof", "https://h.test/a/", false},
                                        {"url.https://second.test/.insteadof", "https://h.test/", false},
                                        {"url.x.pushinsteadof", "https://h.test/a/b", false}});
  struct Row {
    const char* url;
    const char* expected;
  };
  for (const Row& row : {Row{"https://h.test/b.git", "https://mirror.test/b.git"},
                         Row{"https://h.test/a/b.git", "ssh://git@h.test/a/b.git"},
                         Row{"https://other.test/a", "https://other.test/a"}}) {
    BOOST_TEST_CONTEXT(row.url) {
      BOOST_TEST(configuration.rewrite(row.url) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(settings_of_a_url_are_those_that_git_takes) {
  directory.write(
      ".gitconfig",
      "[http]\n\textraHeader = X: all\n\tproxy = everywhere\n[http \"https://h.test\"]\n\textraHeader = X: host\n"
      "\tsslVerify = false\n[http \"https://h.test/a\"]\n\textraHeader = X: a\n\tproxy = of-a\n"
      "[http \"https://h.test/a/b\"]\n\tproxy = of-b\n[http \"https://h.test:443/\"]\n\tuserAgent = port\n"
      "[http \"http://h.test/\"]\n\tproxy = plain\n[http]\n\tproxy = late\n");
  const auto configuration = GitConfiguration::read(lookup({}));
  BOOST_REQUIRE(configuration.has_value());
  for (const char* url : {"https://h.test/a/x.git", "https://h.test/a/b/x.git", "https://H.test/ab/x.git",
                          "https://h.test:8443/a/x.git", "http://h.test/a/x.git", "https://h.test/a"}) {
    BOOST_TEST_CONTEXT(url) {
      const auto settings = configuration->http_settings(url);
      BOOST_REQUIRE(settings.has_value());
      for (const char* name : {"proxy", "sslverify", "useragent"}) {
        std::string last;
        for (const auto& entry : *settings) {
          last = entry.key == name ? entry.value : last;
        }
        std::string of_git = modlock::test::run(
            {"sh", "-c", "git config --get-urlmatch http." + std::string(name) + " " + url + " || true"},
            directory.path(), {{"HOME", directory.path().string()}, {"XDG_CONFIG_HOME", ""}});
        BOOST_TEST(last + (last.empty() ? "" : "\n") == of_git);
      }
    }
  }
  std::string headers;
  const auto settings = configuration->http_settings("https://h.test/a/x.git");
  for (const auto& entry : *settings) {
    headers += entry.key == "extraheader" ? entry.value + "\n" : "";
  }
  BOOST_TEST(headers == "X: all\nX: host\nX: a\n");
}

BOOST_AUTO_TEST_CASE(patterns_are_left_to_git) {
  for (const char* pattern : {"https://*.test/", "https://user@h.test/", "h.test"}) {
    BOOST_TEST_CONTEXT(pattern) {
      const GitConfiguration configuration({{std::string("http.") + pattern + ".proxy", "x", false}});
      BOOST_TEST(!configuration.http_settings("https://h.test/a").has_value());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::git
