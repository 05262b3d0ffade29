#include <boost/algorithm/string/replace.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/backends/external/external_fixture.h"
#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kSource = "\"fake::https://example.com/mod\"";
const std::string kListing = std::string("list the tags of ") + kSource;

// The text of a row for a program of another scheme, whose ids may have another form.
std::string of_scheme(std::string text, const std::string& scheme) {
  if (scheme == "registry") {
    boost::algorithm::replace_all(text, kListing, "list the versions of \"example.com/modules/acme/vpc/aws\"");
  }
  boost::algorithm::replace_all(text, "fake", scheme);
  boost::algorithm::replace_all(text, scheme + " program", "fake program");
  if (scheme == "git") {
    boost::algorithm::replace_all(text,
                                  R"(1 to 200 letters, digits, ".", "_", ":" and "-", the first a letter or digit)",
                                  "a commit, 40 lower-case hexadecimal digits,");
  }
  return text;
}

// Waits until the program has written a file; the time limit only keeps a failing test from hanging.
void wait_for(const fs::path& path) {
  const auto limit = std::chrono::steady_clock::now() + 20s;
  while (!fs::exists(path) && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
}

BOOST_AUTO_TEST_SUITE(external_fault_test, *needs("python3"))

BOOST_AUTO_TEST_CASE(what_goes_wrong_while_listing) {
  struct Row {
    const char* name;  // the behaviour of the program
    const char* code;
    const char* what;  // behind "could not list …: "
    std::size_t starts;
  };
  const Row rows[] = {
      {"crash at start", "UNREACHABLE", "it ended twice without an answer (exit code 3); its last words were \"boom\"",
       2},
      {"crash always", "UNREACHABLE", "it ended twice without an answer (exit code 4)", 2},
      {"crash with words", "UNREACHABLE",
       "it ended twice without an answer (exit code 1); its last words were \"Traceback: b\\x07oom at "
       "https://…@host/x…\"",
       2},
      {"crash by a signal", "UNREACHABLE", "it ended twice without an answer (exit code 137)", 2},
      {"crash inside an answer", "UNREACHABLE", "it ended twice without an answer (exit code 6)", 2},
      {"crash with a grandchild", "UNREACHABLE", "it ended twice without an answer (exit code 5)", 2},
      {"closes stdout", "UNREACHABLE", "it ended twice without an answer (it closed its stdout)", 2},
      {"closes stdin", "UNREACHABLE", "it ended twice without an answer (it closed its stdin)", 2},
      {"garbage", "BAD_RESPONSE",
       "it wrote a line that is no answer (the text is not JSON: byte 0: expected a value, found 'l')", 1},
      {"bad JSON-RPC", "BAD_RESPONSE",
       "it wrote a line that is no answer (no object with the member \"jsonrpc\": \"2.0\")", 1},
      {"long line", "BAD_RESPONSE", "it wrote a line of more than 8388608 bytes", 1},
      {"endless line", "BAD_RESPONSE", "it wrote a line of more than 8388608 bytes", 1},
      {"flood", "BAD_RESPONSE", "it wrote a line of more than 8388608 bytes", 1},
      {"no id", "BAD_RESPONSE", "it wrote an answer without the id of a request", 1},
      {"other id", "BAD_RESPONSE", "it answered the id 8, which no open request has", 1},
      {"description again", "BAD_RESPONSE", "it answered the id 0, which no open request has", 1},
      {"wrong shape", "BAD_RESPONSE",
       "its answer cannot be used: expected a string at result.versions[0].id, found a number", 1},
      {"no object", "BAD_RESPONSE", "its answer cannot be used: expected an object at result, found an array", 1},
      {"null result", "BAD_RESPONSE", "its answer cannot be used: expected an array of objects at result.versions", 1},
      {"no versions", "BAD_RESPONSE", "its answer cannot be used: expected an array of objects at result.versions", 1},
      {"no complete", "BAD_RESPONSE", "its answer cannot be used: expected true or false at result.complete", 1},
      {"bad id", "BAD_RESPONSE",
       "its answer cannot be used: expected 1 to 200 letters, digits, \".\", \"_\", \":\" and \"-\", the first a "
       "letter "
       "or digit at result.versions[0].id",
       1},
      {"error", "NOT_FOUND", "no such thing", 1},
      {"error to wait for", "RATE_LIMITED", "no such thing", 1},
      {"describes others", "BAD_RESPONSE", "it serves \"s3\", \"gcs\", not \"fake\"", 1},
      {"describes none", "BAD_RESPONSE", "it serves nothing, not \"fake\"", 1},
      {"describes badly", "BAD_RESPONSE",
       "its description cannot be used: expected an array of strings at result.schemes, found a string", 1},
      {"describes with an error", "TOOL_MISSING", "hg is not installed", 1},
  };
  for (const char* scheme : {"fake", "git", "registry"}) {
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(scheme << ": " << row.name) {
        const ExternalFixture fixture(scheme);
        BOOST_TEST(fixture.list(row.name) ==
                   of_scheme(std::string(row.code) + ": " + ExternalFixture().could_not(kListing) + row.what, scheme));
        BOOST_TEST(fixture.starts() == row.starts);
        BOOST_TEST(fixture.all_gone());
      }
    }
  }
}

