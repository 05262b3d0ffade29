// How calls of registries, OCI repositories and archives are resolved, where they differ from git.

#include <boost/test/unit_test.hpp>

#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr const char* kImage = "oci://example.com/modules/vpc";
constexpr const char* kOci = "oci://example.com/modules/vpc";
constexpr const char* kArchive = "https://example.com/vpc.zip";

struct KindFixture : PlanFixture {
  KindFixture() {
    registry = add(SourceKind::registry);
    oci = add(SourceKind::oci);
    archive = add(SourceKind::archive);
  }

  FakeBackend* add(SourceKind kind) {
    auto backend = std::make_unique<FakeBackend>(kind);
    FakeBackend* made = backend.get();
    backends.add(std::move(backend));
    return made;
  }

  static std::string call(const std::string& name, const std::string& source, const std::string& version = {}) {
    return "module \"" + name + "\" {\n  source = \"" + source + "\"\n" +
           (version.empty() ? "" : "  version = \"" + version + "\"\n") + "}\n";
  }

  // Forgets what the store has.
  void lose_cache() const { std::filesystem::remove_all(directory.path() / "cache"); }

  FakeBackend* registry = nullptr;
  FakeBackend* oci = nullptr;
  FakeBackend* archive = nullptr;
};

std::string warnings(const Plan& plan) {
  std::string text;
  for (const Diagnostic& diagnostic : plan.diagnostics) {
    text += std::string(to_string(diagnostic.what.code)) + ": " + diagnostic.what.message + "\n";
  }
  return text;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(plan_kinds, KindFixture)

BOOST_AUTO_TEST_CASE(registry_call_without_constraint_gets_the_newest_version) {
  registry->add_tag(kRegistry, "1.1.0", kLeaf);
  const std::string id = registry->add_tag(kRegistry, "1.2.0", kLeaf);
  registry->add_tag(kRegistry, "2.0.0-rc1", kLeaf);
  write("main.tf", call("vpc", "acme/vpc/aws"));
  const Plan plan = lock();
  const ModuleLock& entry = plan.modules.at("vpc");
  BOOST_TEST(entry.version.value() == "1.2.0");
  BOOST_TEST(!entry.constraints.has_value());
  BOOST_TEST(entry.source == kRegistry);
  BOOST_TEST(entry.origin_hash() == id);
  BOOST_TEST(summary(lock()) == "");
  BOOST_TEST(stats.requests == 0U);
}

BOOST_AUTO_TEST_CASE(registry_module_without_a_release_is_refused) {
  write("main.tf", call("vpc", "acme/vpc/aws"));
  registry->add_tag(kRegistry, "nightly", kLeaf);
  const auto none = plan();
  BOOST_REQUIRE(!none.has_value());
  BOOST_TEST(none.error().message == "\"registry.opentofu.org/modules/acme/vpc/aws\" has no versions");
  registry->add_tag(kRegistry, "2.0.0-rc1", kLeaf);
  const auto only_prereleases = plan();
  BOOST_REQUIRE(!only_prereleases.has_value());
  BOOST_TEST(
      only_prereleases.error().message ==
      "\"registry.opentofu.org/modules/acme/vpc/aws\" has no release, only prereleases; the newest are: 2.0.0-rc1");
  BOOST_TEST(only_prereleases.error().hint == "name a prerelease exactly to use it: version = \"2.0.0-rc1\"");
}

BOOST_AUTO_TEST_CASE(locked_registry_version_is_fetched_without_a_listing) {
  registry->add_tag(kRegistry, "1.2.0", kLeaf);
  write("main.tf", call("vpc", "acme/vpc/aws", "~> 1.0"));
  lock();
  lose_cache();
  registry->listings = 0;
  BOOST_TEST(summary(lock()) == "");
  BOOST_TEST(registry->listings == 0);
  BOOST_TEST(stats.requests == 1U);
}

BOOST_AUTO_TEST_CASE(registry_says_where_the_module_lies) {
  const std::string id =
      registry->add_tag(kRegistry, "1.2.0",
                        {{"modules/net/inner/main.tf", "module \"leaf\" {\n  source = \"./leaf\"\n}\n"},
                         {"modules/net/inner/leaf/main.tf", ""}});
  registry->set_subdir(id, "modules/*");
  write("main.tf", call("vpc", "acme/vpc/aws//inner", "1.2.0"));
  for (const char* run : {"fetched", "from the store"}) {
    BOOST_TEST_CONTEXT(run) {
      const Plan plan = lock();
      const ModuleNode& node = plan.tree.nodes.at("vpc");
      BOOST_TEST(node.package_subdir == "modules/*");
      BOOST_TEST(node.manifest_directory == ".terraform/modules/vpc/modules/net/inner");
      BOOST_TEST(plan.tree.nodes.at("vpc.leaf").manifest_directory == ".terraform/modules/vpc/modules/net/inner/leaf");
    }
  }
}

BOOST_AUTO_TEST_CASE(versions_of_a_registry_that_share_a_commit_keep_their_directories) {
  const FakeBackend::Files files = {{"one/main.tf", ""}, {"two/main.tf", ""}};
  const std::string id = registry->add_tag(kRegistry, "1.0.0", files);
  registry->set_subdir(id, "one");
  write("main.tf", call("vpc", "acme/vpc/aws", "1.0.0"));
  BOOST_TEST(lock().tree.nodes.at("vpc").package_subdir == "one");
  registry->add_tag(kRegistry, "2.0.0", files, id);
  registry->set_subdir(id, "two");
  write("main.tf", call("vpc", "acme/vpc/aws", "2.0.0"));
  BOOST_TEST(lock().tree.nodes.at("vpc").package_subdir == "two");
}

BOOST_AUTO_TEST_CASE(registry_calls_are_resolved_each_on_its_own) {
  for (const char* version : {"1.0.0", "2.0.0"}) {
    registry->add_tag(kRegistry, version, kLeaf);
  }
  write("main.tf", call("a", "acme/vpc/aws", "~> 1.0") + call("b", "acme/vpc/aws", "~> 2.0"));
  const Plan plan = lock();
  BOOST_TEST(plan.modules.at("a").version.value() == "1.0.0");
  BOOST_TEST(plan.modules.at("b").version.value() == "2.0.0");
  BOOST_TEST(
      warnings(plan) ==
      "CONSTRAINT_CONFLICT: 2 calls of \"registry.opentofu.org/modules/acme/vpc/aws\" get different versions: none "
      "satisfies all of their constraints\n");
  request.resolution = Resolution::unified;
  request.lock = {};
  const auto unified = this->plan();
  BOOST_REQUIRE(!unified.has_value());
  BOOST_TEST(std::string(to_string(unified.error().code)) == "CONSTRAINT_CONFLICT");
}

BOOST_AUTO_TEST_CASE(registry_calls_that_could_share_a_version_are_not_warned_of) {
  for (const char* version : {"1.0.0", "1.1.0"}) {
    registry->add_tag(kRegistry, version, kLeaf);
  }
  write("main.tf", call("a", "acme/vpc/aws", "1.0.0") + call("b", "acme/vpc/aws", "~> 1.0"));
  const Plan plan = lock();
  BOOST_TEST(plan.modules.at("b").version.value() == "1.1.0");
  BOOST_TEST(warnings(plan) == "");
}

BOOST_AUTO_TEST_CASE(oci_calls_with_constraints_share_a_version) {
  const std::string id = oci->add_tag(kImage, "v1.2.0", kLeaf);
  oci->add_tag(kImage, "v1.3.0", kLeaf);
  write("main.tf", call("a", kImage) + call("b", kImage));
  constrain("a", "~> 1.2");
  constrain("b", "< 1.3");
  const Plan plan = lock();
  for (const char* key : {"a", "b"}) {
    BOOST_TEST(plan.modules.at(key).version.value() == "1.2.0");
    BOOST_TEST(plan.modules.at(key).origin_hash() == "oci:" + id);
  }
  BOOST_TEST(oci->listings == 1);
  lose_cache();
  lock();
  BOOST_TEST(stats.requests == 1U, "a locked digest needs no listing");
}

BOOST_AUTO_TEST_CASE(oci_tag_is_pinned_and_its_move_is_told) {
  struct Row {
    const char* name;
    const char* tag;
    const char* source;
    const char* reason;
  };
  const Row rows[] = {
      {"default tag", "", "oci://example.com/modules/vpc", "updated: the tag moved from "},
      {"latest", "latest", "oci://example.com/modules/vpc?tag=latest", "updated: the tag moved from "},
      {"named tag", "v1", "oci://example.com/modules/vpc?tag=v1", "moved: the tag was moved from "},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      request.lock = {};
      request.mode = PlanMode::missing;
      oci->add_tag(row.source, row.tag, kLeaf, "sha256:" + std::string(64, 'a'));
      write("main.tf", call("vpc", row.source));
      const Plan plan = lock();
      BOOST_TEST(!plan.modules.at("vpc").version.has_value());
      BOOST_TEST(plan.modules.at("vpc").origin_hash() == "oci:sha256:" + std::string(64, 'a'));
      oci->add_tag(row.source, row.tag, {{"main.tf", "# new\n"}}, "sha256:" + std::string(64, 'b'));
      BOOST_TEST(summary(lock()) == "");
      request.mode = PlanMode::upgrade;
      BOOST_TEST(summary(lock()) == std::string("module.vpc ") + row.reason + "aaaaaaaaaaaa to bbbbbbbbbbbb\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(upgrade_holds_a_moved_tag_of_every_kind) {
  const std::string a = "sha256:" + std::string(64, 'a');
  const std::string b = "sha256:" + std::string(64, 'b');
  const std::string first = "git:" + std::string(40, 'a');
  const std::string second = "git:" + std::string(40, 'b');
  struct Row {
    const char* name;
    FakeBackend* backend;
    std::string source;
    const char* rule;  // nullptr: none
    std::string tag;
    std::string before;
    std::string after;
    std::string moved;  // "" if it is not held
  };
  const std::string named = std::string(kOci) + "?tag=v1.0.0";
  const Row rows[] = {
      {"OCI, a version", oci, kOci, "~> 1.0", "v1.0.0", a, b, "module.vpc oci:" + a + " oci:" + b},
      {"OCI, a named tag", oci, named, nullptr, "v1.0.0", a, b, "module.vpc oci:" + a + " oci:" + b},
      {"a registry", registry, kRegistry, nullptr, "1.0.0", first, second, "module.vpc " + first + " " + second},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      request.lock = {};
      request.mode = PlanMode::missing;
      request.walk.settings.modules.clear();
      if (row.rule != nullptr) {
        constrain("vpc", row.rule);
      }
      row.backend->add_tag(row.source, row.tag, kLeaf, row.before);
      write("main.tf", call("vpc", row.source == kRegistry ? "acme/vpc/aws" : row.source));
      BOOST_TEST(lock().modules.at("vpc").origin_hash().ends_with(row.before));
      row.backend->add_tag(row.source, row.tag, {{"main.tf", "# new\n"}}, row.after);
      request.mode = PlanMode::upgrade;
      const Plan held = lock();
      BOOST_TEST(held.modules.at("vpc").origin_hash().ends_with(row.before));
      BOOST_TEST(summary(held) == "");
      BOOST_REQUIRE(held.moved.size() == 1U);
      BOOST_TEST(held.moved[0].subject + " " + held.moved[0].locked + " " + held.moved[0].offered == row.moved);
      request.accept_moved = true;
      const Plan accepted = lock();
      request.accept_moved = false;
      BOOST_TEST(accepted.modules.at("vpc").origin_hash().ends_with(row.after));
      BOOST_TEST(accepted.moved.empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(archive_is_locked_by_its_content) {
  const std::string id = archive->add_tag(kArchive, "", kLeaf);
  write("main.tf", call("vpc", kArchive));
  const Plan plan = lock();
  BOOST_TEST(plan.modules.at("vpc").origin_hash() == id);
  BOOST_TEST(!plan.modules.at("vpc").version.has_value());
  BOOST_TEST(archive->listings == 0);
  archive->add_tag(kArchive, "", {{"main.tf", "# new\n"}}, "zh:" + std::string(64, 'b'));
  BOOST_TEST(summary(lock()) == "");
  request.mode = PlanMode::upgrade;
  const Plan moved = lock();
  BOOST_TEST(summary(moved) ==
             "module.vpc moved: the archive was moved from " + id.substr(3, 12) + " to bbbbbbbbbbbb\n");
  BOOST_TEST(moved.changes.at(0).from->checksum == id.substr(3));
  BOOST_TEST(moved.changes.at(0).to->checksum == std::string(64, 'b'));
}

BOOST_AUTO_TEST_CASE(archives_that_differ_in_a_query_argument_alone_are_two) {
  archive->add_tag(kArchive, "", kLeaf);
  write("main.tf", call("one", std::string(kArchive) + "?part=1") + call("two", std::string(kArchive) + "?part=2") +
                       call("again", std::string(kArchive) + "?part=2"));
  lock();
  BOOST_TEST(stats.requests == 2U);
  BOOST_TEST((archive->fetched_urls ==
              std::set<std::string>{"https://example.com/vpc.zip?part=1", "https://example.com/vpc.zip?part=2"}));
}

BOOST_AUTO_TEST_CASE(archive_with_an_argument_like_a_commit_is_an_archive) {
  const std::string address = std::string(kArchive) + "?ref=1234567";
  archive->add_tag(address, "1234567", kLeaf);
  write("main.tf", call("vpc", address));
  lock();
  BOOST_TEST(archive->pins == 0);
}

BOOST_AUTO_TEST_CASE(archive_that_was_packed_again_is_found_by_both_digests) {
  const std::string old_id = archive->add_tag(kArchive, "", kLeaf);
  write("main.tf", call("vpc", kArchive));
  lock();
  lose_cache();
  archive->add_tag(kArchive, "", kLeaf, "zh:" + std::string(64, 'b'));
  archive->repacked[old_id] = "zh:" + std::string(64, 'b');
  BOOST_TEST(summary(lock()) == "");
  BOOST_TEST(stats.requests == 1U);
  lock();
  BOOST_TEST(stats.requests == 0U);
}

// A backend of the user in place of the kind wrote an id that the kind does not know.
BOOST_AUTO_TEST_CASE(a_locked_h1_holds_without_an_id) {
  struct Row {
    const char* name;
    bool has_h1;
    bool is_replaced;
    const char* outcome;
  };
  for (const Row& row : {Row{"the same content", true, false, "module.vpc hashes-added: hashes were missing: h1, zh\n"},
                         Row{"other content", true, true, "HASH_MISMATCH"},
                         Row{"other content, and no h1 to compare with", false, true,
                             "module.vpc hashes-added: hashes were missing: h1, zh\n"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      request.lock = {};
      archive->add_tag(kArchive, "", kLeaf);
      write("main.tf", call("vpc", kArchive));
      lock();
      lose_cache();
      const std::string h1 = request.lock.modules.at("vpc").hash_value("h1");
      request.lock.modules.at("vpc").hashes = {"own:one"};
      if (row.has_h1) {
        request.lock.modules.at("vpc").hashes.push_back("h1:" + h1);
      }
      if (row.is_replaced) {
        archive->add_tag(kArchive, "", {{"main.tf", "# other\n"}}, "zh:" + std::string(64, 'b'));
      }
      const auto planned = plan();
      BOOST_TEST((planned ? summary(*planned) : std::string(to_string(planned.error().code))) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(only_an_id_with_other_content_contradicts_the_lock) {
  struct Row {
    const char* name;
    std::string replaced;  // what the source has in place of the locked archive
    std::string hint;
  };
  const std::string other = "zh:" + std::string(64, 'b');
  const std::string locked = archive->add_tag(kArchive, "", kLeaf);
  for (const Row& row :
       {Row{"a replaced archive", other,
            "the source has other content now, " + other + " instead of " + locked + ": find out why it was replaced"},
        Row{"an edited h1", locked, "the lock file contradicts itself: restore this entry from version control"}}) {
    BOOST_TEST_CONTEXT(row.name) {
      request.lock = {};
      archive->add_tag(kArchive, "", kLeaf);
      write("main.tf", call("vpc", kArchive));
      lock();
      lose_cache();
      if (row.replaced == other) {
        archive->add_tag(kArchive, "", {{"main.tf", "# other\n"}}, other);
        archive->repacked[locked] = other;
      } else {
        archive->repacked.clear();
        request.lock.modules.at("vpc").hashes[0] = "h1:" + std::string(43, 'x') + "=";
      }
      request.mode = PlanMode::frozen;
      const auto planned = plan();
      request.mode = PlanMode::missing;
      BOOST_REQUIRE(!planned);
      BOOST_TEST(to_string(planned.error().code) == "HASH_MISMATCH");
      BOOST_TEST(planned.error().hint ==
                 row.hint +
                     "; to lock what the source has, after a review, run: tofu-modlock upgrade --target module.vpc");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_h1_of_0_1_is_named) {
  write("main.tf", call("vpc", kArchive));
  archive->add_tag(kArchive, "", {{"main.tf", "# x\n"}});
  const std::string former = lock().modules.at("vpc").hashes[0];
  request.lock = {};
  lose_cache();
  archive->add_tag(kArchive, "", {{"main.tf", "# x\n"}, {".svn/entries", "12\n"}});
  lock();
  std::string& h1 = request.lock.modules.at("vpc").hashes[0];
  const std::string now = std::exchange(h1, former);
  BOOST_TEST(now != former);
  const auto planned = plan();
  BOOST_REQUIRE(!planned);
  BOOST_TEST(to_string(planned.error().code) == "HASH_MISMATCH");
  BOOST_TEST(planned.error().message ==
             "module \"vpc\" is locked with the checksum of tofu-modlock 0.1, which left out directories such as .svn; "
             "its other content is the same");
  BOOST_TEST(planned.error().hint == "run: tofu-modlock upgrade --target module.vpc");
  request.mode = PlanMode::upgrade;
  request.targets = {"module.vpc"};
  BOOST_TEST(lock().modules.at("vpc").hashes[0] == now);
}

BOOST_AUTO_TEST_CASE(an_upgrade_names_another_owner_of_a_registry_module) {
  const std::string acme = "git::https://github.com/acme/vpc.git?ref=";
  struct Row {
    const char* name;
    std::string after;
    PlanMode mode;
    std::string warning;
  };
  const auto warning = [&](const std::string& after) {
    return "REGISTRY_NOTICE module \"vpc\" is downloaded from another owner: version 1.0.0 from " + acme +
           "1, and version 1.1.0 from " + after;
  };
  const Row rows[] = {
      {"another owner", "git::https://github.com/evil/vpc.git?ref=2", PlanMode::upgrade,
       warning("git::https://github.com/evil/vpc.git?ref=2")},
      {"another host", "git::https://gitlab.com/acme/vpc.git?ref=2", PlanMode::upgrade,
       warning("git::https://gitlab.com/acme/vpc.git?ref=2")},
      // Harmless.
      {"another commit", acme + "2", PlanMode::upgrade, ""},
      {"another repository of the owner", "git::https://github.com/acme/net.git?ref=2", PlanMode::upgrade, ""},
      {"not known", "", PlanMode::upgrade, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      lose_cache();
      request.lock = {};
      request.mode = PlanMode::missing;
      registry->remove_package(kRegistry);
      registry->addresses[registry->add_tag(kRegistry, "1.0.0", kLeaf)] = acme + "1";
      write("main.tf", call("vpc", "acme/vpc/aws"));
      lock();
      registry->addresses[registry->add_tag(kRegistry, "1.1.0", {{"main.tf", "# new\n"}})] = row.after;
      request.mode = row.mode;
      const Plan upgraded = lock();
      BOOST_TEST(upgraded.modules.at("vpc").version.value() == "1.1.0");
      std::string warnings;
      for (const Diagnostic& diagnostic : upgraded.diagnostics) {
        warnings += std::string(to_string(diagnostic.what.code)) + " " + diagnostic.what.message;
      }
      BOOST_TEST(warnings == row.warning);
    }
  }
}

BOOST_AUTO_TEST_CASE(registry_version_that_comes_from_elsewhere_leaves_no_old_origin) {
  const std::string git_id = registry->add_tag(kRegistry, "1.0.0", kLeaf);
  write("main.tf", call("vpc", "acme/vpc/aws", "1.0.0"));
  lock();
  ModuleLock& entry = request.lock.modules.at("vpc");
  entry.hashes.push_back("x9:kept");
  registry->add_tag(kRegistry, "1.0.0", kLeaf, "zh:" + std::string(64, 'c'));
  lose_cache();
  request.mode = PlanMode::upgrade;
  const Plan plan = lock();
  const std::vector<std::string>& hashes = plan.modules.at("vpc").hashes;
  BOOST_TEST(std::count(hashes.begin(), hashes.end(), git_id) == 0);
  BOOST_TEST(std::count(hashes.begin(), hashes.end(), "zh:" + std::string(64, 'c')) == 1);
  BOOST_TEST(std::count(hashes.begin(), hashes.end(), "x9:kept") == 1);
}

BOOST_AUTO_TEST_CASE(versions_of_a_registry_that_share_a_commit_stay_side_by_side_in_the_store) {
  const std::string id = registry->add_tag(kRegistry, "1.0.0", kLeaf);
  registry->add_tag(kRegistry, "1.0.1", kLeaf, id);
  write("main.tf", call("a", "acme/vpc/aws", "1.0.0") + call("b", "acme/vpc/aws", "1.0.1"));
  lock();
  lock();
  BOOST_TEST(stats.requests == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
