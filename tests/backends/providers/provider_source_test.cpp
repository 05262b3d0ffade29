#include "backends/providers/provider_source.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

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

 private:
  static Error error() {
    return {.code = Code::bad_response,
            .message = "the token canary-token",
            .notes = {"sent canary-token"},
            .hint = "renew canary-token"};
  }

  bool fails_;
};

struct Fixture {
  std::shared_ptr<ProviderSource> source(bool fails, bool memoizes = false) {
    secrets.add(kSecret);
    return make_shared_provider_source(std::make_shared<TalkativeSource>(fails), secrets, memoizes);
  }

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
  Fixture fixture;
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
  Fixture fixture;
  const auto source = fixture.source(true);
  expect_scrubbed(source->list_versions(fixture.provider, fixture.context).error());
  expect_scrubbed(source->release(fixture.provider, {}, {}, fixture.context).error());
}

BOOST_AUTO_TEST_CASE(a_question_is_asked_once_if_it_memoizes) {
  for (const bool fails : {false, true}) {
    BOOST_TEST_CONTEXT((fails ? "a failure" : "an answer")) {
      Fixture fixture;
      const auto source = fixture.source(fails, true);
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
