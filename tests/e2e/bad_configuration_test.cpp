// Configurations that are no good, hostile or far too large are met with the error that names the place.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

using Prepare = std::function<void(const Scene&)>;

struct ConfigurationRow {
  const char* name;
  Prepare prepare;
  int exit_code;
  const char* err;  // how stderr starts; empty: there is nothing
};

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) {
    result += text;
  }
  return result;
}

std::string nested(std::string_view open, std::string_view inner, std::string_view close, std::size_t depth) {
  return repeated(open, depth) + std::string(inner) + repeated(close, depth);
}

Prepare file(std::string name, std::string text) {
  return [name = std::move(name), text = std::move(text)](const Scene& scene) { scene.write(name, text); };
}

Prepare local_value(const std::string& value) {
  return file("main.tf", "locals {\n  a = " + value + "\n}\nmodule \"m\" {\n  source = \"./${local.a}\"\n}\n");
}

constexpr const char* kNoConfiguration = "Error: <dir>/root has no configuration files [CONFIG_PARSE]\n";

struct BadConfiguration : Scene {
  BadConfiguration() {
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
    environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = "1.12.6";
  }
  void check(const ConfigurationRow& row) const {
    BOOST_TEST_CONTEXT(row.name) {
      for (const fs::directory_entry& entry : fs::directory_iterator(root())) {
        fs::remove_all(entry.path());
      }
      row.prepare(*this);
      const Ran ran = modlock({"inspect"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.exit_code << " " << ran.err.substr(0, 2000));
      const std::string_view err = row.err;
      BOOST_TEST(shown(ran.err).substr(0, err.empty() ? std::string::npos : err.size()) == err);
    }
  }
};

BOOST_FIXTURE_TEST_SUITE(bad_configurations, BadConfiguration)

BOOST_AUTO_TEST_CASE(files_that_are_none) {
  const ConfigurationRow rows[] = {
      {"no configuration at all", [](const Scene&) {}, 8, kNoConfiguration},
      {"a directory of that name", [](const Scene& scene) { fs::create_directory(scene.root() / "x.tf"); }, 8,
       kNoConfiguration},
      {"a link to a directory", [](const Scene& scene) { fs::create_directory_symlink(".", scene.root() / "x.tf"); }, 1,
       "Error: cannot read \"<dir>/root/x.tf\": Is a directory [IO_ERROR]\n"},
      {"a pipe", [](const Scene& scene) { ::mkfifo((scene.root() / "x.tf").c_str(), 0600); }, 1,
       "Error: cannot read \"<dir>/root/x.tf\": not a regular file [IO_ERROR]\n"},
      {"a device without end", [](const Scene& scene) { fs::create_symlink("/dev/zero", scene.root() / "x.tf"); }, 1,
       "Error: cannot read \"<dir>/root/x.tf\": not a regular file [IO_ERROR]\n"},
      {"a link that leads nowhere", [](const Scene& scene) { fs::create_symlink("none", scene.root() / "x.tf"); }, 1,
       "Error: the file \"x.tf\" is in its directory but cannot be read [IO_ERROR]\n  at x.tf\n"},
      {"a link to itself", [](const Scene& scene) { fs::create_symlink("x.tf", scene.root() / "x.tf"); }, 1,
       "Error: cannot read \"<dir>/root/x.tf\": Too many levels of symbolic links [IO_ERROR]\n"},
      {"a module that is a link to itself",
       [](const Scene& scene) {
         scene.write("main.tf", module_call("a", "./a"));
         fs::create_symlink("a", scene.root() / "a");
       },
       8,
       "Error: the local source \"./a\" of module \"a\" cannot be followed [IO_ERROR]\n  at main.tf:2:12 (module.a)\n"},
      {"a module that is a file",
       [](const Scene& scene) {
         scene.write("main.tf", module_call("a", "./a"));
         scene.write("a", "");
       },
       8,
       "Error: module \"a\": the calling configuration has no directory \"./a\" [CONFIG_PARSE]\n"
       "  at main.tf:2:12 (module.a)\n"},
  };
  for (const ConfigurationRow& row : rows) {
    check(row);
  }
  write("file", "");
  BOOST_TEST(modlock({"inspect", "file"}).err ==
             "Error: file is not a directory [INVALID_PARAMS]\n  hint: name a directory with a root module\n");
}

BOOST_AUTO_TEST_CASE(conflict_markers_of_a_merge) {
  constexpr const char* kMarkers = "<<<<<<< HEAD\n=======\n>>>>>>> other\n";
  const ConfigurationRow rows[] = {
      {"in a block", file("main.tf", std::string("module \"m\" {\n") + kMarkers + "}\n"), 8,
       "Error: the file has conflict markers of a merge [CONFIG_PARSE]\n"
       "  at main.tf:2:1\n"
       "     2 | <<<<<<< HEAD\n"
       "       | ^\n"
       "  hint: resolve the conflict in this file, then run the command again\n"},
      {"at the start", file("main.tf", kMarkers), 8,
       "Error: the file has conflict markers of a merge [CONFIG_PARSE]\n"
       "  at main.tf:1:1\n"},
      {"JSON", file("main.tf.json", std::string("{\n") + kMarkers + "}\n"), 8,
       "Error: the file has conflict markers of a merge [CONFIG_PARSE]\n"
       "  at main.tf.json:2:1\n"},
      {"settings",
       [&](const Scene& scene) {
         scene.write("main.tf", "");
         scene.write(".tofu-modlock.hcl", kMarkers);
       },
       8,
       "Error: the file has conflict markers of a merge [CONFIG_PARSE]\n"
       "  at .tofu-modlock.hcl:1:1\n"
       "     1 | <<<<<<< HEAD\n"
       "       | ^\n"
       "  hint: resolve the conflict in this file, then run the command again\n"},
      {"another error", file("main.tf", "a = <<E\n<<<<<<< HEAD\nE\n}\n"), 8,
       "Error: expected the name of an argument or of a block, found \"}\" [CONFIG_PARSE]\n"},
  };
  for (const ConfigurationRow& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(texts_in_another_encoding) {
  const ConfigurationRow rows[] = {
      {"a byte order mark", file("main.tf", "\xEF\xBB\xBFlocals {}\n"), 0, ""},
      {"two of them", file("main.tf", "\xEF\xBB\xBF\xEF\xBB\xBFlocals {}\n"), 8,
       "Error: the character U+FEFF is not allowed outside of strings and comments [CONFIG_PARSE]\n  at main.tf:1:1\n"},
      {"one in JSON", file("main.tf.json", "\xEF\xBB\xBF{}"), 8,
       "Error: expected JSON, found a byte order mark, which JSON does not have [CONFIG_PARSE]\n  at "
       "main.tf.json:1:1\n"},
      {"UTF-16", file("main.tf", std::string("\xFF\xFEl\0o\0", 6)), 8,
       "Error: expected text in UTF-8, found the byte 0xFF, which is not part of any [CONFIG_PARSE]\n"
       "  at main.tf:1:1\n"},
      {"no UTF-8 in a string", file("main.tf", "locals {\n  a = \"\xC3\x28\"\n}\n"), 8,
       "Error: expected text in UTF-8, found the byte 0xC3, which is not part of any [CONFIG_PARSE]\n"
       "  at main.tf:2:8\n"},
      {"CRLF", file("main.tf", "locals {\r\n  a = <<E\r\nx\r\nE\r\n}\r\n"), 0, ""},
      {"CR alone", file("main.tf", "locals {\r}\r"), 8,
       "Error: a carriage return is not followed by a line feed [CONFIG_PARSE]\n  at main.tf:1:9\n"},
      {"NUL", file("main.tf", std::string("locals {\n \0}\n", 13)), 8,
       "Error: expected text in UTF-8, found a NUL byte [CONFIG_PARSE]\n  at main.tf:2:2\n"},
      {"what a terminal would obey", file("main.tf", "module \"\x1b[31mred\" {}\n"), 8,
       "Error: the name of a module call must be an identifier, found \"\\x1b[31mred\" [CONFIG_PARSE]\n"
       "  at main.tf:1:8\n     1 | module \"\\x1b[31mred\" {}\n"},
  };
  for (const ConfigurationRow& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(nesting_without_end) {
  constexpr std::size_t kDepth = 50'000;
  constexpr const char* kTooDeep =
      "Error: this is nested more than 256 levels deep, which is the limit [LIMIT_EXCEEDED]\n";
  constexpr const char* kTooLong =
      "Error: this expression chains too many operators, more than 1024 [LIMIT_EXCEEDED]\n";
  const ConfigurationRow rows[] = {
      {"brackets", local_value(nested("[", "1", "]", kDepth)), 8, kTooDeep},
      {"braces", local_value(nested("{a=", "1", "}", kDepth)), 8, kTooDeep},
      {"parentheses", local_value(nested("(", "1", ")", kDepth)), 8, kTooDeep},
      {"templates", local_value(nested("\"${", "1", "}\"", kDepth)), 8, kTooDeep},
      {"directives", local_value("\"" + nested("%{if true}", "x", "%{endif}", kDepth) + "\""), 8, kTooDeep},
      {"conditionals", local_value(nested("true ? ", "1", " : 2", kDepth)), 8, kTooDeep},
      {"negations", local_value(nested("!", "true", "", kDepth)), 8, kTooDeep},
      {"function calls", local_value(nested("upper(", "\"a\"", ")", kDepth)), 8, kTooDeep},
      {"for expressions", local_value(nested("[for x in ", "[]", ": x]", kDepth)), 8, kTooDeep},
      {"operators", local_value(nested("", "1", "+1", kDepth)), 8, kTooLong},
      {"indices", local_value(nested("", "[]", "[0]", kDepth)), 8, kTooLong},
      {"blocks", file("main.tf", nested("b {\n", "", "}\n", kDepth)), 8, kTooDeep},
      {"JSON", file("main.tf.json", nested("{\"a\":", "1", "}", kDepth)), 8, kTooDeep},
      {"types", file("main.tf", "variable \"v\" {\n  type = " + nested("list(", "string", ")", kDepth) + "\n}\n"), 8,
       kTooDeep},
  };
  for (const ConfigurationRow& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(values_without_end) {
  constexpr const char* kManyElements =
      "Error: this expression makes a value of more than 1000000 elements [LIMIT_EXCEEDED]\n";
  const ConfigurationRow rows[] = {
      {"range", local_value("range(1000000000)"), 8,
       "Error: error in function call: call to function \"range\" failed: more than 1024 values were generated; "},
      {"a wide number", local_value("format(\"%1000000000d\", 1)"), 8,
       "Error: error in function call: call to function \"format\" failed: the result would be longer than 67108864 "
       "bytes [LIMIT_EXCEEDED]\n"},
      {"a large number", local_value("1e999999999"), 8,
       "Error: this number is too large or too small to compute with [LIMIT_EXCEEDED]\n"},
      {"a product", local_value("setproduct(range(1000), range(1000), range(1000))"), 8,
       "Error: error in function call: call to function \"setproduct\" failed: the result would have more than 1000000 "
       "elements [LIMIT_EXCEEDED]\n"},
      {"nested for expressions", local_value("[for a in range(1024): range(1024)]"), 8, kManyElements},
      {"aliases of aliases in YAML",
       local_value("yamldecode(\"a: &a [x,x,x,x,x,x,x,x]\\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\\nc: &c "
                   "[*b,*b,*b,*b,*b,*b,*b,*b]\\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\\nf: "
                   "&f [*e,*e,*e,*e,*e,*e,*e,*e]\\ng: [*f,*f,*f,*f,*f,*f,*f,*f]\")"),
       8,
       "Error: error in function call: call to function \"yamldecode\" failed: the result would have more than 1000000 "
       "elements [LIMIT_EXCEEDED]\n"},
      {"a file that never ends", local_value("file(\"/dev/zero\")"), 8,
       "Error: invalid function argument: invalid value for \"path\" parameter: the path \"/dev/zero\" is outside "},
  };
  for (const ConfigurationRow& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(a_chain_of_locals_without_end) {
  std::string text = module_call("m", "./${local.a0}") + "locals {\n";
  for (int i = 0; i < 100'000; ++i) {
    text += "  a" + std::to_string(i) + " = local.a" + std::to_string(i + 1) + "\n";
  }
  check({"100,000 locals", file("main.tf", text + "  a100000 = 1\n}\n"), 8,
         "Error: local.a249 is at the end of a chain of more than 250 references [LIMIT_EXCEEDED]\n"});
}

BOOST_AUTO_TEST_CASE(ten_megabytes_in_one_line) {
  const std::string text(10'000'000, 'x');
  const ConfigurationRow rows[] = {
      {"a string", file("main.tf", "locals { a = \"" + text + "\" }"), 0, ""},
      {"a string in JSON", file("main.tf.json", "{\"locals\": {\"a\": \"" + text + "\"}}"), 0, ""},
      {"a word", file("main.tf", text), 8,
       "Error: expected \"=\" or a block after \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\", found the end of the "
       "file [CONFIG_PARSE]\n  at main.tf:1:10000001\n"},
      {"a word in JSON", file("main.tf.json", text), 8,
       "Error: expected an object or an array of objects, found \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\" "
       "[CONFIG_PARSE]\n  at main.tf.json:1:1\n"},
      {"a string that is not closed", file("main.tf", "a = \"" + text), 8,
       "Error: the string that starts here has no closing quotation mark on its line [CONFIG_PARSE]\n"
       "  at main.tf:1:5\n"},
  };
  for (const ConfigurationRow& row : rows) {
    check(row);
  }
}

BOOST_AUTO_TEST_CASE(very_many_calls) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    text += module_call("m" + std::to_string(i), "./m");
  }
  write("main.tf", text);
  write("m/main.tf", "");
  const Ran ran = modlock({"inspect"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.err == "");
  BOOST_TEST(ran.out.ends_with("\n20000 module calls, 0 providers, 20001 files.\n"));
}

BOOST_AUTO_TEST_CASE(secrets_are_never_shown) {
  const std::string secret = "CANARY";
  const std::string variable = "variable \"t\" {\n  sensitive = true\n}\n";
  const auto source = [&](const std::string& expression) {
    return variable + "module \"m\" {\n  source = " + expression + "\n}\n";
  };
  struct Secret {
    const char* name;
    std::string configuration;
    std::string values;  // of a file given with --var-file
  };
  const Secret rows[] = {
      {"in a source", source("\"git::https://h/${var.t}\""), "t = \"CANARY\"\n"},
      {"given to a function", source("\"./${tonumber(var.t)}\""), "t = \"CANARY\"\n"},
      {"as a key", source("{a = \"./a\"}[var.t]"), "t = \"CANARY\"\n"},
      {"as a pattern", source("regex(var.t, \"x\")"), "t = \"(CANARY\"\n"},
      {"as JSON", source("jsondecode(var.t)"), "t = \"CANARY\"\n"},
      {"as a path", source("file(var.t)"), "t = \"CANARY\"\n"},
      {"without quotes", source("var.t"), "t = CANARY\n"},
      {"with one quote", source("var.t"), "t = \"CANARY\n"},
      {"behind a value", source("var.t"), "t = a CANARY\n"},
      {"in place of a name", source("var.t"), "CANARY t\n"},
      {"a password in an address", module_call("m", "git::https://me:CANARY@h.test/a.git", "~> x"), ""},
      {"a password with a slash", module_call("m", "git::https://me:a/CANARY@h.test/a.git"), ""},
      {"a token in an address", module_call("m", "git::https://h.test/a.git?token=CANARY", "~> x"), ""},
      {"any argument", module_call("m", "https://h.test/a.zip?ref=v1&X-Sig=CANARY", "~> x"), ""},
      {"an argument behind a template", source("\"https://h.test/a.zip?a=${var.t}&CANARY\""), "t = \"x\"\n"},
      {"a query without a name", module_call("m", "https://h.test/a.zip?CANARY", "~> x"), ""},
      {"a query of a shorthand", module_call("m", "git@h.test:a/b.git?sshkey2=CANARY", "~> x"), ""},
      {"a query of a host", module_call("m", "github.com/a/b?CANARY", "~> x"), ""},
      {"a fragment", module_call("m", "git::https://h.test/a.git#CANARY", "~> x"), ""},
  };
  for (const Secret& row : rows) {
    for (const std::string name : {"x.tfvars", "x.vars"}) {
      BOOST_TEST_CONTEXT(row.name << " " << name) {
        write("main.tf", row.configuration);
        write(name, row.values);
        const std::vector<std::string> command = {"inspect", "--var-file=" + name};
        for (const std::vector<std::string>& arguments : {command, {"inspect", command.back(), "--json"}}) {
          const Ran ran = modlock(arguments);
          BOOST_TEST(ran.exit_code == 8, ran.exit_code << ran.out << ran.err);
          BOOST_TEST(ran.out.find(secret) == std::string::npos, ran.out);
          BOOST_TEST(ran.err.find(secret) == std::string::npos, ran.err);
        }
        fs::remove(root() / name);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
