#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

namespace modlock::test {

BOOST_FIXTURE_TEST_SUITE(output, Scene)

BOOST_AUTO_TEST_CASE(output_that_cannot_be_written_is_an_error) {
  write("main.tf", "");
  for (const char* command : {"inspect", "inspect --json", "lock"}) {
    BOOST_TEST_CONTEXT(command) {
      const Ran ran = program({"sh", "-c", binary + " " + command + " >/dev/full"});
      BOOST_TEST(ran.exit_code == 1);
      BOOST_TEST(ran.err == "Error: the output could not be written [IO_ERROR]\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(what_others_named_cannot_command_the_terminal) {
  write(".terraform.lock.hcl",
        "module \"a\\u001b[2Jb\" {\n  source = \"git::https://example.com/x.git\"\n\n  hashes = [\n    \"h1:x\",\n  "
        "]\n}\n");
  write("main.tf", "");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.out.find('\x1b') == std::string::npos);
  BOOST_TEST(ran.out.find("module.a\\x1b[2Jb  removed") == 0U);
}

BOOST_AUTO_TEST_CASE(closed_descriptors_do_no_harm) {
  write("main.tf", "");
  const Ran ran = program({"sh", "-c", binary + " inspect <&- >&- 2>&-; echo code $?"});
  BOOST_TEST(ran.out == "code 1\n");
}

// In a pseudo terminal of this width; what a terminal shows, with colors as "^[[32m".
struct Terminal {
  const char* name;
  int columns;
  const char* locale;
  const char* no_color;
  std::vector<std::string> command;
  const char* shown;
};

BOOST_AUTO_TEST_CASE(tables_on_a_terminal) {
  GitRepository& label = repository("label.git");
  release(label, "0.3.1");
  GitRepository& network = repository("network.git");
  release(network, "1.2.0", {{"main.tf", module_call("label", "git::https://git.example.test/label.git?ref=v0.3.1")}});
  write_text(path("home/.gitconfig"),
             "[url \"file://" + repositories().string() + "/\"]\n  insteadOf = https://git.example.test/\n");
  write("main.tf", module_call("network", "git::https://git.example.test/network.git"));
  write(".tofu-modlock.hcl", module_rule("network", "~> 1.1"));
  BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  write(".terraform/modules/network.label/more.tf", "");
  const Terminal rows[] = {
      {"a wide terminal with colors",
       200,
       "C.UTF-8",
       "",
       {"inspect"},
       ".\n"
       "└─ module.network           ^[[32mlocked 1.2.0 (~> 1.1)^[[0m         "
       "git::https://git.example.test/network.git\n"
       "   └─ module.network.label  ^[[32mlocked v0.3.1 (<0.3.1...>)^[[0m  "
       "git::https://git.example.test/label.git?ref=v0.3.1\n"
       "2 module calls, 0 providers, 3 files.\n"},
      {"80 columns",
       80,
       "C.UTF-8",
       "1",
       {"inspect"},
       ".\n"
       "└─ module.network           locked 1.2.0 (~> 1.1)         git::https:…etwork.git\n"
       "   └─ module.network.label  locked v0.3.1 (<0.3.1...>)  git::https:…ref=v0.3.1\n"
       "2 module calls, 0 providers, 3 files.\n"},
      {"without UTF-8",
       80,
       "C",
       "1",
       {"inspect"},
       ".\n"
       "`- module.network           locked 1.2.0 (~> 1.1)         git::https...twork.git\n"
       "   `- module.network.label  locked v0.3.1 (<0.3.1...>)  git::https...ef=v0.3.1\n"
       "2 module calls, 0 providers, 3 files.\n"},
      {"reasons are wrapped",
       80,
       "C",
       "1",
       {"verify", "--strict"},
       "verified  module.network        1.2.0\n"
       "tampered  module.network.label  v0.3.1 (<0.3.1...>)  1 file differs from the\n"
       "                                                       locked package\n"
       "\nError: module checksum verification failed\n"},
      {"reasons without room have a line of their own",
       60,
       "C",
       "1",
       {"verify", "--strict"},
       "verified  module.network        1.2.0\n"
       "tampered  module.network.label  v0.3.1 (<0.3.1...>)\n"
       "    1 file differs from the locked package\n"
       "\nError: module checksum verification failed\n"},
      {"sources without room have a line of their own",
       60,
       "C",
       "1",
       {"inspect"},
       ".\n"
       "`- module.network           locked 1.2.0 (~> 1.1)\n"
       "   |  git::https://git.example.test/network.git\n"
       "   `- module.network.label  locked v0.3.1 (<0.3.1...>)\n"
       "         git::https://git.example.test/label.git?ref=v0.3.1\n"
       "2 module calls, 0 providers, 3 files.\n"},
  };
  for (const Terminal& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      environment["LC_ALL"] = row.locale;
      environment["NO_COLOR"] = row.no_color;
      environment["TERM"] = "xterm";
      std::string command = "stty cols " + std::to_string(row.columns) + "; " + binary;
      for (const std::string& argument : row.command) {
        command += " " + argument;
      }
      const Ran ran = program({"script", "--quiet", "--command", command, "/dev/null"});
      std::string shown;
      for (const char c : ran.out) {
        shown += c == '\r' ? "" : c == '\x1b' ? "^[" : std::string(1, c);
      }
      BOOST_TEST(shown.substr(0, std::string_view(row.shown).size()) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(help_fits_the_terminal) {
  struct Row {
    int columns;
    std::size_t longest;
  };
  for (const Row row : {Row{60, 80}, Row{80, 80}, Row{90, 90}, Row{200, 100}}) {
    for (const char* command : {"", "lock", "update", "install", "ci", "verify", "diff", "merge", "doctor",
                                "completion", "bundle push", "bundle unpack"}) {
      BOOST_TEST_CONTEXT(row.columns << " columns: " << command) {
        const Ran ran =
            program({"script", "--quiet", "--command",
                     fmt::format("stty cols {}; {} {} --help-all", row.columns, binary, command), "/dev/null"});
        std::istringstream lines(ran.out);
        std::size_t longest = 0;
        for (std::string line; std::getline(lines, line, '\r');) {
          longest = std::max(longest, line.size() - 1);  // after the end of the line before
        }
        BOOST_TEST(longest <= row.longest);
        BOOST_TEST(longest > row.longest - 20);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(doctor_fits_the_terminal) {
  write("main.tf", "");
  const Ran ran = program({"script", "--quiet", "--command", "stty cols 80; " + binary + " doctor", "/dev/null"});
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    const std::string text = line.substr(0, line.find_last_not_of("\r\n") + 1);
    const std::size_t word = text.find_first_not_of(' ');
    BOOST_TEST((text.size() <= 80 || text.find(' ', word) == std::string::npos), text);
  }
  BOOST_TEST(ran.out.find("\n         ") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_CASE(progress_on_a_terminal_has_counts_and_is_removed) {
  for (const char* name : {"a", "b"}) {
    GitRepository& made = repository(std::string(name) + ".git");
    release(made, "1.0.0");
    write(std::string(name) + ".tf", module_call(name, "git::" + made.url()));
  }
  environment["TERM"] = "xterm";
  const Ran ran = program({"script", "--quiet", "--command", binary + " lock --install", "/dev/null"});
  for (const char* message : {"1/2 fetching git::file://", "1/2 installing module."}) {
    BOOST_TEST(ran.out.find(std::string("\r\x1b[K") + message) != std::string::npos, ran.out);
  }
  BOOST_TEST(ran.out.rfind("\r\x1b[K") < ran.out.find("2 installed."));
  BOOST_TEST(modlock({"install"}).err == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
