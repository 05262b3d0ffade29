#include "plugin/server/mcp_server.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <filesystem>
#include <map>

#include "protocol/base/json.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A server with methods that return their params.
struct Agent {
  Agent() {
    fs::create_directories(directory.path() / "live/a");
    fs::create_directories(directory.path() / "other");
    fs::create_directory_symlink(directory.path() / "other", directory.path() / "live/link");
    roots.directories = {(directory.path() / "live").string()};
    roots.params = [](const std::string& root) {
      Json::Value params;
      params["root"] = root;
      return params;
    };
    for (const char* method : {"lock/plan", "lock/verify", "update/plan", "versions/list", "workspace/roots"}) {
      methods.add(method, [](const Json::Value& params, RequestContext&) { return params; });
    }
    methods.add("update/diff", [](const Json::Value&, RequestContext&) -> Result<Json::Value> {
      return fail(Error{.code = Code::invalid_params,
                        .message = "decode: …",
                        .hint = "docs/protocol.md describes the params of every method",
                        .reason = Reason::params});
    });
    methods.add("lock/explain", [this](const Json::Value&, RequestContext& request) -> Result<Json::Value> {
      std::unique_lock lock(mutex);
      is_started = true;
      changed.notify_all();
      const std::stop_callback wake(request.stop, [this] { changed.notify_all(); });
      changed.wait(lock, [&] { return request.stop.stop_requested(); });
      return fail(Code::request_cancelled, "the request was cancelled");
    });
  }

  // Sends a request and returns its answer without id and envelope, with the directory shortened.
  std::string ask(const std::string& method, const std::string& params) {
    McpServer server(methods, roots, null_log(), [this](std::string line) { answers.push_back(std::move(line)); });
    server.handle_line(fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{}}})", method,
                                   shown(params, "<dir>", place())));
    server.finish(std::chrono::seconds(20));
    BOOST_REQUIRE(answers.size() == 1U);
    const Json::Value answer = *parse_json(answers.back());
    answers.clear();
    return shown(write_json(answer.isMember("error") ? answer["error"] : answer["result"]), place(), "<dir>");
  }
  std::string call(const std::string& tool, const std::string& arguments, const std::string& meta = {}) {
    return ask("tools/call", fmt::format(R"({{"name":"{}","arguments":{}{}}})", tool, arguments, meta));
  }

  std::string place() const { return directory.path().string(); }
  static std::string shown(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
    return text;
  }

  TemporaryDirectory directory;
  MethodTable methods;
  McpRoots roots;
  std::vector<std::string> answers;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_started = false;
};

const std::string kStateless =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mcp_server, Agent)

BOOST_AUTO_TEST_CASE(requests_of_both_forms) {
  struct Row {
    const char* name;
    const char* method;
    std::string params;
    const char* answer;  // begins with
  };
  const Row rows[] = {
      {"a version that is spoken", "initialize", R"({"protocolVersion":"2025-06-18"})",
       R"({"capabilities":{"tools":{}},"instructions":"Versions, )"},
      {"ping", "ping", "{}", "{}"},
      {"tools", "tools/list", "{}",
       R"({"tools":[{"annotations":{"readOnlyHint":true},"description":"Finds the root module)"},
      {"an unknown method", "resources/list", "{}", R"({"code":-32601,)"},
      {"discovery with a handshake", "server/discover", "{}", R"({"code":-32601,)"},
      {"stateless discovery", "server/discover", "{" + kStateless + "}",
       R"({"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tofu-modlock",)"},
      {"stateless tools", "tools/list", "{" + kStateless + "}",
       R"({"cacheScope":"public","resultType":"complete","tools":[)"},
      {"stateless ping", "ping", "{" + kStateless + "}", R"({"code":-32601,)"},
      {"another stateless version", "tools/list",
       R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}})",
       R"({"code":-32022,"data":{"requested":"2030-01-01","supported":["2026-07-28"]},)"},
      {"without capabilities", "tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}})",
       R"({"code":-32602,)"},
      {"an unknown tool", "tools/call", R"({"name":"lock"})", R"({"code":-32602,)"},
      {"no tool", "tools/call", "{}",
       R"({"code":-32602,"data":{"code":"INVALID_PARAMS","hint":"tools/list shows the tools","notes":[],)"
       R"("retryable":false},"message":"expected a string at params.name"})"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string answer = ask(row.method, row.params);
      BOOST_TEST(answer.substr(0, std::string(row.answer).size()) == row.answer);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_version_of_the_handshake) {
  for (const auto& [wanted, agreed] : {std::pair("2025-06-18", "2025-06-18"),
                                       {"2025-11-25", "2025-11-25"},
                                       {"2024-11-05", "2025-11-25"},
                                       {"2030-01-01", "2025-11-25"}}) {
    const auto result = parse_json(ask("initialize", fmt::format(R"({{"protocolVersion":"{}"}})", wanted)));
    BOOST_TEST(string_member(*result, "protocolVersion").value() == agreed);
  }
}

