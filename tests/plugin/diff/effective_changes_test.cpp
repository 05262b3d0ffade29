#include "plugin/diff/effective_changes.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "plugin/diff/file_summary.h"
#include "protocol/base/utf8.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(effective_changes)

namespace {

using Files = std::map<std::string, std::string>;

Files main_file(const std::string& text) {
  return {{"main.tf", text}};
}

// A line for each finding: "effective-change a_b.c x: 1 -> 2".
std::string changes(const Files& before, const Files& after) {
  const TemporaryDirectory directory;
  const auto read = [&](const std::string& name, const Files& files) {
    for (const auto& [path, text] : files) {
      directory.write(name + "/" + path, text);
    }
    auto package = PackageText::read(directory / name, "", ClientKind::opentofu, {});
    BOOST_REQUIRE(package);
    return std::move(*package);
  };
  PackageText old_package = read("before", before);
  PackageText new_package = read("after", after);
  std::vector<PackageFinding> found;
  summarize_files(old_package, new_package, found);
  find_effective_changes(old_package, new_package, known_names(old_package, new_package), {}, found);
  join_findings(found);
  std::string text;
  for (const PackageFinding& finding : found) {
    BOOST_TEST(finding.grade == "risky");
    text += finding.rule + " " + finding.message + "\n";
  }
  return text;
}

struct Row {
  const char* name;
  Files before;
  Files after;
  const char* found;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(changes(row.before, row.after) == row.found);
    }
  }
}

// A resource, and what it needs.
Files resource(const std::string& body, const std::string& rest = "") {
  return main_file("resource \"a_b\" \"c\" {\n" + body + "\n}\n" + rest);
}

std::string variable(const std::string& name, const std::string& fallback) {
  return "variable \"" + name + "\" {\n  default = " + fallback + "\n}\n";
}

