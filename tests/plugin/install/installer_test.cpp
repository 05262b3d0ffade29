#include "plugin/install/installer.h"

#include <boost/test/unit_test.hpp>

#include <fstream>

#include "backends/base/digest.h"
#include "backends/base/files.h"
#include "backends/store/links.h"
#include "plugin/install/manifest.h"
#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;

struct InstallFixture : PlanFixture {
  fs::path root() const { return request.walk.root; }
  std::string read(const std::string& name) const { return read_file(root() / name).value_or("<none>"); }

  Store store() const { return Store::open(directory.path() / "cache").value(); }

  Result<InstallReport> install(bool is_linked = false, bool is_strict = false) {
    request.mode = PlanMode::frozen;
    auto planned = plan();
    request.mode = PlanMode::missing;
    BOOST_REQUIRE_MESSAGE(planned.has_value(), (planned ? "" : planned.error().message));
    const Store cache = store();
    auto data = find_data_directory(root(), std::nullopt);
    return install_modules({.plan = *planned,
                            .lock = request.lock,
                            .data = *data,
                            .root = request.walk.root,
                            .links = is_linked ? &request.walk.settings : nullptr,
                            .is_strict = is_strict},
                           cache, Context{});
  }

  // Locks a release of the module "vpc". Returns the directory of its package in the store.
  fs::path lock_vpc(const std::string& version) {
    source->add_tag(kVpc, "v" + version, {{"main.tf", "# " + version + "\n"}});
    write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v" + version + "\"\n}\n");
    return lock().resolved.at("vpc").package_directory;
  }

  std::set<std::string> recorded() const { return recorded_links(store(), fs::file_time_type::clock::now()).value(); }
};

std::string name_of(const fs::path& tree) {
  return tree.parent_path().filename().string();
}

std::string keys(const std::vector<InstalledModule>& modules) {
  std::string text;
  for (const InstalledModule& module : modules) {
    text += module.key + " ";
  }
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(installer, InstallFixture)

BOOST_AUTO_TEST_CASE(content_is_never_replaced_by_its_lfs_pointer) {
  const std::string content = "the content";
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + sha256_hex(content) +
                              "\nsize " + std::to_string(content.size()) + "\n";
  source->add_tag(kVpc, "v1.0.0",
                  {{".gitattributes", "*.zip filter=lfs -text\n"}, {"f.zip", pointer}, {"g.txt", pointer}});
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  const std::string message = "module \"vpc\" has Git LFS pointers in place of the content of \"f.zip\", \"g.txt\"";
  const auto refused = install(false, true);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code == Code::source_unsupported));
  BOOST_TEST(refused.error().message == message);
  BOOST_TEST(!fs::exists(root() / ".terraform/modules/vpc"));
  const auto warned = install();
  BOOST_REQUIRE(warned.has_value());
  BOOST_REQUIRE(warned->diagnostics.size() == 1U);
  BOOST_TEST((warned->diagnostics[0].what.code == Code::lfs_pointer));
  BOOST_TEST(warned->diagnostics[0].what.message == message);
  BOOST_TEST(read(".terraform/modules/vpc/f.zip") == pointer);
  BOOST_TEST((install(false, true).error().code == Code::source_unsupported));
  BOOST_TEST(install()->diagnostics.size() == 1U);
  // As a client fetches it.
  for (const char* name : {"f.zip", "g.txt"}) {
    write(std::string(".terraform/modules/vpc/") + name, content);
  }
  for (const bool is_strict : {false, true}) {
    const auto kept = install(false, is_strict);
    BOOST_REQUIRE(kept.has_value());
    BOOST_TEST(keys(kept->reused) == "vpc ");
    BOOST_TEST(kept->diagnostics.empty());
    BOOST_TEST(read(".terraform/modules/vpc/f.zip") == content);
  }
  struct Row {
    const char* name;
    std::function<void(const fs::path& place)> change;
  };
  const fs::path vpc = root() / ".terraform/modules/vpc";
  for (const Row& row :
       {Row{"writable by others", [](const fs::path& place) { fs::permissions(place / "f.zip", fs::perms::all); }},
        Row{"a link", [&](const fs::path& place) {
              fs::rename(place, root() / "elsewhere");
              fs::create_directory_symlink(root() / "elsewhere", place);
            }}}) {
    BOOST_TEST_CONTEXT(row.name) {
      row.change(vpc);
      BOOST_TEST((install(false, true).error().code == Code::source_unsupported));
      BOOST_TEST(keys(install()->installed) == "vpc ");
      BOOST_TEST(!fs::is_symlink(vpc));
      BOOST_TEST(read(".terraform/modules/vpc/f.zip") == pointer);
      for (const char* name : {"f.zip", "g.txt"}) {
        write(std::string(".terraform/modules/vpc/") + name, content);
      }
    }
  }
  BOOST_TEST(keys(install(true)->installed) == "vpc ");
  BOOST_TEST(fs::is_symlink(vpc));
  fs::remove(vpc);
  write(".terraform/modules/vpc/f.zip", "other content");
  BOOST_TEST(keys(install()->installed) == "vpc ");
  BOOST_TEST(read(".terraform/modules/vpc/f.zip") == pointer);
}

