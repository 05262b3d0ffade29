// Engine::apply(), and what Engine::sbom() then reads.

#include "plugin/engine/engine.h"

#include <functional>

#include "tests/plugin/engine/engine_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(engine_apply, EngineFixture)

BOOST_AUTO_TEST_CASE(a_plan_is_written_once) {
  const auto planned = succeed(&Engine::plan, plan_params("missing"));
  BOOST_TEST(outcome(apply(planned)) == "ok");
  BOOST_TEST(read(kLock) == planned.edits.documents.at(0).new_text.value());
  BOOST_TEST(exists(".terraform/tofu-modlock"));
  BOOST_TEST(outcome(apply(planned)) == "ok");  // the file has the new content already
  BOOST_TEST(lines_of(run->diagnostics) == "");
}

BOOST_AUTO_TEST_CASE(ranges_give_the_same_file) {
  lock();
  const std::string before = read(kLock);
  git.add_tag(kVpc, "v1.1.0", {{"main.tf", "# 1.1\n"}});
  auto planned = succeed(&Engine::plan, plan_params("upgrade"));
  const std::string after = planned.edits.documents.at(0).new_text.value();
  planned.edits.documents[0].new_text.reset();
  BOOST_TEST(text_after(before, planned.edits.documents[0]) == after);
  BOOST_TEST(outcome(apply(planned)) == "ok");
  BOOST_TEST(read(kLock) == after);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_no_longer_used_is_deleted) {
  lock();
  const std::string locked = read(kLock);
  write(kSettings, "module_lock_file = \"sidecar\"\nmodule \"vpc\" {\n  version = \"~> 1.0\"\n}\n");
  const auto planned = succeed(&Engine::plan, plan_params("missing"));
  BOOST_TEST((planned.edits.documents.at(1).operation == messages::EditOperation::remove));
  BOOST_TEST(outcome(apply(planned)) == "ok");
  BOOST_TEST(!exists(kLock));
  BOOST_TEST(read(kSidecar) == as_sidecar(locked));
}

BOOST_AUTO_TEST_CASE(nothing_is_written_if_a_base_changed) {
  lock();
  git.add_tag(kVpc, "v2.0.0", {{"main.tf", "# 2\n"}});
  auto params = of_root<messages::UpdatePlanParams>();
  params.updates.push_back({.subject = "module.vpc", .new_version = "2.0.0", .new_constraint = {}});
  const auto planned = succeed(&Engine::update, params);
  const std::string settings = read(kSettings);
  write(kLock, "# edited\n");
  BOOST_TEST(outcome(apply(planned)) == fmt::format("CONTENT_MODIFIED: {} was modified while the command was running",
                                                    (directory / "root/.terraform.lock.hcl").string()));
  BOOST_TEST(read(kSettings) == settings);
  BOOST_TEST(read(kLock) == "# edited\n");
}

BOOST_AUTO_TEST_CASE(a_link_in_place_of_the_lock_is_not_written) {
  const auto planned = succeed(&Engine::plan, plan_params("missing"));
  const fs::path link = directory / "root/.terraform.lock.hcl";
  for (const fs::path& target : {directory / "outside.hcl", fs::path("inside.hcl")}) {
    fs::create_symlink(target, link);
    BOOST_TEST(outcome(apply(planned)) ==
               fmt::format("IO_ERROR: cannot write {}: it is a link to {}", link.string(), target.string()));
    BOOST_TEST(fs::is_symlink(link));
    BOOST_TEST(!fs::exists(link));
    fs::remove(link);
  }
}

BOOST_AUTO_TEST_CASE(a_link_in_place_of_configuration_is_followed_inside_the_root) {
  lock();
  git.add_tag(kVpc, "v2.0.0", {{"main.tf", "# 2\n"}});
  auto params = of_root<messages::UpdatePlanParams>();
  params.updates.push_back({.subject = "module.vpc", .new_version = "2.0.0", .new_constraint = {}});
  const auto planned = succeed(&Engine::update, params);
  const std::string before = read(kSettings);
  const fs::path link = directory / "root/.tofu-modlock.hcl";
  directory.write("outside.hcl", before);
  fs::remove(link);
  fs::create_symlink(directory / "outside.hcl", link);
  BOOST_TEST(outcome(apply(planned)) == fmt::format("PATH_OUTSIDE_ROOT: the path \"{}\" is outside \"{}\"",
                                                    (directory / "outside.hcl").string(),
                                                    (directory / "root").string()));
  BOOST_TEST(read_text(directory / "outside.hcl") == before);
  write("inside.hcl", before);
  fs::remove(link);
  fs::create_symlink("inside.hcl", link);
  BOOST_TEST(outcome(apply(planned)) == "ok");
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST(read("inside.hcl") == "module \"vpc\" {\n  version = \"~> 2.0\"\n}\n");
}

BOOST_AUTO_TEST_CASE(a_backup_that_cannot_be_saved_is_a_warning) {
  const auto planned = succeed(&Engine::plan, plan_params("missing"));
  write(".terraform/tofu-modlock", "a file in place of the directory");
  BOOST_TEST(outcome(apply(planned)) == "ok");
  BOOST_TEST(lines_of(run->diagnostics) ==
             fmt::format("warning IO_ERROR: cannot open the directory \"{}\": a part of the path is no directory, or a "
                         "link\n",
                         (directory / "root/.terraform/tofu-modlock").string()));
  BOOST_TEST(exists(kLock));
}

BOOST_AUTO_TEST_CASE(an_sbom_reads_the_lock_files) {
  lock();
  const std::string locked = read(kLock);
  const fs::path root = directory / "root";
  struct Row {
    const char* name;
    const char* lock;     // null: none
    const char* sidecar;  // null: none
    std::string text;     // its module calls, or the error
  };
  const Row rows[] = {
      {"the lock file", locked.c_str(), nullptr, "vpc "},
      {"the sidecar alone", nullptr, locked.c_str(), "vpc "},
      {"the blocks of the sidecar", "", locked.c_str(), "vpc "},
      {"a left-over sidecar", locked.c_str(), "", "vpc "},
      {"none", nullptr, nullptr,
       fmt::format("MISSING: there is no lock file (.terraform.lock.hcl) in {}", root.string())},
      {"one that does not parse", "module \"vpc\" {\n", nullptr,
       "LOCK_PARSE: the \"{\" of block \"module\" is never closed: expected \"}\" before the end of the file"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const auto& [name, text] : {std::pair(kLock, row.lock), std::pair(kSidecar, row.sidecar)}) {
        fs::remove(root / name);
        if (text != nullptr) {
          write(name, text);
        }
      }
      const auto found = call(&Engine::sbom, messages::RootParams{.root = root.string()});
      std::string text = found ? "" : outcome(found);
      for (const auto& [key, module] : found ? found->lock.modules : ModuleLocks()) {
        text += key + " ";
      }
      BOOST_TEST(text == row.text);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