BOOST_AUTO_TEST_CASE(arguments) {
  struct Row {
    const char* name;
    const char* tool;
    const char* arguments;
    const char* content;  // of the result or, if it is not JSON, in the error
  };
  const Row rows[] = {
      {"the only directory", "verify", "{}", R"({"root":"<dir>/live"})"},
      {"inside", "verify", R"({"root":"<dir>/live/a","online":true})", R"({"online":true,"root":"<dir>/live/a"})"},
      {"dots that stay inside", "verify", R"({"root":"<dir>/live/a/.."})", R"({"root":"<dir>/live"})"},
      {"a URI", "verify", R"({"root":"file://<dir>/live/%61"})", R"({"root":"<dir>/live/a"})"},
      {"a URI of another machine", "verify", R"({"root":"file://host/live"})",
       "invalid path of root: expected a file:// URI of this machine, found"},
      {"a URI outside", "verify", R"({"root":"file://<dir>/other"})", "is not an existing directory that"},
      {"outside", "verify", R"({"root":"<dir>/other"})", "is not an existing directory that this server may read"},
      {"dots", "verify", R"({"root":"<dir>/live/../other"})", "is not an existing directory that"},
      {"a link that leads out", "verify", R"({"root":"<dir>/live/link"})", "is not an existing directory that"},
      {"a name that only begins so", "verify", R"({"root":"<dir>/live2"})", "is not an existing directory that"},
      {"relative", "verify", R"({"root":"live"})", "root must be an absolute directory"},
      {"no text", "verify", R"({"root":7})", "root must be an absolute directory"},
      {"another method's param", "verify", R"({"documents":[]})", "verify has no argument \\\"documents\\\""},
      {"no object", "verify", "[]", "expected an object at params.arguments"},
      {"a call", "versions", R"({"subject":"module.vpc"})", R"({"call":{"root":"<dir>/live","subject":"module.vpc"}})"},
      {"a search", "roots", R"({"directory":"<dir>/live/a"})", R"({"directory":"<dir>/live/a"})"},
      {"a search of the only directory", "roots", "{}", R"({"directory":"<dir>/live"})"},
      {"a search outside", "roots", R"({"directory":"<dir>/other"})",
       "directory \\\"<dir>/other\\\" is not an existing"},
      {"a search with a root", "roots", R"({"root":"<dir>/live"})", "roots has no argument \\\"root\\\""},
      {"a value of another type", "diff", R"({"subjects":[7]})", R"("hint":"tools/list shows the arguments")"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Json::Value result = *parse_json(call(row.tool, row.arguments));
      const std::string content = write_json(result["structuredContent"]);
      BOOST_TEST(result["content"][0]["text"].asString() == content);
      if (*row.content == '{') {
        BOOST_TEST(content == row.content);
        BOOST_TEST(!result["isError"].asBool());
      } else {
        BOOST_TEST(content.find(row.content) != std::string::npos, content);
        BOOST_TEST(result["isError"].asBool());
      }
    }
  }
  roots.directories.push_back((directory.path() / "other").string());
  BOOST_TEST(call("verify", "{}").find("root must be an absolute directory") != std::string::npos);
  BOOST_TEST(call("verify", R"({"root":"<dir>/live/link"})", "," + kStateless) ==
             R"({"content":[{"text":"{\"root\":\"<dir>/other\"}","type":"text"}],"isError":false,)"
             R"("resultType":"complete","structuredContent":{"root":"<dir>/other"}})");
}

