// Modules in S3, from a server that checks signatures: all commands, and the tree of a stock client.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "backends/http/curl_http_client.h"
#include "backends/package/tree_hash.h"
#include "tests/e2e/bucket_scene.h"
#include "tests/support/loopback.h"
#include "tests/support/needs.h"
#include "tests/support/process_group.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSecret = "canary/s3cr3t+key";

struct InS3 : BucketScene {
  InS3() {
    server.require("AKIAEXAMPLE", kSecret, "canary-session");
    environment["AWS_ACCESS_KEY_ID"] = "AKIAEXAMPLE";
    environment["AWS_SECRET_ACCESS_KEY"] = kSecret;
    environment["AWS_SESSION_TOKEN"] = "canary-session";
    write("main.tf", module_call("net", source("net.zip")) + module_call("dir", source("dir")) +
                         module_call("sub", source("net.zip//sub")));
  }
  std::string source(const std::string& below) const { return "s3::" + server.url() + "/mods/" + below; }
};

BOOST_FIXTURE_TEST_SUITE(s3, InS3)

BOOST_AUTO_TEST_CASE(is_locked_installed_and_verified) {
  check({"lock"}, 0);
  BOOST_TEST(occurrences(lock(), "\"zh:") == 3U);
  check({"install"}, 0);
  BOOST_TEST(read(".terraform/modules/dir/sub/a b.tf") == "# sub\n");
  check({"verify"}, 0);
  check({"ci"}, 0);
  check({"lock", "--frozen"}, 0);
  check({"verify", "--online"}, 0);
  check({"verify", "--online", "--full"}, 0);
  check({"versions", source("net.zip")}, 8, "is an archive, which has no versions [SOURCE_UNSUPPORTED]");
  check({"bundle", "create", "--output", path("bundle").string()}, 0);
  check({"bundle", "verify", path("bundle").string()}, 0);
  check({"mirror", "--", "true"}, 0);
  check({"sbom"}, 0);
  check({"outdated"}, 0);
  check({"explain", "module.net"}, 0);
  check_cache();
  check_without_requests();
}

BOOST_AUTO_TEST_CASE(what_happened_at_the_source) {
  check({"lock", "--install"}, 0);
  server.put("mods", "net.zip", archive("2"));
  check({"verify", "--online"}, 4, "has other content than when it was locked");
  server.put("mods", "net.zip", archive("1"));
  check({"verify", "--online"}, 0);
  server.put("mods", "dir/main.tf", "# other\n");
  check({"verify", "--online"}, 4, "has other content than when it was locked");
  fs::remove_all(cache());
  fs::remove_all(root() / ".terraform");
  check({"install"}, 4, "HASH_MISMATCH");
  server.remove("mods", "net.zip");
  check({"verify", "--online"}, 4);
  server.remove("mods", "dir/main.tf");
  server.remove("mods", "dir/sub/a b.tf");
  check({"verify", "--online"}, 5, "vanished");
}

BOOST_AUTO_TEST_CASE(a_version_is_part_of_the_address) {
  server.put("mods", "net.zip", archive("2"));
  write("main.tf", module_call("net", source("net.zip?version=1")));
  check({"lock", "--install"}, 0);
  BOOST_TEST(read(".terraform/modules/net/main.tf").find("value = 1") != std::string::npos);
  BOOST_TEST(lock().find("net.zip?version=1\"") != std::string::npos, lock());
  write("main.tf", module_call("net", source("net.zip?version=2")));
  check({"lock", "--frozen"}, 3, "FROZEN");
}

BOOST_AUTO_TEST_CASE(a_lock_file_without_its_entry_is_frozen) {
  write(".terraform.lock.hcl", "# This file is maintained automatically by \"tofu init\".\n");
  check({"lock", "--frozen"}, 3, "FROZEN");
  check({"verify"}, 3, "not-locked");
  // An entry is needed even if the source is among those that need no lock.
  write(".tofu-modlock.hcl", "unlocked_sources = [\"s3::*\"]\n");
  check({"verify"}, 3, "not-locked");
}

BOOST_AUTO_TEST_CASE(the_key_is_named_and_not_shown) {
  const std::string place = "environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  for (const auto& [command, line] : {std::pair{std::vector<std::string>{"doctor"}, "s3: a credential in " + place},
                                      std::pair{std::vector<std::string>{"explain", "--credentials", "localhost/mods"},
                                                "s3: uses " + place + "\n"}}) {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.out.find(line) != std::string::npos, ran.out << ran.err);
    BOOST_TEST((ran.out + ran.err).find("canary") == std::string::npos, ran.out << ran.err);
  }
  BOOST_TEST(server.server().lines().empty());
}

