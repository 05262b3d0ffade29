// The documents of the protocol against the program and against every transcript.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <fstream>
#include <map>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/transcripts/schema_check.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

const fs::path kDocument = fs::path(MODLOCK_DOCS) / "openrpc.json";

Json::Value document() {
  auto value = parse_json(read_text(kDocument));
  BOOST_REQUIRE(value.has_value());
  return *value;
}

// The messages of a line; those of a batch one by one. Empty where it is no JSON.
std::vector<Json::Value> messages_of(const std::string& line) {
  const auto value = parse_json(line);
  if (!value) {
    return {};
  }
  return value->isArray() ? std::vector<Json::Value>(value->begin(), value->end()) : std::vector<Json::Value>{*value};
}

// Members that no transcript shows, with the test that does.
struct Shown {
  const char* member;
  const char* by;
};
constexpr Shown kShownElsewhere[] = {
    {"ChangedItem.after", "a_diff_of_two_releases"},
    {"ChangedItem.before", "a_diff_of_two_releases"},
    {"DiffFinding.after", "a_diff_of_two_releases"},
    {"DiffFinding.before", "a_diff_of_two_releases"},
    {"DiffFinding.call", "a_diff_of_two_releases"},
    {"DiffFinding.grade", "a_diff_of_two_releases"},
    {"DiffFinding.message", "a_diff_of_two_releases"},
    {"DiffFinding.rule", "a_diff_of_two_releases"},
    {"Dependency.currentDigest", "every_kind_of_call"},
    {"Dependency.isMoved", "moved_tags_and_new_commits_are_named_without_a_request_more"},
    {"Dependency.pinnedBy", "calls_that_a_package_pins_are_not_the_newest"},
    {"Dependency.ref", "a_locked_reference_is_shown_with_its_commit"},
    {"Dependency.referenceNow", "moved_tags_and_new_commits_are_named_without_a_request_more"},
    {"Dependency.skipReason", "every_kind_of_call"},
    {"Diagnostic.notes", "diagnostics_of_a_result"},
    {"Diagnostic.related", "diagnostics_of_a_result"},
    {"ErrorData.related", "an_error_with_everything"},
    {"ErrorData.retryAfterMs", "an_error_with_everything"},
    {"ExternalBackend.command", "initialize_takes_external_backends"},
    {"ExternalBackend.hosts", "initialize_takes_external_backends"},
    {"ExternalBackend.scheme", "initialize_takes_external_backends"},
    {"HeldMove.locked", "a_moved_tag_is_held_until_it_is_accepted"},
    {"HeldMove.offered", "a_moved_tag_is_held_until_it_is_accepted"},
    {"HeldMove.subject", "a_moved_tag_is_held_until_it_is_accepted"},
    {"InspectedModule.replacedBy", "a_directory_is_installed_in_place_of_a_locked_package"},
    {"InstalledModule.replacedBy", "a_directory_is_installed_in_place_of_a_locked_package"},
    {"LockedModule.digest", "constraint_is_locked_by_digest_installed_and_verified"},
    {"LockedProvider.address", "modules_and_providers_in_one_edit"},
    {"LockedProvider.constraints", "modules_and_providers_in_one_edit"},
    {"LockedProvider.hashes", "modules_and_providers_in_one_edit"},
    {"LockedProvider.signature", "modules_and_providers_in_one_edit"},
    {"LockedProvider.version", "modules_and_providers_in_one_edit"},
    {"ModuleDiff.comparison", "the_page_of_each_host"},
    {"OfferedVersion.deprecated", "dates_and_deprecation_of_a_registry"},
    {"OfferedVersion.digest", "messages_that_are_large"},
    {"OfferedVersion.published", "dates_and_deprecation_of_a_registry"},
    {"ProgressValue.done", "begin_reports_and_end"},
    {"ProgressValue.message", "begin_reports_and_end"},
    {"ProgressValue.total", "begin_reports_and_end"},
    {"Related.location", "an_error_with_everything"},
    {"Related.message", "an_error_with_everything"},
    {"Selection.checksum", "archive_is_locked_by_its_content"},
    {"Selection.digest", "tag_that_moves_stays_locked_until_upgraded"},
    {"Signature.keyId", "modules_and_providers_in_one_edit"},
    {"Signature.status", "modules_and_providers_in_one_edit"},
    {"Verdict.actual", "each_kind_of_damage_has_its_verdict_and_its_exit_code"},
    {"Verdict.commitsBehind", "install_then_verify_holds"},
    {"Verdict.descends", "install_then_verify_holds"},
    {"Verdict.morePaths", "each_kind_of_damage_has_its_verdict_and_its_exit_code"},
    {"Verdict.paths", "each_kind_of_damage_has_its_verdict_and_its_exit_code"},
    {"lock/explain.result.selected.answeredBy", "the_backend_that_answered_is_named"},
    {"lock/explain.result.selected.signers", "only_signed_releases_are_locked"},
    {"initialize.params.options.backends", "initialize_takes_external_backends"},
    {"initialize.params.options.configFile", "the_settings_of_the_user_come_from_where_the_host_says"},
    {"initialize.params.processId", "a_host_that_is_gone_ends_the_session"},
    {"lock/explain.result.selected.digest", "constraint_is_locked_by_digest_installed_and_verified"},
    {"lock/plan.params.policy.acceptMoved", "a_moved_tag_is_held_until_it_is_accepted"},
    {"CalledModule.by", "called_directories_end_the_report"},
    {"CalledModule.directory", "called_directories_end_the_report"},
    {"CheckedFor.client", "addresses_without_host"},
    {"CheckedFor.from", "addresses_without_host"},
    {"lock/plan.result.checkedFor", "addresses_without_host"},
    {"lock/verify.result.checkedFor", "addresses_without_host"},
    {"update/plan.result.checkedFor", "addresses_without_host"},
    {"lock/plan.result.moved", "a_moved_tag_is_held_until_it_is_accepted"},
    {"log/message.params.level", "the_log_is_told_to_who_asked"},
    {"log/message.params.message", "the_log_is_told_to_who_asked"},
    {"modules/install.result.unlocked", "each_call_is_named_also_inside_of_packages"},
    {"update/plan.result.moved", "a_moved_tag_is_held_until_it_is_accepted"},
    {"versions/list.result.diagnostics", "messages_that_are_large"},
    {"update/plan.params.policy.acceptMoved", "lock_accepts_moved_tags_and_changes_nothing_else"},
    {"workspace/plan.params.policy.acceptMoved", "a_moved_tag_is_held_until_it_is_accepted"},
    {"params.from", "modules_are_installed_without_their_sources"},
    {"params.remoteOnly", "remote_only_asks_no_source"},
    {"params.link", "the_setting_of_the_user_links_and_a_flag_has_precedence"},
    {"params.age", "verify_names_what_is_too_new"},
};

