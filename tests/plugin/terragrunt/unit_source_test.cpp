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

// What is read without Terragrunt, below one repository.
BOOST_AUTO_TEST_CASE(what_functions_and_included_files_name) {
  const TemporaryDirectory repository;
  const std::filesystem::path unit = repository / "live/vpc";
  write_text(repository / "root.hcl",
             "locals {\n base = \"git::https://h/s.git\"\n name = basename(get_terragrunt_dir())\n}\n");
  write_text(repository / "env.hcl", "locals {\n tag = \"v1\"\n}\n");
  write_text(repository / "secret.hcl", "locals {\n tag = \"v1\"\n key = run_cmd(\"x\")\n}\n");
  write_text(repository / "block.hcl", "terraform {\n source = \"git::https://h/b.git\"\n}\n");
  write_text(repository / "other.hcl", "terraform {\n source = \"git::https://h/o.git\"\n}\n");
  struct Row {
    const char* name;
    std::string text;
    const char* source;  // empty: not known
  };
  const auto include = [](const std::string& name, const std::string& path, const std::string& more = "") {
    return "include \"" + name + "\" {\n path = " + path + "\n" + more + "}\n";
  };
  const auto terraform = [](const std::string& source) { return "terraform {\n source = " + source + "\n}\n"; };
  const std::string root = include("root", "find_in_parent_folders(\"root.hcl\")", " expose = true\n");
  for (const Row& row : {
           Row{"an exposed include", root + terraform("\"${include.root.locals.base}//${include.root.locals.name}\""),
               "git::https://h/s.git//vpc"},
           Row{"read_terragrunt_config()",
               "locals {\n env = read_terragrunt_config(find_in_parent_folders(\"env.hcl\"))\n}\n" +
                   terraform("format(\"git::https://h/s.git?ref=%s\", local.env.locals.tag)"),
               "git::https://h/s.git?ref=v1"},
           Row{"an included block", include("b", "\"${get_repo_root()}/block.hcl\""), "git::https://h/b.git"},
           Row{"the last include wins",
               include("b", "\"${get_repo_root()}/block.hcl\"") + include("o", "\"${get_repo_root()}/other.hcl\""),
               "git::https://h/o.git"},
           Row{"one that is not merged",
               include("b", "\"${get_repo_root()}/block.hcl\"") +
                   include("o", "\"${get_repo_root()}/other.hcl\"", " merge_strategy = \"no_merge\"\n"),
               "git::https://h/b.git"},
           Row{"the unit wins", include("b", "\"${get_repo_root()}/block.hcl\"") + terraform("\"../x\""), "../x"},
           Row{"an include that is not there", include("b", "\"${get_repo_root()}/none.hcl\""), ""},
           Row{"one outside of the repository", include("b", "\"/etc/passwd\""), ""},
           Row{"a program", terraform("run_cmd(\"echo\", \"x\")"), ""},
           Row{"a program in try()", terraform("try(run_cmd(\"echo\", \"x\"), \"../x\")"), ""},
           Row{"a file with a program, in try()",
               "locals {\n env = read_terragrunt_config(find_in_parent_folders(\"secret.hcl\"))\n}\n" +
                   terraform("try(local.env.locals.none, \"../x\")"),
               ""},
           Row{"a fallback", terraform("find_in_parent_folders(\"none.hcl\", \"../x\")"), "../x"},
           Row{"a cycle", "locals {\n a = local.b\n b = local.a\n}\n" + terraform("local.a"), ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(unit / "terragrunt.hcl", row.text);
      const auto found = find_unit_source(unit, "", ClientKind::opentofu, repository.path());
      BOOST_REQUIRE(found.has_value());
      BOOST_TEST(found->is_known == (row.source[0] != '\0'));
      BOOST_TEST((found->source ? found->source->source.text : "") == row.source);
    }
  }
}

// A download of a locked source has one of these names.
BOOST_AUTO_TEST_CASE(how_a_lock_entry_names_a_download) {
  const auto names = [](const ModuleLock& entry) {
    std::string all;
    for (const DownloadName& name : download_names(entry, ClientKind::opentofu)) {
      all += name.directory + " " + name.version + " " + name.subdir + "\n";
    }
    return all;
  };
  BOOST_TEST(names({.key = "x", .source = "git::https://h/s.git//a?ref=v1"}) ==
             "JARlITNDXYaBoRP8hbqv-ZOd2As vN4PpUkEyKNU3wFbbsRUcBD8YLI a\n");
  const std::string registry =
      names({.key = "x", .version = "1.2.3", .source = "registry.opentofu.org/modules/a/b/c//d"});
  BOOST_TEST(registry.find("xxQ-uTwAvkR_yUeLqsDIFIgx-jQ hbjLqgEXMLbSNorsiIdtMb--ThI d\n") != std::string::npos,
             registry);
  BOOST_TEST(registry.find("xxQ-uTwAvkR_yUeLqsDIFIgx-jQ 2jmj7l5rSw0yVb_vlWAYkK_YBwk d\n") != std::string::npos,
             registry);
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
           Row{"a directory", "../catalog", "VEVVVpv9CVuHJsswqHgaOnN-SvE", "2jmj7l5rSw0yVb_vlWAYkK_YBwk"},
           Row{"an absolute directory", "/catalog", "VEVVVpv9CVuHJsswqHgaOnN-SvE", "2jmj7l5rSw0yVb_vlWAYkK_YBwk"},
           Row{"no source", "git::", "", ""},
       }) {
    const auto found = find_unit_source("/nonexistent", row.source, ClientKind::opentofu);
    BOOST_REQUIRE(found.has_value());
    const auto name = download_name(*found, "/nonexistent");
    BOOST_TEST((name ? name->directory : "") == row.directory, row.name);
    BOOST_TEST((name ? name->version : "") == row.version, row.name);
  }
  FoundSource chosen = *find_unit_source("/nonexistent", "tfr:///a/b/c", ClientKind::opentofu);
  chosen.source->version = "~> 1.0";
  BOOST_TEST(!download_name(chosen, {}).has_value());
}

}  // namespace
}  // namespace modlock::terragrunt
