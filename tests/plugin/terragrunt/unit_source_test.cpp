#include "plugin/terragrunt/unit_source.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

namespace modlock::terragrunt {
namespace {

using test::TemporaryDirectory;
using test::write_text;

BOOST_AUTO_TEST_CASE(what_a_unit_names) {
  struct Row {
    const char* name;
    const char* text;
    bool is_known;
    const char* source;  // empty: none
    const char* version;
  };
  const Row rows[] = {
      {"git", "terraform {\n source = \"git::https://h/s.git//a?ref=v1\"\n}", true, "git::https://h/s.git//a?ref=v1",
       ""},
      {"a registry", "terraform {\n source = \"tfr://r.test/a/b/c//d?version=1.2.3\"\n}", true, "r.test/a/b/c//d",
       "1.2.3"},
      {"the client's registry", "terraform {\n source = \"tfr:///a/b/c?version=1.2.3\"\n}", true,
       "registry.opentofu.org/a/b/c", "1.2.3"},
      {"a constraint", "terraform {\n source = \"tfr:///a/b/c\"\n version = \"~> 1.0\"\n}", true,
       "registry.opentofu.org/a/b/c", "~> 1.0"},
      {"a version that means nothing", "terraform {\n source = \"git::https://h/s.git\"\n version = \"~> 1.0\"\n}",
       true, "git::https://h/s.git", ""},
      {"local values",
       "locals {\n b = \"${local.a}.git\"\n a = \"s\"\n c = f()\n}\nterraform {\n source = "
       "\"git::https://h/${local.b}\"\n}",
       true, "git::https://h/s.git", ""},
      {"a function", "terraform {\n source = find_in_parent_folders()\n}", false, "", ""},
      {"none", "inputs = {}", true, "", ""},
      {"perhaps an include has one", "include \"root\" {\n path = find_in_parent_folders()\n}", false, "", ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory unit;
      write_text(unit / "terragrunt.hcl", row.text);
      const auto found = find_unit_source(unit.path(), "", ClientKind::opentofu);
      BOOST_REQUIRE(found.has_value());
      BOOST_TEST(found->is_known == row.is_known);
      BOOST_TEST((found->source ? found->source->source.text : "") == row.source);
      BOOST_TEST((found->source ? found->source->version.value_or("") : "") == row.version);
    }
  }
}

BOOST_AUTO_TEST_CASE(values_of_a_stack_and_of_a_flag) {
  const TemporaryDirectory unit;
  write_text(unit / "terragrunt.values.hcl", "ref = \"v2\"\n");
  write_text(unit / "terragrunt.hcl", "terraform {\n source = \"git::https://h/s.git?ref=${values.ref}\"\n}");
  BOOST_TEST(find_unit_source(unit.path(), "", ClientKind::opentofu)->source->source.text ==
             "git::https://h/s.git?ref=v2");
  BOOST_TEST(find_unit_source(unit.path(), "git::https://h/t.git", ClientKind::opentofu)->source->source.text ==
             "git::https://h/t.git");
  write_text(unit / "terragrunt.hcl", "terraform {");
  BOOST_TEST((find_unit_source(unit.path(), "", ClientKind::opentofu).error().code == Code::config_parse));
}

}  // namespace
}  // namespace modlock::terragrunt
