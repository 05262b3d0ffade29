// Situations of units, each in CI and elsewhere, with the module blocks in both places: whether a plan is made, what
// code it shows, and that no lock file changes in CI. The stand-in runs all of them, and both Terragrunts where they
// are there.
#include <fmt/format.h>
#include <json/value.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "backends/base/process.h"
#include "protocol/base/json.h"
#include "tests/hosts/terragrunt_scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// The outputs name all files that templates may read, also hidden ones.
constexpr const char* kMain =
    "output \"files\" {\n  value = join(\" \", [for f in fileset(path.module, \"{,**/,.}*{tpl,json,x}\") : "
    "file(\"${path.module}/${f}\") if !strcontains(f, \".terraform\")])\n}\n";
// The client of the stand-in prints them.
constexpr const char* kClientDoes =
    "[ \"$1\" != plan ] || find . -type f -not -path '*/.t*' '(' -name '*.tpl' -o -name '*.json' -o -name '*.x' ')' "
    "-exec cat '{}' +";

// What a plan of one unit was.
struct Planned {
  bool ok = false;
  std::string text;
};

// One live repository with a unit for each situation, and one repository of stacks with tags of their own for each.
class Table : public TerragruntScene {
 public:
  Table(const std::string& place, const std::string& terragrunt)
      : stacks(repository("stacks.git")), other(repository("other.git")), terragrunt_(terragrunt) {
    fs::remove_all(root() / "live");
    fs::remove_all(root() / ".git");
    program({"git", "init", "--quiet"});
    write(".tofu-modlock.hcl", "module_lock_file = \"" + place + "\"\n");
    write("catalog/main.tf", kMain);
    write("catalog/t.tpl", "local-code");
    write("root.hcl", "locals {\n  stacks = \"git::" + stacks.url() + "\"\n}\n");
    write("env.hcl", "locals {\n  directory = \"net\"\n}\n");
    environment["PLACES"] = environment["REPORT"] = "1";
    environment["CLIENT_DOES"] = kClientDoes;
    environment["SOURCE_OF_TABLE"] = "git::" + stacks.url();
    if (!terragrunt_.empty()) {
      use_terragrunt("tofu");
      environment["TG_NO_COLOR"] = environment["NO_COLOR"] = "true";
      fs::create_symlink(*find_program(terragrunt_), path("bin/terragrunt"));
    } else {
      write_text(path("bin/terragrunt"),
                 "#!/bin/sh\nsed -n -e 's/^# source = \\(.*\\)/{\"terraform\": {\"source\": \\1}}/p' terragrunt.hcl\n");
      fs::permissions(path("bin/terragrunt"), fs::perms::owner_all);
    }
  }

  // Commits the files of a stack, and tags them.
  void tag(const std::string& name, GitRepository::Files files) {
    files.try_emplace("net/main.tf", kMain);
    files.try_emplace("net/t.tpl", "locked-code");
    files.try_emplace("lib/main.tf", kMain);
    files.try_emplace("lib/t.tpl", "lib-code");
    stacks.commit(files);
    stacks.tag(name);
  }
  // A unit whose terragrunt.hcl has this text. The stand-in understands only `effective`.
  void unit(const std::string& name, const std::string& text, const std::string& effective) const {
    write("live/" + name + "/terragrunt.hcl",
          "# source = \"" + effective +
              "\"\ninclude \"modlock\" {\n  path = \"${get_repo_root()}/modlock.hcl\"\n"
              "}\n" +
              text);
  }
  fs::path cache_of(const std::string& name) const { return root() / "live" / name / ".terragrunt-cache"; }
  // Where the client runs.
  fs::path place_of(const std::string& name) const { return working_directory("live/" + name); }
  std::string locks(const std::string& name) const {
    std::string all;
    for (const char* file : {".terraform.lock.hcl", ".terraform.modules.lock.hcl"}) {
      const std::string path = "live/" + name + "/" + file;
      all += has(path) ? read(path) : "none\n";
    }
    return all;
  }

