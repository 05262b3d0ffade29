// Providers whose release, archive or registry is bad, from outside: what is said, and that nothing is written.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <set>

#include "backends/base/digest.h"
#include "tests/e2e/scene.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"
#include "tests/support/provider_registry.h"
#include "tests/support/zip_builder.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using Signing = PublishedProvider::Signing;

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

const std::string kRelease = "registry.opentofu.org/acme/bad 1.1.0";
const std::string kPackage = kRelease + " for linux_amd64";

std::string not_signed(const std::string& reason) {
  return kRelease + ": the provider is not signed with a valid signing key; please contact the provider author (" +
         reason + ") [SIGNATURE_INVALID]";
}

PublishedProvider signed_by(Signing signing) {
  return {.name = "acme/bad", .version = "1.1.0", .signing = signing};
}

// A release whose archives are these bytes, signed as they are.
PublishedProvider packed_as(const std::string& bytes) {
  return {.name = "acme/bad", .version = "1.1.0", .edit_archive = [bytes](PublishedArchive& archive) {
            archive.replace(bytes);
          }};
}

PublishedProvider served(const std::function<void(std::string&)>& edit) {
  return {.name = "acme/bad", .version = "1.1.0", .edit_served_archive = edit};
}

PublishedProvider summed(const std::function<void(std::string&)>& edit) {
  return {.name = "acme/bad", .version = "1.1.0", .edit_checksums = edit};
}

PublishedProvider answered(const std::function<void(Json::Value&, const std::string&)>& edit) {
  return {.name = "acme/bad", .version = "1.1.0", .lists_packages = true, .edit_download = edit};
}

struct ProviderFaultRow {
  const char* name;
  PublishedProvider release;
  int exit_code;
  std::string error;
  const char* variable = nullptr;  // that is "true"
};

std::vector<ProviderFaultRow> signature_rows() {
  return {
      {"a bad signature", signed_by(Signing::bad_signature), 4,
       not_signed("error checking signature: openpgp: invalid signature: the signature is not of this key over these "
                  "bytes")},
      {"the wrong key", signed_by(Signing::unknown_key), 4, not_signed("authentication signature from unknown issuer")},
      {"no key", signed_by(Signing::unsigned_release), 4, not_signed("authentication signature from unknown issuer"),
       "OPENTOFU_ENFORCE_GPG_VALIDATION"},
      {"an expired key", signed_by(Signing::expired_key), 4, not_signed("authentication signature from unknown issuer"),
       "OPENTOFU_ENFORCE_GPG_EXPIRATION"},
      {"no signature", signed_by(Signing::malformed), 4,
       not_signed("error checking signature: openpgp: invalid signature: it is not an OpenPGP signature")},
  };
}

std::vector<ProviderFaultRow> answer_rows() {
  const PublishedArchive archive = make_provider_archive("acme/bad", "1.1.0", "linux_amd64");
  return {
      {"checksums without this archive", summed([](std::string& sums) { sums = "no checksums\n"; }), 7,
       kPackage + ": checksum list has no SHA-256 hash for \"terraform-provider-bad_1.1.0_linux_amd64.zip\" "
                  "[BAD_RESPONSE]"},
      {"a checksum that is none", summed([](std::string& sums) { sums.replace(0, 64, "abc"); }), 7,
       kPackage + ": checksum list has invalid SHA256 hash \"abc\" [BAD_RESPONSE]"},
      {"a blank line inside the checksums", summed([](std::string& sums) { sums.insert(sums.find('\n'), "\n"); }), 7,
       kRelease + ": checksum list has a blank line [BAD_RESPONSE]"},
      {"the wrong shasum",
       {.name = "acme/bad",
        .version = "1.1.0",
        .edit_download = [](Json::Value& body, const std::string&) { body["shasum"] = std::string(64, 'a'); }},
       4,
       kPackage + ": checksum list has unexpected SHA-256 hash " + archive.zh.substr(3) + " (expected " +
           std::string(64, 'a') + ") [HASH_MISMATCH]"},
      {"another package_size",
       answered([](Json::Value& body, const std::string& platform) { body["packages"][platform]["package_size"] = 7; }),
       4,
       fmt::format("{}: registry response indicates a package of size 7, but received a package of size {} "
                   "[HASH_MISMATCH]",
                   kPackage, archive.bytes.size())},
      {"a platform that is not listed", answered([](Json::Value& body, const std::string& platform) {
         body["packages"]["plan9_386"] = body["packages"][platform];
         body["packages"].removeMember(platform);
       }),
       7, kPackage + ": registry response missing package with platform \"linux_amd64\" [BAD_RESPONSE]"},
      {"a platform that is missing",
       {.name = "acme/bad", .version = "1.1.0", .platforms = {"plan9_386"}},
       7,
       "provider " + kRelease + " is not available for linux_amd64 [NOT_FOUND]"},
  };
}

