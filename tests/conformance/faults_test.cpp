// Every fault of one table, over every request of every backend: its outcome, how often it was tried, that nothing
// half-written stays, and that no secret comes to light.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <iostream>
#include <memory>

#include "tests/conformance/canaries.h"
#include "tests/conformance/fault_rows.h"
#include "tests/conformance/world_of_suite.h"
#include "tests/support/faults.h"

namespace modlock::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSilence{25};
constexpr milliseconds kWhole{80};
constexpr milliseconds kDeadlineOfProgram{300};
// Less than any real limit, of which the smallest is the ten seconds of a connection.
constexpr milliseconds kBound{8'000};

// Whether this is the request of the column: git asks without credentials first, and for a listing before it fetches.
bool is_of(Ask ask, const ReceivedRequest& request) {
  const bool has_credentials = !request.header("Authorization").empty();
  return ask == Ask::git_program_listing ? has_credentials && request.method == "GET"
         : ask == Ask::git_fetch         ? request.method == "POST"
         : ask == Ask::git_program_fetch ? has_credentials && request.body.find("command=fetch") != std::string::npos
                                         : true;
}

using Count = std::shared_ptr<std::atomic<std::size_t>>;

// The behaviour for so many requests of the column, which are counted, and a good one for all others.
Behaviour limited_to(Ask ask, std::size_t times, const Count& count, Behaviour behaviour) {
  return [=](ServerStream& stream, const ReceivedRequest& request, const std::function<ServerAnswer()>& good) {
    if (!is_of(ask, request) || (*count)++ >= times) {
      return stream.write(wire_text(good()));
    }
    return behaviour(stream, request, good);
  };
}

int expected_count(Tries tries, const Column& column) {
  return tries == Tries::once                                ? 1
         : tries == Tries::twice || tries == Tries::versions ? 2
         : tries == Tries::all                               ? column.attempts
                                                             : column.redirects + 1;
}

// All that a server was sent behind its first `known` requests.
std::string received_by(const FaultServer& server, std::size_t known) {
  const auto log = server.log();
  std::string text;
  for (std::size_t i = known; i < log.size(); ++i) {
    text += log[i].method + " " + log[i].target + "\n" + log[i].body + "\n";
    for (const HttpHeader& header : log[i].headers) {
      text += header.name + ": " + header.value + "\n";
    }
  }
  return text;
}

// What is unfinished below v2/tmp. The work directory of an open store may be there, empty.
std::size_t entries_in_work_directories(const std::filesystem::path& parent) {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator work(parent, error), end; !error && work != end; work.increment(error)) {
    count += std::filesystem::is_empty(work->path()) ? 0U : 1U;
  }
  return count;
}

class CellOfTable {
 public:
  CellOfTable(const FaultRow& row, const Column& column)
      : row_(row),
        column_(column),
        directory_(world()->new_directory()),
        caller_(*world(), column.ask, row.place, directory_) {}

  void run() {
    const auto known = caller_.get_acquainted();
    BOOST_TEST(known.has_value(), (known ? std::string() : known.error().message));
    prepare();
    const auto start = std::chrono::steady_clock::now();
    const auto result = caller_.act();
    const auto took = std::chrono::steady_clock::now() - start;
    world()->server().clear_rules();
    check_outcome(result);
    BOOST_TEST((took < kBound), "it took " << took / milliseconds(1) << " ms");
    check_secrets(result);
    check_leftovers(result);
    print(result);
  }

 private:
  void prepare() {
    World& all = *world();
    caller_.wire.prefix = all.base(row_.place) + column_.path;
    if (row_.behaviour) {
      Behaviour behaviour = limited_to(column_.ask, row_.times, arrived_, row_.behaviour(all, column_));
      all.server().add({.behaviour = all.watched(std::move(behaviour)), .path = column_.path});
    } else if (caller_.needs_redirect()) {
      all.server().add({.behaviour = faults::redirect(all.base(row_.place) + column_.path), .path = column_.path});
    }
    if (pace() == Pace::silent) {
      caller_.wire.silence = kSilence;
    } else if (pace() == Pace::slow) {
      caller_.wire.whole = kWhole;
    }
    if (pace() != Pace::swift && column_.by_program()) {
      caller_.context.deadline = std::chrono::steady_clock::now() + kDeadlineOfProgram;
    }
    all.watch_processes(column_.by_program());
    seen_elsewhere_ = all.elsewhere().log().size();
    seen_plain_ = all.plain().log().size();
  }

