// `update --from-diff`: the lock follows what the configuration changed since a revision, and nothing else.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <set>
#include <sstream>

#include "tests/e2e/scene.h"
#include "tests/support/provider_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// The root directory is a repository with the root modules a, b and c. All calls and providers are locked at 1.1.0, and
// every source has since released 1.2.0.
struct FromDiff : Scene {
  FromDiff() : vpc(repository("vpc.git")), dns(repository("dns.git")) {
    for (const char* version : {"1.0.0", "1.1.0"}) {
      publish(version);
    }
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    write_text(path("home/.gitconfig"), "[user]\n\tname = user\n\temail = user@example.test\n");
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
    git({"init", "-q", "-b", "main"});
    write("net/main.tf", call_dns("~> 1.1.0"));
    write("a/main.tf", required_cloud("~> 1.1.0") + call_vpc("~> 1.1.0"));
    write("b/main.tf", required_cloud("~> 1.1.0") + module_call("net", "../net"));
    write("c/main.tf", call_vpc("~> 1.1.0"));
    BOOST_TEST(modlock({"lock", "a", "b", "c"}).exit_code == 0);
    write(".gitignore", ".terraform\n");
    git({"add", "-A"});
    git({"commit", "-q", "-m", "first"});
    git({"tag", "first"});
    for (const char* version : {"1.1.1", "1.2.0"}) {
      publish(version);
    }
  }

  void publish(const char* version) {
    release(vpc, version);
    release(dns, version, {{"of", "dns\n"}});
    registry.publish({.name = "acme/cloud", .version = version});
  }

  std::string call_vpc(const std::string& constraint) const {
    return module_call("vpc", "git::" + vpc.url(), constraint);
  }
  std::string call_dns(const std::string& constraint) const {
    return module_call("dns", "git::" + dns.url(), constraint);
  }

  void git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "git");
    const Ran ran = program(arguments);
    BOOST_TEST(ran.exit_code == 0, ran.err);
  }

  // Discards everything since the first commit, as the table's rows share one repository.
  void restore() const {
    git({"reset", "-q", "--hard", "first"});
    git({"clean", "-qfd"});
  }

  // "cloud 1.1.0, vpc <1.1.0>": the entries of a root's lock.
  std::string locked(const std::string& directory) const {
    std::set<std::string> entries;
    std::string name;
    std::istringstream lines(shown(read(directory + "/.terraform.lock.hcl")));
    for (std::string line; std::getline(lines, line);) {
      const auto quoted = [&line] { return line.substr(line.find('"') + 1, line.rfind('"') - line.find('"') - 1); };
      if (line.starts_with("module ")) {
        name = quoted();
      } else if (line.starts_with("provider ")) {
        name = "cloud";
      } else if (line.starts_with("  version ") && name == "cloud") {
        entries.insert(name + " " + quoted());
      } else if (line.starts_with("    \"git:")) {
        entries.insert(name + " " + quoted().substr(4));
      }
    }
    std::string text;
    for (const std::string& entry : entries) {
      text += (text.empty() ? "" : ", ") + entry;
    }
    return text;
  }

  std::string all_locked() const { return locked("a") + "; " + locked("b") + "; " + locked("c"); }

  ProviderRegistry registry;
  GitRepository& vpc;
  GitRepository& dns;
};

BOOST_FIXTURE_TEST_SUITE(from_diff, FromDiff)

