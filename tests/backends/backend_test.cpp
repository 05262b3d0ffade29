#include "backends/backend.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/fake_backend.h"

namespace modlock::test {
namespace {

// Says the secret wherever it can.
class Talker final : public BackendCore, public GitAbilities {
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
    tree.validator = "If-None-Match: canary-token";
    FetchedTree elsewhere = tree;
    elsewhere.subdir = "modules/canary-token";
    return {tree, elsewhere};
  }
  Result<std::filesystem::path> repository_with(const SourceAddress& /*source*/,
                                                std::span<const FetchRequest> /*requests*/,
                                                const Context& /*context*/) override {
    return fail(Code::not_found, "none with canary-token");
  }
  std::string hash_scheme() const override { return scheme; }
  GitAbilities* git() override { return this; }
  std::optional<CommitDistance> commit_distance(const SourceAddress& /*source*/, const std::string& /*older*/,
                                                const std::string& /*newer*/, const Context& /*context*/) override {
    return CommitDistance{.descends = true, .commits = 3};
  }
  Result<std::string> verify_signature(const SourceAddress& /*source*/, const FetchRequest& /*request*/,
                                       const SignatureDemand& /*demand*/, const Context& /*context*/) override {
    return fail(Code::signature_invalid, "unsigned canary-token");
  }
  Result<void> check_redirected(const SourceAddress& /*source*/, const Context& /*context*/) override {
    return fail(Code::source_denied, "denied canary-token");
  }

