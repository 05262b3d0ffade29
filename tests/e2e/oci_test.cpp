// Modules in a real OCI registry, from outside: listed, locked by digest, installed, verified.

#include <boost/test/unit_test.hpp>

#include "tests/e2e/scene.h"
#include "tests/support/docker_registry.h"
#include "tests/support/needs.h"

using namespace modlock;
using namespace modlock::test;

namespace {

struct OciScene : Scene {
  explicit OciScene(DockerRegistry::Auth auth = DockerRegistry::Auth::none) : registry(auth) {
    environment["SSL_CERT_FILE"] = registry.authority().string();
    name_text(registry.host(), "<registry>");
  }

  void push(const std::string& tag, const std::string& text) {
    const std::string digest = registry.push("acme/vpc", tag, {{"main.tf", text}, {"inner/main.tf", "# inner\n"}});
    name_text(digest, "<" + tag + ">");
  }

  void call(const std::string& query = {}, const std::string& version = {}) {
    write("main.tf", module_call("vpc", registry.source("acme/vpc") + query));
    write(".tofu-modlock.hcl", version.empty() ? "" : module_rule("vpc", version));
  }

  DockerRegistry registry;
};

struct BasicScene : OciScene {
  BasicScene() : OciScene(DockerRegistry::Auth::basic) {}
};

}  // namespace

BOOST_TEST_DECORATOR(*needs(DockerRegistry::kPrograms))
BOOST_AUTO_TEST_SUITE(oci)

