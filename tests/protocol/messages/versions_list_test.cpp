#include "protocol/messages/versions_list.h"

#include <boost/test/unit_test.hpp>

#include "protocol/json.h"

namespace modlock::messages {
namespace {

VersionsListResult sample(std::vector<OfferedVersion> versions) {
  return {.source = "git::https://example.test/a.git",
          .kind = "git",
          .versions = std::move(versions),
          .selected = "1.1.0",
          .skipped = {{"la\"test", "not a semantic version"}},
          .fetched_at = "2024-01-01T00:00:00Z"};
}

BOOST_AUTO_TEST_SUITE(versions_list_test)

BOOST_AUTO_TEST_CASE(versions_are_written_as_a_tree_of_them_would_be) {
  const VersionsListResult result = sample({{"1.1.0", "v1.1.0", "c2", ""}, {"1.0.0+a", "v\\", "", "sha256:d"}});
  const std::string text = encode(result).text;
  BOOST_TEST(
      text ==
      R"({"evidence":{"complete":true,"fetchedAt":"2024-01-01T00:00:00Z"},"kind":"git","selected":"1.1.0",)"
      R"("skipped":[{"reason":"not a semantic version","tag":"la\"test"}],)"
      R"("source":"git::https://example.test/a.git","versions":[{"commit":"c2","tag":"v1.1.0","version":"1.1.0"},)"
      R"({"digest":"sha256:d","tag":"v\\","version":"1.0.0+a"}]})");
  BOOST_TEST(write_json(parse_json(text).value()) == text);
  BOOST_TEST(encode_indented(result) == indent_json(text));
}

BOOST_AUTO_TEST_CASE(the_text_is_what_the_fields_say) {
  const VersionsListResult result = sample({{"1.1.0", "v1.1.0", "c2", ""}, {"1.0.0", "", "", "sha256:d"}});
  BOOST_TEST(encode(result).text == write_json(Encode::to_value(result)));
}

BOOST_AUTO_TEST_CASE(a_list_with_warnings) {
  VersionsListResult result = sample({});
  result.diagnostics = {{Severity::warning, {.code = Code::tag_moved, .message = "m"}}};
  BOOST_TEST(write_json(parse_json(encode(result).text).value()["diagnostics"]) ==
             R"([{"code":"TAG_MOVED","message":"m","severity":"warning"}])");
}

BOOST_AUTO_TEST_CASE(no_versions) {
  const VersionsListResult result = sample({});
  const std::string text = encode(result).text;
  BOOST_TEST(write_json(parse_json(text).value()) == text);
  BOOST_TEST(text.ends_with(R"("versions":[]})"));
  BOOST_TEST(encode_indented(result) == indent_json(text));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::messages
