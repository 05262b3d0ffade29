// Engine::install(), with packages in memory.

#include <functional>

#include "backends/base/files.h"
#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

namespace {

std::string keys_of(const std::vector<messages::InstalledModule>& modules) {
  std::string text;
  for (const messages::InstalledModule& module : modules) {
    text += fmt::format("{} {}\n", module.key, module.directory);
  }
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(engine_install, EngineFixture)

BOOST_AUTO_TEST_CASE(packages_are_installed_once_and_removed_with_their_call) {
  lock();
  const auto params = of_root<messages::ModulesInstallParams>();
  const auto first = succeed(&Engine::install, params);
  BOOST_TEST(keys_of(first.installed) == "vpc .terraform/modules/vpc\n");
  BOOST_TEST(first.manifest == ".terraform/modules/modules.json");
  BOOST_TEST(first.stats.requests == 0U);
  BOOST_TEST(read(".terraform/modules/vpc/main.tf") == "# 1\n");
  const auto second = succeed(&Engine::install, params);
  BOOST_TEST(keys_of(second.installed) == "");
  BOOST_TEST(keys_of(second.reused) == "vpc .terraform/modules/vpc\n");
  write("main.tf", "");
  write(kSettings, "");
  lock();
  const auto third = succeed(&Engine::install, params);
  BOOST_TEST(keys_of(third.removed) == "vpc .terraform/modules/vpc\n");
  BOOST_TEST(!exists(".terraform/modules/vpc"));
}

BOOST_AUTO_TEST_CASE(each_call_has_its_own_entry) {
  git.add_tag(kVpc, "v2.0.0", {{"main.tf", "# 2\n"}});
  write("main.tf",
        fmt::format("module \"one\" {{\n  source = \"{0}\"\n}}\nmodule \"two\" {{\n  source = \"{0}\"\n}}\n", kVpc));
  write(kSettings, "module \"one\" {\n  version = \"~> 1.0\"\n}\nmodule \"two\" {\n  version = \"~> 2.0\"\n}\n");
  auto params = plan_params("missing");
  params.resolution = "per-call";
  BOOST_TEST(outcome(apply(succeed(&Engine::plan, params))) == "ok");
  install();
  BOOST_TEST(read(".terraform/modules/one/main.tf") == "# 1\n");
  BOOST_TEST(read(".terraform/modules/two/main.tf") == "# 2\n");
}

BOOST_AUTO_TEST_CASE(a_data_directory_whose_parts_are_links_is_refused) {
  lock();
  for (const char* part : {"modules", "tofu-modlock"}) {
    BOOST_TEST_CONTEXT(part) {
      fs::remove_all(directory / "root/.terraform");
      directory.write("outside/vpc/file", "keep");
      fs::create_directories(directory / "root/.terraform");
      fs::create_directory_symlink(directory / "outside", directory.path() / "root/.terraform" / part);
      BOOST_TEST(outcome(call(&Engine::install, of_root<messages::ModulesInstallParams>())) ==
                 fmt::format("PATH_OUTSIDE_ROOT: the path \"{0}/{1}\" is outside \"{0}\"",
                             (directory / "root/.terraform").string(), part));
      BOOST_TEST(read_text(directory / "outside/vpc/file") == "keep");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_root_is_never_its_own_data_directory) {
  lock();
  write("modules/vpc/own.tf", "# precious\n");
  auto params = of_root<messages::ModulesInstallParams>();
  for (const auto& [name, place] : {std::pair(".", directory / "root"), std::pair("..", directory.path()),
                                    std::pair("./x/..", directory / "root")}) {
    BOOST_TEST_CONTEXT(name) {
      params.root.data_dir = name;
      BOOST_TEST(
          outcome(call(&Engine::install, params)) ==
          fmt::format("PATH_OUTSIDE_ROOT: the data directory {} is the root, or a directory above it", place.string()));
    }
  }
  params.root.data_dir = "";
  BOOST_TEST(succeed(&Engine::install, params).manifest == ".terraform/modules/modules.json");
  BOOST_TEST(read("modules/vpc/own.tf") == "# precious\n");
}

BOOST_AUTO_TEST_CASE(override_files_come_and_go) {
  write("main.tf", fmt::format("module \"vpc\" {{\n  source  = \"{}\"\n  version = \"~> 1.0\"\n}}\n", kVpc));
  write(kSettings, "");
  lock();
  auto params = of_root<messages::ModulesInstallParams>();
  params.overrides = true;
  succeed(&Engine::install, params);
  BOOST_TEST(exists("modlock_override.tf"));
  params.overrides = false;
  succeed(&Engine::install, params);
  BOOST_TEST(!exists("modlock_override.tf"));
}

BOOST_AUTO_TEST_CASE(a_damaged_package_is_fetched_again) {
  lock();
  for (const fs::directory_entry& package : fs::directory_iterator(directory / "cache/v2/packages")) {
    write_text(package.path() / "tree/main.tf", "# damaged\n");
  }
  const auto installed = succeed(&Engine::install, of_root<messages::ModulesInstallParams>());
  BOOST_TEST(read(".terraform/modules/vpc/main.tf") == "# 1\n");
  BOOST_TEST(lines_of(installed.diagnostics) ==
             "warning HASH_MISMATCH: the cached package of git::https://example.com/vpc.git was damaged: it has been "
             "fetched again\n");
  BOOST_TEST((git.fetched == std::vector<std::string>{vpc_1_0, vpc_1_0}));
}

BOOST_AUTO_TEST_CASE(what_an_installation_refuses) {
  lock();
  const std::string locked = read(kLock);
  const std::string other = git.add_tag(kVpc, "v0.9.0", {{"main.tf", "# other\n"}});
  struct Row {
    const char* name;
    std::function<void(messages::ModulesInstallParams&)> spoil;
    const char* outcome;
    std::string hint;
  };
  const Row rows[] = {
      {"no lock", [&](auto&) { fs::remove(directory / "root/.terraform.lock.hcl"); },
       "FROZEN: the missing .terraform.lock.hcl does not match the configuration: module.vpc (not locked)",
       "run: tofu-modlock lock, review the change and commit it"},
      {"an entry without hashes",
       [&](auto&) {
         write(kLock, fmt::format("module \"vpc\" {{\n  version = \"1.0.0\"\n  source  = \"{}\"\n\n"
                                  "  constraints = \"~> 1.0\"\n}}\n",
                                  kVpc));
       },
       "FROZEN: .terraform.lock.hcl does not match the configuration: module.vpc (hashes were missing: git, h1)",
       "run: tofu-modlock lock, review the change and commit it"},
      {"a constraint that the entry does not meet",
       [&](auto&) { write(kSettings, "module \"vpc\" {\n  version = \"< 1.0.0\"\n}\n"); },
       "FROZEN: .terraform.lock.hcl does not match the configuration: module.vpc (the constraint \"< 1.0.0\" excludes "
       "the locked version 1.0.0)",
       "run: tofu-modlock lock, review the change and commit it"},
      {"a configuration that does not parse", [&](auto&) { write("main.tf", "module\n"); },
       "CONFIG_PARSE: expected \"=\" or a block after \"module\", found the end of the line", ""},
      {"offline without a package", [&](auto& params) { params.offline = true; },
       "OFFLINE_MISS: offline: git::https://example.com/vpc.git is not cached",
       "run it without --offline, or install from a bundle: tofu-modlock install --from BUNDLE"},
      {"a source that gives something else", [&](auto&) { git.repacked[vpc_1_0] = other; },
       "HASH_MISMATCH: module \"vpc\" has a checksum that doesn't match the lock file: expected "
       "h1:e0fkZVGnJ5Zqfh32v/vvwe3FFcOI1rJeyIPkyZOJyio=, got h1:4/mAoEY5qE3EANZ56tAgxBmPqDGy87ro1tAa5ZAYqQk=",
       "the source has other content now, git:" + other + " instead of git:" + vpc_1_0 +
           ": find out why it was replaced; to lock what the source has, after a review, run: tofu-modlock upgrade "
           "--target module.vpc"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      make_root("root");
      write(kLock, locked);
      fs::remove_all(directory / "cache");
      open();
      auto params = of_root<messages::ModulesInstallParams>();
      row.spoil(params);
      const auto installed = call(&Engine::install, params);
      BOOST_TEST(outcome(installed) == row.outcome);
      BOOST_TEST((installed ? "" : installed.error().hint) == row.hint);
      BOOST_TEST(!exists(".terraform/modules"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
