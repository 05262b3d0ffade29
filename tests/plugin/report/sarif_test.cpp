#include "plugin/report/sarif.h"

#include <boost/test/unit_test.hpp>

#include "backends/base/build_info.h"
#include "protocol/base/json.h"

using namespace modlock;

namespace {

Json::Value json(std::string_view text) {
  return parse_json(text).value();
}

messages::LockVerifyResult with(messages::Verdict verdict) {
  return {.ok = false, .verdicts = {std::move(verdict)}, .diagnostics = {}};
}

messages::Verdict verdict(messages::VerdictKind kind, const std::string& detail,
                          std::optional<Location> location = {}) {
  messages::Verdict made;
  made.subject = "module.a";
  made.kind = kind;
  made.detail = detail;
  made.location = std::move(location);
  return made;
}

Json::Value one_result(messages::Verdict made) {
  return sarif_run(with(std::move(made)), "/srv/infra/prod", "/srv/infra", 4)["results"][0];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sarif)

BOOST_AUTO_TEST_CASE(sarif_log_is_a_log) {
  const Json::Value log = sarif_log(json("[]"));
  BOOST_TEST(log["version"].asString() == "2.1.0");
  BOOST_TEST(log["$schema"].asString().ends_with("/sarif-schema-2.1.0.json"));
  BOOST_TEST(log["runs"].isArray());
}

BOOST_AUTO_TEST_CASE(sarif_has_a_rule_for_each_verdict_but_held) {
  const Json::Value run = sarif_run(with(verdict(messages::VerdictKind::held, "")), "/srv/infra", "/srv/infra", 0);
  const Json::Value& driver = run["tool"]["driver"];
  BOOST_TEST(driver["version"].asString() == std::string(kVersion));
  std::string rules;
  for (const Json::Value& rule : driver["rules"]) {
    rules += rule["id"].asString() + " " + rule["defaultConfiguration"]["level"].asString() + "\n";
  }
  BOOST_TEST(rules ==
             "update-available note\nnot-locked error\nmissing error\nstale error\ntoo-new error\nvanished error\n"
             "moved error\ntampered error\ndenied error\n");
  BOOST_TEST(run["results"].isArray());
  BOOST_TEST(run["results"].empty());
  BOOST_TEST(run["originalUriBaseIds"]["%SRCROOT%"]["uri"].asString() == "file:///srv/infra/");
  BOOST_TEST(run["invocations"][0]["executionSuccessful"].asBool());
  BOOST_TEST(run["invocations"][0]["exitCode"].asInt() == 0);
}

BOOST_AUTO_TEST_CASE(sarif_result_says_all_that_the_verdict_says) {
  messages::Verdict made =
      verdict(messages::VerdictKind::tampered, "2 files differ", Location{"a b.tf", Range{{2, 12, 20}, {3, 1, 35}}});
  made.subject = "module.vpc";
  made.expected = "h1:a";
  made.actual = "h1:b";
  made.paths = {"main.tf was changed"};
  made.more_paths = 1;
  const Json::Value result = one_result(made);
  BOOST_TEST(write_json(result) == write_json(json(R"({"ruleId":"tampered","ruleIndex":7,"level":"error",
    "message":{"text":"module.vpc is tampered: 2 files differ\n- main.tf was changed\n- and 1 more"},
    "locations":[{
      "physicalLocation":{"artifactLocation":{"uri":"prod/a%20b.tf","uriBaseId":"%SRCROOT%"},
        "region":{"startLine":2,"endLine":3,"byteOffset":20,"byteLength":15}},
      "logicalLocations":[{"fullyQualifiedName":"module.vpc","kind":"module"}]}],
    "partialFingerprints":{"subject/v1":"tampered module.vpc"},
    "properties":{"expected":"h1:a","actual":"h1:b"}})")));
}

BOOST_AUTO_TEST_CASE(sarif_message_has_no_links) {
  BOOST_TEST(one_result(verdict(messages::VerdictKind::moved, "[a](https://b) \\"))["message"]["text"].asString() ==
             "module.a is moved: \\[a\\](https://b) \\\\");
}

BOOST_AUTO_TEST_CASE(sarif_places_without_range_or_outside_of_the_base) {
  const Json::Value whole =
      one_result(verdict(messages::VerdictKind::missing, "", Location{".terraform.lock.hcl", {}}));
  BOOST_TEST(whole["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].asString() ==
             "prod/.terraform.lock.hcl");
  BOOST_TEST(!whole["locations"][0]["physicalLocation"].isMember("region"));
  const Json::Value outside =
      one_result(verdict(messages::VerdictKind::missing, "", Location{"../../else/main.tf", {}}));
  BOOST_TEST((outside["locations"][0]["physicalLocation"]["artifactLocation"] ==
              json(R"({"uri":"file:///srv/else/main.tf"})")));
  const Json::Value nowhere = one_result(verdict(messages::VerdictKind::moved, "x"));
  BOOST_TEST(!nowhere["locations"][0].isMember("physicalLocation"));
}

BOOST_AUTO_TEST_CASE(sarif_tells_diagnostics_and_errors_as_notifications) {
  const Diagnostic said{Severity::info, Error{.code = Code::state_unread, .message = "m", .hint = "h"}};
  const Json::Value run = sarif_run(messages::LockVerifyResult{.ok = true, .verdicts = {}, .diagnostics = {said}},
                                    "/srv/infra", "/srv/infra", 0);
  BOOST_TEST((run["invocations"][0]["toolExecutionNotifications"] ==
              json(R"([{"level":"note","message":{"text":"m\nh"},"descriptor":{"id":"STATE_UNREAD"}}])")));
  const Error error{.code = Code::lock_parse, .message = "m", .location = Location{"l", {}}};
  const Json::Value failed =
      sarif_run(Result<messages::LockVerifyResult>(fail(error)), "/srv/infra", "/srv/infra", 8)["invocations"][0];
  BOOST_TEST(!failed["executionSuccessful"].asBool());
  BOOST_TEST((failed["toolExecutionNotifications"] ==
              json(R"([{"level":"error","message":{"text":"m"},"descriptor":{"id":"LOCK_PARSE"},
                "locations":[{"physicalLocation":{"artifactLocation":{"uri":"l","uriBaseId":"%SRCROOT%"}}}]}])")));
}

BOOST_AUTO_TEST_SUITE_END()
