#include "backends/providers/provider_source.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "backends/store/store.h"
#include "tests/backends/providers/mirror_fixture.h"
#include "tests/support/temporary_directory.h"

using namespace modlock::test;
using namespace modlock;

namespace {

using Has = std::map<std::string, std::vector<std::string>>;

struct Selectors {
  // A source for providers of a host, or of all; it lives as long as what the sources are made to.
  FakeSource& add(const char* name, Has has, std::string host = {}) {
    auto source = std::make_unique<FakeSource>(name, std::move(has));
    FakeSource& added = *source;
    selectors.push_back({.source = std::move(source), .serves = [host](const ProviderAddress& address) {
                           return host.empty() || address.host() == host;
                         }});
    return added;
  }
  std::unique_ptr<ProviderSource> make() { return make_multi_source(std::move(selectors)); }

  std::vector<ProviderSelector> selectors;
  Context context;
};

}  // namespace

namespace modlock {
namespace {

constexpr const char* kSecret = "canary-token";

class RecordingLog final : public Log {
 public:
  void write(LogLevel, std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

// Says what it was sent in everything that it says.
class TalkativeSource final : public ProviderSource {
 public:
  explicit TalkativeSource(bool fails) : fails_(fails) {}

  Result<ProviderListing> list_versions(const ProviderAddress&, const Context& context) override {
    context.log->write(LogLevel::warning, "asked with canary-token");
    if (fails_) {
      return fail(error());
    }
    return ProviderListing{.versions = {}, .warnings = {"moved, canary-token"}};
  }
  Result<ProviderRelease> release(const ProviderAddress&, const ProviderVersion&, std::span<const Platform>,
                                  const Context& context) override {
    context.log->write(LogLevel::warning, "asked with canary-token");
    if (fails_) {
      return fail(error());
    }
    ProviderRelease release;
    release.warnings.push_back({Severity::warning, error()});
    return release;
  }
  Result<void> download(const ProviderAddress&, const ProviderVersion&, const Platform&, BodySink&,
                        const Context& context) override {
    context.log->write(LogLevel::warning, "asked with canary-token");
    return fail(error());
  }

 private:
  static Error error() {
    return {.code = Code::bad_response,
            .message = "the token canary-token",
            .notes = {"sent canary-token"},
            .hint = "renew canary-token"};
  }

  bool fails_;
};

struct TalkativeFixture {
  std::shared_ptr<ProviderSource> source(bool fails) {
    secrets.add(kSecret);
    return make_shared_provider_source(std::make_shared<TalkativeSource>(fails), secrets, {store});
  }

  TemporaryDirectory directory;
  Store store = Store::open(directory.path()).value();
  KnownSecrets secrets;
  RecordingLog log;
  Context context{.log = &log};
  ProviderAddress provider = ProviderAddress::parse("acme/null", "registry.opentofu.org").value();
};

void expect_scrubbed(const Error& error) {
  BOOST_TEST(error.message == "the token …");
  BOOST_TEST(error.notes == std::vector<std::string>{"sent …"}, boost::test_tools::per_element());
  BOOST_TEST(error.hint == "renew …");
}

BOOST_AUTO_TEST_SUITE(provider_source)

BOOST_AUTO_TEST_CASE(warnings_and_lines) {
  TalkativeFixture fixture;
  const auto source = fixture.source(false);
  const auto listing = source->list_versions(fixture.provider, fixture.context).value();
  BOOST_TEST(listing.warnings == std::vector<std::string>{"moved, …"}, boost::test_tools::per_element());
  const auto release = source->release(fixture.provider, {}, {}, fixture.context).value();
  BOOST_REQUIRE(release.warnings.size() == 1U);
  expect_scrubbed(release.warnings[0].what);
  const std::vector<std::string> lines(2, "asked with …");
  BOOST_TEST(fixture.log.lines == lines, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(errors) {
  TalkativeFixture fixture;
  const auto source = fixture.source(true);
  expect_scrubbed(source->list_versions(fixture.provider, fixture.context).error());
  expect_scrubbed(source->release(fixture.provider, {}, {}, fixture.context).error());
  BOOST_TEST(downloaded(*source, "acme/null", "1.0.0") == "BAD_RESPONSE: the token …");
}

BOOST_AUTO_TEST_CASE(a_question_is_asked_once) {
  for (const bool fails : {false, true}) {
    BOOST_TEST_CONTEXT((fails ? "a failure" : "an answer")) {
      TalkativeFixture fixture;
      const auto source = fixture.source(fails);
      const std::vector<Platform> linux_only = {Platform{"linux", "amd64"}};
      for (int i = 0; i < 2; ++i) {
        BOOST_TEST(source->list_versions(fixture.provider, fixture.context).has_value() == !fails);
        BOOST_TEST(source->release(fixture.provider, {}, {}, fixture.context).has_value() == !fails);
        BOOST_TEST(source->release(fixture.provider, {}, linux_only, fixture.context).has_value() == !fails);
      }
      BOOST_TEST(fixture.log.lines.size() == 3U);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock

BOOST_FIXTURE_TEST_SUITE(multi_source, Selectors)

// 1.0.0 was published long ago and 2.0.0 just now; "seen" is when the store first saw a version.
BOOST_AUTO_TEST_CASE(since_when_a_version_is_known) {
  using std::chrono::hours;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  struct Row {
    const char* name;
    std::vector<std::string> trusted;
    bool has_dates;
    bool is_mirrored;  // another source lists both versions
    std::string expected;
  };
  const Row rows[] = {
      {"no dates", {"a.io"}, false, false, "2.0.0 seen, 1.0.0 seen"},
      {"dates of a trusted registry", {"a.io"}, true, false, "2.0.0 published, 1.0.0 published"},
      {"dates of another registry", {"b.io"}, true, false, "2.0.0 published, 1.0.0 seen"},
      {"dates, and packages of a mirror", {"a.io"}, true, true, "2.0.0 seen, 1.0.0 seen"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryDirectory directory;
      const Store store = Store::open(directory.path()).value();
      const KnownSecrets secrets;
      const Has has = {{"1.0.0", {}}, {"2.0.0", {}}};
      selectors.clear();
      FakeSource& registry = add("registry", has);
      if (row.is_mirrored) {
        add("mirror", has);
      }
      if (row.has_dates) {
        registry.published = {{"1.0.0", now - hours(1000)}, {"2.0.0", now + hours(1)}};
      }
      const auto source = make_shared_provider_source(make(), secrets, {store, row.trusted});
      const auto listing = source->list_versions(provider("a.io/acme/null"), context).value();
      std::string text;
      for (std::size_t i = 0; i < listing.versions.size(); ++i) {
        const std::string version = listing.versions[i].to_string();
        const auto since = listing.known_since.at(i);
        const auto dated = registry.published.find(version);
        const bool is_published = dated != registry.published.end() && since == dated->second;
        const bool is_seen = since >= now && since < now + hours(1);
        text += fmt::format("{}{} {}", i == 0 ? "" : ", ", version,
                            is_published ? "published"
                            : is_seen    ? "seen"
                                         : "?");
      }
      BOOST_TEST(text == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(versions_are_those_of_all_that_serve_the_provider) {
  add("first", {{"1.0.0", {}}, {"3.0.0", {}}});
  add("other", {{"9.0.0", {}}}, "b.io");
  add("unknown", {}).failure = Error{.code = Code::not_found, .message = "no such provider"};
  add("second", {{"1.0.0", {}}, {"2.0.0", {}}}, "a.io");
  const auto source = make();
  BOOST_TEST(shown(source->list_versions(provider("a.io/acme/null"), context)) ==
             "3.0.0 2.0.0 1.0.0 ! from first ! from second");
  BOOST_TEST(shown(source->list_versions(provider("b.io/acme/null"), context)) ==
             "9.0.0 3.0.0 1.0.0 ! from first ! from other");
}

BOOST_AUTO_TEST_CASE(a_failure_of_one_is_that_of_all) {
  add("first", {{"1.0.0", {"linux_amd64"}}});
  FakeSource& second = add("second", {});
  second.failure = Error{.code = Code::unreachable, .message = "no answer"};
  const auto source = make();
  BOOST_TEST(shown(source->list_versions(provider("a.io/acme/null"), context)) == "UNREACHABLE: no answer");
}

BOOST_AUTO_TEST_CASE(a_provider_that_nobody_has) {
  const std::string nowhere = "NOT_FOUND: provider a.io/acme/null was not found in any of the search locations";
  BOOST_TEST(shown(make_multi_source({})->list_versions(provider("a.io/acme/null"), context)) == nowhere);
  add("other", {{"1.0.0", {}}}, "b.io");
  add("empty", {});
  BOOST_TEST(shown(make()->list_versions(provider("a.io/acme/null"), context)) == nowhere);
}

// What the registry of a provider says of it says more than that it was not found.
BOOST_AUTO_TEST_CASE(a_provider_that_its_registry_does_not_know) {
  selectors.clear();
  add("empty", {});
  add("registry", {}).failure = Error{.code = Code::not_found, .message = "the registry does not have it"};
  BOOST_TEST(shown(make()->list_versions(provider("a.io/acme/null"), context)) ==
             "NOT_FOUND: the registry does not have it");
}

BOOST_AUTO_TEST_CASE(each_platform_comes_from_the_first_that_has_it) {
  FakeSource& mirror = add("mirror", {{"1.0.0", {"linux_amd64", "linux_arm64"}}});
  FakeSource& empty = add("empty", {});
  FakeSource& registry = add("registry", {{"1.0.0", {"linux_amd64", "linux_arm64", "darwin_arm64"}}});
  add("later", {{"1.0.0", {"windows_386"}}});
  const auto source = make();
  const std::vector<Platform> two = {platform("linux_amd64"), platform("linux_arm64")};
  BOOST_TEST(shown(source->release(provider("a.io/acme/null"), version("1.0.0"), two, context)) ==
             "linux_amd64 h1:mirror = h1:mirror\nlinux_arm64 h1:mirror = h1:mirror\npublished zh:mirror\n");
  BOOST_TEST(empty.asked.empty());
  const std::vector<Platform> three = {platform("darwin_arm64"), platform("linux_amd64"), platform("linux_arm64")};
  BOOST_TEST(shown(source->release(provider("a.io/acme/null"), version("1.0.0"), three, context)) ==
             "darwin_arm64 h1:registry = h1:registry\nlinux_amd64 h1:mirror = h1:mirror\nlinux_arm64 h1:mirror = "
             "h1:mirror\npublished zh:mirror zh:registry\ncovers all\n");
  BOOST_TEST(registry.asked == std::vector<std::string>{"1.0.0 darwin_arm64"}, boost::test_tools::per_element());
  const std::vector<std::string> asked = {"1.0.0 linux_amd64 linux_arm64", "1.0.0 darwin_arm64 linux_amd64 linux_arm64",
                                          "1.0.0 darwin_arm64", "1.0.0 linux_amd64", "1.0.0 linux_arm64"};
  BOOST_TEST(mirror.asked == asked, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(archive_comes_from_the_first_that_has_it) {
  FakeSource& mirror = add("mirror", {{"1.0.0", {"linux_amd64"}}});
  add("registry", {{"1.0.0", {"linux_amd64", "darwin_arm64"}}});
  const auto source = make();
  BOOST_TEST(downloaded(*source, "a.io/acme/null", "1.0.0") == "mirror");
  BOOST_TEST(downloaded(*source, "a.io/acme/null", "1.0.0", "darwin_arm64") == "registry");
  BOOST_TEST(downloaded(*source, "a.io/acme/null", "1.0.0", "windows_386") ==
             "NOT_FOUND: provider a.io/acme/null 1.0.0 is not available for windows_386");
  mirror.failure = Error{.code = Code::bad_response, .message = "broken"};
  BOOST_TEST(downloaded(*source, "a.io/acme/null", "1.0.0", "darwin_arm64") == "BAD_RESPONSE: broken");
}

BOOST_AUTO_TEST_CASE(a_platform_that_nobody_has) {
  add("mirror", {{"1.0.0", {"linux_amd64"}}});
  const auto source = make();
  const std::vector<Platform> platforms = {platform("linux_amd64"), platform("windows_386")};
  BOOST_TEST(shown(source->release(provider("a.io/acme/null"), version("1.0.0"), platforms, context)) ==
             "NOT_FOUND: provider a.io/acme/null 1.0.0 is not available for windows_386");
}

BOOST_AUTO_TEST_CASE(a_source_that_fails_is_not_passed_over) {
  add("mirror", {}).failure = Error{.code = Code::bad_response, .message = "broken"};
  add("registry", {{"1.0.0", {"linux_amd64"}}});
  const std::vector<Platform> platforms = {platform("linux_amd64")};
  BOOST_TEST(shown(make()->release(provider("a.io/acme/null"), version("1.0.0"), platforms, context)) ==
             "BAD_RESPONSE: broken");
}

BOOST_AUTO_TEST_SUITE_END()
