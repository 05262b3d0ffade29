// Providers whose release, archive or registry is bad, from outside: what is said, and that nothing is written.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <set>

#include "tests/e2e/scene.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"
#include "tests/support/provider_registry.h"
#include "tests/support/release_faults.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// Two providers that are locked to 1.0.0. Of both there is a 1.1.0: one is as it should be, the other is bad.
struct BadProviders : Scene {
  BadProviders() {
    write("main.tf",
          "terraform {\n  required_providers {\n    bad   = { source = \"acme/bad\" }\n"
          "    sound = { source = \"acme/sound\" }\n  }\n}\n");
    write_text(path("tofurc"), registry.host_block("registry.opentofu.org"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    environment["SSL_CERT_FILE"] = authority.certificate().string();
    environment["TOFU_MODLOCK_IMPLEMENTATION"] = "opentofu";
    environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = "1.12.6";
    name_text(registry.authority(), "<registry>");
    name_text(mirror.authority(), "<mirror>");
    publish({.name = "acme/bad", .version = "1.0.0"});
    BOOST_TEST_REQUIRE(modlock({"lock"}).exit_code == 0);
    age_lock();
  }

  void publish(const PublishedProvider& bad) {
    registry.publish(bad);
    registry.publish({.name = "acme/sound", .version = bad.version});
  }

  // Names below the root and in the place for unfinished work.
  std::set<std::string> files() const {
    std::set<std::string> names;
    fs::create_directories(cache() / "v2/tmp");
    for (const fs::path& top : {root(), cache() / "v2/tmp"}) {
      for (const auto& entry : fs::recursive_directory_iterator(top)) {
        names.insert(entry.path().string());
      }
    }
    return names;
  }

  // Runs it, and expects that it fails like this and leaves everything as it was.
  void expect_failure(const std::vector<std::string>& arguments, int exit_code, const std::string& error) const {
    const std::string before = lock();
    const std::set<std::string> names = files();
    const Ran ran = modlock(arguments);
    BOOST_TEST(ran.exit_code == exit_code);
    BOOST_TEST(ran.err.substr(0, ran.err.find('\n')) == "Error: " + error);
    BOOST_TEST(ran.out == "");
    BOOST_TEST(lock() == before);
    BOOST_TEST(lock_is_aged());
    BOOST_TEST(files() == names, boost::test_tools::per_element());
  }

  ProviderRegistry registry;
  CertificateAuthority authority{path("")};
  ServerCertificate certificate = authority.issue("mirror");
  ModuleRegistry mirror{certificate};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_faults, *needs("openssl"))

BOOST_AUTO_TEST_CASE(leave_the_lock_as_it_was) {
  for (const ReleaseFault& row : release_faults()) {
    BOOST_TEST_CONTEXT(row.name) {
      BadProviders scene;
      scene.publish(row.release);
      scene.environment["OPENTOFU_ENFORCE_GPG_VALIDATION"] = row.enforces_signatures ? "true" : "false";
      scene.environment["OPENTOFU_ENFORCE_GPG_EXPIRATION"] = row.enforces_expiration ? "true" : "false";
      const std::string error = fmt::format("{} [{}]", row.message, to_string(row.code));
      scene.expect_failure({"upgrade"}, exit_code(row.code), error);
      scene.expect_failure({"upgrade", "--hashes", "init"}, exit_code(row.code), error);
      scene.expect_failure({"upgrade", "--target", "provider.acme/bad"}, exit_code(row.code), error);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_listing_of_garbage, BadProviders) {
  publish({.name = "acme/bad", .version = "1.1.0"});
  registry.list("acme/bad", "latest");
  expect_failure({"upgrade"}, 7,
                 "could not query provider registry for registry.opentofu.org/acme/bad: "
                 "http://<registry>/v1/providers/acme/bad/versions: registry response includes invalid version string "
                 "\"latest\": \"latest\" is not a provider version: invalid specification; required format is three "
                 "positive integers separated by periods [BAD_RESPONSE]");
}

BOOST_FIXTURE_TEST_CASE(too_many_requests_at_every_second_one, BadProviders) {
  publish({.name = "acme/bad", .version = "1.1.0"});
  registry.throttle();
  const Ran ran = modlock({"upgrade"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(!lock_is_aged());
}

BOOST_FIXTURE_TEST_CASE(too_many_requests_at_every_one, BadProviders) {
  publish({.name = "acme/bad", .version = "1.1.0"});
  registry.server().serve(ProviderRegistry::download_path("acme/bad", "1.1.0"),
                          {.status = 429, .headers = {{"Retry-After", "0"}}});
  expect_failure({"upgrade"}, 7,
                 "could not find the package of registry.opentofu.org/acme/bad 1.1.0 for linux_amd64: "
                 "http://<registry>/v1/providers/acme/bad/1.1.0/download/linux/amd64: rate limit exceeded "
                 "(status 429) [RATE_LIMITED]");
}

// What an earlier run has learned of a release counts under the rules of that run alone.
BOOST_FIXTURE_TEST_CASE(rules_that_became_stricter, BadProviders) {
  publish({.name = "acme/bad", .version = "1.1.0", .signing = PublishedProvider::Signing::expired_key});
  const Ran first = modlock({"upgrade"});
  BOOST_TEST_REQUIRE(first.exit_code == 0, first.err);
  age_lock();
  registry.forget_requests();
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(registry.requests().total() == 0);
  environment["OPENTOFU_ENFORCE_GPG_EXPIRATION"] = "true";
  expect_failure({"lock"}, 4,
                 "registry.opentofu.org/acme/bad 1.1.0: the provider is not signed with a valid signing key; please "
                 "contact the provider author (authentication signature from unknown issuer) [SIGNATURE_INVALID]");
}

// It has another archive than the registry had.
BOOST_FIXTURE_TEST_CASE(a_mirror_without_hashes, BadProviders) {
  const std::string place = "/m/registry.opentofu.org/acme/bad/";
  mirror.serve(place + "index.json", {.body = R"({"versions": {"1.0.0": {}}})"});
  mirror.serve(place + "1.0.0.json", {.body = R"({"archives": {"linux_amd64": {"url": "a.zip"}}})"});
  const auto serve = [&](const PublishedArchive& archive) {
    mirror.serve(place + "a.zip", {.body = archive.bytes, .type = "application/zip"});
  };
  write_text(path("tofurc"),
             registry.host_block("registry.opentofu.org") +
                 fmt::format("provider_installation {{\n  network_mirror {{\n    url = \"https://{}/m/\"\n"
                             "    include = [\"acme/bad\"]\n  }}\n  direct {{\n    exclude = "
                             "[\"acme/bad\"]\n  }}\n}}\n",
                             mirror.authority()));
  serve(make_provider_archive("acme/bad", "1.0.0", "linux_amd64", {{.name = "more", .content = "x"}}));
  expect_failure({"lock", "--hashes", "init"}, 4,
                 "the current package for registry.opentofu.org/acme/bad 1.0.0 doesn't match any of the checksums "
                 "previously recorded in the dependency lock file [HASH_MISMATCH]");
  environment["TOFU_MODLOCK_CACHE_DIR"] = path("another-cache").string();
  serve(registry.archive("acme/bad", "1.0.0"));
  const Ran same = modlock({"lock", "--hashes", "init"});
  BOOST_TEST(same.exit_code == 0, same.err);
  BOOST_TEST(lock_is_aged());
  fs::remove(root() / ".terraform.lock.hcl");
  const Ran first = modlock({"lock"});
  BOOST_TEST(first.exit_code == 0, first.err);
  BOOST_TEST(first.err.find("[LOCK_INCOMPLETE]") != std::string::npos, first.err);
  BOOST_TEST(lock().find(registry.archive("acme/bad", "1.0.0").h1) != std::string::npos);
  BOOST_TEST(lock().find(registry.archive("acme/bad", "1.0.0").zh) == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
