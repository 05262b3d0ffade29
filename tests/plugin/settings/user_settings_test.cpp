// The settings of a user, which are one file.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "plugin/settings/setting_table.h"
#include "plugin/settings/settings.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(user_settings)

BOOST_AUTO_TEST_CASE(the_file_is_read_alone) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  const auto nothing = load_user_settings(file);
  BOOST_TEST_REQUIRE(nothing.has_value());
  BOOST_TEST(!nothing->git_engine.has_value());
  write_text(file,
             "git_engine = \"libgit2\"\nbackend \"hg\" {\n  command = [\"/usr/bin/x\", \"-v\"]\n}\n"
             "backend \"git\" {\n  command = [\"x\"]\n  hosts = [\"a.example\", \"b.example\"]\n}\n");
  const auto settings = load_user_settings(file);
  BOOST_TEST_REQUIRE(settings.has_value());
  BOOST_TEST(settings->git_engine.value() == "libgit2");
  BOOST_TEST(settings->backends.at(0).command.at(1) == "-v");
  BOOST_TEST(settings->backends.at(0).hosts.empty());
  BOOST_TEST(settings->backends.at(1).hosts.at(1) == "b.example");
  write_text(file, "git_engine = \"svn\"\n");
  const auto wrong = load_user_settings(file);
  BOOST_TEST_REQUIRE(!wrong.has_value());
  BOOST_TEST(wrong.error().message ==
             "git_engine must be \"auto\" or \"in-process\" or \"libgit2\" or \"git\", found \"svn\"");
}

// 0.2.0 had remote_write.
BOOST_AUTO_TEST_CASE(a_setting_of_an_older_version_is_ignored) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  for (const auto& [value, advice] :
       {std::pair("true", "; to push packages, run: tofu-modlock bundle push --recursive"),
        std::pair("false", ": remove it")}) {
    write_text(file, fmt::format("git_engine = \"git\"\nremote_write = {}\n", value));
    const auto settings = load_user_settings(file);
    BOOST_TEST_REQUIRE(settings.has_value());
    BOOST_TEST(settings->git_engine.value() == "git");
    BOOST_TEST_REQUIRE(settings->ignored.size() == 1U);
    BOOST_TEST(settings->ignored[0] == fmt::format("remote_write in {}:2 is ignored{}", file.string(), advice));
  }
  write_text(file, "git_engine = \"git\"\n");
  BOOST_TEST(load_user_settings(file).value().ignored.empty());
  write_text(file, "remote_write = 1\n");
  BOOST_TEST(load_user_settings(file).error().message == "remote_write must be true or false, found a number");
  write_text(directory / ".tofu-modlock.hcl", "remote_write = false\n");
  BOOST_TEST(load_directory_settings(directory.path(), directory.path())
                 .error()
                 .message.starts_with("unknown setting \"remote_write\""));
}

BOOST_AUTO_TEST_CASE(workspace_roots_are_absolute) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  write_text(file, "workspace_roots = [\"/srv/modules\", \"/srv/x/../common\"]\n");
  const std::vector<fs::path> roots = {"/srv/modules", "/srv/common"};
  BOOST_TEST(load_user_settings(file).value().workspace_roots == roots, boost::test_tools::per_element());
  struct Row {
    const char* text;
    const char* message;
    const char* hint;
  };
  for (const Row& row :
       {Row{"[\"/srv\", \"modules\"]", "a workspace root must be an absolute path, found \"modules\"",
            "write it as \"/srv/modules\""},
        Row{"[\"\"]", "a workspace root must be an absolute path, found \"\"", "write it as \"/srv/modules\""},
        Row{"[\"~/modules\"]", "a workspace root must be an absolute path, found \"~/modules\"",
            "write it as \"/srv/modules\""},
        Row{"\"/srv\"", "workspace_roots must be a list of strings", "write it as workspace_roots = [\"…\"]"}}) {
    BOOST_TEST_CONTEXT(row.text) {
      write_text(file, std::string("workspace_roots = ") + row.text + "\n");
      const auto settings = load_user_settings(file);
      BOOST_TEST_REQUIRE(!settings.has_value());
      BOOST_TEST(to_string(settings.error().code) == "CONFIG_PARSE");
      BOOST_TEST(settings.error().message == row.message);
      BOOST_TEST(settings.error().hint == row.hint);
    }
  }
}

