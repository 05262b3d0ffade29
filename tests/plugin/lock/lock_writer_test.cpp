#include <boost/test/unit_test.hpp>
#include <random>

#include "plugin/lock/lock_file.h"
#include "tests/plugin/lock/samples.h"
#include "tests/plugin/lock/shell.h"
#include "tests/support/needs.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(lock_writer)

namespace {

LockFile read(const std::string& text) {
  auto lock = parse_lock(text, ".terraform.lock.hcl");
  BOOST_TEST_REQUIRE(lock.has_value(), (lock ? "" : lock.error().message + "\n" + text));
  return *lock;
}

std::string with_crlf(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    result += byte == '\n' ? "\r\n" : std::string(1, byte);
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(blocks) {
  struct Row {
    const char* name;
    ModuleLock module;
    std::string block;
  };
  const Row rows[] = {
      {"everything", nested_module(), kNestedBlock},
      {"no version",
       {.key = "a", .source = "git::https://h/p.git?ref=main", .hashes = {"git:1"}},
       "module \"a\" {\n  source = \"git::https://h/p.git?ref=main\"\n\n  hashes = [\n    \"git:1\",\n  ]\n}\n"},
      {"no constraints",
       {.key = "a", .version = "1.0.0", .source = "s", .hashes = {"h1:a"}},
       "module \"a\" {\n  version = \"1.0.0\"\n  source  = \"s\"\n\n  hashes = [\n    \"h1:a\",\n  ]\n}\n"},
      {"constraints without version",
       {.key = "a", .source = "s", .constraints = "8f2c"},
       "module \"a\" {\n  source = \"s\"\n\n  constraints = \"8f2c\"\n}\n"},
      {"source alone", {.key = "terragrunt:vpc", .source = "s"}, "module \"terragrunt:vpc\" {\n  source = \"s\"\n}\n"},
      {"escapes",
       {.key = "a\"b", .source = "\n\r\t\"\\ ${x} %{y} $${z} $ % {"},
       "module \"a\\\"b\" {\n  source = \"\\n\\r\\t\\\"\\\\ $${x} %%{y} $$${z} $ % {\"\n}\n"},
      {"what is printable stays",
       {.key = "a", .source = "\xC3\xA9\xF0\x9F\x98\x80 \xC2\xA0\x01\x7F\xE2\x80\xA8\xF3\xA0\x80\x81"},
       "module \"a\" {\n  source = \"\xC3\xA9\xF0\x9F\x98\x80 \\u00a0\\u0001\\u007f\\u2028\\U000e0001\"\n}\n"},
      {"bytes that are no text",
       {.key = "a", .source = "x\xFFy"},
       "module \"a\" {\n  source = \"x\xEF\xBF\xBDy\"\n}\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(write_module_block(row.module) == row.block);
    }
  }
}

BOOST_AUTO_TEST_CASE(places) {
  const ModuleLock a{.key = "a", .source = "s"};
  const ModuleLock b{.key = "b", .source = "s"};
  const std::string block_a = "module \"a\" {\n  source = \"s\"\n}\n";
  const std::string block_b = "module \"b\" {\n  source = \"s\"\n}\n";
  const std::string bom = "\xEF\xBB\xBF";
  struct Row {
    const char* name;
    std::string before;
    ModuleLocks modules;
    std::string after;
  };
  const Row rows[] = {
      {"no file", "", locks({b, a}), kHeader + "\n" + block_a + "\n" + block_b},
      {"providers", kHeader + kProviders, locks({a}), kHeader + "\n" + block_a + kProviders},
      {"another header stays", "# made by terraform\n" + kProviders, locks({a}),
       "# made by terraform\n\n" + block_a + kProviders},
      {"comments at the top stay with the header", kHeader + "\n// ours\n/* more\n   lines */\n" + kProviders,
       locks({a}), kHeader + "\n// ours\n/* more\n   lines */\n\n" + block_a + kProviders},
      {"a comment on a provider stays with it",
       kHeader + "\n# pinned\nprovider \"x/y/z\" {\n  version = \"1.0.0\"\n}\n", locks({a}),
       kHeader + "\n" + block_a + "\n# pinned\nprovider \"x/y/z\" {\n  version = \"1.0.0\"\n}\n"},
      {"comments behind stay behind", kHeader + kProviders + "\n# the end\n", locks({a}),
       kHeader + "\n" + block_a + kProviders + "\n# the end\n"},
      {"no header", kProviders.substr(1), locks({a, b}), block_a + "\n" + block_b + "\n" + kProviders.substr(1)},
      {"modules behind the providers move", kHeader + kProviders + "\n" + block_b, locks({a, b}),
       kHeader + "\n" + block_a + "\n" + block_b + kProviders},
      {"modules in disorder are sorted", kHeader + "\n" + block_b + kProviders + "\n" + block_a,
       locks({a, b, nested_module()}), kHeader + "\n" + block_a + "\n" + block_b + "\n" + kNestedBlock + kProviders},
      {"one is removed", kHeader + "\n" + block_a + "\n" + block_b + kProviders, locks({b}),
       kHeader + "\n" + block_b + kProviders},
      {"all are removed", kHeader + "\n" + block_a + "\n" + block_b, {}, kHeader},
      {"a comment on a module stays",
       kHeader + "\n# why\n" + block_a + kProviders,
       {},
       kHeader + "\n# why\n" + kProviders},
      {"a comment behind a block stays",
       kHeader + "\nmodule \"a\" { source = \"s\" } # why\n" + kProviders,
       {},
       kHeader + "\n # why\n" + kProviders},
      {"a comment before a block stays",
       kHeader + "\n/* one\n two */ module \"a\" { source = \"s\" }\n" + kProviders,
       {},
       kHeader + "\n/* one\n two */ \n" + kProviders},
      {"crlf", with_crlf(kHeader + kProviders), locks({a}), with_crlf(kHeader + "\n" + block_a + kProviders)},
      {"bom", bom + kHeader + kProviders, locks({a}), bom + kHeader + "\n" + block_a + kProviders},
      {"bom and no header", bom + kProviders.substr(1), locks({a}), bom + block_a + "\n" + kProviders.substr(1)},
      {"no final line end", "# x", locks({a}), "# x\n\n" + block_a.substr(0, block_a.size() - 1)},
      {"blank file", "\n  \n", locks({a}), kHeader + "\n" + block_a},
      {"unchanged modules in disorder before the providers stay", kHeader + "\n\n\n" + block_b + block_a + kProviders,
       locks({a, b}), kHeader + "\n\n\n" + block_b + block_a + kProviders},
      {"unchanged modules after the providers move", kHeader + kProviders + "\n" + block_b + "\n" + block_a,
       locks({a, b}), kHeader + "\n" + block_a + "\n" + block_b + kProviders},
      {"one unchanged module between two providers moves",
       kHeader + "\n" + block_b + kProviders + "\n" + block_a + "\nprovider \"x/y/z\" {\n  version = \"1.0.0\"\n}\n",
       locks({a, b}),
       kHeader + "\n" + block_a + "\n" + block_b + kProviders + "\nprovider \"x/y/z\" {\n  version = \"1.0.0\"\n}\n"},
      {"no file and no modules", "", {}, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(write_lock(row.before.empty() ? LockFile{} : read(row.before), row.modules) == row.after);
    }
  }
}

BOOST_AUTO_TEST_CASE(line_ends_of_unchanged_blocks_stay) {
  const ModuleLock a{.key = "a", .source = "s"};
  const ModuleLock b{.key = "b", .source = "s"};
  const ModuleLock c{.key = "b", .source = "t"};
  const std::string block_a = write_module_block(a);
  const std::string block_b = write_module_block(b);
  const std::string after =
      with_crlf(block_a.substr(0, block_a.find('\n') + 1)) + block_a.substr(block_a.find('\n') + 1);
  const auto file = [](const std::string& header, const std::string& first, const std::string& second) {
    return header + "\n" + first + "\n" + second + kProviders;
  };
  const std::string crlf_header =
      with_crlf(kHeader.substr(0, kHeader.find('\n') + 1)) + kHeader.substr(kHeader.find('\n') + 1);
  struct Row {
    const char* name;
    std::string before;
    std::string after;  // block b became c
  };
  const std::string block_c = write_module_block(c);
  const Row rows[] = {
      {"one CRLF line in another block", file(kHeader, after, block_b), file(kHeader, after, block_c)},
      {"one CRLF line in the header", file(crlf_header, block_a, block_b), file(crlf_header, block_a, block_c)},
      {"one CRLF line in this block", file(kHeader, block_a, with_crlf(block_b)), file(kHeader, block_a, block_c)},
      {"CRLF", with_crlf(file(kHeader, block_a, block_b)), with_crlf(file(kHeader, block_a, block_c))},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(write_lock(read(row.before), locks({a, c})) == row.after);
    }
  }
}

BOOST_AUTO_TEST_CASE(generated_locks_survive) {
  std::mt19937 random(3);
  const std::string tops[] = {"", kHeader, kHeader + "\n# note\n", "\xEF\xBB\xBF" + kHeader, "/* c */\n", "\n\n"};
  const std::string tails[] = {kProviders, kProviders.substr(1), kProviders + "\n# end",
                               "\n# about\n" + kProviders.substr(1)};
  for (int round = 0; round < 600; ++round) {
    std::string text = tops[random() % std::size(tops)] + tails[random() % std::size(tails)];
    if (random() % 3 == 0) {
      text = with_crlf(text);
    }
    BOOST_TEST_CONTEXT("round " << round) {
      const LockFile base = read(text);
      const ModuleLocks modules = random_locks(random);
      const std::string written = write_lock(base, modules);
      const LockFile again = read(written);
      BOOST_TEST_REQUIRE((again.modules == modules));
      BOOST_TEST_REQUIRE((again.providers == base.providers));
      BOOST_TEST_REQUIRE(write_lock(again, modules) == written);
      BOOST_TEST_REQUIRE(write_lock(again, {}) == text);
      const ModuleLocks others = random_locks(random);
      BOOST_TEST_REQUIRE(write_lock(again, others) == write_lock(base, others));
    }
  }
}

BOOST_AUTO_TEST_CASE(formatted_as_the_formatter_leaves_it, *needs("tofu or terraform")) {
  const std::string tool = clients().front();
  std::mt19937 random(5);
  ModuleLocks modules = locks({nested_module(), {.key = "a", .source = "s"}});
  for (int i = 0; i < 20; ++i) {
    modules.merge(random_locks(random));
  }
  // The formatter drops labels that hold a dollar or percent sign; no key of a call does.
  for (auto module = modules.begin(); module != modules.end();) {
    module = module->first.find_first_of("$%") == std::string::npos ? std::next(module) : modules.erase(module);
  }
  const TemporaryDirectory directory;
  directory.write("lock.hcl", write_lock(LockFile{.text = kHeader + kProviders}, modules));
  const ShellResult result = run_shell("TF_CLI_CONFIG_FILE= " + tool + " fmt -check -diff - < '" +
                                       (directory / "lock.hcl").string() + "' 2>&1");
  BOOST_TEST(result.exit_code == 0, result.output);
}

BOOST_AUTO_TEST_SUITE_END()
