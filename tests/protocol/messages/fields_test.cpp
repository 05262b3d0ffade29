#include "protocol/messages/fields.h"

#include <boost/test/unit_test.hpp>
#include <limits>

#include "protocol/base/json.h"
#include "protocol/messages/versions_list.h"

namespace modlock {

struct Inner {
  std::string name;
  int number = 0;
};
template <typename Form>
void fields(Form& form, In<Form, Inner> inner) {
  form.optional("number", inner.number);
  form.member("name", inner.name);
}

// Every kind of member, told in an order that is not that of their names.
struct Outer {
  std::string text;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max();
  bool truth = false;
  std::vector<Inner> inners = {};
  std::vector<std::string> texts = {};
  std::optional<Inner> maybe = {};
  std::optional<std::string> null = {};
  Code code = Code::frozen;
};
template <typename Form>
void fields(Form& form, In<Form, Outer> outer) {
  form.member("text", outer.text);
  form.member("least", outer.least);
  form.member("greatest", outer.greatest);
  form.optional("truth", outer.truth);
  form.member("inners", outer.inners);
  form.optional("texts", outer.texts);
  form.optional("maybe", outer.maybe);
  form.nullable("null", outer.null);
  form.group("Group", "", [&](auto& group) {
    group.member("b", outer.truth);
    group.member("a", outer.code);
    group.optional("c", outer.texts);
  });
  form.group("group", "", [](auto&) {});
}

namespace {

BOOST_AUTO_TEST_SUITE(fields_test)

BOOST_AUTO_TEST_CASE(members_stand_in_the_order_of_their_names) {
  BOOST_TEST(write_json(messages::encode(Outer{.text = "t"})) ==
             R"({"Group":{"a":"FROZEN","b":false},"greatest":18446744073709551615,"group":{},"inners":[],)"
             R"("least":-9223372036854775808,"null":null,"text":"t"})");
}

BOOST_AUTO_TEST_CASE(messages_that_are_large) {
  const messages::VersionsListResult versions{
      .source = "git::https://example.test/a.git",
      .kind = "git",
      .versions = {{"1.1.0", "v1.1.0", "c2", ""}, {"1.0.0+a", "v\\", "", "sha256:d"}},
      .selected = "1.1.0",
      .skipped = {{"la\"test", "not a semantic version"}},
      .fetched_at = "2024-01-01T00:00:00Z",
      .diagnostics = {{Severity::warning, {.code = Code::tag_moved, .message = "m"}}}};
  BOOST_TEST(
      write_json(messages::encode(versions)) ==
      R"({"diagnostics":[{"code":"TAG_MOVED","message":"m","severity":"warning"}],)"
      R"("evidence":{"complete":true,"fetchedAt":"2024-01-01T00:00:00Z"},"kind":"git","selected":"1.1.0",)"
      R"("skipped":[{"reason":"not a semantic version","tag":"la\"test"}],)"
      R"("source":"git::https://example.test/a.git","versions":[{"commit":"c2","tag":"v1.1.0","version":"1.1.0"},)"
      R"({"digest":"sha256:d","tag":"v\\","version":"1.0.0+a"}]})");

  const messages::VersionsListResult none{
      .source = "s", .kind = "git", .versions = {}, .selected = {}, .skipped = {}, .fetched_at = "t"};
  BOOST_TEST(write_json(messages::encode(none)) ==
             R"({"evidence":{"complete":true,"fetchedAt":"t"},"kind":"git","skipped":[],"source":"s","versions":[]})");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