std::string local(const std::string& name, const std::string& value) {
  return "locals {\n  " + name + " = " + value + "\n}\n";
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_has_another_effect) {
  const std::string rules = variable("rules", "[]");
  const auto rule = [&](const std::string& days) {
    return resource("  dynamic \"rule\" {\n    for_each = var.rules\n    content {\n      days  = " + days +
                        "\n      abort = rule.value.abort\n    }\n  }",
                    rules);
  };
  const std::string call = "module \"m\" {\n  source = \"./m\"\n";
  const Files called = {{"main.tf", call + "}\n"}, {"m/main.tf", "resource \"a_b\" \"c\" {}\n"}};
  const auto in_json = [](const std::string& type) {
    return Files{{"main.tf.json", "{\"variable\": {\"a\": {\"type\": \"" + type + "\"}}}"},
                 {"c.tf", "resource \"a_b\" \"c\" {\n  x = var.a.b\n}\n"}};
  };
  const auto files_of_a_directory = [](const std::string& content) {
    Files files = resource("  x = fileset(path.module, \"t/*\")");
    for (int i = 0; i < 6; ++i) {
      files[fmt::format("t/{}", i)] = content;
    }
    return files;
  };
  check({
      {"a member that callers set for something else", rule("try(rule.value.days, null)"),
       rule("try(rule.value.days, rule.value.abort)"),
       "effective-change a_b.c rule.days: try(rule.value.days, null) -> try(rule.value.days, rule.value.abort)\n"},
      {"constants over the values of callers", resource("  x = var.a", variable("a", "{}")),
       resource("  x = merge(var.a, { ssl = 0 })", variable("a", "{}")),
       "effective-change a_b.c x: var.a -> merge(var.a, { ssl = 0 })\n"},
      {"null over a value of callers", resource("  x = merge(var.a, { b = 1 })", variable("a", "{}")),
       resource("  x = merge(var.a, { b = 1, kms = null })", variable("a", "{}")),
       "effective-change a_b.c x: merge(var.a, { b = 1 }) -> merge(var.a, { b = 1, kms = null })\n"},
      {"null over a value of callers beside the same constants",
       resource("  w = { a = 1 }\n  x = merge({ enc = var.e }, { a = 1 })", variable("e", "{}")),
       resource("  w = { a = 1 }\n  x = merge({ enc = var.e }, { a = 1, enc = null })", variable("e", "{}")),
       "effective-change a_b.c x: merge({ enc = var.e }, { a = 1 }) -> merge({ enc = var.e }, { a = 1, enc = null "
       "})\n"},
      {"nothing but null over a value of callers beside an empty object",
       resource("  w = {}\n  x = merge({ enc = var.e }, { z = var.e })", variable("e", "{}")),
       resource("  w = {}\n  x = merge({ enc = var.e }, { z = var.e }, { enc = null })", variable("e", "{}")),
       "effective-change a_b.c x: merge({ enc = var.e }, { z = var.e }) -> merge({ enc = var.e }, { z = var.e }, { enc "
       "= null })\n"},
      {"the same constants with null beside a merge",
       resource("  x = merge({ enc = var.e }, { a = 1 })", variable("e", "{}")),
       resource("  w = { a = 1, enc = null }\n  x = merge({ enc = var.e }, { a = 1 })", variable("e", "{}")),
       "effective-change a_b.c w: none -> { a = 1, enc = null }\n"},
      {"the order of a merge", resource("  x = merge(var.a, var.b)", variable("a", "{}") + variable("b", "{}")),
       resource("  x = merge(var.b, var.a)", variable("a", "{}") + variable("b", "{}")),
       "effective-change a_b.c x: merge(var.a, var.b) -> merge(var.b, var.a)\n"},
      {"a local value in an argument", resource("  x = var.a", variable("a", "[]")),
       resource("  x = local.a", variable("a", "[]") + local("a", "concat(var.a, [join(\"-\", [\"x\", \"y\"])])")),
       "effective-change a_b.c x: var.a -> local.a\n"},
      {"a local value that resources use", resource("  x = local.a\n  y = local.a", local("a", "1")),
       resource("  x = local.a\n  y = local.a", local("a", "2")), "effective-change local.a: 1 -> 2; used by a_b.c\n"},
      {"an output", main_file("output \"o\" {\n  value = [var.a]\n}\n" + variable("a", "1")),
       main_file("output \"o\" {\n  value = [var.a, \"proxy\"]\n}\n" + variable("a", "1")),
       "effective-change output.o: [var.a] -> [var.a, \"proxy\"]\n"},
      {"a default that was null",
       resource("  x = coalesce(var.a, local.a)", variable("a", "null") + local("a", "null")),
       resource("  x = coalesce(var.a, local.a)", variable("a", "null") + local("a", "1")),
       "effective-change local.a: null -> 1; used by a_b.c\n"},
      {"a default", resource("  x = var.a", variable("a", "true")), resource("  x = var.a", variable("a", "false")),
       "effective-change var.a default: true -> false; used by a_b.c\n"},
      {"a default in a type",
       resource("  x = var.a.b", "variable \"a\" {\n  type = object({ b = optional(bool, true) })\n}\n"),
       resource("  x = var.a.b", "variable \"a\" {\n  type = object({ b = optional(bool, false) })\n}\n"),
       "effective-change var.a b: true -> false; used by a_b.c\n"},
      {"a default in a type, in JSON syntax", in_json("object({ b = optional(bool, true) })"),
       in_json("object({ b = optional(bool, false) })"), "effective-change var.a b: true -> false; used by a_b.c\n"},
      {"a new member with a default of an object that is passed on",
       resource("  x = jsonencode(local.a)",
                local("a", "var.a") + "variable \"a\" {\n  type = object({ b = optional(bool) })\n}\n"),
       resource("  x = jsonencode(local.a)",
                local("a", "var.a") +
                    "variable \"a\" {\n  type = object({ b = optional(bool), c = optional(bool, true) })\n}\n"),
       "effective-change var.a c: none -> true; used by a_b.c\n"},
      {"a new member with a default of items that are passed on",
       resource("  x = jsonencode([for r in var.a : r])",
                "variable \"a\" {\n  type = list(object({ b = optional(bool) }))\n}\n"),
       resource("  x = jsonencode([for r in var.a : r])",
                "variable \"a\" {\n  type = list(object({ b = optional(bool), c = optional(bool, true) }))\n}\n"),
       "effective-change var.a c: none -> true; used by a_b.c\n"},
      {"what replaces a resource", resource("  x = 1"),
       resource("  x = 1\n  lifecycle {\n    replace_triggered_by = [a_b.d.id]\n  }"),
       "effective-change a_b.c lifecycle.replace_triggered_by: none -> [a_b.d.id]\n"},
      {"a look-alike of a variable", resource("  x = var.log", variable("log", "true")),
       resource("  x = var.lоg", variable("log", "true") + variable("lоg", "false")),
       "effective-change a_b.c x: var.log -> var.lоg\n"},
      {"a new member that is true", resource("  x = var.a.b", variable("a", "{}")),
       resource("  x = var.a.b\n  y = try(var.a.open, true)", variable("a", "{}")),
       "effective-change a_b.c y: none -> try(var.a.open, true)\n"},
      {"a member of another variable that is given to the same module",
       {{"main.tf", call + "  a      = var.b\n}\n" + variable("b", "{}") + "output \"o\" {\n  value = var.b.n\n}\n"},
        {"m/main.tf", "resource \"a_b\" \"c\" {\n  x = var.a.k\n}\nvariable \"a\" {}\n"}},
       {{"main.tf", call + "  a      = var.b\n}\n" + variable("b", "{}") + "output \"o\" {\n  value = var.b.n\n}\n"},
        {"m/main.tf", "resource \"a_b\" \"c\" {\n  x = var.a.k\n  y = try(var.a.n, null)\n}\nvariable \"a\" {}\n"}},
       "effective-change m: a_b.c y: none -> try(var.a.n, null)\n"},
      {"the members of a new default", resource("  x = var.a.b", variable("a", "{ b = 1 }")),
       resource("  x = var.a.b\n  y = var.a.open", variable("a", "{ b = 1, open = true }")),
       "effective-change a_b.c y: none -> var.a.open\n"
       "effective-change var.a default: { b = 1 } -> { b = 1, open = true }; used by a_b.c\n"},
      {"an item of a table that is iterated",
       resource("  for_each = local.a\n  x        = each.value", local("a", "{ a = 1 }")),
       resource("  for_each = local.a\n  x        = each.value", local("a", "{ a = 1, b = 2 }")),
       "effective-change local.a: { a = 1 } -> { a = 1, b = 2 }; used by a_b.c\n"},
      {"an item of a table that callers select",
       resource("  x = local.a[var.k]", local("a", "{ a = 1 }") + variable("k", "\"a\"")),
       resource("  x = local.a[var.k]", local("a", "{ a = 2, b = 2 }") + variable("k", "\"a\"")),
       "effective-change local.a: { a = 1 } -> { a = 2, b = 2 }; used by a_b.c\n"},
      {"changes that are ignored", resource("  x = 1"),
       resource("  x = 1\n  lifecycle {\n    ignore_changes = [x]\n  }"),
       "effective-change a_b.c lifecycle.ignore_changes: none -> [x]\n"},
      {"the provider of a resource", resource("  x = 1"), resource("  x        = 1\n  provider = a.other"),
       "effective-change a_b.c provider: none -> a.other\n"},
      {"another nesting", resource("  s {\n    a = 1\n    b = 1\n  }\n  s {\n    a = 2\n    b = 2\n  }"),
       resource("  s {\n    a = 1\n    b = 2\n  }\n  s {\n    a = 2\n    b = 1\n  }"),
       "effective-change a_b.c s.b: 1 -> 2; s.b: 2 -> 1\n"},
      {"the content of a file",
       {{"main.tf", "resource \"a_b\" \"c\" {\n  x = templatefile(\"${path.module}/t/${var.f}\", {})\n}\n"},
        {"t/p.json", "a"}},
       {{"main.tf", "resource \"a_b\" \"c\" {\n  x = templatefile(\"${path.module}/t/${var.f}\", {})\n}\n"},
        {"t/p.json", "b"}},
       "effective-change a_b.c x: templatefile(\"${path.module}/t/${var.f}\", {}), with other content of t/p.json\n"},
      {"the files of a directory",
       {{"main.tf", "resource \"a_b\" \"c\" {\n  x = fileset(path.module, \"t/*.tpl\")\n}\n"}, {"t/a.tpl", "a"}},
       {{"main.tf", "resource \"a_b\" \"c\" {\n  x = fileset(path.module, \"t/*.tpl\")\n}\n"},
        {"t/a.tpl", "a"},
        {"t/b.tpl", "b"}},
       "effective-change a_b.c x: fileset(path.module, \"t/*.tpl\"), with other content of t/b.tpl\n"},
      {"many files of a directory", files_of_a_directory("1"), files_of_a_directory("2"),
       "effective-change a_b.c x: fileset(path.module, \"t/*\"), with other content of t/0, t/1, t/2, t/3, 2 more\n"},
      {"a moved resource", resource("  x = 1"),
       main_file("resource \"a_b\" \"d\" {\n  x = 2\n}\nmoved {\n  from = a_b.c\n  to   = a_b.d\n}\n"),
       "effective-change a_b.d (was a_b.c) x: 1 -> 2\n"},
      {"a resource with another name", resource("  x = 1"), main_file("resource \"a_b\" \"d\" {\n  x = 2\n}\n"),
       "effective-change a_b.d (was a_b.c) x: 1 -> 2\n"},
      {"a new resource", resource("  x = 1"), resource("  x = 1", "resource \"a_d\" \"e\" {}\n"),
       "new-resource a_d.e is new, and exists although the caller sets nothing new\n"},
      {"a new resource on a condition that callers know", resource("  x = var.on", variable("on", "false")),
       resource("  x = var.on", variable("on", "false") + "resource \"a_d\" \"e\" {\n  count = var.on ? 1 : 0\n}\n"),
       "new-resource a_d.e is new, and exists although the caller sets nothing new\n"},
      {"a new call of another package", resource("  x = 1"),
       resource("  x = 1", "module \"n\" {\n  source = \"a/b/c\"\n}\n"),
       "new-resource module.n is new, and exists although the caller sets nothing new\n"},
      {"a new resource of a new local module",
       resource("  x = 1"),
       {{"main.tf", "resource \"a_b\" \"c\" {\n  x = 1\n}\n" + call + "}\n"},
        {"m/main.tf", "resource \"a_d\" \"e\" {}\n"}},
       "new-resource m: a_d.e is new, and exists although the caller sets nothing new\n"},
      {"the condition of a local call",
       called,
       {{"main.tf", call + "  count  = 0\n}\n"}, {"m/main.tf", "resource \"a_b\" \"c\" {}\n"}},
       "effective-change module.m count: none -> 0\n"},
      {"an argument of a local call",
       {{"main.tf", call + "  a      = 1\n}\n"},
        {"m/main.tf", "resource \"a_b\" \"c\" {\n  x = var.a\n}\nvariable \"a\" {}\n"}},
       {{"main.tf", call + "  a      = 2\n}\n"},
        {"m/main.tf", "resource \"a_b\" \"c\" {\n  x = var.a\n}\nvariable \"a\" {}\n"}},
       "effective-change module.m a: 1 -> 2\n"},
      {"an argument for a new variable of a local module",
       called,
       {{"main.tf", call + "  a      = 2\n}\n"},
        {"m/main.tf", "resource \"a_b\" \"c\" {\n  x = var.a\n}\nvariable \"a\" {}\n"}},
       "effective-change m: a_b.c x: none -> var.a\n"},
      {"the same change in many resources",
       main_file("resource \"a_b\" \"c\" {\n  x = 1\n}\nresource \"a_b\" \"d\" {\n  x = 1\n}\n"),
       main_file("resource \"a_b\" \"c\" {\n  x = 2\n}\nresource \"a_b\" \"d\" {\n  x = 2\n}\n"),
       "effective-change a_b.c x: 1 -> 2; also in a_b.d\n"},
      {"a secret in a tag", resource("  tags = {}"), resource("  tags = { a = var.password }"),
       "secret-shown a_b.c shows a value that may be secret: var.password in tags\n"},
      {"a secret in a tag through local values", resource("  tags = { a = local.a }", local("a", "local.b")),
       resource("  tags = { a = local.a }", local("a", "local.b") + local("b", "var.password")),
       "secret-shown a_b.c shows a value that may be secret: var.password in tags\n"},
      {"a secret in the description of a nested block", resource("  b {\n    d {\n      description = 1\n    }\n  }"),
       resource("  b {\n    d {\n      description = var.password\n    }\n  }"),
       "secret-shown a_b.c shows a value that may be secret: var.password in b.d.description\n"},
      {"a secret in the description of a dynamic block",
       resource("  dynamic \"b\" {\n    for_each = [1]\n    content {\n      description = 1\n    }\n  }"),
       resource("  dynamic \"b\" {\n    for_each = [1]\n    content {\n      description = var.password\n    }\n  }"),
       "secret-shown a_b.c shows a value that may be secret: var.password in b.description\n"},
      {"a member of a literal that is iterated", resource("  for_each = { a = { open = true } }"),
       resource("  for_each = { a = { open = true } }\n  y = each.value.open"),
       "effective-change a_b.c y: none -> each.value.open\n"},
      {"a member that a local call sets",
       {{"main.tf", call + "  a      = { open = true }\n}\n"},
        {"m/main.tf", "resource \"a_b\" \"c\" {}\nvariable \"a\" {}\n"}},
       {{"main.tf", call + "  a      = { open = true }\n}\n"},
        {"m/main.tf", "resource \"a_b\" \"c\" {\n  y = var.a.open\n}\nvariable \"a\" {}\n"}},
       "effective-change m: a_b.c y: none -> var.a.open\n"},
      {"a member that only tags used", resource("  tags = { k = var.a.open }", variable("a", "{}")),
       resource("  tags = { k = var.a.open }\n  y = try(var.a.open, null)", variable("a", "{}")),
       "effective-change a_b.c y: none -> try(var.a.open, null)\n"},
      {"a member that a merge sets", resource("  x = local.a.b", local("a", "merge(var.a, { open = true })")),
       resource("  x = local.a.b\n  y = local.a.open", local("a", "merge(var.a, { open = true })")),
       "effective-change a_b.c y: none -> local.a.open\n"},
      {"a member that a function makes", resource("  x = local.a.b", local("a", "merge(var.a, jsondecode(\"{}\"))")),
       resource("  x = local.a.b\n  y = local.a.open", local("a", "merge(var.a, jsondecode(\"{}\"))")),
       "effective-change a_b.c y: none -> local.a.open\n"},
      {"a member of a known default", resource("  x = var.a.b", variable("a", "{ b = 1, open = true }")),
       resource("  x = var.a.b\n  y = var.a.open", variable("a", "{ b = 1, open = true }")),
       "effective-change a_b.c y: none -> var.a.open\n"},
      {"a member of a value instead of that of callers", resource("  x = var.a.b", variable("a", "{}")),
       resource("  x = var.a.b\n  y = coalesce(var.a, { open = true }).open", variable("a", "{}")),
       "effective-change a_b.c y: none -> coalesce(var.a, { open = true }).open\n"},
      {"a local value of an ephemeral resource",
       main_file("ephemeral \"a_b\" \"c\" {\n  x = local.a\n}\n" + local("a", "1")),
       main_file("ephemeral \"a_b\" \"c\" {\n  x = local.a\n}\n" + local("a", "2")),
       "effective-change local.a: 1 -> 2; used by ephemeral.a_b.c\n"},
      {"a local value of a provider", main_file("provider \"a\" {\n  x = local.a\n}\n" + local("a", "1")),
       main_file("provider \"a\" {\n  x = local.a\n}\n" + local("a", "2")),
       "effective-change local.a: 1 -> 2; used by provider.a\n"},
      {"a local value of an import", main_file("import {\n  to = a_b.c\n  id = local.a\n}\n" + local("a", "1")),
       main_file("import {\n  to = a_b.c\n  id = local.a\n}\n" + local("a", "2")),
       "effective-change local.a: 1 -> 2; used by import\n"},
      {"the name that a local call gives to a provisioner",
       {{"main.tf", call + "  name   = 1\n}\n"},
        {"m/main.tf",
         "resource \"a_b\" \"c\" {\n  provisioner \"local-exec\" {\n    command = "
         "var.name\n  }\n}\nvariable \"name\" {}\n"}},
       {{"main.tf", call + "  name   = 2\n}\n"},
        {"m/main.tf",
         "resource \"a_b\" \"c\" {\n  provisioner \"local-exec\" {\n    command = "
         "var.name\n  }\n}\nvariable \"name\" {}\n"}},
       "effective-change module.m name: 1 -> 2\n"},
      {"the files that a pattern selects",
       {{"main.tf", "resource \"a_b\" \"c\" {\n  x = fileset(path.module, \"*.tpl\")\n}\n"}, {"a.tpl", "a"}},
       {{"main.tf", "resource \"a_b\" \"c\" {\n  x = fileset(path.module, \"*.tpl\")\n}\n"}, {"b.tpl", "a"}},
       "effective-change a_b.c x: fileset(path.module, \"*.tpl\"), with other content of a.tpl, b.tpl\n"},
  });
}