BOOST_AUTO_TEST_CASE(install_places_packages_and_writes_the_manifest) {
  source->add_tag(
      kVpc, "v1.0.0",
      {{"sub/main.tf", "module \"in\" {\n  source = \"../other\"\n}\n"}, {"other/main.tf", ""}, {"README", "x"}});
  write("main.tf",
        "module \"vpc\" {\n  source = \"git::https://user:secret@example.com/vpc.git//sub?ref=v1.0.0\"\n}\n"
        "module \"own\" {\n  source = \"./own\"\n}\n");
  write("own/main.tf", "");
  lock();
  const auto report = install();
  BOOST_REQUIRE(report.has_value());
  BOOST_TEST(keys(report->installed) == "vpc ");
  BOOST_TEST(report->manifest == ".terraform/modules/modules.json");
  BOOST_TEST(read(".terraform/modules/vpc/README") == "x");
  BOOST_TEST(read(".terraform/modules/modules.json") ==
             "{\"Modules\":[{\"Key\":\"\",\"Source\":\"\",\"Dir\":\".\"},"
             "{\"Key\":\"own\",\"Source\":\"./own\",\"Dir\":\"own\"},"
             "{\"Key\":\"vpc\",\"Source\":\"git::https://user:secret@example.com/vpc.git//sub?ref=v1.0.0\","
             "\"Dir\":\".terraform/modules/vpc/sub\"},"
             "{\"Key\":\"vpc.in\",\"Source\":\"../other\",\"Dir\":\".terraform/modules/vpc/other\"}]}");
}

BOOST_AUTO_TEST_CASE(install_again_reuses_everything_and_writes_nothing) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  BOOST_REQUIRE(install().has_value());
  const auto manifest = root() / ".terraform/modules/modules.json";
  const auto written = fs::last_write_time(manifest);
  const auto again = install();
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST(keys(again->installed) == "");
  BOOST_TEST(keys(again->reused) == "vpc ");
  BOOST_TEST((fs::last_write_time(manifest) == written));
}

BOOST_AUTO_TEST_CASE(install_mends_what_was_changed_and_removes_what_nobody_calls) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  source->add_tag(kNested, "v1.0.0", kLeaf);
  write("main.tf",
        "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n"
        "module \"old\" {\n  source = \"git::https://example.com/nested.git?ref=v1.0.0\"\n}\n");
  lock();
  BOOST_REQUIRE(install().has_value());
  write(".terraform/modules/vpc/main.tf", "tampered");
  write(".terraform/modules/stranger/main.tf", "of somebody else");
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  const auto report = install();
  BOOST_REQUIRE(report.has_value());
  BOOST_TEST(keys(report->installed) == "vpc ");
  BOOST_TEST(keys(report->removed) == "old ");
  BOOST_TEST(read(".terraform/modules/vpc/main.tf") == kLeaf.at("main.tf"));
  BOOST_TEST(!fs::exists(root() / ".terraform/modules/old"));
  BOOST_TEST(read(".terraform/modules/stranger/main.tf") == "of somebody else");
}

