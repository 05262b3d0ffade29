#include "plugin/install/verdict.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_CASE(verdict_names_and_exit_codes) {
  struct Row {
    VerdictKind kind;
    const char* name;
    int exit_code;
  };
  const Row rows[] = {
      {VerdictKind::held, "held", 0},
      {VerdictKind::update_available, "update-available", 0},
      {VerdictKind::not_locked, "not-locked", 3},
      {VerdictKind::missing, "missing", 3},
      {VerdictKind::stale, "stale", 3},
      {VerdictKind::vanished, "vanished", 5},
      {VerdictKind::moved, "moved", 4},
      {VerdictKind::tampered, "tampered", 4},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(to_string(row.kind) == row.name);
      BOOST_TEST(exit_code(row.kind) == row.exit_code);
    }
  }
}

BOOST_AUTO_TEST_CASE(verdict_of_several_is_the_worst) {
  struct Row {
    const char* name;
    Verdict left;
    Verdict right;
    const char* expected;
  };
  const Row rows[] = {
      {"held and newer",
       {.kind = VerdictKind::held},
       {.kind = VerdictKind::update_available, .detail = "2 is there"},
       "update-available: 2 is there"},
      {"held with differences, and newer",
       {.kind = VerdictKind::held, .detail = "1 file differs"},
       {.kind = VerdictKind::update_available, .detail = "2 is there"},
       "update-available: 2 is there; 1 file differs"},
      {"missing and gone",
       {.kind = VerdictKind::missing, .detail = "not installed"},
       {.kind = VerdictKind::vanished, .detail = "gone"},
       "vanished: gone; missing: not installed"},
      {"stale and missing",
       {.kind = VerdictKind::stale, .detail = "1 is installed, 2 is locked"},
       {.kind = VerdictKind::missing, .detail = "not installed"},
       "stale: 1 is installed, 2 is locked; missing: not installed"},
      {"stale and gone",
       {.kind = VerdictKind::stale, .detail = "1 is installed, 2 is locked"},
       {.kind = VerdictKind::vanished, .detail = "gone"},
       "vanished: gone; stale: 1 is installed, 2 is locked"},
      {"tampered and moved",
       {.kind = VerdictKind::tampered, .detail = "1 file differs"},
       {.kind = VerdictKind::moved, .detail = "other"},
       "tampered: 1 file differs; moved: other"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Verdict merged = merge(row.left, row.right);
      BOOST_TEST(std::string(to_string(merged.kind)) + ": " + merged.detail == row.expected);
      const Verdict other_way = merge(row.right, row.left);
      BOOST_TEST(other_way.detail == merged.detail);
    }
  }
}