BOOST_AUTO_TEST_CASE(what_has_the_same_effect) {
  const std::string old = variable("old", "{}");
  const auto same = [&](const std::string& before, const std::string& after, const std::string& more = "") {
    return std::pair(resource("  x = " + before, old), resource("  x = " + after, old + more));
  };
  const std::string glob =
      "resource \"a_b\" \"c\" {\n  x = { for f in fileset(\"${path.module}/files\", \"*.json\") : f => "
      "file(\"${path.module}/files/${f}\") }\n}\n";
  const auto switched = [&](const std::string& content) {
    return resource(
        "  dynamic \"d\" {\n    for_each = a_d.e.on ? var.old : []\n    content {\n      " + content + "\n    }\n  }",
        old);
  };
  const std::map<std::string, std::pair<Files, Files>> rows = {
      {"lookup()", same("lookup(var.old, \"k\", null)", "var.old.k")},
      {"try() without another value", same("var.old.k", "try(var.old.k, null)")},
      {"a new variable that overrides", same("var.old.k", "coalesce(var.new, var.old.k)", variable("new", "null"))},
      {"a condition on a new variable", same("var.old.k", "var.new ? 2 : var.old.k", variable("new", "false"))},
      {"a longer condition", same("var.old.k && true", "var.old.k && !var.new", variable("new", "false"))},
      {"a new member that overrides", same("var.old.k", "try(var.old.fresh, var.old.k)")},
      {"a new member with a default",
       {resource("  x = var.a.k\n  y = 1", "variable \"a\" {\n  type = object({ k = string })\n}\n"),
        resource("  x = var.a.k\n  y = var.a.n",
                 "variable \"a\" {\n  type = object({ k = string, n = optional(number, 1) })\n}\n")}},
      {"a new local value", same("var.old.k", "local.new", local("new", "var.old.k"))},
      {"an empty string and null", same("try(var.old.k, \"\")", "try(var.old.k, null)")},
      {"a question for emptiness", same("length(var.old) > 0 ? [var.old] : []", "var.old != [] ? [var.old] : []")},
      {"a coalesce()", same("var.old != null ? var.old : 1", "coalesce(var.old, 1)")},
      {"conversions", same("var.old", "toset(tolist(var.old))")},
      {"a member that is null", same("{ a = 1 }", "{ a = 1, b = var.new }", variable("new", "null"))},
      {"a member of a new map",
       {resource("  x = var.old", old),
        resource("  x = var.old\n  y = lookup(var.new, var.old, null)", old + variable("new", "{}"))}},
      {"a member that no caller could set",
       {resource("  x = var.old.k", old), resource("  x = var.old.k\n  y = lookup(var.old, \"fresh\", null)", old)}},
      {"a block for a new member",
       {resource("  x = var.old.k", old),
        resource("  x = var.old.k\n  dynamic \"b\" {\n    for_each = var.old.fresh != null ? [var.old.fresh] : []\n    "
                 "content {\n      y = 1\n    }\n  }",
                 old)}},
      {"a local value that nothing uses", {resource("  x = 1", local("t", "1")), resource("  x = 1", local("t", "2"))}},
      {"a new resource for a new variable",
       {resource("  x = 1"),
        resource("  x = 1", variable("new", "false") + "resource \"a_d\" \"e\" {\n  count = var.new ? 1 : 0\n}\n")}},
      {"a new local module for a new variable",
       {resource("  x = 1"),
        {{"main.tf",
          "resource \"a_b\" \"c\" {\n  x = 1\n}\nmodule \"m\" {\n  source = \"./m\"\n  count  = length(var.new)\n}\n" +
              variable("new", "[]")},
         {"m/main.tf", "resource \"a_d\" \"e\" {}\n"}}}},
      {"a moved resource",
       {resource("  x = 1", "output \"o\" {\n  value = a_b.c.id\n}\n"),
        main_file("resource \"a_b\" \"d\" {\n  x = 1\n}\nmoved {\n  from = a_b.c\n  to   = a_b.d\n}\noutput \"o\" {\n  "
                  "value = a_b.d.id\n}\n")}},
      {"the name of a secret in a nested block",
       {resource("  b {\n    name = 1\n  }"),
        resource("  b {\n    name = 1\n    dynamic \"d\" {\n      for_each = []\n "
                 "     content {\n        name = var.secret_name\n      }\n    "
                 "}\n  }")}},
      {"a file that no pattern selects",
       {{{"main.tf", glob}, {"files/a.json", "{}"}, {"README.md", "1"}},
        {{"main.tf", glob}, {"files/a.json", "{}"}, {"README.md", "2"}}}},
      {"a new member of items that a resource switches on",
       {switched("x = d.value.k"), switched("x = d.value.k\n      y = try(d.value.fresh, null)")}},
      {"tags and descriptions",
       {resource("  tags        = { a = 1 }\n  description = \"x\""),
        resource("  tags        = { a = 2 }\n  description = \"y\"")}},
  };
  for (const auto& [name, files] : rows) {
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(changes(files.first, files.second) == "");
    }
  }
}

