// Everything that a person reads in the main job, to the letter.
#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"

namespace modlock::test {
namespace {

struct Messages : Scene {
  Messages() : vpc(repository("vpc.git")) {
    release(vpc, "3.19.0");
    write("main.tf", module_call("vpc", "git::" + vpc.url()));
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 3.0"));
  }
  GitRepository& vpc;
};

constexpr const char* kVpcLock = R"(# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

module "vpc" {
  version = "3.19.0"
  source  = "git::file://<dir>/repositories/vpc.git"

  constraints = "~> 3.0"

  hashes = [
    "git:<3.19.0>",
    "h1:0sSiMAGVt2nBJk4Tu7mElW6A1VHATrGax0yUrDXOb9s=",
  ]
}
)";

constexpr const char* kDiff = R"(module.vpc  3.19.0 -> 3.20.0  (~> 3.0)
--- .terraform.lock.hcl
+++ .terraform.lock.hcl
@@ -2,13 +2,13 @@
 # Manual edits may be lost in future updates.
 
 module "vpc" {
-  version = "3.19.0"
+  version = "3.20.0"
   source  = "git::file://<dir>/repositories/vpc.git"
 
   constraints = "~> 3.0"
 
   hashes = [
-    "git:<3.19.0>",
-    "h1:0sSiMAGVt2nBJk4Tu7mElW6A1VHATrGax0yUrDXOb9s=",
+    "git:<3.20.0>",
+    "h1:4+VvyaGm3lBqt0q64HLlKUP5cx8mmMEvKzdHmmySq9o=",
   ]
 }
.terraform.lock.hcl would change; nothing was written.
)";

constexpr const char* kFailedChecksum = R"(
Error: module checksum verification failed

  module.vpc has a checksum that does not match the lock file.
  It may have been modified or tampered with: 1 file differs from the locked package.
    main.tf was changed

  expected: h1:0sSiMAGVt2nBJk4Tu7mElW6A1VHATrGax0yUrDXOb9s=
  got:      h1:4+VvyaGm3lBqt0q64HLlKUP5cx8mmMEvKzdHmmySq9o=

  To restore the locked package, run:
    tofu-modlock install
)";

BOOST_FIXTURE_TEST_SUITE(messages, Messages)

BOOST_AUTO_TEST_CASE(lock_created) {
  check_ran(modlock({"lock"}), 0, R"(module.vpc  3.19.0  (~> 3.0)

tofu-modlock has created the lock file .terraform.lock.hcl to record the selected module versions.
Include this file in version control, so that everyone gets the same modules.
The module locks are inline: for repositories in which everyone runs the wrapper, the hooks or ci,
because a bare client drops the locks when it changes providers. If someone runs it, use the
sidecar, one more file to commit:
  echo 'module_lock_file = "sidecar"' >> .tofu-modlock.hcl && tofu-modlock lock
Next: run tofu-modlock install, then tofu init.
)");
  BOOST_TEST(shown(lock()) == kVpcLock);
}

BOOST_AUTO_TEST_CASE(lock_up_to_date) {
  modlock({"lock"});
  check_ran(modlock({"lock"}), 0, "The lock file is up to date.\n");
}

BOOST_AUTO_TEST_CASE(lock_changed) {
  modlock({"lock"});
  release(vpc, "3.20.0");
  check_ran(modlock({"upgrade"}), 0, R"(module.vpc  3.19.0 -> 3.20.0  (~> 3.0)

tofu-modlock has changed the module selections in .terraform.lock.hcl.
Review and commit the change if it is what you intended.
Next: run tofu-modlock install, then tofu init.
)");
}

BOOST_AUTO_TEST_CASE(dry_run_shows_a_unified_diff) {
  modlock({"lock"});
  release(vpc, "3.20.0");
  check_ran(modlock({"upgrade", "--dry-run"}), 0, kDiff);
  BOOST_TEST(shown(lock()) == kVpcLock);
}

BOOST_AUTO_TEST_CASE(install) {
  modlock({"lock"});
  check_ran(modlock({"install"}), 0, "installed  module.vpc  .terraform/modules/vpc\n1 installed.\n");
  check_ran(modlock({"install"}), 0, "0 installed, 1 already in place.\n");
  check_ran(modlock({"lock", "--install"}), 0, "The lock file is up to date.\n0 installed, 1 already in place.\n");
}

BOOST_AUTO_TEST_CASE(each_verified_module) {
  modlock({"lock", "--install"});
  const Ran ran = modlock({"verify"});
  check_ran(ran, 0, "verified  module.vpc  3.19.0\n1 verified\n");
}

BOOST_AUTO_TEST_CASE(failed_checksum) {
  modlock({"lock", "--install"});
  write(".terraform/modules/vpc/main.tf", "output \"version\" {\n  value = \"3.20.0\"\n}\n");
  check_ran(modlock({"verify"}), 4,
            "tampered  module.vpc  3.19.0  1 file differs from the locked package\n\n0 verified, 1 tampered\n",
            kFailedChecksum);
}

BOOST_AUTO_TEST_CASE(missing_module) {
  modlock({"lock"});
  check_ran(modlock({"verify"}), 3,
            "missing  module.vpc  3.19.0  it is locked, but not installed\n0 verified, 1 missing\n"
            "Next: run tofu-modlock install.\n");
}

BOOST_AUTO_TEST_CASE(versions) {
  release(vpc, "3.20.0");
  vpc.tag("nightly");
  check_ran(modlock({"versions", "git::" + vpc.url(), "--constraint", "~> 3.19.0"}), 0,
            "  3.20.0  v3.20.0  <3.20.0>\n* 3.19.0  v3.19.0  <3.19.0>\n2 versions, 1 tag skipped.\n");
}

BOOST_AUTO_TEST_CASE(inspect) {
  modlock({"lock"});
  check_ran(modlock({"inspect"}), 0,
            ".\n└─ module.vpc  locked 3.19.0 (~> 3.0)  git::file://<dir>/repositories/vpc.git\n"
            "1 module call, 0 providers, 2 files.\n");
}

BOOST_AUTO_TEST_CASE(wrong_usage_exits_2) {
  BOOST_TEST(modlock({"lock", "--nonsense"}).exit_code == 2);
  BOOST_TEST(modlock({}).exit_code == 2);
  BOOST_TEST(modlock({"lock", "--resolution", "newest"}).exit_code == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
