// How the sources of one level keep out of each other's way.

#include "plugin/resolve/source_fetcher.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "backends/base/parallel.h"
#include "tests/plugin/resolve/plan_fixture.h"

using namespace modlock;
using namespace modlock::test;

namespace {

constexpr std::chrono::seconds kPatience{20};  // for what happens at once unless it never does

// Lists one package only when another has been fetched.
class HesitantBackend final : public BackendCore {
 public:
  HesitantBackend(std::string slow, std::string awaited) : slow_(std::move(slow)), awaited_(std::move(awaited)) {}

  bool serves(const Source& source) const override { return packages.serves(source); }
  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    if (source.source.package_identity() == slow_) {
      std::unique_lock lock(mutex_);
      waited_in_vain = !fetched_.wait_for(lock, kPatience, [this] { return is_fetched_; });
    }
    return packages.list_versions(source, tag_prefix, context);
  }
  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    return packages.pin(source, context);
  }
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> fetch_requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    auto trees = packages.fetch(source, fetch_requests, parent, context);
    if (source.source.package_identity() == awaited_) {
      const std::scoped_lock lock(mutex_);
      is_fetched_ = true;
      fetched_.notify_all();
    }
    return trees;
  }
  std::string hash_scheme() const override { return packages.hash_scheme(); }

  FakeBackend packages;
  bool waited_in_vain = false;

 private:
  std::string slow_;
  std::string awaited_;
  std::mutex mutex_;
  std::condition_variable fetched_;
  bool is_fetched_ = false;
};

// In place of the kind of archives, with ids of its own.
class OwnBackend final : public BackendCore {
 public:
  bool serves(const Source& source) const override { return packages.serves(source); }
  Result<Listing> list_versions(const SourceAddress& source, std::string_view tag_prefix,
                                const Context& context) override {
    return packages.list_versions(source, tag_prefix, context);
  }
  Result<Pin> pin(const SourceAddress& source, const Context& context) override {
    return packages.pin(source, context);
  }
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest> fetch_requests,
                                         const std::filesystem::path& parent, const Context& context) override {
    auto trees = packages.fetch(source, fetch_requests, parent, context);
    for (auto& tree : trees) {
      tree->id = "one";
    }
    return trees;
  }
  std::string hash_scheme() const override { return "own"; }

  FakeBackend packages{SourceKind::archive};
};

