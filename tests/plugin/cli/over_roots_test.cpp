#include "plugin/cli/over_roots.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <map>

#include "protocol/base/json.h"
#include "tests/plugin/cli/captured_output.h"
#include "tests/support/temporary_directory.h"

namespace modlock::cli {
namespace {

using test::Printed;
using test::printed_by;

BOOST_AUTO_TEST_SUITE(over_roots)

BOOST_AUTO_TEST_CASE(the_table_of_several_roots) {
  struct RootRow {
    std::string root;
    int exit_code;
    std::string result;
    Hint hint;
  };
  struct Row {
    const char* name;
    std::vector<RootRow> rows;
    const char* text;
    std::size_t sources = 0;
  };
  const Row rows[] = {
      {"all succeeded", {{"/a", 0, "", ""}, {"/b", 0, "", ""}}, "2 root modules: all ok.\n"},
      {"none", {}, "0 root modules: all ok.\n"},
      {"sources", {{"/a", 0, "", ""}, {"/b", 0, "", ""}}, "2 root modules, 3 sources: all ok.\n", 3},
      {"the same result", {{"/a", 0, "changed", ""}, {"/b", 0, "changed", ""}}, "2 root modules: all changed.\n"},
      {"two results",
       {{"/a", 0, "up to date", ""}, {"/b", 0, "changed", ""}, {"/c", 0, "up to date", ""}},
       "3 root modules: 1 changed, 2 up to date.\n"},
      {"a hint of several roots",
       {{"/a", 3, "FROZEN", "run: " + tofu_modlock("lock")},
        {"/b", 4, "FROZEN", "another"},
        {"/c", 3, "FROZEN", "run: " + tofu_modlock("lock")}},
       "\n"
       "ROOT  RESULT  HINT\n"
       "/a    FROZEN  run: tofu-modlock lock --chdir /a --chdir /c\n"
       "/b    FROZEN  another\n"
       "/c    FROZEN  as for /a\n"
       "3 root modules: 0 ok, 3 failed (exit code 4).\n"},
      {"short names are as wide as the heading",
       {{"/a", 3, "FROZEN", "run lock"}, {"/b", 0, "", ""}},
       "\n"
       "ROOT  RESULT  HINT\n"
       "/a    FROZEN  run lock\n"
       "/b    ok\n"
       "2 root modules: 1 ok, 1 failed (exit code 3).\n"},
      {"more than three alike",
       {{"/a", 0, "", ""}, {"/b", 3, "FROZEN", "x"}, {"/c", 0, "", ""}, {"/d", 0, "", ""}, {"/e", 0, "", ""}},
       "\n"
       "ROOT                RESULT  HINT\n"
       "/a, /c, and 2 more  ok\n"
       "/b                  FROZEN  x\n"
       "5 root modules: 4 ok, 1 failed (exit code 3).\n"},
      {"the longest root and result",
       {{"/live/prod/vpc", 1, "CONFIG_PARSE", "fix it"}, {"/x", 0, "stale", "run install"}, {"/live/y", 4, "", ""}},
       "\n"
       "ROOT            RESULT        HINT\n"
       "/live/prod/vpc  CONFIG_PARSE  fix it\n"
       "/x              stale         run install\n"
       "/live/y         failed\n"
       "3 root modules: 1 ok, 2 failed (exit code 4).\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::vector<RootOutcome> outcomes = mapped(row.rows, [](const RootRow& one) {
        return RootOutcome{
            .exit_code = one.exit_code, .json = {}, .result = one.result, .hint = one.hint, .root = one.root};
      });
      const Printed printed = printed_by([&] { print_table(outcomes, CommonFlags(), "", row.sources); });
      BOOST_TEST(printed.err == row.text);
      BOOST_TEST(printed.out == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_worst_exit_code_counts) {
  struct Row {
    const char* name;
    std::vector<int> codes;  // of the roots
    int worst;
  };
  const Row rows[] = {
      {"none", {}, 0},
      {"success", {0, 0}, 0},
      {"one failure", {0, 3, 0}, 3},
      {"the order of roots does not matter", {4, 3}, 4},
      {"nor here", {3, 4}, 4},
      {"a smaller number may be worse", {7, 2}, 2},
      {"of three", {1, 3, 6}, 6},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::map<std::string, int> codes;
      std::vector<std::string> roots;
      for (std::size_t i = 0; i < row.codes.size(); ++i) {
        roots.push_back("/" + std::to_string(i));
        codes[roots.back()] = row.codes[i];
      }
      int worst = -1;
      printed_by([&] {
        worst = run_for_roots({.paths = roots}, CommonFlags{}, [&](RootOutput& output) {
          return RootOutcome{.exit_code = codes.at(output.root()), .json = {}};
        });
      });
      BOOST_TEST(worst == row.worst);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_printed_around_the_roots) {
  struct Row {
    const char* name;
    std::vector<std::string> roots;
    bool json;
    const char* out;
    const char* err;
  };
  const Row rows[] = {
      {"one root", {"/a"}, false, "works in /a\n", ""},
      {"several have headings and a table",
       {"/a", "/b"},
       false,
       "/a:\nworks in /a\n\n/b:\nworks in /b\n",
       "2 root modules: all ok.\n"},
      {"JSON of one", {"/a"}, true, "{\n  \"of\": \"/a\"\n}\n", ""},
      {"JSON of several",
       {"/a", "/b"},
       true,
       "{\n  \"results\": [\n    {\n      \"exitCode\": 0,\n      \"of\": \"/a\",\n      \"root\": \"/a\"\n    },\n"
       "    {\n      \"exitCode\": 0,\n      \"of\": \"/b\",\n      \"root\": \"/b\"\n    }\n  ]\n}\n",
       ""},
      {"JSON of none", {}, true, "{\n  \"results\": []\n}\n", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      CommonFlags flags;
      flags.json = row.json;
      const Printed printed = printed_by([&] {
        run_for_roots({.paths = row.roots}, flags, [&](RootOutput& output) {
          RootOutcome outcome;
          if (row.json) {
            outcome.json["of"] = output.root();
          } else {
            output.out("works in " + output.root() + "\n");
          }
          return outcome;
        });
      });
      BOOST_TEST(printed.out == row.out);
      BOOST_TEST(printed.err == row.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_error_is_printed_or_goes_into_the_json) {
  const Error error{.code = Code::frozen, .message = "it changed", .notes = {"while planning"}, .hint = "run lock"};
  CommonFlags flags;
  RootOutcome outcome;
  RootOutput output;
  const auto print = [&] {
    outcome = failed(error, flags, output);
    print_diagnostics({output}, flags);
    output = RootOutput();
  };
  Printed printed = printed_by(print);
  BOOST_TEST(printed.err == "Error: it changed [FROZEN]\n  note: while planning\n  hint: run lock\n");
  BOOST_TEST(outcome.exit_code == 3);
  BOOST_TEST(outcome.json.isNull());
  BOOST_TEST(outcome.result == "FROZEN");
  BOOST_TEST(outcome.hint == "run lock");
  flags.json = true;
  printed = printed_by(print);
  BOOST_TEST(printed.err == "");
  BOOST_TEST(outcome.json["error"]["message"].asString() == "it changed");
  BOOST_TEST(outcome.json["error"]["data"]["code"].asString() == "FROZEN");
  printed = printed_by([&] { BOOST_TEST(failed_everywhere(error, flags) == 3); });
  BOOST_TEST(printed.out == write_json_pretty(outcome.json));
}

BOOST_AUTO_TEST_CASE(commands_in_hints_name_the_root) {
  struct Row {
    const char* name;
    std::string root;
    Hint hint;
    const char* shown;
  };
  const std::string here = std::filesystem::current_path().string();
  const Row rows[] = {
      {"current directory", here, "run: " + tofu_modlock("lock"), "run: tofu-modlock lock"},
      {"below", here + "/live/new", "run: " + tofu_modlock("lock") + ", then commit",
       "run: tofu-modlock lock --chdir live/new, then commit"},
      {"elsewhere", "/live", "run: " + tofu_modlock("upgrade", "--target", "module.a"),
       "run: tofu-modlock upgrade --chdir /live --target module.a"},
      {"two commands", "/live", "run " + tofu_modlock("lock") + " or " + tofu_modlock("install"),
       "run tofu-modlock lock --chdir /live or tofu-modlock install --chdir /live"},
      {"characters of a shell", "/my $HOME's", "run: " + tofu_modlock("lock"),
       R"(run: tofu-modlock lock --chdir '/my $HOME'\''s')"},
      {"words with such characters", "/live", tofu_modlock("update", "module.a=~> 2.0"),
       "tofu-modlock update --chdir /live 'module.a=~> 2.0'"},
      {"directory is there", "/live", tofu_modlock("lock", "--chdir", "prod"), "tofu-modlock lock --chdir prod"},
      {"all root modules", "/live", tofu_modlock("lock", "--recursive"), "tofu-modlock lock --recursive"},
      {"comparison", "/live", tofu_modlock("diff", "--lock-rev", "HEAD"),
       "tofu-modlock diff --chdir /live --lock-rev HEAD"},
      {"command of a command", "/live", tofu_modlock("bundle", "push", "oci://h/r"),
       "tofu-modlock bundle push --chdir /live oci://h/r"},
      {"another name", "/live", "`" + tofu_modlock("tree") + "` lists them",
       "`tofu-modlock tree --chdir /live` lists them"},
      {"command without the flag", "/live", tofu_modlock("cache", "prune"), "tofu-modlock cache prune"},
      {"text", "/live", "remove tofu-modlock lock.json", "remove tofu-modlock lock.json"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(RootOutput(row.root).hint(row.hint) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(errors_of_several_roots_name_theirs) {
  const Printed printed = printed_by([] {
    run_for_roots({.paths = {"/a", "/b"}}, CommonFlags{}, [](RootOutput& output) {
      return output.root() == "/a" ? RootOutcome{}
                                   : failed({.code = Code::missing, .message = "no lock"}, CommonFlags{}, output);
    });
  });
  BOOST_TEST(printed.err ==
             "Error in /b: no lock [MISSING]\n"
             "\n"
             "ROOT  RESULT   HINT\n"
             "/a    ok\n"
             "/b    MISSING\n"
             "2 root modules: 1 ok, 1 failed (exit code 3).\n");
}

BOOST_AUTO_TEST_CASE(what_several_roots_have_in_common_is_printed_once) {
  struct Row {
    const char* name;
    std::map<std::string, std::string> texts;  // by root
    std::map<std::string, Diagnostics> diagnostics;
    bool recursive;
    std::string out;
    std::string err;
  };
  const Error denied{.code = Code::release_denied, .message = "denied", .hint = "run: " + tofu_modlock("lock")};
  const Diagnostic error{Severity::error, denied};
  const Diagnostic warning{Severity::warning, {.code = Code::missing, .message = "w"}};
  const Diagnostic at_a{Severity::warning,
                        {.code = Code::missing, .message = "w", .location = Location{"../.tofu-modlock.hcl"}}};
  const Diagnostic at_b{Severity::warning,
                        {.code = Code::missing, .message = "w", .location = Location{"../../.tofu-modlock.hcl"}}};
  const Diagnostic unused{Severity::info, {.code = Code::config_parse, .message = "unused"}};
  const Row rows[] = {
      {"texts", {{"/a", "same\n"}, {"/b", "own\n"}, {"/c", "same\n"}}, {}, false, "/b:\nown\n\n/a and /c:\nsame\n", ""},
      {"of all",
       {{"/a", "x\n"}, {"/b", "x\n"}, {"/c", "x\n"}, {"/d", "x\n"}},
       {},
       false,
       "all 4 root modules:\nx\n",
       ""},
      {"no text has no heading", {{"/a", ""}, {"/b", "x\n"}}, {}, false, "/b:\nx\n", ""},
      {"errors of two",
       {{"/a", ""}, {"/b", ""}, {"/c", ""}},
       {{"/a", {error}}, {"/c", {error}}},
       false,
       "",
       "Error in /a and /c: denied [RELEASE_DENIED]\n  hint: run: tofu-modlock lock --chdir /a --chdir /c\n"},
      {"errors of many, that a search found",
       {{"/a", ""}, {"/b", ""}, {"/c", ""}, {"/d", ""}, {"/e", ""}},
       {{"/a", {error}}, {"/b", {error}}, {"/d", {error}}, {"/e", {error}}},
       true,
       "",
       "Error in /a, /b, and 2 more: denied [RELEASE_DENIED]\n  hint: run: tofu-modlock lock --recursive\n"},
      {"the same message with another severity",
       {{"/a", ""}, {"/b", ""}},
       {{"/a", {warning}}, {"/b", {{Severity::error, warning.what}}}},
       false,
       "",
       "Warning in /a: w [MISSING]\nError in /b: w [MISSING]\n"},
      {"a file that roots share, once per root",
       {{"/a", ""}, {"/b/c", ""}},
       {{"/a", {at_a, at_a}}, {"/b/c", {at_b}}},
       false,
       "",
       "Warning in /a and /b/c: w [MISSING]\n  at /.tofu-modlock.hcl\n"},
      {"a block that no root uses",
       {{"/a", ""}, {"/b", ""}},
       {{"/a", {unused}}, {"/b", {unused}}},
       true,
       "",
       "Info in /a and /b: unused [CONFIG_PARSE]\n"},
      {"a block that one root uses", {{"/a", ""}, {"/b", ""}}, {{"/b", {unused}}}, true, "", ""},
      {"a block, without a search", {{"/a", ""}}, {{"/a", {unused}}}, false, "", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::vector<RootOutput> outputs;
      for (const auto& [root, text] : row.texts) {
        RootOutput& output = outputs.emplace_back(root, row.texts.size() > 1);
        if (!text.empty()) {
          output.out(text);
        }
        if (row.diagnostics.count(root) != 0) {
          output.add(row.diagnostics.at(root));
        }
      }
      CommonFlags flags;
      flags.recursive = row.recursive;
      const Printed printed = printed_by([&] { print_outputs(outputs, flags); });
      BOOST_TEST(printed.out == row.out);
      BOOST_TEST(printed.err == row.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_interruption_names_the_state_of_each_root) {
  const Error cancelled{.code = Code::request_cancelled, .message = "the request was cancelled"};
  const Error not_started{.code = Code::request_cancelled, .message = "not started", .reason = Reason::not_started};
  const auto state = [](RootOutcome outcome, const char* text) {
    outcome.state = text;
    return outcome;
  };
  struct Row {
    const char* name;
    std::vector<std::function<RootOutcome(RootOutput&)>> roots;
    const char* err;
  };
  const auto interrupted = [&](RootOutput& output) { return failed(cancelled, CommonFlags{}, output); };
  const Row rows[] = {
      {"one root", {interrupted}, "Interrupted.\n"},
      {"one root with a state",
       {[&](RootOutput& output) { return state(interrupted(output), "nothing was written"); }},
       "Interrupted: nothing was written.\n"},
      {"several",
       {[&](RootOutput&) { return state({}, "lock file written"); }, [](RootOutput&) { return RootOutcome{}; },
        [&](RootOutput& output) { return state(interrupted(output), "nothing was written"); },
        [&](RootOutput& output) { return failed(not_started, CommonFlags{}, output); }, interrupted},
       "Interrupted.\n"
       "/0  lock file written\n"
       "/1  ok\n"
       "/2  nothing was written\n"
       "/3  not started\n"
       "/4  interrupted\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::vector<std::string> roots;
      for (std::size_t i = 0; i < row.roots.size(); ++i) {
        roots.push_back("/" + std::to_string(i));
      }
      const Printed printed = printed_by([&] {
        run_for_roots({.paths = roots}, CommonFlags{},
                      [&](RootOutput& output) { return row.roots[std::stoul(output.root().substr(1))](output); });
      });
      BOOST_TEST(printed.err == row.err);
    }
  }
  BOOST_TEST(printed_by([&] { failed_everywhere(cancelled, CommonFlags{}); }).err == "Interrupted.\n");
}

BOOST_AUTO_TEST_CASE(the_next_steps_are_printed_once) {
  struct Row {
    const char* name;
    std::vector<std::pair<std::string, NextSteps>> roots;  // below the current directory
    bool recursive;
    std::vector<std::string> directories;
    const char* text;
  };
  const Row rows[] = {
      {"none", {{"", {}}}, false, {}, ""},
      {"one root",
       {{"", {.install = "install", .init = "tofu"}}},
       false,
       {},
       "Next: run tofu-modlock install, then tofu init.\n"},
      {"all",
       {{"", {.lock = true, .install = "install", .init = "terraform"}}},
       false,
       {},
       "Next: run tofu-modlock lock, then tofu-modlock install, then terraform init.\n"},
      {"another directory",
       {{"live/prod", {.install = "install", .init = "tofu"}}},
       false,
       {"live/prod"},
       "Next: run tofu-modlock install live/prod, then tofu -chdir=live/prod init.\n"},
      {"several directories",
       {{"a", {.install = "install"}}, {"b", {}}},
       false,
       {"a", "b"},
       "Next: run tofu-modlock install a b.\n"},
      {"several that a search found",
       {{"a", {.install = "install"}}, {"b", {.init = "tofu"}}, {"c", {}}},
       false,
       {},
       "Next: run tofu-modlock install --recursive, then tofu init in each root module.\n"},
      {"a search below a directory",
       {{"live/a", {.install = "install"}}, {"live/b", {}}},
       true,
       {"live"},
       "Next: run tofu-modlock install --recursive live.\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      CommonFlags flags;
      flags.recursive = row.recursive;
      flags.directories = row.directories;
      std::vector<std::string> roots;
      for (const auto& [place, next] : row.roots) {
        roots.push_back((std::filesystem::current_path() / place).lexically_normal().string());
      }
      auto one = row.roots.begin();
      const Printed printed = printed_by([&] {
        run_for_roots({.paths = roots}, flags,
                      [&](RootOutput&) { return RootOutcome{.json = {}, .next = (one++)->second}; });
      });
      BOOST_TEST(printed.out.substr(std::min(printed.out.find("Next:"), printed.out.size())) == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(exit_codes_of_diagnostics) {
  struct Row {
    const char* name;
    Diagnostics diagnostics;
    int exit_code;
    const char* result;
  };
  const Diagnostic warning{Severity::warning, {.code = Code::unreachable, .message = "w"}};
  const Diagnostic parse{Severity::error, {.code = Code::config_parse, .message = "p", .hint = "fix it"}};
  const Diagnostic conflict{Severity::error, {.code = Code::constraint_conflict, .message = "c"}};
  const Diagnostic other{Severity::error, {.code = Code::unreachable, .message = "o"}};
  const Row rows[] = {
      {"none", {}, 0, ""},
      {"a warning", {warning}, 0, ""},
      {"an error", {warning, parse}, 8, "CONFIG_PARSE"},
      {"a conflict", {conflict}, 6, "CONSTRAINT_CONFLICT"},
      {"both: the first is the result", {conflict, parse}, 8, "CONSTRAINT_CONFLICT"},
      {"any other is one of the configuration", {other}, 8, "UNREACHABLE"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(exit_code_of_diagnostics(row.diagnostics) == row.exit_code);
      RootOutcome outcome;
      describe_worst(row.diagnostics, outcome);
      BOOST_TEST(outcome.result == row.result);
    }
  }
  const Printed printed = printed_by([&] { print_diagnostics(Diagnostics{warning, parse}, "/a", {}); });
  BOOST_TEST(printed.err == "Warning: w [UNREACHABLE]\nError: p [CONFIG_PARSE]\n  hint: fix it\n");
}

BOOST_AUTO_TEST_CASE(a_directory_without_configuration) {
  const test::TemporaryDirectory directory;
  const auto missing = [&] {
    const auto error = find_missing_configuration(directory.path().string());
    return error ? error->message : "";
  };
  BOOST_TEST(missing() == directory.path().string() + " has no configuration files");
  directory.write("sub/main.tf", "");
  directory.write("README.md", "");
  BOOST_TEST(missing() == directory.path().string() + " has no configuration files");
  directory.write("main.tf.json", "{}");
  BOOST_TEST(missing() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::cli
