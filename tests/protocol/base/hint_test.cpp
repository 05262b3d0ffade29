#include "protocol/base/hint.h"

#include <boost/test/unit_test.hpp>

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(hint_test)

BOOST_AUTO_TEST_CASE(a_word_is_quoted_only_if_a_shell_needs_it) {
  struct Row {
    const char* word;
    const char* shown;
  };
  const Row rows[] = {
      {"module.vpc", "module.vpc"},       {"module.vpc=2.1.0", "module.vpc=2.1.0"},
      {"oci://h:1/r@x", "oci://h:1/r@x"}, {"", "''"},
      {"my live", "'my live'"},           {"~> 2.0", "'~> 2.0'"},
      {"it's $HOME", "'it'\\''s $HOME'"}, {"a;b", "'a;b'"},
  };
  for (const Row& row : rows) {
    BOOST_TEST(shell_word(row.word) == row.shown);
  }
}

BOOST_AUTO_TEST_CASE(commands_keep_their_words_and_their_places) {
  const Hint text = "fix it";
  const Hint one = "run: " + tofu_modlock("upgrade", "--target", "module.a b");
  const Hint more = one + ", or " + tofu_modlock("lock") + " later";
  Hint added = "first this; ";
  added += more;
  struct Row {
    const char* name;
    Hint hint;
    std::string plain;
    std::string printed;
  };
  const Row rows[] = {
      {"none", {}, "", ""},
      {"only text", text, "fix it", "fix it"},
      {"text that names a command", "run: tofu-modlock lock", "run: tofu-modlock lock", "run: tofu-modlock lock"},
      {"command at the end", one, "run: tofu-modlock upgrade --target 'module.a b'",
       "run: <upgrade|--target|module.a b>"},
      {"two commands", more, "run: tofu-modlock upgrade --target 'module.a b', or tofu-modlock lock later",
       "run: <upgrade|--target|module.a b>, or <lock> later"},
      {"added", added, "first this; run: tofu-modlock upgrade --target 'module.a b', or tofu-modlock lock later",
       "first this; run: <upgrade|--target|module.a b>, or <lock> later"},
      {"only a command", Hint::command({"lock"}), "tofu-modlock lock", "<lock>"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(row.hint.text() == row.plain);
      BOOST_TEST(row.hint.empty() == row.plain.empty());
      BOOST_TEST(row.hint.text([](const Hint::Words& words) {
        std::string printed;
        for (const std::string& word : words) {
          printed += (printed.empty() ? "<" : "|") + word;
        }
        return printed + ">";
      }) == row.printed);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
