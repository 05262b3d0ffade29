// Packages of a bundle or a repository that are not trusted.
#include "plugin/bundle/bundle.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>

#include "backends/http/curl_http_client.h"
#include "backends/package/pack.h"
#include "backends/package/tree_hash.h"
#include "backends/remote/layout.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/fault_server.h"
#include "tests/support/faults.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

using std::chrono::seconds;

namespace fs = std::filesystem;

constexpr const char* kZip = "the package";

struct RepositoryScene {
  RepositoryScene() {
    package.manifest = remote::blob_of(write_package_manifest(package));
    index = remote::write_closure({.packages = {package}});
    const auto repository = oci::parse_repository(server.host() + "/team/modules").value();
    bundle =
        open_repository(std::make_unique<oci::Registry>(*http, credentials), oci::over_plain_http(repository).value(),
                        Context{}, BundleTimes{.index = seconds(1), .packages = seconds(1)});
    timeout = fmt::format("\"oci://{}/team/modules\" did not send everything within 1 s", server.host());
  }
  // "CODE: message".
  static std::string text_of(const Error& error) { return fmt::format("{}: {}", to_string(error.code), error.message); }

  remote::BundledPackage package{.source = "git::https://git.example.com/vpc.git",
                                 .origin = "git:1",
                                 .h1 = "h1:AAAA=",
                                 .layer = remote::blob_of(kZip)};
  std::string index;
  TemporaryDirectory directory;
  FaultServer server{[this](const ReceivedRequest& request) {
    return ServerAnswer{.body = request.path().find("/manifests/closure-") != std::string::npos ? index : kZip};
  }};
  FakeCredentials credentials;
  std::unique_ptr<HttpClient> http = make_curl_http_client("tests");
  std::unique_ptr<Bundle> bundle;
  std::string timeout;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(repository_bundle, RepositoryScene)

BOOST_AUTO_TEST_CASE(a_stall_inside_a_blob_is_ended) {
  BOOST_REQUIRE(bundle->closure("closure-1").has_value());
  BOOST_TEST(bundle->find(package.layer, {}, directory / "blob").has_value());
  server.add({.behaviour = faults::slow_drip(seconds(20)), .path = "/v2/team/modules/blobs/"});
  const auto begun = std::chrono::steady_clock::now();
  const auto found = bundle->find(package.layer, {}, directory / "blob");
  BOOST_TEST((std::chrono::steady_clock::now() - begun < seconds(10)));
  BOOST_REQUIRE(!found);
  BOOST_TEST(text_of(found.error()) == "TIMEOUT: " + timeout);
}

BOOST_AUTO_TEST_CASE(tags_that_stall_have_the_time_of_the_index) {
  BOOST_REQUIRE(bundle->closure("closure-1").has_value());
  server.add({.behaviour = faults::slow_drip(seconds(20)), .path = "/v2/team/modules/manifests/module-"});
  std::set<remote::BundledPackage> entries;
  for (const char* h1 : {"h1:BBBB=", "h1:CCCC="}) {
    entries.insert({.source = package.source, .origin = package.origin, .h1 = h1});
  }
  const auto begun = std::chrono::steady_clock::now();
  const Bundle::Found found = bundle->find_packages(entries);
  BOOST_TEST((std::chrono::steady_clock::now() - begun < seconds(10)));
  BOOST_TEST(found.packages.empty());
  BOOST_REQUIRE(!found.errors.empty());
  for (const Error& error : found.errors) {
    BOOST_TEST(text_of(error) == "TIMEOUT: " + timeout);
  }
}

BOOST_AUTO_TEST_CASE(time_for_downloads_is_bounded) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  for (const auto& [bytes, expected] :
       {std::pair(std::uint64_t{0}, 30), std::pair(kMiB - 1, 30), std::pair(kMiB, 31), std::pair(569 * kMiB, 599),
        std::pair(570 * kMiB, 600), std::pair(571 * kMiB, 600), std::pair(~std::uint64_t{0}, 600)}) {
    BOOST_TEST(download_time(bytes, BundleTimes{}.packages).count() == expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// A bundle with the packages of two lock files.
struct LayoutScene {
  LayoutScene() {
    remote::LayoutWriter writer(directory / "work");
    for (const char* name : {"own", "other"}) {
      remote::BundledPackage package{.source = std::string("git::https://git.example.com/") + name + ".git",
                                     .origin = "git:1",
                                     .h1 = "h1:AAAA=",
                                     .layer = writer.add(name).value()};
      package.manifest = remote::blob_of(write_package_manifest(package));
      closures.push_back({std::string("closure-") + name, {.packages = {package}}});
    }
    for (const remote::NamedClosure& one : closures) {
      BOOST_REQUIRE(writer.add_closure(one).has_value());
    }
    BOOST_REQUIRE(writer.finish(directory / "bundle", Context{}).has_value());
  }
  std::unique_ptr<Bundle> open(const Context& context) const {
    return open_layout(directory / "bundle", store, context).value();
  }
  static std::set<remote::BundledPackage> entry(std::string source) {
    return {{.source = std::move(source), .origin = "git:1", .h1 = "h1:AAAA="}};
  }

  TemporaryDirectory directory;
  Store store{Store::open(directory / "cache").value()};
  std::vector<remote::NamedClosure> closures;
};

BOOST_FIXTURE_TEST_SUITE(layout_bundle, LayoutScene)

BOOST_AUTO_TEST_CASE(other_closures_are_read_only_for_packages_of_the_lock_file) {
  const Context context;
  const auto opened = open(context);
  const auto found = opened->closure("closure-own");
  BOOST_REQUIRE((found && *found));
  BOOST_TEST(((*found)->packages == closures[0].closure.packages));
  BOOST_TEST(!opened->closure("closure-third").value().has_value());
  BOOST_TEST((opened->find_packages(entry("git::https://git.example.com/other.git")).packages ==
              closures[1].closure.packages));
  BOOST_TEST(opened->find_packages(entry("git::https://git.example.com/third.git")).packages.empty());
  fs::remove(directory / "bundle/blobs/sha256" / remote::blob_of(write_closure(closures[1].closure)).digest.substr(7));
  BOOST_TEST(opened->find_packages(entry("git::https://git.example.com/own.git")).errors.empty());
  const auto damaged = opened->find_packages(entry("git::https://git.example.com/third.git"));
  BOOST_REQUIRE(damaged.errors.size() == 1U);
  BOOST_TEST(to_string(damaged.errors[0].code) == "SOURCE_INVALID");
}

BOOST_AUTO_TEST_CASE(search_ends_with_the_run) {
  Context context;
  const auto opened = open(context);
  context.deadline = std::chrono::steady_clock::now();
  const auto late = opened->find_packages(entry("git::https://git.example.com/third.git"));
  BOOST_REQUIRE(late.errors.size() == 1U);
  BOOST_TEST(to_string(late.errors[0].code) == "DEADLINE_EXCEEDED");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(bundled_package)

// Clients would read it, and tofu-modlock would neither lock nor judge its sources.
BOOST_AUTO_TEST_CASE(override_file_is_refused) {
  const TemporaryDirectory directory;
  directory.write("tree/sub/modlock_override.tf", "");
  const std::string h1 = hash_tree(directory / "tree", Context{}).value();
  remote::LayoutWriter writer(directory / "work");
  const remote::Blob layer =
      writer.add([&](const ByteSink& sink) { return pack_zip(directory / "tree", h1, sink, Context{}); }).value();
  const auto extracted = extract_package({.source = {}, .origin = "git:1", .h1 = h1, .layer = layer},
                                         writer.file(layer), {}, directory / "extracted", Context{});
  BOOST_REQUIRE(!extracted);
  BOOST_TEST(to_string(extracted.error().code) == "ARCHIVE_UNSAFE");
  BOOST_TEST(extracted.error().message ==
             "the package contains \"sub/modlock_override.tf\", a name that only tofu-modlock may write");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