  // Runs a command in units, at once.
  std::map<std::string, Planned> run(std::vector<std::string> command, const std::vector<std::string>& units) {
    std::map<std::string, Planned> planned;
    if (units.empty()) {
      return planned;
    }
    if (terragrunt_.empty()) {
      std::string names;
      for (const std::string& name : units) {
        names += (names.empty() ? "live/" : ",live/") + name;
      }
      const Ran ran = terragrunt(std::move(command), "", names);
      const auto report = parse_json(ran.out);
      BOOST_REQUIRE_MESSAGE(report, ran.out << ran.err);
      for (const std::string& name : units) {
        planned[name] = {(*report)[name]["ok"].asBool(), shown((*report)[name]["text"].asString())};
      }
      return planned;
    }
    std::vector<std::string> argv = {"terragrunt",   "run",           "--all",
                                     "--log-format", "json",          "--report-format",
                                     "json",         "--report-file", path("report.json").string()};
    for (const std::string& name : units) {
      argv.insert(argv.end(), {"--filter", "./live/" + name});
    }
    argv.push_back("--");
    argv.insert(argv.end(), command.begin(), command.end());
    fs::remove(path("report.json"));
    const Ran ran = program(argv);
    BOOST_REQUIRE_MESSAGE(fs::exists(path("report.json")), ran.out << ran.err);
    const auto report = parse_json(read_text(path("report.json")));
    for (const Json::Value& one : *report) {
      planned[fs::path(one["Name"].asString()).filename().string()].ok = one["Result"].asString() == "succeeded";
    }
    std::istringstream lines(ran.out + ran.err);
    for (std::string line; std::getline(lines, line);) {
      constexpr std::string_view kUnit = "\"working-dir\":\"";
      const std::size_t at = line.find(kUnit);
      if (line.starts_with('{') && at != std::string::npos) {
        const std::size_t start = at + kUnit.size();
        const auto entry = parse_json(line);
        planned[fs::path(line.substr(start, line.find('"', start) - start)).filename().string()].text +=
            shown(entry ? (*entry)["msg"].asString() : line) + "\n";
      }
    }
    return planned;
  }

  GitRepository& stacks;
  GitRepository& other;

 private:
  std::string terragrunt_;
};

// A situation: what a unit is, what happens after it was locked, and what a plan of it is.
struct Situation {
  const char* name;
  std::string source;     // the arguments of its terraform block, or the whole configuration after "|"
  std::string effective;  // what that is, with <stacks> for the URL
  std::function<void(Table&, const std::string& unit)> change = {};  // after it was locked; none: the tag is moved
  const char* in_ci = "locked-code";                                 // what a plan shows, or the error
  const char* elsewhere = "locked-code";
  bool is_locked = true;  // before
  bool is_cold = true;    // Terragrunt's cache is removed before each plan
  bool needs_terragrunt = false;
};

const auto kNothing = [](Table&, const std::string&) {};