  const Outcome& expected() const {
    const auto other = row_.otherwise.find(column_.ask);
    return other == row_.otherwise.end() ? row_.outcome : other->second;
  }

  Pace pace() const { return expected().pace.value_or(row_.pace); }

  // What our own client sent; of a program what arrived, or where nothing can arrive, how often the program was asked.
  int count() const {
    return !column_.by_program() ? caller_.wire.sent
           : row_.behaviour      ? static_cast<int>(arrived_->load())
                                 : static_cast<int>(caller_.stats.requests.load());
  }

  void check_outcome(const Result<void>& result) {
    const Outcome& outcome = expected();
    BOOST_TEST(said(result) == wanted(),
               said(result) << " instead of " << wanted() << (result ? "" : ": " + everything_said(result.error())));
    const int tries = expected_count(outcome.tries, column_);
    // A deadline may pass before a slow machine has started a program.
    BOOST_TEST((count() == tries || (count() == 0 && column_.by_program() && pace() != Pace::swift)),
               count() << " requests instead of " << tries);
    const bool waited = !column_.by_program() && outcome.tries != Tries::redirects && outcome.tries != Tries::versions;
    BOOST_TEST(caller_.wire.waits.size() == (waited ? static_cast<std::size_t>(tries - 1) : 0U));
    for (const milliseconds wait : caller_.wire.waits) {
      BOOST_TEST((wait >= row_.retry_after.value_or(std::chrono::seconds(0)) && wait <= std::chrono::seconds(8)),
                 "waited " << wait.count() << " ms");
    }
    // git does not say for how long.
    if (row_.retry_after && !result && column_.means != Means::git_program) {
      BOOST_TEST((result.error().retry_after == milliseconds(*row_.retry_after)));
    }
  }

  void check_secrets(const Result<void>& result) {
    if (!result) {
      BOOST_TEST(canaries_in(everything_said(result.error())) == "", everything_said(result.error()));
    }
    BOOST_TEST(canaries_in(caller_.notebook.text()) == "", caller_.notebook.text());
    BOOST_TEST(canaries_below(directory_) == "");
    const std::string elsewhere = received_by(world()->elsewhere(), seen_elsewhere_);
    BOOST_TEST(canaries_in(elsewhere) == "", elsewhere);
    const std::string plain = received_by(world()->plain(), seen_plain_);
    BOOST_TEST(canaries_in(plain) == "", plain);
    BOOST_TEST((result || plain.empty()), "it was asked without TLS: " << plain);
    const auto command_lines = world()->command_lines();
    BOOST_TEST((!command_lines.empty() || !column_.by_program() || !row_.behaviour || pace() != Pace::swift),
               "no program was seen");
    for (const std::string& line : command_lines) {
      BOOST_TEST(canaries_in(line) == "", line);
    }
    world()->watch_processes(false);
  }

  // What failed leaves nothing that anybody could take for a package, and does not stand in the way of another attempt.
  void check_leftovers(const Result<void>& result) {
    BOOST_TEST(files_below(world()->temporary()) == "");
    const std::filesystem::path store = directory_ / "v2";
    BOOST_TEST(entries_in_work_directories(store / "tmp") == 0U);
    if (result) {
      return;
    }
    const std::string left = std::filesystem::exists(store) ? files_below(store) : std::string();
    for (const char* part : {"packages/", "identities/", "responses/"}) {
      BOOST_TEST(left.find(part) == std::string::npos, left);
    }
    const auto healed = Caller(*world(), column_.ask, Place::origin, directory_).act();
    BOOST_TEST(healed.has_value(), (healed ? std::string() : healed.error().message));
    // What git left of a broken pack goes with the next attempt.
    BOOST_TEST((!std::filesystem::exists(store) || files_below(store).find("tmp_") == std::string::npos));
  }

