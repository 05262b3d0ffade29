#include "plugin/config/config_files.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "plugin/config/confined_files.h"
#include "plugin/config/module_scope.h"
#include "plugin/config/parsed_module.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;

BOOST_AUTO_TEST_SUITE(config_files)

BOOST_AUTO_TEST_CASE(relative_paths) {
  BOOST_TEST(relative_to_root("/a/b/main.tf", "/a/b") == "main.tf");
  BOOST_TEST(relative_to_root("/a/b/../c/x.tf", "/a/b/") == "../c/x.tf");
  BOOST_TEST(relative_to_root("/a/b", "/a/b") == ".");
  BOOST_TEST(relative_to_root("/a/bc/x.tf", "/a/b") == "../bc/x.tf");
  BOOST_TEST(relative_to_root("/a/b/c/x.tf", "/a") == "b/c/x.tf");
  BOOST_TEST(relative_to_root("/a/x.tf", "/") == "a/x.tf");
  BOOST_TEST(document_path("/a/b").string() == "/a/b");
  BOOST_TEST(document_path("/a/b/").string() == "/a/b");
  BOOST_TEST(document_path("/a//b/./c/../d").string() == "/a/b/d");
  BOOST_TEST(document_path("/").string() == "/");
  BOOST_TEST(document_path("/..").string() == "/");
  BOOST_TEST(document_path("x").string() == (std::filesystem::current_path() / "x").string());
}

namespace {

boost::test_tools::assertion_result has_no_sanitizer(boost::unit_test::test_unit_id) {
#if defined(MODLOCK_ADDRESS_SANITIZER) || defined(MODLOCK_THREAD_SANITIZER)
  boost::test_tools::assertion_result result(false);
#else
  boost::test_tools::assertion_result result(true);
#endif
  result.message() << "needs a build without a sanitizer, which takes memory of its own";
  return result;
}

// The most memory that this process had, in bytes, since the start or the last reset.
std::size_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) << 10U;
  }
  return 0;
}

// Reads a module and evaluates its calls. Returns whether the text exceeds the allowance; nullopt for other errors.
std::optional<bool> read_all(const std::filesystem::path& directory) {
  const auto module = read_module(directory, {}, ClientKind::opentofu);
  if (!module) return std::nullopt;
  const ScopeContext environment{.root = directory, .files = make_confined_files(directory, {directory}, {})};
  ModuleScope scope(*module, environment, ".", std::make_shared<VariableValues>());
  evaluate_calls(**module, scope);
  return std::ranges::any_of((*module)->diagnostics,
                             [](const Diagnostic& one) { return one.what.code == Code::limit_exceeded; });
}

