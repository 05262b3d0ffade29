// What stock clients do with what is locked, as docs/clients.md says it.

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;

// A root that is locked to 1.0.0 and installed, where its source has 1.1.0 by now.
struct Compatible : Scene {
  Compatible() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    environment["TF_IN_AUTOMATION"] = "1";
    BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
    release(vpc, "1.1.0");
  }
  void take_the_origin_away() const { fs::rename(repositories(), path("moved away")); }
  void bring_it_back() const {
    if (fs::exists(path("moved away"))) {
      fs::rename(path("moved away"), repositories());
    }
  }
  Ran client(const std::string& name, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), name);
    arguments.emplace_back("-no-color");
    return program(std::move(arguments));
  }
  std::string installed(const std::string& data = ".terraform") const {
    const std::string text = read(data + "/modules/vpc/main.tf");
    return text.find("1.1.0") != std::string::npos ? "1.1.0" : text.find("1.0.0") != std::string::npos ? "1.0.0" : text;
  }
  // A fresh start for each client.
  void reinstall() const {
    bring_it_back();
    fs::remove_all(root() / ".terraform");
    BOOST_REQUIRE(modlock({"install"}).exit_code == 0);
  }
  GitRepository& vpc;
};

}  // namespace

BOOST_TEST_DECORATOR(*needs("tofu or terraform"))
BOOST_FIXTURE_TEST_SUITE(compatibility, Compatible)

BOOST_AUTO_TEST_CASE(what_is_installed_is_used_and_nobody_is_asked) {
  for (const std::string& name : clients()) {
    reinstall();
    take_the_origin_away();
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"init"}, {"init", "-get=false"}, {"get"}, {"validate"}, {"plan"}}) {
      const Ran ran = client(name, command);
      BOOST_TEST(ran.exit_code == 0, name << " " << command.front() << ran.out << ran.err);
      BOOST_TEST(installed() == "1.0.0");
    }
  }
}

BOOST_AUTO_TEST_CASE(upgrades_fetch_anew_and_verify_says_so) {
  for (const std::string& name : clients()) {
    for (const std::vector<std::string>& command : {std::vector<std::string>{"init", "-upgrade"}, {"get", "-update"}}) {
      reinstall();
      const Ran ran = client(name, command);
      BOOST_TEST(ran.exit_code == 0, name << ran.out << ran.err);
      BOOST_TEST(installed() == "1.1.0");
      BOOST_TEST(modlock({"verify"}).exit_code == 4);
      BOOST_TEST(modlock({"install"}).exit_code == 0);
      BOOST_TEST(installed() == "1.0.0");
    }
  }
}

BOOST_AUTO_TEST_CASE(without_installation_get_false_fails) {
  for (const std::string& name : clients()) {
    fs::remove_all(root() / ".terraform");
    BOOST_TEST(client(name, {"init", "-get=false"}).exit_code == 1, name);
    BOOST_TEST(!has(".terraform/modules/vpc"));
  }
}

BOOST_AUTO_TEST_CASE(without_tofu_modlock_the_lock_is_a_warning) {
  const std::string before = lock();
  for (const std::string& name : clients()) {
    fs::remove_all(root() / ".terraform");
    const Ran ran = client(name, {"init"});
    BOOST_TEST(ran.exit_code == 0, name << ran.out << ran.err);
    BOOST_TEST(ran.out.find("Dependency locks for modules are not yet supported") != std::string::npos, ran.out);
    BOOST_TEST(installed() == "1.1.0");
    BOOST_TEST(lock() == before);
  }
}

BOOST_AUTO_TEST_CASE(the_data_directory_may_be_another_one) {
  const std::string absolute = path("data").string();
  for (const std::string& name : clients()) {
    for (const std::string& data : {std::string(".data"), absolute}) {
      bring_it_back();
      environment["TF_DATA_DIR"] = data;
      BOOST_TEST(modlock({"install"}).exit_code == 0);
      take_the_origin_away();
      const Ran ran = client(name, {"init"});
      BOOST_TEST(ran.exit_code == 0, name << ran.out << ran.err);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
      environment.erase("TF_DATA_DIR");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_root_may_be_named_from_elsewhere) {
  for (const std::string& name : clients()) {
    reinstall();
    take_the_origin_away();
    fs::create_directories(path("elsewhere"));
    const Ran ran = program(
        {"sh", "-c", "cd ../elsewhere && \"$0\" verify --chdir \"$2\" >&2 && exec \"$1\" -chdir=\"$2\" init -no-color",
         binary, name, root().string()});
    BOOST_TEST(ran.exit_code == 0, name << ran.out << ran.err);
  }
}

BOOST_AUTO_TEST_CASE(a_data_directory_that_is_a_link_has_to_stay_inside_or_be_named) {
  fs::create_directory(path("outside"));
  for (const std::string& name : clients()) {
    fs::remove_all(root() / ".terraform");
    fs::create_directory_symlink(path("outside"), root() / ".terraform");
    const Ran refused = modlock({"install"});
    BOOST_TEST(refused.exit_code == 8);
    BOOST_TEST(refused.err.find("[PATH_OUTSIDE_ROOT]") != std::string::npos, refused.err);
    BOOST_TEST(modlock({"install", "--data-dir", ".terraform"}).exit_code == 0);
    BOOST_TEST(client(name, {"init"}).exit_code == 0);
    BOOST_TEST(installed() == "1.0.0");
    fs::remove(root() / ".terraform");
    fs::create_directories(root() / "inside");
    fs::create_directory_symlink("inside", root() / ".terraform");
    BOOST_TEST(modlock({"install"}).exit_code == 0);
    BOOST_TEST(client(name, {"init"}).exit_code == 0);
    BOOST_TEST(installed() == "1.0.0");
    fs::remove(root() / ".terraform");
  }
}

BOOST_AUTO_TEST_CASE(from_module_starts_a_root_that_nothing_locks) {
  for (const std::string& name : clients()) {
    const fs::path fresh = path("fresh-" + name);
    fs::create_directory(fresh);
    const Ran ran = program({"sh", "-c", "cd \"$1\" && exec \"$0\" init -no-color -from-module=\"$2\"", name,
                             fresh.string(), "git::" + vpc.url() + "?ref=v1.0.0"});
    BOOST_TEST(ran.exit_code == 0, name << ran.out << ran.err);
    BOOST_TEST(fs::exists(fresh / "main.tf"));
    BOOST_TEST(!fs::exists(fresh / ".terraform.lock.hcl"));
    // Not over a root that is there.
    BOOST_TEST(client(name, {"init", "-from-module=git::" + vpc.url()}).exit_code == 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()