std::vector<ProviderFaultRow> archive_rows() {
  const PublishedArchive archive = make_provider_archive("acme/bad", "1.1.0", "linux_amd64");
  const ZipMember program{.name = "terraform-provider-bad_v1.1.0", .content = "program"};
  const std::string unsafe = "the entry \"a\" of \"" + kPackage + "\" ";
  return {
      {"an archive that lies about sizes",
       packed_as(build_zip({program, {.name = "a", .content = "content", .listed_size = 6}})), 4,
       unsafe + "has a different size in the central directory [ARCHIVE_UNSAFE]"},
      {"a truncated archive",
       packed_as(build_zip({program, {.name = "a", .content = noisy_bytes(1000)}}).substr(0, 500)), 7,
       "\"" + kPackage + "\" cannot be unpacked: it is truncated [BAD_RESPONSE]"},
      {"an archive that was truncated later", served([](std::string& bytes) { bytes.resize(50); }), 4,
       "\"" + kPackage + "\": archive has incorrect checksum zh:" + sha256_hex(archive.bytes.substr(0, 50)) +
           " (expected " + archive.zh + ") [HASH_MISMATCH]"},
      {"a bomb", packed_as(build_zip({program, {.name = "a", .content = dull_bytes(20'000'000)}})), 4,
       unsafe + "unpacks to over 200 times the size of the archive [ARCHIVE_UNSAFE]"},
      {"a page", packed_as("<html>not found</html>"), 7,
       "\"" + kPackage + "\" cannot be unpacked: it is not a zip file [BAD_RESPONSE]"},
      {"an archive without the program", packed_as(build_zip({{.name = "README", .content = "x"}})), 7,
       "\"" + kPackage +
           "\": provider binary not found: could not find executable file starting with "
           "terraform-provider-bad [BAD_RESPONSE]"},
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_faults, *needs("openssl"))

BOOST_AUTO_TEST_CASE(leave_the_lock_as_it_was) {
  for (const auto& rows : {signature_rows(), answer_rows(), archive_rows()}) {
    for (const ProviderFaultRow& row : rows) {
      BOOST_TEST_CONTEXT(row.name) {
        BadProviders scene;
        scene.publish(row.release);
        if (row.variable != nullptr) {
          scene.environment[row.variable] = "true";
        }
        scene.expect_failure({"upgrade"}, row.exit_code, row.error);
        scene.expect_failure({"upgrade", "--hashes", "init"}, row.exit_code, row.error);
        scene.expect_failure({"upgrade", "--target", "provider.acme/bad"}, row.exit_code, row.error);
      }
    }
  }
}

BOOST_FIXTURE_TEST_CASE(a_listing_of_garbage, BadProviders) {
  publish(signed_by(Signing::valid));
  registry.list("acme/bad", "latest");
  expect_failure({"upgrade"}, 7,
                 "could not query provider registry for registry.opentofu.org/acme/bad: "
                 "http://<registry>/v1/providers/acme/bad/versions: registry response includes invalid version string "
                 "\"latest\": \"latest\" is not a provider version: invalid specification; required format is three "
                 "positive integers separated by periods [BAD_RESPONSE]");
}

BOOST_FIXTURE_TEST_CASE(too_many_requests_at_every_second_one, BadProviders) {
  publish(signed_by(Signing::valid));
  registry.throttle();
  const Ran ran = modlock({"upgrade"});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(!lock_is_aged());
}

BOOST_FIXTURE_TEST_CASE(too_many_requests_at_every_one, BadProviders) {
  publish(signed_by(Signing::valid));
  registry.server().serve(ProviderRegistry::download_path("acme/bad", "1.1.0"),
                          {.status = 429, .headers = {{"Retry-After", "0"}}});
  expect_failure({"upgrade"}, 7,
                 "could not find the package of " + kPackage +
                     ": http://<registry>/v1/providers/acme/bad/1.1.0/download/linux/amd64: rate limit exceeded "
                     "(status 429) [RATE_LIMITED]");
}

// What an earlier run has learned of a release counts under the rules of that run alone.
BOOST_FIXTURE_TEST_CASE(rules_that_became_stricter, BadProviders) {
  publish(signed_by(Signing::expired_key));
  const Ran first = modlock({"upgrade"});
  BOOST_TEST_REQUIRE(first.exit_code == 0, first.err);
  age_lock();
  registry.forget_requests();
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(registry.requests().total() == 0);
  environment["OPENTOFU_ENFORCE_GPG_EXPIRATION"] = "true";
  expect_failure({"lock"}, 4, not_signed("authentication signature from unknown issuer"));
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
