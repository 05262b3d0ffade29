// Situations of units, each in CI and elsewhere, with the module blocks in both places: whether a plan is made, what
// code it shows, and that no lock file changes in CI. The stand-in runs all of them, and both Terragrunts where they
// are there.
#include <fmt/format.h>
#include <json/value.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <iterator>
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
    "variable \"nothing\" {\n  default = \"unset\"\n}\n"
    "output \"nothing\" {\n  value = var.nothing == null ? \"null-code\" : var.nothing\n}\n"
    "output \"files\" {\n  value = join(\" \", [for f in fileset(path.module, \"{,**/,.}*{tpl,json,x}\") : "
    "file(\"${path.module}/${f}\") if !strcontains(f, \".terraform\")])\n}\n";
// The client of the stand-in prints them.
constexpr const char* kClientDoes =
    "[ \"$1\" != plan ] || find . -type f -not -path '*/.t*' '(' -name '*.tpl' -o -name '*.json' -o -name '*.x' ')' "
    "-exec cat '{}' +";

std::string with(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
    text.replace(at, name.size(), value);
  }
  return text;
}

// "u12" of ".../live/u12/main.tf".
std::string unit_in(const std::string& text) {
  const std::size_t at = text.find("live/u");
  return at == std::string::npos ? "" : text.substr(at + 5, text.find_first_not_of("0123456789", at + 6) - at - 5);
}

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
    write("more/copy.tpl", "local-code");
    write("blocks/made.hcl",
          "generate \"made\" {\n  path      = \"backend.tf\"\n  if_exists = \"overwrite\"\n  contents  = "
          "\"output \\\"made\\\" {\\n  value = \\\"made-code\\\"\\n}\\n\"\n}\n");
    write("root.hcl", "locals {\n  stacks = \"git::" + stacks.url() + "\"\n}\n");
    write("env.hcl", "locals {\n  directory = \"net\"\n}\n");
    environment["PLACES"] = environment["REPORT"] = "1";
    environment["CLIENT_DOES"] = kClientDoes;
    environment["SOURCE_OF_TABLE"] = "git::" + stacks.url();
    if (!terragrunt_.empty()) {
      use_terragrunt("tofu");
      // What 1.2 has without an experiment.
      environment["TG_EXPERIMENT"] = terragrunt_ == "terragrunt-new" ? "mutable-generate,block-iteration" : "";
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
    files.try_emplace("calls/main.tf", call_of(name));
    stacks.commit(files);
    stacks.tag(name);
  }
  // A module that calls another one by that tag, and prints its code.
  std::string call_of(const std::string& name) {
    return "module \"other\" {\n  source = \"git::" + other.url() + "?ref=" + name +
           "\"\n}\noutput \"other\" {\n  value = module.other.code\n}\n";
  }
  void tag_other(const std::string& name, const std::string& code) {
    other.commit({{"main.tf", "output \"code\" {\n  value = \"" + code + "\"\n}\n"}});
    other.tag(name);
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
    // What a hook prints is a line of its unit. The summary at the end has it again, below the command of the hook.
    std::istringstream lines(ran.out + ran.err);
    for (std::string line; std::getline(lines, line);) {
      const auto entry = parse_json(line);
      std::string unit = unit_in(line);
      std::istringstream parts(shown(entry && entry->isObject() ? (*entry)["msg"].asString() : line));
      for (std::string part; std::getline(parts, part);) {
        unit = unit_in(part).empty() ? unit : unit_in(part);
        if (!unit.empty()) {
          planned[unit].text += part + "\n";
        }
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
  GitRepository::Files files = {};  // of the package that is locked
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
  const std::string source = "source = \"" + of_stacks + "\"";
  const char* const stopped = "[HASH_MISMATCH]";
  const auto edit = [](const char* name, const char* text) {
    return [=](Table& table, const std::string& unit) {
      fs::remove(table.place_of(unit) / name);  // Terragrunt's store has a link to it
      write_text(table.place_of(unit) / name, text);
    };
  };
  const auto branch = [](const char* text) {
    return [=](Table& table, const std::string& unit) {
      table.tag(unit + "-c", {{"net/t.tpl", text}});
      table.stacks.branch(unit + "-branch", unit + "-c");
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
       set_source("terraform {\n  source = \"${get_env(\"SOURCE_OF_TABLE\")}//net?ref=<tag>-b\"\n}\n",
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
      {"a conditional", "source = true ? \"git::<stacks>//net?ref=<tag>\" : null", of_stacks},
      {"a value of a file in its directory",
       "|locals {\n  own = read_terragrunt_config(\"${get_terragrunt_dir()}/../../blocks/<tag>-locals.hcl\")\n}\n"
       "terraform {\n  source = local.own.locals.source\n}\n",
       of_stacks},
      {"an include that is exposed and not merged",
       "|include \"root\" {\n  path           = find_in_parent_folders(\"root.hcl\")\n  expose         = true\n"
       "  merge_strategy = \"no_merge\"\n}\nterraform {\n  source = "
       "\"${include.root.locals.stacks}//net?ref=<tag>\"\n}\n",
       of_stacks},
      {"a deep merge",
       "|include \"block\" {\n  path           = find_in_parent_folders(\"blocks/<tag>.hcl\")\n"
       "  merge_strategy = \"deep\"\n}\n",
       of_stacks},
      {"a branch that moves", "source = \"git::<stacks>//net?ref=<tag>-branch\"", "git::<stacks>//net?ref=<tag>-branch",
       branch("foreign-code")},
      {"a branch that stays", "source = \"git::<stacks>//net?ref=<tag>-branch\"", "git::<stacks>//net?ref=<tag>-branch",
       kNothing},
      {"the tag was deleted", source, of_stacks,
       [](Table& table, const std::string& unit) { table.stacks.remove("refs/tags/" + unit); }},
      {"a warm cache, and the tag is moved", source, of_stacks, {}, "locked-code", "locked-code", true, false},
      {"a warm cache with a changed template", source, of_stacks, edit("t.tpl", "foreign-code"), stopped, stopped, true,
       false},
      {"a warm cache without a template", source, of_stacks,
       [](Table& table, const std::string& unit) { fs::remove(table.place_of(unit) / "t.tpl"); }, stopped, stopped,
       true, false},
      {"the lock file was deleted", source, of_stacks,
       [](Table& table, const std::string& unit) {
         fs::remove(table.root() / "live" / unit / ".terraform.lock.hcl");
         fs::remove(table.root() / "live" / unit / ".terraform.modules.lock.hcl");
       },
       "[FROZEN]", "locked-code"},
      {"a module call whose tag is moved", "source = \"git::<stacks>//calls?ref=<tag>\"",
       "git::<stacks>//calls?ref=<tag>",
       [](Table& table, const std::string& unit) { table.tag_other(unit, "foreign-code"); }, "locked-code",
       "locked-code", true, true, true},
      {"a module call that is not locked", "source = \"git::<stacks>//calls?ref=<tag>\"",
       "git::<stacks>//calls?ref=<tag>", kNothing, "[FROZEN]", "locked-code", false, true, true},
  };
}

// Packages with files that the client, Terragrunt or tofu-modlock writes or converts.
std::vector<Situation> packages() {
  const char* const kLock =
      "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n\n"
      "provider \"registry.opentofu.org/acme/unused\" {\n  version = \"1.0.0\"\n  hashes = [\n    "
      "\"h1:WY1Kiy3XP0wf4P7yNrMEavhJvAsFbFsapZl/4UQVjvw=\",\n  ]\n}\n";
  const char* const kSidecar =
      "module \"old\" {\n  source = \"git::https://git.example.test/old.git?ref=v1\"\n\n  hashes = [\n    "
      "\"git:8b8bac45c4d089f8c640024f2c4f1c546b62f98a\",\n    "
      "\"h1:WY1Kiy3XP0wf4P7yNrMEavhJvAsFbFsapZl/4UQVjvw=\",\n  ]\n}\n";
  const std::string of_stacks = "git::<stacks>//net?ref=<tag>";
  std::vector<Situation> rows;
  for (const bool is_cold : {true, false}) {
    const auto add = [&](const char* name, const char* file, const char* text, bool needs_terragrunt = false) {
      rows.push_back({name, "source = \"" + of_stacks + "\"", of_stacks, kNothing});
      rows.back().is_cold = is_cold;
      rows.back().needs_terragrunt = needs_terragrunt;
      rows.back().files = {{file, text}};
    };
    add("a lock file", "net/.terraform.lock.hcl", kLock);
    add("a lock file in another module", "lib/.terraform.lock.hcl", kLock);
    add("a sidecar", "net/.terraform.modules.lock.hcl", kSidecar);
    // Terragrunt's own store does not convert them.
    add("line endings that git converts", ".gitattributes", "*.tpl text eol=crlf\n", true);
  }
  return rows;
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
      {"leftovers of the package before", "source = \"git::<stacks>//net?ref=<tag>-more\"",
       "git::<stacks>//net?ref=<tag>-more",
       [](Table& table, const std::string& unit) {
         table.unit(unit, "terraform {\n  source = \"git::" + table.stacks.url() + "//net?ref=" + unit + "-b\"\n}\n",
                    "git::" + table.stacks.url() + "//net?ref=" + unit + "-b");
       },
       "[FROZEN]", "newer-code", true, false, true},
      {"the package without a file that the last one had, moved", source, of_stacks,
       [](Table& table, const std::string& unit) {
         table.stacks.commit({{"net/main.tf", kMain}, {"lib/main.tf", kMain}, {"lib/t.tpl", "lib-code"}});
         table.stacks.tag(unit);
       },
       stopped, stopped},
      {"values of variables", source, of_stacks, moved("net/x.auto.tfvars", "nothing = \"foreign-code\"\n"), stopped,
       stopped},
      {"a test", source, of_stacks, moved("net/x.tftest.hcl", "# foreign-code\n"), stopped, stopped},
      {"a list of copied files", source, of_stacks,
       [](Table& table, const std::string& unit) {
         table.tag(unit, {{"net/u.tpl", "foreign-code"}, {"net/.terragrunt-source-manifest", ""}});
       },
       stopped, stopped},
      {"inputs that pretend to be null", source, of_stacks,
       moved("net/.terragrunt-null-vars.auto.tfvars.json", "{\"nothing\": \"foreign-code\"}"), stopped, stopped},
      {"inputs that are null", source, of_stacks,
       moved("net/.terragrunt-null-vars.auto.tfvars.json", "{\"nothing\": null}"), stopped, stopped},
      {"a first line of Terragrunt", source, of_stacks,
       moved("net/backend.tf", "# Generated by Terragrunt. Sig: nIlQXj57tbuaRZEa\n# foreign-code\n"), stopped, stopped},
      {"a file that the repository has, too", source, of_stacks, moved("net/copy.tpl", "local-code"), "local-code",
       "local-code"},
      {"a file that the unit replaces", source, of_stacks,
       [](Table& table, const std::string& unit) {
         table.tag(unit, {{"net/more.tpl", "foreign-code"}});
         table.write("live/" + unit + "/more.tpl", "unit-code");
       },
       "unit-code", "unit-code"},
      {"a saved plan and a log", source, of_stacks,
       [](Table& table, const std::string& unit) {
         write_text(table.place_of(unit) / "tfplan", "plan");
         write_text(table.place_of(unit) / "crash.log", "log");
         write_text(table.place_of(unit) / ".terraform.tfstate.lock.info", "{}");
       },
       "locked-code", "locked-code", true, false},
      {"a hook that copies a file of the repository",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n  before_hook \"copy\" {\n    commands = "
       "[\"init\", \"plan\"]\n    execute  = [\"cp\", \"${get_repo_root()}/catalog/t.tpl\", \"c.tpl\"]\n  }\n}\n",
       of_stacks, kNothing, "local-code", "local-code", true, true, true},
      {"hidden files that are copied",
       "|terraform {\n  source          = \"git::<stacks>//net?ref=<tag>\"\n  include_in_copy = [\".own/**\"]\n}\n",
       of_stacks,
       [](Table& table, const std::string& unit) { table.write("live/" + unit + "/.own/x.json", "unit-code"); },
       "locked-code", "locked-code", true, true, true},
      {"generated configuration",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\ngenerate \"x\" {\n  path      = \"made.tf\"\n"
       "  if_exists = \"overwrite\"\n  contents  = \"output \\\"made\\\" {\\n  value = \\\"made-code\\\"\\n}\\n\"\n}\n",
       of_stacks, kNothing, "made-code", "made-code", true, true, true},
      {"generated configuration that leaves an existing file",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\ngenerate \"x\" {\n  path      = \"made.tf\"\n"
       "  if_exists = \"skip\"\n  contents  = \"output \\\"made\\\" {\\n  value = \\\"made-code\\\"\\n}\\n\"\n}\n",
       of_stacks, kNothing, "made-code", "made-code", true, true, true},
      {"the same, and a moved tag adds that file",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\ngenerate \"x\" {\n  path      = \"made.tf\"\n"
       "  if_exists = \"skip\"\n  contents  = \"\"\n}\n",
       of_stacks,
       moved("net/made.tf",
             "# Generated by Terragrunt. Sig: nIlQXj57tbuaRZEa\noutput \"made\" {\n  value = \"foreign-code\"\n}\n"),
       stopped, stopped, true, true, true},
      {"a generated name in another module",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\ngenerate \"x\" {\n  path      = \"made.tf\"\n"
       "  if_exists = \"overwrite\"\n  contents  = \"\"\n}\n",
       of_stacks, moved("lib/made.tf", "# Generated by Terragrunt. Sig: nIlQXj57tbuaRZEa\n# foreign-code\n"), stopped,
       stopped, true, true, true},
      {"a hidden file of a name that the unit has", source, of_stacks,
       [](Table& table, const std::string& unit) {
         table.write("live/" + unit + "/.s.json", "unit-code");
         table.tag(unit, {{"net/.s.json", "foreign-code"}});
       },
       stopped, stopped},
      {"configuration that an included file generates",
       "|include \"made\" {\n  path = \"${get_repo_root()}/blocks/made.hcl\"\n}\nterraform {\n  source = "
       "\"git::<stacks>//net?ref=<tag>\"\n}\n",
       of_stacks, kNothing, "made-code", "made-code", true, true, true},
      {"a state that Terragrunt configures",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\nremote_state {\n  backend = \"local\"\n"
       "  config = {\n    path = \"${get_terragrunt_dir()}/terraform.tfstate\"\n  }\n  generate = {\n    path      = "
       "\"backend.tf\"\n    if_exists = \"overwrite_terragrunt\"\n  }\n}\n",
       of_stacks, kNothing, "locked-code", "locked-code", true, true, true},
      {"a hook of the user made configuration", source, of_stacks, made("made.tf"), stopped, stopped, true, false},
      {"an input that is null",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\ninputs = {\n  nothing = null\n}\n", of_stacks,
       kNothing, "null-code", "null-code", true, true, true},
      {"a generated template of a computed name",
       "|terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\ngenerate \"x\" {\n  path      = "
       "\"${get_env(\"HOME\", \"\") == \"\" ? \"a\" : \"b\"}.tpl\"\n  if_exists = \"overwrite\"\n  contents  = "
       "\"made-code\"\n}\n",
       of_stacks, kNothing, "made-code", "made-code", true, true, true},
  };
}

// Makes all units, and locks those that are to be locked.
void lock_all(Table& table, const std::vector<Situation>& rows, const std::vector<std::string>& names) {
  std::vector<std::string> locked;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto filled = [&](const std::string& text) {
      return with(with(text, "<tag>", names[i]), "<stacks>", table.stacks.url());
    };
    table.tag(names[i], rows[i].files);
    table.tag(names[i] + "-b", {{"net/t.tpl", "newer-code"}});
    table.tag(names[i] + "-more", {{"net/old.tpl", "older-code"}, {"net/old/x.json", "older-code"}});
    table.stacks.branch(names[i] + "-branch", names[i]);
    table.tag_other(names[i], "locked-code");
    table.write("blocks/" + names[i] + "-locals.hcl",
                filled("locals {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\n"));
    table.write("blocks/" + names[i] + ".hcl", filled("terraform {\n  source = \"git::<stacks>//net?ref=<tag>\"\n}\n"));
    const std::string text = filled(rows[i].source);
    table.unit(names[i], text.starts_with('|') ? text.substr(1) : "terraform {\n  " + text + "\n}\n",
               filled(rows[i].effective));
    if (rows[i].effective == ".") {
      table.write("live/" + names[i] + "/main.tf", kMain + table.call_of(names[i]));
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
  std::ranges::move(packages(), std::back_inserter(rows));
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
  // What was locked elsewhere is green in CI afterwards.
  bool is_afterwards = false;
  std::vector<std::string> verify = {"verify"};
  for (const std::string ci : {"true", "", "true"}) {
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
        const std::string expected = ci.empty() || is_afterwards ? rows[i].elsewhere : rows[i].in_ci;
        const Planned& plan = planned[names[i]];
        BOOST_TEST(plan.ok == !expected.starts_with('['), plan.text);
        BOOST_TEST(plan.text.find(expected) != std::string::npos, "\"" << expected << "\" is not in: " << plan.text);
        BOOST_TEST(plan.text.find("foreign-code") == std::string::npos, plan.text);
        BOOST_TEST((ci.empty() || table.locks(names[i]) == before[names[i]]), table.locks(names[i]));
        if (is_afterwards && plan.ok) {
          verify.push_back("live/" + names[i]);
        }
      }
    }
    is_afterwards = ci.empty();
  }
  // A plan that the hooks allow is green without Terragrunt, too, unless a hook is missing.
  const Ran ran = table.modlock(verify);
  BOOST_TEST((ran.exit_code == 0 || !has_place), ran.out << ran.err);
}

BOOST_AUTO_TEST_CASE(situations_of_units) {
  for (const bool has_place : {true, false}) {
    check_table("sidecar", "", has_place);
    check_table("inline", "", has_place);
  }
}

BOOST_AUTO_TEST_CASE(situations_of_units_with_terragrunt, *needs("terragrunt, tofu")) {
  for (const bool has_place : {true, false}) {
    check_table("sidecar", "terragrunt", has_place);
    check_table("inline", "terragrunt", has_place);
  }
}

// A newer source of Terragrunt than that of its last release.
BOOST_AUTO_TEST_CASE(situations_of_units_with_the_newest_terragrunt, *needs("terragrunt-new, tofu")) {
  for (const bool has_place : {true, false}) {
    check_table("sidecar", "terragrunt-new", has_place);
    check_table("inline", "terragrunt-new", has_place);
  }
}

}  // namespace
}  // namespace modlock::test
