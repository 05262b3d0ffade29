#include "plugin/settings/settings.h"

#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include "backends/base/build_info.h"
#include "plugin/settings/setting_table.h"
#include "tests/plugin/config/check_error.h"
#include "tests/plugin/config/settings_setup.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

std::string joined(const std::vector<SourceText>& list) {
  std::string result;
  for (const SourceText& written : list) {
    result += (result.empty() ? "" : " ") + written.text;
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(settings)

BOOST_AUTO_TEST_CASE(nothing_is_set) {
  Setup setup;
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST(!settings->implementation.has_value());
  BOOST_TEST(settings->platforms.empty());
  BOOST_TEST(!settings->resolution.has_value());
  BOOST_TEST(!settings->uses_sidecar.has_value());
  BOOST_TEST(settings->files.empty());
  BOOST_TEST(load_settings(setup.directory.path(), setup.directory.path(), std::nullopt, {}).has_value());
}

BOOST_AUTO_TEST_CASE(everything_is_set) {
  Setup setup;
  setup.write(kNear,
              "required_version = \">= 0.1.0\"\n"
              "implementation   = \"terraform\"\n"
              "platforms        = [\"linux_amd64\", \"darwin_arm64\"]\n"
              "resolution       = \"per-call\"\n"
              "module_lock_file = \"sidecar\"\n"
              "deny_sources     = [\"git::ssh://*\"]\n"
              "allow_sources    = [\"git::https://*\"]\n"
              "roots = [\"a\", \"b/*\"]\nexclude = [\"b/c\"]\n"
              "module \"vpc.nested\" {\n"
              "  version    = \"~> 1.2\"\n"
              "  tag_prefix = \"nested/\"\n"
              "}\n"
              "source \"git::https://github.com/example/*\" {\n"
              "  minimum_release_age = \"72h\"\n"
              "  version             = \"~> 2.0\"\n"
              "  tag_prefix          = \"p/\"\n"
              "}\n");
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST(settings->implementation.value() == "terraform");
  BOOST_TEST(settings->platforms.size() == 2U);
  BOOST_TEST(settings->platforms[1].to_string() == "darwin_arm64");
  BOOST_TEST((settings->resolution == Resolution::per_call));
  BOOST_TEST((settings->uses_sidecar == true));
  BOOST_TEST(joined(settings->deny_sources) == "git::ssh://*");
  BOOST_TEST(to_string(settings->deny_sources[0].location) == ".tofu-modlock.hcl:6:21");
  BOOST_TEST(joined(settings->allow_lists.at(0).globs) == "git::https://*");
  BOOST_TEST(joined(settings->roots) == "a b/*");
  BOOST_TEST(joined(settings->exclude) == "b/c");
  const ModuleRule& module = settings->modules.at("vpc.nested");
  BOOST_TEST(module.version->text == "~> 1.2");
  BOOST_TEST(to_string(module.version->location) == ".tofu-modlock.hcl:11:16");
  BOOST_TEST(module.tag_prefix->text == "nested/");
  BOOST_TEST(to_string(module.location) == ".tofu-modlock.hcl:10:1");
  BOOST_TEST_REQUIRE(settings->sources.size() == 1U);
  BOOST_TEST(settings->sources[0].glob == "git::https://github.com/example/*");
  BOOST_TEST(settings->sources[0].minimum_release_age->text == "72h");
  BOOST_TEST(settings->sources[0].version->text == "~> 2.0");
  BOOST_TEST(settings->sources[0].tag_prefix->text == "p/");
}

BOOST_AUTO_TEST_CASE(nearer_files_win) {
  Setup setup;
  setup.write(kNear,
              "resolution = \"unified\"\nsource \"a\" {}\ndeny_sources = [\"near\"]\nallow_sources = [\"a*\"]\n"
              "fetch_timeout = \"2m\"\n");
  setup.write("live/.tofu-modlock.hcl",
              "resolution = \"auto\"\nimplementation = \"opentofu\"\nsource \"b\" {}\nsource \"c\" {}\n"
              "deny_sources = [\"middle\"]\n");
  setup.write(".tofu-modlock.hcl", "platforms = [\"linux_arm64\"]\nimplementation = \"terraform\"\n");
  setup.write(
      "user.hcl",
      "platforms = [\"linux_amd64\"]\nmodule_lock_file = \"inline\"\nsource \"a\" {}\nallow_sources = [\"*b\"]\n"
      "deny_sources = [\"far\"]\nfetch_timeout = \"5s\"\nbackend \"s3\" {\n  command = [\"prog\", \"x\"]\n}\n");
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST((settings->resolution == Resolution::unified));
  BOOST_TEST(settings->fetch_timeout.value().count() == 120);
  BOOST_TEST(settings->implementation.value() == "opentofu");
  BOOST_TEST(settings->platforms.at(0).to_string() == "linux_arm64");
  BOOST_TEST((settings->uses_sidecar == false));
  BOOST_TEST(joined(settings->deny_sources) == "near middle far");
  BOOST_TEST(joined(settings->allow_lists.at(0).globs) + " " + joined(settings->allow_lists.at(1).globs) == "a* *b");
  BOOST_TEST(settings->allow_lists.size() == 2U);
  std::string globs;
  for (const SourceRule& rule : settings->sources) {
    globs += rule.glob + "@" + std::to_string(rule.location.range->start.line) + " ";
  }
  BOOST_TEST(globs == "a@2 b@3 c@4 a@3 ");
  const std::string user = (setup.directory / "user.hcl").generic_string();
  const std::vector<std::string> files = {".tofu-modlock.hcl", "../.tofu-modlock.hcl", "../../.tofu-modlock.hcl", user};
  BOOST_TEST(settings->files == files, boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(settings->backends.size() == 1U);
  BOOST_TEST(settings->backends[0].scheme == "s3");
  BOOST_TEST(settings->backends[0].command.size() == 2U);
}

BOOST_AUTO_TEST_CASE(module_blocks_of_files_above_count_for_keys_that_no_nearer_file_has) {
  Setup setup;
  setup.write(kNear, "module \"a\" {\n  version = \"1.0\"\n}\n");
  setup.write("live/.tofu-modlock.hcl",
              "module \"a\" {\n  version = \"2.0\"\n}\nmodule \"b\" {\n  version = \"3.0\"\n}\n");
  setup.write("user.hcl", "source \"*\" {}\n");
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST(settings->modules.at("a").version->text == "1.0");
  BOOST_TEST(!settings->modules.at("a").is_inherited);
  BOOST_TEST(settings->modules.at("b").version->text == "3.0");
  BOOST_TEST(settings->modules.at("b").is_inherited);
  BOOST_TEST(settings->sources.at(0).of_user);
}

BOOST_AUTO_TEST_CASE(files_above_the_repository_are_not_read) {
  const TemporaryDirectory directory;
  directory.write(".tofu-modlock.hcl", "nonsense\n");
  directory.write("repo/root/.tofu-modlock.hcl", "resolution = \"auto\"\n");
  BOOST_TEST(load_settings(directory / "repo/root", directory / "repo", std::nullopt, {}).has_value());
  BOOST_TEST(load_settings(directory / "repo/root/", directory / "repo/root", std::nullopt, {}).has_value());
  BOOST_TEST(load_settings(directory / "repo/root", directory / "elsewhere", std::nullopt, {}).has_value());
  BOOST_TEST(!load_settings(directory / "repo/root", directory.path(), std::nullopt, {}).has_value());
}

BOOST_AUTO_TEST_CASE(documents_overlay_the_disk) {
  Setup setup;
  setup.write(kNear, "nonsense");
  const auto settings = load_settings(setup.directory / "live/prod", setup.directory.path(), std::nullopt,
                                      Documents{{{setup.directory / kNear, DocumentText("resolution = \"auto\"\n")}}});
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST((settings->resolution == Resolution::automatic));
}

BOOST_AUTO_TEST_CASE(errors) {
  struct Row {
    const char* name;
    const char* file;
    std::string_view text;
    ExpectedError error;
    std::string_view hint;
  };
  const std::string_view here = ".tofu-modlock.hcl";
  const std::string all_names = fmt::format("use one of \"{}\"", fmt::join(setting_names(""), "\", \""));
  const Row rows[] = {
      {"unknown setting, near",
       kNear,
       "\nplatfroms = []\n",
       {Code::config_parse, "unknown setting \"platfroms\" in .tofu-modlock.hcl:2", ".tofu-modlock.hcl:2:1"},
       "did you mean \"platforms\"?"},
      {"unknown setting",
       kNear,
       "x = 1\n",
       {Code::config_parse, "unknown setting \"x\" in .tofu-modlock.hcl:1", ".tofu-modlock.hcl:1:1"},
       all_names},
      {"deny without releases",
       kNear,
       "deny \"a/b/c\" {}\n",
       {Code::config_parse, "deny \"a/b/c\" names no releases", ".tofu-modlock.hcl:1:1"},
       "add versions, commits or digests; to deny the whole source, use deny_sources"},
      {"deny of a local path",
       kNear,
       "deny \"./a\" {\n  versions = \"1.0.0\"\n}\n",
       {Code::config_parse, "\"./a\" does not name a source: it is a local path", ".tofu-modlock.hcl:1:1"},
       "name a module source or a provider"},
      {"deny of a version in the label",
       kNear,
       "deny \"git::file:///a/b@1.1.0\" {\n  versions = \"1.1.0\"\n}\n",
       {Code::config_parse, "\"git::file:///a/b@1.1.0\" does not name a source: it has a release after @",
        ".tofu-modlock.hcl:1:1"},
       "name the release with versions, commits or digests"},
      {"deny with an invalid constraint",
       kNear,
       "deny \"a/b/c\" {\n  versions = \"newest\"\n}\n",
       {Code::config_parse,
        "\"newest\" is not a version constraint: item \"newest\" must be an optional operator (=, !=, >, >=, <, <=, "
        "~>) and a version",
        ".tofu-modlock.hcl:2:14"},
       "write it as a version constraint: \"= 2.1.0\" or \">= 2.1.0, < 2.1.3\""},
      {"deny of a short commit",
       kNear,
       "deny \"a/b/c\" {\n  commits = [\"8f2c0d\"]\n}\n",
       {Code::config_parse, "commits must not contain \"8f2c0d\"", ".tofu-modlock.hcl:2:14"},
       "write it as \"8f2c0d0b6c1f\", at least 7 digits"},
      {"deny of a short digest",
       kNear,
       "deny \"a/b/c\" {\n  digests = [\"sha256:00\"]\n}\n",
       {Code::config_parse, "digests must not contain \"sha256:00\"", ".tofu-modlock.hcl:2:14"},
       "write it as \"sha256:\" and 64 digits, or a hash of a lock file"},
      {"two near",
       kNear,
       "low_sources = []\n",
       {Code::config_parse, "unknown setting \"low_sources\" in .tofu-modlock.hcl:1", ".tofu-modlock.hcl:1:1"},
       "did you mean \"allow_sources\"?"},
      {"unknown block",
       kNear,
       "sources \"x\" {}\n",
       {Code::config_parse, "unknown block \"sources\" in .tofu-modlock.hcl:1", ".tofu-modlock.hcl:1:1"},
       "did you mean \"source\"?"},
      {"unknown in a block",
       kNear,
       "source \"x\" {\n  versions = \"1\"\n}\n",
       {Code::config_parse, "unknown setting of source \"x\": \"versions\" in .tofu-modlock.hcl:2",
        ".tofu-modlock.hcl:2:3"},
       "did you mean \"version\"?"},
      {"unknown in the user's file",
       "user.hcl",
       "implementatoin = \"opentofu\"\n",
       {},
       "did you mean \"implementation\"?"},
      {"implementation",
       kNear,
       "implementation = \"tofu\"\n",
       {Code::config_parse, "implementation must be \"opentofu\" or \"terraform\", found \"tofu\"",
        ".tofu-modlock.hcl:1:18"},
       ""},
      {"resolution",
       kNear,
       "resolution = \"none\"\n",
       {Code::config_parse, "resolution must be \"auto\" or \"unified\" or \"per-call\", found \"none\"",
        ".tofu-modlock.hcl:1:14"},
       ""},
      {"module_lock_file",
       kNear,
       "module_lock_file = \"x\"\n",
       {Code::config_parse, "module_lock_file must be \"inline\" or \"sidecar\", found \"x\"",
        ".tofu-modlock.hcl:1:20"},
       ""},
      {"platforms are no list",
       kNear,
       "platforms = \"linux_amd64\"\n",
       {Code::config_parse, "platforms must be a list of strings", ".tofu-modlock.hcl:1:13"},
       "write it as platforms = [\"\xE2\x80\xA6\"]"},
      {"platforms hold a number",
       kNear,
       "platforms = [1]\n",
       {Code::config_parse, "platforms must be a list of strings", ".tofu-modlock.hcl:1:13"},
       "write it as platforms = [\"\xE2\x80\xA6\"]"},
      {"no platform",
       kNear,
       "platforms = []\n",
       {Code::config_parse, "platforms must name one platform at least, found an empty list", ".tofu-modlock.hcl:1:13"},
       "write it as platforms = [\"linux_amd64\"], or leave it out"},
      {"wrong platform",
       kNear,
       "platforms = [\"linux_amd64\", \"linux/amd64\"]\n",
       {Code::config_parse, "a platform must be written as os_arch, found \"linux/amd64\"", ".tofu-modlock.hcl:1:29"},
       "write it as \"linux_amd64\""},
      {"platform with two separators",
       kNear,
       "platforms = [\"linux_amd_64\"]\n",
       {Code::config_parse, "a platform must be written as os_arch, found \"linux_amd_64\"", ".tofu-modlock.hcl:1:14"},
       "write it as \"linux_amd64\""},
      {"a glob of roots that leads up",
       kNear,
       "roots = [\"live\", \"../live\"]\n",
       {Code::config_parse, "a glob of roots must not contain \"..\", found \"../live\"", ".tofu-modlock.hcl:1:18"},
       "write it relative to the directory of this file, as in \"live/*\""},
      {"an absolute glob",
       "live/.tofu-modlock.hcl",
       "exclude = [\"/live\"]\n",
       {Code::config_parse, "a glob of exclude must not be an absolute path, found \"/live\"",
        "../.tofu-modlock.hcl:1:12"},
       "write it relative to the directory of this file, as in \"live/*\""},
      {"a glob of the user that leads up",
       "user.hcl",
       "exclude = [\"a/../..\"]\n",
       {},
       "write it relative to the directory of this file, as in \"live/*\""},
      {"globs are no list",
       kNear,
       "roots = \"live\"\n",
       {Code::config_parse, "roots must be a list of strings", ".tofu-modlock.hcl:1:9"},
       "write it as roots = [\"\xE2\x80\xA6\"]"},
      {"duration in years",
       kNear,
       "source \"x\" {\n  minimum_release_age = \"1y\"\n}\n",
       {Code::config_parse, "minimum_release_age must be a duration, found \"1y\"", ".tofu-modlock.hcl:2:25"},
       "write it in days, hours, minutes and seconds: \"3d\", \"72h\" or \"1h30m\""},
      {"age of a provider in years",
       kNear,
       "provider \"hashicorp/aws\" {\n  minimum_release_age = \"1y\"\n}\n",
       {Code::config_parse, "minimum_release_age must be a duration, found \"1y\"", ".tofu-modlock.hcl:2:25"},
       "write it in days, hours, minutes and seconds: \"3d\", \"72h\" or \"1h30m\""},
      {"setting of a source for a provider",
       kNear,
       "provider \"hashicorp/aws\" {\n  version = \"1.0\"\n}\n",
       {Code::config_parse, "unknown setting of provider \"hashicorp/aws\": \"version\" in .tofu-modlock.hcl:2",
        ".tofu-modlock.hcl:2:3"},
       "use one of \"minimum_release_age\""},
      {"provider without a path",
       kNear,
       "provider \"aws\" {}\n",
       {Code::config_parse, "\"aws\" does not name a source: it has no path", ".tofu-modlock.hcl:1:1"},
       "write it as in the configuration, for example terraform-aws-modules/vpc/aws"},
      {"module without key",
       kNear,
       "module {}\n",
       {Code::config_parse, "a module block needs one label, the key of a call", ".tofu-modlock.hcl:1:1"},
       "write module \"\xE2\x80\xA6\" { \xE2\x80\xA6 }"},
      {"source with two labels",
       kNear,
       "source \"a\" \"b\" {}\n",
       {Code::config_parse, "a source block needs one label, a glob", ".tofu-modlock.hcl:1:1"},
       "write source \"\xE2\x80\xA6\" { \xE2\x80\xA6 }"},
      {"block in a block",
       kNear,
       "source \"a\" {\n  b {}\n}\n",
       {Code::config_parse, "source \"a\" must not contain blocks, found \"b\"", ".tofu-modlock.hcl:2:3"},
       ""},
      {"module twice",
       kNear,
       "module \"a\" {}\nmodule \"a\" {}\n",
       {Code::config_parse, "module \"a\" is written twice in .tofu-modlock.hcl", ".tofu-modlock.hcl:2:1"},
       "merge the two blocks"},
      {"backend",
       kNear,
       "backend \"x\" {\n  command = [\"evil\"]\n}\n",
       {Code::source_denied,
        "a backend block starts a program, which a file in a repository must not do: found in .tofu-modlock.hcl:1",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"command in a file above",
       ".tofu-modlock.hcl",
       "\nsource \"x\" {\n  command = \"evil\"\n}\n",
       {Code::source_denied,
        "the setting \"command\" starts a program, which a file in a repository must not do: found in "
        "../../.tofu-modlock.hcl:3",
        "../../.tofu-modlock.hcl:3:3"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"a setting of one machine in a repository",
       kNear,
       "git_engine = \"git\"\n",
       {Code::config_parse, "git_engine is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"connections in a repository",
       kNear,
       "connections = 4\n",
       {Code::config_parse, "connections is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"memory of programs in a repository",
       kNear,
       "child_memory = \"1GiB\"\n",
       {Code::config_parse, "child_memory is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"a timeout that is none",
       kNear,
       "fetch_timeout = \"0s\"\n",
       {Code::config_parse, "fetch_timeout must be a duration from 1s to 10m, found \"0s\"", ".tofu-modlock.hcl:1:17"},
       "write it in minutes and seconds: \"30s\" or \"2m\""},
      {"workspace roots in a repository",
       kNear,
       "workspace_roots = [\"/\"]\n",
       {Code::config_parse, "workspace_roots is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"token realms in a repository",
       kNear,
       "oci_token_realms = [\"auth.example.com\"]\n",
       {Code::config_parse, "oci_token_realms is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"helpers of git in a repository",
       kNear,
       "git_helpers = [\"codecommit\"]\n",
       {Code::config_parse, "git_helpers is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"programs for credentials in a repository",
       kNear,
       "credential_programs = [\"aws\"]\n",
       {Code::config_parse, "credential_programs is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"a remote store in a repository",
       kNear,
       "remote_store = \"oci://registry.example.com/modules\"\n",
       {Code::config_parse, "remote_store is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"links of packages in a repository",
       kNear,
       "install = \"link\"\n",
       {Code::config_parse, "install is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"a module that is linked",
       kNear,
       "module \"vpc\" {\n  link = true\n}\n",
       {Code::config_parse, "link must be false, found true", ".tofu-modlock.hcl:2:10"},
       "remove it; to link packages, set install = \"link\" in your own configuration"},
      {"a source with a text as link",
       kNear,
       "source \"*\" {\n  link = \"false\"\n}\n",
       {Code::config_parse, "link must be false, found a string", ".tofu-modlock.hcl:2:10"},
       "remove it; to link packages, set install = \"link\" in your own configuration"},
      {"trusted dates in a repository",
       kNear,
       "trust_publication_dates = [\"registry.example.com\"]\n",
       {Code::config_parse, "trust_publication_dates is a setting of one machine, found in a file of a repository",
        ".tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"workspace roots above the root",
       ".tofu-modlock.hcl",
       "workspace_roots = [\"/\"]\n",
       {Code::config_parse, "workspace_roots is a setting of one machine, found in a file of a repository",
        "../../.tofu-modlock.hcl:1:1"},
       "move it to your own configuration, $XDG_CONFIG_HOME/tofu-modlock/config.hcl"},
      {"newer release",
       kNear,
       "required_version = \">= 99.0.0\"\nnever_heard_of = 1\n",
       {Code::lock_newer, ".tofu-modlock.hcl:1 requires tofu-modlock \">= 99.0.0\", this is 0.1.0",
        ".tofu-modlock.hcl:1:20"},
       "install a release of tofu-modlock that \">= 99.0.0\" allows"},
      {"required_version",
       kNear,
       "required_version = \"soon\"\n",
       {Code::config_parse, "required_version must be a version constraint, found \"soon\"", ".tofu-modlock.hcl:1:20"},
       "write it as \">= 0.1.0\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Setup setup;
      setup.write(row.file, row.text);
      const auto settings = setup.load();
      BOOST_TEST_REQUIRE(!settings.has_value());
      BOOST_TEST(settings.error().hint == row.hint);
      if (!row.error.message.empty()) {
        std::string message(row.error.message);
        if (const std::size_t version = message.find("this is 0.1.0"); version != std::string::npos) {
          message.replace(version + 8, 5, kVersion);
        }
        check_error(settings.error(), {row.error.code, message, row.error.place});
      }
    }
  }
  BOOST_TEST(here == kSettingsFileName);
}

BOOST_AUTO_TEST_CASE(syntax_and_types) {
  struct Row {
    const char* name;
    std::string_view text;
    Code code;
  };
  const Row rows[] = {
      {"syntax", "resolution = \"auto\n", Code::config_parse},
      {"number", "resolution = 1\n", Code::config_parse},
      {"null", "implementation = null\n", Code::config_parse},
      {"dynamic", "resolution = var.x\n", Code::config_non_static},
      {"dynamic list", "platforms = [var.x]\n", Code::config_non_static},
      {"version of a module is no string", "module \"a\" {\n  version = 1\n}\n", Code::config_parse},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Setup setup;
      setup.write(kNear, row.text);
      const auto settings = setup.load();
      BOOST_TEST_REQUIRE(!settings.has_value());
      BOOST_TEST((settings.error().code == row.code));
      BOOST_TEST((settings.error().location && settings.error().location->path == kSettingsFileName));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_backend_needs_a_command) {
  struct Row {
    const char* name;
    std::string_view text;
    std::string_view message;
  };
  const Row rows[] = {
      {"none", "backend \"x\" {}\n", "backend \"x\" lacks the argument \"command\""},
      {"empty", "backend \"x\" {\n  command = []\n}\n", "command must name a program, found none"},
      {"no list", "backend \"x\" {\n  command = \"p\"\n}\n", "command must be a list of strings"},
      {"no list of hosts", "backend \"git\" {\n  command = [\"p\"]\n  hosts = \"h\"\n}\n",
       "hosts must be a list of strings"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Setup setup;
      setup.write("user.hcl", row.text);
      const auto settings = setup.load();
      BOOST_TEST_REQUIRE(!settings.has_value());
      BOOST_TEST((settings.error().code == Code::config_parse));
      BOOST_TEST(settings.error().message == row.message);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_kind_has_one_backend) {
  Setup setup;
  setup.write("user.hcl",
              "backend \"git\" {\n  command = [\"a\"]\n  hosts = [\"a.example\"]\n}\n"
              "backend \"git\" {\n  command = [\"b\"]\n  hosts = [\"b.example\"]\n}\n");
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(!settings.has_value());
  BOOST_TEST(settings.error().message.starts_with("backend \"git\" is written twice in "));
  BOOST_TEST(settings.error().hint.text() == "one program serves all hosts of a kind: remove a block");
}

BOOST_AUTO_TEST_CASE(providers_of_all_files) {
  Setup setup;
  setup.write("user.hcl", "provider \"*\" {\n  minimum_release_age = \"7d\"\n}\n");
  setup.write(kNear, "provider \"hashicorp/aws\" {\n  minimum_release_age = \"3d\"\n}\n");
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST_REQUIRE(settings->providers.size() == 2U);
  BOOST_TEST(settings->providers[0].provider.text() == "hashicorp/aws");
  BOOST_TEST(settings->providers[0].minimum_release_age->text == "3d");
  BOOST_TEST(to_string(settings->providers[0].minimum_release_age->location) == ".tofu-modlock.hcl:2:25");
  BOOST_TEST(!settings->providers[0].of_user);
  BOOST_TEST(settings->providers[1].of_user);
}

BOOST_AUTO_TEST_CASE(signatures_are_demanded_with_keys) {
  Setup setup;
  setup.write("user.hcl", "source \"*\" {\n  signed_by_openpgp = \"/outside/keys.asc\"\n}\n");
  setup.write(kNear, "source \"a\" {\n  signed_by_ssh = \"../signers\"\n  signed_object = \"commit\"\n}\n");
  const auto settings = setup.load();
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST_REQUIRE(settings->sources.size() == 2U);
  const auto& near = settings->sources[0].signature;
  BOOST_TEST_REQUIRE(near.has_value());
  BOOST_TEST(!near->is_openpgp);
  BOOST_TEST(near->of_commit);
  BOOST_TEST(near->path == setup.directory / "live/signers");
  BOOST_TEST(to_string(near->file.location) == ".tofu-modlock.hcl:2:19");
  const auto& users = settings->sources[1].signature;
  BOOST_TEST_REQUIRE(users.has_value());
  BOOST_TEST(users->is_openpgp);
  BOOST_TEST(!users->of_commit);
  BOOST_TEST(users->path == "/outside/keys.asc");
}

BOOST_AUTO_TEST_CASE(invalid_demands_of_signatures) {
  struct Row {
    const char* name;
    const char* file;
    std::string_view argument;
    std::string_view error;
  };
  const Row rows[] = {
      {"both formats", kNear, "signed_by_ssh = \"a\"\n  signed_by_openpgp = \"b\"",
       "CONFIG_PARSE: signed_by_ssh and signed_by_openpgp exclude each other"},
      {"no keys", kNear, "signed_object = \"tag\"",
       "CONFIG_PARSE: signed_object needs signed_by_ssh or signed_by_openpgp"},
      {"unknown object", kNear, "signed_by_ssh = \"a\"\n  signed_object = \"tree\"",
       "CONFIG_PARSE: signed_object must be \"tag\" or \"commit\", found \"tree\""},
      {"keys of a checkout outside of it", kNear, "signed_by_ssh = \"/outside/a\"",
       "PATH_OUTSIDE_ROOT: the key file \"/outside/a\" is outside of the repository"},
      {"a link out of the checkout", kNear, "signed_by_ssh = \"link\"",
       "PATH_OUTSIDE_ROOT: the key file \"link\" is outside of the repository"},
      {"keys of a checkout in the directory of git", kNear, "signed_by_ssh = \"../../.git/a\"",
       "PATH_OUTSIDE_ROOT: the key file \"../../.git/a\" is outside of the repository"},
      {"keys of the user in the checkout", "user.hcl", "signed_by_ssh = \"a\"",
       "PATH_OUTSIDE_ROOT: the key file \"a\" is inside of the repository"},
      {"keys of the user in the directory of git", "user.hcl", "signed_by_ssh = \".git/a\"",
       "PATH_OUTSIDE_ROOT: the key file \".git/a\" is inside of the repository"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Setup setup;
      setup.write(row.file, "source \"x\" {\n  " + std::string(row.argument) + "\n}\n");
      fs::create_directories(setup.directory / "live/prod");
      fs::create_symlink("/etc/hosts", setup.directory / "live/prod/link");
      const auto settings = setup.load();
      BOOST_TEST_REQUIRE(!settings.has_value());
      BOOST_TEST(std::string(to_string(settings.error().code)) + ": " + settings.error().message == row.error);
    }
  }
}

BOOST_AUTO_TEST_CASE(this_release_is_accepted) {
  for (const std::string constraint : {">= 0.1.0", "~> 0.1", "!= 0.0.9"}) {
    Setup setup;
    setup.write(kNear, "required_version = \"" + constraint + "\"\n");
    BOOST_TEST(setup.load().has_value(), constraint);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(duration)

BOOST_AUTO_TEST_CASE(weeks_days_hours_minutes_and_seconds) {
  struct Row {
    std::string_view text;
    std::optional<std::int64_t> seconds;
  };
  const Row rows[] = {
      {"72h", 259200},   {"30m", 1800}, {"45s", 45},     {"1h30m", 5400},   {"1.5h", 5400},   {".5m", 30},
      {"1.h", 3600},     {"0", 0},      {"0s", 0},       {"1.9s", 1},       {"1h1h", 7200},   {"2562047h", 9223369200},
      {"", {}},          {"h", {}},     {"72", {}},      {"7d", 604800},    {"-1h", {}},      {"+1h", {}},
      {"1 h", {}},       {"1h ", {}},   {"1.2.3h", {}},  {".h", {}},        {"500ms", {}},    {"1e3s", {}},
      {"99999999h", {}}, {"1H", {}},    {"2w", 1209600}, {"1d12h", 129600}, {"1.5d", 129600}, {"1D", {}},
      {"1 d", {}},       {"0x10s", {}}, {"1m30", {}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto duration = parse_duration(row.text);
      BOOST_TEST_REQUIRE(duration.has_value() == row.seconds.has_value());
      if (duration) {
        BOOST_TEST(duration->count() == *row.seconds);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
