#include "plugin/config/config_files.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

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

// Returns how often the peak of the memory that reading takes, above 2 MiB, is the size of the text. In a child: the
// heap of a process that has read something else could hide it.
int times_of_text(const std::filesystem::path& directory, std::size_t size) {
  const pid_t child = fork();
  if (child == 0) {
    std::ofstream("/proc/self/clear_refs") << "5";
    const std::size_t before = peak_memory();
    const auto module = read_module(directory, {}, ClientKind::opentofu);
    if (!module || has_errors((*module)->diagnostics)) _exit(255);
    const std::size_t used = peak_memory() - before;
    _exit(static_cast<int>(std::min<std::size_t>((used - std::min(used, std::size_t{2} << 20U)) / size, 254)));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

}  // namespace

BOOST_AUTO_TEST_CASE(text_of_tiny_values_takes_at_most_ten_times_its_size,
                     *boost::unit_test::precondition(has_no_sanitizer)) {
  constexpr std::size_t kSize = std::size_t{1} << 19U;
  struct Row {
    const char* name;
    const char* file;
    const char* start;
    const char* item;  // "#" becomes a number
    const char* end;
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
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const test::TemporaryDirectory directory;
      std::string text = row.start;
      for (int number = 0; text.size() < kSize; ++number) {
        for (const char c : std::string_view(row.item)) text += c == '#' ? std::to_string(number) : std::string(1, c);
      }
      directory.write(row.file, text + row.end);
      BOOST_TEST(times_of_text(directory / ".", text.size()) <= 10);
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