BOOST_FIXTURE_TEST_CASE(versions_are_read_from_tags, OciScene) {
  for (const char* tag : {"v1.2.0", "1.3.0", "1.4.0-rc1", "1.3.1_build.7", "latest"}) {
    push(tag, "# " + std::string(tag) + "\n");
  }
  const Ran ran = modlock({"versions", registry.source("acme/vpc"), "--constraint", "~> 1.2"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out == "* 1.3.1+build.7  1.3.1_build.7\n  1.3.0\n  1.2.0  v1.2.0\n3 versions, 1 tag skipped.\n");
}

BOOST_FIXTURE_TEST_CASE(constraint_is_locked_by_digest_installed_and_verified, OciScene) {
  push("v1.2.0", "# 1.2\n");
  push("v2.0.0", "# 2.0\n");
  call("", "~> 1.2");
  const Ran locked = modlock({"lock", "--install"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST(locked.out.find("module.vpc  1.2.0  (~> 1.2)\n") == 0U, locked.out);
  BOOST_TEST(shown(lock()).find("module \"vpc\" {\n  version = \"1.2.0\"\n  source  = \"oci://<registry>/acme/vpc\"\n\n"
                                "  constraints = \"~> 1.2\"\n\n  hashes = [\n    \"h1:") != std::string::npos,
             shown(lock()));
  BOOST_TEST(shown(lock()).find("    \"oci:<v1.2.0>\",\n") != std::string::npos, shown(lock()));
  BOOST_TEST(read(".terraform/modules/vpc/main.tf") == "# 1.2\n");
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  push("v1.3.0", "# 1.3\n");
  age_lock();
  BOOST_TEST(modlock({"lock"}).out == "The lock file is up to date.\n");
  BOOST_TEST(lock_is_aged());
  BOOST_TEST(modlock({"upgrade"}).out.find("module.vpc  1.2.0 -> 1.3.0  (~> 1.2)\n") == 0U);
}

BOOST_FIXTURE_TEST_CASE(override_file_names_the_digest, OciScene) {
  push("v1.2.0", "output \"version\" {\n  value = \"1.2.0\"\n}\n");
  write("main.tf", module_call("vpc", registry.source("acme/vpc"), "~> 1.2"));
  environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
  environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = "1.12.6";
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const Ran ran = modlock({"install", "--overrides"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.err == "");
  const std::string source = "oci://<registry>/acme/vpc?digest=<v1.2.0>";
  BOOST_TEST(shown(read("modlock_override.tf")).find("  source  = \"" + source + "\"\n  version = null\n") !=
                 std::string::npos,
             shown(read("modlock_override.tf")));
  BOOST_TEST(shown(read(".terraform/modules/modules.json"))
                     .find(R"({"Key":"vpc","Source":")" + source + R"(","Dir":".terraform/modules/vpc"})") !=
                 std::string::npos,
             shown(read(".terraform/modules/modules.json")));
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_FIXTURE_TEST_CASE(stock_tofu_obeys_the_override_file, OciScene, *needs("tofu")) {
  push("v1.2.0", "output \"version\" {\n  value = \"1.2.0\"\n}\n");
  write("main.tf", module_call("vpc", registry.source("acme/vpc"), "~> 1.2"));
  environment["TF_IN_AUTOMATION"] = "1";
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(modlock({"install", "--overrides"}).exit_code == 0);
  push("v1.3.0", "output \"version\" {\n  value = \"1.3.0\"\n}\n");
  const std::string manifest = read(".terraform/modules/modules.json");
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"init"}, {"validate"}, {"plan"}, {"init", "-upgrade"}}) {
    std::vector<std::string> argv = {"tofu"};
    argv.insert(argv.end(), command.begin(), command.end());
    argv.emplace_back("-no-color");
    const Ran ran = program(argv);
    BOOST_TEST(ran.exit_code == 0, command.front() << ran.out << ran.err);
    BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
  }
  BOOST_TEST(read(".terraform/modules/vpc/main.tf").find("\"1.2.0\"") != std::string::npos);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_FIXTURE_TEST_CASE(tag_that_moves_stays_locked_until_upgraded, OciScene) {
  push("stable", "# one\n");
  call("//inner?tag=stable");
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  BOOST_TEST(read(".terraform/modules/modules.json").find("\"Dir\":\".terraform/modules/vpc/inner\"") !=
             std::string::npos);
  const std::string before = lock();
  registry.push("acme/vpc", "stable", {{"main.tf", "# two\n"}, {"inner/main.tf", ""}});
  std::filesystem::remove_all(cache());
  std::filesystem::remove_all(root() / ".terraform");
  const Ran again = modlock({"install"});
  BOOST_TEST(again.exit_code == 0, again.err);
  BOOST_TEST(read(".terraform/modules/vpc/main.tf") == "# one\n");
  BOOST_TEST(lock() == before);
  BOOST_TEST(modlock({"upgrade"}).exit_code == 4);
  BOOST_TEST(lock() == before);
  const Ran upgraded = modlock({"upgrade", "--accept-moved"});
  BOOST_TEST(upgraded.exit_code == 0);
  BOOST_TEST(upgraded.err.find("[TAG_MOVED]") != std::string::npos, upgraded.err);
  BOOST_TEST(lock() != before);
}

BOOST_FIXTURE_TEST_CASE(credentials_come_from_the_docker_file_and_are_never_shown, BasicScene) {
  push("1.0.0", "# one\n");
  call("?tag=1.0.0");
  const Ran refused = modlock({"lock"});
  BOOST_TEST(refused.exit_code == 7);
  BOOST_TEST(refused.err.find("[AUTH_REQUIRED]") != std::string::npos, refused.err);
  BOOST_TEST(refused.err.find(".docker/config.json") != std::string::npos, refused.err);
  const std::string secret = "cmVhZGVyOnBAc3MvdzpyZCU0MQ==";  // base64 of user and password
  write_text(path("home/.docker/config.json"),
             "{\"auths\": {\"" + registry.host() + "\": {\"auth\": \"" + secret + "\"}}}");
  const Ran ran = modlock({"lock", "--install"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  for (const std::string& text : {ran.out, ran.err, lock(), read(".terraform/modules/modules.json")}) {
    BOOST_TEST(text.find(secret) == std::string::npos, text);
    BOOST_TEST(text.find(DockerRegistry::password()) == std::string::npos, text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
