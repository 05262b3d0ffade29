#include "plugin/install/verify.h"

#include <boost/test/unit_test.hpp>

#include "backends/base/digest.h"
#include "plugin/install/install_record.h"
#include "plugin/install/installer.h"
#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;

struct VerifyFixture : PlanFixture {
  fs::path root() const { return request.walk.root; }

  void install() {
    request.mode = PlanMode::frozen;
    const auto planned = plan();
    request.mode = PlanMode::missing;
    const auto store = Store::open(directory.path() / "cache");
    const auto data = find_data_directory(root(), std::nullopt);
    BOOST_REQUIRE(install_modules({.plan = *planned, .lock = request.lock, .data = *data, .root = request.walk.root},
                                  *store, Context{})
                      .has_value());
  }

  Result<VerifyReport> try_verify(bool strict = false) {
    const auto store = Store::open(directory.path() / "cache");
    const auto data = find_data_directory(root(), std::nullopt);
    const VerifyRequest question{.walk = request.walk,
                                 .lock = request.lock,
                                 .lock_path = ".terraform.lock.hcl",
                                 .data = *data,
                                 .backends = &backends,
                                 .strict = strict};
    return verify_root(question, *store, Context{});
  }

  VerifyReport verify(bool strict = false) {
    auto report = try_verify(strict);
    BOOST_REQUIRE(report.has_value());
    return std::move(*report);
  }

  void lock_and_install_vpc() {
    source->add_tag(kVpc, "v1.0.0", {{"main.tf", "# vpc\n"}, {".hidden", "x"}, {"notes.txt", "n"}});
    write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
    lock();
    install();
  }
};

int exit_code_of(const VerifyReport& report) {
  return exit_code(report.verdicts, report.diagnostics);
}

std::string report_text(const VerifyReport& report) {
  std::string out;
  for (const Verdict& verdict : report.verdicts) {
    out += verdict.subject + " " + std::string(to_string(verdict.kind)) + ": " + verdict.detail;
    for (const std::string& path : verdict.paths) {
      out += " [" + path + "]";
    }
    if (verdict.more_paths != 0) {
      out += " and " + std::to_string(verdict.more_paths) + " more";
    }
    out += "\n";
  }
  return out;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(verify, VerifyFixture)

BOOST_AUTO_TEST_CASE(verify_holds_what_install_put_there) {
  lock_and_install_vpc();
  const VerifyReport report = verify();
  BOOST_TEST(report_text(report) == "module.vpc held: \n");
  BOOST_TEST(exit_code_of(report) == 0);
}

BOOST_AUTO_TEST_CASE(verify_refuses_a_rule_that_matches_no_call) {
  lock_and_install_vpc();
  request.walk.settings.modules["vcp"].location = {".tofu-modlock.hcl", std::nullopt};
  const auto refused = try_verify();
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code == Code::config_parse));
  BOOST_TEST(refused.error().message == "the block module \"vcp\" matches no module call");
  // Below what is not installed there may be such a call.
  fs::remove_all(root() / ".terraform/modules/vpc");
  fs::remove_all(directory.path() / "cache");
  BOOST_TEST(report_text(verify()) == "module.vpc missing: it is locked, but not installed\n");
}

BOOST_AUTO_TEST_CASE(verify_holds_the_content_that_a_locked_lfs_pointer_names) {
  const std::string content = "the content";
  source->add_tag(kVpc, "v1.0.0",
                  {{"main.tf", "# vpc\n"},
                   {"f.zip", "version https://git-lfs.github.com/spec/v1\noid sha256:" + sha256_hex(content) +
                                 "\nsize " + std::to_string(content.size()) + "\n"}});
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  install();
  write(".terraform/modules/vpc/f.zip", content);
  const std::string told =
      "1 file holds the content of Git LFS that its locked pointer names [f.zip is the content that its Git LFS "
      "pointer names]\n";
  BOOST_TEST(report_text(verify()) == "module.vpc held: " + told);
  BOOST_TEST(report_text(verify(true)) == "module.vpc tampered: " + told);
  write(".terraform/modules/vpc/notes.txt", "");
  BOOST_TEST(report_text(verify()) ==
             "module.vpc held: 1 file differs from the locked package, none that a client would load; 1 file holds the "
             "content of Git LFS that its locked pointer names [notes.txt was added] [f.zip is the content that its "
             "Git LFS pointer names]\n");
  write(".terraform/modules/vpc/f.zip", "other content");
  BOOST_TEST(report_text(verify()) ==
             "module.vpc tampered: 2 files differ from the locked package [f.zip was changed] [notes.txt was added]\n");
}