std::string all_tests() {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(MODLOCK_TRANSCRIPTS).parent_path())) {
    if (entry.path().extension() == ".cpp") {
      all += read_text(entry.path());
    }
  }
  return all;
}

struct Finding {
  std::string transcript;
  std::string what;
};

// Every message of every transcript, each answer against the method of its request.
class Walk {
 public:
  explicit Walk(SchemaCheck& check) : check_(check) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(MODLOCK_TRANSCRIPTS)) {
      if (entry.path().extension() == ".jsonl") {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
      walk(file);
    }
  }
  const std::vector<Finding>& findings() const { return findings_; }
  int answers() const { return answers_; }

 private:
  void walk(const fs::path& file) {
    const std::string name = file.lexically_relative(MODLOCK_TRANSCRIPTS).generic_string();
    std::ifstream in(file);
    std::map<std::string, Json::Value> sent;  // by id; it may be used again once it was answered
    for (std::string line; std::getline(in, line);) {
      for (const Json::Value& message : messages_of(line)) {
        if (message.isObject()) {
          judge(name, message, sent);
        }
      }
    }
  }

  void judge(const std::string& file, const Json::Value& message, std::map<std::string, Json::Value>& sent) {
    const std::string id = write_json(message["id"]);
    if (message.isMember("error")) {
      ++answers_;
      // A request that is refused for its params need not fit.
      static const std::set<std::string> kRefused = {"INVALID_PARAMS", "METHOD_NOT_FOUND", "INVALID_REQUEST"};
      if (kRefused.count(message["error"]["data"]["code"].asString()) == 0 && sent.count(id) != 0) {
        add(file, request(sent.at(id)));
      }
      add(file, check_.error(message["error"]));
      sent.erase(id);
    } else if (message.isMember("result")) {
      ++answers_;
      BOOST_REQUIRE_MESSAGE(sent.count(id) != 0, file << ": an answer to nobody: " << id);
      const Json::Value& asked = sent.at(id);
      add(file, request(asked, message["result"]["_meta"]["unknownParams"]));
      add(file, check_.result(asked["method"].asString(), message["result"]));
      sent.erase(id);
    } else if (message.isMember("id") && message["method"].isString()) {
      sent[id] = message;
    } else if (message["method"].isString()) {
      add(file, request(message));
    }
  }

  // Without what the answer says was ignored, and without what is null, which counts as absent.
  std::vector<std::string> request(const Json::Value& message, const Json::Value& unknown = {}) {
    Json::Value params = message["params"];
    for (const Json::Value& name : unknown) {
      params.removeMember(name.asString());
    }
    remove_nulls(params);
    return check_.request(message["method"].asString(), params);
  }

  static void remove_nulls(Json::Value& value) {
    for (const std::string& name : value.isObject() ? value.getMemberNames() : std::vector<std::string>{}) {
      if (value[name].isNull()) {
        value.removeMember(name);
      } else {
        remove_nulls(value[name]);
      }
    }
  }

  void add(const std::string& file, const std::vector<std::string>& found) {
    for (const std::string& what : found) {
      findings_.push_back({file, what});
    }
  }

  SchemaCheck& check_;
  std::vector<Finding> findings_;
  int answers_ = 0;
};

