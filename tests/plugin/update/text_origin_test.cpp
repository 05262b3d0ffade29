#include "plugin/update/text_change.h"

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/evaluated_module.h"

namespace modlock::test {
namespace {

// A root module, in which the source of the only call is traced, and perhaps a local module that it calls.
struct Traced {
  explicit Traced(const Files& files, bool in_child = false) {
    const EvaluatedModule root = load_module(directory, files);
    parsed = root.parsed;
    values = read_variable_values(directory.path(), {}, {}, {directory.path()}, diagnostics).value();
    module = {.parsed = parsed.get(), .directory = ".", .values = values.get()};
    value = root.calls.empty() ? "" : root.calls.front().source.text;
    if (in_child) {
      caller = module;
      child = read_module(directory / "child", {}, ClientKind::opentofu).value();
      module = {.parsed = child.get(), .directory = "child", .caller = &caller, .call = &parsed->calls.front()};
      value = "git::https://a.test/b.git?ref=v1.0.0";
    }
  }
  // The part of the value that is "v1.0.0" becomes `text`: the file after it, or the error.
  Result<std::string> change(std::string_view text) const {
    const auto pieces = trace_text(module.parsed->calls.front().find("source"), module);
    const std::size_t start = value.find("v1.0.0");
    const auto splice = splice_value(pieces, value, start, start + 6, text);
    if (!splice) {
      return fail(splice.error());
    }
    std::string file = read_text(directory / splice->path);
    return splice->path + ": " + file.replace(splice->start, splice->end - splice->start, splice->text);
  }

  TemporaryDirectory directory;
  Diagnostics diagnostics;
  std::shared_ptr<const ParsedModule> parsed, child;
  std::shared_ptr<const VariableValues> values;
  EditedModule caller, module;
  std::string value;
};

std::string kept_call(const std::string& source) {
  return "module \"a\" {\n  source = " + source + " # kept\r\n}\n";
}

BOOST_AUTO_TEST_SUITE(text_origin)

BOOST_AUTO_TEST_CASE(is_changed_where_it_is_written) {
  struct Row {
    const char* name;
    Files files;
    const char* text;
    std::string after;
  };
  const std::string git = "git::https://a.test/b.git?ref=";
  const Row rows[] = {
      {"a literal",
       {{"main.tf", kept_call("\"" + git + "v1.0.0\"")}},
       "v2",
       "main.tf: " + kept_call("\"" + git + "v2\"")},
      {"behind an escape",
       {{"main.tf", kept_call("\"" + git + "\\u0076" + "1.0.0\"")}},
       "v2",
       "main.tf: " + kept_call("\"" + git + "v2\"")},
      {"in parentheses",
       {{"main.tf", kept_call("(\"" + git + "v1.0.0\")")}},
       "v2",
       "main.tf: " + kept_call("(\"" + git + "v2\")")},
      {"needs escapes",
       {{"main.tf", kept_call("\"" + git + "v1.0.0\"")}},
       "${\"",
       "main.tf: " + kept_call("\"" + git + "$${\\\"\"")},
      {"of a local value",
       {{"main.tf", kept_call("\"" + git + "${local.ref}\"")}, {"locals.tf", "locals {\n  ref = \"v1.0.0\"\n}\n"}},
       "v2",
       "locals.tf: locals {\n  ref = \"v2\"\n}\n"},
      {"of the default of a variable",
       {{"main.tf", kept_call("\"" + git + "${var.ref}\"")},
        {"variables.tf", "variable \"ref\" {\n  default = \"v1.0.0\" /* x */\n}\n"}},
       "v2",
       "variables.tf: variable \"ref\" {\n  default = \"v2\" /* x */\n}\n"},
      {"of the override of a default",
       {{"main.tf", kept_call("\"" + git + "${var.ref}\"")},
        {"variables.tf", "variable \"ref\" {\n  default = \"v0\"\n}\n"},
        {"x_override.tf", "variable \"ref\" {\n  default = \"v1.0.0\"\n}\n"}},
       "v2",
       "x_override.tf: variable \"ref\" {\n  default = \"v2\"\n}\n"},
      {"of an override of the call",
       {{"main.tf", kept_call("\"./x\"")}, {"override.tf", kept_call("\"" + git + "v1.0.0\"")}},
       "v2",
       "override.tf: " + kept_call("\"" + git + "v2\"")},
      {"through several",
       {{"main.tf", kept_call("local.source") + "locals {\n  source = \"" + git +
                        "${local.tag}\"\n  tag = \"v${var.n}\"\n}\n"
                        "variable \"n\" {\n  default = \"1.0.0\"\n}\n"}},
       "v2",
       ""},
      {"beside what is computed",
       {{"main.tf", kept_call("\"${join(\"\", [\"git::\", \"https://a.test/b.git\"])}?ref=v1.0.0\"")}},
       "v2",
       "main.tf: " + kept_call("\"${join(\"\", [\"git::\", \"https://a.test/b.git\"])}?ref=v2\"")},
      {"JSON",
       {{"main.tf.json", R"({"module": {"a": {"source": "git::https:\/\/a.test/b.git?ref=v1.0.0"}}})"}},
       "v2\"",
       R"(main.tf.json: {"module": {"a": {"source": "git::https:\/\/a.test/b.git?ref=v2\""}}})"},
      {"a default in JSON",
       {{"main.tf", kept_call("\"" + git + "${var.ref}\"")},
        {"v.tf.json", R"({"variable": {"ref": {"default": "v1.0.0"}}})"}},
       "v2",
       R"(v.tf.json: {"variable": {"ref": {"default": "v2"}}})"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto after = Traced(row.files).change(row.text);
      if (row.after.empty()) {
        BOOST_REQUIRE(!after.has_value());
        BOOST_TEST(after.error().message ==
                   "the text cannot be changed where it is written: it comes from several places");
        continue;
      }
      BOOST_REQUIRE_MESSAGE(after.has_value(), (after ? "" : after.error().message));
      BOOST_TEST(*after == row.after);
    }
  }
}

