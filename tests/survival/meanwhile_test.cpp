// What others do while we work: edits, other runs, packages that change.

#include <boost/test/unit_test.hpp>

#include "tests/survival/survival_scene.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Meanwhile : SurvivalScene {
  Meanwhile() {
    publish("1.0.0");
    BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
    before = lock();
    publish("1.1.0");
    save();
  }

  // A command that runs when the packages have come and the lock is not written yet.
  Fault between_plan_and_apply(const std::string& command) const {
    return {.calls = "rename", .below = cache() / "v2/identities", .run = command};
  }
  std::string lock_path() const { return "'" + (root() / ".terraform.lock.hcl").string() + "'"; }

  std::string before;
};

BOOST_FIXTURE_TEST_SUITE(meanwhile, Meanwhile, *boost::unit_test::precondition(may_trace))

BOOST_AUTO_TEST_CASE(a_lock_edited_between_plan_and_apply) {
  struct Row {
    const char* name;
    std::string command;
    std::string after;
  };
  const Row rows[] = {
      {"a line more", "echo '# ours' >> " + lock_path(), before + "# ours\n"},
      {"emptied", ": > " + lock_path(), ""},
      {"deleted", "rm " + lock_path(), "(none)"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      restore();
      const Faulted ran = modlock_with(between_plan_and_apply(row.command), {"upgrade", "--install"});
      BOOST_TEST(ran.met.find("identities") != std::string::npos);
      BOOST_TEST(ran.exit_code == 3);
      BOOST_TEST(ran.err.find("<dir>/root/.terraform.lock.hcl was modified while the command was running "
                              "[CONTENT_MODIFIED]") != std::string::npos,
                 ran.err);
      BOOST_TEST((has(".terraform.lock.hcl") ? lock() : "(none)") == row.after);
      Files files = files_of_root();
      files[".terraform.lock.hcl"] = before;
      restore();
      BOOST_TEST(differences(files, files_of_root()) == "");  // nothing else was written
    }
  }
}

