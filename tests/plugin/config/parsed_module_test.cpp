#include "plugin/config/parsed_module.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/plugin/config/check_error.h"
#include "tests/plugin/config/evaluated_module.h"
#include "tests/plugin/config/scope_setup.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(parsed_module)

namespace {

// "name source version; …"
std::string summary(const EvaluatedModule& config) {
  std::string result;
  for (const ModuleCall& call : config.calls) {
    result += (result.empty() ? "" : "; ") + call.name + " " + call.source.text +
              (call.version ? " " + call.version->text : "");
  }
  return result;
}

std::string file_names(const EvaluatedModule& config) {
  std::string result;
  for (const ConfigFile& file : config.parsed->file_hashes) {
    result += (result.empty() ? "" : " ") + file.path + (file.role == ConfigFile::Role::override_file ? "!" : "");
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(calls) {
  struct Row {
    const char* name;
    Files files;
    std::string_view calls;
  };
  const Row rows[] = {
      {"no files", {}, ""},
      {"no calls", {{"main.tf", "resource \"a\" \"b\" {}\nlocals {\n  module = 1\n}\n"}}, ""},
      {"sorted by name",
       {{"a.tf", "module \"z\" {\n  source = \"./z\"\n}\n"}, {"b.tofu", "module \"a\" {\n  source = \"./a\"\n}\n"}},
       "a ./a; z ./z"},
      {"version", {{"a.tf", "module \"m\" {\n  source  = \"x/y/z\"\n  version = \"~> 1.2\"\n}\n"}}, "m x/y/z ~> 1.2"},
      {"null version is none", {{"a.tf", "module \"m\" {\n  source  = \"./m\"\n  version = null\n}\n"}}, "m ./m"},
      {"other arguments may be anything",
       {{"a.tf", "module \"m\" {\n  source = \"./m\"\n  x = [for i in var.y : i]\n  providers = { a = a.b }\n}\n"}},
       "m ./m"},
      {"bare label", {{"a.tf", "module m {\n  source = \"./m\"\n}\n"}}, "m ./m"},
      {"unicode name",
       {{"a.tf", "module \"\xC3\xA9t\xC3\xA9-1\" {\n  source = \"./m\"\n}\n"}},
       "\xC3\xA9t\xC3\xA9-1 ./m"},
      {"literal in an interpolation is written out",
       {{"a.tf", "module \"m\" {\n  source = \"./$${m}\"\n}\n"}},
       "m ./${m}"},
      {"tofu hides tf",
       {{"a.tf", "module \"m\" {\n  source = \"./old\"\n}\n"}, {"a.tofu", "module \"m\" {\n  source = \"./new\"\n}\n"}},
       "m ./new"},
      {"tofu does not hide another tf",
       {{"a.tf", "module \"m\" {\n  source = \"./m\"\n}\n"}, {"b.tofu", "module \"n\" {\n  source = \"./n\"\n}\n"}},
       "m ./m; n ./n"},
      {"overrides in order",
       {{"a.tf", "module \"m\" {\n  source = \"./a\"\n  version = \"1\"\n}\n"},
        {"override.tf", "module \"m\" {\n  source = \"./b\"\n}\n"},
        {"z_override.tf", "module \"m\" {\n  source = \"./c\"\n  count = 1\n}\n"}},
       "m ./c 1"},
      {"an override may take the version away",
       {{"a.tf", "module \"m\" {\n  source = \"git::https://h/p\"\n  version = \"~> 1\"\n}\n"},
        {"override.tofu", "module \"m\" {\n  source = \"git::https://h/p?ref=1\"\n  version = null\n}\n"}},
       "m git::https://h/p?ref=1"},
      {"an override replaces what cannot be read",
       {{"a.tf", "module \"m\" {\n  source = var.x\n}\n"},
        {"m_override.tf", "module \"m\" {\n  source = \"./m\"\n}\n"}},
       "m ./m"},
      {"our own override is left out",
       {{"a.tf", "module \"m\" {\n  source = \"./m\"\n}\n"},
        {"modlock_override.tf", "module \"m\" {\n  source = \"./pinned\"\n}\n"}},
       "m ./m"},
      {"ignored files",
       {{".a.tf", "module \"a\" {}\n"},
        {"b.tf~", "module \"b\" {}\n"},
        {"#c.tf#", "module \"c\" {}\n"},
        {"d.tf.bak", "module \"d\" {}\n"},
        {"e.tftest.hcl", "module \"e\" {}\n"},
        {"dir.tf/f.tf", "module \"f\" {}\n"},
        {"sub/g.tf", "module \"g\" {}\n"}},
       ""},
      {"JSON without modules",
       {{"a.tf.json", "{\"locals\": {}}"}, {"b.tf", "module \"m\" {\n  source = \"./m\"\n}\n"}},
       "m ./m"},
      {"a hidden JSON file", {{"a.tf.json", "{\"module\": {}}"}, {"a.tofu.json", "{}"}}, ""},
      {"JSON syntax",
       {{"a.tf.json", R"({"//": "why", "module": {"m": [{"//": "why", "source": "./${local.d}"}]}})"},
        {"b.tofu.json", R"({"locals": {"d": "x"}})"}},
       "m ./x"},
      {"values from everywhere",
       {{"a.tf", "module \"m\" {\n  source  = \"${local.host}/p\"\n  version = var.v\n}\n"},
        {"v.tf",
         "variable \"v\" {\n  default = null\n}\nlocals {\n  host = join(\".\", [\"git::https://h\", \"x\"])\n}\n"},
        {"terraform.tfvars", "v = \"~> 2.0\"\n"}},
       "m git::https://h.x/p ~> 2.0"},
      {"no final line end", {{"a.tf", "module \"m\" { source = \"./m\" }"}}, "m ./m"},
      {"bom and crlf", {{"a.tf", "\xEF\xBB\xBFmodule \"m\" {\r\n  source = \"./m\"\r\n}\r\n"}}, "m ./m"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const EvaluatedModule config = load_module(directory, row.files);
      BOOST_TEST(summary(config) == row.calls);
      for (const Diagnostic& diagnostic : config.diagnostics) {
        BOOST_ERROR(diagnostic.what.message);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(terraform_reads_no_tofu_files) {
  const TemporaryDirectory directory;
  for (const char* name : {"a.tf", "a.tofu", "b.tofu", "c.tofu.json", "d.tf.json", "e_override.tofu"}) {
    directory.write(name, std::string_view(name).ends_with("json") ? "{}" : "");
  }
  const auto module = read_module(directory.path(), {}, ClientKind::terraform).value();
  std::vector<std::string> names;
  for (const ConfigFile& file : module->file_hashes) {
    names.push_back(file.path);
  }
  const std::vector<std::string> expected = {"a.tf", "d.tf.json"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_override_replaces_what_cannot_be_evaluated) {
  struct Row {
    const char* name;
    std::string_view primary;
    std::string_view override_text;
  };
  const Row rows[] = {
      {"version null", "source = \"./a\"\n version = null", ""},
      {"an expression", "source = data.x.y.z", "source = \"./a\""},
      {"null", "source = null", "source = \"./a\""},
      {"an invalid version", "source = \"x/y/z\"\n version = \"abc\"", "version = \"1.0\""},
      {"a version", "source = \"x/y/z\"\n version = \"1.0\"", "source = \"./a\"\n version = null"},
  };
  for (const ClientKind tool : {ClientKind::opentofu, ClientKind::terraform}) {
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(to_string(tool) << ": " << row.name) {
        const TemporaryDirectory directory;
        directory.write("main.tf", fmt::format("module \"m\" {{\n {}\n}}\n", row.primary));
        directory.write("override.tf", fmt::format("module \"m\" {{\n {}\n}}\n", row.override_text));
        ScopeContext environment = test_surroundings();
        environment.root = directory.path();
        environment.tool = tool;
        const auto module = read_module(directory.path(), {}, tool).value();
        ModuleScope scope(module, environment, ".", std::make_shared<VariableValues>());
        const EvaluatedCalls found = evaluate_calls(*module, scope);
        BOOST_TEST(found.diagnostics.empty());
        BOOST_TEST_REQUIRE(found.calls.size() == 1U);
        BOOST_TEST((found.calls[0].version ? found.calls[0].version->text : "") ==
                   (row.override_text.starts_with("version") ? "1.0" : ""));
      }
    }
  }
}

// A later client may fetch code from there.
BOOST_AUTO_TEST_CASE(unknown_blocks_with_a_source) {
  struct Row {
    const char* name;
    Files files;
    std::string_view found;  // "address place", each with a warning
  };
  const Row rows[] = {
      {"native", {{"a.tf", "symbols \"lib\" {\n  source = \"./x\"\n}\n"}}, "symbols.lib a.tf:1:1\n"},
      {"no label, and several",
       {{"a.tf", "later {\n  source = var.x\n}\n"}, {"override.tf", "b \"c\" \"d\" {\n  source = 1\n}\n"}},
       "later a.tf:1:1\nb.c.d override.tf:1:1\n"},
      {"JSON",
       {{"a.tf.json", R"({"symbols": {"lib": {"source": "./x"}}, "later": [{"source": 1}, {"a": [{"source": 2}]}]})"}},
       "symbols.lib a.tf.json:1:22\nlater a.tf.json:1:52\nlater.a a.tf.json:1:74\n"},
      {"no source", {{"a.tf", "symbols \"lib\" {\n  values {}\n}\n"}, {"b.tf.json", R"({"x": {"y": 5}})"}}, ""},
      {"known types",
       {{"a.tf",
         "resource \"a_b\" \"c\" {\n  source = \"f\"\n}\naction \"a_b\" \"c\" {\n  source = \"f\"\n}\n"
         "data \"a_b\" \"c\" {\n  source = \"f\"\n}\nremoved {\n  source = 1\n}\n"},
        {"b.tf.json", R"({"locals": {"source": "f"}, "removed": {"source": "f"}, "moved": [{"source": "f"}]})"}},
       ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const EvaluatedModule config = load_module(directory, row.files);
      std::string found;
      for (const UnknownSource& source : config.parsed->unknown_sources) {
        found += fmt::format("{} {}\n", source.address, to_string(source.location));
      }
      BOOST_TEST(found == row.found);
      BOOST_TEST_REQUIRE(config.diagnostics.size() == config.parsed->unknown_sources.size());
      for (const Diagnostic& diagnostic : config.diagnostics) {
        BOOST_TEST((diagnostic.severity == Severity::warning));
      }
    }
  }
  const TemporaryDirectory directory;
  const EvaluatedModule config = load_module(directory, {{"a.tf", "symbols \"lib\" {\n  source = \"./x\"\n}\n"}});
  check_error(config.diagnostics.front().what,
              {Code::source_unsupported,
               "the block symbols.lib has a source, but its type is not known: what it fetches is neither locked nor "
               "verified",
               "a.tf:1:1"});
}

// A lock of what no client can run would mislead. Each reason is named once.
BOOST_AUTO_TEST_CASE(what_clients_reject_is_a_warning) {
  struct Row {
    const char* name;
    Files files;
    const char* warnings;
  };
  constexpr const char* kQuotes = "OpenTofu rejects this: the type is in quotes";
  constexpr const char* kEdition = "OpenTofu rejects this: it supports only the edition tofu2024";
  const std::string aws = "terraform {\n  required_providers {\n    aws = \"~> 5.0\"\n  }\n}\n";
  const Row rows[] = {
      {"misplaced",
       {{"a.tf", "required_providers {\n}\n"}},
       "a.tf:1:1 OpenTofu rejects this: required_providers is outside of a terraform block\n"},
      {"twice in a file",
       {{"a.tf", aws + aws}},
       "a.tf:7:3 OpenTofu rejects this: the module has two required_providers blocks\n"},
      {"in two files",
       {{"a.tf", aws}, {"b.tf", aws}},
       "b.tf:2:3 OpenTofu rejects this: the module has two required_providers blocks\n"},
      {"in an override file", {{"a.tf", aws}, {"b_override.tf", aws}}, ""},
      {"two terraform blocks", {{"a.tf", aws + "terraform {\n  required_version = \">= 1\"\n}\n"}}, ""},
      {"quoted type", {{"a.tf", "variable \"v\" {\n  type = \"list\"\n}\n"}}, kQuotes},
      {"quoted type expression", {{"a.tf", "variable \"v\" {\n  type = \"list(string)\"\n}\n"}}, kQuotes},
      {"type", {{"a.tf", "variable \"v\" {\n  type = list(string)\n}\n"}}, ""},
      {"legacy type without an element", {{"a.tf", "variable \"v\" {\n  type = list\n}\n"}}, ""},
      {"type in JSON", {{"a.tf.json", R"({"variable": {"v": {"type": "list"}}})"}}, ""},
      {"another edition", {{"a.tf", "language {\n  edition = tofu2027\n}\n"}}, kEdition},
      {"edition in quotes", {{"a.tf", "language {\n  edition = \"tofu2024\"\n}\n"}}, kEdition},
      {"the edition", {{"a.tf", "language {\n  edition = tofu2024\n}\n"}}, ""},
      {"no edition", {{"a.tf", "language {\n  compatible_with {\n    opentofu = \">= 1.12\"\n  }\n}\n"}}, ""},
      {"edition of Terraform", {{"a.tf", "terraform {\n  language = TF2021\n}\n"}}, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      std::string found;
      for (const Diagnostic& diagnostic : load_module(directory, row.files).diagnostics) {
        BOOST_TEST((diagnostic.severity == Severity::warning));
        found += fmt::format("{} {}\n", to_string(*diagnostic.what.location), diagnostic.what.message);
      }
      const std::string wanted = row.warnings;
      BOOST_TEST(found.find(wanted) != std::string::npos);
      BOOST_TEST(std::count(found.begin(), found.end(), '\n') == (wanted.empty() ? 0 : 1));
    }
  }
}

// Nothing that a reader does not know makes a configuration unreadable.
BOOST_AUTO_TEST_CASE(what_is_not_known_is_skipped) {
  struct Row {
    const char* name;
    Files files;
  };
  const Row rows[] = {
      {"a block", {{"a.tf", "later \"x\" \"y\" \"z\" {\n  a = b::c()\n  d {}\n}\nlater {}\n"}}},
      {"a setting", {{"a.tf", "terraform {\n  experiments = [later]\n  later {}\n}\nlanguage {\n  later = x\n}\n"}}},
      {"an argument",
       {{"a.tf", "module \"m\" {\n  source = \"./m\"\n  later {}\n}\nvariable \"a\" {\n  later = x()\n}\n"}}},
      {"a type", {{"a.tf", "variable \"a\" {\n  type = later(string)\n  default = later()\n}\n"}}},
      {"a function", {{"a.tf", "locals {\n  a = later()\n}\noutput \"o\" {\n  value = later()\n}\n"}}},
      {"a resource", {{"a.tf", "resource \"a_b\" \"c\" {\n  lifecycle {\n    later = 1\n  }\n  lifecycle {}\n}\n"}}},
      {"an override of nothing",
       {{"a_override.tf", "module \"n\" {\n  source = \"./1\"\n}\nlocals {\n  b = 1\n}\nvariable \"c\" {}\n"}}},
      {"JSON",
       {{"a.tf.json",
         R"({"later": {"x": 1}, "later": {"y": 2}, "output": 5, "terraform": {"later": {}, "later": []},
             "resource": {"a_b": {"c": {"timeouts": {}, "timeouts": {}}}}, "moved": [{"from": "x"}]})"}}},
  };
  const auto good = std::pair<std::string, std::string>("z.tf", "module \"z\" {\n  source = \"./z\"\n}\n");
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      Files files = row.files;
      files.push_back(good);
      const EvaluatedModule config = load_module(directory, files);
      BOOST_TEST(summary(config).find("z ./z") != std::string::npos);
      for (const Diagnostic& diagnostic : config.diagnostics) {
        BOOST_ERROR(diagnostic.what.message);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_cancelled_run_reads_nothing) {
  const TemporaryDirectory directory;
  directory.write("main.tf", "module \"m\" {\n  source = \"./a\"\n}\n");
  std::stop_source stop;
  const Context context{.stop = stop.get_token()};
  const auto module = read_module(directory.path(), {}, ClientKind::opentofu, context).value();
  const ScopeContext environment = test_surroundings();
  ModuleScope scope(module, environment, ".", std::make_shared<VariableValues>());
  BOOST_TEST(evaluate_calls(*module, scope, context).calls.size() == 1U);
  stop.request_stop();
  BOOST_TEST(evaluate_calls(*module, scope, context).calls.empty());
  const auto stopped = read_module(directory.path(), {}, ClientKind::opentofu, context);
  BOOST_TEST_REQUIRE(!stopped.has_value());
  BOOST_TEST(to_string(stopped.error().code) == "REQUEST_CANCELLED");
}

BOOST_AUTO_TEST_CASE(files_are_listed_with_their_hashes) {
  const TemporaryDirectory directory;
  const EvaluatedModule config = load_module(directory, {{"b.tf", "a\n"},
                                                         {"a_override.tofu", ""},
                                                         {"a.tofu.json", "{}"},
                                                         {"override.tf.json", "{}"},
                                                         {"c.tf", ""},
                                                         {"c.tofu", ""},
                                                         {"modlock_override.tf", ""},
                                                         {"README.md", ""}});
  BOOST_TEST(file_names(config) == "a.tofu.json a_override.tofu! b.tf c.tofu override.tf.json!");
  BOOST_TEST(config.parsed->file_hashes[2].sha256 ==
             "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7");
}

BOOST_AUTO_TEST_CASE(ranges) {
  const TemporaryDirectory directory;
  directory.write("modules/net/main.tf", "module \"m\" {\n  source  = \"x/y/z\"\n  version = \"~> 1.2\" # why\n}\n");
  const EvaluatedModule config = load_module(directory / "modules/net");
  BOOST_TEST_REQUIRE(config.calls.size() == 1U);
  const ModuleCall& call = config.calls.front();
  BOOST_TEST(call.location.path == "main.tf");
  BOOST_TEST((call.location.range == Range{{1, 1, 0}, {1, 11, 10}}));
  BOOST_TEST((call.source.location.range == Range{{2, 13, 25}, {2, 20, 32}}));
  BOOST_TEST((call.version->location.range == Range{{3, 13, 45}, {3, 21, 53}}));
  BOOST_TEST(config.parsed->file_hashes.front().path == "main.tf");
}

BOOST_AUTO_TEST_CASE(documents_overlay_the_disk) {
  const TemporaryDirectory directory;
  directory.write("main.tf", "module \"old\" {\n  source = \"./old\"\n}\n");
  Documents documents;
  documents.emplace(directory / "main.tf", "module \"new\" {\n  source = \"./new\"\n}\n");
  documents.emplace(directory / "more.tf", "module \"more\" {\n  source = \"./more\"\n}\n");
  documents.emplace(directory / "sub/deep.tf", "module \"deep\" {\n  source = \"./deep\"\n}\n");
  BOOST_TEST(summary(load_module(directory.path(), documents)) == "more ./more; new ./new");
  BOOST_TEST(summary(load_module(directory / "sub/", documents)) == "deep ./deep");
}

BOOST_AUTO_TEST_CASE(diagnostics) {
  struct Row {
    const char* name;
    Files files;
    std::vector<ExpectedError> errors;
    std::string_view calls;
  };
  const auto good = std::pair<std::string, std::string>("z.tf", "module \"z\" {\n  source = \"./z\"\n}\n");
  const Row rows[] = {
      {"no source",
       {{"a.tf", "module \"m\" {\n}\n"}, good},
       {{Code::config_parse, "module \"m\" lacks the argument \"source\"", "a.tf:1:1"}},
       "z ./z"},
      {"source null",
       {{"a.tf", "module \"m\" {\n  source = null\n}\n"}, good},
       {{Code::config_parse, "the source of module \"m\" must be a string, found null", "a.tf:2:12"}},
       "z ./z"},
      {"source no string",
       {{"a.tf", "module \"m\" {\n  source = [\"x\"]\n}\n"}, good},
       {{Code::config_parse, "the source of module \"m\" must be a string, found tuple", "a.tf:2:12"}},
       "z ./z"},
      {"version no string",
       {{"a.tf", "module \"m\" {\n  source = \"x/y/z\"\n  version = [1.2]\n}\n"}, good},
       {{Code::config_parse, "the version of module \"m\" must be a string, found tuple", "a.tf:3:13"}},
       "z ./z"},
      {"twice",
       {{"a.tf", "module \"m\" {\n  source = \"./1\"\n}\n"}, {"b.tf", "\nmodule \"m\" {\n  source = \"./2\"\n}\n"}},
       {{Code::config_parse, "module \"m\" is called twice", "b.tf:2:1"}},
       "m ./1"},
      {"no name",
       {{"a.tf", "module {\n  source = \"./1\"\n}\n"}, good},
       {{Code::config_parse, "a module block needs one label, the name of the call, found none", "a.tf:1:1"}},
       "z ./z"},
      {"two names",
       {{"a.tf", "module \"a\" \"b\" {\n  source = \"./1\"\n}\n"}, good},
       {{Code::config_parse, "a module block needs one label, the name of the call, found 2", "a.tf:1:12"}},
       "z ./z"},
      {"dotted name",
       {{"a.tf", "module \"a.b\" {\n  source = \"./1\"\n}\n"}, good},
       {{Code::config_parse, "the name of a module call must be an identifier, found \"a.b\"", "a.tf:1:8"}},
       "z ./z"},
      {"resource in a source",
       {{"a.tf", "module \"m\" {\n  source = aws_s3.b.url\n}\n"}, good},
       {{Code::config_non_static,
         "Dynamic value in static context: aws_s3.b is not known before plan, and module.m.source needs it",
         "a.tf:2:12"}},
       "z ./z"},
      {"sensitive source",
       {{"a.tf",
         "variable \"s\" {\n  default = \"./hidden\"\n  sensitive = true\n}\nmodule \"m\" {\n  source = var.s\n}\n"},
        good},
       {{Code::config_non_static, "the source of module \"m\" must not be derived from sensitive values", "a.tf:6:12"}},
       "z ./z"},
      {"ephemeral version",
       {{"a.tf",
         "variable \"s\" {\n  default = \"1\"\n  ephemeral = true\n}\nmodule \"m\" {\n  source = \"x/y/z\"\n  version "
         "= var.s\n}\n"},
        good},
       {{Code::config_non_static, "the version of module \"m\" must not be derived from ephemeral values",
         "a.tf:7:13"}},
       "z ./z"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const EvaluatedModule config = load_module(directory, row.files);
      BOOST_TEST(summary(config) == row.calls);
      BOOST_TEST_REQUIRE(config.diagnostics.size() == row.errors.size());
      for (std::size_t i = 0; i < row.errors.size(); ++i) {
        BOOST_TEST((config.diagnostics[i].severity == Severity::error));
        BOOST_TEST(!config.diagnostics[i].what.hint.empty());
        check_error(config.diagnostics[i].what, row.errors[i]);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_second_call_names_the_first) {
  const TemporaryDirectory directory;
  const EvaluatedModule config = load_module(directory, {{"a.tf", "module \"m\" {\n  source = \"./1\"\n}\n"},
                                                         {"b.tf", "module \"m\" {\n  source = \"./2\"\n}\n"}});
  BOOST_TEST_REQUIRE(config.diagnostics.size() == 1U);
  BOOST_TEST_REQUIRE(config.diagnostics[0].what.related.size() == 1U);
  BOOST_TEST(config.diagnostics[0].what.related[0].message == "the first call is here");
  BOOST_TEST(to_string(config.diagnostics[0].what.related[0].location) == "a.tf:1:1");
}

BOOST_AUTO_TEST_CASE(syntax_errors_leave_other_files_readable) {
  const TemporaryDirectory directory;
  const EvaluatedModule config = load_module(directory, {{"a.tf", "module \"m\" {\n  source = \"./1\n}\n"},
                                                         {"b.tf", "module \"n\" {\n  source = \"./2\"\n}\n"},
                                                         {"override.tf", "module \"m\" {\n  count = 1\n}\n"}});
  BOOST_TEST_REQUIRE(has_errors(config.diagnostics));
  for (const Diagnostic& diagnostic : config.diagnostics) {
    BOOST_TEST((diagnostic.what.code == Code::config_parse));
    BOOST_TEST((diagnostic.what.location && diagnostic.what.location->path == "a.tf"));
  }
  BOOST_TEST(config.calls.back().name == "n");
}

BOOST_AUTO_TEST_CASE(directories_that_cannot_be_read) {
  const TemporaryDirectory directory;
  directory.write("file", "");
  const auto missing = read_module(directory / "none", {}, ClientKind::opentofu);
  BOOST_TEST_REQUIRE(!missing.has_value());
  BOOST_TEST((missing.error().code == Code::not_found));
  BOOST_TEST(missing.error().message == "the directory \"" + (directory / "none").string() + "\" does not exist");
  const auto file = read_module(directory / "file", {}, ClientKind::opentofu);
  BOOST_TEST_REQUIRE(!file.has_value());
  BOOST_TEST((file.error().code == Code::io_error));
  BOOST_TEST(file.error().message ==
             "cannot list the directory \"" + (directory / "file").string() + "\": Not a directory");
}

BOOST_AUTO_TEST_CASE(a_link_that_leads_nowhere_is_not_an_empty_file) {
  const TemporaryDirectory directory;
  fs::create_symlink("nowhere", directory / "main.tf");
  const auto module = read_module(directory.path(), {}, ClientKind::opentofu);
  BOOST_TEST_REQUIRE(!module.has_value());
  check_error(module.error(),
              {Code::io_error, "the file \"main.tf\" is in its directory but cannot be read", "main.tf"});
}

BOOST_AUTO_TEST_CASE(a_link_to_a_directory_is_no_directory) {
  const TemporaryDirectory directory;
  fs::create_directories(directory / "real.tf");
  BOOST_TEST(read_module(directory.path(), {}, ClientKind::opentofu).has_value());
  fs::create_directory_symlink("real.tf", directory / "main.tf");
  const auto module = read_module(directory.path(), {}, ClientKind::opentofu);
  BOOST_TEST_REQUIRE(!module.has_value());
  BOOST_TEST((module.error().code == Code::io_error));
}

BOOST_AUTO_TEST_CASE(many_files_are_read_in_order) {
  const TemporaryDirectory directory;
  Files files;
  std::string expected;
  for (int i = 10; i < 60; ++i) {
    const std::string name = "m" + std::to_string(i);
    files.emplace_back(name + ".tf", "module \"" + name + "\" {\n  source = \"./m\"\n}\n");
    expected += (expected.empty() ? "" : "; ") + name + " ./m";
  }
  BOOST_TEST(summary(load_module(directory, files)) == expected);
}

BOOST_AUTO_TEST_SUITE_END()