BOOST_FIXTURE_TEST_SUITE(protocol_document, Scene)

BOOST_AUTO_TEST_CASE(the_committed_document_is_what_the_program_says) {
  const Ran printed = modlock({"schema", "openrpc"});
  BOOST_TEST(printed.exit_code == 0);
  BOOST_TEST((printed.out == read_text(kDocument)), "docs/openrpc.json is stale; run: scripts/protocol-page BINARY");
  // Before initialize too, and in one line the same value.
  const Ran served = modlock({"serve"}, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}\n");
  BOOST_TEST(served.exit_code == 0);
  const auto answer = parse_json(served.out);
  BOOST_REQUIRE(answer.has_value());
  BOOST_TEST((write_json_pretty((*answer)["result"]) == printed.out));
}

BOOST_AUTO_TEST_CASE(the_page_is_generated_from_the_document) {
  const Ran ran = program({MODLOCK_PROTOCOL_PAGE, "--check"});
  BOOST_TEST(ran.out == "");
  BOOST_TEST(ran.exit_code == 0);
}

BOOST_AUTO_TEST_CASE(every_method_is_described) {
  const Ran ran = modlock({"serve"}, R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{)"
                                     R"("protocolVersions":["1.0"]}})"
                                     "\n");
  const auto answer = parse_json(ran.out);
  BOOST_REQUIRE(answer.has_value());
  std::string served;
  for (const Json::Value& method : (*answer)["result"]["capabilities"]["methods"]) {
    served += method.asString() + " ";
  }
  std::vector<std::string> names;
  const Json::Value all = document();
  for (const Json::Value& method : all["methods"]) {
    if (method["x-sender"] == "host") {
      names.push_back(method["name"].asString());
    }
  }
  std::sort(names.begin(), names.end());
  std::string described;
  for (const std::string& name : names) {
    described += name + " ";
  }
  BOOST_TEST(described == served);
}

// Generators make a function of a method, and its required arguments have to come first.
BOOST_AUTO_TEST_CASE(required_params_come_first) {
  const Json::Value all = document();
  for (const Json::Value& method : all["methods"]) {
    bool is_optional = false;
    for (const Json::Value& param : method["params"]) {
      BOOST_TEST(!(is_optional && param["required"].asBool()), method["name"].asString()
                                                                   << " " << param["name"].asString());
      is_optional = is_optional || !param["required"].asBool();
    }
  }
}

