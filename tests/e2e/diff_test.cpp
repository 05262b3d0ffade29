// What an update changes: `diff` with real repositories.

#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

constexpr const char* kOld = "variable \"cidr\" {\n  default = 1\n}\n\noutput \"id\" {\n  value = 1\n}\n";
constexpr const char* kNew =
    "variable \"size\" {}\n\nresource \"terraform_data\" \"run\" {\n  provisioner \"local-exec\" {\n    command = "
    "\"id\"\n  "
    "}\n}\n";

struct Comparing : Scene {
  Comparing() {
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
    net = &repository("net.git");
    release(*net, "1.0.0", {{"net.tf", kOld}});
    write("main.tf", "module \"net\" {\n  source = \"git::" + net->url() +
                         "\"\n  cidr   = 2\n}\n\noutput \"id\" {\n  value = module.net.id\n}\n");
    write(".tofu-modlock.hcl", module_rule("net", "~> 1.0"));
    BOOST_TEST_REQUIRE(modlock({"lock", "--include", "modules"}).exit_code == 0);
    release(*net, "1.1.0", {{"net.tf", kNew}, {"run.sh", "id\n"}});
  }

  // Makes the root directory a git repository with one commit.
  void commit() const {
    for (const auto& command : std::vector<std::vector<std::string>>{
             {"git", "init", "--quiet"},
             {"git", "add", "--all"},
             {"git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "a"}}) {
      BOOST_TEST_REQUIRE(program(command).exit_code == 0);
    }
  }

  GitRepository* net = nullptr;
};

BOOST_FIXTURE_TEST_SUITE(diff_command, Comparing)

BOOST_AUTO_TEST_CASE(findings_of_an_update) {
  const Ran ran = modlock({"diff"});
  BOOST_TEST(ran.err == "");
  BOOST_TEST(ran.out ==
             "module.net  1.0.0 -> 1.1.0\n"
             "  breaking  variable \"cidr\" was removed; the call sets it (main.tf:3:3)\n"
             "  breaking  variable \"size\" has no default and must be set; the call does not set it (main.tf:1:1)\n"
             "  breaking  output \"id\" was removed; it is used here (main.tf:7:11)\n"
             "  risky     the provisioner terraform_data.run local-exec was added (net.tf:4:3 of the package)\n"
             "  risky     the script or binary run.sh was added (run.sh of the package)\n"
             "  3 files changed, 7 lines added, 6 lines removed; 2 variables, 1 output, 1 provisioner, 1 resource "
             "type\n"
             "    script or binary run.sh added (+1 -0)\n"
             "    main.tf changed (+1 -1)\n"
             "    net.tf changed (+5 -5)\n"
             "1 module changed: 3 breaking, 2 risky\n");
}

BOOST_AUTO_TEST_CASE(only_the_subjects_are_compared) {
  write("other.tf", "module \"other\" {\n  source = \"git::" + net->url() + "?ref=v1.1.0\"\n}\n");
  const Ran one = modlock({"diff", "net"});
  BOOST_TEST(one.exit_code == 0, one.err);
  BOOST_TEST(one.out.ends_with("1 module changed: 3 breaking, 2 risky\n"), one.out);
  BOOST_TEST(one.out.find("module.other") == std::string::npos, one.out);
}

BOOST_AUTO_TEST_CASE(a_subject_without_a_newer_version_is_named) {
  BOOST_REQUIRE(modlock({"upgrade", "--include", "modules"}).exit_code == 0);
  const Ran newest = modlock({"diff", "net"});
  BOOST_TEST(newest.out == "No module changes.\n");
  BOOST_TEST(newest.err == "Info: module.net 1.1.0 is the newest version [NO_MATCHING_VERSION]\n");
  release(*net, "2.0.0", {{"main.tf", "# new\n"}});
  BOOST_TEST(modlock({"diff", "net"}).err ==
             "Info: module.net 1.1.0 is the newest version below 2 [NO_MATCHING_VERSION]\n"
             "  hint: for the new major version, run: tofu-modlock diff module.net=2.0.0\n");
  BOOST_TEST(modlock({"diff"}).err == "");
}

BOOST_AUTO_TEST_CASE(new_modules_in_a_subject_are_compared) {
  GitRepository& leaf = repository("leaf.git");
  release(leaf, "1.0.0", {{"main.tf", ""}});
  release(*net, "1.2.0", {{"net.tf", kOld + module_call("leaf", "git::" + leaf.url() + "?ref=v1.0.0")}});
  for (const char* subject : {"net=1.2.0", "module.net[0]=1.2.0"}) {
    const Ran ran = modlock({"diff", subject});
    BOOST_TEST(ran.out.find("module.net.leaf  none -> ") != std::string::npos, ran.out << ran.err);
  }
}

BOOST_AUTO_TEST_CASE(an_unreachable_call_that_is_not_locked_is_counted_once) {
  write("other.tf", "module \"other\" {\n  source = \"git::" + net->url() + "-gone\"\n}\n");
  const Ran all = modlock({"diff"});
  BOOST_TEST(all.out.find("1 module changed, 1 not compared: ") != std::string::npos, all.out << all.err);
  const Ran one = modlock({"diff", "other"});
  BOOST_TEST(one.out == "No module changes, 1 not compared.\n", one.err);
  BOOST_TEST(one.err.find("Info: ") == std::string::npos, one.err);
}

// Both sides read the same listing.
BOOST_AUTO_TEST_CASE(a_warning_is_printed_once) {
  BOOST_TEST(modlock({"diff"}).exit_code == 0);
  const Ran ran = modlock({"diff", "--offline"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  const std::string warning = "Warning: offline: using cached data for ";
  BOOST_TEST(ran.err.starts_with(warning), ran.err);
  BOOST_TEST(ran.err.rfind(warning) == 0U, ran.err);
}

BOOST_AUTO_TEST_CASE(a_grade_after_a_blank_is_a_subject) {
  const Ran ran = modlock({"diff", "--exit-code", "notable"});
  BOOST_TEST(ran.exit_code == 2);
  BOOST_TEST(ran.err ==
             "Error: \"notable\" matches no module call or provider [INVALID_PARAMS]\n"
             "  hint: write the grade as --exit-code=notable\n");
}

BOOST_AUTO_TEST_CASE(an_update_names_what_to_read) {
  const std::string changes = "module.net has changes to read: 3 breaking, 2 risky\n";
  const Ran planned = modlock({"update", "net=1.1.0", "--dry-run"});
  const std::string versions = "To read them, run: tofu-modlock diff module.net --from 1.0.0 --to 1.1.0\n";
  BOOST_TEST(planned.out.ends_with(changes + versions), planned.out);
  const Ran markdown = modlock({"update", "net=1.1.0", "--dry-run", "--format", "markdown"});
  BOOST_TEST(markdown.out.find(modlock({"diff", "net=1.1.0", "--format", "markdown"}).out) != std::string::npos,
             markdown.out);
  const std::string before = lock();
  const Ran outside = modlock({"update", "net"});  // of a git repository
  BOOST_TEST(outside.out.find(changes) != std::string::npos, outside.out);
  BOOST_TEST(outside.out.find(changes + versions) != std::string::npos, outside.out);
  BOOST_TEST(modlock({"diff", "module.net", "--from", "1.0.0", "--to", "1.1.0"})
                 .out.ends_with("1 module changed: 3 breaking, 2 risky\n"));
  write(".terraform.lock.hcl", before);
  commit();
  const std::string hint = "To read them, run: tofu-modlock diff --lock-rev HEAD\n";
  const Ran updated = modlock({"update", "net"});
  BOOST_TEST(updated.out.find(changes + hint) != std::string::npos, updated.out);
  // To the last commit, there is no difference.
  const Ran undone = modlock({"update", "net=1.0.0"});
  BOOST_TEST(undone.out.find("module.net has changes to read: ") != std::string::npos, undone.out);
  BOOST_TEST(
      undone.out.find("To read them, run: tofu-modlock diff module.net --from 1.1.0 --to 1.0.0\n") != std::string::npos,
      undone.out);
  BOOST_TEST(modlock({"diff", "--lock-rev", "HEAD"}).out.find("No module changes") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_upgrade_names_what_to_read) {
  commit();
  const std::string changes = "module.net has changes to read: 3 breaking, 2 risky\n";
  const Ran planned = modlock({"upgrade", "--dry-run"});
  BOOST_TEST(
      planned.out.ends_with(changes + "To read them, run: tofu-modlock diff module.net --from 1.0.0 --to 1.1.0\n"),
      planned.out);
  const Ran upgraded = modlock({"upgrade"});
  BOOST_TEST(upgraded.out.find(changes + "To read them, run: tofu-modlock diff --lock-rev HEAD\n") != std::string::npos,
             upgraded.out);
  BOOST_TEST(!parse_json(modlock({"upgrade", "--json"}).out).value().isMember("diff"));
}

BOOST_AUTO_TEST_CASE(each_kind_of_update_names_what_to_read) {
  commit();
  write_text(path("data.json"), R"([{"subject": "module.net", "newVersion": "1.1.0"}])");
  const std::string changes = "module.net has changes to read: 3 breaking, 2 risky\n";
  const std::string hint = "To read them, run: tofu-modlock diff --lock-rev HEAD\n";
  struct Row {
    const char* name;
    const char* constraint;
    std::vector<std::string> arguments;
    std::string out;
  };
  const std::vector<Row> rows = {
      {"a version", "~> 1.0", {"net=1.1.0"}, changes + hint},
      {"a constraint", "~> 1.0", {"net=~> 1.1"}, changes + hint},
      {"a constraint, not written", "~> 1.0", {"net=~> 1.1", "--dry-run"}, changes},
      {"a changed configuration", "1.1.0", {"--from-diff", "HEAD"}, changes + hint},
      {"a changed configuration, not written", "1.1.0", {"--from-diff", "HEAD", "--dry-run"}, changes},
      {"a file", "~> 1.0", {"--from-file", "../data.json"}, changes + hint},
      {"a file after a bot changed the configuration", "1.1.0", {"--from-file", "../data.json"}, changes + hint},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST_REQUIRE(program({"git", "checkout", "--quiet", "."}).exit_code == 0);
      write(".tofu-modlock.hcl", module_rule("net", row.constraint));
      std::vector<std::string> arguments = {"update", "--include", "modules"};
      arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
      const Ran ran = modlock(arguments);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      const std::size_t at = ran.out.find("module.net has");
      BOOST_TEST((at == std::string::npos ? ran.out : ran.out.substr(at, row.out.size())) == row.out, ran.out);
      BOOST_TEST((ran.out.find(hint) != std::string::npos) == row.out.ends_with(hint), ran.out);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_update_that_cannot_be_compared) {
  const std::string call = read("main.tf");
  write("main.tf", "module {\n");
  commit();
  write("main.tf", call);
  write_text(path("data.json"), R"([{"subject": "module.net", "newVersion": "1.1.0"}])");
  const Ran ran = modlock({"update", "--include", "modules", "--from-file", "../data.json"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("The packages were not compared: ") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_CASE(a_diff_of_two_releases) {
  const Json::Value change = json({"diff", "net=1.1.0", "--json"})["changes"][0];
  BOOST_TEST(change["from"]["version"].asString() == "1.0.0");
  const Json::Value& file = change["files"]["changed"][0];
  BOOST_TEST(file["path"].asString() == "run.sh");
  BOOST_TEST(file["change"].asString() == "added");
  BOOST_TEST(file["isScript"].asBool());
  BOOST_TEST(file["linesAdded"].asInt() == 1);
  const Json::Value& finding = change["findings"][0];
  BOOST_TEST(finding["rule"].asString() == "variable-removed");
  BOOST_TEST(finding["grade"].asString() == "breaking");
  BOOST_TEST(finding["message"].asString() == "variable \"cidr\" was removed; the call sets it");
  BOOST_TEST(finding["before"]["path"].asString() == "net.tf");
  BOOST_TEST(finding["call"]["range"]["start"]["line"].asInt() == 3);
  BOOST_TEST(change["findings"][3]["after"]["path"].asString() == "net.tf");
  BOOST_TEST(change["resources"][0]["after"].asString() == "1");
}

BOOST_AUTO_TEST_CASE(exit_codes) {
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    int exit_code;
  };
  const Row rows[] = {
      {"findings alone", {"diff"}, 0},
      {"a risky one", {"diff", "--exit-code"}, 3},
      {"a breaking one", {"diff", "--exit-code=breaking"}, 3},
      {"the same version", {"diff", "net=1.0.0", "--exit-code=notable"}, 0},
      {"two versions", {"diff", "net", "--from", "1.1.0", "--to", "1.0.0", "--exit-code=notable"}, 3},
      {"a grade that does not exist", {"diff", "--exit-code=bad"}, 2},
      {"no such subject", {"diff", "dns"}, 2},
      {"no version", {"diff", "net=new"}, 2},
      {"a provider", {"diff", "provider.hashicorp/aws=1.0.0"}, 2},
      {"two subjects with --from", {"diff", "net", "dns", "--from", "1.0.0"}, 2},
      {"a version that does not exist", {"diff", "net=9.0.0"}, 6},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(modlock(row.arguments).exit_code == row.exit_code);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_module_that_cannot_be_compared) {
  GitRepository& dns = repository("dns.git");
  GitRepository& log = repository("log.git");
  release(dns, "1.0.0", {{"dns.tf", ""}});
  release(log, "1.0.0", {{"log.tf", ""}});
  write("main.tf", "module \"dns\" {\n  source = \"git::" + dns.url() +
                       "\"\n}\nmodule \"log\" {\n  source = \"git::" + log.url() + "\"\n}\n");
  write(".tofu-modlock.hcl", module_rule("dns", "~> 1.0") + module_rule("log", "~> 1.0"));
  BOOST_TEST_REQUIRE(modlock({"lock", "--include", "modules"}).exit_code == 0);
  release(dns, "1.1.0", {{"dns.tf", "module \"a\" {\n  source = \"git::" + dns.url() + "?ref=none\"\n}\n"}});
  release(log, "1.1.0", {{"log.tf", "# 1.1\n"}});
  const Ran ran = modlock({"diff"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.starts_with("module.dns  1.0.0 -> 1.1.0\n  risky  it calls a module from "), ran.out);
  BOOST_TEST(ran.out.find("\nmodule.log  1.0.0 -> 1.1.0\n") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.ends_with("2 modules changed, 1 not compared: 1 risky\n"), ran.out);
  BOOST_TEST(ran.err.starts_with("Warning: "), ran.err);
  BOOST_TEST(ran.err.find("module.dns.a was not compared") != std::string::npos, ran.err);
  BOOST_TEST(modlock({"diff", "log"}).err == "");
  BOOST_TEST(modlock({"diff", "--exit-code"}).exit_code == 7);
}

BOOST_AUTO_TEST_CASE(a_new_version_that_cannot_be_parsed) {
  release(*net, "1.2.0", {{"net.tf", std::string(kOld) + "module \"a\" {\n"}});
  const Ran ran = modlock({"diff", "net=1.2.0"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("  risky  ") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.ends_with("1 module changed: 1 risky\n"), ran.out);
  BOOST_TEST(ran.err.starts_with("Warning: "), ran.err);
  BOOST_TEST(ran.err.find("not compared") == std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(a_new_version_for_another_client) {
  environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = "1.9.0";
  release(*net, "1.2.0", {{"net.tf", std::string(kOld) + "terraform {\n  required_version = \"< 1.0\"\n}\n"}});
  const Ran ran = modlock({"diff", "net=1.2.0"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.ends_with("1 module changed: 1 breaking\n"), ran.out);
  BOOST_TEST(ran.err.find("[CONSTRAINT_CONFLICT]") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(the_client_is_not_started_for_each_module) {
  const std::string demand = "terraform {\n  required_version = \">= 1.0\"\n}\n";
  const std::string call = "module \"m\" {\n  source = \"./m\"\n}\n";
  release(*net, "1.2.0", {{"net.tf", kOld + demand + call}, {"m/main.tf", demand}});
  write("other.tf", "module \"other\" {\n  source = \"git::" + net->url() + "\"\n}\n");
  write(".tofu-modlock.hcl", module_rule("net", "~> 1.0") + module_rule("other", "~> 1.0"));
  BOOST_TEST_REQUIRE(modlock({"update", "net=1.0.0", "other=1.0.0"}).exit_code == 0);
  const std::filesystem::path program = path("bin") / "tofu";
  write_text(program,
             "#!/bin/sh\necho a >>\"" + path("starts").string() + "\"\necho '{\"terraform_version\": \"1.9.0\"}'\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  environment.erase("TOFU_MODLOCK_IMPLEMENTATION_VERSION");
  environment["PATH"] = path("bin").string() + ":" + environment["PATH"];
  const Ran ran = modlock({"diff", "net=1.2.0", "other=1.2.0"});
  BOOST_TEST(ran.out.find("2 modules changed: ") != std::string::npos, ran.out);
  BOOST_TEST(read_text(path("starts")) == "a\na\n");  // for the plan of the update, and for the comparison
}

BOOST_AUTO_TEST_CASE(a_call_that_was_edited_since_it_was_locked) {
  write("main.tf", "module \"net\" {\n  source = \"git::" + net->url() + "?ref=v1.1.0\"\n}\n");
  const Ran conflict = modlock({"diff"});
  BOOST_TEST(conflict.out == "No module changes, 1 not compared.\n");
  BOOST_TEST(conflict.err.find("module.net was not compared") != std::string::npos, conflict.err);
  write(".tofu-modlock.hcl", "");
  const Ran ran = modlock({"diff"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out == "No module changes, 1 not compared.\n");
  BOOST_TEST(ran.err.starts_with("Warning: module.net is not locked as it is called [FROZEN]\n"), ran.err);
  BOOST_TEST(modlock({"diff", "--exit-code"}).exit_code == 3);
}

BOOST_AUTO_TEST_CASE(many_files_are_counted_after_the_first_ten) {
  std::map<std::string, std::string> files;
  for (int i = 10; i < 25; ++i) {
    files[fmt::format("f{}.txt", i)] = "a\n";
  }
  release(*net, "1.2.0", files);
  const std::string text = modlock({"diff", "net=1.2.0"}).out;
  BOOST_TEST(text.find("  17 files changed, ") != std::string::npos, text);
  BOOST_TEST(text.find("    f19.txt added (+1 -0)\n    and 7 more\n1 module changed") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_changelog_is_quoted_and_examples_are_counted) {
  release(*net, "1.2.0", {{"CHANGELOG.md", "# 1.2.0\n"}});
  release(*net, "1.3.0", {{"CHANGELOG.md", "# 1.3.0 \x1b[2J\n# 1.2.0\n"}, {"examples/a/main.tf", "#\n"}});
  const Ran ran = modlock({"diff", "net", "--from", "1.2.0", "--to", "1.3.0"});
  BOOST_TEST(ran.out ==
             "module.net  1.2.0 -> 1.3.0\n"
             "  3 files changed, 3 lines added, 1 line removed\n"
             "    main.tf changed (+1 -1)\n"
             "    and 2 files of examples, tests and documentation\n"
             "  the module's changelog: # 1.3.0 \\x1b[2J\n"
             "1 module changed: no findings\n");
}

BOOST_AUTO_TEST_CASE(markdown_folds_no_risky_finding) {
  const std::string text = modlock({"diff", "--format", "markdown"}).out;
  const std::string folded = text.substr(text.find("<details>"));
  BOOST_TEST(text.find("- **risky** `the provisioner terraform_data.run") < text.find("<details>"));
  BOOST_TEST(folded.find("risky") == std::string::npos);
  BOOST_TEST(folded.find("- provisioner `terraform_data.run local-exec` added") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(sarif_has_the_line_of_the_call) {
  const auto log = parse_json(modlock({"diff", "--format", "sarif"}).out);
  BOOST_REQUIRE(log);
  const Json::Value& result = (*log)["runs"][0]["results"][0];
  BOOST_TEST(result["ruleId"].asString() == "variable-removed");
  BOOST_TEST(result["level"].asString() == "error");
  BOOST_TEST(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].asString() == "main.tf");
  BOOST_TEST(result["locations"][0]["physicalLocation"]["region"]["startLine"].asInt() == 3);
}

BOOST_AUTO_TEST_CASE(states_that_do_not_exist) {
  struct Row {
    const char* name;
    std::vector<std::string> arguments;
    int exit_code;
    const char* error;
  };
  const Row rows[] = {
      {"no repository", {"diff", "--lock-rev", "HEAD"}, 2, "is not in a git repository [INVALID_PARAMS]"},
      {"an empty cache",
       {"diff", "net=1.1.0", "--offline", "--cache-dir", path("empty").string()},
       7,
       "[OFFLINE_MISS]"},
      {"a version", {"diff", "net=9.0.0"}, 6, "the newest are: 1.1.0, 1.0.0 [NO_MATCHING_VERSION]"},
      {"a subject", {"diff", "nte"}, 2, "\"nte\" matches no module call or provider"},
      {"the new version alone", {"diff", "--to", "1.1.0"}, 2, "--from and --to are for one subject"},
  };
  const auto check = [&](const Row& row) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ran ran = modlock(row.arguments);
      BOOST_TEST(ran.exit_code == row.exit_code);
      BOOST_TEST(ran.out == "");
      BOOST_TEST(ran.err.find(row.error) != std::string::npos, ran.err);
    }
  };
  std::for_each(std::begin(rows), std::end(rows), check);
  BOOST_TEST_REQUIRE(program({"git", "init", "--quiet"}).exit_code == 0);
  check({"no commit", {"diff", "--lock-rev", "HEAD"}, 2, "revision \"HEAD\" not found in the repository"});
}

BOOST_AUTO_TEST_CASE(a_root_module_that_cannot_be_read) {
  write("main.tf", "module \"net\" {\n");
  const Ran ran = modlock({"diff"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.out == "");
}

BOOST_AUTO_TEST_CASE(markdown_of_many_root_modules_has_those_that_change) {
  GitRepository& log = repository("log.git");
  release(log, "1.0.0");
  write("other/main.tf", module_call("log", "git::" + log.url() + "?ref=v1.0.0"));
  BOOST_TEST_REQUIRE(modlock({"lock", "--chdir", "other"}).exit_code == 0);
  const std::string one = modlock({"diff", "--format", "markdown"}).out;
  BOOST_TEST(modlock({"diff", "--recursive", "--format", "markdown"}).out == "`.`:\n\n" + one);
}

BOOST_AUTO_TEST_CASE(one_version_of_two) {
  BOOST_TEST(modlock({"diff", "net", "--from", "1.0.0"}).out == modlock({"diff", "net"}).out);
  BOOST_TEST(modlock({"diff", "net", "--to", "1.1.0"}).out == modlock({"diff", "net=1.1.0"}).out);
}

BOOST_AUTO_TEST_CASE(a_lock_file_is_compared_with_a_revision) {
  commit();
  BOOST_TEST(modlock({"diff", "--lock-rev", "HEAD"}).out == "No module changes.\n");
  BOOST_TEST_REQUIRE(modlock({"update", "net=1.1.0", "--include", "modules"}).exit_code == 0);
  BOOST_TEST(modlock({"diff", "--lock-rev", "HEAD"}).out.starts_with("module.net  1.0.0 -> 1.1.0\n  breaking"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