// tests/e2e/replace_test.cpp has what is rejected.
BOOST_AUTO_TEST_CASE(directories_in_place_of_packages) {
  const TemporaryDirectory directory;
  write_text(directory / "config.hcl", "source \"git::*\" {\n  replace = \"/src/vpc\"\n}\n");
  Settings settings = load_user_settings(directory / "config.hcl").value();
  BOOST_TEST(settings.sources.at(0).replace.value().text == "/src/vpc");
  settings.modules["vpc"].version = SourceText{"~> 1.0", {}};
  write_text(directory / ".tofu-modlock.local.hcl",
             "module \"vpc\" {\n  replace = \"../vpc\"\n}\nmodule \"vpc.nested\" {\n  replace = \"../nested\"\n}\n");
  BOOST_REQUIRE(load_replacements(directory.path(), settings).has_value());
  BOOST_TEST(settings.modules.at("vpc").version.value().text == "~> 1.0");
  BOOST_TEST(settings.modules.at("vpc").replace.value().text == "../vpc");
  BOOST_TEST(settings.modules.at("vpc.nested").replace.value().text == "../nested");
}

BOOST_AUTO_TEST_CASE(token_realms_are_hosts) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  write_text(file, "oci_token_realms = [\"auth.example.com\", \"Bücher.example\"]\n");
  const std::vector<std::string> realms = {"auth.example.com", "xn--bcher-kva.example"};
  BOOST_TEST(load_user_settings(file).value().oci_token_realms == realms, boost::test_tools::per_element());
  for (const char* wrong : {"", "*", "https://auth.example.com", "auth.example.com/token", "auth.example.com:8443"}) {
    BOOST_TEST_CONTEXT(wrong) {
      write_text(file, fmt::format("oci_token_realms = [\"{}\"]\n", wrong));
      const auto settings = load_user_settings(file);
      BOOST_TEST_REQUIRE(!settings.has_value());
      BOOST_TEST(to_string(settings.error().code) == "CONFIG_PARSE");
      BOOST_TEST(settings.error().message ==
                 fmt::format("a token realm must be the name of a host, found \"{}\"", wrong));
      BOOST_TEST(settings.error().hint == "write it as \"auth.example.com\"");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_only_helper_of_git_is_codecommit) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  write_text(file, "git_helpers = [\"codecommit\"]\n");
  BOOST_TEST(load_user_settings(file).value().git_helpers == std::vector<std::string>{"codecommit"},
             boost::test_tools::per_element());
  for (const char* wrong : {"", "ext", "hg", "codecommit::us-east-1"}) {
    BOOST_TEST_CONTEXT(wrong) {
      write_text(file, fmt::format("git_helpers = [\"{}\"]\n", wrong));
      const auto settings = load_user_settings(file);
      BOOST_TEST_REQUIRE(!settings.has_value());
      BOOST_TEST(to_string(settings.error().code) == "CONFIG_PARSE");
      BOOST_TEST(settings.error().message ==
                 fmt::format("git_helpers may contain only \"codecommit\", found \"{}\"", wrong));
    }
  }
}

BOOST_AUTO_TEST_CASE(programs_for_credentials_are_known_ones) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  write_text(file, "credential_programs = [\"gcloud\", \"aws\"]\n");
  const std::vector<std::string> programs = {"gcloud", "aws"};
  BOOST_TEST(load_user_settings(file).value().credential_programs == programs, boost::test_tools::per_element());
  for (const char* wrong : {"", "AWS", "/usr/bin/aws", "aws sso", "az"}) {
    BOOST_TEST_CONTEXT(wrong) {
      write_text(file, fmt::format("credential_programs = [\"{}\"]\n", wrong));
      const auto settings = load_user_settings(file);
      BOOST_TEST_REQUIRE(!settings.has_value());
      BOOST_TEST(to_string(settings.error().code) == "CONFIG_PARSE");
      BOOST_TEST(settings.error().message ==
                 fmt::format("credential_programs may contain only \"aws\" and \"gcloud\", found \"{}\"", wrong));
    }
  }
}

BOOST_AUTO_TEST_CASE(registries_with_trusted_dates_are_hosts) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  const auto trusted = [&](const std::string& text) {
    write_text(file, text);
    return load_user_settings(file).value().trust_publication_dates.value();
  };
  BOOST_TEST(trusted("trust_publication_dates = []\n").empty());
  const std::vector<std::string> hosts = {"bücher.example:8443", "registry.opentofu.org"};
  BOOST_TEST(trusted("trust_publication_dates = [\"Bücher.example:8443\", \"registry.opentofu.org:443\"]\n") == hosts,
             boost::test_tools::per_element());
  write_text(file, "trust_publication_dates = [\"https://registry.example.com\"]\n");
  const auto wrong = load_user_settings(file);
  BOOST_TEST_REQUIRE(!wrong.has_value());
  BOOST_TEST(wrong.error().message ==
             "trust_publication_dates must name registry hosts, found \"https://registry.example.com\"");
}

BOOST_AUTO_TEST_CASE(a_module_block_is_refused) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  write_text(file, "module \"a\" {}\n");
  const auto settings = load_user_settings(file);
  BOOST_TEST_REQUIRE(!settings.has_value());
  BOOST_TEST(settings.error().message ==
             "a module block belongs in a .tofu-modlock.hcl of the repository, found one in " + file.generic_string() +
                 ":1");
}

