#include "plugin/terragrunt/unit_lock.h"

#include <boost/test/unit_test.hpp>

#include "backends/base/files.h"
#include "plugin/lock/backup.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::terragrunt;
using namespace modlock::test;

BOOST_AUTO_TEST_SUITE(unit_lock)

// Blocks of an earlier commit are those that a client dropped only if the sidecar has none either.
BOOST_AUTO_TEST_CASE(committed_blocks_are_not_known_beside_a_sidecar) {
  const std::string block = write_module_block(ModuleLock{.key = "vpc",
                                                          .version = "1.0.0",
                                                          .source = "git::https://example.com/vpc.git",
                                                          .hashes = {"git:" + std::string(40, 'a')}});
  for (const bool has_sidecar : {false, true}) {
    BOOST_TEST_CONTEXT(has_sidecar) {
      const TemporaryDirectory directory;
      const std::string header(kOpenTofuLockHeader);
      directory.write("unit/.terraform.lock.hcl", header + "\n" + block);
      const auto git = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"git", "-c", "user.name=a", "-c", "user.email=a@b.example"});
        run(std::move(arguments), directory / "unit");
      };
      git({"init", "--quiet"});
      git({"add", "."});
      git({"commit", "--quiet", "-m", "with blocks"});
      directory.write("unit/.terraform.lock.hcl", header);
      if (has_sidecar) {
        directory.write("unit/.terraform.modules.lock.hcl", block);
      }
      git({"add", "."});
      git({"commit", "--quiet", "-m", "without blocks"});
      directory.write("work/main.tf", "");
      const auto data = find_data_directory(directory / "work", std::nullopt).value();
      const Context context;
      BOOST_TEST(
          UnitLock(directory / "unit", directory / "work", ClientKind::opentofu).take_over(data, context).has_value());
      const auto backup = load_lock_backup(data.path);
      BOOST_TEST_REQUIRE(backup.has_value());
      BOOST_TEST(backup->has_value() == !has_sidecar);
    }
  }
}

// A package can bring lock entries that make a moved tag look locked.
BOOST_AUTO_TEST_CASE(a_sidecar_of_the_package_is_removed) {
  const std::string block = write_module_block(ModuleLock{.key = "terragrunt:source",
                                                          .source = "git::https://example.com/vpc.git",
                                                          .hashes = {"git:" + std::string(40, 'a')}});
  for (const bool has_sidecar : {false, true}) {
    BOOST_TEST_CONTEXT(has_sidecar) {
      const TemporaryDirectory directory;
      directory.write("unit/.terraform.lock.hcl", std::string(kOpenTofuLockHeader));
      if (has_sidecar) {
        directory.write("unit/.terraform.modules.lock.hcl", "# of the unit\n");
      }
      directory.write("work/.terraform.modules.lock.hcl", block);
      const auto data = find_data_directory(directory / "work", std::nullopt).value();
      BOOST_TEST(UnitLock(directory / "unit", directory / "work", ClientKind::opentofu)
                     .take_over(data, Context())
                     .has_value());
      const auto left = read_file(directory / "work/.terraform.modules.lock.hcl");
      BOOST_TEST((left ? *left : "none") == (has_sidecar ? "# of the unit\n" : "none"));
    }
  }
}

// Those of a unit that was removed from its stack.
BOOST_AUTO_TEST_CASE(left_lock_files_are_recognized) {
  struct Row {
    const char* name;
    const char* kept;
    bool is_left;
  };
  const Row rows[] = {
      {"a unit", "live/terragrunt-locks/vpc", false},
      {"a unit that was removed", "live/terragrunt-locks/old", true},
      {"a unit in a directory", "live/terragrunt-locks/net/vpc", false},
      {"a directory without a unit", "live/terragrunt-locks/net", true},
      {"a unit in a stack in the stack", "live/terragrunt-locks/net/dns", false},
      {"a unit that was removed from it", "live/terragrunt-locks/net/old", true},
      {"behind a link", "live/terragrunt-locks/link/vpc", true},
      {"a stack that is not generated", "other/terragrunt-locks/vpc", false},
      {"no stack", "live/vpc", false},
  };
  const TemporaryDirectory directory;
  for (const char* unit : {"vpc", "net/vpc", "net/.terragrunt-stack/dns"}) {
    directory.write("live/.terragrunt-stack/" + std::string(unit) + "/terragrunt.hcl", "");
  }
  std::filesystem::create_directory_symlink("net", directory / "live/.terragrunt-stack/link");
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(UnitLock::is_left(directory / row.kept) == row.is_left);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
