// Packages of a bundle or a repository that are not trusted.
#include "plugin/engine/bundle_reader.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>

#include "backends/http/curl_http_client.h"
#include "backends/package/pack.h"
#include "backends/package/tree_hash.h"
#include "tests/support/fake_credentials.h"
#include "tests/support/fault_server.h"
#include "tests/support/faults.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

using std::chrono::seconds;

namespace fs = std::filesystem;

constexpr const char* kZip = "the package";

struct PlaceScene {
  PlaceScene() {
    package.manifest = remote::blob_of(write_package_manifest(package));
    index = remote::write_closure({.packages = {package}});
    const auto repository = oci::parse_repository(server.host() + "/team/modules").value();
    place = make_registry_place(std::make_unique<oci::Registry>(*http, credentials),
                                oci::over_plain_http(repository).value(), "closure-1", Context{},
                                {.index = seconds(1), .packages = seconds(1)});
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
  std::unique_ptr<BundlePlace> place;
  std::string timeout;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(registry_place, PlaceScene)

BOOST_AUTO_TEST_CASE(a_stall_inside_a_blob_is_ended) {
  BOOST_REQUIRE(place->closures(directory.path()).has_value());
  BOOST_TEST(place->find(package.layer, directory.path()).has_value());
  server.add({.behaviour = faults::slow_drip(seconds(20)), .path = "/v2/team/modules/blobs/"});
  const auto begun = std::chrono::steady_clock::now();
  const auto found = place->find(package.layer, directory.path());
  BOOST_TEST((std::chrono::steady_clock::now() - begun < seconds(10)));
  BOOST_REQUIRE(!found);
  BOOST_TEST(text_of(found.error()) == "TIMEOUT: " + timeout);
}

// The zip of one package may have the digest of the trees of another one, which are mapped into memory.
BOOST_AUTO_TEST_CASE(each_download_has_its_own_file) {
  BOOST_REQUIRE(place->closures(directory.path()).has_value());
  const fs::path first = place->find(package.layer, directory.path()).value();
  const fs::path second = place->find(package.layer, directory.path()).value();
  BOOST_TEST(first != second);
  BOOST_TEST(read_text(first) == kZip);
}

BOOST_AUTO_TEST_CASE(tags_that_stall_have_the_time_of_the_index) {
  BOOST_REQUIRE(place->closures(directory.path()).has_value());
  server.add({.behaviour = faults::slow_drip(seconds(20)), .path = "/v2/team/modules/manifests/module-"});
  std::set<remote::BundledPackage> entries;
  for (const char* h1 : {"h1:BBBB=", "h1:CCCC="}) {
    entries.insert({.source = package.source, .origin = package.origin, .h1 = h1});
  }
  const auto begun = std::chrono::steady_clock::now();
  const BundlePlace::Found found = place->find_packages(entries);
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
    BOOST_TEST(download_time(bytes, PlaceTimes{}.packages).count() == expected);
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
  std::unique_ptr<BundlePlace> place(const Context& context) const {
    return make_layout_place(directory / "bundle", "closure-own", context);
  }
  static std::set<remote::BundledPackage> entry(std::string source) {
    return {{.source = std::move(source), .origin = "git:1", .h1 = "h1:AAAA="}};
  }

  TemporaryDirectory directory;
  std::vector<remote::NamedClosure> closures;
};

BOOST_FIXTURE_TEST_SUITE(layout_place, LayoutScene)

BOOST_AUTO_TEST_CASE(other_closures_are_read_only_for_packages_of_the_lock_file) {
  const Context context;
  const auto opened = place(context);
  const auto found = opened->closures(directory / "unused");
  BOOST_REQUIRE(found.has_value());
  BOOST_REQUIRE(found->size() == 1U);
  BOOST_TEST(found->front().tag == "closure-own");
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
  const auto opened = place(context);
  BOOST_REQUIRE(opened->closures(directory / "unused").has_value());
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