BOOST_AUTO_TEST_CASE(verify_names_what_happened_to_an_installed_module) {
  struct Row {
    const char* name;
    const char* file;
    const char* content;  // null: deleted
    bool strict;
    const char* expected;
    int exit_code;
  };
  const Row rows[] = {
      {"one byte changed", "main.tf", "# vpC\n", false,
       "module.vpc tampered: 1 file differs from the locked package [main.tf was changed]\n", 4},
      {"deleted", "notes.txt", nullptr, false,
       "module.vpc tampered: 1 file differs from the locked package [notes.txt was deleted]\n", 4},
      {"dotfile missing", ".hidden", nullptr, false,
       "module.vpc held: 1 file differs from the locked package, none that a client would load [.hidden was deleted]\n",
       0},
      {"dotfile missing, strict", ".hidden", nullptr, true,
       "module.vpc tampered: 1 file differs from the locked package [.hidden was deleted]\n", 4},
      {"build result added", "lambda.zip", "zip", false,
       "module.vpc held: 1 file differs from the locked package, none that a client would load [lambda.zip was "
       "added]\n",
       0},
      {"configuration added", "extra.tofu", "", false,
       "module.vpc tampered: 1 file differs from the locked package [extra.tofu was added]\n", 4},
  };
  lock_and_install_vpc();
  for (const bool with_store : {true, false}) {
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(row.name << (with_store ? "" : ", the store is gone")) {
        const std::string file = std::string(".terraform/modules/vpc/") + row.file;
        if (row.content == nullptr) {
          fs::remove(root() / file);
        } else {
          write(file, row.content);
        }
        fs::rename(directory.path() / "cache", directory.path() / "away");
        if (with_store) {
          fs::rename(directory.path() / "away", directory.path() / "cache");
        }
        const VerifyReport report = verify(row.strict);
        if (!with_store) {
          fs::remove_all(directory.path() / "cache");
          fs::rename(directory.path() / "away", directory.path() / "cache");
        }
        BOOST_TEST(report_text(report) == row.expected);
        BOOST_TEST(exit_code_of(report) == row.exit_code);
        install();
        fs::remove(root() / ".terraform/modules/vpc/lambda.zip");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(verify_tells_a_stale_installation_from_a_tampered_one) {
  struct Row {
    const char* name;
    std::function<void(VerifyFixture&)> change;  // after 1.0.0 was installed and 2.0.0 was locked
    const char* expected;
    int exit_code;
  };
  const auto cached = [](const char* name) {
    return [name](VerifyFixture& f) { fs::remove_all(f.directory.path() / "cache/v2" / name); };
  };
  const Row rows[] = {
      {"nothing", [](VerifyFixture&) {}, "module.vpc stale: 1.0.0 is installed, 2.0.0 is locked\n", 3},
      {"its package was pruned", cached("packages"), "module.vpc stale: 1.0.0 is installed, 2.0.0 is locked\n", 3},
      {"only the package is in the cache", cached("installed"),
       "module.vpc stale: another version is installed, 2.0.0 is locked\n", 3},
      {"the cache knows nothing of it, but a file list in the data directory does",
       [](VerifyFixture& f) { fs::remove_all(f.directory.path() / "cache"); },
       "module.vpc tampered: the installed package differs from the locked one\n", 4},
      {"another lock entry in the record",
       [](VerifyFixture& f) {
         for (const auto& record : fs::directory_iterator(f.directory.path() / "cache/v2/installed")) {
           write_text(record.path(), write_lock({}, f.request.lock.modules));
         }
         fs::remove_all(f.directory.path() / "cache/v2/packages");
       },
       "module.vpc tampered: the installed package differs from the locked one\n", 4},
      {"a file was changed", [](VerifyFixture& f) { f.write(".terraform/modules/vpc/main.tf", "# mine\n"); },
       "module.vpc tampered: 3 files differ from the locked package [main.tf was changed] [.hidden was added] "
       "[notes.txt was added]\n",
       4},
      {"a file was added", [](VerifyFixture& f) { f.write(".terraform/modules/vpc/lambda.zip", ""); },
       "module.vpc tampered: 4 files differ from the locked package [main.tf was changed] [.hidden was added] "
       "[lambda.zip was added] [notes.txt was added]\n",
       4},
      {"the locked version is locked with the h1 of another",
       [](VerifyFixture& f) {
         ModuleLock& entry = f.request.lock.modules.at("vpc");
         const Verdict stale = f.verify().verdicts[0];
         entry = *find_installed(*Store::open(f.directory.path() / "cache"), stale.actual, "");
         entry.hashes = {entry.origin_hash(), stale.expected};
         f.constrain("vpc", "~> 1.0");
         fs::remove_all(f.directory.path() / "cache/v2/identities");
       },
       "module.vpc tampered: 3 files differ from the locked package [main.tf was changed] [.hidden was added] "
       "[notes.txt was added]\n",
       4},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      VerifyFixture fixture;
      fixture.source->add_tag(kVpc, "v1.0.0", {{"main.tf", "# vpc\n"}, {".hidden", "x"}, {"notes.txt", "n"}});
      fixture.write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
      fixture.constrain("vpc", "~> 1.0");
      fixture.lock();
      fixture.install();
      fixture.source->add_tag(kVpc, "v2.0.0", kLeaf);
      fixture.constrain("vpc", "~> 2.0");
      fixture.lock();
      row.change(fixture);
      BOOST_TEST(report_text(fixture.verify()) == row.expected);
      BOOST_TEST(exit_code_of(fixture.verify()) == row.exit_code);
    }
  }
}

BOOST_AUTO_TEST_CASE(verify_names_what_is_installed_instead_of_what_is_locked) {
  struct Row {
    const char* name;
    const char* source;  // that is locked; 1.0.0 of vpc.git is installed
    const char* constraint;
    const char* expected;
  };
  const Row rows[] = {
      {"a version", kVpc, "2.0.0", "1.0.0 is installed, 2.0.0 is locked"},
      {"a version of a subdirectory", "git::https://example.com/vpc.git//sub", "2.0.0",
       "1.0.0 is installed, 2.0.0 is locked"},
      {"a tag", "git::https://example.com/vpc.git?ref=v2.0.0", nullptr,
       "1.0.0 is installed, v2.0.0 (bbbbbbbbbbbb) is locked"},
      {"a version of another repository", kNested, "1.0.0",
       "git::https://example.com/vpc.git commit aaaaaaaaaaaa is installed, git::https://example.com/nested.git commit "
       "cccccccccccc is locked"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      VerifyFixture fixture;
      fixture.source->add_tag(kVpc, "v1.0.0", {{"main.tf", ""}, {"sub/main.tf", ""}}, std::string(40, 'a'));
      fixture.source->add_tag(kVpc, "v2.0.0", {{"main.tf", "# 2\n"}, {"sub/main.tf", ""}}, std::string(40, 'b'));
      fixture.source->add_tag(kNested, "v1.0.0", kLeaf, std::string(40, 'c'));
      fixture.write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git\"\n}\n");
      fixture.constrain("vpc", "1.0.0");
      fixture.lock();
      fixture.install();
      fixture.write("main.tf", std::string("module \"vpc\" {\n  source = \"") + row.source + "\"\n}\n");
      fixture.request.walk.settings.modules.clear();
      if (row.constraint != nullptr) {
        fixture.constrain("vpc", row.constraint);
      }
      fixture.lock();
      BOOST_TEST(report_text(fixture.verify()) == "module.vpc stale: " + std::string(row.expected) + "\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(verify_finds_a_stale_module_elsewhere_in_its_package) {
  constexpr const char* kRegistry = "registry.opentofu.org/modules/acme/vpc/aws";
  auto backend = std::make_unique<FakeBackend>(SourceKind::registry);
  const auto package = [](const std::string& subdir) {
    return FakeBackend::Files{{subdir + "/main.tf", "module \"sub\" {\n  source = \"./sub\"\n}\n"},
                              {subdir + "/sub/main.tf", ""}};
  };
  backend->set_subdir(backend->add_tag(kRegistry, "1.0.0", package("old")), "old");
  backend->set_subdir(backend->add_tag(kRegistry, "2.0.0", package("new")), "new");
  backends.add(std::move(backend));
  const auto call = [](const char* version) {
    return std::string("module \"vpc\" {\n  source  = \"acme/vpc/aws\"\n  version = \"") + version + "\"\n}\n";
  };
  write("main.tf", call("1.0.0"));
  lock();
  install();
  write("main.tf", call("2.0.0"));
  lock();
  const std::string stale = "module.vpc stale: 1.0.0 is installed, 2.0.0 is locked\n";
  BOOST_TEST(report_text(verify()) == stale);
  const std::string manifest = read_text(root() / ".terraform/modules/modules.json");
  for (const char* elsewhere : {"elsewhere", ".terraform/modules/vpc/../../../elsewhere", ".terraform/modules/vpc2"}) {
    BOOST_TEST_CONTEXT(elsewhere) {
      write("elsewhere/main.tf", "");
      write(".terraform/modules/vpc2/main.tf", "");
      std::string edited = manifest;
      edited.replace(edited.find(".terraform/modules/vpc/old\""), std::string(".terraform/modules/vpc/old").size(),
                     elsewhere);
      write(".terraform/modules/modules.json", edited);
      BOOST_TEST(report_text(verify()).starts_with("module.vpc tampered: "), report_text(verify()));
    }
  }
  write(".terraform/modules/modules.json", manifest);
  fs::remove_all(directory.path() / "cache/v2/packages");
  BOOST_TEST(report_text(verify()) == stale);
}

BOOST_AUTO_TEST_CASE(verify_looks_below_the_locked_version_of_a_stale_module) {
  const auto vpc = [](const char* leaf) { return calling("leaf", std::string(kNested) + "?ref=" + leaf); };
  source->add_tag(kNested, "v1.0.0", kLeaf, std::string(40, 'a'));
  source->add_tag(kNested, "v2.0.0", {{"main.tf", "# 2\n"}}, std::string(40, 'b'));
  source->add_tag(kVpc, "v1.0.0", vpc("v1.0.0"), std::string(40, 'c'));
  source->add_tag(kVpc, "v2.0.0", vpc("v2.0.0"), std::string(40, 'd'));
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  install();
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v2.0.0\"\n}\n");
  lock();
  const std::string expected =
      "module.vpc stale: v1.0.0 (cccccccccccc) is installed, v2.0.0 (dddddddddddd) is locked\n"
      "module.vpc.leaf stale: v1.0.0 (aaaaaaaaaaaa) is installed, v2.0.0 (bbbbbbbbbbbb) is locked\n";
  BOOST_TEST(report_text(verify()) == expected);
  fs::remove_all(directory.path() / "cache/v2/packages");
  BOOST_TEST(report_text(verify()) == expected);
  install();
  BOOST_TEST(report_text(verify()) == "module.vpc held: \nmodule.vpc.leaf held: \n");
}

BOOST_AUTO_TEST_CASE(verify_distinguishes_missing_from_not_locked) {
  lock_and_install_vpc();
  fs::remove_all(root() / ".terraform/modules/vpc");
  BOOST_TEST(report_text(verify()) == "module.vpc missing: it is locked, but not installed\n");
  BOOST_TEST(exit_code_of(verify()) == 3);
  install();
  fs::remove(root() / ".terraform/modules/modules.json");
  BOOST_TEST(report_text(verify()) ==
             "module.vpc missing: the package is there, but modules.json does not name it as a client would\n");
  request.lock.modules.clear();
  BOOST_TEST(report_text(verify()) == "module.vpc not-locked: the lock file has no entry for this call\n");
  BOOST_TEST(exit_code_of(verify()) == 3);
}

BOOST_AUTO_TEST_CASE(verify_reports_entries_that_no_call_has_and_sources_that_differ) {
  lock_and_install_vpc();
  request.lock.modules["ghost"] = {.key = "ghost", .source = "git::https://example.com/ghost.git", .hashes = {"h1:x"}};
  request.lock.modules["terragrunt:source"] = {.key = "terragrunt:source", .source = "x"};
  request.lock.modules.at("vpc").source = "git::https://example.com/vpc.git?ref=v0.9.0";
  BOOST_TEST(report_text(verify()) ==
             "module.ghost not-locked: the lock file has an entry that no call has\n"
             "module.vpc not-locked: it is locked from git::https://example.com/vpc.git?ref=v0.9.0, and the "
             "configuration calls git::https://example.com/vpc.git?ref=v1.0.0\n");
}

BOOST_AUTO_TEST_CASE(verify_looks_below_packages) {
  source->add_tag(kNested, "v1.0.0", kLeaf);
  source->add_tag(kVpc, "v1.0.0", calling("leaf", "git::https://example.com/nested.git?ref=v1.0.0"));
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  install();
  write(".terraform/modules/vpc.leaf/main.tf", "changed");
  BOOST_TEST(report_text(verify()) ==
             "module.vpc held: \n"
             "module.vpc.leaf tampered: 1 file differs from the locked package [main.tf was changed]\n");
}

BOOST_AUTO_TEST_CASE(verify_judges_below_a_module_that_can_no_longer_be_read) {
  source->add_tag(kNested, "v1.0.0", kLeaf);
  source->add_tag(kVpc, "v1.0.0", calling("leaf", "git::https://example.com/nested.git?ref=v1.0.0"));
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  install();
  write(".terraform/modules/vpc/main.tf", "module \"leaf {");
  const std::string expected =
      "module.vpc tampered: 1 file differs from the locked package [main.tf was changed]\n"
      "module.vpc.leaf held: \n";
  BOOST_TEST(report_text(verify()) == expected);
  fs::remove_all(directory.path() / "cache");
  BOOST_TEST(report_text(verify()) == expected);
}

BOOST_AUTO_TEST_CASE(verify_holds_a_module_whose_subdirectory_is_a_pattern) {
  source->add_tag(kVpc, "v1.0.0", {{"modules/net/main.tf", ""}});
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git//modules/n*?ref=v1.0.0\"\n}\n");
  lock();
  install();
  BOOST_TEST(report_text(verify()) == "module.vpc held: \n");
}

BOOST_AUTO_TEST_CASE(verify_reports_calls_that_cannot_be_locked) {
  write("main.tf", "module \"reg\" {\n  source = \"a/b/c\"\n}\n");
  for (const bool strict : {false, true}) {
    const VerifyReport report = verify(strict);
    BOOST_TEST(report_text(report) == "module.reg not-locked: the lock file has no entry for this call\n");
    BOOST_TEST_REQUIRE(report.diagnostics.size() == 1U);
    BOOST_TEST(report.diagnostics[0].what.message ==
               "module \"reg\" is not locked: registry sources are not supported "
               "(\"registry.opentofu.org/modules/a/b/c\")");
    BOOST_TEST(exit_code_of(report) == 3);
  }
}

BOOST_AUTO_TEST_CASE(verify_shows_the_first_paths_and_counts_the_others) {
  FakeBackend::Files files;
  for (char name = 'a'; name <= 'm'; ++name) {
    files[std::string(1, name) + ".txt"] = "1";
  }
  source->add_tag(kVpc, "v1.0.0", files);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  lock();
  install();
  for (char name = 'a'; name <= 'l'; ++name) {
    write(std::string(".terraform/modules/vpc/") + name + ".txt", "2");
  }
  const VerifyReport report = verify();
  BOOST_TEST(report.verdicts[0].detail == "12 files differ from the locked package");
  BOOST_TEST(report.verdicts[0].paths.size() == 10U);
  BOOST_TEST(report.verdicts[0].paths[9] == "j.txt was changed");
  BOOST_TEST(report.verdicts[0].more_paths == 2U);
}

BOOST_AUTO_TEST_CASE(verify_reports_entries_of_calls_that_are_never_locked) {
  write("main.tf", "module \"net\" {\n  source = \"./net\"\n}\n");
  write("net/main.tf", "");
  request.lock.modules["net"] = {.key = "net", .source = "./net", .hashes = {"h1:x"}};
  BOOST_TEST(report_text(verify()) ==
             "module.net not-locked: the lock file has an entry, and the call is of a local module, which is never "
             "locked\n");
}

BOOST_AUTO_TEST_CASE(verify_points_to_the_call_or_to_the_block_of_the_lock) {
  source->add_tag(kNested, "v1.0.0", kLeaf);
  source->add_tag(kVpc, "v1.0.0", calling("leaf", "git::https://example.com/nested.git?ref=v1.0.0"));
  write("net/main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n");
  write("main.tf", "module \"net\" {\n  source = \"./net\"\n}\n");
  lock();
  install();
  request.lock = *parse_lock(write_lock({}, request.lock.modules), ".terraform.lock.hcl");
  const VerifyReport report = verify();
  BOOST_TEST_REQUIRE(report.verdicts.size() == 2U);
  BOOST_TEST(to_string(report.verdicts[0].location.value()) == "net/main.tf:2:12");
  BOOST_TEST(to_string(report.verdicts[1].location.value()).starts_with(".terraform.lock.hcl:"));
}

BOOST_AUTO_TEST_CASE(verify_finds_a_commit_beside_the_h1_of_another) {
  const std::string other(40, 'b');
  source->add_tag(kVpc, "v2.0.0", kLeaf, other);
  write("main.tf", "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v2.0.0\"\n}\n");
  lock();
  request.lock = {};
  lock_and_install_vpc();
  ModuleLock& entry = request.lock.modules.at("vpc");
  const std::string h1 = "h1:" + entry.hash_value("h1");
  entry.hashes = {"git:" + other, h1};
  const VerifyReport report = verify();
  BOOST_TEST(report_text(report) ==
             "module.vpc tampered: the lock file contradicts itself, for the content of its git:" + other +
                 " has another checksum; take it from version control again\n");
  BOOST_TEST(report.verdicts[0].expected == h1);
  BOOST_TEST(report.verdicts[0].actual != h1);
  BOOST_TEST(exit_code_of(report) == 4);
  // Two commits may have the same content: of one that the store does not know, nothing is said without asking.
  entry.hashes = {"git:" + std::string(40, 'c'), h1};
  BOOST_TEST(report_text(verify()) == "module.vpc held: \n");
}

BOOST_AUTO_TEST_CASE(verify_says_where_the_manifest_leads_a_client_elsewhere) {
  struct Row {
    const char* name;
    const char* from;
    const char* to;
    const char* expected;  // beside what holds
  };
  const Row rows[] = {
      {"a package", "\"Dir\":\".terraform/modules/vpc\"", "\"Dir\":\"elsewhere\"",
       "module.vpc tampered: modules.json points to \"elsewhere\" instead of \".terraform/modules/vpc\"\n"},
      {"through the package", "\"Dir\":\".terraform/modules/vpc\"",
       "\"Dir\":\".terraform/modules/vpc/../../../elsewhere\"",
       "module.vpc tampered: modules.json points to \".terraform/modules/vpc/../../../elsewhere\" instead of "
       "\".terraform/modules/vpc\"\n"},
      {"another directory of the package", "\"Dir\":\".terraform/modules/vpc\"",
       "\"Dir\":\".terraform/modules/vpc/sub\"",
       "module.vpc tampered: modules.json points to \".terraform/modules/vpc/sub\" instead of "
       "\".terraform/modules/vpc\"\n"},
      {"another spelling of a package", "\"Dir\":\".terraform/modules/vpc\"",
       "\"Dir\":\"./.terraform/modules/vpc/sub/..\"", "module.vpc held: \n"},
      {"a local module", "\"Dir\":\"net\"", "\"Dir\":\"elsewhere\"",
       "module.net tampered: modules.json points to \"elsewhere\" instead of \"net\"\nmodule.vpc held: \n"},
      {"a local module of a package", "\"Dir\":\".terraform/modules/vpc/sub\"", "\"Dir\":\"elsewhere\"",
       "module.vpc held: \nmodule.vpc.sub tampered: modules.json points to \"elsewhere\" instead of "
       "\".terraform/modules/vpc/sub\"\n"},
      {"outside of the root", "\"Dir\":\"net\"", "\"Dir\":\"../outside\"",
       "module.net tampered: modules.json points to \"../outside\" instead of \"net\"\nmodule.vpc held: \n"},
      {"another spelling", "\"Dir\":\"net\"", "\"Dir\":\"./elsewhere/../net\"", "module.vpc held: \n"},
      {"nothing, so that it is installed anew", "\"Dir\":\".terraform/modules/vpc\"", "\"Dir\":\"nowhere\"",
       "module.vpc missing: the package is there, but modules.json does not name it as a client would\n"},
      {"another source, so that it is installed anew", "\"Source\":\"./net\",\"Dir\":\"net\"",
       "\"Source\":\"./other\",\"Dir\":\"elsewhere\"", "module.vpc held: \n"},
  };
  source->add_tag(kVpc, "v1.0.0", {{"main.tf", "module \"sub\" {\n  source = \"./sub\"\n}\n"}, {"sub/main.tf", ""}});
  write("main.tf",
        "module \"vpc\" {\n  source = \"git::https://example.com/vpc.git?ref=v1.0.0\"\n}\n"
        "module \"net\" {\n  source = \"./net\"\n}\n");
  for (const char* name : {"net/main.tf", "elsewhere/main.tf", "../outside/main.tf"}) {
    write(name, "");
  }
  lock();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      install();
      std::string manifest = read_text(root() / ".terraform/modules/modules.json");
      const std::size_t at = manifest.find(row.from);
      BOOST_REQUIRE(at != std::string::npos);
      manifest.replace(at, std::string(row.from).size(), row.to);
      write(".terraform/modules/modules.json", manifest);
      BOOST_TEST(report_text(verify()) == row.expected);
    }
  }
  install();
  BOOST_TEST(report_text(verify()) == "module.vpc held: \n");
}

BOOST_AUTO_TEST_SUITE_END()