// Other calls and providers keep 1.1.0, although their constraints allow 1.1.1.
BOOST_AUTO_TEST_CASE(only_what_changed_is_updated) {
  const std::string cloud = required_cloud("~> 1.1.0");
  const std::string same_a = "cloud 1.1.0, vpc <1.1.0>";
  const std::string same_b = "cloud 1.1.0, net.dns <1.1.0>";
  const std::string same_c = "vpc <1.1.0>";
  using Change = std::function<void()>;
  struct Row {
    const char* name;
    Change change;
    std::string a;
    std::string b;
    std::string c;
  };
  const Row rows[] = {
      {"nothing", [&] {}, same_a, same_b, same_c},
      {"comments", [&] { write("a/main.tf", "# new\n" + cloud + call_vpc("~> 1.1.0") + "# new\n"); }, same_a, same_b,
       same_c},
      {"constraint of a call", [&] { write("a/main.tf", cloud + call_vpc("~> 1.1")); }, "cloud 1.1.0, vpc <1.2.0>",
       same_b, same_c},
      {"source of a call", [&] { write("c/main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0")); }, same_a,
       same_b, "vpc <1.0.0>"},
      {"call added", [&] { write("c/main.tf", call_vpc("~> 1.1.0") + call_dns("~> 1.1.0")); }, same_a, same_b,
       "dns <1.1.1>, vpc <1.1.0>"},
      {"call added in a new file", [&] { write("c/dns.tf", call_dns("~> 1.1.0")); }, same_a, same_b,
       "dns <1.1.1>, vpc <1.1.0>"},
      {"call renamed", [&] { write("c/main.tf", module_call("net", "git::" + vpc.url(), "~> 1.1.0")); }, same_a, same_b,
       "net <1.1.0>"},
      {"call removed", [&] { write("a/main.tf", cloud); }, "cloud 1.1.0", same_b, same_c},
      {"file deleted", [&] { fs::remove(root() / "c/main.tf"), write("c/empty.tf", ""); }, same_a, same_b, ""},
      {"file renamed", [&] { fs::rename(root() / "c/main.tf", root() / "c/network.tf"); }, same_a, same_b, same_c},
      {"local module", [&] { write("net/main.tf", call_dns("~> 1.1")); }, same_a, "cloud 1.1.0, net.dns <1.2.0>",
       same_c},
      {"local module removed", [&] { fs::remove_all(root() / "net"), write("b/main.tf", cloud); }, same_a,
       "cloud 1.1.0", same_c},
      {"constraint of a provider", [&] { write("b/main.tf", required_cloud("~> 1.1") + module_call("net", "../net")); },
       same_a, "cloud 1.2.0, net.dns <1.1.0>", same_c},
      {"provider removed", [&] { write("b/main.tf", module_call("net", "../net")); }, same_a, "net.dns <1.1.0>",
       same_c},
      {"local value",
       [&] {
         write("c/main.tf",
               "locals {\n  v = \"v1.2.0\"\n}\n" + module_call("vpc", "git::" + vpc.url() + "?ref=${local.v}"));
       },
       same_a, same_b, "vpc <1.2.0>"},
      {"settings", [&] { write("c/.tofu-modlock.hcl", module_rule("vpc", "1.0.0")), write("c/main.tf", call_vpc("")); },
       same_a, same_b, "vpc <1.0.0>"},
      {"file that hides another", [&] { write("c/main.tofu", call_vpc("~> 1.1")); }, same_a, same_b, "vpc <1.2.0>"},
      {"JSON",
       [&] { write("c/dns.tf.json", "{\"module\": {\"dns\": {\"source\": \"git::" + dns.url() + "?ref=v1.0.0\"}}}"); },
       same_a, same_b, "dns <1.0.0>, vpc <1.1.0>"},
      {"two roots",
       [&] {
         write("net/main.tf", call_dns("~> 1.1"));
         write("c/main.tf", call_vpc("~> 1.1"));
       },
       same_a, "cloud 1.1.0, net.dns <1.2.0>", "vpc <1.2.0>"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      restore();
      row.change();
      const Ran ran = modlock({"update", "--from-diff", "first"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(locked("a") == row.a);
      BOOST_TEST(locked("b") == row.b);
      BOOST_TEST(locked("c") == row.c);
      for (const char* directory : {"a", "b", "c"}) {
        BOOST_TEST(modlock({"lock", "--frozen", "--chdir", directory}).exit_code == 0);
      }
      const std::string once = all_locked();
      BOOST_TEST(modlock({"update", "--from-diff", "first"}).exit_code == 0);
      BOOST_TEST(all_locked() == once, "the second update changed something");
    }
  }
}

BOOST_AUTO_TEST_CASE(committed_changes_count_too) {
  write("c/main.tf", call_vpc("~> 1.1"));
  git({"commit", "-qam", "second"});
  const Ran current = modlock({"update", "--from-diff", "HEAD"});
  BOOST_TEST(current.exit_code == 0, current.err);
  BOOST_TEST(current.err == "No locked root module changed since HEAD.\nNot a root: net (called by b).\n");
  BOOST_TEST(locked("c") == "vpc <1.1.0>");
  BOOST_TEST(modlock({"update", "--from-diff", "HEAD~1"}).exit_code == 0);
  BOOST_TEST(locked("c") == "vpc <1.2.0>");
}

// A bot that has changed a lock entry has chosen the version.
BOOST_AUTO_TEST_CASE(changed_lock_entries_stay) {
  write("a/main.tf", required_cloud("~> 1.1") + call_vpc("~> 1.1.0"));
  BOOST_TEST(modlock({"update", "provider.acme/cloud=1.1.1", "--chdir", "a"}).exit_code == 0);
  BOOST_TEST(modlock({"update", "--from-diff", "first"}).exit_code == 0);
  BOOST_TEST(locked("a") == "cloud 1.1.1, vpc <1.1.0>");
}

BOOST_AUTO_TEST_CASE(links_are_followed) {
  write("common/calls.tf", call_vpc("~> 1.1.0"));
  fs::create_directories(root() / "linked");
  fs::create_symlink("../common/calls.tf", root() / "linked/main.tf");
  fs::create_symlink("../net", root() / "linked/net");
  write("linked/net.tf", module_call("net", "./net"));
  BOOST_TEST(modlock({"lock", "linked"}).exit_code == 0);
  git({"add", "-A"});
  git({"commit", "-q", "-m", "linked"});
  BOOST_TEST(locked("linked") == "net.dns <1.1.1>, vpc <1.1.1>");
  write("common/calls.tf", call_vpc("~> 1.1"));
  BOOST_TEST(modlock({"update", "--from-diff", "HEAD"}).exit_code == 0);
  BOOST_TEST(locked("linked") == "net.dns <1.1.1>, vpc <1.2.0>");
  write("net/main.tf", call_dns("~> 1.1"));
  BOOST_TEST(modlock({"update", "--from-diff", "HEAD"}).exit_code == 0);
  BOOST_TEST(locked("linked") == "net.dns <1.2.0>, vpc <1.2.0>");
}

// The other roots are updated all the same.
BOOST_AUTO_TEST_CASE(a_submodule_cannot_be_compared) {
  const std::string entry = ",a/sub";
  write("a/main.tf", module_call("sub", "./sub"));
  write("a/sub/main.tf", call_vpc("~> 1.1.0"));
  git({"add", "a/main.tf"});
  git({"update-index", "--add", "--cacheinfo", "160000," + std::string(40, '1') + entry});
  git({"commit", "-q", "-m", "submodule"});
  git({"update-index", "--cacheinfo", "160000," + std::string(40, '2') + entry});
  write("c/main.tf", call_vpc("~> 1.1"));
  const Ran ran = modlock({"update", "--from-diff", "HEAD"});
  BOOST_TEST(ran.exit_code == 1, ran.out);
  BOOST_TEST(ran.err.find("cannot read <dir>/root/a/sub at revision HEAD [IO_ERROR]") != std::string::npos, ran.err);
  BOOST_TEST(locked("c") == "vpc <1.2.0>");
}

BOOST_AUTO_TEST_CASE(summary_of_several_roots) {
  const auto write_calls = [this](const std::string& tag) {
    write("net/main.tf", module_call("dns", "git::" + dns.url() + "?ref=" + tag));
    write("c/main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=" + tag));
  };
  write_calls("v1.0.0");
  BOOST_TEST(modlock({"lock", "b", "c"}).exit_code == 0);
  git({"commit", "-qam", "second"});
  write_calls("v1.1.0");
  const Ran ran = modlock({"update", "--from-diff", "HEAD", "--format", "markdown"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  const auto table = [](const char* subject) {
    return fmt::format(
        "| Subject | Change | From | To | Constraint |\n|---|---|---|---|---|\n"
        "| `module.{0}` | source-changed | `v1.0.0 (<1.0.0...>)` | `v1.1.0 (<1.1.0...>)` |  |\n\n"
        "Files: `.terraform.lock.hcl`\n\n### `module.{0}`: `v1.0.0 ",
        subject);
  };
  const std::size_t second = std::min(ran.out.find("\n`c`:\n\n"), ran.out.size());
  BOOST_TEST(ran.out.substr(0, second).starts_with("`b`:\n\n" + table("net.dns")), ran.out);
  BOOST_TEST(ran.out.substr(second).starts_with("\n`c`:\n\n" + table("vpc")), ran.out);
}

// The other roots are updated all the same.
BOOST_AUTO_TEST_CASE(a_root_that_cannot_be_compared) {
  struct Row {
    const char* name;
    const char* file;
    const char* text;
    int exit_code;
    const char* message;
  };
  const Row rows[] = {
      {"changed root", "a/more.tf", "module {", 8, "the root module <dir>/root/a reads what changed"},
      {"changed settings", "a/.tofu-modlock.hcl", "module {", 8, "the root module <dir>/root/a reads what changed"},
      {"changed lock", "a/.terraform.lock.hcl", "module {", 8, "[LOCK_PARSE]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      restore();
      write(row.file, row.text);
      write("c/main.tf", call_vpc("~> 1.1"));
      const Ran ran = modlock({"update", "--from-diff", "first"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.err.find(row.message) != std::string::npos, ran.err);
      BOOST_TEST(locked("c") == "vpc <1.2.0>");
    }
  }
  restore();
  write("a/.tofu-modlock.hcl", "module {");
  git({"add", "-A"});
  git({"commit", "-q", "-m", "broken"});
  write("c/main.tf", call_vpc("~> 1.1"));
  const Ran ran = modlock({"update", "--from-diff", "HEAD"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(
      ran.err.find("the root module <dir>/root/a does not read what changed and is skipped") != std::string::npos,
      ran.err);
  BOOST_TEST(locked("c") == "vpc <1.2.0>");
}

BOOST_AUTO_TEST_CASE(bad_revisions) {
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    const char* message;
  };
  const Row rows[] = {
      {"unknown", {"nope"}, "revision \"nope\" not found in the repository <dir>/root [INVALID_PARAMS]"},
      {"empty", {""}, "--from-diff needs a value"},
      {"an option", {"--all"}, "revision \"--all\" not found"},
      {"a file", {"first:a/main.tf"}, "revision \"first:a/main.tf\" not found"},
      {"with a subject", {"first", "module.vpc=1.1.1"}, "SUBJECT=VERSION"},
      {"with --list", {"first", "--list"}, "--list and --from-diff cannot be combined"},
      {"with --from-file", {"first", "--from-file", "data.json"}, "--from-diff and --from-file cannot be combined"},
      {"with --pin", {"first", "--pin", "tag"}, "--from-diff and --pin cannot be combined"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::vector<std::string> arguments = row.arguments;
      arguments[0] = "--from-diff=" + arguments[0];
      arguments.insert(arguments.begin(), "update");
      const Ran ran = modlock(arguments);
      BOOST_TEST(ran.exit_code == 2, ran.out << ran.err);
      BOOST_TEST(ran.err.find(row.message) != std::string::npos, ran.err);
    }
  }
  fs::remove_all(root() / ".git");
  const Ran outside = modlock({"update", "--from-diff", "first"});
  BOOST_TEST(outside.exit_code == 2, outside.out);
  BOOST_TEST(outside.err.find("<dir>/root is not in a git repository [INVALID_PARAMS]") != std::string::npos,
             outside.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
