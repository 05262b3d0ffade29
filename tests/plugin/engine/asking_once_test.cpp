#include "plugin/engine/asking_once.h"

#include <boost/test/unit_test.hpp>
#include <thread>

#include "plugin/resolve/source_fetcher.h"
#include "tests/support/fake_backend.h"
#include "tests/support/temporary_directory.h"

// What several roots of one run ask is asked once.
namespace modlock::test {
namespace {

constexpr const char* kPackage = "git::https://example.com/vpc.git";

struct Fixture {
  Fixture() {
    auto fake = std::make_unique<FakeBackend>();
    asked = fake.get();
    asked->add_tag(kPackage, "v1.0.0", {{"main.tf", ""}});
    asked->add_branch(kPackage, "main", {{"main.tf", ""}});
    once = make_asking_once_backend(std::move(fake));
  }
  SourceAddress source = parse_source(kPackage).value();
  FakeBackend* asked = nullptr;
  std::unique_ptr<Backend> once;
  Context context;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(asking_once, Fixture)

BOOST_AUTO_TEST_CASE(a_listing_says_whether_it_is_told_again) {
  for (const bool again : {false, true, true}) {
    const auto listing = once->list_versions(source, "", context);
    BOOST_TEST_REQUIRE(listing.has_value());
    BOOST_TEST(listing->versions.size() == 1U);
    BOOST_TEST(listing->is_again == again);
  }
  BOOST_TEST(asked->listings == 1);
  BOOST_TEST(!once->list_versions(source, "vpc/", context)->is_again);
  BOOST_TEST(asked->listings == 2);
}

BOOST_AUTO_TEST_CASE(a_reference_says_whether_it_is_told_again) {
  for (const bool again : {false, true}) {
    const auto pin = once->pin(source, context);
    BOOST_TEST_REQUIRE(pin.has_value());
    BOOST_TEST(pin->ref == "refs/heads/main");
    BOOST_TEST(pin->is_again == again);
  }
  BOOST_TEST(asked->pins == 1);
}

BOOST_AUTO_TEST_CASE(it_says_what_it_would_tell_again) {
  BOOST_TEST(!once->knows_versions(source, ""));
  BOOST_TEST(!once->knows_pin(source));
  BOOST_TEST(once->list_versions(source, "", context).has_value());
  BOOST_TEST(once->knows_versions(source, ""));
  BOOST_TEST(!once->knows_versions(source, "vpc/"));
  BOOST_TEST(!once->knows_pin(source));
  BOOST_TEST(once->pin(source, context).has_value());
  BOOST_TEST(once->knows_pin(source));
}

// What has been asked needs no threads; a package that is not in the store is fetched all the same.
BOOST_AUTO_TEST_CASE(what_is_known_is_chosen_from_on_the_own_thread) {
  std::vector<SourceAddress> sources;
  std::vector<SourceFetcher::PackageRequest> requests;
  for (const char* name : {"a", "b", "c", "d"}) {
    const std::string package = "git::https://example.com/" + std::string(name) + ".git";
    requests.push_back({nullptr, {asked->add_tag(package, "v1.0.0", {{"main.tf", name}}), "refs/tags/v1.0.0"}});
    sources.push_back(parse_source(package).value());
  }
  BackendSet backends;
  backends.add(std::move(once));
  const TemporaryDirectory directory;
  const auto store = Store::open(directory.path());
  for (const bool is_known : {false, true}) {
    BOOST_TEST_CONTEXT((is_known ? "known" : "not known")) {
      SourceFetcher fetcher(backends, *store, context);
      std::vector<SourceFetcher::FetchTask> tasks(sources.size());
      std::vector<std::thread::id> by(sources.size());
      for (std::size_t i = 0; i < sources.size(); ++i) {
        requests[i].source = &sources[i];
        tasks[i].listings = {{&sources[i], ""}};
        tasks[i].choose = [&, i] {
          by[i] = std::this_thread::get_id();
          return std::vector<SourceFetcher::PackageRequest>{requests[i]};
        };
      }
      fetcher.run(tasks);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        BOOST_TEST(fetcher.package(sources[i], requests[i].request).has_value());
        BOOST_TEST((!is_known || by[i] == std::this_thread::get_id()));
      }
      BOOST_TEST(asked->listings == 4);
      BOOST_TEST(asked->fetched.size() == (is_known ? 8U : 4U));
    }
    std::filesystem::remove_all(directory.path() / "v2");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
