#include "tests/conformance/canaries.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tests/support/process_group.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

BOOST_AUTO_TEST_SUITE(canaries)

BOOST_AUTO_TEST_CASE(are_found_as_they_are_and_encoded) {
  BOOST_TEST(canaries_in("nothing of the kind") == "");
  for (const char* canary : {kRegistryToken, kOciPassword, kOciToken, kNetrcPassword, kUrlPassword, kUrlQuery}) {
    BOOST_TEST(canaries_in("in " + std::string(canary) + ", there") == canary);
    BOOST_TEST(canaries_in("Authorization: " + basic_authorization(canary)) == canary);
  }
  BOOST_TEST(canaries_in(std::string(kOciToken) + kUrlQuery) == "canary-oci-token, canary-url-query");
}

BOOST_AUTO_TEST_CASE(are_found_in_every_part_of_an_error) {
  const std::string canary = kUrlPassword;
  const Error errors[] = {{.message = canary},
                          {.subject = canary},
                          {.location = Location{.path = canary}},
                          {.related = {{.message = canary}}},
                          {.related = {{.location = {.path = canary}}}},
                          {.notes = {"fine", canary}},
                          {.hint = canary}};
  for (const Error& error : errors) {
    BOOST_TEST(canaries_in(everything_said(error)) == canary);
  }
}

BOOST_AUTO_TEST_CASE(are_found_in_files_their_names_and_links) {
  const TemporaryDirectory directory;
  directory.write("a/plain", "nothing");
  BOOST_TEST(canaries_below(directory.path()) == "");
  BOOST_TEST(files_below(directory.path()) == "a/plain");
  directory.write("a/content", std::string("x") + kOciToken);
  BOOST_TEST(canaries_below(directory.path()) == kOciToken);
  std::filesystem::remove(directory / "a/content");
  std::filesystem::create_symlink(kUrlQuery, directory / "a/link");
  BOOST_TEST(canaries_below(directory.path()) == kUrlQuery);
  std::filesystem::remove(directory / "a/link");
  std::filesystem::create_directory(directory / kUrlPassword);
  BOOST_TEST(canaries_below(directory.path()) == kUrlPassword);
}

BOOST_AUTO_TEST_CASE(are_found_in_the_arguments_of_children_of_children) {
  const TemporaryDirectory directory;
  ProcessGroup group(
      {"/bin/sh", "-c", "sh -c 'echo ready; exec tail -f /dev/null' x " + std::string(kUrlQuery) + "; :"},
      directory / "log");
  BOOST_TEST(group.wait_until([&] { return !read_text(directory / "log").empty(); }));
  const auto lines = command_lines_of_children();
  BOOST_TEST(std::count_if(lines.begin(), lines.end(),
                           [](const std::string& line) { return canaries_in(line) == kUrlQuery; }) >= 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