// Each is another value than "a", or fails.
BOOST_AUTO_TEST_CASE(what_does_not_fold) {
  const std::string given = variable("given", "{ old = 1 }");
  const std::string old = resource("  x = \"a\"", given).at("main.tf");
  for (const char* value : {
           R"(1 == 1.0 ? "b" : "a")",
           R"(- -1 == 1 ? "b" : "a")",
           R"(9007199254740993 > 9007199254740992 ? "b" : "a")",
           R"(null == "" ? "a" : "b")",
           R"(try(null && true, false) ? "a" : "b")",
           R"(tonumber("1") == 1 ? "b" : "a")",
           R"(try(tonumber("a"), "b"))",
           R"(can(tonumber("x")) ? "a" : "b")",
           R"(tolist(toset(["b", "a"]))[0])",
           R"(length(toset(["a", "a"])) == 1 ? "b" : "a")",
           R"(try(one(["a", "x"]), "b"))",
           R"(length(""[*]) == 1 ? "b" : "a")",
           R"(["a", "b"]["0000000001"])",
           R"(["b"][0.0])",
           R"({ x = "a", (lower("X")) = "b" }.x)",
           R"([for v in { k = "b" } : v][0])",
           R"({ for k, v in { k = "b" } : k => trimspace(v) }.k)",
           R"(merge(var.given, { k = "b" }).k)",
           R"(coalesce(var.given, { k = "b" }).k)",
           R"((var.given.old == 1 ? { k = "x" } : { k = "b" }).k)",
           R"(jsondecode(file("${path.module}/a.json")).k)",
       }) {
    BOOST_TEST_CONTEXT(value) {
      const Files after = {{"main.tf", resource(std::string("  x = ") + value, given).at("main.tf")},
                           {"a.json", "{\"k\": \"b\"}"}};
      BOOST_TEST(changes({{"main.tf", old}}, after).starts_with("effective-change a_b.c x: \"a\" -> "));
      const Files added = {{"main.tf", after.at("main.tf")}, {"a.json", after.at("a.json")}};
      BOOST_TEST(changes(resource("", given), added).starts_with("effective-change a_b.c x: none -> "));
    }
  }
  BOOST_TEST(changes(resource("  x = [for k, v in var.given : k]", given),
                     resource("  x = [for k, v in var.given : v.key]", given)) != "");
  BOOST_TEST(changes(resource("  x = var.given", given), resource("  x = var.given ? true : null", given)) != "");
}