// Adds the references of `value` to `found`, each with the member that has it.
void collect_references(const Json::Value& value, const std::string& member, std::set<std::string>& found) {
  if (value.isObject()) {
    for (const std::string& name : value.getMemberNames()) {
      if (name == "$ref") {
        found.insert(member + " " + value[name].asString().substr(0, value[name].asString().rfind('/')));
      }
      collect_references(value[name], member.ends_with("properties") ? "property" : name, found);
    }
  } else if (value.isArray()) {
    for (const Json::Value& below : value) {
      collect_references(below, member, found);
    }
  }
}

// Generators refuse a reference in place of a param, a result or an error.
BOOST_AUTO_TEST_CASE(only_schemas_are_references) {
  std::set<std::string> found;
  collect_references(document(), "", found);
  std::string all;
  for (const std::string& one : found) {
    all += one + "\n";
  }
  BOOST_TEST(all ==
             "allOf #/components/schemas\nitems #/components/schemas\noneOf #/components/schemas\n"
             "property #/components/schemas\nschema #/components/schemas\n");
}

// Adds the schemas with each title, and those without one to `untitled`.
void collect_titles(const Json::Value& value, std::map<std::string, std::set<std::string>>& titled,
                    std::string& untitled) {
  const bool is_schema =
      value.isObject() && (value["type"].isString() || value["oneOf"].isArray() || value["allOf"].isArray());
  if (is_schema && !value["title"].isString()) {
    untitled += write_json(value) + "\n";
  } else if (is_schema) {
    titled[value["title"].asString()].insert(write_json(value));
  }
  if (value.isObject() || value.isArray()) {
    for (const Json::Value& below : value) {
      collect_titles(below, titled, untitled);
    }
  }
}

// Generators name a type by the title of its schema.
BOOST_AUTO_TEST_CASE(every_schema_has_a_title_of_its_own) {
  for (const char* name : {"openrpc", "jsonschema"}) {
    BOOST_TEST_CONTEXT(name) {
      const auto printed = parse_json(modlock({"schema", name}).out);
      BOOST_REQUIRE(printed.has_value());
      std::map<std::string, std::set<std::string>> titled;
      std::string untitled;
      collect_titles(*printed, titled, untitled);
      BOOST_TEST(untitled == "");
      BOOST_TEST(titled.size() > 300);
      for (const auto& [title, schemas] : titled) {
        BOOST_TEST(schemas.size() == 1, title << " names several schemas");
        BOOST_TEST(std::all_of(title.begin(), title.end(), [](unsigned char c) { return std::isalnum(c) != 0; }),
                   title);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(definitions_have_flat_names) {
  const auto printed = parse_json(modlock({"schema", "jsonschema"}).out);
  BOOST_REQUIRE(printed.has_value());
  const Json::Value& definitions = (*printed)["definitions"];
  for (const std::string& name : definitions.getMemberNames()) {
    BOOST_TEST(definitions[name]["title"].asString() == name);
  }
  BOOST_TEST(definitions.isMember("CancelRequestParams"));
  BOOST_TEST(definitions.isMember("LockPlanResult"));
  BOOST_TEST(definitions.isMember("ResponseError"));
}

BOOST_AUTO_TEST_CASE(every_line_of_every_transcript_fits) {
  SchemaCheck check(document());
  const Walk walk(check);
  for (const Finding& finding : walk.findings()) {
    BOOST_ERROR(finding.transcript << ": " << finding.what);
  }
  BOOST_TEST(walk.answers() > 40);
}

// What is described is shown, or is named here with the test that shows it.
BOOST_AUTO_TEST_CASE(every_member_appears_in_a_transcript) {
  SchemaCheck check(document());
  const Walk walk(check);
  std::string missing;
  std::set<std::string> exceptions;
  const std::string tests = all_tests();
  for (const Shown& shown : kShownElsewhere) {
    exceptions.insert(shown.member);
    BOOST_TEST(tests.find("TEST_CASE(" + std::string(shown.by)) != std::string::npos, shown.by << " is no test");
  }
  for (const std::string& member : check.all_members()) {
    if (check.seen_members().count(member) == 0 && exceptions.erase(member) == 0) {
      missing += member + "\n";
    }
  }
  BOOST_TEST(missing == "");
  for (const std::string& member : exceptions) {
    BOOST_ERROR(member << " is no member, or a transcript shows it");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
