#include "tests/backends/external/external_fixture.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "backends/base/process.h"
#include "tests/support/process_group.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// argv: the directory for its records, the behaviour, the scheme.
constexpr const char* kProgram = R"python(
import hashlib, json, os, signal, subprocess, sys, threading

where, behaviour, scheme = sys.argv[1:]
lock = threading.Lock()


def record(name, line):
    with lock, open(os.path.join(where, name), "a") as file:
        file.write(line + "\n")


def runs():
    with open(os.path.join(where, "starts")) as file:
        return len(file.readlines())


def put(text):
    with lock:
        sys.stdout.write(text)
        sys.stdout.flush()


def answer(id, **members):
    put(json.dumps({"jsonrpc": "2.0", "id": id, **members}) + "\n")


def say(text):
    sys.stderr.write(text)
    sys.stderr.flush()


def end(code):
    os._exit(code)


def id_of(name):
    return hashlib.sha1(name.encode()).hexdigest() if scheme == "git" else "id-" + name


def result_of(method, params):
    if method == "backend/describe":
        return {"schemes": ["other", "fake", "git", "registry"], "name": "fake program", "version": "1.5"}
    if method == "backend/list":
        return {"versions": [{"tag": "v1.0.0", "id": id_of("v1.0.0")}, {"tag": "v1.1.0"}, {"tag": "other"}],
                "complete": True}
    id = params.get("id") or id_of(params.get("tag") or params.get("ref") or "default")
    if method == "backend/fetch":
        with open(os.path.join(params["directory"], "main.tf"), "w") as file:
            file.write("# " + id + "\n")
    return {"id": id, "ref": "HEAD"} if scheme == "git" else {"id": id}


def error(id, data=None, message="no such thing", **more):
    answer(id, error={"code": -32000, "message": message, **({} if data is None else {"data": data}), **more})


waiting = []


def in_reverse(id, method, params):
    waiting.append((id, method, params))
    if len(waiting) == 3:
        for id, method, params in reversed(waiting):
            answer(id, result=result_of(method, params))


def writes_large_file(id, method, params):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    with open(os.path.join(where, "large"), "wb") as file:
        file.write(b"x" * (8 << 20))


def first_twice(id, method, params):
    waiting.append((id, method, params))
    if len(waiting) == 2:
        answer(waiting[0][0], result=result_of(*waiting[0][1:]))
        answer(waiting[0][0], result=result_of(*waiting[0][1:]))


def grandchild(id, method, params):
    child = subprocess.Popen(["sleep", "1000"])
    record("grandchildren", str(child.pid))
    end(5)


def closes(descriptor):
    def close(id, method, params):
        os.close(descriptor)
        record("closed", "")
        signal.pause()
    return close


def echo_secrets(id, method, params):
    say("asked for " + params["url"] + "\n")
    error(id, {"code": "NOT_FOUND", "hint": "look at " + params["url"]},
          "user me-and-myself with canary-password at " + params["url"] + "\x1b[0m\nis not canary-query")


def floods(id, method, params):
    for _ in range(400):
        say("x" * 32768 + "\n")
    say("\x1b[1mdone\n")
    answer(id, result=result_of(method, params))


def tells(id, method, params):
    put('\r\n \t\n{"jsonrpc":"2.0","method":"log/message","params":{}}\r\n')
    answer(id, result=result_of(method, params))


def silent(id, method, params):
    say("thinking\n")
    record("silent", "")


def silent_at_first(id, method, params):
    if runs() > 1:
        answer(id, result=result_of(method, params))
        return
    waiting.append(id)
    record("silent" if len(waiting) == 1 else "silent twice", "")


def twice_the_same(id, method, params):
    tags = {"v1.0.0": "a", "1.0.0": "b", "v1.1.0": "a", "1.1.0": "a", "v1.2.0": "c"}
    if method == "backend/list":
        versions = [{"tag": tag} for tag in tags] + [{"tag": "bad\ntag", "id": "d"}, {"tag": "", "id": "e"}]
        answer(id, result={"versions": versions, "complete": False})
    else:
        answer(id, result={"id": tags[params["tag"]]})