BOOST_AUTO_TEST_CASE(what_moves_between_modules) {
  const auto moved_into = [](const std::string& address) {
    return Files{
        {"main.tf", "module \"m\" {\n  source = \"./m\"\n}\nmoved {\n  from = a_b.c\n  to   = " + address + "\n}\n"},
        {"m/main.tf", "resource \"a_b\" \"c\" {\n  x = 1\n}\n"}};
  };
  Files nested = moved_into("module.m.module.k.a_b.c");
  nested["k/main.tf"] = nested["m/main.tf"];
  nested["m/main.tf"] = "module \"k\" {\n  source = \"../k\"\n}\n";
  Files changed = moved_into("module.m.a_b.c");
  changed["m/main.tf"] = "resource \"a_b\" \"c\" {\n  x = 2\n}\n";
  const Files before = resource("  x = 1");
  check({
      {"into a local module", before, moved_into("module.m.a_b.c"), ""},
      {"into an instance of a local module", before, moved_into("module.m[0].a_b.c[0]"), ""},
      {"into a nested module", before, nested, ""},
      {"with another argument", before, changed, "effective-change m: a_b.c (was a_b.c) x: 1 -> 2\n"},
  });
}

BOOST_AUTO_TEST_CASE(what_new_members_of_objects_change) {
  const auto rules = [](const std::string& members) {
    return resource("  dynamic \"rule\" {\n    for_each = var.rules\n    content {\n      b = rule.value.b\n    }\n  }",
                    "variable \"rules\" {\n  type = list(object({ " + members + " }))\n}\n");
  };
  check({
      {"a default that a dynamic block does not use", rules("b = optional(bool)"),
       rules("b = optional(bool), c = optional(bool, true)"), ""},
      {"a default of an object whose members are named",
       resource("  x = var.a.b", "variable \"a\" {\n  type = object({ b = optional(bool) })\n}\n"),
       resource("  x = var.a.b\n  y = var.a.c == true ? null : null",
                "variable \"a\" {\n  type = object({ b = optional(bool), c = optional(bool, true) })\n}\n"),
       ""},
  });
}