// A program for a host of git.
BOOST_AUTO_TEST_CASE(lies_about_commits) {
  const ExternalFixture ids("git");
  const std::string kMain = ids.id_of("main");
  const std::string kOther = ids.id_of("other");
  const std::string cannot_use =
      "BAD_RESPONSE: " + ids.could_not("fetch the ref \"main\" of \"git::https://example.com/mod\"") +
      "its answer cannot be used: ";
  const std::string no_commit = cannot_use + "expected a commit, 40 lower-case hexadecimal digits, at result.id";
  const std::string no_name =
      cannot_use + R"(expected "HEAD" or a name that starts with "refs/heads/" or "refs/tags/" at result.ref)";
  struct Row {
    const char* name;
    std::string id;
    std::string ref;
    std::string outcome;
  };
  const Row rows[] = {
      {"full names", "", "main", "ok"},
      {"bad fetched id", "", "main", no_commit},
      {"commit in capitals", "", "main", no_commit},
      {"abbreviated commit", "", "main", no_commit},
      {"name of a pull request", "", "main", no_name},
      {"name with a line end", "", "main", no_name},
      {"no date", "", "main", cannot_use + "expected a time such as \"2026-11-28T20:05:09Z\" at result.date"},
      {"other tree", kMain, "refs/heads/main",
       "HASH_MISMATCH: the backend \"git\" (\"" + python() + "\") fetched \"" + kOther +
           "\" of \"git::https://example.com/mod\" where \"" + kMain + "\" was asked for"},
      {"other tree", "", kMain,
       "HASH_MISMATCH: the backend \"git\" (\"" + python() + "\") fetched \"" + kOther +
           "\" of \"git::https://example.com/mod\" where \"" + kMain + "\" was asked for"},
      {"no directory", kMain, "",
       "BAD_RESPONSE: the backend \"git\" (\"" + python() + "\") fetched the id \"" + kMain +
           "\" of \"git::https://example.com/mod\" and left no directory"},
      {"normal", "v1.0.0", "",
       "SOURCE_INVALID: the id \"v1.0.0\" of \"git::https://example.com/mod\" cannot be one that the backend \"git\" "
       "gave"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name << " " << row.id << " " << row.ref) {
      const ExternalFixture fixture("git");
      const std::vector<FetchRequest> requests = {{.id = row.id, .ref = row.ref}};
      const auto trees =
          fixture.backend(row.name)->fetch(fixture.source(), requests, fixture.directory / "parent", fixture.context);
      BOOST_TEST_REQUIRE(outcome(trees.at(0)) == row.outcome);
      BOOST_TEST(fs::is_empty(fixture.directory / "parent") == !trees[0].has_value());
      if (trees[0]) {
        BOOST_TEST(trees[0]->id == kMain);
        BOOST_TEST(trees[0]->ref == "refs/heads/main");
        BOOST_TEST((trees[0]->claimed == read_time("2026-11-28T19:05:09Z")));
      }
    }
  }
}