ON_REQUEST = {
    "normal": lambda id, method, params: answer(id, result=result_of(method, params)),
    "grows": lambda *request: (waiting.append(bytearray(os.urandom(1) * (64 << 20))), signal.pause()),
    "starts what grows": lambda *request: subprocess.run(
        [sys.executable, "-I", "-c", "import signal; a = bytearray(b'x' * (64 << 20)); signal.pause()"]),
    "writes a large file": writes_large_file,
    "crash once": lambda *request: end(4) if runs() == 1 else ON_REQUEST["normal"](*request),
    "crash always": lambda *request: end(4),
    "crash with words": lambda *request: (say("first\nTraceback: b\x07oom at https://me:secret@host/x?t=1\n\n"), end(1)),
    "crash by a signal": lambda *request: os.kill(os.getpid(), signal.SIGKILL),
    "crash inside an answer": lambda id, *rest: (put('{"jsonrpc":"2.0","id":%d,"resu' % id), end(6)),
    "crash after the answer": lambda *request: (ON_REQUEST["normal"](*request), end(7)),
    "crash with a grandchild": grandchild,
    "closes stdout": closes(1),
    "closes stdin": lambda *request: (os.close(0), record("closed", ""), signal.pause()),
    "garbage": lambda *request: put("listing tags…\n"),
    "bad JSON-RPC": lambda id, *rest: put('{"id":%d,"result":{}}\n' % id),
    "long line": lambda *request: put('"' + "x" * (8 << 20) + '"\n'),
    "endless line": lambda *request: (put('"' + "x" * (9 << 20)), signal.pause()),
    "flood": lambda *request: [put("x" * 65536) for i in iter(int, 1)],
    "no id": lambda *request: put('{"jsonrpc":"2.0","result":{}}\n'),
    "other id": lambda id, *rest: answer(id + 7, result={}),
    "description again": lambda *request: answer(0, result=result_of("backend/describe", {})),
    "wrong shape": lambda id, *rest: answer(id, result={"versions": [{"tag": "v1.0.0", "id": 7}], "complete": True}),
    "no object": lambda id, *rest: answer(id, result=[1]),
    "null result": lambda id, *rest: answer(id, result=None),
    "no complete": lambda id, *rest: answer(id, result={"versions": []}),
    "no versions": lambda id, *rest: answer(id, result={"complete": True}),
    "bad id": lambda id, *rest: answer(id, result={"versions": [{"tag": "v1.0.0", "id": "../x"}], "complete": True}),
    "bad fetched id": lambda id, *rest: answer(id, result={"id": "-x"}),
    "commit in capitals": lambda id, *rest: answer(id, result={"id": id_of("main").upper()}),
    "abbreviated commit": lambda id, *rest: answer(id, result={"id": id_of("main")[:12]}),
    "full names": lambda id, *rest: answer(id, result={"id": id_of("main"), "ref": "refs/heads/main",
                                                       "date": "2026-11-28T20:05:09+01:00"}),
    "no full name": lambda id, *rest: answer(id, result={"id": id_of("main")}),
    "name of a pull request": lambda id, *rest: answer(id, result={"id": id_of("main"), "ref": "refs/pull/1/head"}),
    "name with a line end": lambda id, *rest: answer(id, result={"id": id_of("main"), "ref": "refs/heads/a\nb"}),
    "no date": lambda id, *rest: answer(id, result={"id": id_of("main"), "ref": "HEAD", "date": "yesterday"}),
    "error": lambda id, *rest: error(id, {"code": "NOT_FOUND", "hint": "look there"}),
    "error to wait for": lambda id, *rest: error(id, {"code": "RATE_LIMITED", "retryAfterMs": 1500}),
    "long error": lambda id, *rest: error(id, {"code": "NOT_FOUND"}, "é" * 1000),
    "echoes secrets": echo_secrets,
    "floods stderr": floods,
    "tells more": tells,
    "silent": silent,
    "deaf to SIGTERM": silent,
    "silent at first": silent_at_first,
    "in reverse": in_reverse,
    "first twice": first_twice,
    "same versions": twice_the_same,
    "other tree": lambda id, method, params: answer(id, result={"id": id_of("other")}),
    "no directory": lambda id, method, params: (os.rmdir(params["directory"]), answer(id, result=result_of("", params))),
    "link": lambda id, method, params: (os.rmdir(params["directory"]), os.symlink("/", params["directory"]),
                                        answer(id, result=result_of("", params))),
}
ON_DESCRIBE = {
    "describes others": lambda id, *rest: answer(id, result={"schemes": ["s3", "gcs"], "name": "n", "version": "1"}),
    "describes none": lambda id, *rest: answer(id, result={"schemes": [], "name": "n", "version": "1"}),
    "describes badly": lambda id, *rest: answer(id, result={"schemes": "fake", "name": "n", "version": "1"}),
    "describes with an error": lambda id, *rest: error(id, {"code": "TOOL_MISSING"}, "hg is not installed"),
    "describes never": silent,
}

