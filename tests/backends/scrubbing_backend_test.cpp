#include "backends/scrubbing_backend.h"

#include <boost/test/unit_test.hpp>

namespace modlock::test {
namespace {

// Says the secret wherever it can.
class Talker final : public Backend {
 public:
  bool serves(const Source& /*source*/) const override { return true; }
  Result<Listing> list_versions(const SourceAddress& /*source*/, std::string_view /*tag_prefix*/,
                                const Context& context) override {
    context.log->write(LogLevel::debug, "log canary-token");
    const auto listed = [](const char* tag, const char* twin) {
      return ListedVersion{.version = *Version::parse(tag), .tag = tag, .id = {}, .ambiguous_with = twin};
    };
    return Listing{.versions = {listed("2.0.0-canary-token", ""), listed("1.0.0", "v1.0.0-canary-token")},
                   .skipped = {{"x-canary-token", "no canary-token"}},
                   .fetched_at = {}};
  }
  Result<Pin> pin(const SourceAddress& /*source*/, const Context& /*context*/) override {
    return fail(Error{.code = Code::not_found,
                      .message = "a canary-token",
                      .related = {{.message = "b canary-token"}},
                      .notes = {"c canary-token"},
                      .hint = "d canary-token"});
  }
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& /*source*/, std::span<const FetchRequest> /*requests*/,
                                         const std::filesystem::path& parent, const Context& /*context*/) override {
    FetchedTree tree{.id = "1", .directory = parent, .warnings = {{Severity::warning, {.message = "canary-token"}}}};
    FetchedTree elsewhere = tree;
    elsewhere.subdir = "modules/canary-token";
    return {tree, elsewhere};
  }
  std::string id_hash(std::string_view id) const override { return "x:" + std::string(id); }
  std::string id_of(std::span<const std::string> hashes) const override { return find_hash(hashes, "x"); }
  std::optional<CommitDistance> descent(const SourceAddress& /*source*/, const std::string& /*older*/,
                                        const std::string& /*newer*/, const Context& /*context*/) override {
    return CommitDistance{.descends = true, .commits = 3};
  }
};

class KeptLog final : public Log {
 public:
  void write(LogLevel /*level*/, std::string_view line) override { text += line; }
  std::string text;
};

struct Scene {
  KnownSecrets secrets;
  std::unique_ptr<Backend> backend = make_scrubbing_backend(std::make_unique<Talker>(), secrets);
  SourceAddress source = *parse_source("git::https://canary-token@example.com/x");
  KeptLog log;
  Context context{.log = &log};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(scrubbing_backend, Scene)

BOOST_AUTO_TEST_CASE(listings_and_log_lines) {
  const auto listing = backend->list_versions(source, "", context);
  BOOST_REQUIRE(listing.has_value());
  BOOST_REQUIRE_EQUAL(listing->versions.size(), 1U);
  BOOST_TEST(listing->versions[0].tag == "1.0.0");
  BOOST_TEST(listing->versions[0].ambiguous_with == "v1.0.0-…");
  BOOST_REQUIRE_EQUAL(listing->skipped.size(), 2U);
  BOOST_TEST(listing->skipped[0].tag + ": " + listing->skipped[0].reason == "x-…: no …");
  BOOST_TEST(listing->skipped[1].tag + ": " + listing->skipped[1].reason ==
             "2.0.0-…: it holds a secret that the server was sent");
  BOOST_TEST(log.text == "log …");
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto pin = backend->pin(source, context);
  BOOST_REQUIRE(!pin.has_value());
  BOOST_TEST(pin.error().message == "a …");
  BOOST_TEST(pin.error().related.at(0).message == "b …");
  BOOST_TEST(pin.error().notes.at(0) == "c …");
  BOOST_TEST(pin.error().hint == "d …");
}

BOOST_AUTO_TEST_CASE(fetched) {
  const auto trees = backend->fetch(source, {}, "/p", context);
  BOOST_REQUIRE_EQUAL(trees.size(), 2U);
  BOOST_REQUIRE(trees[0].has_value());
  BOOST_TEST(trees[0]->warnings.at(0).what.message == "…");
  BOOST_REQUIRE(!trees[1].has_value());
  BOOST_TEST(trees[1].error().message ==
             "\"git::https://example.com/x\" is said to lie in a directory whose name holds a secret that the server "
             "was sent");
}

BOOST_AUTO_TEST_CASE(what_is_the_backends_own_stays) {
  const std::vector<std::string> hashes = {"h1:1", "x:2"};
  BOOST_TEST(backend->id_hash("1") == "x:1");
  BOOST_TEST(backend->id_of(hashes) == "2");
  BOOST_TEST(backend->serves(source.source));
  const auto descent = backend->descent(source, "1", "2", context);
  BOOST_REQUIRE(descent.has_value());
  BOOST_TEST(descent->commits == 3U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
