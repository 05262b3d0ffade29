#include "plugin/cli/command_line.h"

#include <boost/test/unit_test.hpp>
#include <sstream>

#include "backends/base/build_info.h"
#include "plugin/cli/commands.h"
#include "tests/plugin/cli/captured_output.h"

namespace modlock::cli {
namespace {

using Words = std::vector<std::string>;

struct Parsed {
  std::variant<CommandLine, int> line = 0;
  std::string out;
  std::string err;
};

Parsed parse(Words words) {
  words.insert(words.begin(), "tofu-modlock");
  std::vector<const char*> argv;
  for (const std::string& word : words) {
    argv.push_back(word.c_str());
  }
  Parsed parsed;
  const test::Printed printed =
      test::printed_by([&] { parsed.line = parse_command_line(static_cast<int>(argv.size()), argv.data()); });
  parsed.out = printed.out;
  parsed.err = printed.err;
  return parsed;
}

const Words kCommands[] = {{"lock"},    {"upgrade"}, {"update"}, {"install"},       {"verify"},         {"status"},
                           {"inspect"}, {"explain"}, {"graph"},  {"outdated"},      {"versions"},       {"mirror"},
                           {"sbom"},    {"doctor"},  {"cache"},  {"cache", "info"}, {"cache", "prune"}, {"help"},
                           {"version"}, {"hook"},    {"merge"},  {"serve"},         {"call"},           {"schema"}};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

BOOST_AUTO_TEST_SUITE(command_line)

BOOST_AUTO_TEST_CASE(usage_error_names_the_nearest_name) {
  struct Row {
    const char* name;
    Words words;
    const char* err;
  };
  const Row rows[] = {
      {"command",
       {"lok"},
       "Error: unknown command \"lok\"; did you mean \"lock\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock --help\n"},
      {"other name of a command",
       {"wyh", "module.vpc"},
       "Error: unknown command \"wyh\"; did you mean \"why\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock --help\n"},
      {"command of a command",
       {"cache", "inf"},
       "Error: unknown command \"inf\"; did you mean \"info\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock cache --help\n"},
      {"command without a similar one",
       {"frobnicate", "--json"},
       "Error: unknown command \"frobnicate\" [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock --help\n"},
      {"command of other programs",
       {"check"},
       "Error: unknown command \"check\"; did you mean \"verify\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock --help\n"},
      {"command that is one of git",
       {"undo"},
       "Error: unknown command \"undo\"; restore the files that the command named, as in: git restore main.tf "
       ".terraform.lock.hcl [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock --help\n"},
      {"command of a command that is a flag",
       {"bundle", "install", "modules.tar"},
       "Error: unknown command \"install\"; to install from a bundle, run: tofu-modlock install --from BUNDLE "
       "[INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock bundle --help\n"},
      {"format as a flag",
       {"diff", "--sarif"},
       "Error: unknown flag \"--sarif\"; write --format sarif [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock diff --help\n"},
      {"format of an update as a flag",
       {"update", "module.a", "--markdown"},
       "Error: unknown flag \"--markdown\"; write --format markdown [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock update --help\n"},
      {"short flag",
       {"lock", "-r"},
       "Error: unknown flag \"-r\"; did you mean \"--recursive\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
      {"short flag of a command without it",
       {"versions", "-r", "x"},
       "Error: unknown flag \"-r\" [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock versions --help\n"},
      {"flag",
       {"lock", "--frozn"},
       "Error: unknown flag \"--frozn\"; did you mean \"--frozen\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
      {"flag of the command in a mirror",
       {"mirror", "tofu", "init", "-upgrade"},
       "Error: unknown flag \"-upgrade\"; write -- before the command [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock mirror --help\n"},
      {"flag that is rarely used",
       {"why", "module.a", "--git-engin=git"},
       "Error: unknown flag \"--git-engin\"; did you mean \"--git-engine\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock explain --help\n"},
      {"flag with a secret value",
       {"lock", "--vra=token=s3cr3t"},
       "Error: unknown flag \"--vra\"; did you mean \"--var\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
      {"flag before the command",
       {"--frozn", "lock"},
       "Error: unknown flag \"--frozn\"; did you mean \"--frozen\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
      {"flag of the client in ci",
       {"ci", "tofu", "init", "-upgrade"},
       "Error: unknown flag \"-upgrade\"; write -- before the command [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock ci --help\n"},
      {"directory before the command, as for the client",
       {"-chdir=live", "lock"},
       "Error: unknown flag \"-chdir\"; write it after the command: tofu-modlock lock --chdir DIR [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock --help\n"},
      {"flag without a command",
       {"--versoin"},
       "Error: unknown flag \"--versoin\"; did you mean \"--version\"? [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock --help\n"},
      {"argument",
       {"why", "module.a", "module.b"},
       "Error: unexpected argument \"module.b\" [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock explain --help\n"},
      {"value",
       {"lock", "--resolution", "newest"},
       "Error: --resolution: \"newest\" is not one of auto,unified,per-call [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
      {"number",
       {"lock", "--jobs", "x"},
       "Error: --jobs: \"x\" is not a number from 1 to 64 [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
      {"no value",
       {"lock", "--jobs"},
       "Error: --jobs needs a value [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
      {"empty value",
       {"lock", "--jobs="},
       "Error: --jobs needs a value [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
      {"number without a limit",
       {"serve", "--max-message-bytes", "x"},
       "Error: --max-message-bytes: \"x\" is not a number from 0 to 9223372036854775807 [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock serve --help\n"},
      {"negative number",
       {"serve", "--drain-ms=-1"},
       "Error: --drain-ms: \"-1\" is not a number from 0 to 2147483647 [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock serve --help\n"},
      {"value of a flag without one",
       {"lock", "--offline=maybe"},
       "Error: --offline: \"maybe\" is not true or false [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
      {"no argument",
       {"completion"},
       "Error: SHELL is required [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock completion --help\n"},
      {"quiet and verbose",
       {"lock", "-q", "-v"},
       "Error: --quiet and --verbose cannot be combined [INVALID_PARAMS]\n"
       "  hint: run: tofu-modlock lock --help\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Parsed parsed = parse(row.words);
      BOOST_REQUIRE(std::holds_alternative<int>(parsed.line));
      BOOST_TEST(std::get<int>(parsed.line) == 2);
      BOOST_TEST(parsed.out.empty());
      BOOST_TEST(parsed.err == row.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(line_without_a_command_prints_the_help_on_stderr) {
  for (const auto& [words, help] :
       {std::pair<Words, Words>{{}, {"--help"}}, {{"-q"}, {"--help"}}, {{"cache"}, {"cache", "--help"}}}) {
    const Parsed parsed = parse(words);
    BOOST_TEST(std::get<int>(parsed.line) == 2);
    BOOST_TEST(parsed.out.empty());
    BOOST_TEST(parsed.err == parse(help).out);
  }
}

BOOST_AUTO_TEST_CASE(other_names_are_the_same_command) {
  struct Row {
    Words words;
    decltype(CommandLine::run) run;
  };
  for (const Row& row : {Row{{"outdated", "module.vpc"}, run_outdated}, Row{{"update", "module.vpc=1.0.0"}, run_update},
                         Row{{"tree"}, run_inspect}, Row{{"why", "lock"}, run_explain}}) {
    BOOST_TEST_CONTEXT(row.words.front()) {
      const Parsed parsed = parse(row.words);
      BOOST_REQUIRE(std::holds_alternative<CommandLine>(parsed.line));
      BOOST_TEST((std::get<CommandLine>(parsed.line).run == row.run));
    }
  }
}

BOOST_AUTO_TEST_CASE(output_flags_are_before_or_after_the_command) {
  for (const Words& words : {Words{"-q", "lock"}, Words{"lock", "--quiet"}, Words{"cache", "prune", "-q"}}) {
    BOOST_TEST(std::get<CommandLine>(parse(words).line).common.quiet);
  }
  for (const Words& words : {Words{"--verbose", "lock"}, Words{"lock", "-v"}}) {
    BOOST_TEST(std::get<CommandLine>(parse(words).line).common.verbose);
  }
}

BOOST_AUTO_TEST_CASE(help_command_prints_what_the_flag_prints) {
  struct Row {
    Words words;
    Words same_as;
  };
  const Row rows[] = {{{"help"}, {"--help"}},
                      {{"-h"}, {"--help"}},
                      {{"help", "lock"}, {"lock", "--help"}},
                      {{"help", "lock", "--frozen"}, {"lock", "--help"}},
                      {{"help", "cache", "prune"}, {"cache", "prune", "--help"}},
                      {{"help", "why"}, {"explain", "-h"}},
                      {{"help", "--help-all"}, {"--help-all"}},
                      {{"help", "lock", "--help-all"}, {"lock", "--help-all"}}};
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.words.back()) {
      const Parsed parsed = parse(row.words);
      BOOST_TEST(std::get<int>(parsed.line) == 0);
      BOOST_TEST(parsed.err.empty());
      BOOST_TEST(!parsed.out.empty());
      BOOST_TEST(parsed.out == parse(row.same_as).out);
    }
  }
  BOOST_TEST(parse({"help", "lok"}).err == parse({"lok"}).err);
  BOOST_TEST(parse({"--version"}).out == std::string(kVersion) + "\n");
}

BOOST_AUTO_TEST_CASE(help_has_100_columns_and_20_commands) {
  std::size_t commands = 0;
  std::vector<std::string> headings;
  for (const std::string& line : lines_of(parse({"--help"}).out)) {
    headings.insert(headings.end(), line.ends_with(":") ? 1 : 0, line);
    commands += static_cast<std::size_t>(headings.size() > 1 && line.starts_with("  ") && line[2] != ' ');
  }
  BOOST_TEST(headings == (std::vector<std::string>{
                             "Options:", "Lock:", "Install and check:", "Inspect:", "Integrate:", "Maintain:"}),
             boost::test_tools::per_element());
  BOOST_TEST(commands <= 20U);
  BOOST_TEST(commands >= 15U);
  for (const char* flag : {"--help", "--help-all"}) {
    BOOST_TEST(parse({flag}).out.size() > 1000U);
    std::vector<Words> all(std::begin(kCommands), std::end(kCommands));
    all.emplace_back();
    for (Words& words : all) {
      words.emplace_back(flag);
      for (const std::string& line : lines_of(parse(words).out)) {
        BOOST_TEST(line.size() <= 100U, line);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(only_help_all_shows_what_is_rarely_used) {
  const auto shows = [](const Words& words, std::string_view text) {
    return parse(words).out.find(text) != std::string::npos;
  };
  BOOST_TEST(!shows({"lock", "--help"}, "--git-engine"));
  BOOST_TEST(shows({"lock", "--help"}, "\nFor more flags, use --help-all.\n"));
  BOOST_TEST(shows({"lock", "--help-all"}, "\nRarely used flags:\n  --cache-dir DIR  "));
  BOOST_TEST(!shows({"--help"}, "  merge  "));
  BOOST_TEST(shows({"--help"}, "\nFor more commands, use --help-all.\n"));
  BOOST_TEST(shows({"--help-all"}, "\nRarely used commands:\n  graph  "));
}

BOOST_AUTO_TEST_CASE(every_command_helps_with_examples) {
  for (const Words& command : kCommands) {
    if (command == Words{"cache"} || command == Words{"help"}) {
      continue;
    }
    Words words = command;
    words.emplace_back("--help");
    BOOST_TEST(parse(words).out.find("\nExamples:\n  ") != std::string::npos, command.back());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::cli