// <tag> stands for the tag of the situation.
std::vector<Situation> situations() {
  const std::string of_stacks = "git::<stacks>//net?ref=<tag>";
  const auto set_source = [](const std::string& text, const std::string& effective) {
    return [=](Table& table, const std::string& unit) {
      std::string source = text;
      source.replace(source.find("<tag>"), 5, unit);
      std::string is = effective;
      is.replace(is.find("<stacks>"), 8, table.stacks.url());
      is.replace(is.find("<tag>"), 5, unit);
      table.unit(unit, source, is);
    };
  };
  const std::string env = "${get_env(\"SOURCE_OF_TABLE\")}//net?ref=<tag>";
  const std::string include =
      "include \"root\" {\n  path   = find_in_parent_folders(\"root.hcl\")\n  expose = true\n}\n";
  return {
      // A. Computed sources: a moved tag changes nothing.
      {"a literal", "source = \"git::<stacks>//net?ref=<tag>\"", of_stacks},
      {"a local value",
       "|locals {\n  ref = \"<tag>\"\n}\nterraform {\n  source = \"git::<stacks>//net?ref=${local.ref}\"\n}\n",
       of_stacks},
      {"a local value of an exposed include",
       "|" + include + "terraform {\n  source = \"${include.root.locals.stacks}//net?ref=<tag>\"\n}\n", of_stacks},
      {"format() and read_terragrunt_config()",
       "|locals {\n  env = read_terragrunt_config(find_in_parent_folders(\"env.hcl\"))\n}\n" + include +
           "terraform {\n  source = format(\"%s//%s?ref=<tag>\", include.root.locals.stacks, "
           "local.env.locals.directory)\n}\n",
       of_stacks},
      {"an included terraform block",
       "|include \"block\" {\n  path = \"${dirname(find_in_parent_folders(\"root.hcl\"))}/blocks/<tag>.hcl\"\n}\n",
       of_stacks},
      {"a variable of the environment", "source = \"" + env + "\"", of_stacks},
      {"a program", "source = run_cmd(\"--terragrunt-quiet\", \"echo\", \"git::<stacks>//net?ref=<tag>\")", of_stacks},
      {"a literal that is not locked", "source = \"git::<stacks>//net?ref=<tag>\"", of_stacks, kNothing, "[FROZEN]",
       "locked-code", false},
      {"a computed source that is not locked", "source = \"" + env + "\"", of_stacks, kNothing, "[FROZEN]",
       "locked-code", false},
      {"another tag", "source = \"git::<stacks>//net?ref=<tag>\"", of_stacks,
       set_source(
           "terraform {\n  source = \"git::${get_env(\"SOURCE_OF_TABLE\")}//net?ref=<tag>-b\"\n}\n" + std::string(),
           "git::<stacks>//net?ref=<tag>-b"),
       "[FROZEN]", "newer-code"},
      {"another tag of a computed source", "source = \"" + env + "\"", of_stacks,
       set_source("terraform {\n  source = \"" + env + "-b\"\n}\n", "git::<stacks>//net?ref=<tag>-b"), "[FROZEN]",
       "newer-code"},
      {"another directory of a computed source", "source = \"" + env + "\"", of_stacks,
       set_source("terraform {\n  source = \"${get_env(\"SOURCE_OF_TABLE\")}//lib?ref=<tag>\"\n}\n",
                  "git::<stacks>//lib?ref=<tag>"),
       "[FROZEN]", "lib-code"},
      {"a computed local directory", "source = \"${get_repo_root()}/catalog\"", "${get_repo_root()}/catalog", kNothing,
       "local-code", "local-code"},
      {"a local directory that a program names",
       "source = run_cmd(\"--terragrunt-quiet\", \"echo\", \"../../catalog\")", "../../catalog", kNothing, "local-code",
       "local-code"},
      {"no source", "|", ".", kNothing, "unit-code", "unit-code"},
  };
}

// Files that a tag adds, in downloads of Terragrunt: without the hook that puts the locked source there.
std::vector<Situation> downloads() {
  const std::string source = "source = \"git::<stacks>//net?ref=<tag>\"";
  const std::string of_stacks = "git::<stacks>//net?ref=<tag>";
  const auto moved = [](const char* name, const char* text) {
    return [=](Table& table, const std::string& unit) { table.tag(unit, {{name, text}}); };
  };
  const auto made = [](const std::string& name) {
    return [=](Table& table, const std::string& unit) {
      write_text(table.place_of(unit) / name, "made-code");
      if (name == "made.tf") {
        write_text(table.place_of(unit) / name, "output \"made\" {\n  value = \"made-code\"\n}\n");
      }
    };
  };
  const char* const stopped = "[HASH_MISMATCH]";
  return {
      {"a moved tag adds a template", source, of_stacks, moved("net/u.tpl", "foreign-code"), stopped, stopped},
      {"in a directory", source, of_stacks, moved("net/policies/x.json", "foreign-code"), stopped, stopped},
      {"a hidden one", source, of_stacks, moved("net/.u.tpl", "foreign-code"), stopped, stopped},
      {"in another module", source, of_stacks, moved("lib/u.tpl", "foreign-code"), stopped, stopped},
      {"in a directory of Terragrunt", source, of_stacks, moved("net/.terragrunt-cache/u.tpl", "foreign-code"), stopped,
       stopped},
      {"a moved tag changes a template", source, of_stacks, moved("net/t.tpl", "foreign-code"), stopped, stopped},
      {"a moved tag adds configuration", source, of_stacks, moved("net/u.tf", "# foreign-code\n"), stopped, stopped},
      {"of a computed source", "source = \"${get_env(\"SOURCE_OF_TABLE\")}//net?ref=<tag>\"", of_stacks,
       moved("net/u.tpl", "foreign-code"), stopped, stopped},
      {"the tag stays", source, of_stacks, kNothing},
      {"the unit has more files", source, of_stacks,
       [](Table& table, const std::string& unit) {
         table.write("live/" + unit + "/more.tpl", "unit-code");
         table.write("live/" + unit + "/more/more.json", "unit-code");
       },
       "unit-code", "unit-code"},
      {"a hook of the user made a file", source, of_stacks, made("made.tpl"), "made-code", "made-code", true, false},
      {"a state", source, of_stacks, made("terraform.tfstate.x"), "locked-code", "locked-code", true, false},
      {"a hook of the user made configuration", source, of_stacks, made("made.tf"), stopped, stopped, true, false},
      {"an input that is null",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\ninputs = {\n  nothing = null\n}\n", of_stacks,
       kNothing, "", "", true, true, true},
      {"a generated template of a computed name",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\ngenerate \"x\" {\n  path      = "
       "\"${get_env(\"HOME\", \"\") == \"\" ? \"a\" : \"b\"}.tpl\"\n  if_exists = \"overwrite\"\n  contents  = "
       "\"made-code\"\n}\n",
       of_stacks, kNothing, "made-code", "made-code", true, true, true},
  };
}

