// What Terragrunt downloads for a unit, locked and checked by the hooks.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/hosts/terragrunt_scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/docker_registry.h"
#include "tests/support/https_git_server.h"
#include "tests/support/needs.h"
#include "tests/support/oci_registry.h"
#include "tests/support/s3_server.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct RemoteUnit : TerragruntScene {
  RemoteUnit() : stacks(repository("stacks.git")) {
    const std::string id = stacks.commit(
        {{"network/main.tf", read("catalog/main.tf")}, {"shared/main.tf", "# shared\n"}, {"network/notes", "1\n"}});
    stacks.tag("v1.0.0");
    name_id(id, "stacks");
    add_unit("live/vpc", "git::" + stacks.url() + "//network?ref=v1.0.0");
  }
  void move_the_tag() {
    name_id(stacks.commit({{"network/main.tf", read("catalog/main.tf") + "# moved\n"},
                           {"shared/main.tf", "# shared\n"},
                           {"network/notes", "1\n"}}),
            "moved");
    stacks.tag("v1.0.0");
  }
  // As a user does to accept a moved tag.
  void remove_block() const {
    std::string text = unit_lock();
    const std::size_t start = text.find("module \"terragrunt:source\"");
    text.erase(start, text.find("\n}\n", start) + 3 - start);
    write("live/vpc/.terraform.lock.hcl", text);
  }
  // Writes a commit that only a fork has into the lock file of the unit. The root module `root` installs it rightly.
  void lock_commit_of_fork() {
    GitRepository& fork = repository("fork.git");
    fork.git({"fetch", "--quiet", stacks.url(), "main"});
    fork.branch("main", "FETCH_HEAD");
    fork.commit({{"network/main.tf", read("catalog/main.tf") + "# evil\n"}});
    fork.tag("v1.0.0");
    write("root/main.tf", module_call("fork", "git::" + fork.url() + "?ref=v1.0.0"));
    BOOST_REQUIRE(modlock({"lock", "--install", "root"}).exit_code == 0);
    BOOST_REQUIRE(terragrunt({"init"}).exit_code == 0);
    std::string edited = unit_lock();
    const std::string lock_of_fork = read("root/.terraform.lock.hcl");
    for (const char* scheme : {"\"git:", "\"h1:"}) {
      const std::size_t own = edited.find(scheme, edited.find("hashes = [", edited.find("terragrunt:source")));
      const std::size_t other = lock_of_fork.find(scheme, lock_of_fork.find("hashes = ["));
      edited.replace(own, edited.find('"', own + 1) - own,
                     lock_of_fork.substr(other, lock_of_fork.find('"', other + 1) - other));
    }
    write("live/vpc/.terraform.lock.hcl", edited);
  }
  fs::path downloaded(const std::string& unit = "live/vpc") const { return working_directory(unit).parent_path(); }

  GitRepository& stacks;
};

constexpr std::string_view kBlock =
    "module \"terragrunt:source\" {\n  source = \"git::file://<dir>/repositories/stacks.git//network?ref=v1.0.0\"\n\n"
    "  hashes = [\n    \"git:<stacks>\",\n    \"h1:";

BOOST_FIXTURE_TEST_SUITE(terragrunt_source, RemoteUnit)