BOOST_AUTO_TEST_CASE(rules_hold_before_a_request) {
  write(".tofu-modlock.hcl", "deny_sources = [\"s3::*\"]\n");
  check({"lock"}, 8, "SOURCE_DENIED");
  BOOST_TEST(server.server().lines().empty());
}

BOOST_AUTO_TEST_CASE(without_or_with_a_wrong_key) {
  environment.erase("AWS_ACCESS_KEY_ID");
  check({"lock"}, 7, "looked for credentials for S3 in profile \"default\" of the shared files of AWS: no static keys");
  environment["AWS_ACCESS_KEY_ID"] = "AKIAEXAMPLE";
  environment["AWS_SECRET_ACCESS_KEY"] = "canary wrong";
  check({"lock"}, 7, "the error code of the server is SignatureDoesNotMatch");
}

// The AWS CLI is a program that the user has to allow.
BOOST_AUTO_TEST_CASE(a_program_for_credentials_is_run_only_for_calls_of_the_user) {
  const fs::path log = path("aws.log");
  write_text(path("bin/aws"), "#!/bin/sh\necho \"$*\" >> '" + log.string() +
                                  "'\necho '{\"AccessKeyId\": \"AKIAEXAMPLE\", " + "\"SecretAccessKey\": \"" + kSecret +
                                  "\", \"SessionToken\": \"canary-session\"}'\n");
  fs::permissions(path("bin/aws"), fs::perms::owner_all);
  environment["PATH"] = path("bin").string() + ":" + std::getenv("PATH");
  for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}) {
    environment.erase(name);
  }
  FaultServer leading([&](const ReceivedRequest&) {
    return ServerAnswer{.headers = {{"X-Terraform-Get", source("net.zip")}}, .body = ""};
  });
  GitRepository& calling = repository("calling.git");
  release(calling, "1.0.0", {{"calls.tf", module_call("inner", source("net.zip"))}});
  write("local/main.tf", module_call("inner", source("net.zip")));
  const std::string allowed = "credential_programs = [\"aws\"]\n";
  const std::string only_own = "looked for credentials for S3 in the program aws: run only for calls in your own";
  const std::string process = "configure export-credentials --format process";
  struct Row {
    const char* name;
    std::string settings;  // of the user
    std::string source;
    std::string problem;
    std::string asked;
  };
  for (const Row& row : {
           Row{"not allowed", "", source("net.zip"), "the program aws: not allowed by credential_programs", ""},
           Row{"allowed", allowed, source("net.zip"), "", process + "\n"},
           Row{"a directory", allowed, source("dir"), "", process + "\n"},
           Row{"a profile", allowed, source("net.zip?aws_profile=work"), "", process + " --profile=work\n"},
           Row{"a call of a local module", allowed, "./local", "", process + "\n"},
           Row{"a call of a package", allowed, "git::" + calling.url() + "?ref=v1.0.0", only_own, ""},
           Row{"a response of a server", allowed, "http://" + leading.host() + "/net", only_own, ""},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      write_text(path("home/.config/tofu-modlock/config.hcl"), row.settings);
      for (const fs::path& old : {log, root() / ".terraform.lock.hcl", root() / ".terraform", cache()}) {
        fs::remove_all(old);
      }
      write("main.tf", module_call("a", row.source));
      check({"lock"}, row.problem.empty() ? 0 : 7, row.problem);
      BOOST_TEST((fs::exists(log) ? read_text(log) : "") == row.asked);
      if (row.asked.empty()) {
        BOOST_TEST(modlock({"doctor"}).exit_code == 0);
        BOOST_TEST(!fs::exists(log));
      }
      if (row.problem.empty()) {
        fs::remove_all(cache());
        check({"install"}, 0);
        check({"verify", "--online"}, 0);
        const Ran doctor = modlock({"doctor"});
        BOOST_TEST(doctor.out.find("s3: a credential in the program aws") != std::string::npos, doctor.out);
      }
    }
  }
  write_text(path("home/.config/tofu-modlock/config.hcl"), allowed);
  write_text(path("bin/aws"), "#!/bin/sh\necho canary; echo canary >&2; exit 255\n");
  write("main.tf", module_call("a", source("t.zip")));
  check({"lock"}, 7, "the credential helper aws ended with exit code 255 [UNREACHABLE]");
}

