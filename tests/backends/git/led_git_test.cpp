#include <boost/test/unit_test.hpp>

#include "backends/git/redirected_git_backend.h"
#include "tests/backends/git/git_fixture.h"

namespace modlock::test {
namespace {

struct Led : GitFixture {
  Led() {
    commit = repository.commit({{"main.tf", "# 1\n"}});
    repository.tag("v1.0.0");
    led = make_redirected_git_backend(std::shared_ptr<Backend>(std::move(backend)));
  }
  // What each of the three calls comes to.
  std::vector<std::string> calls() {
    const SourceAddress address = source(repository.url() + "?ref=v1.0.0");
    const FetchRequest fetch_request{commit, "refs/tags/v1.0.0", false};
    return {outcome(led->list_versions(address, "", context)), outcome(led->pin(address, context)),
            outcome(led->fetch(address, {&fetch_request, 1}, directory / "parent", context).at(0))};
  }

  GitRepository repository{directory / "remote.git"};
  std::string commit;
  std::unique_ptr<Backend> led;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(led_git, Led)

BOOST_AUTO_TEST_CASE(no_server_leads_to_this_machine_unless_git_allows_it) {
  std::filesystem::create_directories(directory / "parent");
  const std::string denied =
      "SOURCE_DENIED: the repository \"git::" + repository.url() + "\" is on this machine, where no server may lead";
  BOOST_TEST(calls() == std::vector<std::string>(3, denied), boost::test_tools::per_element());
  BOOST_TEST(requests() == 0U);
  write_text(directory / "home" / ".gitconfig", "[protocol \"file\"]\n\tallow = user\n");
  BOOST_TEST(calls() == std::vector<std::string>(3, denied), boost::test_tools::per_element());
  write_text(directory / "home" / ".gitconfig", "[protocol \"file\"]\n\tallow = always\n");
  BOOST_TEST(calls() == std::vector<std::string>(3, "ok"), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