BOOST_AUTO_TEST_CASE(it_is_locked_and_stays_in_the_lock) {
  const std::string source = "git::file://<dir>/repositories/stacks.git//network?ref=v1.0.0";
  const std::string restored =
      "live/vpc: terragrunt:source  " + source + "  restored\nlive/vpc: module.vpc  1.0.0  restored  (~> 1.0)\n";
  for (const auto& [command, lines] :
       {std::pair{"init", "live/vpc: terragrunt:source  " + source +
                              "  locked\nlive/vpc: module.vpc  1.0.0  (~> 1.0)\n" + restored},
        std::pair{"plan", std::string()}, std::pair{"init", restored}}) {
    const Ran ran = terragrunt({command});
    BOOST_TEST(ran.exit_code == 0, ran.err);
    BOOST_TEST(ran.err == lines);
    BOOST_TEST(shown(unit_lock()).find(kBlock) != std::string::npos, shown(unit_lock()));
    BOOST_TEST(shown(unit_lock()).find("module \"vpc\"") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_moved_tag_stops_init) {
  terragrunt({"init"});
  const std::string locked = unit_lock();
  name_text(downloaded().lexically_relative(root() / "live/vpc").string(), "<download>");
  move_the_tag();
  for (const char* ci : {"true", ""}) {
    BOOST_TEST_CONTEXT("CI=" << ci) {
      fs::remove_all(root() / "live/vpc/.terragrunt-cache");
      environment["CI"] = ci;
      const Ran ran = terragrunt({"plan"});
      BOOST_TEST(ran.exit_code == 1);
      BOOST_TEST(ran.out == "");
      BOOST_TEST(
          ran.err ==
          "Error: the files that Terragrunt downloaded for <dir>/root/live/vpc do not match the lock entry for "
          "\"git::file://<dir>/repositories/stacks.git//network?ref=v1.0.0\" [HASH_MISMATCH]\n"
          "  note: network/main.tf was changed\n"
          "  hint: to get the locked files, delete <dir>/root/live/vpc/<download> and run terragrunt init, with "
          "--no-cas if Terragrunt's own store has a changed file; to lock what the source has now, review it, run "
          "TOFU_MODLOCK_TARGET=terragrunt:source terragrunt init --source-update\n"
          "hook modlock_install: exit code 4\n");
      BOOST_TEST(unit_lock() == locked);
    }
  }
}

// The lock file has the commit that a colleague accepted, and Terragrunt's cache still has the files of the other one.
BOOST_AUTO_TEST_CASE(a_refused_command_keeps_the_committed_source) {
  struct Row {
    const char* unit;
    const char* lock;
  };
  for (const Row& row :
       {Row{"live/vpc", "live/vpc/"}, Row{"live/.terragrunt-stack/vpc", "live/terragrunt-locks/vpc/"}}) {
    for (const std::string place : {"inline", "sidecar"}) {
      for (const char* ci : {"true", ""}) {
        BOOST_TEST_CONTEXT(row.unit << " " << place << " CI=" << ci) {
          RemoteUnit scene;
          scene.write(".tofu-modlock.hcl", "module_lock_file = \"" + place + "\"\n");
          scene.add_unit(row.unit, "git::" + scene.stacks.url() + "//network?ref=v1.0.0");
          BOOST_REQUIRE(scene.terragrunt({"init"}, "", row.unit).exit_code == 0);
          const std::string name =
              row.lock + std::string(place == "inline" ? ".terraform.lock.hcl" : ".terraform.modules.lock.hcl");
          std::string accepted = scene.read(name);
          scene.move_the_tag();
          const std::string commit = scene.stacks.id("v1.0.0");
          const std::size_t hashes = accepted.find("hashes");
          accepted.replace(accepted.find("git:", hashes) + 4, commit.size(), commit);
          accepted.replace(accepted.find("h1:", hashes) + 3, 43, std::string(43, 'A'));
          scene.write(name, accepted);
          scene.environment["CI"] = ci;
          for (const std::vector<std::string>& command :
               {std::vector<std::string>{"init"}, {"get"}, {"plan"}, {"init"}}) {
            const Ran ran = scene.terragrunt(command, "", row.unit);
            BOOST_TEST(ran.exit_code != 0);
            BOOST_TEST(ran.err.find("[HASH_MISMATCH]") + ran.err.find("[MISSING]") < 2 * ran.err.size(), ran.err);
            BOOST_TEST(scene.read(name) == accepted);
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_upgrade_names_a_moved_tag_until_it_is_accepted) {
  terragrunt({"init"});
  const std::string locked = unit_lock();
  move_the_tag();
  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  const Ran ran = terragrunt({"init", "-upgrade"});
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.out == "");
  BOOST_TEST(
      ran.err ==
      "Error: the tag of \"git::file://<dir>/repositories/stacks.git//network?ref=v1.0.0\" was moved; the locked "
      "content is kept [HASH_MISMATCH]\n"
      "  note: git:<stacks> is locked, git:<moved> is offered\n"
      "  hint: review what the source has now; to lock it, run TOFU_MODLOCK_TARGET=terragrunt:source terragrunt init "
      "--source-update\n"
      "hook modlock_install: exit code 4\n");
  BOOST_TEST(unit_lock() == locked);

  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  environment["TOFU_MODLOCK_TARGET"] = "terragrunt:source";
  const Ran accepted = terragrunt({"init"});
  environment.erase("TOFU_MODLOCK_TARGET");
  BOOST_TEST(accepted.exit_code == 0, accepted.err);
  BOOST_TEST(shown(unit_lock()).find("\"git:<moved>\"") != std::string::npos, shown(unit_lock()));
  BOOST_TEST(terragrunt({"plan"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(an_upgrade_locks_the_commit_of_a_branch) {
  add_unit("live/vpc", "git::" + stacks.url() + "//network?ref=main");
  terragrunt({"init"});
  move_the_tag();
  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  const Ran ran = terragrunt({"init", "-upgrade"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err.find("live/vpc: terragrunt:source  git::file://<dir>/repositories/stacks.git//network?ref=main  "
                          "locked again\n") != std::string::npos,
             ran.err);
  BOOST_TEST(shown(unit_lock()).find("\"git:<moved>\"") != std::string::npos, shown(unit_lock()));
}

BOOST_AUTO_TEST_CASE(the_locked_source_is_where_terragrunt_looks_for_it) {
  environment["PLACES"] = "1";
  BOOST_REQUIRE(terragrunt({"init"}).exit_code == 0);
  const std::string locked = unit_lock();
  move_the_tag();
  fs::rename(stacks.path(), path("elsewhere"));
  for (const char* ci : {"true", ""}) {
    for (const char* command : {"init", "plan"}) {
      BOOST_TEST_CONTEXT("CI=" << ci << " " << command) {
        environment["CI"] = ci;
        fs::remove_all(root() / "live/vpc/.terragrunt-cache");
        const Ran ran = terragrunt({command});
        BOOST_TEST(ran.exit_code == 0, ran.err);
        BOOST_TEST(unit_lock() == locked);
        BOOST_TEST(read_text(working_directory() / "main.tf") == read("catalog/main.tf"));
        BOOST_TEST(read_text(downloaded() / "shared/main.tf") == "# shared\n");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_bundle_has_the_source_and_the_module_calls) {
  environment["PLACES"] = "1";
  fs::remove_all(root() / ".git");
  BOOST_REQUIRE(program({"git", "init", "--quiet"}).exit_code == 0);
  BOOST_REQUIRE(terragrunt({"init"}).exit_code == 0);
  const std::string bundle = path("modules").string();
  for (const std::vector<std::string>& named :
       {std::vector<std::string>{"live/vpc"}, std::vector<std::string>{"--recursive", "--exclude", "catalog"}}) {
    std::vector<std::string> arguments = {"bundle", "create", "--output", bundle};
    arguments.insert(arguments.end(), named.begin(), named.end());
    fs::remove_all(bundle);
    const Ran created = modlock(arguments);
    BOOST_TEST(created.exit_code == 0, created.err);
    BOOST_TEST(created.out.find(": 2 packages for 1 lock file, ") != std::string::npos, created.out);
  }
  write("denied/.tofu-modlock.hcl", "deny_sources = [\"*stacks.git\"]\n");
  write("denied/.terraform.lock.hcl", unit_lock());
  const Ran denied = modlock({"bundle", "create", "--output", path("denied").string(), "denied"});
  BOOST_TEST(denied.err.find("[SOURCE_DENIED]") != std::string::npos, denied.err);
  fs::rename(stacks.path(), path("elsewhere"));
  fs::rename(vpc.path(), path("elsewhere-too"));
  fs::remove_all(cache());
  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  environment["CI"] = "true";
  BOOST_TEST(terragrunt({"init"}).exit_code != 0);
  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  const Ran installed = modlock({"install", "--from", bundle, "live/vpc"});
  BOOST_TEST(installed.exit_code == 0, installed.err);
  BOOST_TEST(!fs::exists(root() / "live/vpc/.terraform"));
  BOOST_TEST(terragrunt({"init"}).exit_code != 0);  // what a bundle lists is used only in offline mode
  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  environment["TOFU_MODLOCK_OFFLINE"] = "1";
  const Ran ran = terragrunt({"init"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read_text(working_directory() / "main.tf") == read("catalog/main.tf"));
  std::string other = unit_lock();
  const std::string h1 = other.substr(other.find("\"h1:") + 4, 44);
  other.replace(other.find(h1), h1.size(), std::string(43, 'A') + "=");
  write("other/.terraform.lock.hcl", other);
  const Ran missing = modlock({"install", "--from", bundle, "other"});
  BOOST_TEST(missing.exit_code == 3, missing.err);
  BOOST_TEST(missing.err.find("does not have the package of ") != std::string::npos, missing.err);
}

// The cache knows the locked commit as one of the fork.
BOOST_AUTO_TEST_CASE(a_commit_of_a_fork_is_not_the_source_of_a_unit) {
  lock_commit_of_fork();
  BOOST_REQUIRE(modlock({"bundle", "create", "root", "--output", path("modules").string()}).exit_code == 0);
  environment["PLACES"] = "1";
  environment["CI"] = "true";
  for (const bool is_from_bundle : {false, true}) {
    BOOST_TEST_CONTEXT((is_from_bundle ? "listed for the fork" : "fetched from the fork")) {
      if (is_from_bundle) {
        fs::remove_all(cache());
        fs::remove_all(root() / "root/.terraform");
        BOOST_REQUIRE(modlock({"install", "--from", path("modules").string(), "root"}).exit_code == 0);
      }
      fs::remove_all(root() / "live/vpc/.terragrunt-cache");
      const Ran ran = terragrunt({"init"});
      BOOST_TEST(ran.exit_code != 0);
      BOOST_TEST(ran.err.find("[HASH_MISMATCH]") != std::string::npos, ran.err);
      for (const auto& entry : fs::recursive_directory_iterator(root() / "live/vpc")) {
        BOOST_TEST((!entry.is_regular_file() || read_text(entry.path()).find("# evil") == std::string::npos),
                   entry.path());
      }
    }
  }
}

// The checkout has the directory of Terragrunt with the files of a fork, and with their list.
BOOST_AUTO_TEST_CASE(a_checkout_does_not_prove_the_source_of_a_unit) {
  lock_commit_of_fork();
  const fs::path place = working_directory();
  const fs::path lists = ".terraform/tofu-modlock/files";
  fs::remove_all(downloaded() / "shared");
  const auto overwrite = fs::copy_options::recursive | fs::copy_options::overwrite_existing;
  fs::copy(root() / "root/.terraform/modules/fork", downloaded(), overwrite);
  fs::copy(root() / "live/vpc/.terraform.lock.hcl", place / ".terraform.lock.hcl", overwrite);
  fs::rename(cache(), path("cache-of-fork"));
  const auto hook = [&](const char* command) {
    return program({"/bin/sh", "-c", "cd \"$0\" && exec tofu-modlock hook --unit \"$1\" --root \"$2\" \"$3\"",
                    place.string(), (root() / "live/vpc").string(), root().string(), command});
  };
  struct Row {
    const char* command;
    int exit_code;
    const char* code;
  };
  for (const bool has_cache : {true, false}) {
    for (const bool has_list : {true, false}) {
      for (const char* ci : {"true", ""}) {
        for (const Row& row : {Row{"plan", 3, "[MISSING]\n  hint: run: terragrunt init\n"},
                               Row{"apply", 3, "[MISSING]"}, Row{"init", 4, "[HASH_MISMATCH]"}}) {
          BOOST_TEST_CONTEXT(has_cache << " " << has_list << " CI=" << ci << " " << row.command) {
            environment["CI"] = ci;
            fs::remove_all(cache());
            fs::remove_all(place / lists);
            if (has_cache) {
              fs::copy(path("cache-of-fork"), cache(), overwrite);
            }
            if (has_list) {
              fs::copy(root() / "root" / lists, place / lists, overwrite);
            }
            const Ran ran = hook(row.command);
            BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
            BOOST_TEST(ran.err.find(row.code) != std::string::npos, ran.err);
          }
        }
      }
    }
  }
  environment["TOFU_MODLOCK_OFFLINE"] = "1";
  BOOST_TEST(hook("init").exit_code == 7);
}

// A plan sends no request: `init` queries the source once, and then the cache knows it.
BOOST_AUTO_TEST_CASE(a_plan_with_an_empty_cache_needs_init) {
  BOOST_REQUIRE(terragrunt({"init"}).exit_code == 0);
  fs::remove_all(cache());
  const auto plan = [this] {
    return program({"/bin/sh", "-c", "cd \"$0\" && exec tofu-modlock hook --unit \"$1\" --root \"$2\" plan",
                    working_directory().string(), (root() / "live/vpc").string(), root().string()});
  };
  BOOST_TEST(plan().exit_code == 3);
  BOOST_TEST(shown(plan().err) ==
             "Error: the cache does not have the package of terragrunt:source from "
             "\"git::file://<dir>/repositories/stacks.git//network?ref=v1.0.0\" [MISSING]\n"
             "  hint: run: terragrunt init\n");
  BOOST_REQUIRE(terragrunt({"init"}).exit_code == 0);
  fs::rename(stacks.path(), path("elsewhere"));
  BOOST_TEST(plan().exit_code == 0);
}

BOOST_AUTO_TEST_CASE(the_remote_store_has_the_source_and_the_module_calls, *needs(DockerRegistry::kPrograms)) {
  const DockerRegistry registry;
  environment["SSL_CERT_FILE"] = registry.authority().string();
  environment["PLACES"] = "1";
  BOOST_REQUIRE(terragrunt({"init"}).exit_code == 0);
  const std::string address = registry.source("team/modules");
  const Ran pushed = modlock({"bundle", "push", address, "live/vpc"});
  BOOST_TEST(pushed.out.find(": 2 packages uploaded, 0 already there.\n") != std::string::npos,
             pushed.out << pushed.err);
  fs::rename(stacks.path(), path("elsewhere"));
  fs::rename(vpc.path(), path("elsewhere-too"));
  fs::remove_all(cache());
  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  environment["CI"] = "true";
  environment["TOFU_MODLOCK_REMOTE"] = address;
  const Ran ran = terragrunt({"init"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(read_text(working_directory() / "main.tf") == read("catalog/main.tf"));
}

BOOST_AUTO_TEST_CASE(what_is_put_where_terragrunt_looks) {
  struct Row {
    const char* name;
    std::string below;      // in the unit
    std::string directory;  // empty: that of the source
    std::function<void(RemoteUnit&)> change;
    std::string flags;
    bool is_placed;
  };
  const auto nothing = [](RemoteUnit&) {};
  const Row rows[] = {
      {"the locked source", "cache/w", "", nothing, "", true},
      {"another source", "cache/w", "other", nothing, "", false},
      {"a newer version is wanted", "cache/w", "", nothing, "--upgrade ", false},
      {"what is not locked", "cache/w", "",
       [](RemoteUnit& scene) { fs::remove(scene.root() / "live/vpc/.terraform.lock.hcl"); }, "", false},
      {"a version that is not locked", "cache/w", "",
       [](RemoteUnit& scene) { scene.add_unit("live/vpc", "git::" + scene.stacks.url() + "//network?ref=v2.0.0"); }, "",
       false},
      {"through a link out of the repository", "link/w", "",
       [](RemoteUnit& scene) {
         fs::create_directory(scene.path("elsewhere"));
         fs::create_directory_symlink(scene.path("elsewhere"), scene.root() / "live/vpc/link");
       },
       "", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RemoteUnit scene;
      BOOST_REQUIRE(scene.terragrunt({"init"}).exit_code == 0);
      const std::string directory = row.directory.empty() ? scene.downloaded().filename().string() : row.directory;
      row.change(scene);
      const fs::path place = scene.root() / "live/vpc" / row.below / directory;
      const Ran ran = scene.program({"sh", "-c",
                                     "cd live/vpc && exec tofu-modlock hook --unit . --root ../.. " + row.flags +
                                         "--working-dir \"$0\" terragrunt-read-config",
                                     (place / "network").string()});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out + ran.err == "");
      BOOST_TEST(fs::exists(place / "network/main.tf") == row.is_placed);
      BOOST_TEST(fs::exists(place / ".terragrunt-source-version") == row.is_placed);
      BOOST_TEST(!fs::exists(scene.root() / "live/vpc/.terraform"));
    }
  }
}

constexpr const char* kGenerated = "# Generated by Terragrunt. Sig: nIlQXj57tbuaRZEa\n";

BOOST_AUTO_TEST_CASE(a_moved_tag_that_only_adds_files_stops_init) {
  struct Row {
    const char* file;
    std::string text;
  };
  for (const Row& row : {Row{"network/evil.tf", "# evil\n"}, Row{"network/evil.tf", kGenerated},
                         Row{"network/main_override.tf", "# evil\n"}}) {
    BOOST_TEST_CONTEXT(row.file << ": " << row.text) {
      RemoteUnit scene;
      scene.terragrunt({"init"});
      scene.stacks.commit({{"network/main.tf", scene.read("catalog/main.tf")},
                           {"shared/main.tf", "# shared\n"},
                           {"network/notes", "1\n"},
                           {row.file, row.text}});
      scene.stacks.tag("v1.0.0");
      fs::remove_all(scene.root() / "live/vpc/.terragrunt-cache");
      scene.environment["CI"] = "true";
      for (const char* command : {"init", "plan"}) {
        const Ran ran = scene.terragrunt({command});
        BOOST_TEST(ran.exit_code == 1);
        BOOST_TEST(ran.err.find(std::string("  note: ") + row.file + " was added\n") != std::string::npos, ran.err);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_changed_since_stops_a_plan) {
  struct Row {
    const char* name;
    const char* file;  // in the package
    const char* text;  // nullptr: removed
    int exit_code;
    const char* note;
  };
  const Row rows[] = {
      {"a file of the module", "network/main.tf", "# mine\n", 1, "  note: network/main.tf was changed\n"},
      {"a module beside it", "shared/main.tf", nullptr, 1, "  note: shared/main.tf was deleted\n"},
      {"what a client does not load", "network/notes", "2\n", 1, "  note: network/notes was changed\n"},
      {"what Terragrunt generates", "network/provider.tf", kGenerated, 0, ""},
      {"with another comment", "network/provider.tf", "// Generated by Terragrunt. Sig: nIlQXj57tbuaRZEa\n", 0, ""},
      {"over a file of the package", "shared/main.tf", kGenerated, 1, "  note: shared/main.tf was changed\n"},
      {"of a name that only a block of another unit has", "network/other.tf", kGenerated, 1,
       "  note: network/other.tf was added\n"},
      {"of a name that a block has, without the first line", "network/provider.tf", "# mine\n", 1,
       "  note: network/provider.tf was added\n"},
      {"without the first line, as its block says", "network/plain.tf", "# mine\n", 0, ""},
      {"the backend of remote_state", "network/backend.tf", kGenerated, 0, ""},
      {"a copy of a file of the repository", "network/extra.tf", "# extra\n", 0, ""},
      {"another file of that name", "network/extra.tf", "# evil\n", 1, "  note: network/extra.tf was added\n"},
      {"an added file", "network/evil.tf", "", 1, "  note: network/evil.tf was added\n"},
      {"an added override", "network/main_override.tf.json", "{}", 1,
       "  note: network/main_override.tf.json was added\n"},
      {"added to another module", "shared/evil.tofu", "", 1, "  note: shared/evil.tofu was added\n"},
      {"added values", "network/x.auto.tfvars", "", 1, "  note: network/x.auto.tfvars was added\n"},
      {"an added module", ".hidden/evil.tf", "", 1, "  note: .hidden/evil.tf was added\n"},
      {"an added file that is not loaded", "network/README.md", "", 0, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RemoteUnit scene;
      scene.write("common/extra.tf", "# extra\n");
      scene.write("live/other/terragrunt.hcl", "generate \"other\" {\n  path = \"other.tf\"\n}\n");
      scene.write("modlock.hcl", scene.read("modlock.hcl") +
                                     "generate \"provider\" {\n  path = \"provider.tf\"\n}\n"
                                     "generate \"plain\" {\n  path = \"./plain.tf\"\n  disable_signature = true\n}\n"
                                     "remote_state {\n  generate = {\n    path = \"backend.tf\"\n  }\n}\n");
      scene.terragrunt({"init"});
      const fs::path file = scene.downloaded() / row.file;
      fs::create_directories(file.parent_path());
      fs::remove(file);
      if (row.text != nullptr) {
        write_text(file, row.text);
      }
      const Ran ran = scene.terragrunt({"output"});
      BOOST_TEST(ran.exit_code == 0);
      const Ran plan = scene.terragrunt({"plan"});
      BOOST_TEST(plan.exit_code == row.exit_code, plan.err);
      BOOST_TEST(plan.err.find(row.note) != std::string::npos, plan.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(files_of_the_unit_count_as_they_are) {
  write("live/vpc/main.tf", read("catalog/main.tf") + "# of the unit\n");
  BOOST_TEST(terragrunt({"plan"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(in_ci_it_has_to_be_locked) {
  environment["CI"] = "true";
  const Ran ran = terragrunt({"init"});
  BOOST_TEST(ran.exit_code == 1);
  BOOST_TEST(ran.err.find("Error: the lock file does not match terragrunt:source (not locked) [FROZEN]\n") == 0,
             ran.err);
  BOOST_TEST(ran.err.find("hook modlock_install: exit code 3\n") != std::string::npos, ran.err);
}

// A unit of a stack, as `terragrunt stack generate` leaves it.
BOOST_AUTO_TEST_CASE(a_generated_unit_has_values) {
  const std::string unit = "live/.terragrunt-stack/vpc";
  add_unit(unit, "git::" + stacks.url() + "//network?ref=${values.ref}");
  write(unit + "/terragrunt.values.hcl", "ref = \"v1.0.0\"\n");
  const Ran ran = terragrunt({"plan"}, "", unit);
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(shown(unit_lock(unit)).find(kBlock) != std::string::npos, shown(unit_lock(unit)));
}

BOOST_AUTO_TEST_CASE(the_lock_of_a_generated_unit_survives_stack_clean) {
  const std::string unit = "live/.terragrunt-stack/vpc";
  const auto generate = [&] {
    fs::remove_all(root() / "live/.terragrunt-stack");
    add_unit(unit, "git::" + stacks.url() + "//network?ref=${values.ref}");
    write(unit + "/terragrunt.values.hcl", "ref = \"v1.0.0\"\n");
  };
  generate();
  BOOST_TEST(terragrunt({"init"}, "", unit).exit_code == 0);
  const std::string locked = unit_lock(unit);
  BOOST_TEST(shown(locked).find(kBlock) != std::string::npos, shown(locked));
  BOOST_TEST(read("live/terragrunt-locks/vpc/.terraform.lock.hcl") == locked);
  release(vpc, "1.1.0");
  generate();
  environment["CI"] = "true";
  const Ran ran = terragrunt({"plan"}, "", unit);
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(unit_lock(unit) == locked);
  BOOST_TEST(read("live/terragrunt-locks/vpc/.terraform.lock.hcl") == locked);
}

// A runner keeps its checkout from job to job, and with it the copies in the generated unit and in Terragrunt's cache.
BOOST_AUTO_TEST_CASE(a_deleted_lock_file_of_a_generated_unit_is_frozen_in_ci) {
  const std::string unit = "live/.terragrunt-stack/vpc";
  add_unit(unit, "git::" + stacks.url() + "//network?ref=v1.0.0");
  struct Row {
    const char* name;
    const char* settings;
    const char* lock;
    bool has_cache;
  };
  const Row rows[] = {
      {"inline", "", ".terraform.lock.hcl", true},
      {"inline, without Terragrunt's cache", "", ".terraform.lock.hcl", false},
      {"sidecar", "module_lock_file = \"sidecar\"\n", ".terraform.modules.lock.hcl", true},
      {"sidecar, without Terragrunt's cache", "module_lock_file = \"sidecar\"\n", ".terraform.modules.lock.hcl", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write(".tofu-modlock.hcl", row.settings);
      environment["CI"] = "";
      BOOST_TEST(terragrunt({"init"}, "", unit).exit_code == 0);
      const std::string kept = std::string("live/terragrunt-locks/vpc/") + row.lock;
      const std::string locked = read(kept);
      BOOST_TEST(shown(locked).find(kBlock) != std::string::npos, shown(locked));
      fs::remove_all(root() / "live/terragrunt-locks");
      if (!row.has_cache) {
        fs::remove_all(root() / unit / ".terragrunt-cache");
      }
      environment["CI"] = "true";
      for (const char* command : {"init", "plan"}) {
        const Ran refused = terragrunt({command}, "", unit);
        BOOST_TEST(refused.exit_code == 1);
        BOOST_TEST(refused.out == "");
        BOOST_TEST(refused.err.find("Error: the unit <dir>/root/live/.terragrunt-stack/vpc has no lock file in "
                                    "<dir>/root/live/terragrunt-locks/vpc, only that of an earlier run in ") == 0U,
                   refused.err);
        BOOST_TEST(refused.err.find("[FROZEN]") != std::string::npos, refused.err);
        BOOST_TEST(!has("live/terragrunt-locks"));
      }
      environment["CI"] = "";
      const Ran again = terragrunt({"init"}, "", unit);
      BOOST_TEST(again.exit_code == 0, again.err);
      BOOST_TEST(
          again.err.find(
              "live/.terragrunt-stack/vpc: the unit has no lock file; that of the last run is used again\n") == 0U,
          again.err);
      BOOST_TEST(read(kept) == locked);
      fs::remove_all(root() / unit / ".terragrunt-cache");
      for (const char* name : {".terraform.lock.hcl", ".terraform.modules.lock.hcl"}) {
        fs::remove(root() / "live/terragrunt-locks/vpc" / name);
        fs::remove(root() / unit / name);
      }
    }
  }
}

// Only .terraform.modules.lock.hcl: the client writes no lock file.
BOOST_AUTO_TEST_CASE(a_sidecar_of_a_generated_unit_is_kept) {
  environment["CLIENT_DOES"] = "exit 0";
  write(".tofu-modlock.hcl", "module_lock_file = \"sidecar\"\n");
  const std::string unit = "live/.terragrunt-stack/vpc";
  add_unit(unit, "git::" + stacks.url() + "//network?ref=v1.0.0");
  BOOST_TEST(terragrunt({"init"}, "", unit).exit_code == 0);
  BOOST_TEST(shown(read("live/terragrunt-locks/vpc/.terraform.modules.lock.hcl")).find(kBlock) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_lock_of_a_generated_unit_is_kept_if_the_client_does_not_write_it) {
  environment["CLIENT_DOES"] = "exit 0";
  const std::string unit = "live/.terragrunt-stack/vpc";
  add_unit(unit, "git::" + stacks.url() + "//network?ref=v1.0.0");
  BOOST_TEST(terragrunt({"init"}, "", unit).exit_code == 0);
  BOOST_TEST(shown(read("live/terragrunt-locks/vpc/.terraform.lock.hcl")).find(kBlock) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(moved_sources_are_held_with_terragrunt, *needs("terragrunt, tofu or terraform")) {
  for (const std::string more :
       {"//network?ref=v1.0.0", "//network?depth=1&ref=main", "//network", "//network?ref=<commit>"}) {
    BOOST_TEST_CONTEXT(more) {
      RemoteUnit scene;
      scene.use_terragrunt(clients().front());
      const std::string commit = more.ends_with("<commit>") ? "//network?ref=" + scene.stacks.id("main") : more;
      scene.add_unit("live/vpc", "git::" + scene.stacks.url() + commit);
      const Ran locked = scene.terragrunt({"init"});
      BOOST_TEST(locked.exit_code == 0, locked.err);
      scene.move_the_tag();
      for (const auto& [no_cas, ci] : {std::pair{"false", "true"}, {"true", "true"}, {"true", ""}}) {
        scene.environment["TG_NO_CAS"] = no_cas;
        scene.environment["CI"] = ci;
        fs::remove_all(scene.root() / "live/vpc/.terragrunt-cache");
        const Ran ran = scene.terragrunt({"plan"});
        BOOST_TEST(ran.exit_code == 0, ran.err);
        BOOST_TEST(ran.err.find("Downloading") == std::string::npos, ran.err);
        BOOST_TEST(read_text(scene.working_directory() / "main.tf") == scene.read("catalog/main.tf"));
      }
    }
  }
}

// "network" calls a module and "shared" calls none, so that the lock file has no other block.
BOOST_AUTO_TEST_CASE(a_moved_tag_is_never_locked_with_terragrunt, *needs("terragrunt, tofu or terraform")) {
  struct Row {
    std::vector<std::string> arguments;
    const char* error;  // empty: held
  };
  const Row rows[] = {{{"init"}, ""},
                      {{"plan"}, ""},
                      {{"init", "--source-update"}, "note: network/main.tf was changed\n"},
                      {{"plan", "--source-update"}, "note: network/main.tf was changed\n"},
                      {{"init", "-upgrade"}, "was moved; the locked content is kept [HASH_MISMATCH]\n"}};
  for (const std::string directory : {"network", "shared"}) {
    RemoteUnit scene;
    scene.use_terragrunt(clients().front());
    scene.add_unit("live/vpc", "git::" + scene.stacks.url() + "//" + directory + "?ref=v1.0.0");
    if (directory == "shared") {
      fs::remove(scene.root() / "live/vpc/.tofu-modlock.hcl");
    }
    const Ran first = scene.terragrunt({"init"});
    BOOST_TEST(first.exit_code == 0, first.err);
    const std::string locked = scene.unit_lock();
    const Ran committed = scene.program({"sh", "-c",
                                         "git add live/vpc/.terraform.lock.hcl && git -c user.name=a -c "
                                         "user.email=a@b.test commit --quiet --message lock"});
    BOOST_REQUIRE_MESSAGE(committed.exit_code == 0, committed.err);
    scene.move_the_tag();
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(directory << ": " << row.arguments.front() << " " << row.arguments.back()) {
        fs::remove_all(scene.root() / "live/vpc/.terragrunt-cache");
        const Ran ran = scene.terragrunt(row.arguments);
        BOOST_TEST((ran.exit_code == 0) == std::string(row.error).empty(), ran.err);
        BOOST_TEST(ran.err.find(row.error) != std::string::npos, ran.err);
        BOOST_TEST(ran.err.find("locked again") == std::string::npos, ran.err);
        BOOST_TEST(scene.unit_lock() == locked);
      }
    }
    BOOST_TEST_CONTEXT(directory) {
      scene.remove_block();
      const Ran accepted = scene.terragrunt({"init", "-upgrade", "--source-update"});
      BOOST_TEST(accepted.exit_code == 0, accepted.err);
      BOOST_TEST(scene.shown(scene.unit_lock()).find("\"git:<moved>\"") != std::string::npos, scene.unit_lock());
      BOOST_TEST(scene.terragrunt({"plan"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_source_that_nobody_can_tell) {
  write("live/vpc/terragrunt.values.hcl", "ref = \"v1.0.0\"\n");
  const std::string text = read("live/vpc/terragrunt.hcl");
  terragrunt({"output"});
  write("live/vpc/terragrunt.hcl",
        "include \"modlock\" {\n  path = \"x\"\n}\n\nterraform {\n  source = get_env(\"X\")\n}\n");
  const auto hook = [&](std::vector<std::string> more) {
    std::string line = "cd '" + working_directory().string() + "' && exec tofu-modlock hook --unit '" +
                       (root() / "live/vpc").string() + "' --root '" + root().string() + "' init";
    for (const std::string& argument : more) {
      line += " '" + argument + "'";
    }
    return program({"/bin/sh", "-c", line});
  };
  const Ran ran = hook({});
  BOOST_TEST(ran.exit_code == 3, ran.err);
  BOOST_TEST(
      ran.err ==
      "Error: the source of the unit <dir>/root/live/vpc is computed, and Terragrunt did not print it, so it is "
      "neither locked nor checked [FROZEN]\n"
      "  hint: run: terragrunt render --format json, and correct what fails; or write the source as a literal; to "
      "allow it for this unit, use --allow-unchecked-source\n");
  struct Row {
    const char* name;
    std::vector<std::string> flags;
    std::map<std::string, std::string> variables;
    int exit_code;
  };
  const std::string variable = "TOFU_MODLOCK_ALLOW_UNCHECKED_SOURCE";
  const Row rows[] = {
      {"strict", {"--strict"}, {}, 3},
      {"in CI", {}, {{"CI", "true"}}, 3},
      {"allowed by name", {"--strict", "--allow-unchecked-source", "live/vpc"}, {}, 0},
      {"allowed by a glob", {"--strict", "--allow-unchecked-source", "live/*"}, {}, 0},
      {"another unit is allowed", {"--strict", "--allow-unchecked-source", "live/dns"}, {}, 3},
      {"of a glob a component stays one", {"--strict", "--allow-unchecked-source", "*"}, {}, 3},
      {"allowed by the variable", {"--strict"}, {{variable, "live/dns:**/vpc"}}, 0},
      {"outside", {"--allow-unchecked-source", "../live/vpc"}, {}, 2},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      environment["CI"] = "";
      environment[variable] = "";
      for (const auto& [name, value] : row.variables) {
        environment[name] = value;
      }
      const Ran judged = hook(row.flags);
      BOOST_TEST(judged.exit_code == row.exit_code, judged.err);
      BOOST_TEST((judged.err.find("[FROZEN]") != std::string::npos) == (row.exit_code == 3), judged.err);
      BOOST_TEST((judged.err.empty() || row.exit_code != 0), judged.err);
    }
  }
  environment["CI"] = "";
  environment.erase(variable);
  BOOST_TEST(hook({"--source", "git::" + stacks.url() + "//network?ref=v1.0.0"}).exit_code == 0);
  BOOST_TEST(shown(unit_lock()).find(kBlock) != std::string::npos, shown(unit_lock()));
}

// With Terragrunt itself, which downloads from a server that checks signatures.
BOOST_AUTO_TEST_CASE(an_object_of_s3, *needs("terragrunt, tofu")) {
  S3Server server;
  const auto put = [&](const std::string& text) {
    server.put("stacks", "a.zip", make_zip({{.name = "network/main.tf", .content = read("catalog/main.tf") + text}}));
  };
  put("");
  server.require("AKIAEXAMPLE", "canary-secret");
  environment["AWS_ACCESS_KEY_ID"] = "AKIAEXAMPLE";
  environment["AWS_SECRET_ACCESS_KEY"] = "canary-secret";
  // Terragrunt sends a request to another server than AWS only with a key in the address.
  add_unit("live/vpc", "s3::" + server.url() + "/stacks/a.zip//network?region=us-east-1&" +
                           "aws_access_key_id=AKIAEXAMPLE&aws_access_key_secret=canary-secret");
  use_terragrunt("tofu");
  const Ran locked = terragrunt({"init"});
  BOOST_TEST(locked.exit_code == 0, locked.out << locked.err);
  BOOST_TEST(unit_lock().find("  source = \"s3::" + server.url() + "/stacks/a.zip//network\"\n\n  hashes = [\n") !=
                 std::string::npos,
             unit_lock());
  BOOST_TEST(occurrences(unit_lock(), "\"zh:") == 1U, unit_lock());
  put("# other\n");
  fs::remove_all(root() / "live/vpc/.terragrunt-cache");
  environment["CI"] = "true";
  const Ran held = terragrunt({"plan"});
  BOOST_TEST(held.exit_code == 0, held.out << held.err);
  BOOST_TEST(read_text(working_directory() / "main.tf") == read("catalog/main.tf"));
}

// In CI a source that cannot be checked has to be allowed.
BOOST_AUTO_TEST_CASE(a_source_that_cannot_be_checked) {
  const std::string computed = "terraform {\n  source = get_env(\"X\")\n}\n";
  const auto written = [](const std::string& source) { return "terraform {\n  source = \"" + source + "\"\n}\n"; };
  struct Row {
    const char* name;
    std::map<std::string, std::string> files;  // of the unit; "" removes one
    std::map<std::string, std::string> variables;
    bool has_list = false;  // the package has Terragrunt's list of copied files
    bool is_own = false;    // the repository has all files of the package
    int exit_code = 3;
    const char* message = nullptr;
  };
  const Row rows[] = {
      {"no terragrunt.hcl",
       {{"terragrunt.hcl", ""}, {"terragrunt.hcl.json", "{}"}},
       {},
       false,
       false,
       3,
       "is computed"},
      {"the source of all units is replaced",
       {{"terragrunt.hcl", written("../x")}},
       {{"TG_SOURCE", "../y"}},
       false,
       false,
       3,
       "is replaced"},
      {"computed", {{"terragrunt.hcl", computed}}, {}, false, false, 3, "is computed"},
      {"computed, a list in the package", {{"terragrunt.hcl", computed}}, {}, true, false, 3, "is computed"},
      {"computed, files of the repository", {{"terragrunt.hcl", computed}}, {}, false, true, 3, "is computed"},
      {"computed, copied from the repository", {{"terragrunt.hcl", computed}}, {}, true, true, 0, ""},
      {"hg",
       {{"terragrunt.hcl", written("hg::http://127.0.0.1/x")}},
       {},
       false,
       false,
       3,
       "hg sources are not supported"},
      {"Terragrunt's content-addressed store",
       {{"terragrunt.hcl", written("cas::sha1:0123456789012345678901234567890123456789//network")}},
       {},
       false,
       false,
       3,
       "neither locked nor checked"},
      {"no address", {{"terragrunt.hcl", written("http:///%zz")}}, {}, false, false, 3, "neither locked nor checked"},
      {"a source that Terragrunt includes by itself",
       {{"terragrunt.hcl", written("../x")},
        {"terragrunt.autoinclude.hcl", written("git::" + stacks.url() + "//network?ref=v1.0.0")}},
       {},
       false,
       false,
       3,
       "(it is locked from "},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RemoteUnit scene;
      scene.terragrunt({"output"});
      for (const auto& [name, text] : row.files) {
        text.empty() ? (void)fs::remove(scene.root() / "live/vpc" / name) : scene.write("live/vpc/" + name, text);
      }
      if (row.has_list) {
        write_text(scene.downloaded() / ".terragrunt-source-manifest", "");
      }
      if (row.is_own) {
        scene.write("catalog/shared/main.tf", "# shared\n");
      }
      const auto hook = [&](const char* command, const std::string& flags) {
        return scene.program({"/bin/sh", "-c",
                              "cd '" + scene.working_directory().string() + "' && exec tofu-modlock hook " + flags +
                                  " --unit '" + (scene.root() / "live/vpc").string() + "' --root '" +
                                  scene.root().string() + "' " + command});
      };
      scene.environment["CI"] = "true";
      for (const auto& [name, value] : row.variables) {
        scene.environment[name] = value;
      }
      for (const char* command : {"init", "plan"}) {
        const Ran ran = hook(command, "");
        BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
        BOOST_TEST(ran.err.find(row.message) != std::string::npos, ran.err);
        BOOST_TEST((row.exit_code == 3 || ran.err.empty()), ran.err);
      }
      const Ran allowed = hook("init", "--allow-unchecked-source live/vpc");
      BOOST_TEST(allowed.err.find("neither locked nor checked") == std::string::npos, allowed.err);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

// A module of a registry, which lies in the directory "module" of its package; one whose directory the registry names
// by a pattern; a package at an address of its own, and one in an OCI registry.
struct ServedUnit : TerragruntScene {
  ServedUnit() {
    environment["SSL_CERT_FILE"] = server.authority().string();
    name_text(host, "<host>");
    write_text(server.files() / ".well-known/terraform.json", R"({"modules.v1": "/v1/modules/"})");
    for (const char* name : {"acme", "pattern"}) {
      write_text(server.files() / "v1/modules" / name / "net/aws/versions",
                 R"({"modules": [{"versions": [{"version": "1.0.0"}]}]})");
    }
    name_text(oci.host(), "<oci>");
    serve("");
  }
  void serve(const std::string& change) {
    const std::string text = read("catalog/main.tf");
    const auto package = [&](const std::string& below) {
      return compress("gzip", make_tar({{.name = below + "main.tf", .content = text + change},
                                        {.name = below + "inner/main.tf", .content = text + change}}));
    };
    write_text(server.files() / "packages/acme/net/aws/1.0.0.tar.gz", package("module/"));
    write_text(server.files() / "packages/pattern/net/aws/1.0.0.tar.gz", package("aws-net-0a1b2c3/"));
    write_text(server.files() / "packages/net.tar.gz", package(""));
    oci.push("team/net", "1.0.0", {{"main.tf", text + change}, {"inner/main.tf", text + change}});
  }

  HttpsGitServer server;
  OciRegistry oci{server.certificate()};
  std::string host = "127.0.0.1:" + std::to_string(server.port());  // the host of a registry has a dot
};

struct ServedRow {
  const char* name;
  std::string source;
  std::string block;  // in the lock file
  std::string file;   // the main.tf that runs, in what Terragrunt has put there
  bool is_held;       // Terragrunt downloads nothing
};

void is_locked_and_checked(ServedUnit& scene, const ServedRow& row) {
  scene.add_unit("live/vpc", row.source);
  for (const char* command : {"init", "plan"}) {
    const Ran ran = scene.terragrunt({command});
    BOOST_TEST(ran.exit_code == 0, ran.err);
    BOOST_TEST(ran.err.find("[CONFIG_NON_STATIC]") == std::string::npos, ran.err);
  }
  const std::string lock = scene.shown(scene.unit_lock());
  BOOST_TEST(
      lock.find("module \"terragrunt:source\" {\n" + row.block + "\n  hashes = [\n    \"h1:") != std::string::npos,
      lock);

  fs::remove(scene.working_directory() / "main.tf");  // a read-only link into Terragrunt's store
  write_text(scene.working_directory() / "main.tf", "# mine\n");
  const Ran plan = scene.terragrunt({"plan"});
  BOOST_TEST(plan.exit_code != 0);
  BOOST_TEST(plan.err.find("  note: " + row.file + " was changed\n") != std::string::npos, plan.err);

  scene.serve("# moved\n");
  fs::remove_all(scene.root() / "live/vpc/.terragrunt-cache");
  fs::remove_all(scene.path("home/.cache"));
  scene.environment["CI"] = "true";
  const Ran moved = scene.terragrunt({"init"});
  if (row.is_held) {
    BOOST_TEST(moved.exit_code == 0, moved.err);
    BOOST_TEST(moved.err.find("Downloading") == std::string::npos, moved.err);
  } else {
    BOOST_TEST(moved.exit_code != 0);
    BOOST_TEST(moved.err.find("[HASH_MISMATCH]\n") != std::string::npos, moved.err);
  }
}

std::vector<ServedRow> rows_of(const ServedUnit& scene, bool is_held, bool has_terragrunt) {
  const std::string module = "tfr://" + scene.host + "/acme/net/aws";
  const std::string pattern = "tfr://" + scene.host + "/pattern/net/aws";
  const std::string archive = "https://" + scene.host + "/packages/net.tar.gz";
  const auto block = [](const std::string& source, const std::string& version) {
    return version.empty() ? "  source = \"" + source + "\"\n"
                           : "  version = \"" + version + "\"\n  source  = \"" + source + "\"\n\n  constraints = \"" +
                                 version + "\"\n";
  };
  const std::string of_module = "<host>/modules/acme/net/aws";
  const std::string of_pattern = "<host>/modules/pattern/net/aws";
  const std::string of_archive = "https://<host>/packages/net.tar.gz";
  const std::string oci = "oci://" + scene.oci.host() + "/team/net";
  const std::string of_oci = "oci://<oci>/team/net";
  std::vector<ServedRow> rows = {
      {"a registry", module + "?version=1.0.0", block(of_module, "1.0.0"), "main.tf", is_held},
      {"a directory of a registry's package", module + "//inner?version=1.0.0", block(of_module + "//inner", "1.0.0"),
       "inner/main.tf", is_held},
      {"the newest version of a registry", module, "  version = \"1.0.0\"\n  source  = \"" + of_module + "\"\n",
       "main.tf", is_held},
      {"a registry with a pattern", pattern + "?version=1.0.0", block(of_pattern, "1.0.0"), "main.tf", is_held},
      {"a directory below a pattern", pattern + "//inner?version=1.0.0", block(of_pattern + "//inner", "1.0.0"),
       "inner/main.tf", is_held},
      {"an archive", archive, block(of_archive, ""), "main.tf", is_held},
      {"a directory of an archive", archive + "//inner", block(of_archive + "//inner", ""), "inner/main.tf", is_held},
      {"an OCI registry", oci + "?tag=1.0.0", block(of_oci + "?tag=1.0.0", ""), "main.tf", is_held},
      {"a directory of an OCI package", oci + "//inner?tag=1.0.0", block(of_oci + "//inner?tag=1.0.0", ""),
       "inner/main.tf", is_held},
  };
  if (has_terragrunt) {  // which requests the newest version that the constraint allows
    rows.push_back({"the argument version of the terraform block", module + "\"\n  version = \"~> 1.0",
                    "  version = \"1.0.0\"\n  source  = \"" + of_module + "\"\n\n  constraints = \"~> 1.0\"\n",
                    "main.tf", is_held});
  }
  return rows;
}

// `prepare` makes the scene ready.
template <typename Prepare>
void all_are_locked_and_checked(const Prepare& prepare, bool is_held, bool has_terragrunt = false) {
  std::size_t count = 1;  // each row has servers of its own, and a scene knows how many there are
  for (std::size_t i = 0; i < count; ++i) {
    ServedUnit scene;
    prepare(scene);
    const std::vector<ServedRow> rows = rows_of(scene, is_held, has_terragrunt);
    count = rows.size();
    BOOST_TEST_CONTEXT(rows[i].name) {
      is_locked_and_checked(scene, rows[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_registries_and_of_archives, *needs(HttpsGitServer::kPrograms)) {
  all_are_locked_and_checked([](const ServedUnit&) {}, false);
  all_are_locked_and_checked([](ServedUnit& scene) { scene.environment["PLACES"] = "1"; }, true);
}

void all_are_locked_and_checked_with(const std::string& terragrunt) {
  all_are_locked_and_checked(
      [&](ServedUnit& scene) {
        scene.use_terragrunt(clients().front());
        fs::create_symlink(*find_program(terragrunt), scene.path("bin/terragrunt"));
        scene.environment["TG_EXPERIMENT"] = "oci,version-attribute";
      },
      true, true);
}

BOOST_AUTO_TEST_CASE(of_registries_and_of_archives_with_terragrunt,
                     *needs(HttpsGitServer::kPrograms) * needs("terragrunt, tofu or terraform")) {
  all_are_locked_and_checked_with("terragrunt");
}

BOOST_AUTO_TEST_CASE(of_registries_and_of_archives_with_the_newest_terragrunt,
                     *needs(HttpsGitServer::kPrograms) * needs("terragrunt-new, tofu or terraform")) {
  all_are_locked_and_checked_with("terragrunt-new");
}

}  // namespace
}  // namespace modlock::test