BOOST_AUTO_TEST_CASE(in_a_heredoc) {
  const std::string before =
      "module \"a\" {\n  source = local.s\n}\nlocals {\n  s = trimspace(local.t)\n  t = \"x\"\n}\n";
  const Traced computed({{"main.tf", before}});
  const auto error = computed.change("v2");
  BOOST_REQUIRE(!error.has_value());

  const hcl::ParsedFile file = hcl::parse_native("a = <<-EOT\n    git?ref=v1.0.0\n  EOT\n", "a.tf");
  const auto& heredoc = std::get<hcl::Template>(file.body.attributes.front().value.tree().node);
  BOOST_TEST(heredoc.heredoc);
}

BOOST_AUTO_TEST_CASE(of_what_calls_the_module) {
  const std::string child = "variable \"ref\" {}\n" + kept_call("\"git::https://a.test/b.git?ref=${var.ref}\"");
  const Traced given(
      {{"main.tf", "module \"c\" {\n  source = \"./child\"\n  ref    = \"v1.0.0\"\n}\n"}, {"child/main.tf", child}},
      true);
  const auto after = given.change("v2");
  BOOST_REQUIRE_MESSAGE(after.has_value(), (after ? "" : after.error().message));
  BOOST_TEST(*after == "main.tf: module \"c\" {\n  source = \"./child\"\n  ref    = \"v2\"\n}\n");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_changed) {
  struct Row {
    const char* name;
    Files files;
    const char* why;
  };
  const Row rows[] = {
      {"given from outside",
       {{"main.tf", kept_call("\"git::https://a.test/b.git?ref=${var.ref}\"") + "variable \"ref\" {}\n"},
        {"terraform.tfvars", "ref = \"v1.0.0\"\n"}},
       "var.ref is set by terraform.tfvars"},
      {"computed",
       {{"main.tf", kept_call("format(\"git::https://a.test/b.git?ref=%s\", \"v1.0.0\")")}},
       "it is computed in main.tf:2"},
      {"a condition",
       {{"main.tf", kept_call("true ? \"git::https://a.test/b.git?ref=v1.0.0\" : \"\"")}},
       "it is computed in main.tf:2"},
      {"strip markers",
       {{"main.tf", kept_call("\"git::https://a.test/b.git?${~ \"\" ~} ref=v1.0.0\"")}},
       "strip markers change it in main.tf:2"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto after = Traced(row.files).change("v2");
      BOOST_REQUIRE(!after.has_value());
      BOOST_TEST((after.error().code == Code::config_non_static));
      BOOST_TEST(after.error().message == "the text cannot be changed where it is written: " + std::string(row.why));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test

namespace modlock {
namespace {

using Places = std::vector<std::size_t>;

BOOST_AUTO_TEST_SUITE(written_text)

BOOST_AUTO_TEST_CASE(each_byte_has_its_place) {
  struct Row {
    const char* name;
    Quoting quoting;
    const char* written;
    const char* text;
    Places places;
  };
  const Row rows[] = {
      {"nothing", Quoting::quoted, "", "", {0}},
      {"as it stands", Quoting::quoted, "abc", "abc", {0, 1, 2, 3}},
      {"escapes", Quoting::quoted, R"(a\"b\\)", "a\"b\\", {0, 1, 3, 4, 6}},
      {"a character of two bytes",
       Quoting::quoted,
       R"(\u00e4b)",
       "\xc3\xa4"
       "b",
       {0, 0, 6, 7}},
      {"a character of four bytes", Quoting::quoted, R"(\U0001F600)", "\xF0\x9F\x98\x80", {0, 0, 0, 0, 10}},
      {"what would be a template", Quoting::quoted, "$${a}%%{b}", "${a}%{b}", {0, 0, 3, 4, 5, 5, 8, 9, 10}},
      {"dollars that are none", Quoting::quoted, "$$a%", "$$a%", {0, 1, 2, 3, 4}},
      {"indentation of a heredoc", Quoting::heredoc, "  a\n    b\n", "a\n  b\n", {2, 3, 6, 7, 8, 9, 10}},
      {"line ends of a heredoc", Quoting::heredoc, "a\r\nb\r\n", "a\nb\n", {0, 2, 3, 5, 6}},
      {"no escapes in a heredoc", Quoting::heredoc, "a\\n", "a\\n", {0, 1, 2, 3}},
      {"JSON", Quoting::json, R"(a\/\u00e4\ud83d\ude00)", "a/\xc3\xa4\xF0\x9F\x98\x80", {0, 1, 3, 3, 9, 9, 9, 9, 21}},
      {"no template", Quoting::json_literal, "$${a}", "$${a}", {0, 1, 2, 3, 4, 5}},
      {"blanks that a strip marker took", Quoting::quoted, "  a", "a", {}},
      {"cut short", Quoting::quoted, "a", "ab", {}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string file = "<<" + std::string(row.written) + ">>";
      Range range;
      range.start.byte = 2;
      range.end.byte = static_cast<std::uint32_t>(file.size() - 2);
      Places expected = row.places;
      for (std::size_t& place : expected) {
        place += 2;
      }
      BOOST_TEST(places_of(row.text, range, row.quoting, file) == expected, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_spelled_reads_back) {
  struct Row {
    const char* name;
    Quoting quoting;
    const char* text;
    const char* written;
  };
  constexpr Row kRows[] = {
      {"plain", Quoting::quoted, "v1.2.3", "v1.2.3"},
      {"escapes", Quoting::quoted, "\"\\\n\t", R"(\"\\\n\t)"},
      {"templates", Quoting::quoted, "${a}%{b}$", "$${a}%%{b}$"},
      {"heredoc", Quoting::heredoc, "\"${a}", "\"$${a}"},
      {"JSON", Quoting::json, "\"${a}\x01", R"(\"$${a}\u0001)"},
      {"JSON without templates", Quoting::json_literal, "\"${a}", R"(\"${a})"},
  };
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string written = spell(row.text, row.quoting);
      BOOST_TEST(written == row.written);
      Range range;
      range.end.byte = static_cast<std::uint32_t>(written.size());
      BOOST_TEST(places_of(row.text, range, row.quoting, written).size() == std::string(row.text).size() + 1);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