// Returns how often the peak of the memory that reading takes, above the constant of the allowance or else 1 MiB, is
// the size of the text. 255 if it fails. In a child: the heap of a process that has read something else could hide it.
// The pages of the program count too, so it reads something small before.
int times_of_text(const std::filesystem::path& directory, std::size_t size, bool exceeds_allowance) {
  const pid_t child = fork();
  if (child == 0) {
    if (read_all(directory / "small") != false) _exit(255);
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";
    const std::size_t before = peak_memory();
    if (read_all(directory) != exceeds_allowance) _exit(255);
    const std::size_t used = peak_memory() - before;
    const std::size_t constant = std::size_t{exceeds_allowance ? 33U : 1U} << 20U;
    _exit(static_cast<int>(std::min<std::size_t>((used - std::min(used, constant)) / size, 254)));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace

BOOST_AUTO_TEST_CASE(text_of_tiny_values_takes_at_most_ten_times_its_size,
                     *boost::unit_test::precondition(has_no_sanitizer)) {
  struct Row {
    const char* name;
    const char* file;
    const char* start;
    const char* item;  // "#" becomes a number
    const char* end;
    bool exceeds_allowance = false;  // a text of 2 MiB, not of half of one
  };
  for (const Row& row : {
           Row{"variables", "v.tf", "", "variable \"v#\" {\n  default = \"#\"\n}\n", ""},
           Row{"variables of JSON", "v.tf.json", "{\"variable\": {", "\"v#\": {\"default\": \"#\"},\n", "\"v\": {}}}"},
           Row{"empty variables", "v.tf", "", "variable a {}\n", ""},
           Row{"empty variables of JSON", "v.tf.json", "{\"variable\": {", "\"v#\":{},", "\"v\": {}}}"},
           Row{"resources", "r.tf", "", "resource \"a_b\" \"c#\" {\n  d = #\n}\n", ""},
           Row{"resources of JSON", "r.tf.json", "{\"resource\": {\"a_b\": {", "\"c#\":{\"d\":#},", "\"c\":{}}}}"},
           Row{"blocks in a resource", "r.tf", "resource a b {\n", "c{}\n", "}\n"},
           Row{"outputs", "o.tf", "", "output \"a#\" {\n  value = #\n}\n", ""},
           Row{"unknown blocks", "x.tf", "", "x{}\n", ""},
           Row{"providers", "p.tf", "", "provider a {}\n", ""},
           Row{"empty local values", "l.tf.json", "{\"locals\": [", "{},", "{}]}"},
           Row{"local values", "l.tf", "locals {\n", "  a# = #\n", "}\n"},
           Row{"local values of JSON", "l.tf.json", "{\"locals\": {", "\"a#\": #,\n", "\"a\": 0}}"},
           Row{"digits", "d.tf", "locals {\n  a = [", "1,", "]\n}\n"},
           Row{"digits of JSON", "d.tf.json", "{\"locals\": {\"a\": [", "1,", "1]}}"},
           Row{"objects", "o.tf", "locals {\n  a = [", "{a=1},", "]\n}\n"},
           Row{"objects of JSON", "o.tf.json", "{\"locals\": {\"a\": [", "{\"a\":1},", "1]}}"},
           Row{"members", "m.tf", "locals {\n  a = {", "a#=1,", "}\n}\n"},
           Row{"arguments", "a.tf", "locals {\n  a = f(", "a,", "a)\n}\n"},
           Row{"interpolations", "i.tf", "locals {\n  a = \"", "${a}", "\"\n}\n"},
           Row{"lines", "t.tf", "locals {\n  a = <<EOT\n", "\n", "EOT\n}\n"},
           Row{"an argument of a module", "c.tf", "module \"m\" {\n  source = \"./m\"\n  a = [", "1,", "]\n}\n"},
           Row{"arguments of 7 bytes", "a.tf", "locals {\n", "a#=1\n", "}\n", true},
           Row{"arguments of a module", "a.tf", "module \"m\" {\n", "a#=1\n", "}\n", true},
           Row{"labels", "a.tf", "", "a b b b b b b b b b b b b b b b b b b b b b{}\n", ""},
           Row{"labels of one block", "a.tf", "a ", "b ", "{}\n", true},
           Row{"module calls", "c.tf", "", "module a# {}\n", "", true},
           Row{"module calls of one name", "c.tf", "", "module a {}\n", "", true},
           Row{"module calls of JSON", "c.tf.json", "{\"module\": {\"a\": [", "{},", "{}]}}", true},
           Row{"blocks of a module call", "c.tf", "module a {\n", "_ {}\n", "}\n", true},
           Row{"members of JSON", "x.tf.json", "{", "\"#\":0,", "\"a\": 0}", true},
           Row{"unknown blocks of JSON", "x.tf.json", "{\"x\": [", "{\"a\": {}},", "{}]}"},
           Row{"a variable of JSON again and again", "v.tf.json", "{\"variable\": {", "\"a\":{},", "\"a\": {}}}", true},
           Row{"resources of many providers", "r.tf", "", "resource a# b {}\n", "", true},
           Row{"configurations of many providers", "r.tf", "", "provider a# {}\n", "", true},
           Row{"required providers", "r.tf", "terraform {\nrequired_providers {\n", "a#={}\n", "}\n}\n", true},
           Row{"unknown blocks with a source", "x.tf", "", "x {\nsource=1\n}\n", "", true},
           Row{"imports", "i.tf", "", "import {\nto=a.b\n}\n", "", true},
           Row{"editions", "i.tf", "", "language {\nedition=a\n}\n", "", true},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryDirectory directory;
      const std::size_t size = std::size_t{1} << (row.exceeds_allowance ? 21U : 19U);
      std::string text = row.start;
      for (int number = 0; text.size() < size; ++number) {
        for (const char c : std::string_view(row.item)) text += c == '#' ? std::to_string(number) : std::string(1, c);
        if (number == 0) directory.write(std::string("small/") + row.file, text + row.end);
      }
      directory.write(row.file, text + row.end);
      BOOST_TEST(times_of_text(directory / ".", text.size(), row.exceeds_allowance) <= 10);
    }
  }
}

// The same files are read in any order, and by several threads.
BOOST_AUTO_TEST_CASE(text_of_all_files_counts_for_the_memory_of_each) {
  std::string calls;
  for (int number = 0; number < 30000; ++number) calls += "module \"m" + std::to_string(number) + "\" {\n}\n";
  for (const char* comments : {"0.tf", "z.tf"}) {
    for (const int others : {0, 20}) {
      const test::TemporaryDirectory directory;
      directory.write("a.tf", calls);
      directory.write(comments, "#" + std::string(std::size_t{3} << 20U, ' ') + "\n");
      for (int number = 0; number < others; ++number) {
        directory.write("b" + std::to_string(number) + ".tf", "# small\n");
      }
      const auto module = read_module(directory / ".", {}, ClientKind::opentofu);
      BOOST_REQUIRE(module);
      BOOST_TEST(std::ranges::none_of((*module)->diagnostics,
                                      [](const Diagnostic& one) { return one.what.code == Code::limit_exceeded; }));
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes) {
  constexpr std::size_t kMost = hcl::kMaxTextBytes;
  const auto sized = [](std::size_t size) { return "#" + std::string(size - 2, ' ') + "\n"; };
  struct Row {
    const char* name;
    std::vector<std::size_t> files;
    bool overlaid;
    const char* expected;
  };
  const Row rows[] = {
      {"the largest file", {kMost}, false, ""},
      {"a larger file",
       {kMost + 1},
       false,
       "LIMIT_EXCEEDED the file \"@/0.tf\" has 16777217 bytes, at most 16777216 are read"},
      {"a larger document",
       {kMost + 1},
       true,
       "LIMIT_EXCEEDED expected a text of at most 16777216 bytes, found 16777217"},
      {"the largest module", {kMost, kMost, kMost, kMost}, false, ""},
      {"a larger module",
       {kMost, kMost, kMost, kMost, 2},
       false,
       "LIMIT_EXCEEDED the files of this module have more than 67108864 bytes"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryDirectory directory;
      Documents documents;
      for (std::size_t i = 0; i < row.files.size(); ++i) {
        const std::string name = std::to_string(i) + ".tf";
        if (row.overlaid) {
          documents.emplace(directory / name, sized(row.files[i]));
        } else {
          directory.write(name, sized(row.files[i]));
        }
      }
      const auto files =
          read_config_files(directory.path(), directory.path(), documents, ConfigKind::module, ClientKind::opentofu);
      std::string found;
      const auto add = [&](const Error& error) { found += std::string(to_string(error.code)) + " " + error.message; };
      if (!files) {
        add(files.error());
      } else {
        for (const ConfigText& file : *files) {
          for (const Diagnostic& one : file.parsed.diagnostics) {
            add(one.what);
          }
        }
      }
      if (const auto at = found.find(directory.path().string()); at != std::string::npos) {
        found.replace(at, directory.path().string().size(), "@");
      }
      BOOST_TEST(found == row.expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
