#include "backends/store/first_seen.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "backends/base/digest.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using modlock::test::read_text;
using modlock::test::TemporaryDirectory;
using modlock::test::write_text;

namespace {

using std::chrono::hours;
using Time = FirstSeen::Time;

const Time kMonday = Time(std::chrono::seconds(1'800'000'000));  // 2027-01-15T08:00:00Z

struct Seen {
  Source source = parse_source("git::https://user:secret@example.com/vpc.git//sub?ref=v1").value().source;
  TemporaryDirectory directory;
  Store store = Store::open(directory.path() / "cache").value();
  FirstSeen seen{store};

  std::filesystem::path file() const {
    return directory / ("cache/v2/seen/" + sha256_hex("git::https://example.com/vpc.git"));
  }
  std::string text() const { return read_text(file()); }
  // Hours after Monday at which each was first seen.
  std::vector<int> note(std::vector<Observation> sightings, hours at) const {
    std::vector<int> out;
    for (const Time time : seen.note(source.package_identity(), sightings, kMonday + at, Context{})) {
      out.push_back(static_cast<int>(std::chrono::duration_cast<hours>(time - kMonday).count()));
    }
    return out;
  }
};

const Observation kA{"refs/tags/v1", "a"};
const Observation kB{"refs/tags/v2", "b"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(first_seen, Seen)

BOOST_AUTO_TEST_CASE(thing_keeps_the_time_at_which_it_was_first_seen) {
  BOOST_TEST(note({kA}, hours(0)) == (std::vector{0}), boost::test_tools::per_element());
  BOOST_TEST(note({kB, kA}, hours(5)) == (std::vector{5, 0}), boost::test_tools::per_element());
  BOOST_TEST(note({kA, kB}, hours(9)) == (std::vector{0, 5}), boost::test_tools::per_element());
  BOOST_TEST(text() == "1800000000 a refs/tags/v1\n1800018000 b refs/tags/v2\n");
}

BOOST_AUTO_TEST_CASE(what_is_known_is_not_written_again) {
  note({kA}, hours(0));
  const auto written = std::filesystem::last_write_time(file());
  std::filesystem::last_write_time(file(), written - hours(1));
  note({kA}, hours(5));
  BOOST_TEST((std::filesystem::last_write_time(file()) == written - hours(1)));
}

BOOST_AUTO_TEST_CASE(processes_that_note_at_once_lose_nothing) {
  constexpr int kProcesses = 6;
  constexpr int kEach = 20;
  std::vector<pid_t> children;
  for (int child = 0; child < kProcesses; ++child) {
    children.push_back(::fork());
    if (children.back() == 0) {
      for (int i = 0; i < kEach; ++i) {
        note({{"refs/tags/" + std::to_string(child) + "." + std::to_string(i), "a"}}, hours(0));
      }
      ::_exit(0);
    }
  }
  for (const pid_t child : children) {
    int status = -1;
    BOOST_TEST(::waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
  }
  const std::string all = text();
  BOOST_TEST(std::count(all.begin(), all.end(), '\n') == kProcesses * kEach);
}

BOOST_AUTO_TEST_CASE(moved_tag_is_a_new_sighting) {
  note({kA}, hours(0));
  BOOST_TEST(note({{"refs/tags/v1", "c"}}, hours(5)) == (std::vector{5}), boost::test_tools::per_element());
  BOOST_TEST(note({kA}, hours(6)) == (std::vector{0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(wrong_clocks_make_nothing_old) {
  struct Row {
    const char* name;
    std::vector<std::pair<Observation, hours>> noted;
    Observation asked;
    hours at;
    int expected;  // hours after Monday
  };
  const hours year{24 * 365};
  const Row rows[] = {
      {"set back a little: what is known lies in the future", {{kA, hours(0)}}, kA, hours(-48), 0},
      {"set back a little: what is new lies there too", {{kA, hours(0)}}, kB, hours(-48), 0},
      {"set back and right again", {{kA, hours(0)}, {kB, hours(-48)}}, kB, hours(10), 0},
      {"it was a year ahead: noted anew", {{kA, year}}, kA, hours(1), 1},
      {"it was a year ahead: new things are of now", {{kA, year}}, kB, hours(1), 1},
      {"noted anew once, not again and again", {{kA, year}, {kA, hours(1)}}, kA, hours(7), 1},
      {"at the limit", {{kA, FirstSeen::kLongestSetback}}, kA, hours(0), 24 * 30},
      {"beyond it", {{kA, FirstSeen::kLongestSetback + hours(1)}}, kA, hours(0), 0},
      {"of the epoch: nothing is noted", {{kA, -10 * year}}, kA, hours(3), 3},
      {"of the epoch: nothing is lost", {{kA, hours(0)}, {kB, -10 * year}}, kA, hours(3), 0},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Seen fresh;
      for (const auto& [sighting, at] : row.noted) {
        fresh.note({sighting}, at);
      }
      BOOST_TEST(fresh.note({row.asked}, row.at) == (std::vector{row.expected}), boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(damaged_file_makes_nothing_old) {
  struct Row {
    const char* name;
    std::string text;
    int expected;
  };
  const Row rows[] = {
      {"cut off", "1800000000 a refs/tags/v", 5},
      {"cut off in a later line", "1800000000 a refs/tags/v1\n18000", 0},
      {"no number", "x a refs/tags/v1\n", 5},
      {"before the epoch", "-5 a refs/tags/v1\n", 5},
      {"a number too large", "99999999999999999999 a refs/tags/v1\n", 5},
      {"the end of time", "9223372036854775807 a refs/tags/v1\n", 5},
      {"no space", "1800000000\ta refs/tags/v1\n", 5},
      {"nothing", "", 5},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(file(), row.text);
      BOOST_TEST(note({kA}, hours(5)) == (std::vector{row.expected}), boost::test_tools::per_element());
      BOOST_TEST(note({kA}, hours(8)) == (std::vector{row.expected}), boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(store_that_cannot_be_written_is_no_error) {
  write_text(directory / "cache/v2", "");
  BOOST_TEST(note({kA}, hours(0)) == (std::vector{0}), boost::test_tools::per_element());
  BOOST_TEST(note({kA}, hours(5)) == (std::vector{5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(name_of_two_lines_is_never_noted) {
  BOOST_TEST(note({{"v1\n5 b refs/tags/v2", "a"}}, hours(0)) == (std::vector{0}), boost::test_tools::per_element());
  BOOST_TEST(!std::filesystem::exists(file()));
}

BOOST_AUTO_TEST_CASE(found_by_name_and_by_id) {
  note({kA}, hours(0));
  note({{"refs/heads/main", "a"}, {"1.2.0", ""}}, hours(5));
  BOOST_TEST((seen.find(source, "refs/tags/v1", "a") == kMonday));
  BOOST_TEST((seen.find(source, "refs/heads/main", "a") == kMonday + hours(5)));
  BOOST_TEST((seen.find(source, "", "a") == kMonday));
  BOOST_TEST((seen.find(source, "1.2.0", "") == kMonday + hours(5)));
  BOOST_TEST(!seen.find(source, "refs/tags/v1", "b"));
  BOOST_TEST(!seen.find(source, "", ""));
  BOOST_TEST(time_text(kMonday) == "2027-01-15T08:00:00Z");
}

BOOST_AUTO_TEST_SUITE_END()
