// Packages that want more than to be unpacked, by every way that a package comes: refused whole, or harmless.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/e2e/scene.h"
#include "tests/security/bombs.h"
#include "tests/support/archive_writer.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/oci_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using Type = ArchiveEntry::Type;

struct PackageScene : Scene {
  PackageScene() {
    name_text(server.authority(), "<server>");
    write_text(path("tofurc"), server.host_block("registry.example.test"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    write_text(path("secret"), "canary\n");
  }

  std::string serve(const std::string& name, std::string bytes) {
    server.serve("/" + name, {.body = std::move(bytes), .type = "application/octet-stream"});
    return server.url() + "/" + name;
  }

  // Nothing is locked or installed, nothing of the package is kept, and nothing is where it should not be.
  void check_refused(const std::string& source, const std::string& why) const {
    write("main.tf", module_call("vpc", source));
    const Ran ran = modlock({"lock", "--install"});
    BOOST_TEST(ran.exit_code == 4, ran.exit_code << ran.out << ran.err);
    BOOST_TEST(ran.err.find(why) != std::string::npos, ran.err);
    BOOST_TEST(ran.err.find("[ARCHIVE_UNSAFE]") != std::string::npos, ran.err);
    BOOST_TEST(!has(".terraform.lock.hcl"));
    BOOST_TEST(!has(".terraform/modules/vpc"));
    for (const auto& entry : fs::recursive_directory_iterator(path(""))) {
      BOOST_TEST(entry.path().filename() != "pwned", entry.path());
      BOOST_TEST((entry.path().filename() != "main.tf" || entry.path() == root() / "main.tf"), entry.path());
    }
    BOOST_TEST(read_text(path("secret")) == "canary\n");
  }

  ModuleRegistry server;
};

std::string tar_gz(const std::vector<ArchiveEntry>& entries) {
  return compress("gzip", make_tar(entries));
}

BOOST_FIXTURE_TEST_SUITE(hostile_packages, PackageScene)

BOOST_AUTO_TEST_CASE(rejects_forbidden_archive_entries) {
  struct Row {
    const char* name;
    std::vector<ArchiveEntry> entries;
    std::string why;
  };
  using namespace std::string_literals;
  const ArchiveEntry module{.name = "main.tf"};
  for (const Row& row : {
           Row{"a way out", {module, {.name = "../../../../../pwned"}}, "points outside it with \"..\""},
           Row{"a way out from below", {module, {.name = "a/b/../../../pwned"}}, "points outside it with \"..\""},
           Row{"an absolute path", {module, {.name = path("pwned").string()}}, "has an absolute path"},
           Row{"a way through a link",
               {module, {.name = "a", .content = path("").string(), .type = Type::symbolic_link}, {.name = "a/pwned"}},
               "is below a file"},
           Row{"a file in place of a link",
               {module,
                {.name = "a", .content = path("secret").string(), .type = Type::symbolic_link},
                {.name = "a", .content = "pwned"}},
               "occurs twice"},
           Row{"a pipe", {module, {.name = "pipe", .type = Type::pipe}}, "is a device, a pipe or a socket"},
           Row{"a device", {module, {.name = "d", .type = Type::block_device}}, "is a device, a pipe or a socket"},
           Row{"a repository where case folds",
               {module, {.name = ".GIT/HEAD"}},
               "has a name that other file systems read as \".git\""},
           Row{"a repository of Windows",
               {module, {.name = "a/git~1/HEAD"}},
               "has a name that other file systems read as \".git\""},
           Row{"a lock file where case folds",
               {module, {.name = "a/.Terraform.lock.hcl"}},
               "has a name that other file systems read as \".terraform.lock.hcl\""},
           Row{"our override file",
               {module, {.name = "modlock_override.tf"}},
               "contains \"modlock_override.tf\", a name that only tofu-modlock may write"},
           Row{"our override file below",
               {module, {.name = "modules/a/modlock_override.tf"}},
               "contains \"modules/a/modlock_override.tf\", a name that only tofu-modlock may write"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      check_refused(serve("p.zip", make_zip(row.entries)), row.why);
      check_refused(serve("p.tar.gz", tar_gz(row.entries)), row.why);
    }
  }
  check_refused(serve("p.zip", make_zip({module, {.name = "pwned\0.txt"s}})), "has a NUL in its name");
}

BOOST_AUTO_TEST_CASE(four_gigabytes_in_four_megabytes) {
  constexpr std::uint32_t kTruth = 0xFFFFFFF0U;
  const std::string why = "unpacks to over 200 times the size of the archive";
  for (const std::string& zip : {zip_of_zeros(kTruth), zip_of_zeros(1000)}) {
    BOOST_TEST(zip.size() < (std::size_t{5} << 20U));
    check_refused(serve("p.zip", zip), why);
  }
  // What is left out of the package is counted all the same.
  for (const char* name : {"zeros", ".git/zeros"}) {
    const std::string tar = tar_of_zeros(name);
    BOOST_TEST(tar.size() < (std::size_t{5} << 20U));
    check_refused(serve("p.tar.gz", tar), why);
  }
}

BOOST_AUTO_TEST_CASE(a_million_entries) {
  check_refused(serve("p.zip", zip_of_a_million_entries()), "contains 1000000 entries; 200000 are allowed");
  check_refused(serve("p.tar.gz", tar_of_a_million_entries()), "is one more than the 200000 allowed");
}

BOOST_AUTO_TEST_CASE(by_way_of_a_registry) {
  const std::string archive = serve("p.zip", make_zip({{.name = "main.tf"}, {.name = "../pwned"}}));
  for (const ModuleRegistry::Answer& answer : {ModuleRegistry::by_header(archive), ModuleRegistry::by_body(archive),
                                               ModuleRegistry::directly(archive, false)}) {
    server.add_version("acme/vpc/aws", "1.0.0", answer);
    check_refused("registry.example.test/acme/vpc/aws", "points outside it with \"..\"");
  }
}

BOOST_AUTO_TEST_CASE(by_way_of_an_oci_registry, *needs("openssl")) {
  const CertificateAuthority authority(path(""));
  environment["SSL_CERT_FILE"] = authority.certificate().string();
  OciRegistry oci(authority.issue("oci"));
  oci.push("acme/out", "latest", {{"main.tf", ""}, {"../pwned", ""}});
  check_refused(oci.source("acme/out"), "points outside it with \"..\"");
  oci.push("acme/override", "latest", {{"main.tf", ""}, {"modlock_override.tf", ""}});
  check_refused(oci.source("acme/override"), "a name that only tofu-modlock may write");
}

BOOST_AUTO_TEST_CASE(a_foreign_archive_decides_no_mode_of_a_git_module) {
  GitRepository& vpc = repository("vpc.git");
  vpc.branch("main",
             vpc.commit_tree(vpc.write_tree("100644 blob " + vpc.write_blob("# module\n") + "\tmain.tf\n100755 blob " +
                                            vpc.write_blob("#!/bin/sh\n") + "\trun.sh\n")));
  vpc.tag("v1.0.0");
  const std::string git = "git::" + vpc.url() + "?ref=v1.0.0";
  const auto install = [&](const std::string& source) {
    write("main.tf", module_call("vpc", source));
    const Ran ran = modlock({"upgrade", "--install"});
    BOOST_TEST(ran.exit_code == 0, ran.err);
  };
  const auto mode_of = [&](const char* name) {
    return static_cast<unsigned>(fs::status(root() / ".terraform/modules/vpc" / name).permissions());
  };
  install(git);
  const std::string h1 = lock().substr(lock().find("h1:"), 47);
  for (const unsigned mode : {0666U, 0777U, 0600U}) {
    BOOST_TEST_CONTEXT(mode) {
      const std::string archive = serve("p" + std::to_string(mode) + ".tar.gz",
                                        tar_gz({{.name = "main.tf", .content = "# module\n", .mode = mode},
                                                {.name = "run.sh", .content = "#!/bin/sh\n", .mode = mode}}));
      for (const bool git_is_cached : {true, false}) {
        if (!git_is_cached) {
          fs::remove_all(cache());
        }
        install(archive);
        BOOST_TEST(lock().find(h1) != std::string::npos);
        BOOST_TEST(mode_of("main.tf") == ((mode & 0100U) != 0 ? 0755U : 0644U));
        BOOST_TEST(mode_of("run.sh") == mode_of("main.tf"));
        install(git);
        BOOST_TEST(lock().find(h1) != std::string::npos);
        BOOST_TEST(mode_of("main.tf") == 0644U);
        BOOST_TEST(mode_of("run.sh") == 0755U);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(modes_and_links_lose_what_is_dangerous_in_them) {
  const std::string secret = path("secret").string();
  const std::vector<ArchiveEntry> entries = {
      {.name = "main.tf"},
      {.name = "all", .content = "#!/bin/sh\n", .mode = 07755},
      {.name = "d/", .mode = 07777, .type = Type::directory},
      {.name = "soft", .content = secret, .type = Type::symbolic_link},
      {.name = "up", .content = "../../../../secret", .type = Type::symbolic_link},
  };
  std::vector<ArchiveEntry> with_hard_link = entries;
  with_hard_link.push_back({.name = "hard", .content = secret, .type = Type::hard_link});
  for (const std::string& source : {serve("p.zip", make_zip(entries)), serve("p.tar.gz", tar_gz(with_hard_link))}) {
    BOOST_TEST_CONTEXT(source) {
      write("main.tf", module_call("vpc", source));
      const Ran ran = modlock({"upgrade", "--install"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      for (const fs::path& place : {root() / ".terraform/modules/vpc", cache()}) {
        for (const auto& entry : fs::recursive_directory_iterator(place)) {
          const fs::file_status status = entry.symlink_status();
          BOOST_TEST((fs::is_regular_file(status) || fs::is_directory(status)), entry.path());
          const fs::perms dangerous = fs::perms::set_uid | fs::perms::set_gid | fs::perms::sticky_bit;
          BOOST_TEST(((status.permissions() & dangerous) == fs::perms::none), entry.path());
          BOOST_TEST((!entry.is_regular_file() || read_text(entry.path()).find("canary") == std::string::npos),
                     entry.path());
        }
      }
      BOOST_TEST(has(".terraform/modules/vpc/soft"));
      BOOST_TEST(modlock({"verify"}).exit_code == 0);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
