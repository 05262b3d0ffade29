#include "plugin/install/provider_check.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kNull = "registry.opentofu.org/acme/null";
// Of a package with one empty file "terraform-provider-null".
constexpr const char* kEmptyH1 = "h1:YO4PQ/mrzHVKfhzNYRkA3gHyhuwgWDZ/HV0WEVF1wk4=";

ProviderAddress address(std::string_view text) {
  return ProviderAddress::parse(text, kOpenTofuRegistry).value();
}

struct Fixture {
  Fixture() : store(Store::open(directory / "store").value()) {}

  void lock(std::string_view provider, std::string_view version, std::vector<std::string> hashes) {
    file.providers[address(provider)] = {.version = ProviderVersion::parse(version).value(),
                                         .hashes = std::move(hashes)};
    file.provider_ranges[address(provider)] = Range{{4, 1, 100}, {9, 2, 200}};
  }
  void require(std::string_view provider, const char* constraint = nullptr) {
    ProviderRequirement requirement{.address = address(provider), .local_name = "x"};
    requirement.location = {.path = "main.tf"};
    if (constraint != nullptr) {
      requirement.constraint = SourceText{.text = constraint, .location = {}};
    }
    required[address(provider)].push_back({.module = "", .requirement = requirement});
  }
  fs::path install(const std::string& package = "acme/null/1.0.0/linux_amd64") const {
    const fs::path place = directory / "data/providers/registry.opentofu.org" / package;
    write_text(place / "terraform-provider-null", "");
    return place;
  }

  std::string judge() {
    const ProviderSettings settings{.lock = file,
                                    .lock_path = ".terraform.lock.hcl",
                                    .dev_overrides = dev_overrides,
                                    .plugin_cache_directory = cache};
    const auto verdicts = check_providers({.settings = settings,
                                           .directory = directory / "data/providers",
                                           .required = required,
                                           .platform = {"linux", "amd64"}},
                                          store, Context{});
    std::string text;
    for (const Verdict& verdict : verdicts.value()) {
      text += fmt::format("{} {}{}{}{}{}\n", verdict.subject, to_string(verdict.kind),
                          verdict.expected.empty() ? "" : " -" + verdict.expected,
                          verdict.actual.empty() ? "" : " +" + verdict.actual,
                          verdict.detail.empty() ? "" : ": " + verdict.detail,
                          verdict.location ? " @" + to_string(*verdict.location) : "");
    }
    return text;
  }

  TemporaryDirectory directory;
  Store store;
  LockFile file;
  std::map<ProviderAddress, std::vector<RequiredBy>> required;
  std::map<ProviderAddress, std::string> dev_overrides;
  std::string cache;
};

const std::string kSubject = std::string("provider.") + kNull;
const std::string kAtLock = " @.terraform.lock.hcl:4:1\n";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(provider_check, Fixture)

BOOST_AUTO_TEST_CASE(a_package_that_the_lock_names_is_held) {
  lock(kNull, "1.0.0", {"h1:other", kEmptyH1, "zh:1"});
  require(kNull, "~> 1.0");
  install();
  BOOST_TEST(judge() == kSubject + " held -" + kEmptyH1 + " +" + kEmptyH1 + kAtLock);
}

BOOST_AUTO_TEST_CASE(hashes_decide_as_a_client_does) {
  struct Row {
    const char* name;
    std::vector<std::string> hashes;
    std::string expected;
  };
  const std::string actual = std::string(" +") + kEmptyH1;
  const std::string differs =
      ": the installed package does not match any of the checksums recorded in the lock file, unless those are of "
      "other "
      "platforms than linux_amd64";
  const Row rows[] = {
      {"one other", {"h1:other"}, " tampered -h1:other" + actual + differs},
      {"two others", {"h1:a", "h1:b", "zh:c"}, " tampered" + actual + differs},
      {"of archives alone",
       {"zh:c"},
       " not-locked" + actual +
           ": the lock file has no h1 hash of it, and hashes of archives do not apply to the installed package"},
      {"none", {}, " held" + actual + ": the lock file has no hash of it to compare with"},
      {"of unknown schemes", {"h9:x"}, " held" + actual + ": the lock file has no hash of it to compare with"},
  };
  install();
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      lock(kNull, "1.0.0", row.hashes);
      BOOST_TEST(judge() == kSubject + row.expected + kAtLock);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_there) {
  lock(kNull, "1.0.0", {kEmptyH1});
  install("acme/null/1.0.0/darwin_arm64");
  install("acme/null/1.0.1/linux_amd64");
  BOOST_TEST(judge() == kSubject +
                            " missing: 1.0.0 is locked, but there is no package of it for linux_amd64 in the data "
                            "directory" +
                            kAtLock);
}

BOOST_AUTO_TEST_CASE(what_the_lock_does_not_answer) {
  struct Row {
    const char* name;
    const char* version;
    const char* constraint;
    std::string expected;
  };
  const std::string excluded = " not-locked: locked version selection ";
  const Row rows[] = {
      {"another version", "1.0.0", "~> 2.0",
       excluded + "1.0.0 doesn't match the version constraints \"~> 2.0\"" + kAtLock},
      {"a prerelease nobody asked for", "2.0.0-beta", ">= 1.0",
       excluded + "2.0.0-beta doesn't match the version constraints \">= 1.0.0\"" + kAtLock},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      file = {};
      required.clear();
      lock(kNull, row.version, {kEmptyH1});
      require(kNull, row.constraint);
      BOOST_TEST(judge() == kSubject + row.expected);
    }
  }
  file = {};
  BOOST_TEST(judge() == kSubject +
                            " not-locked: it is required by the configuration, and the lock file has no version of it "
                            "@main.tf\n");
}

BOOST_AUTO_TEST_CASE(what_no_lock_has_a_say_in) {
  require("terraform.io/builtin/terraform");
  require("acme/dev", "~> 1.0");
  lock("acme/other", "1.0.0", {"h1:x"});
  dev_overrides = {{address("acme/dev"), "/dev"}, {address("acme/other"), "/other"}};
  BOOST_TEST(judge().empty());
}

BOOST_AUTO_TEST_CASE(links_into_a_plugin_cache_are_followed) {
  const fs::path place = install();
  fs::create_directories(directory / "cache");
  fs::rename(place, directory / "cache/package");
  fs::create_directory_symlink(directory / "cache/package", place);
  lock(kNull, "1.0.0", {kEmptyH1});
  BOOST_TEST(judge() == kSubject + " held -" + kEmptyH1 + " +" + kEmptyH1 + kAtLock);
  cache = (directory / "cache").string();
  write_text(directory / "cache/package/terraform-provider-null", "changed");
  const std::string verdict = judge();
  BOOST_TEST(verdict.starts_with(kSubject + " tampered -" + kEmptyH1 + " +h1:"));
  BOOST_TEST(verdict.ends_with("platforms than linux_amd64; it is in the plugin cache " + cache + kAtLock));
}

BOOST_AUTO_TEST_CASE(a_package_that_cannot_be_hashed) {
  fs::create_symlink("nothing", install() / "dangling");
  lock(kNull, "1.0.0", {kEmptyH1});
  BOOST_TEST(judge().starts_with(kSubject + " tampered: cannot follow the link \""));
}

BOOST_AUTO_TEST_SUITE_END()