// Without the full name, a tag that moved would pass as a branch.
BOOST_AUTO_TEST_CASE(only_commits_have_no_full_name) {
  const ExternalFixture ids("git");
  const std::string commit = ids.id_of("main");
  struct Row {
    std::string id;
    std::string ref;
    bool fits;
  };
  const Row rows[] = {
      {commit, "", true},
      {commit, "v1.0.0", true},
      {"", commit, true},
      {"", commit.substr(0, 7), true},
      {"", "v1.0.0-3-g" + commit.substr(0, 7), true},
      {"", "main~2", true},
      {"", "v1.0.0^{}", true},
      {"", "main@{1}", true},
      {"", "", false},
      {"", "@", false},
      {"", "HEAD", false},
      {"", "main", false},
      {"", "v1.0.0", false},
      {"", "vpc@1.0.0", false},
      {"", "refs/tags/v1.0.0", false},
      {"", "v1.0.0-3-g0000000", false},
      {"", "0000000", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.id << " " << row.ref) {
      const ExternalFixture fixture("git");
      const std::vector<FetchRequest> requests = {{.id = row.id, .ref = row.ref}};
      auto backend = fixture.backend("no full name");
      fs::create_directories(fixture.directory / "parent");
      const auto trees = backend->fetch(fixture.source(), requests, fixture.directory / "parent", fixture.context);
      const std::string shown = row.ref.empty() ? "the default version" : "the ref \"" + row.ref + "\"";
      const std::string wrong =
          "BAD_RESPONSE: " + fixture.could_not("fetch " + shown + " of \"git::https://example.com/mod\"") +
          "its answer cannot be used: expected the full name that was found, a string at result.ref";
      BOOST_TEST(outcome(trees.at(0)) == (row.fits ? "ok" : wrong));
    }
  }
  for (const auto& [query, code] : {std::pair("?ref=main", "BAD_RESPONSE"), {"?ref=main~2", "ok"}}) {
    const ExternalFixture fixture("git");
    const auto pin = fixture.backend("no full name")->pin(fixture.source(query), fixture.context);
    BOOST_TEST((pin ? "ok" : to_string(pin.error().code)) == code);
  }
}

BOOST_AUTO_TEST_CASE(what_goes_wrong_while_fetching) {
  struct Row {
    const char* name;
    std::string id;
    const char* outcome;
  };
  const std::string backend_name = "the backend \"fake\" (\"" + python() + "\") ";
  const Row rows[] = {
      {"other tree", "id-v1.0.0",
       "HASH_MISMATCH: {}fetched \"id-other\" of \"fake::https://example.com/mod\" where \"id-v1.0.0\" was asked for"},
      {"bad fetched id", "id-v1.0.0",
       "BAD_RESPONSE: {}could not fetch the id \"id-v1.0.0\" of \"fake::https://example.com/mod\": its answer cannot "
       "be "
       "used: expected 1 to 200 letters, digits, \".\", \"_\", \":\" and \"-\", the first a letter or digit at "
       "result.id"},
      {"no directory", "id-v1.0.0",
       "BAD_RESPONSE: {}fetched the id \"id-v1.0.0\" of \"fake::https://example.com/mod\" and left no directory"},
      {"link", "id-v1.0.0",
       "BAD_RESPONSE: {}fetched the id \"id-v1.0.0\" of \"fake::https://example.com/mod\" and left no directory"},
      {"normal", "--option",
       "SOURCE_INVALID: the id \"--option\" of \"fake::https://example.com/mod\" cannot be one that the backend "
       "\"fake\" "
       "gave"},
      {"error", "id-v1.0.0",
       "NOT_FOUND: {}could not fetch the id \"id-v1.0.0\" of \"fake::https://example.com/mod\": no such thing"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ExternalFixture fixture;
      const auto backend = fixture.backend(row.name);
      const std::vector<FetchRequest> requests = {{row.id, ""}};
      const auto trees = backend->fetch(fixture.source(), requests, fixture.directory / "parent", fixture.context);
      std::string expected = row.outcome;
      if (const std::size_t at = expected.find("{}"); at != std::string::npos) {
        expected.replace(at, 2, backend_name);
      }
      BOOST_REQUIRE(trees.size() == 1U);
      BOOST_TEST(outcome(trees[0]) == expected);
      BOOST_TEST(fs::is_empty(fixture.directory / "parent"));
    }
  }
}

BOOST_AUTO_TEST_CASE(errors_keep_what_helps) {
  const ExternalFixture fixture;
  const auto hint = fixture.backend("error")->list_versions(fixture.source(), "", fixture.context);
  BOOST_TEST(hint.error().hint == "look there");
  const auto wait = fixture.backend("error to wait for")->list_versions(fixture.source(), "", fixture.context);
  BOOST_TEST(wait.error().retry_after.value().count() == 1500);
  const auto words = fixture.backend("long error")->list_versions(fixture.source(), "", fixture.context);
  const std::string prefix = fixture.could_not(kListing);
  BOOST_TEST(words.error().message.substr(0, prefix.size()) == prefix);
  BOOST_TEST(words.error().message.size() == prefix.size() + 500 + std::string_view("…").size());
}