BOOST_AUTO_TEST_CASE(schemas_of_arguments_are_those_of_the_messages) {
  const std::string root =
      R"("root":{"description":"the absolute directory of the root module, or its file:// URI; may be absent if the )"
      R"(server has one directory","type":"string"})";
  const std::map<std::string, std::string> schemas = {
      {"roots",
       R"({"additionalProperties":false,"properties":{"directory":{"description":"the absolute directory to search, )"
       R"(or its file:// URI; may be absent if the server has one directory","type":"string"}},"type":"object"})"},
      {"inspect", R"({"additionalProperties":false,"properties":{)" + root + R"(},"type":"object"})"},
      {"versions", R"({"additionalProperties":false,"properties":{)" + root +
                       R"(,"subject":{"description":"`module.vpc.nested`","type":"string"}},)"
                       R"("required":["subject"],"type":"object"})"},
      {"diff",
       R"({"additionalProperties":false,"properties":{)" + root +
           R"(,"subjects":{"description":"absent: every module call with an update","items":{"description":)"
           R"("A module call and the two versions of it to compare.","properties":{"from":{"description":)"
           R"("the old version; absent: the locked one","type":"string"},"subject":{"description":)"
           R"("`module.vpc.nested`","type":"string"},"version":{"description":"the new version; absent: the newest )"
           R"(one below the next major number","type":"string"}},"required":["subject"],"type":"object"},)"
           R"("type":"array"}},"type":"object"})"},
  };
  const std::string list = ask("tools/list", "{}");
  BOOST_TEST(list.find("$ref") == std::string::npos);
  std::size_t found = 0;
  const Json::Value tools = (*parse_json(list))["tools"];
  for (const Json::Value& tool : tools) {
    BOOST_TEST(!tool["description"].asString().empty());
    if (const auto schema = schemas.find(tool["name"].asString()); schema != schemas.end()) {
      BOOST_TEST(write_json(tool["inputSchema"]) == schema->second);
      ++found;
    }
  }
  BOOST_TEST(found == schemas.size());
}

BOOST_AUTO_TEST_CASE(lines_that_are_no_requests) {
  McpServer server(methods, roots, null_log(), [this](std::string line) { answers.push_back(std::move(line)); });
  server.handle_line("{");
  server.handle_line(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])");
  server.handle_line(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  server.handle_line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})");
  server.handle_line(R"({"jsonrpc":"2.0","id":9,"result":{}})");
  server.handle_too_large();
  BOOST_REQUIRE(answers.size() == 3U);
  BOOST_TEST(answers[0].find(R"("code":-32700)") != std::string::npos, answers[0]);
  BOOST_TEST(answers[1].find("batches are not supported") != std::string::npos, answers[1]);
  BOOST_TEST(answers[2].find("a line was longer than 8388608 bytes and was discarded") != std::string::npos,
             answers[2]);
}

BOOST_AUTO_TEST_CASE(a_cancelled_tool_has_no_answer) {
  const auto explain = R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"explain","arguments":{}}})";
  McpServer server(methods, roots, null_log(), [this](std::string line) { answers.push_back(std::move(line)); });
  server.handle_line(explain);
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_started; });
  }
  server.handle_line(explain);
  BOOST_TEST(answers.size() == 1U);
  BOOST_TEST(answers.back().find("another request has this id") != std::string::npos);
  server.handle_line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}})");
  server.finish(std::chrono::seconds(20));
  BOOST_TEST(answers.size() == 1U);
}

BOOST_AUTO_TEST_CASE(the_end_cancels_what_runs) {
  {
    McpServer server(methods, roots, null_log(), [this](std::string line) { answers.push_back(std::move(line)); });
    server.handle_line(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"explain"}})");
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_started; });
  }
  BOOST_TEST(answers.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