BOOST_AUTO_TEST_CASE(what_names_an_object) {
  const auto one = [](const std::string& type, const std::string& body) {
    return main_file("resource \"" + type + "\" \"c\" {\n" + body + "\n}\n");
  };
  const auto call = [](const std::string& body, const std::string& use) {
    return Files{{"main.tf", "module \"m\" {\n  source = \"./m\"\n" + body + "}\n"},
                 {"m/main.tf", "variable \"name\" {\n  default = \"a\"\n}\nresource \"a_b\" \"c\" {\n" + use + "}\n"}};
  };
  const auto outside = [](const std::string& body) {
    return main_file("module \"m\" {\n  source = \"a/b/c\"\n" + body + "\n}\n");
  };
  const auto data = [](const std::string& body) { return main_file("data \"a_b\" \"c\" {\n" + body + "\n}\n"); };
  check({
      {"a resource", one("a_b", "  name = 1"), one("a_b", "  name = 2"), ""},
      {"a DNS record", one("a_record", "  name = 1"), one("a_record", "  name = 2"),
       "effective-change a_record.c name: 1 -> 2\n"},
      {"network tags", one("google_b", "  tags = [1]"), one("google_b", "  tags = [2]"),
       "effective-change google_b.c tags: [1] -> [2]\n"},
      {"labels of Google", one("google_b", "  labels = {}"), one("google_b", "  labels = { a = 1 }"), ""},
      {"labels in a block", one("kubernetes_b", "  metadata {\n    labels = { a = 1 }\n  }"),
       one("kubernetes_b", "  metadata {\n    labels = { a = 2 }\n  }"),
       "effective-change kubernetes_b.c metadata.labels: { a = 1 } -> { a = 2 }\n"},
      {"a name in a block", one("a_b", "  parameter {\n    name = 1\n  }"),
       one("a_b", "  parameter {\n    name = 2\n  }"), "effective-change a_b.c parameter.name: 1 -> 2\n"},
      {"an argument that has the name of a block", one("a_b", "  connection = 1"), one("a_b", "  connection = 2"),
       "effective-change a_b.c connection: 1 -> 2\n"},
      {"a description in a block", one("a_b", "  b {\n    description = 1\n  }"),
       one("a_b", "  b {\n    description = 2\n  }"), ""},
      {"tags of a data source", data("  tags = { a = 1 }"), data("  tags = { a = 2 }"),
       "effective-change data.a_b.c tags: { a = 1 } -> { a = 2 }\n"},
      {"a call of another package", outside("  name = 1"), outside("  name = 2"),
       "effective-change module.m name: 1 -> 2\n"},
      {"a local call whose module uses it", call("  name = 1\n", "  x = var.name\n"),
       call("  name = 2\n", "  x = var.name\n"), "effective-change module.m name: 1 -> 2\n"},
      {"a local call whose module names a resource", call("  name = 1\n", "  name = var.name\n"),
       call("  name = 2\n", "  name = var.name\n"), ""},
      {"providers of a local call", call("  providers = { a = a.x }\n", ""), call("  providers = { a = a.y }\n", ""),
       "effective-change module.m providers: { a = a.x } -> { a = a.y }\n"},
  });
}