BOOST_AUTO_TEST_CASE(install_never_follows_a_directory_that_the_old_manifest_names) {
  write("precious/file", "keep");
  write_text(directory / "outside/file", "keep");
  write(".terraform/modules/modules.json",
        R"({"Modules":[{"Key":"../../precious","Source":"x","Dir":"precious"},)"
        R"({"Key":"gone","Source":"x","Dir":"../outside"},{"Key":"..","Source":"x","Dir":"."}]})");
  write("main.tf", "");
  lock();
  const auto report = install();
  BOOST_REQUIRE(report.has_value());
  BOOST_TEST(keys(report->removed) == "");
  BOOST_TEST(read("precious/file") == "keep");
  BOOST_TEST(read("../outside/file") == "keep");
}

BOOST_AUTO_TEST_CASE(a_manifest_that_is_none_steps_aside) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  const std::string broken = R"({"Modules":[{"Key":"old","Source":"x","Dir":"old"},)";
  write(".terraform/modules/modules.json", broken);
  write(".terraform/modules/modules.json.broken", "of an earlier time");
  write(".terraform/modules/old/main.tf", "keep");
  const auto report = install();
  BOOST_REQUIRE(report.has_value());
  BOOST_TEST(keys(report->installed) == "vpc ");
  BOOST_TEST(keys(report->removed) == "");
  BOOST_TEST(read(".terraform/modules/modules.json.broken") == broken);
  BOOST_TEST(read(".terraform/modules/old/main.tf") == "keep");
  BOOST_REQUIRE(report->diagnostics.size() == 1U);
  const Diagnostic& said = report->diagnostics.front();
  BOOST_CHECK(said.severity == Severity::warning);
  BOOST_TEST(said.what.message.find("cannot be used") != std::string::npos);
  BOOST_TEST(said.what.hint.text().find((root() / ".terraform/modules/modules.json.broken").string()) !=
             std::string::npos);
  const auto again = install();
  BOOST_REQUIRE(again.has_value());
  BOOST_TEST(again->diagnostics.empty());
  BOOST_TEST(keys(again->reused) == "vpc ");
}

BOOST_AUTO_TEST_CASE(a_broken_manifest_stays_where_nothing_can_be_installed) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  write(".terraform/modules/modules.json", "{");
  write(".terraform/modules/modules.json.broken/file", "in the way");
  const auto report = install();
  BOOST_REQUIRE(!report.has_value());
  BOOST_TEST(to_string(report.error().code) == "IO_ERROR");
  BOOST_TEST(read(".terraform/modules/modules.json") == "{");
}

BOOST_AUTO_TEST_CASE(install_fetches_a_damaged_package_again) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  const Plan planned = lock();
  BOOST_REQUIRE(install().has_value());
  const fs::path stored = planned.resolved.at("vpc").package_directory;
  fs::permissions(stored / "main.tf", fs::perms::owner_all);
  std::ofstream(stored / "main.tf") << "# damaged\n";
  write(".terraform/modules/vpc/main.tf", "changed here");
  const auto mended = install();
  BOOST_REQUIRE(mended.has_value());
  BOOST_TEST(read(".terraform/modules/vpc/main.tf") == kLeaf.at("main.tf"));
}

BOOST_AUTO_TEST_CASE(install_leaves_records_of_sources_that_nobody_serves) {
  write(".terraform/modules/reg/main.tf", "");
  const std::string manifest =
      R"({"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"reg","Source":"registry.opentofu.org/a/b/c","Version":"1.0.0","Dir":".terraform/modules/reg"}]})";
  write(".terraform/modules/modules.json", manifest);
  write("main.tf", "module \"reg\" {\n  source = \"a/b/c\"\n}\n");
  lock();
  BOOST_REQUIRE(install().has_value());
  BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
  BOOST_TEST(read(".terraform/modules/reg/main.tf") == "");
}

