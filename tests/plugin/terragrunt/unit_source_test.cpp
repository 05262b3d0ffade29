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

// The names are those that Terragrunt 1.1.3 uses.
BOOST_AUTO_TEST_CASE(how_terragrunt_knows_a_download_again) {
  struct Row {
    const char* name;
    const char* source;
    const char* directory;  // empty: not known
    const char* version;
  };
  for (const Row& row : {
           Row{"git", "git::https://h/s.git//a?ref=v1", "JARlITNDXYaBoRP8hbqv-ZOd2As", "vN4PpUkEyKNU3wFbbsRUcBD8YLI"},
           Row{"no version", "git::https://h/s.git", "JARlITNDXYaBoRP8hbqv-ZOd2As", "2jmj7l5rSw0yVb_vlWAYkK_YBwk"},
           Row{"a sorted query", "git::https://h/s.git?ref=a/b&depth=1", "JARlITNDXYaBoRP8hbqv-ZOd2As",
               "ZGpz5qRcZUIK0L06R1WWMyc2MLE"},
           Row{"github.com", "github.com/o/r//a?ref=v1", "sBFk3-t4Xv_8cVmD-CFLU4FQWao", "vN4PpUkEyKNU3wFbbsRUcBD8YLI"},
           Row{"scp", "git@h:s.git//a?ref=v1", "GemCzoerdbBhGmaIaKgRnhVBf38", "vN4PpUkEyKNU3wFbbsRUcBD8YLI"},
           Row{"a registry", "tfr:///a/b/c//d?version=1.2.3", "xxQ-uTwAvkR_yUeLqsDIFIgx-jQ",
               "hbjLqgEXMLbSNorsiIdtMb--ThI"},
           Row{"the newest version", "tfr:///a/b/c", "xxQ-uTwAvkR_yUeLqsDIFIgx-jQ", "2jmj7l5rSw0yVb_vlWAYkK_YBwk"},
           Row{"OCI", "oci://h/a//d?tag=1", "zQLN7w03i-TOlEI9aTNzFtfiCIY", "G-QtEDzhaJ5uWV4XtUFFzgC-6yY"},
           Row{"an archive", "https://h/a.zip", "PL3K2frKVSsZ6ol9i18h6s-zdr0", "2jmj7l5rSw0yVb_vlWAYkK_YBwk"},
           Row{"a directory", "../catalog", "", ""},
           Row{"an absolute directory", "/catalog", "", ""},
           Row{"no source", "git::", "", ""},
       }) {
    const auto found = find_unit_source("/nonexistent", row.source, ClientKind::opentofu);
    BOOST_REQUIRE(found.has_value());
    const auto name = download_name(*found);
    BOOST_TEST((name ? name->directory : "") == row.directory, row.name);
    BOOST_TEST((name ? name->version : "") == row.version, row.name);
  }
  FoundSource chosen = *find_unit_source("/nonexistent", "tfr:///a/b/c", ClientKind::opentofu);
  chosen.source->version = "~> 1.0";
  BOOST_TEST(!download_name(chosen).has_value());
}

}  // namespace
}  // namespace modlock::terragrunt