// git would commit an unfinished file next to its own %A.
BOOST_AUTO_TEST_CASE(a_signal_to_merge) {
  BOOST_REQUIRE(modlock({"upgrade"}).exit_code == 0);
  const std::string after = lock();
  write("base", before);
  write("theirs", after);
  for (const char* signal : {"TERM", "INT", "HUP"}) {
    write("ours", before);
    const Fault fault{.calls = "rename",
                      .below = root() / "ours",
                      .run = std::string("for p in $(cat /proc/$PPID/task/$PPID/children); do [ $p = $$ ] || kill -") +
                             signal + " $p; done"};
    const Faulted ran = modlock_with(fault, {"merge", "base", "ours", "theirs"});
    BOOST_TEST(!ran.met.empty());
    BOOST_TEST(ran.exit_code == 0, ran.err);
    BOOST_TEST(read("ours") == after);
    for (const fs::directory_entry& entry : fs::directory_iterator(root())) {
      BOOST_TEST(!entry.path().filename().string().starts_with(".ours"), signal);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_merge_that_was_killed) {
  write("base", before);
  write("ours", before);
  write("theirs", before);
  write(".ours.0123456789abcdef", "unfinished");
  write(".ours.mine", "mine");
  BOOST_TEST(modlock({"merge", "base", "ours", "theirs"}).exit_code == 0);
  BOOST_TEST(!fs::exists(root() / ".ours.0123456789abcdef"));
  BOOST_TEST(read(".ours.mine") == "mine");
}

BOOST_AUTO_TEST_CASE(a_lock_made_between_plan_and_apply) {
  fs::remove(root() / ".terraform.lock.hcl");
  fs::remove_all(root() / ".terraform");
  const Faulted ran = modlock_with(between_plan_and_apply("echo '# theirs' > " + lock_path()), {"lock"});
  BOOST_TEST(ran.exit_code == 3, ran.err);
  BOOST_TEST(lock() == "# theirs\n");
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  BOOST_TEST(lock().find("# theirs\n") != std::string::npos);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

// Whoever comes second to the same result is content with it.
BOOST_AUTO_TEST_CASE(a_whole_run_between_plan_and_apply) {
  const Faulted ran = modlock_with({.calls = "open",
                                    .below = root() / ".terraform/tofu-modlock/guard",
                                    .run = "'" + binary + "' upgrade --install >/dev/null"},
                                   {"upgrade", "--install"});
  BOOST_TEST(ran.met != "");
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(lock() != before);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(nobody_else_of_us_writes_between_check_and_replacement) {
  const std::string guard = (root() / ".terraform/tofu-modlock/guard").string();
  const Faulted ran =
      modlock_with({.calls = "rename",
                    .below = root() / ".terraform.lock.hcl",
                    .run = "flock --nonblock '" + guard + "' true || touch '" + path("held").string() + "'"},
                   {"upgrade"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.met.find(".terraform.lock.hcl") != std::string::npos);
  BOOST_TEST(fs::exists(path("held")));
}

BOOST_AUTO_TEST_CASE(two_locks_on_one_root_at_once) {
  modlock({"upgrade", "--install"});
  const Files wanted = files_of_root();
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    restore();
    fs::remove(root() / ".terraform.lock.hcl");
    fs::remove_all(root() / ".terraform");
    fs::remove_all(cache());
    const Ran ran = program({"sh", "-c",
                             "\"$1\" lock --install & first=$!\n\"$1\" lock --install & second=$!\n"
                             "wait $first && wait $second",
                             "sh", binary});
    BOOST_TEST(ran.exit_code == 0, ran.err);
    BOOST_TEST(modlock({"verify"}).exit_code == 0);
    Files files = files_of_root();
    BOOST_TEST(files.size() <= wanted.size());
    for (const char* name : {".terraform.lock.hcl", ".terraform/modules/modules.json"}) {
      BOOST_TEST(files[name] == wanted.at(name));
    }
  }
}

// One sees the other's lock, or is told that it was changed: never a mixture.
BOOST_AUTO_TEST_CASE(a_lock_and_an_upgrade_at_once) {
  modlock({"upgrade", "--install"});
  const Files locks = {{"1.0.0", before}, {"1.1.0", lock()}};
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    restore();
    const Ran ran = program({"sh", "-c",
                             "\"$1\" lock --install & first=$!\n\"$1\" upgrade --install & second=$!\n"
                             "wait $first; one=$?; wait $second; two=$?; echo \"exits $one $two\"",
                             "sh", binary});
    BOOST_TEST(ran.out.find("exits 0 0\n") != std::string::npos, ran.out << ran.err);
    check_truth(locks);
    BOOST_TEST(lock() == locks.at("1.1.0"));
    BOOST_TEST(modlock({"install"}).exit_code == 0);
    BOOST_TEST(modlock({"verify"}).exit_code == 0);
  }
}

// As an installation replaces it: the old tree steps aside, and the new one takes its place.
BOOST_AUTO_TEST_CASE(an_installed_package_that_is_replaced_while_it_is_hashed) {
  const std::string place = "'" + (root() / ".terraform/modules/vpc").string() + "'";
  const std::string copy = "'" + path("copy").string() + "'";
  struct Row {
    const char* name;
    std::string prepare;  // of the copy
    int exit_code;
  };
  for (const Row& row :
       {Row{"the same package", "true", 0}, Row{"another one", "echo '{}' > " + copy + "/extra.tf", 4}}) {
    Fault fault{.calls = "open",
                .below = root() / ".terraform/modules/vpc",
                .run = "cp -R " + place + " " + copy + " && " + row.prepare + " && rm -rf " + place + " && mv " + copy +
                       " " + place};
    for (; fault.at < kMostCalls; ++fault.at) {
      restore();
      const Faulted ran = modlock_with(fault, {"verify", "--full"});
      if (ran.met.empty()) {
        break;
      }
      BOOST_TEST_CONTEXT(row.name << " " << ran.met) {
        const bool may_be_over = row.exit_code == 4 && fault.at > 1;
        BOOST_TEST((ran.exit_code == row.exit_code || (may_be_over && ran.exit_code == 0)), ran.out << ran.err);
      }
    }
    BOOST_TEST(fault.at > 3U);
  }
}

BOOST_AUTO_TEST_CASE(an_installed_package_that_changes_while_it_is_hashed) {
  const fs::path file = root() / ".terraform/modules/vpc/policies/a.json";
  for (const char* command : {"verify", "install"}) {
    Fault fault{.calls = "open",
                .below = root() / ".terraform/modules/vpc",
                .run = "printf '[]\\n' > '" + file.string() + "'"};  // as long as before
    for (; fault.at < kMostCalls; ++fault.at) {
      restore();
      BOOST_REQUIRE(modlock({"verify"}).exit_code == 0);
      const Faulted ran = modlock_with(fault, {command});
      if (ran.met.empty()) {
        break;
      }
      BOOST_TEST_CONTEXT(command << " " << ran.met) {
        // It was right of one moment or the other; what is so now is seen from now on.
        BOOST_TEST((ran.exit_code == 0 || ran.exit_code == 4), ran.err);
        const int expected = read_text(file) == "[]\n" ? 4 : 0;
        BOOST_TEST(modlock({"verify"}).exit_code == expected);
        BOOST_TEST(modlock({"verify", "--full"}).exit_code == expected);
        BOOST_TEST(modlock({"install"}).exit_code == expected);  // reports what it restores
        BOOST_TEST(modlock({"verify"}).exit_code == 0);
      }
    }
    BOOST_TEST(fault.at > 3U);
  }
}

BOOST_AUTO_TEST_CASE(a_package_of_the_store_that_changes_while_it_is_copied) {
  fs::remove_all(root() / ".terraform");
  save();
  Fault fault{.calls = "open",
              .below = cache() / "v2/packages",
              .run = "for file in '" + (cache() / "v2/packages").string() +
                     "'/*/tree/policies/a.json; do printf '[]\\n' > \"$file\"; done"};
  int healed = 0;
  for (; fault.at < kMostCalls; ++fault.at) {
    restore();
    const Faulted ran = modlock_with(fault, {"install"});
    if (ran.met.empty()) {
      break;
    }
    BOOST_TEST_CONTEXT(ran.met) {
      BOOST_TEST(ran.exit_code == 0, ran.err);
      healed += ran.err.find("hint: it was removed from the cache and downloaded again") != std::string::npos ? 1 : 0;
      check_truth({{"1.0.0", before}});
      BOOST_TEST(modlock({"install"}).exit_code == 0);
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
  BOOST_TEST(healed > 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
