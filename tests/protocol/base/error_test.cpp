#include "protocol/base/error.h"

#include <boost/test/unit_test.hpp>

#include "protocol/base/result.h"

namespace modlock {
namespace {

BOOST_AUTO_TEST_SUITE(error_test)

BOOST_AUTO_TEST_CASE(codes_have_their_names_exit_codes_and_retry_advice) {
  struct Row {
    Code code;
    const char* name;
    int exit_code;
    bool retryable;
  };
  const Row rows[] = {
      {Code::parse_error, "PARSE_ERROR", 2, false},
      {Code::internal, "INTERNAL", 1, false},
      {Code::io_error, "IO_ERROR", 1, false},
      {Code::server_busy, "SERVER_BUSY", 1, true},
      {Code::invalid_params, "INVALID_PARAMS", 2, false},
      {Code::tool_missing, "TOOL_MISSING", 2, false},
      {Code::frozen, "FROZEN", 3, false},
      {Code::content_modified, "CONTENT_MODIFIED", 3, true},
      {Code::hash_mismatch, "HASH_MISMATCH", 4, false},
      {Code::signature_invalid, "SIGNATURE_INVALID", 4, false},
      {Code::archive_unsafe, "ARCHIVE_UNSAFE", 4, false},
      {Code::release_denied, "RELEASE_DENIED", 4, false},
      {Code::vanished, "VANISHED", 5, false},
      {Code::no_matching_version, "NO_MATCHING_VERSION", 6, false},
      {Code::version_ambiguous, "VERSION_AMBIGUOUS", 6, false},
      {Code::constraint_conflict, "CONSTRAINT_CONFLICT", 6, false},
      {Code::not_found, "NOT_FOUND", 7, false},
      {Code::auth_required, "AUTH_REQUIRED", 7, false},
      {Code::rate_limited, "RATE_LIMITED", 7, true},
      {Code::unreachable, "UNREACHABLE", 7, true},
      {Code::deadline_exceeded, "DEADLINE_EXCEEDED", 7, true},
      {Code::lock_parse, "LOCK_PARSE", 8, false},
      {Code::path_outside_root, "PATH_OUTSIDE_ROOT", 8, false},
      {Code::limit_exceeded, "LIMIT_EXCEEDED", 8, false},
      {Code::lock_unenforced, "LOCK_UNENFORCED", 0, false},
      {Code::lock_incomplete, "LOCK_INCOMPLETE", 0, false},
      {Code::provider_ambiguous, "PROVIDER_AMBIGUOUS", 0, false},
      {Code::registry_notice, "REGISTRY_NOTICE", 0, false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(to_string(row.code) == row.name);
      BOOST_TEST(exit_code(row.code) == row.exit_code);
      BOOST_TEST(is_retryable(row.code) == row.retryable);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_locked_thing_that_is_gone_exits_as_vanished) {
  Error error{.code = Code::not_found, .message = "m"};
  BOOST_TEST(exit_code(error) == 7);
  error.reason = Reason::locked_thing_gone;
  BOOST_TEST(exit_code(error) == 5);
}

BOOST_AUTO_TEST_CASE(the_worse_exit_code_follows_the_published_order) {
  const int order[] = {4, 5, 8, 6, 2, 7, 3, 1, 0};
  for (std::size_t i = 0; i < std::size(order); ++i) {
    for (std::size_t j = i; j < std::size(order); ++j) {
      BOOST_TEST(worse_exit_code(order[i], order[j]) == order[i]);
      BOOST_TEST(worse_exit_code(order[j], order[i]) == order[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(locations_print_with_line_and_column_where_known) {
  BOOST_TEST(to_string(Location{"main.tf", {}}) == "main.tf");
  const Range range{.start = {.line = 3, .column = 12, .byte = 40}, .end = {.line = 3, .column = 13, .byte = 41}};
  BOOST_TEST(to_string(Location{.path = "main.tf", .range = range}) == "main.tf:3:12");
}

BOOST_AUTO_TEST_CASE(notes_pile_up_innermost_first) {
  const Error error = with_note(with_note({.code = Code::internal, .message = "m"}, "inner"), "outer");
  BOOST_TEST(error.notes == (std::vector<std::string>{"inner", "outer"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(fail_carries_code_message_and_hint) {
  const Result<int> result = fail(Code::io_error, "cannot read a", "make it readable");
  BOOST_REQUIRE(!result);
  BOOST_TEST(to_string(result.error().code) == "IO_ERROR");
  BOOST_TEST(result.error().message == "cannot read a");
  BOOST_TEST(result.error().hint == "make it readable");
}

BOOST_AUTO_TEST_CASE(only_errors_among_diagnostics_count) {
  BOOST_TEST(!has_errors({}));
  BOOST_TEST(!has_errors({{Severity::warning, {}}, {Severity::info, {}}}));
  BOOST_TEST(has_errors({{Severity::warning, {}}, {Severity::error, {}}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
