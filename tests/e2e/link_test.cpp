// `install --link`: packages are symbolic links into the cache.
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <functional>

#include "tests/e2e/scene.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Linking : Scene {
  Linking() : vpc(repository("vpc.git")), zone(repository("zone.git")) {
    release(zone, "0.1.0");
    release(vpc, "1.0.0",
            {{"sub/main.tf", module_call("zone", "git::" + zone.url() + "?ref=v0.1.0") + module_call("own", "../own")},
             {"own/main.tf", "# own\n"},
             {".hidden", "x\n"}});
    write_root(root());
    BOOST_REQUIRE(modlock({"lock"}).exit_code == 0);
  }
  void write_root(const fs::path& root) const {
    write_text(root / "main.tf", module_call("vpc", "git::" + vpc.url() + "//sub"));
    write_text(root / ".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  }
  void set(const std::string& settings) const { write_text(path("home/.config/tofu-modlock/config.hcl"), settings); }
  fs::path place(const std::string& key = "vpc") const { return root() / ".terraform/modules" / key; }
  bool is_link(const std::string& key = "vpc") const { return fs::is_symlink(place(key)); }
  fs::path package(const std::string& key = "vpc") const { return fs::read_symlink(place(key)); }
  // Everything in the cache was last used so long ago, but its roots were seen now.
  void age_packages() const {
    for (const auto& each : fs::directory_iterator(cache() / "v2/packages")) {
      fs::last_write_time(each.path() / "used", fs::file_time_type::clock::now() - std::chrono::hours(1000));
    }
  }
  std::size_t packages() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(cache() / "v2/packages"), {}));
  }
  std::size_t pruned() const {
    age_packages();
    return json({"cache", "prune", "--max-age", "1h"})["removed"]["packages"].asUInt();
  }
  GitRepository& vpc;
  GitRepository& zone;
};

BOOST_FIXTURE_TEST_SUITE(link_command, Linking)

BOOST_AUTO_TEST_CASE(a_package_is_one_link_and_its_files_are_read_only) {
  const Ran ran = modlock({"install", "--link"});
  BOOST_REQUIRE_MESSAGE(ran.exit_code == 0, ran.err);
  BOOST_TEST(is_link());
  BOOST_TEST(is_link("vpc.zone"));
  BOOST_TEST(package().parent_path().parent_path() == cache() / "v2/packages");
  BOOST_TEST(
      shown(read(".terraform/modules/modules.json")) ==
      R"({"Modules":[{"Key":"","Source":"","Dir":"."},)"
      R"({"Key":"vpc","Source":"git::file://<dir>/repositories/vpc.git//sub","Dir":".terraform/modules/vpc/sub"},)"
      R"({"Key":"vpc.own","Source":"../own","Dir":".terraform/modules/vpc/own"},)"
      R"({"Key":"vpc.zone","Source":"git::file://<dir>/repositories/zone.git?ref=v0.1.0",)"
      R"("Dir":".terraform/modules/vpc.zone"}]})");
  BOOST_TEST(mode_of(place() / "main.tf") == 0444U);
  BOOST_TEST((mode_of(place() / "sub") & 0722U) == 0700U);  // the rest is the user's umask
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  const Json::Value again = json({"install", "--link"});
  BOOST_TEST(again["installed"].empty());
  BOOST_TEST(again["reused"].size() == 2U);
}

BOOST_AUTO_TEST_CASE(plain_install_makes_copies_of_links_and_link_makes_links_of_copies) {
  for (const bool linked : {false, true, true, false, false, true, false}) {
    BOOST_TEST(modlock(linked ? std::vector<std::string>{"install", "--link"} : std::vector<std::string>{"install"})
                   .exit_code == 0);
    BOOST_TEST(is_link() == linked);
    BOOST_TEST(mode_of(place() / "main.tf") == (linked ? 0444U : 0644U));
    BOOST_TEST(modlock({"verify"}).exit_code == 0);
    BOOST_TEST(modlock({"verify", "--full"}).exit_code == 0);
  }
}