record("starts", str(os.getpid()))
if behaviour == "crash at start":
    say("boom\n")
    end(3)
if behaviour == "deaf to SIGTERM":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    request = json.loads(line)
    id, method, params = request["id"], request["method"], request["params"]
    shown = {name: value for name, value in params.items() if name not in ("url", "directory")}
    record("requests", method + " " + json.dumps(shown, sort_keys=True))
    table = ON_DESCRIBE if method == "backend/describe" else ON_REQUEST
    table.get(behaviour, ON_REQUEST["normal"])(id, method, params)
)python";

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

const std::string& python() {
  static const std::string found = [] {
    for (const char* name : {"/usr/bin/python3", "python3"}) {
      if (const auto program = find_program(name)) {
        return program->string();
      }
    }
    return std::string();
  }();
  return found;
}

ExternalFixture::ExternalFixture(std::string name) : scheme(std::move(name)) {
  directory.write("program.py", kProgram);
  fs::create_directory(directory / "parent");
  context.log = &log;
  context.stats = &stats;
}

ExternalCommand ExternalFixture::command(const std::string& behaviour) const {
  return {
      .scheme = scheme,
      .command = {python(), "-I", (directory / "program.py").string(), directory.path().string(), behaviour, scheme},
      .hosts = scheme == "fake" ? std::vector<std::string>() : std::vector<std::string>{"example.com"}};
}

std::unique_ptr<BackendCore> ExternalFixture::backend(const std::string& behaviour, ExternalLimits limits) const {
  return make_external_backend(command(behaviour), limits);
}

std::string ExternalFixture::list(const std::string& behaviour, ExternalLimits limits) const {
  return scheme == "registry"
             ? outcome(make_external_registry(command(behaviour), limits)(source().source, "", context))
             : outcome(backend(behaviour, limits)->list_versions(source(), "", context));
}

SourceAddress ExternalFixture::source(const std::string& more) const {
  auto parsed =
      parse_source(scheme == "registry" ? "example.com/acme/vpc/aws" : scheme + "::https://example.com/mod" + more);
  if (!parsed) {
    throw std::runtime_error(parsed.error().message);
  }
  return *parsed;
}

std::vector<int> ExternalFixture::pids(const std::string& file) const {
  std::vector<int> found;
  for (const std::string& line : lines_of(directory / file)) {
    found.push_back(std::stoi(line));
  }
  return found;
}

bool ExternalFixture::all_gone() const {
  const std::vector<int> started = pids("starts");
  const std::vector<int> theirs = pids("grandchildren");
  return std::all_of(started.begin(), started.end(), ends) && std::all_of(theirs.begin(), theirs.end(), ends);
}

std::vector<std::string> ExternalFixture::requests() const {
  return lines_of(directory / "requests");
}

std::string ExternalFixture::could_not(const std::string& doing) const {
  return "the backend \"" + scheme + "\" (\"" + python() + "\") could not " + doing + ": ";
}

std::string ExternalFixture::id_of(const std::string& name) const {
  static const std::map<std::string, std::string> commits = {{"v1.0.0", "7ac19ee157556944f6939fe82286468b89688712"},
                                                             {"main", "b28b7af69320201d1cf206ebf28373980add1451"},
                                                             {"other", "d0941e68da8f38151ff86a61fc59f7c5cf9fcaa2"},
                                                             {"default", "7505d64a54e061b7acd54ccd58b49dc43500b635"}};
  return scheme == "git" ? commits.at(name) : "id-" + name;
}

boost::test_tools::assertion_result has_python(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(!python().empty());
  result.message() << "python3 is not on PATH";
  return result;
}

}  // namespace modlock::test
