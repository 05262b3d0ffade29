#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/s3_server.h"

namespace modlock::test {

// A user with modules in the bucket "mods", and with secrets that contain "canary".
struct BucketScene : Scene {
  BucketScene() {
    server.put("mods", "net.zip", archive("1"));
    server.put("mods", "dir/main.tf", "output \"d\" {\n  value = 1\n}\n");
    server.put("mods", "dir/sub/a b.tf", "# sub\n");
  }
  static std::string archive(const std::string& version) {
    return make_zip({{.name = "main.tf", .content = "output \"v\" {\n  value = " + version + "\n}\n"},
                     {.name = "sub/main.tf", .content = "# sub\n"}});
  }
  // Runs the binary; what it prints has the part, and neither it nor the lock file has a secret.
  void check(const std::vector<std::string>& command, int exit_code, const std::string& part = {}) const {
    const Ran ran = modlock(command);
    const std::string printed = ran.out + ran.err;
    BOOST_TEST(ran.exit_code == exit_code, command.front() << printed);
    BOOST_TEST(printed.find(part) != std::string::npos, command.front() << printed);
    BOOST_TEST((printed + (has(".terraform.lock.hcl") ? lock() : "")).find("canary") == std::string::npos, printed);
  }
  // Neither a name nor a file of the cache has a secret.
  void check_cache() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cache())) {
      const std::string content = entry.is_regular_file() ? read_text(entry.path()) : std::string();
      BOOST_TEST((entry.path().string() + content).find("canary") == std::string::npos, entry.path());
    }
  }
  // What is installed needs no server.
  void check_without_requests() const {
    const std::size_t before = server.server().lines().size();
    check({"install", "--offline"}, 0);
    check({"verify"}, 0);
    BOOST_TEST(server.server().lines().size() == before);
  }

  S3Server server;
};

}  // namespace modlock::test