  static std::string said(const Result<void>& result) {
    return result ? "fine" : std::string(to_string(result.error().code));
  }

  std::string wanted() const { return expected().code ? std::string(to_string(*expected().code)) : "fine"; }

  void print(const Result<void>& result) const {
    const std::string outcome = said(result) == wanted() ? wanted() : said(result) + " instead of " + wanted();
    std::cout << fmt::format("fault: {} / {}: {} after {} {}\n", column_.name, row_.name, outcome, count(),
                             count() == 1 ? "request" : "requests");
  }

  const FaultRow& row_;
  const Column& column_;
  const std::filesystem::path directory_;
  Caller caller_;
  const Count arrived_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::size_t seen_elsewhere_ = 0;
  std::size_t seen_plain_ = 0;
};

void run_column(Ask ask) {
  const Column& of_table = column(ask);
  for (const FaultRow& row : fault_rows()) {
    BOOST_TEST_CONTEXT(of_table.name << " / " << row.name) {
      if (const auto reason = row.not_for.find(ask); reason != row.not_for.end()) {
        std::cout << fmt::format("fault: {} / {}: does not apply ({})\n", of_table.name, row.name, reason->second);
      } else {
        CellOfTable(row, of_table).run();
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(faults, *boost::unit_test::fixture<WorldOfSuite>())

BOOST_AUTO_TEST_CASE(of_registry_discovery, *needs(kWorldPrograms)) {
  run_column(Ask::registry_discovery);
}

BOOST_AUTO_TEST_CASE(of_registry_versions, *needs(kWorldPrograms)) {
  run_column(Ask::registry_versions);
}

BOOST_AUTO_TEST_CASE(of_registry_location, *needs(kWorldPrograms)) {
  run_column(Ask::registry_location);
}

BOOST_AUTO_TEST_CASE(of_registry_package, *needs(kWorldPrograms)) {
  run_column(Ask::registry_package);
}

BOOST_AUTO_TEST_CASE(of_oci_token, *needs(kWorldPrograms)) {
  run_column(Ask::oci_token);
}

BOOST_AUTO_TEST_CASE(of_oci_tags, *needs(kWorldPrograms)) {
  run_column(Ask::oci_tags);
}

BOOST_AUTO_TEST_CASE(of_oci_manifest, *needs(kWorldPrograms)) {
  run_column(Ask::oci_manifest);
}

BOOST_AUTO_TEST_CASE(of_oci_blob, *needs(kWorldPrograms)) {
  run_column(Ask::oci_blob);
}

BOOST_AUTO_TEST_CASE(of_archive_location, *needs(kWorldPrograms)) {
  run_column(Ask::archive_location);
}

BOOST_AUTO_TEST_CASE(of_archive_package, *needs(kWorldPrograms)) {
  run_column(Ask::archive_package);
}

BOOST_AUTO_TEST_CASE(of_git_listing, *needs(kWorldPrograms)) {
  run_column(Ask::git_listing);
}

BOOST_AUTO_TEST_CASE(of_git_fetch, *needs(kWorldPrograms)) {
  run_column(Ask::git_fetch);
}

BOOST_AUTO_TEST_CASE(of_git_program_listing, *needs(kWorldPrograms)) {
  run_column(Ask::git_program_listing);
}

BOOST_AUTO_TEST_CASE(of_git_program_fetch, *needs(kWorldPrograms)) {
  run_column(Ask::git_program_fetch);
}

BOOST_AUTO_TEST_CASE(of_external_listing, *needs(kWorldPrograms)) {
  run_column(Ask::external_listing);
}

BOOST_AUTO_TEST_CASE(of_external_fetch, *needs(kWorldPrograms)) {
  run_column(Ask::external_fetch);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