// Entries of a backend of the user keep their ids, and their meaning.
BOOST_AUTO_TEST_CASE(a_backend_of_the_user_has_priority) {
  write_text(path("s3-backend"), R"(#!/usr/bin/env python3
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    params = request.get("params", {})
    if request["method"] == "backend/describe":
        result = {"schemes": ["s3"], "name": "own", "version": "1"}
    elif request["method"] == "backend/list":
        result = {"versions": [{"tag": "v1.0.0", "id": "one"}], "complete": True}
    elif request["method"] == "backend/pin":
        result = {"id": "one"}
    elif request["method"] == "backend/fetch":
        with open(os.path.join(params["directory"], "main.tf"), "w") as file:
            file.write("# own\n")
        result = {"id": "one"}
    else:
        result = None
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
)");
  fs::permissions(path("s3-backend"), fs::perms::owner_all);
  write_text(path("home/.config/tofu-modlock/config.hcl"),
             "backend \"s3\" {\n  command = [\"" + path("s3-backend").string() + "\"]\n}\n");
  write("main.tf", module_call("net", source("net?version=7")) + module_call("listed", source("net")));
  write(".tofu-modlock.hcl", module_rule("listed", "~> 1.0"));
  check({"lock", "--install"}, 0);
  BOOST_TEST(occurrences(lock(), "\"s3:one\"") == 2U, lock());
  BOOST_TEST(lock().find("version=7") == std::string::npos, lock());
  BOOST_TEST(read(".terraform/modules/net/main.tf") == "# own\n");
  check({"lock", "--frozen"}, 0);
  check({"verify", "--online"}, 0);
  const std::string doctor = modlock({"doctor"}).out;
  BOOST_TEST(doctor.find("s3: a credential in ") == std::string::npos, doctor);
  BOOST_TEST(server.server().lines().empty());
  // Without the backend, the entry needs the hash of an archive, and `install` needs the entry.
  fs::remove(path("home/.config/tofu-modlock/config.hcl"));
  fs::remove_all(root() / ".terraform");
  write("main.tf", module_call("net", source("net?version=7")));
  const Ran verified = modlock({"verify"});
  BOOST_TEST((verified.out + verified.err).find("Next: run tofu-modlock lock, then tofu-modlock install.\n") !=
                 std::string::npos,
             verified.out << verified.err);
}

// The tree of a stock client, and no request of a client for an installed one.
struct WithClient : InS3 {
  void compare(const std::string& url) {
    const auto from = [&](const std::string& below) { return "s3::" + url + "/mods/" + below; };
    write("main.tf", module_call("net", from("net.zip")) + module_call("dir", from("dir")) +
                         module_call("sub", from("net.zip//sub")) + module_call("tar", from("t?archive=tgz")));
    const Ran theirs = program({"tofu", "init", "-no-color", "-input=false"});
    BOOST_REQUIRE_MESSAGE(theirs.exit_code == 0, theirs.out << theirs.err);
    std::map<std::string, std::string> hashes;
    for (const char* key : {"net", "dir", "sub", "tar"}) {
      hashes[key] = hash_tree(root() / ".terraform/modules" / key, Context{}).value();
    }
    fs::remove_all(root() / ".terraform");
    check({"lock", "--install"}, 0);
    for (const auto& [key, hash] : hashes) {
      BOOST_TEST(hash_tree(root() / ".terraform/modules" / key, Context{}).value() == hash, key);
    }
    environment["AWS_SECRET_ACCESS_KEY"] = "canary wrong";
    const Ran installed = program({"tofu", "init", "-no-color", "-input=false"});
    BOOST_TEST(installed.exit_code == 0, installed.out << installed.err);
  }
  std::string tar() const {
    return compress("gzip", make_tar({{.name = "main.tf", .content = "output \"t\" {\n  value = 1\n}\n"}}));
  }
};

BOOST_FIXTURE_TEST_CASE(a_stock_client_has_the_same_trees, WithClient, *needs("tofu")) {
  server.put("mods", "t", tar());
  compare(server.url());
}

// A server of another maker, in moto[server] of PyPI.
BOOST_FIXTURE_TEST_CASE(moto_and_a_stock_client, WithClient, *needs("moto_server, tofu")) {
  const int port = free_port();
  ProcessGroup moto({find_server("moto_server"), "-H", "127.0.0.1", "-p", std::to_string(port)}, path("moto.log"));
  BOOST_REQUIRE(moto.wait_until([&] { return accepts(port); }));
  const auto http = make_curl_http_client("test");
  const std::string url = "http://localhost:" + std::to_string(port);
  const auto put = [&](const std::string& below, const std::string& body) {
    const HttpRequest request{.method = HttpRequest::Method::put,
                              .url = SecretText(url + "/mods" + below),
                              .purpose = "put",
                              .headers = {{"Content-Type", "application/octet-stream"}},
                              .body = body};
    const auto answer = expect_success(http->send(request, Context{}), request);
    BOOST_REQUIRE_MESSAGE(answer.has_value(), (answer ? "" : answer.error().message));
  };
  put("", "");
  put("/net.zip", archive("1"));
  put("/dir/main.tf", "output \"d\" {\n  value = 1\n}\n");
  put("/dir/sub/a%20b%2Bc.tf", "# sub\n");
  put("/t", tar());
  compare(url);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