struct HesitantFixture : PlanFixture {
  // `slow` is listed when `awaited` has been fetched.
  HesitantBackend& use(const char* slow, const char* awaited) {
    auto backend = std::make_unique<HesitantBackend>(slow, awaited);
    HesitantBackend& made = *backend;
    backends = BackendSet();
    backends.add(std::move(backend));
    return made;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(fetcher, HesitantFixture)

BOOST_AUTO_TEST_CASE(package_is_fetched_while_another_source_is_still_listed) {
  for (const auto& [slow, awaited] : {std::pair(kVpc, kNested), std::pair(kNested, kVpc)}) {
    BOOST_TEST_CONTEXT(slow) {
      HesitantBackend& backend = use(slow, awaited);
      backend.packages.add_tag(kVpc, "v1.0.0", kLeaf);
      backend.packages.add_tag(kNested, "v2.0.0", kLeaf);
      write("main.tf", calling("a", kVpc).at("main.tf") + calling("b", kNested).at("main.tf"));
      constrain("a", "~> 1.0");
      constrain("b", "~> 2.0");
      const auto planned = plan();
      BOOST_TEST_REQUIRE(planned.has_value());
      BOOST_TEST(!backend.waited_in_vain);
      BOOST_TEST(summary(*planned) == "module.a added: not locked before\nmodule.b added: not locked before\n");
      BOOST_TEST(stats.requests == 4U);
      std::filesystem::remove_all(directory / "cache");
    }
  }
}

BOOST_AUTO_TEST_CASE(errors_are_told_in_the_order_of_the_calls_whichever_comes_first) {
  const std::string third = "git::https://example.com/third.git";
  HesitantBackend& backend = use(kVpc, third.c_str());
  backend.packages.add_tag(kVpc, "v2.0.0", kLeaf);
  backend.packages.add_tag(kNested, "v1.0.0", kLeaf);
  backend.packages.add_tag(third, "v1.0.0", kLeaf);
  write("main.tf",
        calling("a", kVpc).at("main.tf") + calling("b", kNested).at("main.tf") + calling("c", third).at("main.tf"));
  constrain("a", "~> 1.0");
  constrain("b", "~> 2.0");
  constrain("c", "~> 1.0");
  const auto planned = plan();
  BOOST_TEST_REQUIRE(!planned.has_value());
  BOOST_TEST(!backend.waited_in_vain);
  BOOST_TEST(
      planned.error().message ==
      "no version of \"git::https://example.com/vpc.git\" matches the constraint \"~> 1.0\" of module \"a\"; the "
      "newest are: 2.0.0");
  BOOST_TEST_REQUIRE(planned.error().related.size() == 1U);
  BOOST_TEST(planned.error().related.front().message ==
             "no version of \"git::https://example.com/nested.git\" matches the constraint \"~> 2.0\" of module "
             "\"b\"; the newest are: 1.0.0");
}

BOOST_AUTO_TEST_CASE(what_came_without_an_id_since_one_asked_is_not_fetched_again) {
  using Clock = std::filesystem::file_time_type::clock;
  const std::string archive = "https://example.com/vpc.zip";
  auto owned = std::make_unique<FakeBackend>(SourceKind::archive);
  FakeBackend& server = *owned;
  backends.add(std::move(owned));
  server.add_tag(archive, "", kLeaf);
  const auto store = Store::open(directory.path() / "cache");
  const auto address = parse_source(archive);
  BOOST_TEST_REQUIRE(address.has_value());
  const auto bring = [&](const SourceAddress& wanted, std::optional<std::filesystem::file_time_type> fresh_since) {
    const Context context;
    SourceFetcher fetcher(backends, *store, context, fresh_since);
    const SourceFetcher::FetchTask task{.choose = [&] {
      return std::vector<SourceFetcher::PackageRequest>{{&wanted, {}}};
    }};
    fetcher.run({&task, 1});
    return fetcher.package(wanted, {}).has_value();
  };
  const auto began = Clock::now();
  BOOST_TEST(bring(*address, began));
  BOOST_TEST(server.fetched.size() == 1U);
  BOOST_TEST(bring(*address, began));
  BOOST_TEST(server.fetched.size() == 1U, "somebody who began before it came");
  BOOST_TEST(bring(*address, Clock::now() + std::chrono::hours(1)));
  BOOST_TEST(server.fetched.size() == 2U, "who begins afterwards");
  BOOST_TEST(bring(*address, std::nullopt));
  BOOST_TEST(server.fetched.size() == 3U, "where nothing is said of it");
  const auto other = parse_source(archive + "?token=other");
  BOOST_TEST_REQUIRE(other.has_value());
  BOOST_TEST(bring(*other, began));
  BOOST_TEST(server.fetched.size() == 4U, "another address may have other content");
}

// Versions before 0.3 recorded the ids of such a backend like those of the kind.
BOOST_AUTO_TEST_CASE(an_id_of_another_backend_is_no_answer) {
  const std::string archive = "https://example.com/vpc.zip";
  const auto address = parse_source(archive).value();
  const auto store = Store::open(directory.path() / "cache").value();
  auto archives = std::make_unique<FakeBackend>(SourceKind::archive);
  auto own = std::make_unique<OwnBackend>();
  FakeBackend& server = *archives;
  server.add_tag(archive, "", kLeaf);
  own->packages.add_tag(archive, "", kLeaf);
  const auto began = std::filesystem::file_time_type::clock::now();
  const auto id_from = [&](std::unique_ptr<BackendCore> backend) {
    backends = BackendSet();
    backends.add(std::move(backend));
    const Context context;
    SourceFetcher fetcher(backends, store, context, began);
    const SourceFetcher::FetchTask task{.choose = [&] {
      return std::vector<SourceFetcher::PackageRequest>{{&address, {}}};
    }};
    fetcher.run({&task, 1});
    return fetcher.package(address, {}).value().id;
  };
  BOOST_TEST(id_from(std::move(own)) == "one");
  BOOST_TEST(id_from(std::move(archives)).starts_with("zh:"));
  BOOST_TEST(server.fetched.size() == 1U);
}

BOOST_AUTO_TEST_CASE(all_versions_of_one_source_come_with_one_fetch) {
  source->add_tag(kVpc, "v1.0.0", kLeaf);
  source->add_tag(kVpc, "nested/v2.0.0", kLeaf, std::string(40, 'a'));
  write("main.tf", calling("a", kVpc).at("main.tf") + calling("b", kVpc).at("main.tf"));
  constrain("a", "~> 1.0");
  constrain("b", "~> 2.0");
  request.walk.settings.modules["b"].tag_prefix = SourceText{"nested/", {".tofu-modlock.hcl", std::nullopt}};
  const auto planned = plan();
  BOOST_TEST_REQUIRE(planned.has_value());
  BOOST_TEST(source->listings == 2);
  BOOST_TEST(source->fetched.size() == 2U);
  BOOST_TEST(stats.requests == 3U);
}

BOOST_AUTO_TEST_CASE(many_who_want_one_package_cause_one_fetch) {
  constexpr std::size_t kMany = 8;
  const std::string id = source->add_tag(kVpc, "v1.0.0", kLeaf);
  const SourceAddress address = parse_source(std::string(kVpc)).value();
  const Store store = Store::open(directory / "cache").value();
  std::vector<std::string> brought(kMany);
  parallel_for(kMany, kMany, [&](std::size_t i) {
    const Context context;
    SourceFetcher fetcher(backends, store, context);
    const SourceFetcher::PackageRequest fetch_request{&address, {.id = id, .ref = "v1.0.0"}};
    const SourceFetcher::FetchTask task{.choose = [&fetch_request] { return std::vector{fetch_request}; }};
    fetcher.run({&task, 1});
    brought[i] = fetcher.package(address, fetch_request.request).value_or(Package{}).id;
  });
  BOOST_TEST(brought == std::vector<std::string>(kMany, id), boost::test_tools::per_element());
  BOOST_TEST(source->fetched.size() == 1U);
}

// What has been asked needs no threads; a package that is not in the store is fetched all the same.
BOOST_AUTO_TEST_CASE(what_is_known_is_chosen_from_on_the_own_thread) {
  auto fake = std::make_unique<FakeBackend>();
  FakeBackend* const asked = fake.get();
  const Context plain;
  std::vector<SourceAddress> sources;
  std::vector<SourceFetcher::PackageRequest> fetch_requests;
  for (const char* name : {"a", "b", "c", "d"}) {
    const std::string package = "git::https://example.com/" + std::string(name) + ".git";
    fetch_requests.push_back({nullptr, {asked->add_tag(package, "v1.0.0", {{"main.tf", name}}), "refs/tags/v1.0.0"}});
    sources.push_back(parse_source(package).value());
  }
  BackendSet memoizing;
  memoizing.add(std::move(fake), {.memoizes = true});
  const TemporaryDirectory cache;
  const auto opened = Store::open(cache.path());
  for (const bool is_known : {false, true}) {
    BOOST_TEST_CONTEXT((is_known ? "known" : "not known")) {
      SourceFetcher fetcher(memoizing, *opened, plain);
      std::vector<SourceFetcher::FetchTask> tasks(sources.size());
      std::vector<std::thread::id> by(sources.size());
      for (std::size_t i = 0; i < sources.size(); ++i) {
        fetch_requests[i].source = &sources[i];
        tasks[i].listings = {{&sources[i], ""}};
        tasks[i].choose = [&, i] {
          by[i] = std::this_thread::get_id();
          return std::vector<SourceFetcher::PackageRequest>{fetch_requests[i]};
        };
      }
      fetcher.run(tasks);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        BOOST_TEST(fetcher.package(sources[i], fetch_requests[i].request).has_value());
        BOOST_TEST((!is_known || by[i] == std::this_thread::get_id()));
      }
      BOOST_TEST(asked->listings == 4);
      BOOST_TEST(asked->fetched.size() == (is_known ? 8U : 4U));
    }
    std::filesystem::remove_all(cache.path() / "v2");
  }
}

BOOST_AUTO_TEST_SUITE_END()