BOOST_AUTO_TEST_CASE(a_backend_has_the_limits_of_other_programs) {
  struct Row {
    const char* name;  // the behaviour of the program
    const char* what;
  };
  for (const char* scheme : {"fake", "registry"}) {
    for (const Row& row : {
             Row{"grows", "it used more than the 48 MiB of memory that a program may use here"},
             Row{"starts what grows", "it used more than the 48 MiB of memory that a program may use here"},
             Row{"writes a large file", "it wrote a file of more than the 4 MiB that a program may write here"},
         }) {
      BOOST_TEST_CONTEXT(scheme << ": " << row.name) {
        ExternalFixture fixture(scheme);
        fixture.context.children.memory = std::uint64_t{48} << 20U;
        fixture.context.children.file_size = std::uint64_t{4} << 20U;
        BOOST_TEST(fixture.list(row.name) ==
                   of_scheme("LIMIT_EXCEEDED: " + ExternalFixture().could_not(kListing) + row.what, scheme));
        BOOST_TEST(fixture.starts() == 1U);
        BOOST_TEST(fixture.all_gone());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(one_crash_is_made_good) {
  ExternalFixture fixture;
  auto backend = fixture.backend("crash once");
  BOOST_TEST(outcome(backend->list_versions(fixture.source(), "", fixture.context)) == "ok");
  BOOST_TEST(outcome(backend->list_versions(fixture.source(), "", fixture.context)) == "ok");
  BOOST_TEST(fixture.starts() == 2U);
  backend.reset();
  BOOST_TEST(fixture.all_gone());
}

BOOST_AUTO_TEST_CASE(what_ends_between_calls_is_started_again) {
  const ExternalFixture fixture;
  const auto backend = fixture.backend("crash after the answer");
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(outcome(backend->list_versions(fixture.source(), "", fixture.context)) == "ok");
  }
  BOOST_TEST(fixture.starts() >= 3U);
}

BOOST_AUTO_TEST_CASE(what_broke_the_protocol_is_started_again) {
  const ExternalFixture fixture;
  const auto backend = fixture.backend("garbage");
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST(to_string(backend->list_versions(fixture.source(), "", fixture.context).error().code) == "BAD_RESPONSE");
    BOOST_TEST(fixture.starts() == i);
  }
}

BOOST_AUTO_TEST_CASE(an_id_answered_twice_ends_the_other_calls) {
  const ExternalFixture fixture;
  const auto backend = fixture.backend("first twice");
  const std::vector<FetchRequest> requests = {{"id-a", ""}, {"id-b", ""}};
  const auto trees = backend->fetch(fixture.source(), requests, fixture.directory / "parent", fixture.context);
  BOOST_REQUIRE(trees.size() == 2U);
  BOOST_REQUIRE(trees[0].has_value() != trees[1].has_value());
  const std::size_t bad = trees[0] ? 1 : 0;
  BOOST_TEST(outcome(trees[bad]) ==
             "BAD_RESPONSE: " + fixture.could_not("fetch the id \"" + requests[bad].id + "\" of " + kSource) +
                 "it answered the id 1, which no open request has");
}

BOOST_AUTO_TEST_CASE(a_program_that_does_not_answer_is_ended) {
  for (const auto& [behaviour, scheme] :
       {std::pair("silent", "fake"), std::pair("deaf to SIGTERM", "fake"), std::pair("describes never", "fake"),
        std::pair("silent", "git"), std::pair("silent", "registry"), std::pair("describes never", "registry")}) {
    BOOST_TEST_CONTEXT(behaviour) {
      const ExternalFixture fixture(scheme);
      BOOST_TEST(fixture.list(behaviour, {.answer = 1500ms, .fetch = 1500ms}) ==
                 of_scheme("TIMEOUT: " + ExternalFixture().could_not(kListing) + "it had no answer in time", scheme));
      BOOST_TEST(fixture.starts() == 1U);
      BOOST_TEST(fixture.all_gone());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_fetch_does_not_wait_its_hour_for_a_description) {
  const ExternalFixture fixture;
  const auto backend = fixture.backend("describes never", {.answer = 1500ms, .fetch = 3600s});
  const std::vector<FetchRequest> requests = {{"id-a", ""}};
  const auto trees = backend->fetch(fixture.source(), requests, fixture.directory / "parent", fixture.context);
  BOOST_TEST(outcome(trees[0]) == "TIMEOUT: " + fixture.could_not(std::string("fetch the id \"id-a\" of ") + kSource) +
                                      "it had no answer in time");
  BOOST_TEST(fixture.all_gone());
}

BOOST_AUTO_TEST_CASE(the_deadline_of_the_request_ends_it) {
  ExternalFixture fixture;
  const auto backend = fixture.backend("silent");
  fixture.context.deadline = std::chrono::steady_clock::now() + 1500ms;
  const auto listed = backend->list_versions(fixture.source(), "", fixture.context);
  BOOST_TEST(outcome(listed) == "DEADLINE_EXCEEDED: the deadline of the request has passed");
  BOOST_TEST(listed.error().notes ==
                 std::vector<std::string>{"while the backend \"fake\" (\"" + python() + "\") was to " + kListing},
             boost::test_tools::per_element());
  BOOST_TEST(fixture.all_gone());
}

BOOST_AUTO_TEST_CASE(cancellation_ends_it_and_leaves_nothing) {
  ExternalFixture fixture;
  const auto backend = fixture.backend("silent");
  std::stop_source stop;
  fixture.context.stop = stop.get_token();
  const std::jthread canceller([&] {
    wait_for(fixture.directory / "silent");
    stop.request_stop();
  });
  const std::vector<FetchRequest> requests = {{"id-a", ""}, {"id-b", ""}};
  const auto trees = backend->fetch(fixture.source(), requests, fixture.directory / "parent", fixture.context);
  BOOST_TEST(outcome(trees[0]) == "REQUEST_CANCELLED: the request was cancelled");
  BOOST_TEST(outcome(trees[1]) == "REQUEST_CANCELLED: the request was cancelled");
  BOOST_TEST(fs::is_empty(fixture.directory / "parent"));
  BOOST_TEST(fixture.all_gone());
  // An ended context starts nothing.
  BOOST_TEST(to_string(backend->pin(fixture.source(), fixture.context).error().code) == "REQUEST_CANCELLED");
  BOOST_TEST(fixture.starts() == 1U);
}

// The program is silent to the first request only; the second call has to survive that the first is given up.
BOOST_AUTO_TEST_CASE(a_call_given_up_does_not_fail_the_others) {
  ExternalFixture fixture;
  const auto backend = fixture.backend("silent at first");
  std::stop_source stop;
  Context cancelled = fixture.context;
  cancelled.stop = stop.get_token();
  std::string first;
  {
    const std::jthread other([&] { first = outcome(backend->list_versions(fixture.source(), "", cancelled)); });
    wait_for(fixture.directory / "silent");
    const std::jthread canceller([&] {
      wait_for(fixture.directory / "silent twice");
      stop.request_stop();
    });
    BOOST_TEST(outcome(backend->list_versions(fixture.source(), "", fixture.context)) == "ok");
  }
  BOOST_TEST(first == "REQUEST_CANCELLED: the request was cancelled");
  BOOST_TEST(fixture.starts() == 2U);
}

BOOST_AUTO_TEST_CASE(programs_that_cannot_be_started) {
  const ExternalFixture fixture;
  const fs::path broken = fixture.directory / "broken";
  write_text(broken, "no program at all\n");
  fs::permissions(broken, fs::perms::owner_all);
  struct Row {
    const char* name;
    std::vector<std::string> command;
    std::string outcome;
  };
  const Row rows[] = {
      {"not on PATH",
       {"modlock-no-such-program", "secret"},
       "TOOL_MISSING: the backend \"fake\" is needed to list the tags of \"fake::https://example.com/mod\", and its "
       "program \"modlock-no-such-program\" is not there"},
      {"not there",
       {"/nonexistent/backend"},
       "TOOL_MISSING: the backend \"fake\" is needed to list the tags of \"fake::https://example.com/mod\", and its "
       "program \"/nonexistent/backend\" is not there"},
      {"no program", {broken.string()}, "IO_ERROR: cannot run \"" + broken.string() + "\": Exec format error"},
      {"relative",
       {"./backend"},
       "CONFIG_PARSE: the command of the backend \"fake\" must begin with the name or the whole path of a program, "
       "found \"./backend\""},
      {"none",
       {},
       "CONFIG_PARSE: the command of the backend \"fake\" must begin with the name or the whole path of a program, "
       "found \"\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto backend = make_external_backend({.scheme = "fake", .command = row.command});
      BOOST_TEST(outcome(backend->list_versions(fixture.source(), "", fixture.context)) == row.outcome);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