std::string with(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
    text.replace(at, name.size(), value);
  }
  return text;
}

// Makes all units, and locks those that are to be locked.
void lock_all(Table& table, const std::vector<Situation>& rows, const std::vector<std::string>& names) {
  std::vector<std::string> locked;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto filled = [&](const std::string& text) {
      return with(with(text, "<tag>", names[i]), "<stacks>", table.stacks.url());
    };
    table.tag(names[i], {});
    table.tag(names[i] + "-b", {{"net/t.tpl", "newer-code"}});
    table.write("blocks/" + names[i] + ".hcl", filled("terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\n"));
    const std::string text = filled(rows[i].source);
    table.unit(names[i], text.starts_with('|') ? text.substr(1) : "terraform {\n  " + text + "\n}\n",
               filled(rows[i].effective));
    if (rows[i].effective == ".") {
      table.write("live/" + names[i] + "/main.tf", kMain);
      table.write("live/" + names[i] + "/u.tpl", "unit-code");
    }
    if (rows[i].is_locked) {
      locked.push_back(names[i]);
    }
  }
  for (const auto& [name, planned] : table.run({"init"}, locked)) {
    BOOST_TEST(planned.ok, name << ": " << planned.text);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].change) {
      rows[i].change(table, names[i]);
    } else {
      table.tag(names[i], {{"net/t.tpl", "foreign-code"}});
    }
  }
}

void check_table(const std::string& place, const std::string& terragrunt, bool has_place) {
  std::vector<Situation> rows = has_place ? situations() : downloads();
  std::erase_if(rows, [&](const Situation& row) { return row.needs_terragrunt && terragrunt.empty(); });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    names.push_back(fmt::format("u{}", i));
  }
  Table table(place, terragrunt);
  if (!has_place) {
    table.environment.erase("PLACES");
    table.write("modlock.hcl", with(table.read("modlock.hcl"), "terragrunt-read-config", "none"));
  }
  lock_all(table, rows, names);
  for (const std::string ci : {"true", ""}) {
    std::map<std::string, std::string> before;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      before[names[i]] = table.locks(names[i]);
      if (rows[i].is_cold) {
        fs::remove_all(table.cache_of(names[i]));
      }
    }
    table.environment["CI"] = ci;
    auto planned = table.run({"plan"}, names);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      BOOST_TEST_CONTEXT(rows[i].name << " (" << names[i] << "), " << place << ", CI=" << ci << " " << terragrunt) {
        const std::string expected = ci.empty() ? rows[i].elsewhere : rows[i].in_ci;
        const Planned& plan = planned[names[i]];
        BOOST_TEST(plan.ok == !expected.starts_with('['), plan.text);
        BOOST_TEST(plan.text.find(expected) != std::string::npos, "\"" << expected << "\" is not in: " << plan.text);
        BOOST_TEST(plan.text.find("foreign-code") == std::string::npos, plan.text);
        BOOST_TEST((ci.empty() || table.locks(names[i]) == before[names[i]]), table.locks(names[i]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(situations_of_units) {
  for (const bool has_place : {true, false}) {
    check_table("sidecar", "", has_place);
    check_table("inline", "", has_place);
  }
}

BOOST_AUTO_TEST_CASE(situations_of_units_with_terragrunt, *needs("terragrunt, tofu")) {
  check_table("sidecar", "terragrunt", true);
  check_table("inline", "terragrunt", false);
}

// A newer source of Terragrunt than that of its last release.
BOOST_AUTO_TEST_CASE(situations_of_units_with_the_newest_terragrunt, *needs("terragrunt-new, tofu")) {
  check_table("inline", "terragrunt-new", true);
  check_table("sidecar", "terragrunt-new", false);
}

}  // namespace
}  // namespace modlock::test
