// Faults as scripts/hg-backend meets them: what a program of somebody else's makes of them, and what it is taken for.

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <iostream>

#include "backends/external/external_backend.h"
#include "tests/conformance/canaries.h"
#include "tests/conformance/columns.h"
#include "tests/conformance/world_of_suite.h"
#include "tests/support/faults.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

struct Row {
  const char* name;
  Code code;
  Behaviour behaviour = {};
  Place place = Place::origin;
};

// hg takes no certificate for an address.
std::string by_name(const std::string& authority) {
  return "localhost" + authority.substr(authority.find(':'));
}

void run_row(const HgRow& row, BackendCore& backend) {
  Notebook notebook;
  Context context;
  context.log = &notebook;
  World& all = *world();
  if (row.behaviour) {
    all.server().add({.behaviour = all.watched(row.behaviour), .path = "/hg/"});
  }
  all.watch_processes(true);
  const auto source =
      parse_source(fmt::format("hg::https://{}:{}@{}/hg/vpc", kUser, kUrlPassword, by_name(all.authority(row.place))));
  const auto listed = backend.list_versions(source.value(), "", context);
  all.server().clear_rules();
  const std::string got(listed ? "fine" : to_string(listed.error().code));
  const std::string text = listed ? std::string() : everything_said(listed.error());
  BOOST_TEST(got == to_string(row.code), got << ": " << text);
  BOOST_TEST(canaries_in(text) == "", text);
  BOOST_TEST(canaries_in(notebook.text()) == "", notebook.text());
  const auto command_lines = all.command_lines();
  BOOST_TEST((!command_lines.empty() || !row.behaviour), "hg was not seen");
  for (const std::string& line : command_lines) {
    BOOST_TEST(canaries_in(line) == "", line);
  }
  all.watch_processes(false);
  std::cout << fmt::format("fault: hg listing / {}: {}\n", row.name, got);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hg_faults, *boost::unit_test::fixture<WorldOfSuite>())

BOOST_AUTO_TEST_CASE(of_listing, *needs(kWorldPrograms) * needs("hg, python3")) {
  const Row rows[] = {
      {"refused", Code::unreachable, {}, Place::refused},
      {"TLS of an unknown authority", Code::unreachable, {}, Place::unknown_authority},
      {"TLS expired", Code::unreachable, {}, Place::expired},
      {"TLS of another host", Code::unreachable, {}, Place::wrong_host},
      {"no answer", Code::unreachable, faults::no_answer()},
      {"401", Code::auth_required, faults::answer({.status = 401, .headers = {{"WWW-Authenticate", "Basic"}}})},
      {"403", Code::forbidden, faults::status(403)},
      {"404", Code::not_found, faults::status(404)},
      {"429", Code::rate_limited, faults::rate_limited("7")},
      {"503 forever", Code::unreachable, faults::status(503)},
      {"redirect loop", Code::bad_response, faults::redirect_loop()},
      {"no repository", Code::not_found, faults::answer({.body = "{}"})},
  };
  {
    const auto backend = make_external_backend({.scheme = "hg", .command = {"python3", MODLOCK_HG_BACKEND}});
    for (const HgRow& row : rows) {
      BOOST_TEST_CONTEXT(row.name) {
        run_row(row, *backend);
      }
    }
  }
  BOOST_TEST(files_below(world()->temporary()) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
