// scripts/tofu-modlock-container in front of a program that prints its arguments in place of docker.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kContainer = MODLOCK_SCRIPTS "/tofu-modlock-container";

constexpr const char* kEngine = R"(#!/bin/sh
printf '%s\n' "$@"
cat
exit "${ENGINE_EXIT:-0}"
)";

struct Container : Scene {
  Container() {
    fs::create_directories(path("home/.ssh"));
    for (const char* name : {"docker", "podman"}) {
      write_text(path(name), kEngine);
      fs::permissions(path(name), fs::perms::owner_all);
    }
  }
  // Runs the script with these variables only.
  Ran container(std::vector<std::string> variables, std::vector<std::string> arguments, std::string input = {}) const {
    std::vector<std::string> argv = {"/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "HOME=" + path("home").string(),
                                     "TOFU_MODLOCK_CONTAINER_ENGINE=" + path("docker").string()};
    argv.insert(argv.end(), variables.begin(), variables.end());
    argv.emplace_back(kContainer);
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return program(std::move(argv), std::move(input));
  }
  static std::string docker_user() {
    return fmt::format("--user\n{}:{}\n--volume\n/etc/passwd:/etc/passwd:ro\n", ::getuid(), ::getgid());
  }
};

BOOST_FIXTURE_TEST_SUITE(container, Container)

BOOST_AUTO_TEST_CASE(whole_command) {
  const Ran ran = container({}, {"lock", "--chdir", "a b", "", "*"}, "input\n");
  BOOST_TEST(ran.err == "");
  BOOST_TEST(ran.out ==
             "run\n--rm\n--interactive\n--pull\nnever\n--security-opt\nlabel=disable\n"
             "--volume\n<dir>/root:<dir>/root\n"
             "--volume\n<dir>/home/.cache/tofu-modlock:<dir>/home/.cache/tofu-modlock\n" +
                 docker_user() +
                 "--env\nTOFU_MODLOCK_CONTAINER_ENGINE\n"
                 "--env\nHOME=<dir>/home\n--env\nTOFU_MODLOCK_CACHE_DIR=<dir>/home/.cache/tofu-modlock\n"
                 "--workdir\n<dir>/root\ntofu-modlock:" +
                 program({binary, "--version"}).out + "lock\n--chdir\na b\n\n*\ninput\n");
}

BOOST_AUTO_TEST_CASE(exit_code_is_that_of_the_engine) {
  write_text(path("docker"), "#!/bin/sh\nexit 4\n");
  BOOST_TEST(container({}, {"verify"}).exit_code == 4);
}

BOOST_AUTO_TEST_CASE(mounts_and_variables) {
  for (const char* name : {".netrc", ".ssh/known_hosts", ".ssh/id_ed25519", ".gitconfig"}) {
    write_text(path("home") / name, "x");
  }
  fs::create_directories(path("more modules"));
  fs::create_directories(path("cache"));
  const std::string cache = path("cache").string();
  struct Row {
    const char* name;
    std::string variable;
    std::string wanted;
  };
  const Row rows[] = {
      {"credentials, read only", "", "--volume\n<dir>/home/.netrc:<dir>/home/.netrc:ro\n"},
      {"git configuration", "", "--volume\n<dir>/home/.gitconfig:<dir>/home/.gitconfig:ro\n"},
      {"known hosts", "", "--volume\n<dir>/home/.ssh/known_hosts:<dir>/home/.ssh/known_hosts:ro\n"},
      {"cache", "TOFU_MODLOCK_CACHE_DIR=" + cache, "--env\nTOFU_MODLOCK_CACHE_DIR=<dir>/cache\n"},
      {"setting", "TOFU_MODLOCK_OFFLINE=secret", "--env\nTOFU_MODLOCK_OFFLINE\n"},
      {"credential of a registry", "TF_TOKEN_example_com=secret", "--env\nTF_TOKEN_example_com\n"},
      {"token", "GITHUB_TOKEN=secret", "--env\nGITHUB_TOKEN\n"},
      {"proxy", "https_proxy=secret", "--env\nhttps_proxy\n"},
      {"more mounts", "TOFU_MODLOCK_CONTAINER_MOUNTS=" + path("more modules").string() + ":/nonexistent",
       "--volume\n<dir>/more modules:<dir>/more modules\n"},
      {"image", "TOFU_MODLOCK_IMAGE=other:1", "--workdir\n<dir>/root\nother:1\nlock\n"},
      {"podman", "TOFU_MODLOCK_CONTAINER_ENGINE=" + path("podman").string(),
       ::getuid() == 0 ? "ro\n--env\n" : "--userns\nkeep-id\n--env\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Ran ran = container({row.variable.empty() ? "UNUSED=" : row.variable}, {"lock"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(ran.out.find(row.wanted) != std::string::npos, ran.out);
      BOOST_TEST(ran.out.find("secret") == std::string::npos, ran.out);
      BOOST_TEST(ran.out.find("id_ed25519") == std::string::npos, ran.out);
      BOOST_TEST(ran.out.find("/nonexistent") == std::string::npos, ran.out);
    }
  }
}

BOOST_AUTO_TEST_CASE(checkout_is_mounted_whole) {
  program({"git", "init", "--quiet", path("").string()});
  const TemporaryDirectory home;
  const std::string out = container({"HOME=" + home.path().string()}, {"lock"}).out;
  BOOST_TEST(out.find("--volume\n<dir>:<dir>\n") != std::string::npos, out);
  BOOST_TEST(out.find("--workdir\n<dir>/root\n") != std::string::npos, out);
}

// A home directory contains ssh keys.
BOOST_AUTO_TEST_CASE(home_directory_is_not_mounted) {
  program({"git", "init", "--quiet", path("").string()});  // a checkout with the home directory
  const std::string out = container({}, {"lock"}).out;
  BOOST_TEST(out.find("--volume\n<dir>/root:<dir>/root\n") != std::string::npos, out);
  BOOST_TEST(out.find("--volume\n<dir>:<dir>\n") == std::string::npos, out);
  BOOST_TEST(container({"HOME=" + path("root").string()}, {"lock"}).exit_code == 1);
}

BOOST_AUTO_TEST_CASE(checkout_is_not_the_home_directory) {
  write(".gitconfig", "x");
  write(".config/tofu-modlock/config.hcl", "x");
  const passwd* const account = ::getpwuid(::getuid());
  const std::string own = account == nullptr ? "/nonexistent" : account->pw_dir;
  for (const char* home : {"HOME=", "HOME=.", "HOME=../root"}) {
    const std::string out =
        container({home, "XDG_CACHE_HOME=.cache", "TOFU_MODLOCK_CACHE_DIR=" + path("cache").string()}, {"lock"}).out;
    BOOST_TEST(out.find(fmt::format("--env\nHOME={}\n", own)) != std::string::npos, out);
    BOOST_TEST(out.find("--volume\n.") == std::string::npos, out);
  }
}

BOOST_AUTO_TEST_CASE(without_an_engine) {
  const Ran ran =
      program({"/usr/bin/env", "-i", "HOME=/nonexistent", "PATH=/nonexistent", "/bin/sh", kContainer, "lock"});
  BOOST_TEST(ran.exit_code == 127);
  BOOST_TEST(ran.err == "tofu-modlock-container: docker and podman not found on PATH\nhint: install one of them\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
