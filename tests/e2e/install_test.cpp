#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Installing : Scene {
  Installing() : vpc(repository("vpc.git")) {
    release(vpc, "1.0.0", {{"nested/main.tf", "# nested\n"}, {".hidden", "x\n"}});
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    modlock({"lock"});
  }
  // A release with one script, whose mode is "100644" or "100755".
  void release_script(const std::string& version, const std::string& mode) {
    const std::string tree = vpc.write_tree("100644 blob " + vpc.write_blob("# module\n") + "\tmain.tf\n" + mode +
                                            " blob " + vpc.write_blob("#!/bin/sh\n") + "\trun.sh\n");
    vpc.branch("main", vpc.commit_tree(tree, vpc.id("main")));
    vpc.tag("v" + version);
  }
  unsigned installed_mode(const std::string& name) const {
    return static_cast<unsigned>(fs::status(root() / ".terraform/modules/vpc" / name).permissions());
  }
  std::string installed() const { return read(".terraform/modules/vpc/main.tf"); }
  GitRepository& vpc;
};

BOOST_FIXTURE_TEST_SUITE(install_command, Installing)

BOOST_AUTO_TEST_CASE(the_manifest_says_what_the_client_would_have_written) {
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(shown(read(".terraform/modules/modules.json")) ==
             R"({"Modules":[{"Key":"","Source":"","Dir":"."},)"
             R"({"Key":"vpc","Source":"git::file://<dir>/repositories/vpc.git","Dir":".terraform/modules/vpc"}]})");
  BOOST_TEST(has(".terraform/modules/vpc/.hidden"));
  BOOST_TEST(!has(".terraform/modules/vpc/.git"));
}

BOOST_AUTO_TEST_CASE(needs_no_repository_once_the_package_is_in_the_store) {
  fs::remove_all(vpc.path());
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  fs::remove_all(root() / ".terraform");
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(fetches_the_locked_commit_where_the_store_is_empty) {
  release(vpc, "1.1.0");
  fs::remove_all(cache());
  const Json::Value result = json({"install"});
  BOOST_TEST(result["stats"]["requests"].asInt() > 0);
  BOOST_TEST(installed().find("1.0.0") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(offline_and_not_in_the_store_is_a_miss) {
  fs::remove_all(cache());
  const Ran ran = modlock({"install", "--offline"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.err.find("[OFFLINE_MISS]") != std::string::npos, ran.err);
  BOOST_TEST(!has(".terraform/modules"));
}

BOOST_AUTO_TEST_CASE(a_second_install_touches_nothing) {
  modlock({"install"});
  const auto manifest = fs::last_write_time(root() / ".terraform/modules/modules.json");
  const auto module = fs::last_write_time(root() / ".terraform/modules/vpc");
  BOOST_TEST(json({"install"})["reused"].size() == 1U);
  BOOST_TEST((fs::last_write_time(root() / ".terraform/modules/modules.json") == manifest));
  BOOST_TEST((fs::last_write_time(root() / ".terraform/modules/vpc") == module));
}

BOOST_AUTO_TEST_CASE(one_changed_byte_is_found_and_healed) {
  modlock({"install"});
  const std::string before = installed();
  std::string changed = before;
  changed[0] = 'O';
  write(".terraform/modules/vpc/main.tf", changed);
  BOOST_TEST(modlock({"verify"}).exit_code == 4);
  BOOST_TEST(modlock({"install"}).exit_code == 4);  // restored, and reported once
  BOOST_TEST(installed() == before);
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(writing_into_an_installed_module_leaves_the_store_alone) {
  modlock({"install"});
  write(".terraform/modules/vpc/main.tf", "# mine\n");
  fs::remove_all(vpc.path());
  fs::remove_all(root() / ".terraform/modules");
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(verify_tells_changes_apart) {
  struct Row {
    const char* name;
    const char* file;
    const char* content;  // null: removed
    int exit_code;
    int strict_exit_code;
  };
  for (const Row& row : {Row{"a file that would be loaded was added", "extra.tf", "# x\n", 4, 4},
                         Row{"a JSON file that would be loaded was added", "extra.tofu.json", "{}", 4, 4},
                         Row{"another file was added", "notes.txt", "x\n", 0, 4},
                         Row{"a locked file was deleted", "main.tf", nullptr, 4, 4},
                         Row{"a dotfile is missing", ".hidden", nullptr, 0, 4}}) {
    BOOST_TEST_CONTEXT(row.name) {
      modlock({"install"});
      const fs::path file = root() / ".terraform/modules/vpc" / row.file;
      if (row.content != nullptr) {
        write_text(file, row.content);
      } else {
        fs::remove(file);
      }
      BOOST_TEST(modlock({"verify"}).exit_code == row.exit_code);
      BOOST_TEST(modlock({"verify", "--strict"}).exit_code == row.strict_exit_code);
      fs::remove_all(root() / ".terraform/modules");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_call_that_is_not_locked_is_frozen) {
  write("more.tf", module_call("more", "git::" + vpc.url() + "?ref=main"));
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 3);
  BOOST_TEST(ran.err.find("[FROZEN]") != std::string::npos, ran.err);
  BOOST_TEST(ran.err.find("module.more") != std::string::npos, ran.err);
  BOOST_TEST(!has(".terraform/modules"));
  BOOST_TEST(modlock({"verify"}).exit_code == 3);
}

BOOST_AUTO_TEST_CASE(an_entry_with_another_source_does_not_count) {
  GitRepository& other = repository("other.git");
  release(other, "1.0.0");
  write("main.tf", module_call("vpc", "git::" + other.url()));
  BOOST_TEST(modlock({"install"}).exit_code == 3);
  BOOST_TEST(!has(".terraform/modules"));
}

BOOST_AUTO_TEST_CASE(the_data_directory_is_honoured) {
  environment["TF_DATA_DIR"] = ".data";
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(has(".data/modules/vpc/main.tf"));
  BOOST_TEST(!has(".terraform/modules"));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_foreign_directory_of_the_manifest_is_never_deleted) {
  write_text(path("precious/file"), "kept\n");
  write(".terraform/modules/modules.json",
        R"({"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"gone","Source":"x","Dir":"../precious"}]})");
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(fs::exists(path("precious/file")));
}

BOOST_AUTO_TEST_CASE(what_the_configuration_no_longer_calls_is_removed) {
  write("more.tf", module_call("more", "git::" + vpc.url() + "?ref=v1.0.0"));
  modlock({"lock", "--install"});
  BOOST_TEST(has(".terraform/modules/more/main.tf"));
  fs::remove(root() / "more.tf");
  modlock({"lock"});
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(!has(".terraform/modules/more"));
  BOOST_TEST(read(".terraform/modules/modules.json").find("more") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_release_that_only_makes_a_script_executable_is_installed) {
  struct Row {
    const char* name;
    std::function<void(Installing&)> before;
  };
  const Row rows[] = {
      {"its package is in the cache", [](Installing&) {}},
      {"the packages were removed from the cache", [](Installing& s) { fs::remove_all(s.cache() / "v2/packages"); }},
      {"the cache was removed", [](Installing& s) { fs::remove_all(s.cache()); }},
  };
  release_script("1.1.0", "100644");
  release_script("1.1.1", "100755");
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const auto& [version, mode] : {std::pair("1.1.0", 0644U), {"1.1.1", 0755U}, {"1.1.0", 0644U}}) {
        write(".tofu-modlock.hcl", module_rule("vpc", version));
        BOOST_TEST(modlock({"lock"}).exit_code == 0);
        row.before(*this);
        const Ran ran = modlock({"install"});
        BOOST_TEST(ran.exit_code == 0, ran.err);
        BOOST_TEST(installed_mode("run.sh") == mode);
        BOOST_TEST(modlock({"verify"}).exit_code == 0);
        BOOST_TEST(json({"install"})["reused"].size() == 1U);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_installed_is_in_place_offline_only_if_the_cache_knows_its_commit) {
  release_script("1.1.0", "100644");
  release_script("1.1.1", "100755");
  write(".tofu-modlock.hcl", module_rule("vpc", "1.1.0"));
  modlock({"lock", "--install"});
  for (const char* name : {"v2/packages", "v2/identities", "v2/git"}) {
    fs::remove_all(cache() / name);
  }
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 0);
  fs::permissions(root() / ".terraform/modules/vpc/run.sh", fs::perms{0755U});
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 7);
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(installed_mode("run.sh") == 0644U);
  write(".tofu-modlock.hcl", module_rule("vpc", "1.1.1"));
  modlock({"lock"});
  for (const char* name : {"v2/packages", "v2/identities", "v2/git"}) {
    fs::remove_all(cache() / name);
  }
  const Ran ran = modlock({"install", "--offline"});
  BOOST_TEST(ran.exit_code == 7);
  BOOST_TEST(ran.err.find("[OFFLINE_MISS]") != std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(what_is_installed_is_asked_for_where_the_cache_is_gone) {
  modlock({"install"});
  BOOST_TEST(json({"install"})["stats"]["requests"].asInt() == 0);
  fs::remove_all(cache());
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 7);
  const Json::Value result = json({"install"});
  BOOST_TEST(result["stats"]["requests"].asInt() > 0);
  BOOST_TEST(result["reused"].size() == 1U);
  BOOST_TEST(json({"install"})["stats"]["requests"].asInt() == 0);
}

BOOST_AUTO_TEST_CASE(a_cached_package_with_changed_modes_is_fetched_again) {
  modlock({"install"});
  for (const auto& entry : fs::recursive_directory_iterator(cache() / "v2/packages")) {
    if (entry.path().filename() == "main.tf") {
      fs::permissions(entry.path(), fs::perms{0755U});
    }
  }
  fs::remove_all(root() / ".terraform");
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err.find("vpc.git was damaged: it has been fetched again") != std::string::npos, ran.err);
  BOOST_TEST(installed_mode("main.tf") == 0644U);
}

BOOST_AUTO_TEST_CASE(modes_do_not_depend_on_the_umask) {
  release_script("1.1.0", "100755");
  write(".tofu-modlock.hcl", module_rule("vpc", "1.1.0"));
  modlock({"lock"});
  for (const char* umask : {"0", "022", "077"}) {
    BOOST_TEST_CONTEXT(umask) {
      fs::remove_all(root() / ".terraform");
      fs::remove_all(cache());
      const Ran ran = program({"sh", "-c", "umask \"$1\" && exec \"$0\" install", binary, umask});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(installed_mode("main.tf") == 0644U);
      BOOST_TEST(installed_mode("run.sh") == 0755U);
      BOOST_TEST(installed_mode("") == 0755U);
      BOOST_TEST((fs::status(cache()).permissions() == fs::perms::owner_all));
    }
  }
  // As a client installs it that runs with another umask.
  fs::permissions(root() / ".terraform/modules/vpc/main.tf", fs::perms{0664U});
  BOOST_TEST(modlock({"install"}).exit_code == 0);
  BOOST_TEST(installed_mode("main.tf") == 0644U);
}

BOOST_AUTO_TEST_CASE(four_installs_at_once) {
  fs::remove_all(cache());
  const Ran ran = program({"sh", "-c",
                           "for i in 1 2 3 4; do \"$1\" install & pids=\"$pids $!\"; done\n"
                           "for pid in $pids; do wait \"$pid\" || exit 1; done",
                           "sh", binary});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