BOOST_AUTO_TEST_CASE(what_a_local_value_or_a_table_changes) {
  const auto table = [](const std::string& items) {
    return resource("  x = local.t[var.k]", local("t", items) + variable("k", "\"a\""));
  };
  const auto output = [](const std::string& rest) {
    return Files{{"main.tf", "module \"m\" {\n  source = \"./m\"\n}\nresource \"a_b\" \"c\" {\n  x = module.m.o\n}\n"},
                 {"m/main.tf", rest}};
  };
  check({
      {"values of a table that are swapped", table("{ a = 1, b = 2 }"), table("{ a = 2, b = 1 }"),
       "effective-change local.t: { a = 1, b = 2 } -> { a = 2, b = 1 }; used by a_b.c\n"},
      {"a member with a bar", resource("  x = local.t[\"a|b\"]", local("t", "{ \"a|b\" = 1 }")),
       resource("  x = local.t[\"a|b\"]", local("t", "{ \"a|b\" = 2 }")),
       "effective-change local.t: { \"a|b\" = 1 } -> { \"a|b\" = 2 }; used by a_b.c\n"},
      {"a local value of an output of a local module",
       output("output \"o\" {\n  value = local.a\n}\n" + local("a", "1")),
       output("output \"o\" {\n  value = local.a\n}\n" + local("a", "2")),
       "effective-change m: local.a: 1 -> 2; used by m: output.o\n"},
      {"a default of an output of a local module", output("output \"o\" {\n  value = var.a\n}\n" + variable("a", "1")),
       output("output \"o\" {\n  value = var.a\n}\n" + variable("a", "2")),
       "effective-change m: var.a default: 1 -> 2; used by m: output.o\n"},
  });
}

