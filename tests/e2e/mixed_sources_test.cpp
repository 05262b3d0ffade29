// One root with every kind of source: locked, installed offline from the cache, obeyed by a stock client.

#include <boost/algorithm/string/join.hpp>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <set>
#include <sstream>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/certificates.h"
#include "tests/support/docker_registry.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/oci_registry.h"

using namespace modlock;
using namespace modlock::test;

namespace {

const std::string kLeaf = "output \"x\" {\n  value = 1\n}\n";

struct MixedScene : Scene {
  MixedScene() {
    GitRepository& net = repository("net");
    release(net, "1.0.0", {{"main.tf", module_call("leaf", archive_source("leaf.zip"))}});
    web.serve(
        "/leaf.zip",
        {.status = 200, .body = make_zip({{.name = "leaf/main.tf", .content = kLeaf}}), .type = "application/zip"});
    web.add_version("acme/vpc/aws", "1.1.0",
                    ModuleRegistry::by_header("git::file://" + net.path().string() + "?ref=v1.0.0"));
    write_text(path("tofurc"), web.host_block("registry.example.test"));
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    // Else no registry may lead there.
    write_text(path("home/.gitconfig"), "[protocol \"file\"]\n\tallow = always\n");
    name_text(web.authority(), "<web>");
  }

  std::string archive_source(const std::string& name) const { return web.url() + "/" + name + "//leaf"; }

  std::string calls() {
    return module_call("direct", archive_source("leaf.zip")) +
           module_call("net", "git::" + repositories_url("net") + "?ref=v1.0.0") +
           module_call("vpc", "registry.example.test/acme/vpc/aws", "~> 1.0");
  }
  std::string repositories_url(const std::string& name) const { return "file://" + (repositories() / name).string(); }

  ModuleRegistry web;
};

struct OciToo : MixedScene {
  OciToo() {
    oci.push("acme/dns", "v2.0.0", {{"main.tf", kLeaf}});
    environment["SSL_CERT_FILE"] = oci.authority().string();
    name_text(oci.host(), "<oci>");
    write(".tofu-modlock.hcl", module_rule("dns", "~> 2.0"));
    write("main.tf", calls() + module_call("dns", oci.source("acme/dns")));
  }

  DockerRegistry oci;
};

// "held: ", "moved: the tag …".
std::string online_verdict(const Scene& scene, int exit_code) {
  const Json::Value verdict = scene.json({"verify", "--online"}, exit_code)["verdicts"][0];
  return scene.shown(verdict["verdict"].asString() + ": " + verdict["detail"].asString());
}

// A registry without a tag `latest`, and a module of it that a constraint locks.
struct OciTagScene : Scene {
  OciTagScene() {
    name_text(registry.host(), "<oci>");
    environment["SSL_CERT_FILE"] = authority.certificate().string();
    push("v1.0.0", "# 1.0\n", "1.0.0");
    write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
    write("main.tf", module_call("vpc", registry.source("acme/vpc")));
    BOOST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  }
  void push(const std::string& tag, const std::string& text, const std::string& name) {
    name_id(registry.push("acme/vpc", tag, {{"main.tf", text}}).substr(std::string("sha256:").size()), name);
  }

  TemporaryDirectory certificates;
  CertificateAuthority authority{certificates.path()};
  OciRegistry registry{authority.issue("oci")};
};

// A program that lists tags without ids, as `<tag> <id>` lines of a file say.
const std::string kTagProgram = R"(#!/usr/bin/env python3
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
for line in sys.stdin:
    request = json.loads(line)
    params, method = request["params"], request["method"]
    tags = dict(each.split() for each in open(here + "/tags"))
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    wanted = params.get("id") or tags.get(params.get("tag"))
    if method == "backend/describe":
        answer["result"] = {"schemes": ["tagged"], "name": "tagged", "version": "1"}
    elif method == "backend/list":
        answer["result"] = {"versions": [{"tag": tag} for tag in tags], "complete": True}
    elif wanted is None or wanted == "gone":
        answer["error"] = {"code": 1, "message": "there is no such tag", "data": {"code": "NOT_FOUND"}}
    else:
        if method == "backend/fetch":
            open(params["directory"] + "/main.tf", "w").write("# " + wanted + "\n")
        answer["result"] = {"id": wanted}
    print(json.dumps(answer), flush=True)
)";

