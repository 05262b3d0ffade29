#include <boost/test/unit_test.hpp>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"

using namespace modlock;
using namespace modlock::test;

BOOST_FIXTURE_TEST_SUITE(cache_command, Scene)

BOOST_AUTO_TEST_CASE(what_was_just_used_is_not_pruned) {
  const Ran ran = modlock({"cache", "prune", "--max-bytes", "1KiB", "--max-age", "0", "--json"});
  BOOST_TEST(ran.err == "");
  BOOST_TEST(ran.exit_code == 0);
  const Json::Value result = parse_json(ran.out).value();
  BOOST_TEST(result["removed"]["packages"].asInt() == 0);
  BOOST_TEST(result["removed"]["leftovers"].asInt() == 0);
}

BOOST_AUTO_TEST_CASE(the_table_says_what_went_and_what_is_left) {
  const Ran ran = modlock({"cache", "prune"});
  BOOST_TEST(ran.err == "");
  BOOST_TEST(ran.out.substr(ran.out.find('\n') + 1) ==
             "Removed:\n  0 packages, 0 KiB\n  0 git repositories, 0 KiB\n  0 records, 0 KiB\n"
             "  unfinished work, 0 KiB\n  0 leftovers\n"
             "Left:\n  0 packages, 0 KiB\n  0 git repositories, 0 KiB\n  0 records, 0 KiB\n"
             "  unfinished work, 0 KiB\n");
}

BOOST_AUTO_TEST_CASE(a_limit_must_be_readable) {
  const Ran age = modlock({"cache", "prune", "--max-age", "a month"});
  BOOST_TEST(age.exit_code == 2);
  BOOST_TEST(age.err.find("the maximum age must be a duration, found \"a month\"") != std::string::npos);
  for (const char* size :
       {"much", "-1", "-1KiB", " -1", "99999999999999999999", "18446744073709551616", "17179869184GiB", "1.5GiB", ""}) {
    BOOST_TEST_CONTEXT(size) {
      const Ran bytes = modlock({"cache", "prune", "--max-bytes", size});
      BOOST_TEST(bytes.exit_code == 2);
      BOOST_TEST(bytes.out == "");
    }
  }
  BOOST_TEST(modlock({"cache", "prune", "--max-bytes", "18446744073709551615"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(the_directory_of_an_older_layout_is_not_read_and_is_removed) {
  GitRepository& vpc = repository("vpc");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  std::filesystem::rename(cache() / "v2", cache() / "v1");
  const Ran missed = modlock({"install", "--offline"});
  BOOST_TEST(missed.exit_code == 7);
  BOOST_TEST(missed.err.find("[OFFLINE_MISS]") != std::string::npos, missed.err);
  BOOST_TEST((json({"cache", "info"})["sizes"]["packages"] == 0));
  BOOST_TEST(json({"cache", "prune"})["removed"]["leftovers"].asInt() == 1);
  BOOST_TEST(!std::filesystem::exists(cache() / "v1"));
}

BOOST_AUTO_TEST_CASE(commands_that_need_no_cache_work_without_a_usable_home_directory) {
  GitRepository& vpc = repository("vpc");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  write_text(path("file"), "");
  std::filesystem::create_symlink("loop", path("loop"));
  for (const char* name : {"TOFU_MODLOCK_CACHE_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}) {
    environment.erase(name);
  }
  struct Row {
    const char* name;
    std::string home;
    std::string reason;
  };
  const Row rows[] = {
      {"a file", path("file").string(), "cannot make the directory \"<dir>/file\": File exists"},
      {"missing, and cannot be made", "/proc/none",
       "cannot make the directory \"/proc/none\": No such file or directory"},
      {"cannot be reached", path("loop").string(), "cannot make the directory \"<dir>/loop\": File exists"},
  };
  for (const Row& row : rows) {
    environment["HOME"] = row.home;
    BOOST_TEST_CONTEXT(row.name) {
      for (const std::vector<std::string>& command :
           std::vector<std::vector<std::string>>{{"verify"},
                                                 {"status"},
                                                 {"inspect"},
                                                 {"graph"},
                                                 {"sbom"},
                                                 {"explain", "--find", "git::" + vpc.url() + "=1.0.0"}}) {
        const Ran ran = modlock(command);
        BOOST_TEST(ran.exit_code == 0, command[0] << ran.out << ran.err);
        BOOST_TEST(ran.err.find("IO_ERROR") == std::string::npos, command[0] << ran.err);
      }
      for (const char* command : {"lock", "install"}) {
        const Ran ran = modlock({command});
        BOOST_TEST(ran.exit_code == 1, command);
        BOOST_TEST(ran.err.find("Error: " + row.reason + " [IO_ERROR]") == 0U, ran.err);
        BOOST_TEST(ran.err.find("\n  hint: name a directory that can be written with --cache-dir or "
                                "TOFU_MODLOCK_CACHE_DIR\n") != std::string::npos,
                   ran.err);
      }
      const Ran doctor = modlock({"doctor"});
      BOOST_TEST(doctor.out.find("settings      ok       ") != std::string::npos, doctor.out << doctor.err);
      BOOST_TEST(doctor.out.find("cache         error    cannot ") != std::string::npos, doctor.out);
      BOOST_TEST(doctor.out.find("hint: make it writable for this user, or name another with --cache-dir or "
                                 "TOFU_MODLOCK_CACHE_DIR\n") != std::string::npos,
                 doctor.out);
      BOOST_TEST(modlock({"install", "--cache-dir", cache().string()}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(repositories_lie_under_the_hash_of_their_url) {
  GitRepository& vpc = repository("vpc");
  release(vpc, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + vpc.url() + "?ref=v1.0.0"));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(cache() / "v2/git")) {
    names.push_back(entry.path().filename().string());
  }
  BOOST_REQUIRE(names.size() == 1U);
  BOOST_TEST(names[0].size() == 64U);
  BOOST_TEST(names[0].find_first_not_of("0123456789abcdef") == std::string::npos, names[0]);
}

BOOST_AUTO_TEST_SUITE_END()