BOOST_AUTO_TEST_CASE(files_that_patterns_select) {
  const struct {
    const char* pattern;
    const char* file;
    bool is_found = true;
  } rows[] = {
      {"*.json", "a.json"},
      {"*.json", "a.yaml", false},
      {"*.{json,yaml}", "a.json"},
      {"*.[jc]onf", "a.conf"},
      {"*.[jc]onf", "a.json", false},
      {"*/p?.json", "a/p1.json"},
      {"{a,b}.json", "b.json"},
      {"?.json", "a.json"},
      {"[ab].json", "a.json"},
      {"a/p?.json", "a/p1.json"},
      {"a/{p,q}/x.json", "a/q/x.json"},
      {"a/[pq].json", "a/q.json"},
      {"a/\\\\[.json", "a/[.json"},
      {"a/p?.json", "b/p1.json", false},
      {"${var.d}/p?.json", "a/p1.json"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.pattern << " and " << row.file) {
      const std::string call = std::string("fileset(path.module, \"") + row.pattern + "\")";
      const auto files = [&](const char* content) {
        Files made = resource("  x = " + call, "variable \"d\" {}\n");
        made[row.file] = content;
        return made;
      };
      BOOST_TEST(
          changes(files("1"), files("2")) ==
          (row.is_found ? "effective-change a_b.c x: " + call + ", with other content of " + row.file + "\n" : ""));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_created) {
  const Files module = {{"m/main.tf", "variable \"p\" {}\nresource \"a_b\" \"c\" {\n  x = var.p\n}\n"}};
  const auto calls = [&](const std::string& text) {
    Files files = module;
    files["main.tf"] = text;
    return files;
  };
  const auto call = [](const std::string& name, const std::string& body) {
    return "module \"" + name + "\" {\n  source = \"./m\"\n" + body + "}\n";
  };
  check({
      {"a second call of a local module", calls(call("a", "  p = 1\n")),
       calls(call("a", "  p = 1\n") + call("b", "  p = 1\n")),
       "new-resource module.b is new, and exists although the caller sets nothing new\n"},
      {"a call with another name", calls(call("a", "  p = 1\n")), calls(call("b", "  p = 2\n")),
       "effective-change module.b (was module.a) p: 1 -> 2\n"},
      {"a second call without a value for a condition", calls(call("a", "  p = 1\n")),
       calls(call("a", "  p = 1\n") + call("b", "  p = 1\n  count = 0\n")), ""},
      {"a resource without instances", resource("  for_each = toset([])\n  x = 1"), resource("  x = 1"),
       "effective-change a_b.c for_each: toset([]) -> none\n"},
      {"a resource that is not enabled", resource("  lifecycle {\n    enabled = false\n  }"),
       resource("  lifecycle {\n    enabled = true\n  }"), "effective-change a_b.c lifecycle.enabled: false -> none\n"},
      {"a resource that is enabled", resource("  x = 1"), resource("  x = 1\n  lifecycle {\n    enabled = true\n  }"),
       ""},
      {"a call without instances", calls(call("a", "  p = 1\n  for_each = {}\n")), calls(call("a", "  p = 1\n")),
       "effective-change module.a for_each: {} -> none\n"},
      {"a new call of a local module without instances", calls(call("a", "  p = 1\n  count = 0\n")),
       calls(call("a", "  p = 1\n  count = 0\n") + call("b", "  p = 1\n")),
       "new-resource module.b is new, and exists although the caller sets nothing new\n"},
      {"an argument that is named enabled", resource("  x = 1"),
       resource("  x = 1", "resource \"a_d\" \"e\" {\n  enabled = false\n}\n"),
       "new-resource a_d.e is new, and exists although the caller sets nothing new\n"},
      {"a block without items",
       resource("  dynamic \"b\" {\n    for_each = []\n    content {\n      x = 1\n    }\n  }"),
       resource("  b {\n    x = 1\n  }"), "effective-change a_b.c b.x: none -> 1\n"},
      {"items of a block by a local value",
       resource("  dynamic \"b\" {\n    for_each = local.b\n    content {\n      x = 1\n    }\n  }", local("b", "[]")),
       resource("  dynamic \"b\" {\n    for_each = local.b\n    content {\n      x = 1\n    }\n  }", local("b", "[1]")),
       "effective-change local.b: [] -> [1]; used by a_b.c\n"},
  });
}

BOOST_AUTO_TEST_CASE(what_blocks_contain) {
  const auto containers = [](const std::string& first, const std::string& second) {
    return resource("  spec {\n    container {\n      image = 1\n      x = " + first +
                    "\n    }\n    container {\n      image = 2\n      x = " + second + "\n    }\n  }");
  };
  std::string umlauts;
  for (int i = 0; i < 40; ++i) {
    umlauts += "ä";
  }
  check({
      {"another empty block", resource("  d {\n    block {}\n  }"), resource("  d {\n    allow {}\n  }"),
       "effective-change a_b.c d.allow: none -> {}; d.block: {} -> none\n"},
      {"no empty block", resource("  d {}"), resource(""), "effective-change a_b.c d: {} -> none\n"},
      {"an argument in an empty block", resource("  d {}"), resource("  d {\n    x = 1\n  }"),
       "effective-change a_b.c d.x: none -> 1\n"},
      {"a null in an empty block", resource("  d {}"), resource("  d {\n    x = null\n  }"), ""},
      {"a lifecycle", resource(""), resource("  lifecycle {\n    create_before_destroy = true\n  }"), ""},
      {"values of inner blocks", containers("1", "2"), containers("2", "1"),
       "effective-change a_b.c spec.container.x: 1 -> 2; spec.container.x: 2 -> 1\n"},
      {"the order of inner blocks", containers("1", "1"), containers("1", "1"), ""},
      {"values of blocks beside an empty value",
       resource("  s {\n    a = 1\n    b = 1\n  }\n  s {\n    a = 2\n    b = 2\n  }"),
       resource("  s {\n    a = 1\n    b = 2\n    c = []\n  }\n  s {\n    a = 2\n    b = 1\n  }"),
       "effective-change a_b.c s.b: 1 -> 2; s.b: 2 -> 1\n"},
  });
  const std::string cut = changes(resource("  x = \"" + umlauts + "\""), resource("  x = \"y" + umlauts + "\""));
  BOOST_TEST(to_valid_utf8(cut) == cut);
  BOOST_TEST(cut.find("…") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_only_callers_select) {
  const std::string old = local("t", "{ dev = \"a\" }") + "variable \"env\" {}\n";
  const std::string more = local("t", "{ dev = \"a\", prod = \"b\" }") + "variable \"env\" {}\n";
  const auto by = [](const char* value, const std::string& rest) {
    return resource(std::string("  x = ") + value, rest);
  };
  const auto file = [&](const char* content) {
    Files files =
        by("templatefile(\"${path.module}/${var.env}.tpl\", {})", "variable \"env\" {\n  default = \"a\"\n}\n");
    files["a.tpl"] = content;
    return files;
  };
  const char* const lookup = "lookup(local.t, var.env, \"c\")";
  check({
      {"a new entry of a table", by("local.t[var.env]", old), by("local.t[var.env]", more),
       "effective-change local.t: { dev = \"a\" } -> { dev = \"a\", prod = \"b\" }; used by a_b.c\n"},
      {"a new entry instead of another value", by(lookup, old), by(lookup, more),
       "effective-change local.t: { dev = \"a\" } -> { dev = \"a\", prod = \"b\" }; used by a_b.c\n"},
      {"a file that a variable names", file("1"), file("2"),
       "effective-change a_b.c x: templatefile(\"${path.module}/${var.env}.tpl\", {}), with other content of a.tpl\n"},
  });
}

BOOST_AUTO_TEST_SUITE_END()