BOOST_AUTO_TEST_CASE(a_flag_wins_over_every_file) {
  struct Row {
    const char* name;
    std::vector<std::string> values;
    const char* files;     // in both files, the values of settings of a machine only in that of the user
    const char* in_force;  // SettingInfo::Access::print
  };
  const TemporaryDirectory directory;
  for (const Row& row : {
           Row{"fetch_timeout", {"7s"}, "fetch_timeout = \"5s\"\n", "7s"},
           Row{"fetch_timeout", {}, "fetch_timeout = \"5s\"\n", "5s"},
           Row{"connections", {"3"}, "connections = 5\n", "3"},
           Row{"git_engine", {"git"}, "git_engine = \"in-process\"\n", "git"},
           Row{"unlocked_sources", {"a\"${b", "c*"}, "unlocked_sources = [\"d\"]\n", "a\"${b, c*, d, d"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const SettingInfo& setting = *find_setting(row.name);
      Settings overrides;
      if (!row.values.empty()) {
        BOOST_TEST(override_setting(setting, row.values, overrides).has_value());
      }
      write_text(directory / "user.hcl", row.files);
      write_text(directory / "root/.tofu-modlock.hcl", setting.file == SettingInfo::File::user ? "" : row.files);
      const auto settings =
          load_settings(directory / "root", directory / "root", directory / "user.hcl", {}, std::move(overrides));
      BOOST_TEST_REQUIRE(settings.has_value());
      BOOST_TEST(setting.access.print(setting, *settings) == row.in_force);
    }
  }
  Settings overrides;
  const auto wrong = override_setting(*find_setting("fetch_timeout"), {"\"0s"}, overrides);
  BOOST_TEST_REQUIRE(!wrong.has_value());
  BOOST_TEST(wrong.error().message == "--fetch-timeout must be a duration from 1s to 10m, found \"\"0s\"");
  BOOST_TEST(wrong.error().hint == "write it in minutes and seconds: 30s or 2m");
}

BOOST_AUTO_TEST_CASE(limits_of_programs_have_units) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  for (const auto& [text, expected] : {std::pair("1s", 1), std::pair("10m", 600), std::pair("1m30s", 90)}) {
    write_text(file, fmt::format("fetch_timeout = \"{}\"\n", text));
    BOOST_TEST(load_user_settings(file).value().fetch_timeout.value().count() == expected);
  }
  for (const auto& [text, expected] :
       {std::pair("64MiB", std::uint64_t{64} << 20U), std::pair("2GiB", std::uint64_t{2} << 30U)}) {
    write_text(file, fmt::format("child_memory = \"{}\"\n", text));
    BOOST_TEST(load_user_settings(file).value().child_memory.value() == expected);
  }
  for (const char* wrong : {"", "0s", "601s", "-1s", "30", "soon"}) {
    write_text(file, fmt::format("fetch_timeout = \"{}\"\n", wrong));
    const auto settings = load_user_settings(file);
    BOOST_TEST_REQUIRE(!settings.has_value(), wrong);
    BOOST_TEST(settings.error().message ==
               fmt::format("fetch_timeout must be a duration from 1s to 10m, found \"{}\"", wrong));
  }
  for (const char* wrong : {"", "63MiB", "512", "512MB", "1.5GiB", "-1GiB", "17179869185GiB", "MiB"}) {
    write_text(file, fmt::format("child_memory = \"{}\"\n", wrong));
    const auto settings = load_user_settings(file);
    BOOST_TEST_REQUIRE(!settings.has_value(), wrong);
    BOOST_TEST(settings.error().message ==
               fmt::format("child_memory must be a size of at least 64MiB, found \"{}\"", wrong));
    BOOST_TEST(settings.error().hint == "write it in MiB or GiB: \"512MiB\"");
  }
}

BOOST_AUTO_TEST_CASE(connections_are_counted) {
  const TemporaryDirectory directory;
  const fs::path file = directory / "config.hcl";
  for (const auto& [text, expected] : {std::pair("1", 1U), std::pair("64", 64U)}) {
    write_text(file, std::string("connections = ") + text + "\n");
    BOOST_TEST(load_user_settings(file).value().connections.value() == expected);
  }
  const std::string needed = "connections must be a whole number from 1 to 64, found ";
  for (const auto& [text, found] : {std::pair("0", "0"), std::pair("65", "65"), std::pair("2.5", "2.5"),
                                    std::pair("-1", "-1"), std::pair("99999999999999999999", "99999999999999999999"),
                                    std::pair("\"8\"", "a string"), std::pair("null", "null")}) {
    write_text(file, std::string("connections = ") + text + "\n");
    const auto settings = load_user_settings(file);
    BOOST_TEST_REQUIRE(!settings.has_value());
    BOOST_TEST(settings.error().message == needed + found);
    BOOST_TEST(settings.error().location.value().range.value().start.column == 15U);
  }
}

BOOST_AUTO_TEST_SUITE_END()
