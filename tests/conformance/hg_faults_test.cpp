// Faults as scripts/hg-backend meets them: what a program of somebody else's makes of them, and what it is taken for.

#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <iostream>

#include "backends/external/external_backend.h"
#include "tests/conformance/canaries.h"
#include "tests/conformance/fault_rows.h"
#include "tests/conformance/world_of_suite.h"
#include "tests/support/faults.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

// hg takes no certificate for an address.
std::string by_name(const std::string& authority) {
  return "localhost" + authority.substr(authority.find(':'));
}

void run_row(const FaultRow& row, BackendCore& backend) {
  Notebook notebook;
  Context context;
  context.log = &notebook;
  World& all = *world();
  if (row.behaviour) {
    all.server().add({.behaviour = all.watched(row.behaviour(all, column(Ask::external_listing))), .path = "/hg/"});
  }
  all.watch_processes(true);
  const auto source =
      parse_source(fmt::format("hg::https://{}:{}@{}/hg/vpc", kUser, kUrlPassword, by_name(all.authority(row.place))));
  const auto listed = backend.list_versions(source.value(), "", context);
  all.server().clear_rules();
  const std::string got(listed ? "fine" : to_string(listed.error().code));
  const std::string text = listed ? std::string() : everything_said(listed.error());
  BOOST_TEST(got == to_string(row.outcome.code.value()), got << ": " << text);
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
  const auto always = [](Behaviour behaviour) { return [=](World&, const Column&) { return behaviour; }; };
  std::vector<FaultRow> rows = {
      {.name = "no answer", .outcome = {Code::unreachable}, .behaviour = always(faults::no_answer())},
      {.name = "no repository", .outcome = {Code::not_found}, .behaviour = always(faults::answer({.body = "{}"}))},
  };
  for (const char* name : {"refused", "TLS of an unknown authority", "TLS expired", "TLS of another host", "401", "403",
                           "404", "429 with Retry-After of 7 s", "503 forever", "redirect loop"}) {
    const auto row = std::find_if(fault_rows().begin(), fault_rows().end(),
                                  [&](const FaultRow& of_table) { return of_table.name == std::string_view(name); });
    BOOST_REQUIRE((row != fault_rows().end()));
    rows.push_back(*row);
  }
  {
    const auto backend = make_external_backend({.scheme = "hg", .command = {"python3", MODLOCK_HG_BACKEND}});
    for (const FaultRow& row : rows) {
      BOOST_TEST_CONTEXT(row.name) {
        run_row(row, *backend);
      }
    }
  }
  BOOST_TEST(files_below(world()->temporary()) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
