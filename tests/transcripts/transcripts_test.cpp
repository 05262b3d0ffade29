// Whole sessions with `serve`, in a folder for the release that they are of. A transcript holds frames as on the wire,
// each answer behind its request: a line with a result, an error or progress is an expected answer, every other line is
// sent. ACCEPT=1 writes the answers anew.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <regex>
#include <sstream>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/https_git_server.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

// The message itself, or the first of a batch.
Json::Value message_of(const std::string& line) {
  const auto value = parse_json(line);
  if (!value) {
    return {};
  }
  const Json::Value& first = value->isArray() && !value->empty() ? (*value)[0] : *value;
  return first.isObject() ? first : Json::Value();
}

bool is_answer(const std::string& line) {
  const Json::Value message = message_of(line);
  return message.isMember("result") || message.isMember("error") || message["method"] == "$/progress";
}

std::string join(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

// The root <dir>/root has no lock yet; <dir>/locked has one; <dir>/silent calls a server that never answers.
struct Transcripts : Scene {
  Transcripts() : vpc(repository("vpc.git")) {
    release(vpc, "3.19.0");
    configure("locked");
    BOOST_REQUIRE(modlock({"lock", path("locked").string()}).exit_code == 0);
    release(vpc, "3.20.0");
    configure("root");
    write_text(path("silent/main.tf"),
               module_call("vpc", "git::https://127.0.0.1:" + std::to_string(silent.port()) + "/vpc.git"));
  }
  void configure(const std::string& name) const {
    write_text(path(name) / "main.tf", module_call("vpc", "git::" + vpc.url()));
    write_text(path(name) / ".tofu-modlock.hcl", module_rule("vpc", "~> 3.0"));
  }

  std::string with_directory(std::string line) const {
    const std::string name = "<dir>";
    for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name)) {
      line.replace(at, name.size(), path("").parent_path().string());
    }
    return line;
  }
  // What differs from run to run and has no name of its own.
  static std::string steady(std::string text) {
    text = std::regex_replace(text, std::regex("\"elapsedMs\":[0-9]+"), "\"elapsedMs\":0");
    text = std::regex_replace(text, std::regex("\"(package|repository|record)Bytes\":[0-9]+"), "\"$1Bytes\":0");
    text = std::regex_replace(text, std::regex("\"firstSeen\":\"[^\"]*\""), "\"firstSeen\":\"<time>\"");
    text = std::regex_replace(text, std::regex("\"claimed\":\"[^\"]*\""), "\"claimed\":\"<time>\"");
    text = std::regex_replace(text, std::regex("\"maxInFlight\":[0-9]+"), "\"maxInFlight\":8");
    text = std::regex_replace(text, std::regex("\"fetchedAt\":\"[^\"]*\""), "\"fetchedAt\":\"<time>\"");
    text = std::regex_replace(text, std::regex("\"sha256\":\"[0-9a-f]{64}\""), "\"sha256\":\"<sha256>\"");
    text = std::regex_replace(text, std::regex("\"name\":\"tofu-modlock\",\"version\":\"[^\"]*\""),
                              "\"name\":\"tofu-modlock\",\"version\":\"<version>\"");
    return text;
  }

  Lines answers_to(const Lines& sent) {
    const Ran ran = modlock({"serve"}, with_directory(join(sent)));
    BOOST_TEST(ran.exit_code == 0);
    return lines_of(steady(ran.out));
  }

  GitRepository& vpc;
  SilentServer silent;
};

void accept(const fs::path& file, const Lines& sent, Lines answers) {
  Lines all;
  for (const std::string& line : sent) {
    all.push_back(line);
    const Json::Value id = message_of(line)["id"];
    const auto found = std::find_if(answers.begin(), answers.end(), [&](const std::string& answer) {
      return !id.isNull() && message_of(answer)["id"] == id;
    });
    if (found != answers.end()) {
      all.push_back(*found);
      answers.erase(found);
    }
  }
  all.insert(all.end(), answers.begin(), answers.end());
  write_text(file, join(all));
}

void replay(const std::string& name) {
  Transcripts scene;
  const fs::path file = fs::path(MODLOCK_TRANSCRIPTS) / "0.1.0" / (name + ".jsonl");
  Lines sent;
  Lines expected;
  for (const std::string& line : lines_of(read_text(file))) {
    (is_answer(line) ? expected : sent).push_back(line);
  }
  Lines answers = scene.answers_to(sent);
  if (std::getenv("ACCEPT") != nullptr) {
    accept(file, sent, answers);
    return;
  }
  // Requests run side by side: their answers may come in any order.
  std::sort(expected.begin(), expected.end());
  std::sort(answers.begin(), answers.end());
  BOOST_TEST(!expected.empty());
  BOOST_TEST(join(answers) == join(expected));
}