BOOST_AUTO_TEST_CASE(the_setting_of_the_user_links_and_a_flag_has_precedence) {
  struct Row {
    const char* name;
    const char* settings;
    std::vector<std::string> command;
    bool linked;
  };
  for (const Row& row :
       {Row{"nothing is set", "", {"install"}, false}, Row{"link", "install = \"link\"\n", {"install"}, true},
        Row{"lock --install", "install = \"link\"\n", {"lock", "--install"}, true},
        Row{"no link", "install = \"link\"\n", {"install", "--no-link"}, false},
        Row{"copy", "install = \"copy\"\n", {"install"}, false},
        Row{"the flag", "install = \"copy\"\n", {"install", "--link"}, true},
        Row{"a source that is copied",
            "install = \"link\"\nsource \"git::*/vpc.git*\" {\n  link = false\n}\n",
            {"install"},
            false}}) {
    BOOST_TEST_CONTEXT(row.name) {
      fs::remove_all(root() / ".terraform");
      set(row.settings);
      const Ran ran = modlock(row.command);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(is_link() == row.linked);
    }
  }
  BOOST_TEST(is_link("vpc.zone"));
}

BOOST_AUTO_TEST_CASE(a_module_that_writes_into_its_directory_is_copied) {
  write(".tofu-modlock.hcl", "module \"vpc\" {\n  version = \"~> 1.0\"\n  link = false\n}\n");
  BOOST_TEST(modlock({"install", "--link"}).exit_code == 0);
  BOOST_TEST(!is_link());
  BOOST_TEST(is_link("vpc.zone"));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_changed_package_is_tampered_for_every_root_and_is_fetched_again) {
  write_root(path("other"));
  const std::string other = path("other").string();
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  BOOST_REQUIRE(modlock({"lock", "--chdir", other}).exit_code == 0);
  BOOST_REQUIRE(modlock({"install", "--link", "--chdir", other}).exit_code == 0);
  const fs::path file = package() / "main.tf";
  fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
  write_text(file, "# changed\n");
  for (int i = 0; i < 2; ++i) {
    for (const std::string& each : {root().string(), other}) {
      const Json::Value result = json({"verify", "--chdir", each}, 4);
      BOOST_TEST(result["verdicts"][0]["verdict"].asString() == "tampered");
      BOOST_TEST(result["verdicts"][0]["paths"][0].asString() == "main.tf was changed");
    }
  }
  const Ran ran = modlock({"install", "--link"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.err.find("was damaged: it has been fetched again") != std::string::npos, ran.err);
  BOOST_TEST(mode_of(file) == 0444U);
  for (const std::string& each : {root().string(), other}) {
    BOOST_TEST(modlock({"verify", "--chdir", each}).exit_code == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_changed_permission_bit_is_tampered_and_is_repaired) {
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  BOOST_REQUIRE(modlock({"verify"}).exit_code == 0);
  fs::permissions(package() / "main.tf", fs::perms(0555));
  const Json::Value result = json({"verify"}, 4);
  BOOST_TEST(result["verdicts"][0]["detail"].asString() == "permission bits were changed");
  BOOST_TEST(modlock({"install", "--link"}).exit_code == 0);
  BOOST_TEST(mode_of(package() / "main.tf") == 0444U);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_package_that_others_may_change_is_tampered_and_is_repaired) {
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  const fs::path linked = package();
  struct Row {
    const char* name;
    fs::path place;
    unsigned mode;
    unsigned repaired;
  };
  const Row rows[] = {
      {"a file of everybody", linked / "main.tf", 0666, 0444},
      {"a file of the group", linked / "main.tf", 0464, 0444},
      {"the tree", linked, 0777, 0755},
      {"the directory of the package", linked.parent_path(), 0775, 0755},
  };
  for (const Row& row : rows) {
    for (const bool is_installed : {true, false}) {
      BOOST_TEST_CONTEXT(row.name << (is_installed ? "" : ", not installed")) {
        fs::permissions(row.place, fs::perms(row.mode));
        if (is_installed) {
          BOOST_TEST(json({"verify"}, 4)["verdicts"][0]["detail"].asString() ==
                     "other users may write to its files or directories");
        } else {
          fs::remove_all(root() / ".terraform");
        }
        BOOST_TEST(modlock({"install", "--link"}).exit_code == 0);
        BOOST_TEST(is_link());
        BOOST_TEST(mode_of(row.place) == row.repaired);
        BOOST_TEST(modlock({"verify"}).exit_code == 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(only_links_to_packages_of_the_cache_are_followed) {
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  const fs::path linked = package();
  fs::create_directories(path("copy"));
  fs::copy(linked, path("copy/tree"), fs::copy_options::recursive);
  fs::create_directories(path("precious"));
  write_text(path("precious/main.tf"), "keep");
  struct Row {
    const char* name;
    std::function<fs::path()> target;
    const char* verdict;
    std::string detail;
  };
  const std::string cache_name = "which is not a package of the cache <dir>/cache";
  const Row rows[] = {
      {"the same content elsewhere", [&] { return path("copy/tree"); }, "tampered",
       "it is a symbolic link to \"<dir>/copy/tree\", " + cache_name},
      {"other content", [&] { return path("precious"); }, "tampered",
       "it is a symbolic link to \"<dir>/precious\", " + cache_name},
      {"a part of a package", [&] { return linked / "sub"; }, "tampered",
       "it is a symbolic link to \"<package>/tree/sub\", " + cache_name},
      {"a package without its tree", [&] { return linked.parent_path(); }, "tampered",
       "it is a symbolic link to \"<package>\", " + cache_name},
      {"out of the cache again", [&] { return cache() / "v2/packages/../../../copy/tree"; }, "tampered",
       "it is a symbolic link to \"<dir>/cache/v2/packages/../../../copy/tree\", " + cache_name},
      {"nothing", [&] { return path("nothing"); }, "missing",
       "it is a symbolic link to \"<dir>/nothing\", which does not exist"},
  };
  name_text(shown(linked.parent_path().string()), "<package>");
  for (const Row& row : rows) {
    for (const char* mode : {"--link", "--no-link"}) {
      BOOST_TEST_CONTEXT(row.name << " " << mode) {
        fs::remove_all(place());
        fs::create_directory_symlink(row.target(), place());
        const Json::Value result = json({"verify"}, std::string_view(row.verdict) == "missing" ? 3 : 4);
        BOOST_TEST(result["verdicts"][0]["verdict"].asString() == row.verdict);
        BOOST_TEST(shown(result["verdicts"][0]["detail"].asString()) == row.detail);
        BOOST_TEST(modlock({"install", mode}).exit_code == 0);
        BOOST_TEST(modlock({"verify"}).exit_code == 0);
        BOOST_TEST(is_link() == (std::string_view(mode) == "--link"));
      }
    }
  }
  BOOST_TEST(read_text(path("precious/main.tf")) == "keep");
}

BOOST_AUTO_TEST_CASE(another_package_of_the_cache_is_stale) {
  release(vpc, "1.1.0", {{"sub/main.tf", ""}});
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  BOOST_REQUIRE(modlock({"upgrade"}).exit_code == 0);
  BOOST_TEST(json({"verify"}, 3)["verdicts"][0]["verdict"].asString() == "stale");
  BOOST_TEST(modlock({"install", "--link"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(prune_keeps_the_packages_of_linked_roots) {
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  BOOST_TEST(pruned() == 0U);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_root_that_was_not_seen_for_a_week_is_gone) {
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  const fs::path record = fs::directory_iterator(cache() / "v2/links")->path();
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(record, now - std::chrono::hours(7 * 24 - 1));
  BOOST_TEST(pruned() == 0U);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST((fs::last_write_time(record) >= now - std::chrono::seconds(1)));
  // Its packages may still be there. `verify` then records it again.
  fs::last_write_time(record, now - std::chrono::hours(7 * 24 + 1));
  BOOST_TEST(modlock({"cache", "prune"}).exit_code == 0);
  BOOST_TEST(!fs::exists(record));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST(pruned() == 0U);
  fs::last_write_time(record, now - std::chrono::hours(7 * 24 + 1));
  BOOST_TEST(pruned() == 2U);
  const Json::Value result = json({"verify"}, 3);
  BOOST_TEST(result["verdicts"][0]["verdict"].asString() == "missing");
  BOOST_TEST(modlock({"install", "--link"}).exit_code == 0);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_root_with_copies_keeps_nothing) {
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  BOOST_REQUIRE(modlock({"install"}).exit_code == 0);
  BOOST_TEST(pruned() == 2U);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_cache_that_was_moved_is_linked_to_again) {
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  fs::rename(cache(), path("moved"));
  const Json::Value before = json({"verify"}, 3);
  BOOST_TEST(before["verdicts"][0]["detail"].asString() ==
             "it is a symbolic link to \"" + shown(package().string()) + "\", which does not exist");
  environment["TOFU_MODLOCK_CACHE_DIR"] = path("moved").string();
  BOOST_TEST(modlock({"install", "--link", "--offline"}).exit_code == 0);
  BOOST_TEST(package().parent_path().parent_path() == path("moved/v2/packages"));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_cache_that_others_may_change_is_copied_from) {
  fs::permissions(cache(), fs::perms(0770));
  const Ran ran = modlock({"install", "--link"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(shown(ran.err).find("modules were copied, not linked to the cache <dir>/cache: other users may write to "
                                 "it") != std::string::npos,
             shown(ran.err));
  BOOST_TEST(!is_link());
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_cache_that_cannot_record_links_is_copied_from) {
  write_text(cache() / "v2/links", "in the way");
  const Ran ran = modlock({"install", "--link"});
  BOOST_TEST(ran.exit_code == 0);
  BOOST_TEST(ran.err.find("modules were copied, not linked to the cache") != std::string::npos, ran.err);
  BOOST_TEST(!is_link());
}

BOOST_AUTO_TEST_CASE(a_cache_on_a_read_only_mount, *needs(kMount)) {
  write_root(path("other"));
  const std::string other = path("other").string();
  BOOST_REQUIRE(modlock({"lock", "--chdir", other}).exit_code == 0);
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  const auto modlock_with_read_only_cache = [&](const std::string& arguments) {
    return program({"unshare", "--mount", "sh", "-ec",
                    "mount --bind \"$1\" \"$1\"\nmount -o remount,bind,ro \"$1\"\nexec \"$0\" " + arguments, binary,
                    cache().string()});
  };
  const std::string copied =
      "Warning: modules were copied, not linked to the cache <dir>/cache: cannot write \"<dir>/cache/v2/links/";
  struct Row {
    const char* name;
    std::string arguments;
    bool is_linked;
    std::string err;  // begins with
  };
  for (const Row& row : {
           Row{"nothing changed", "install --link", true, ""},
           Row{"verify", "verify", true, ""},
           Row{"a copy", "install --no-link", false, ""},
           Row{"a link again", "install --link", true, ""},
           Row{"the links of a root that is not recorded", "install --link --chdir " + other, true, copied},
           Row{"verify its copies", "verify --chdir " + other, true, ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ran ran = modlock_with_read_only_cache(row.arguments);
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(shown(ran.err).substr(0, row.err.size()) == row.err);
      BOOST_TEST(ran.err.empty() == row.err.empty(), ran.err);
      BOOST_TEST(is_link() == row.is_linked);
    }
  }
  BOOST_TEST(!fs::is_symlink(path("other/.terraform/modules/vpc")));
}

BOOST_AUTO_TEST_CASE(a_repository_cannot_make_links) {
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0") + "install = \"link\"\n");
  const Ran ran = modlock({"install"});
  BOOST_TEST(ran.exit_code == 8);
  BOOST_TEST(ran.err.find("install is a setting of one machine, found in a file of a repository") != std::string::npos,
             ran.err);
}

BOOST_AUTO_TEST_CASE(a_linked_root_needs_neither_the_records_nor_the_sources) {
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  fs::remove_all(cache() / "v2/identities");
  fs::rename(repositories(), path("moved away"));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  BOOST_TEST(modlock({"inspect"}).exit_code == 0);
}

// What the clients do with a linked root.
BOOST_AUTO_TEST_CASE(clients_accept_links, *needs("tofu or terraform")) {
  BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
  fs::rename(repositories(), path("moved away"));
  for (const std::string& client : clients()) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"init", "-input=false"}, {"validate"}, {"plan", "-input=false"}}) {
      BOOST_TEST_CONTEXT(client << " " << command.front()) {
        std::vector<std::string> argv = {client};
        argv.insert(argv.end(), command.begin(), command.end());
        argv.emplace_back("-no-color");
        const Ran ran = program(argv);
        BOOST_TEST(ran.exit_code == 0, ran.out << ran.err);
        BOOST_TEST(ran.out.find("Downloading") == std::string::npos, ran.out);
        BOOST_TEST(is_link());
        BOOST_TEST(is_link("vpc.zone"));
        BOOST_TEST(modlock({"verify"}).exit_code == 0);
      }
    }
  }
}

// A client that replaces a link does not write through it.
BOOST_AUTO_TEST_CASE(an_upgrade_of_a_client_leaves_the_cache_alone, *needs("tofu or terraform")) {
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      BOOST_REQUIRE(modlock({"install", "--link"}).exit_code == 0);
      const fs::path linked = package();
      BOOST_TEST(program({client, "init", "-input=false", "-upgrade", "-no-color"}).exit_code == 0);
      BOOST_TEST(!is_link());
      BOOST_TEST(mode_of(linked / "main.tf") == 0444U);
      BOOST_TEST(modlock({"install", "--link", "--offline"}).exit_code == 0);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
