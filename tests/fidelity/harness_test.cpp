// What the comparison with clients stands on: cases that are always the same, goldens that say what they compare.
#include <boost/test/unit_test.hpp>

#include "tests/fidelity/chance.h"
#include "tests/fidelity/generator.h"
#include "tests/fidelity/golden.h"

namespace modlock::fidelity {
namespace {

struct World {
  World() : offers(publish_offers(registry)) {}
  Case made(std::uint64_t seed, std::size_t number, bool is_terraform = false) const {
    return make_case(seed, number, {.is_terraform = is_terraform}, offers, registry);
  }
  test::ProviderRegistry registry;
  std::vector<Offer> offers;
};

const Client kTofu = {.program = {}, .version = "1.12.6", .reader = {}};

BOOST_AUTO_TEST_SUITE(fidelity_harness)

BOOST_AUTO_TEST_CASE(chance_is_the_same_everywhere) {
  Chance chance(1);
  BOOST_TEST(chance.below(1'000'000) == 822465U);
  BOOST_TEST(chance.below(1'000'000) == 428519U);
}

BOOST_AUTO_TEST_CASE(cases_are_always_the_same_and_differ) {
  const World one;
  const World other;
  BOOST_TEST(one.made(6, 17).digest() == other.made(6, 17).digest());
  BOOST_TEST(one.made(6, 17).digest() != one.made(6, 18).digest());
  BOOST_TEST(one.made(6, 17).digest() != one.made(7, 17).digest());
  std::size_t number = 0;
  while (one.made(6, number).digest() == one.made(6, number, true).digest()) {
    ++number;
  }
  BOOST_TEST(number < 20U);
}

// Each of what the cases are to be about is in some of them.
BOOST_AUTO_TEST_CASE(cases_cover_what_they_are_for) {
  const World world;
  std::map<std::string, int> seen;
  for (std::size_t number = 0; number < kUsualCount; ++number) {
    const Case made = world.made(6, number);
    ++seen[made.title().substr(4, made.title().find(':') - 4)];
    seen["platforms"] += made.platforms.size() > 1 ? 1 : 0;
    seen["modules"] += made.calls_modules ? 1 : 0;
    seen["prior lock"] += made.prior_lock().empty() ? 0 : 1;
    for (const std::string& mark : made.marks) {
      ++seen[mark];
    }
  }
  for (const char* what : {"init",
                           "init -upgrade",
                           "init -lockfile=readonly",
                           "providers lock",
                           "platforms",
                           "modules",
                           "prior lock",
                           "mirror",
                           "mirror of one namespace",
                           "network mirror",
                           "network mirror of one namespace",
                           "trusted network mirror",
                           "OCI mirror",
                           "mirrors and registry",
                           "override for development",
                           "implied directory",
                           "override file",
                           "both addresses",
                           "check block",
                           "import block",
                           "ephemeral block",
                           "JSON",
                           ".tofu",
                           "test file",
                           "state",
                           "CRLF",
                           "comments",
                           "free style",
                           "extra provider",
                           "other registry's entry",
                           "broken lock",
                           "no hashes",
                           "unknown scheme",
                           "wrong hashes",
                           "gone version",
                           "signatures enforced",
                           "expiration enforced",
                           "bad/signature",
                           "private.example.test",
                           "registry.terraform.io"}) {
    BOOST_TEST(seen[what] > 0, what);
  }
}

BOOST_AUTO_TEST_CASE(module_blocks_are_left_out) {
  const std::string provider = "\nprovider \"a/b/c\" {\n  version = \"1.0.0\"\n}\n";
  const std::string module = "\nmodule \"vpc\" {\n  hashes = [\n    \"h1:a\",\n  ]\n}\n";
  BOOST_TEST(without_modules("# head\n" + module + module + provider) == "# head\n" + provider);
  BOOST_TEST(without_modules("# head\n" + provider) == "# head\n" + provider);
}

BOOST_AUTO_TEST_CASE(goldens_come_back_as_written_and_name_what_differs) {
  const test::TemporaryDirectory directory;
  const Case one{.number = 1, .files = {{"main.tf", "one"}}};
  const Case other{.number = 1, .files = {{"main.tf", "other"}}};
  const Outcome accepted{.is_accepted = true, .lock = "lock\n"};
  Golden written(kTofu, 6);
  written.note(one, accepted);
  written.write(directory.path());
  const Golden golden = Golden::read(directory / "tofu-1.12.6.txt");
  BOOST_TEST(golden.client().title() == "tofu 1.12.6");
  BOOST_TEST(golden.seed() == 6U);
  BOOST_TEST(golden.size() == 1U);
  BOOST_TEST(golden.differs(one, accepted) == "");
  BOOST_TEST(golden.differs(one, {}).find("tofu 1.12.6 has \"accepted ") == 0U);
  BOOST_TEST(golden.differs(one, {.is_accepted = true, .lock = "other\n"}) != "");
  Case left = one;
  left.is_left_to_client = true;
  BOOST_TEST(golden.differs(left, {}) != "");
  Golden refused(kTofu, 6);
  refused.note(one, {});
  BOOST_TEST(refused.differs(one, accepted) != "");
  BOOST_TEST(refused.differs(left, accepted) == "");
  BOOST_TEST(golden.differs(other, accepted) == "the golden file is of another case: write it anew with a client");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::fidelity