BOOST_AUTO_TEST_SUITE(transcripts)

BOOST_AUTO_TEST_CASE(lifecycle) {
  replay("lifecycle");
}

BOOST_AUTO_TEST_CASE(plan_of_documents) {
  replay("plan_of_documents");
}

BOOST_AUTO_TEST_CASE(update) {
  replay("update");
}

BOOST_AUTO_TEST_CASE(diff) {
  replay("diff");
}

BOOST_AUTO_TEST_CASE(lookup) {
  replay("lookup");
}

BOOST_AUTO_TEST_CASE(lookup_with_lock_of_the_host) {
  replay("lookup_with_lock_of_the_host");
}

BOOST_AUTO_TEST_CASE(update_with_lock_of_the_host) {
  replay("update_with_lock_of_the_host");
}

BOOST_AUTO_TEST_CASE(workspace) {
  replay("workspace");
}

BOOST_AUTO_TEST_CASE(workspace_install) {
  replay("workspace_install");
}

BOOST_AUTO_TEST_CASE(workspace_verify) {
  replay("workspace_verify");
}

BOOST_AUTO_TEST_CASE(workspace_roots) {
  replay("workspace_roots");
}

BOOST_AUTO_TEST_CASE(before_initialize) {
  replay("before_initialize");
}

BOOST_AUTO_TEST_CASE(unknown_method) {
  replay("unknown_method");
}

BOOST_AUTO_TEST_CASE(plan_creates) {
  replay("plan_creates");
}

BOOST_AUTO_TEST_CASE(plan_changes_nothing) {
  replay("plan_changes_nothing");
}

BOOST_AUTO_TEST_CASE(plan_with_lock_of_the_host) {
  replay("plan_with_lock_of_the_host");
}

BOOST_AUTO_TEST_CASE(frozen) {
  replay("frozen");
}

BOOST_AUTO_TEST_CASE(install) {
  replay("install");
}

BOOST_AUTO_TEST_CASE(cancel) {
  replay("cancel");
}

BOOST_AUTO_TEST_CASE(batch) {
  replay("batch");
}

BOOST_AUTO_TEST_CASE(malformed) {
  replay("malformed");
}

BOOST_AUTO_TEST_CASE(end_of_input) {
  replay("end_of_input");
}

BOOST_AUTO_TEST_CASE(inspect) {
  replay("inspect");
}

BOOST_AUTO_TEST_CASE(versions) {
  replay("versions");
}

BOOST_AUTO_TEST_CASE(explain) {
  replay("explain");
}

BOOST_AUTO_TEST_CASE(install_offline) {
  replay("install_offline");
}

BOOST_AUTO_TEST_CASE(verify) {
  replay("verify");
}

BOOST_AUTO_TEST_CASE(upgrade) {
  replay("upgrade");
}

BOOST_AUTO_TEST_CASE(progress) {
  replay("progress");
}

BOOST_AUTO_TEST_CASE(cache) {
  replay("cache");
}

BOOST_AUTO_TEST_CASE(params) {
  replay("params");
}

// As a shell would do it.
BOOST_AUTO_TEST_CASE(two_lines_from_printf) {
  Transcripts scene;
  const Ran ran =
      scene.program({"sh", "-c",
                     R"(printf '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersions":["1.0"],)"
                     R"("clientInfo":{"name":"sh","version":"1"}}}\n{"jsonrpc":"2.0","id":2,"method":"lock/plan",)"
                     R"("params":{"root":"%s"}}\n' "$2" | "$1" serve)",
                     "sh", scene.binary, scene.root().string()});
  BOOST_TEST(ran.exit_code == 0);
  const Lines answers = lines_of(ran.out);
  BOOST_REQUIRE(answers.size() == 2U);
  BOOST_TEST(message_of(answers[0])["id"].asInt() == 1);
  BOOST_TEST(message_of(answers[1])["result"]["changes"][0]["to"]["version"].asString() == "3.20.0");
  BOOST_TEST(!scene.has(".terraform.lock.hcl"));  // the server proposes; the host writes
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
