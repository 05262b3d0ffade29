// Why a module has its version, from outside.

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A module whose nested call and a call of the root share a repository.
struct Explained : Scene {
  Explained() : vpc(repository("vpc.git")), zone(repository("zone.git")) {
    for (const char* version : {"1.0.0", "1.1.0", "1.2.0", "2.0.0"}) {
      release(zone, version);
    }
    vpc.commit({{"main.tf", module_call("nested", "git::" + zone.url())}});
    vpc.tag("v3.0.0");
    write("main.tf",
          module_call("vpc", "git::" + vpc.url() + "?ref=v3.0.0") + module_call("zone", "git::" + zone.url()));
    write(".tofu-modlock.hcl", module_rule("vpc.nested", "~> 1.0") + module_rule("zone", "!= 1.2.0"));
  }
  GitRepository& vpc;
  GitRepository& zone;
};

// First sights happen when the test runs.
std::string without_times(std::string text) {
  for (std::size_t at = text.find("20"); at != std::string::npos; at = text.find("20", at + 2)) {
    if (text.size() >= at + 20 && text[at + 4] == '-' && text[at + 10] == 'T' && text[at + 19] == 'Z') {
      text.replace(at, 20, "<time>");
    }
  }
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(explain, Explained)

BOOST_AUTO_TEST_CASE(nested_call_is_explained_with_files_and_lines) {
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  release(zone, "1.3.0");
  const Ran ran = modlock({"explain", "module.vpc.nested"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(without_times(ran.out) ==
             "module.vpc.nested  1.1.0\n"
             "  source      git::file://<dir>/repositories/zone.git\n"
             "  found as    refs/tags/v1.1.0\n"
             "  commit      <1.1.0>\n"
             "  first seen  <time>\n"
             "  claimed     <time>\n"
             "  because     it was selected for \"~> 1.0\" when it was locked, and the constraints allow it\n"
             "\n"
             "  ~> 1.0  module.vpc.nested  at .tofu-modlock.hcl:2:13\n"
             "    keeps 1.3.0, 1.2.0, 1.1.0, 1.0.0\n"
             "    rejects 2.0.0: \"~> 1.0\" excludes it\n"
             "\n"
             "  != 1.2.0  module.zone  at .tofu-modlock.hcl:5:13\n"
             "    keeps 1.3.0, 1.1.0, 1.0.0\n"
             "    rejects 1.2.0: \"!= 1.2.0\" excludes it\n"
             "\n"
             "  locked: 1.1.0  at .terraform.lock.hcl:13:1\n"
             "    keeps 1.1.0\n"
             "    rejects 1.3.0: newer; only upgrade selects it\n"
             "    rejects 1.0.0: older\n");
}

BOOST_AUTO_TEST_CASE(explained_as_json_before_anything_is_locked) {
  const Json::Value result = json({"explain", "module.zone"});
  BOOST_TEST(result["subject"].asString() == "module.zone");
  BOOST_TEST(result["selected"]["version"].asString() == "1.1.0");
  BOOST_TEST(shown(result["selected"]["commit"].asString()) == "<1.1.0>");
  BOOST_TEST(result["selected"]["hashes"].size() == 2U);
  BOOST_TEST(without_times(result["selected"]["firstSeen"].asString()) == "<time>");
  BOOST_TEST(result["selected"]["reason"].asString() == "it is the newest remaining version");
  BOOST_REQUIRE(result["chain"].size() == 2U);
  const Json::Value& own = result["chain"][0];
  BOOST_TEST(own["constraint"].asString() == "!= 1.2.0");
  BOOST_TEST(own["location"]["path"].asString() == ".tofu-modlock.hcl");
  BOOST_TEST(own["location"]["range"]["start"]["line"].asUInt() == 5U);
  BOOST_TEST(own["kept"].size() == 3U);
  BOOST_TEST(own["rejected"][0]["version"].asString() == "1.2.0");
  BOOST_TEST(own["rejected"][0]["why"].asString() == "\"!= 1.2.0\" excludes it");
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(explained_offline_from_what_is_there) {
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const Ran ran = modlock({"explain", "--offline", "module.zone"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out.find("module.zone  1.1.0\n") == 0U, ran.out);
  BOOST_TEST(ran.out.find("  first seen  20") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_CASE(the_root_may_be_named_before_the_subject) {
  write("main.tf", "");
  for (const std::vector<std::string>& named :
       {std::vector<std::string>{"--chdir", root().string()}, std::vector<std::string>{"--chdir=" + root().string()}}) {
    std::vector<std::string> arguments = {"explain"};
    arguments.insert(arguments.end(), named.begin(), named.end());
    arguments.emplace_back("module.absent");
    const Ran ran = modlock(arguments);
    BOOST_TEST(ran.err.find("matches no module call") != std::string::npos, ran.err);
    BOOST_TEST(ran.err.find("At Most") == std::string::npos, ran.err);
  }
}

BOOST_AUTO_TEST_CASE(a_conflict_is_explained) {
  write(".tofu-modlock.hcl", module_rule("vpc.nested", "~> 1.0") + module_rule("zone", "~> 2.0"));
  BOOST_REQUIRE(modlock({"lock"}).exit_code == 6);
  const Ran ran = modlock({"explain", "module.zone"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err == "");
  BOOST_TEST(
      ran.out ==
      "module.zone\n"
      "  source      git::file://<dir>/repositories/zone.git\n"
      "  because     no version satisfies all constraints of the calls that share it; change one of them, or set "
      "resolution = \"per-call\" in .tofu-modlock.hcl\n"
      "\n"
      "  ~> 2.0  module.zone  at .tofu-modlock.hcl:5:13\n"
      "    keeps 2.0.0\n"
      "    rejects 1.2.0, 1.1.0, 1.0.0: \"~> 2.0\" excludes it\n"
      "\n"
      "  ~> 1.0  module.vpc.nested  at .tofu-modlock.hcl:2:13\n"
      "    keeps nothing\n"
      "    rejects 2.0.0: \"~> 1.0\" excludes it\n");
  const Ran other = modlock({"explain", "module.vpc"});
  BOOST_TEST(other.exit_code == 6);
  BOOST_TEST(other.err.find("[CONSTRAINT_CONFLICT]") != std::string::npos, other.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

BOOST_AUTO_TEST_CASE(explain_needs_a_subject_that_is_one) {
  for (const char* subject : {"module.other", "other"}) {
    const Ran ran = modlock({"explain", subject});
    BOOST_TEST(ran.exit_code == 2, ran.out);
    BOOST_TEST(ran.err.find("matches no module call") != std::string::npos, ran.err);
  }
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"explain"}, {"explain", ""}}) {
    const Ran ran = modlock(arguments);
    BOOST_TEST(ran.exit_code == 2);
    BOOST_TEST(ran.err.find("the subject is missing") != std::string::npos, ran.err);
  }
  BOOST_TEST(modlock({"explain", "module.zone", "--credentials", "example.com"}).exit_code == 2);
}

BOOST_AUTO_TEST_CASE(links_of_a_checkout_select_no_credentials) {
  write_text(path("home/work.conf"), "[credential]\n\thelper = work\n");
  write_text(path("home/.gitconfig"), "[includeIf \"gitdir:" + path("work").string() + "/\"]\n\tpath = work.conf\n");
  fs::create_directories(path("work/modules/m"));
  const auto shows_work = [&] {
    const Ran ran = modlock({"explain", "--credentials", "example.com"});
    BOOST_TEST(ran.exit_code == 0, ran.err);
    return ran.out.find("work.conf: asked by git") != std::string::npos;
  };
  fs::create_directory_symlink(path("work"), root() / ".terraform");
  BOOST_TEST(!shows_work());
  fs::remove(root() / ".terraform");
  fs::create_directories(root() / ".terraform/modules");
  fs::create_directory_symlink(path("work/modules/m"), root() / ".terraform/modules/m");
  BOOST_TEST(!shows_work());
  environment["TF_DATA_DIR"] = path("work").string();
  BOOST_TEST(shows_work());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