// A module that is locked from a program of the user, which had only version 1.0.0 then.
struct TaggedScene : Scene {
  explicit TaggedScene(const std::string& query = "") {
    write_text(path("tagged"), kTagProgram);
    std::filesystem::permissions(path("tagged"), std::filesystem::perms::owner_all);
    write_text(path("tags"), "v1.0.0 one\n");
    write_text(path("home/.config/tofu-modlock/config.hcl"),
               "backend \"tagged\" {\n  command = [\"" + path("tagged").string() + "\"]\n}\n");
    write(".tofu-modlock.hcl", query.empty() ? module_rule("vpc", "~> 1.0") : "");
    write("main.tf", module_call("vpc", "tagged::https://example.test/net" + query));
    const Ran locked = modlock({"lock", "--install"});
    BOOST_REQUIRE_MESSAGE(locked.exit_code == 0, locked.err);
  }
};

std::string sources_of(const std::string& lock) {
  std::string text;
  for (std::size_t at = lock.find("  source"); at != std::string::npos; at = lock.find("  source", at + 1)) {
    text += lock.substr(at, lock.find('\n', at) - at + 1);
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mixed_sources)

BOOST_FIXTURE_TEST_CASE(every_kind_is_locked_and_installed_offline, OciToo, *needs(DockerRegistry::kPrograms)) {
  const Ran locked = modlock({"lock"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST(sources_of(shown(lock())) ==
             "  source = \"http://<web>/leaf.zip//leaf\"\n"
             "  source  = \"oci://<oci>/acme/dns\"\n"
             "  source = \"git::file://<dir>/repositories/net?ref=v1.0.0\"\n"
             "  source = \"http://<web>/leaf.zip//leaf\"\n"
             "  source  = \"registry.example.test/modules/acme/vpc/aws\"\n"
             "  source = \"http://<web>/leaf.zip//leaf\"\n");
  // One archive for three calls, one repository for two.
  const std::vector<std::string> asked = web.lines();
  BOOST_TEST(std::count(asked.begin(), asked.end(), "GET /leaf.zip") == 1);
  web.forget_requests();
  std::filesystem::remove_all(repositories());
  const Ran installed = modlock({"install", "--offline"});
  BOOST_TEST(installed.exit_code == 0, installed.err);
  BOOST_TEST(web.lines().empty());
  BOOST_TEST(read(".terraform/modules/vpc.leaf/leaf/main.tf") == kLeaf);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
  write(".terraform/modules/direct/leaf/main.tf", "# changed\n");
  const Ran verified = modlock({"verify"});
  BOOST_TEST(verified.exit_code == 4);
  BOOST_TEST(verified.out.find("module.direct") != std::string::npos, verified.out);
}

BOOST_FIXTURE_TEST_CASE(every_kind_hashes_the_same_files_alike, OciToo, *needs(DockerRegistry::kPrograms)) {
  GitRepository& leaf = repository("leaf");
  release(leaf, "3.0.0", {{"main.tf", kLeaf}});
  web.serve("/same.zip",
            {.status = 200, .body = make_zip({{.name = "main.tf", .content = kLeaf}}), .type = "application/zip"});
  web.add_version("acme/leaf/aws", "3.0.0", ModuleRegistry::by_header(web.url() + "/same.zip"));
  write("main.tf", module_call("archive", web.url() + "/same.zip") + module_call("dns", oci.source("acme/dns")) +
                       module_call("git", "git::" + repositories_url("leaf") + "?ref=v3.0.0") +
                       module_call("registry", "registry.example.test/acme/leaf/aws", "3.0.0"));
  const Json::Value plan = json({"lock"});
  std::set<std::string> hashes;
  for (const Json::Value& module : plan["modules"]) {
    for (const Json::Value& hash : module["hashes"]) {
      if (hash.asString().starts_with("h1:")) {
        hashes.insert(hash.asString());
      }
    }
  }
  BOOST_TEST(plan["modules"].size() == 4U);
  BOOST_TEST(hashes.size() == 1U, boost::algorithm::join(hashes, " "));
}

BOOST_FIXTURE_TEST_CASE(stock_client_asks_nobody, OciToo,
                        *needs("tofu or terraform") * needs(DockerRegistry::kPrograms)) {
  BOOST_TEST(modlock({"lock", "--install"}).exit_code == 0);
  const std::string manifest = read(".terraform/modules/modules.json");
  std::filesystem::remove_all(repositories());
  for (const std::string& client : clients()) {
    BOOST_TEST_CONTEXT(client) {
      web.forget_requests();
      const Ran ran = program({client, "init", "-input=false", "-no-color"});
      BOOST_TEST(ran.exit_code == 0, ran.err);
      BOOST_TEST(web.lines().empty());
      BOOST_TEST(read(".terraform/modules/modules.json") == manifest);
    }
  }
}

BOOST_FIXTURE_TEST_CASE(changed_archive_is_refused_and_a_repacked_one_is_not, MixedScene) {
  write("main.tf", module_call("direct", archive_source("leaf.zip")));
  BOOST_TEST(modlock({"lock"}).exit_code == 0);
  const std::string before = lock();
  const auto offer = [&](const std::string& zip) {
    web.serve("/leaf.zip", {.status = 200, .body = zip, .type = "application/zip"});
    std::filesystem::remove_all(cache());
    return modlock({"install"});
  };
  const Ran repacked = offer(make_zip({{.name = "leaf/", .content = "", .type = ArchiveEntry::Type::directory},
                                       {.name = "leaf/main.tf", .content = kLeaf}}));
  BOOST_TEST(repacked.exit_code == 0, repacked.err);
  BOOST_TEST(repacked.err.find("[TAG_MOVED]") != std::string::npos, repacked.err);
  std::filesystem::remove_all(root() / ".terraform");
  const Ran changed = offer(make_zip({{.name = "leaf/main.tf", .content = "# other\n"}}));
  BOOST_TEST(changed.exit_code == 4, changed.err);
  BOOST_TEST(changed.err.find("[HASH_MISMATCH]") != std::string::npos, changed.err);
  BOOST_TEST(!has(".terraform/modules/direct"));
  BOOST_TEST(lock() == before);
}

BOOST_AUTO_TEST_CASE(online_asks_an_oci_registry_for_the_locked_tag, *needs("openssl")) {
  struct Row {
    const char* name;
    std::function<void(OciTagScene&)> change;
    int exit_code;
    const char* expected;
  };
  const Row rows[] = {
      {"no tag latest", [](OciTagScene&) {}, 0, "held: "},
      {"another tag latest", [](OciTagScene& s) { s.push("latest", "# 2.0\n", "latest"); }, 0, "held: "},
      {"another manifest under the tag", [](OciTagScene& s) { s.push("v1.0.0", "# evil\n", "evil"); }, 4,
       "moved: the tag \"v1.0.0\" was moved from <1.0.0...> to <evil...>"},
      {"no manifest under the tag",
       [](OciTagScene& s) { s.registry.fault("/v2/acme/vpc/manifests/v1.0.0", {.status = 404}, 100); }, 5,
       "vanished: "},
      {"the tag not listed",
       [](OciTagScene& s) {
         s.registry.fault("/v2/acme/vpc/tags/list", {.body = R"({"name":"acme/vpc","tags":["latest"]})"}, 100);
       },
       5, "vanished: version 1.0.0 is no longer among the versions of \"oci://<oci>/acme/vpc\""},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OciTagScene scene;
      row.change(scene);
      const std::string verdict = online_verdict(scene, row.exit_code);
      BOOST_TEST(verdict.starts_with(row.expected), verdict);
      BOOST_TEST((row.exit_code != 0 || verdict == row.expected), verdict);
    }
  }
}

// A server may state anything about its archive. Only --full looks at the content.
BOOST_AUTO_TEST_CASE(online_asks_a_server_whether_its_archive_changed) {
  struct Row {
    const char* name;
    std::vector<std::pair<std::string, std::string>> headers;  // when it was locked
    std::vector<std::string> arguments;
    ModuleRegistry::Answer now;
    std::string condition;
    int exit_code;
    std::string expected;
  };
  const auto archive = [](const std::string& text, const char* etag) {
    return ModuleRegistry::Answer{.body = make_zip({{.name = "leaf/main.tf", .content = text}}),
                                  .type = "application/zip",
                                  .headers = {{"ETag", etag}}};
  };
  const std::vector<std::pair<std::string, std::string>> etag = {{"ETag", "\"1\""}};
  const ModuleRegistry::Answer same = archive(kLeaf, "\"1\"");
  const std::vector<std::string> online = {"verify", "--online"};
  const std::vector<std::string> full = {"verify", "--online", "--full"};
  const std::string moved = "moved: the archive has other content than when it was locked";
  const Row rows[] = {
      {"unchanged", etag, online, {.status = 304}, "\"1\"", 0, "held: content not downloaded"},
      {"the condition is ignored", etag, online, same, "\"1\"", 0, "held: "},
      {"changed", etag, online, archive("", "\"2\""), "\"1\"", 4, moved},
      {"no headers", {}, online, same, "", 0, "held: "},
      {"no headers, changed", {}, online, archive("", "\"1\""), "", 4, moved},
      {"a lie, which is believed", etag, online, {.status = 304}, "\"1\"", 0, "held: content not downloaded"},
      {"a lie, and --full", etag, full, archive("", "\"1\""), "", 4, moved},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      MixedScene scene;
      ModuleRegistry::Answer first = same;
      first.headers = row.headers;
      scene.web.serve("/leaf.zip", first);
      scene.write("main.tf", module_call("direct", scene.archive_source("leaf.zip")));
      BOOST_TEST(scene.modlock({"lock", "--install"}).exit_code == 0);
      scene.web.serve("/leaf.zip", row.now);
      scene.web.forget_requests();
      const Json::Value verdict = scene.json(row.arguments, row.exit_code)["verdicts"][0];
      BOOST_TEST(verdict["verdict"].asString() + ": " + verdict["detail"].asString() == row.expected);
      BOOST_TEST_REQUIRE(scene.web.requests().size() == 1U);
      BOOST_TEST(scene.web.requests().front().header("If-None-Match") == row.condition);
      // What was fetched then is the content that the cache knows.
      if (std::string_view(row.name) == "unchanged") {
        const Ran ran = scene.modlock(row.arguments);
        BOOST_TEST(ran.out.find("content not downloaded\n") != std::string::npos, ran.out);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(online_asks_an_external_backend_for_the_locked_tag, *needs("python3")) {
  struct Row {
    const char* name;
    const char* tags;
    int exit_code;
    const char* expected;
  };
  const Row rows[] = {
      {"held", "v1.0.0 one\n", 0, "held: "},
      {"another id under the tag", "v1.0.0 two\n", 4, "moved: the tag \"v1.0.0\" was moved from one to two"},
      {"listed, and not found", "v1.0.0 gone\n", 5,
       "vanished: the backend \"tagged\" (\"<dir>/tagged\") could not find the tag \"v1.0.0\" of "
       "\"tagged::https://example.test/net?tag=v1.0.0\": there is no such tag"},
      {"not listed", "v0.9.0 one\n", 5,
       "vanished: version 1.0.0 is no longer among the versions of \"tagged::https://example.test/net\"; first seen "
       "there at "},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TaggedScene scene;
      write_text(scene.path("tags"), row.tags);
      const std::string verdict = online_verdict(scene, row.exit_code);
      BOOST_TEST(verdict.starts_with(row.expected), verdict);
      BOOST_TEST((row.exit_code != 0 || verdict == row.expected), verdict);
    }
  }
}

BOOST_AUTO_TEST_CASE(updates_of_an_external_backend, *needs("python3")) {
  struct Row {
    const char* name;
    const char* query;
    const char* updates;
    const char* configuration;  // after `update vpc=2.0.0`
  };
  const Row rows[] = {
      {"a constraint", "",
       R"([{"isBreaking":false,"isLockfileUpdate":true,"newMajor":1,"newMinor":1,"newValue":"~> 1.0",)"
       R"("newVersion":"1.1.0","updateType":"minor"},{"isBreaking":true,"isLockfileUpdate":false,"newMajor":2,)"
       R"("newMinor":0,"newValue":"~> 2.0","newVersion":"2.0.0","updateType":"major"}])",
       "module \"vpc\" {\n  version = \"~> 2.0\"\n}\n"},
      {"a tag", "?tag=v1.0.0",
       R"([{"isBreaking":false,"isLockfileUpdate":false,"newMajor":1,"newMinor":1,"newValue":"v1.1.0",)"
       R"("newVersion":"1.1.0","updateType":"minor"},{"isBreaking":true,"isLockfileUpdate":false,"newMajor":2,)"
       R"("newMinor":0,"newValue":"v2.0.0","newVersion":"2.0.0","updateType":"major"}])",
       "module \"vpc\" {\n  source = \"tagged::https://example.test/net?tag=v2.0.0\"\n}\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TaggedScene scene(row.query);
      write_text(scene.path("tags"), "v1.0.0 one\nv1.1.0 two\nv2.0.0 three\n");
      const Json::Value found = scene.json({"update", "--list"})["dependencies"][0];
      BOOST_TEST(found["subject"].asString() == "module.vpc");
      BOOST_TEST(found["currentVersion"].asString() == "1.0.0");
      BOOST_TEST(!found.isMember("datasource"));
      BOOST_TEST(!found.isMember("skipReason"));
      BOOST_TEST(write_json(found["updates"]) == row.updates);
      const Ran updated = scene.modlock({"update", "vpc=2.0.0"});
      BOOST_TEST(updated.exit_code == 0, updated.err);
      BOOST_TEST(scene.read(std::string_view(row.query).empty() ? ".tofu-modlock.hcl" : "main.tf") ==
                 row.configuration);
      BOOST_TEST(scene.lock().find("\"tagged:three\"") != std::string::npos, scene.lock());
    }
  }
}

// A host with the level debug sees the requests of each kind that `--verbose` prints.
BOOST_FIXTURE_TEST_CASE(log_messages_name_each_request_with_its_time, MixedScene) {
  write("main.tf", calls());
  const Ran ran = modlock(
      {"serve"}, R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersions":["1.0"],)"
                 R"("capabilities":{"logMessage":true},"options":{"logLevel":"debug","implementation":"opentofu"}}})"
                 "\n"
                 R"({"jsonrpc":"2.0","id":2,"method":"lock/plan","params":{"include":["modules"],"root":")" +
                     root().string() + "\"}}\n");
  BOOST_TEST(ran.exit_code == 0, ran.err);
  std::set<std::string> told;
  std::istringstream lines(shown(ran.out));
  for (std::string line; std::getline(lines, line);) {
    const Json::Value message = parse_json(line).value();
    const std::string text = message["params"]["message"].asString();
    const std::size_t time = text.rfind(" in ");
    if (message["method"].asString() == "log/message" && time != std::string::npos) {
      BOOST_TEST(message["params"]["level"].asString() == "debug");
      BOOST_TEST(text.ends_with(" ms"), text);
      told.insert(text.substr(0, time));
    }
  }
  BOOST_TEST(boost::algorithm::join(told, "\n") ==
             "GET http://<web>/leaf.zip: 200\n"
             "GET http://<web>/v1/modules/acme/vpc/aws/1.1.0/download: 204\n"
             "GET http://<web>/v1/modules/acme/vpc/aws/versions: 200\n"
             "git fetch git::file://<dir>/repositories/net: exit code 0");
}

BOOST_FIXTURE_TEST_CASE(mercurial_is_served_by_a_program_of_the_user, Scene, *needs("hg, python3")) {
  const std::filesystem::path hg = path("hg-repository");
  BOOST_REQUIRE(program({"hg", "init", hg.string()}).exit_code == 0);
  write_text(hg / "main.tf", kLeaf);
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"add", "main.tf"},
                                                    {"commit", "-m", "one", "-u", "me"},
                                                    {"tag", "v1.2.0", "-u", "me"}}) {
    std::vector<std::string> argv = {"hg", "-R", hg.string()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    if (arguments.front() == "add") {
      argv.back() = (hg / "main.tf").string();
    }
    BOOST_REQUIRE(program(argv).exit_code == 0);
  }
  const std::string source = "hg::file://" + hg.string();
  write("main.tf", module_call("vpc", source));
  const Ran unserved = modlock({"lock"});
  BOOST_TEST(unserved.err.find("[SOURCE_UNSUPPORTED]") != std::string::npos, unserved.err);
  write(".tofu-modlock.hcl", "backend \"hg\" {\n  command = [\"" MODLOCK_HG_BACKEND "\"]\n}\n");
  const Ran denied = modlock({"lock"});
  BOOST_TEST(denied.exit_code == 8);
  BOOST_TEST(denied.err.find("[SOURCE_DENIED]") != std::string::npos, denied.err);
  write_text(path("home/.config/tofu-modlock/config.hcl"),
             "backend \"hg\" {\n  command = [\"" MODLOCK_HG_BACKEND "\"]\n}\n");
  write(".tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
  const Ran locked = modlock({"lock", "--install"});
  BOOST_TEST(locked.exit_code == 0, locked.err);
  BOOST_TEST(lock().find("  version = \"1.2.0\"\n") != std::string::npos, lock());
  BOOST_TEST(lock().find("\"hg:") != std::string::npos, lock());
  BOOST_TEST(read(".terraform/modules/vpc/main.tf") == kLeaf);
  BOOST_TEST(modlock({"verify"}).exit_code == 0);
}

BOOST_AUTO_TEST_SUITE_END()