  std::string scheme = "x";
};

class KeptLog final : public Log {
 public:
  void write(LogLevel /*level*/, std::string_view line) override { text += line; }
  std::string text;
};

struct Scene {
  KnownSecrets secrets;
  std::unique_ptr<Backend> backend =
      std::make_unique<Backend>(std::make_unique<Talker>(), BackendOptions{.secrets = &secrets});
  SourceAddress source = *parse_source("git::https://canary-token@example.com/x");
  KeptLog log;
  Context context{.log = &log};
};

constexpr const char* kPackage = "git::https://example.com/vpc.git";

// What several roots of one run ask is asked once.
struct Memoizing {
  Memoizing() {
    auto fake = std::make_unique<FakeBackend>();
    asked = fake.get();
    asked->add_tag(kPackage, "v1.0.0", {{"main.tf", ""}});
    asked->add_branch(kPackage, "main", {{"main.tf", ""}});
    backends.add(std::move(fake), {.memoizes = true});
    once = backends.find(source.source);
  }
  SourceAddress source = parse_source(kPackage).value();
  FakeBackend* asked = nullptr;
  BackendSet backends;
  Backend* once = nullptr;
  Context context;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(backend_test, Scene)

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
  BOOST_TEST(trees[0]->validator == "");
  BOOST_REQUIRE(!trees[1].has_value());
  BOOST_TEST(trees[1].error().message ==
             "\"git::https://example.com/x\" is in a directory whose name contains a secret that the server "
             "was sent");
}

BOOST_AUTO_TEST_CASE(what_a_core_answers_stays) {
  BOOST_TEST(backend->serves(source.source));
  const auto distance = backend->commit_distance(source, "1", "2", context);
  BOOST_REQUIRE(distance.has_value());
  BOOST_TEST(distance->commits == 3U);
  const auto repository = backend->repository_with(source, {}, context);
  BOOST_REQUIRE(!repository.has_value());
  BOOST_TEST(repository.error().message == "none with …");
  const auto signer = backend->verify_signature(source, {}, {}, context);
  BOOST_REQUIRE(!signer.has_value());
  BOOST_TEST(signer.error().message == "unsigned …");
  const auto redirected = backend->check_redirected(source, context);
  BOOST_REQUIRE(!redirected.has_value());
  BOOST_TEST(redirected.error().message == "denied …");
}

BOOST_AUTO_TEST_CASE(a_source_without_git_has_none_of_its_abilities) {
  class WithoutGit final : public BackendCore {
   public:
    bool serves(const Source& /*source*/) const override { return true; }
    Result<Listing> list_versions(const SourceAddress& /*source*/, std::string_view /*tag_prefix*/,
                                  const Context& /*context*/) override {
      return Listing{};
    }
    Result<Pin> pin(const SourceAddress& /*source*/, const Context& /*context*/) override { return Pin{}; }
    std::vector<Result<FetchedTree>> fetch(const SourceAddress& /*source*/, std::span<const FetchRequest> /*requests*/,
                                           const std::filesystem::path& /*parent*/,
                                           const Context& /*context*/) override {
      return {};
    }
  };
  Backend plain(std::make_unique<WithoutGit>());
  BOOST_TEST(!plain.commit_distance(source, "1", "2", context));
  BOOST_TEST(plain.check_redirected(source, context).has_value());
  const auto repository = plain.repository_with(source, {}, context);
  BOOST_REQUIRE(!repository.has_value());
  BOOST_TEST((repository.error().code == Code::source_unsupported));
  BOOST_TEST(repository.error().message == "\"git::https://example.com/x\" has no git repository");
  const auto signer = plain.verify_signature(source, {}, {}, context);
  BOOST_REQUIRE(!signer.has_value());
  BOOST_TEST((signer.error().code == Code::signature_invalid));
  BOOST_TEST(signer.error().message ==
             "\"git::https://example.com/x\" has no signature that can be verified: only git sources have signed tags");
}

BOOST_AUTO_TEST_CASE(ids_and_hash_texts) {
  struct Row {
    const char* name;
    const char* scheme;
    const char* id;
    std::vector<std::string> hashes;
    const char* found;
  };
  const Row rows[] = {
      {"its own scheme", "x", "1", {"h1:1", "x:1"}, "1"},
      {"its own among others", "oci", "sha256:ab", {"git:2", "oci:sha256:ab"}, "sha256:ab"},
      {"only others", "x", "1", {"h1:1", "git:2"}, ""},
      {"any: git", "", "git:8f2c", {"git:8f2c", "h1:x="}, "git:8f2c"},
      {"any: oci", "", "oci:sha256:ab", {"h1:x=", "oci:sha256:ab"}, "oci:sha256:ab"},
      {"any: archive", "", "zh:ab", {"h1:x=", "zh:ab", "zh:cd"}, "zh:ab"},
      {"what identifies before what is evidence", "", "git:8f2c", {"zh:ab", "oci:sha256:ab", "git:8f2c"}, "git:8f2c"},
      {"any: none", "", "zh:ab", {"h1:x=", "new:y"}, ""},
      {"nothing", "", "zh:ab", {}, ""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      auto core = std::make_unique<Talker>();
      core->scheme = row.scheme;
      const Backend shell(std::move(core));
      BOOST_TEST(shell.id_hash(row.id) == std::string(row.scheme) + (*row.scheme == '\0' ? "" : ":") + row.id);
      BOOST_TEST(shell.id_of(row.hashes) == row.found);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(memoizing_backend, Memoizing)

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

BOOST_AUTO_TEST_CASE(a_backend_that_does_not_memoize_asks_each_time) {
  auto fake = std::make_unique<FakeBackend>();
  FakeBackend& each = *fake;
  each.add_tag(kPackage, "v1.0.0", {{"main.tf", ""}});
  Backend backend(std::move(fake));
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(!backend.list_versions(source, "", context)->is_again);
    BOOST_TEST(!backend.knows_versions(source, ""));
  }
  BOOST_TEST(each.listings == 2);
}

BOOST_AUTO_TEST_CASE(another_run_is_told_only_what_it_may_ask) {
  // Redirects its asker to another source.
  class Redirecting final : public BackendCore {
   public:
    bool serves(const Source& /*source*/) const override { return true; }
    Result<Listing> list_versions(const SourceAddress& source, std::string_view /*tag_prefix*/,
                                  const Context& context) override {
      ++asked;
      const auto ok = context.check_allowed(source.source);
      return ok ? Result<Listing>(Listing{}) : fail(ok.error());
    }
    Result<Pin> pin(const SourceAddress& /*source*/, const Context& /*context*/) override { return Pin{}; }
    std::vector<Result<FetchedTree>> fetch(const SourceAddress& /*source*/, std::span<const FetchRequest> /*requests*/,
                                           const std::filesystem::path& /*parent*/,
                                           const Context& /*context*/) override {
      return {};
    }
    int asked = 0;
  };
  auto core = std::make_unique<Redirecting>();
  Redirecting& redirecting = *core;
  Backend backend(std::move(core), {.memoizes = true});
  Context strict = context;
  strict.check_source = [](const Source& /*to*/, const ServerHop&) -> Result<void> {
    return fail(Code::source_denied, "not there");
  };
  BOOST_TEST(backend.list_versions(source, "", strict).error().message == "not there");
  BOOST_TEST(backend.list_versions(source, "", context).has_value());  // the denial is not kept
  BOOST_TEST(backend.list_versions(source, "", context).has_value());
  BOOST_TEST(redirecting.asked == 2);
  // No one saw where the requests of a run without a policy went.
  BOOST_TEST(backend.list_versions(source, "", strict).error().message == "not there");
  BOOST_TEST(redirecting.asked == 3);
  Context lenient = context;
  lenient.check_source = [](const Source& /*to*/, const ServerHop&) -> Result<void> { return {}; };
  BOOST_TEST(backend.list_versions(source, "", lenient).has_value());
  BOOST_TEST(redirecting.asked == 4);
  BOOST_TEST(backend.list_versions(source, "", strict).error().message == "not there");
  BOOST_TEST(redirecting.asked == 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