// `cache prune` may run after an installation that failed or was killed.
BOOST_AUTO_TEST_CASE(links_that_a_failed_installation_left_stay_recorded) {
  const fs::path place = root() / ".terraform/modules/vpc";
  const fs::path old_package = lock_vpc("1.0.0");
  BOOST_REQUIRE(install(true).has_value());
  BOOST_TEST((recorded() == std::set{name_of(old_package)}));
  const fs::path new_package = lock_vpc("2.0.0");
  fs::create_directories(new_package.parent_path() / "sealed/in the way");
  const auto failed = install(true);
  BOOST_REQUIRE(!failed.has_value());
  BOOST_TEST(to_string(failed.error().code) == "IO_ERROR");
  BOOST_TEST(fs::read_symlink(place) == old_package);
  BOOST_TEST((recorded() == std::set{name_of(old_package), name_of(new_package)}));
  fs::remove_all(new_package.parent_path() / "sealed");
  BOOST_REQUIRE(install(true).has_value());
  BOOST_TEST(fs::read_symlink(place) == new_package);
  BOOST_TEST((recorded() == std::set{name_of(new_package)}));
  BOOST_REQUIRE(install().has_value());
  BOOST_TEST(recorded().empty());
}

BOOST_AUTO_TEST_CASE(a_link_of_a_source_that_is_not_served_stays_recorded) {
  const fs::path package = lock_vpc("1.0.0");
  const fs::path place = root() / ".terraform/modules/reg";
  fs::create_directories(place.parent_path());
  fs::create_directory_symlink(package, place);
  write("main.tf", "module \"reg\" {\n  source = \"a/b/c\"\n}\n");
  lock();
  BOOST_REQUIRE(install().has_value());
  BOOST_TEST(fs::read_symlink(place) == package);
  BOOST_TEST((recorded() == std::set{name_of(package)}));
}

BOOST_AUTO_TEST_CASE(install_links_a_module_by_absolute_path) {
  write_text(directory / "shared/main.tf",
             "module \"leaf\" {\n  source = \"git::https://example.com/nested.git?ref=v1.0.0\"\n}\n");
  source->add_tag(kNested, "v1.0.0", kLeaf);
  write("main.tf", "module \"abs\" {\n  source = \"" + (directory.path() / "shared").string() + "\"\n}\n");
  lock();
  BOOST_REQUIRE(install().has_value());
  BOOST_TEST(fs::read_symlink(root() / ".terraform/modules/abs") == directory.path() / "shared");
  BOOST_TEST(fs::exists(root() / ".terraform/modules/abs.leaf/main.tf"));
}

// A client resolves the link before it records a local call, so that path.module is the same.
BOOST_AUTO_TEST_CASE(local_calls_in_a_linked_module_are_recorded_where_they_are) {
  const fs::path shared = directory.path() / "shared";
  write_text(shared / "main.tf", "module \"g\" {\n  source = \"./g\"\n}\n");
  write_text(shared / "g/main.tf", "module \"h\" {\n  source = \"../h\"\n}\n");
  write_text(shared / "h/main.tf", "");
  write("main.tf", "module \"abs\" {\n  source = \"" + shared.string() + "\"\n}\n");
  lock();
  BOOST_REQUIRE(install().has_value());
  const Manifest manifest = read_manifest(root() / ".terraform/modules/modules.json").value();
  BOOST_TEST(manifest.at("abs").directory == ".terraform/modules/abs");
  BOOST_TEST(manifest.at("abs.g").directory == fs::canonical(shared / "g").string());
  BOOST_TEST(manifest.at("abs.g.h").directory == fs::canonical(shared / "h").string());
}

BOOST_AUTO_TEST_SUITE_END()
