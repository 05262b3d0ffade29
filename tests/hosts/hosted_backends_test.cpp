// A program of the user that serves hosts of a built-in kind, beside tofu-modlock itself: lock file, installed modules
// and verdicts are equal.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <optional>
#include <sstream>

#include "protocol/base/json.h"
#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/docker_registry.h"
#include "tests/support/https_git_server.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/oci_module.h"
#include "tests/support/run.h"
#include "tests/support/s3_server.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// A program that docs/backends.md shows.
std::string program_of_page(const std::string& name) {
  const std::string page = read_text(fs::path(MODLOCK_DOCS) / "backends.md");
  const std::string begin = "<!-- file: /usr/local/bin/" + name + " -->\n```python\n";
  const std::size_t at = page.find(begin);
  BOOST_REQUIRE(at != std::string::npos);
  return page.substr(at + begin.size(), page.find("```\n", at + begin.size()) - at - begin.size());
}

// A program for a kind that answers what the file of a method beside it has ("backend-list"), and copies the files of
// "written" to the directory of a request.
std::string program_that_answers(const std::string& kind) {
  return R"(#!/usr/bin/env python3
import json, os, shutil, sys
here = os.path.dirname(os.path.abspath(__file__)) + "/"
for line in sys.stdin:
    request = json.loads(line)
    result = {"schemes": [")" +
         kind + R"("], "name": "liar", "version": "1"}
    if request["method"] != "backend/describe":
        result = json.load(open(here + request["method"].replace("/", "-")))
    if "directory" in request["params"]:
        shutil.copytree(here + "written", request["params"]["directory"], symlinks=True, dirs_exist_ok=True)
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
)";
}

struct Hosted : Scene {
  Hosted() : net(server.repositories() / "net.git"), part(server.repositories() / "part.git") {
    environment["GIT_SSL_CAINFO"] = server.authority().string();
    name_text(server.host(), "<host>");
    part.commit({{"part.tf", "# a part\n"}});
    first = release(net, "1.0.0", {{"nested/main.tf", "# nested\n"}});
    net.commit({{"main.tf", "# between\n"}, {"nested/main.tf", "# nested\n"}});
    net.git({"tag", "-d", "v1.0.0"});
    net.annotated_tag("v1.0.0", first);
    release(net, "1.1.0", {{"nested/main.tf", "# nested, too\n"}});
    net.tag("nested/v0.3.0");
    release(net, "2.0.0");
    net.branch("next", first);
    net.tag("next", "main");
    net.branch("feature/x", first);
    const std::string tree = net.write_tree(
        "100755 blob " + net.write_blob("#!/bin/sh\n") + "\trun.sh\n120000 blob " + net.write_blob("run.sh") +
        "\tlink.sh\n100644 blob " + net.write_blob("[submodule \"part\"]\n\tpath = part\n\turl = ../part.git\n") +
        "\t.gitmodules\n160000 commit " + part.id("main") + "\tpart");
    net.branch("whole", net.commit_tree(tree));
    add_program("git-backend", program_of_page("git-backend"));
  }

  void add_program(const std::string& name, const std::string& text) const {
    write_text(path(name), text);
    fs::permissions(path(name), fs::perms::owner_all);
  }
  std::string source(const std::string& more = "") const { return "git::" + server.url("open", "net.git") + more; }
  // One call for each source, and rules for those with a constraint.
  void write_calls(const std::vector<std::pair<std::string, std::string>>& sources,
                   const std::string& more = {}) const {
    std::string calls;
    std::string rules;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string key = "m" + std::to_string(i);
      calls += module_call(key, sources[i].first);
      rules += sources[i].second.empty() ? "" : "module \"" + key + "\" {\n" + sources[i].second + "}\n";
    }
    write("main.tf", calls);
    write(".tofu-modlock.hcl", more + rules);
  }
  void use_program(const std::string& kind, const std::string& name, const std::string& host,
                   const std::string& more = {}) const {
    write_text(path("home/.config/tofu-modlock/config.hcl"), more + "backend \"" + kind + "\" {\n  command = [\"" +
                                                                 path(name).string() + "\"]\n  hosts = [\"" + host +
                                                                 "\"]\n}\n");
  }
  void use_backend(const std::string& name = "git-backend") const { use_program("git", name, server.host()); }
  void use_no_backend() const { fs::remove(path("home/.config/tofu-modlock/config.hcl")); }
  void start_empty() const {
    fs::remove_all(cache());
    fs::remove_all(root() / ".terraform");
    fs::remove(root() / ".terraform.lock.hcl");
  }
  // Every installed file and link, with its mode and content.
  std::string tree() const {
    return run({"sh", "-c",
                "cd '" + (root() / ".terraform/modules").string() +
                    "' && find . -printf '%y %m %p %l\\n' | sort && find . -type f | sort | xargs -d '\\n' sha256sum"});
  }
  std::string requests() const {
    std::string lines;
    for (const std::string& line : server.log()) {
      lines += line + "\n";
    }
    return lines;
  }

  HttpsGitServer server;
  GitRepository net;
  GitRepository part;
  std::string first;
};

BOOST_FIXTURE_TEST_SUITE(hosted_backends, Hosted, *needs(HttpsGitServer::kPrograms) * needs("python3"))

BOOST_AUTO_TEST_CASE(results_are_those_of_the_built_in_kind) {
  write_calls({{source(), ""},
               {source("?ref=HEAD"), ""},
               {source("?ref=main"), ""},
               {source("?ref=v1.0.0"), ""},
               {source("?ref=v1.1.0"), ""},
               {source("?ref=tags/v1.1.0"), ""},
               {source("?ref=refs/tags/v1.0.0"), ""},
               {source("?ref=heads/next"), ""},
               {source("?ref=next"), ""},
               {source("?ref=feature/x"), ""},
               {source("?ref=origin/next"), ""},
               {source("?ref=" + first), ""},
               {source("?ref=" + first.substr(0, 10)), ""},
               {source("?ref=main~1"), ""},
               {source("?ref=whole"), ""},
               {source("//nested?ref=v1.1.0"), ""},
               {source(), "  version = \"~> 1.0\"\n"},
               {source("//nested"), "  version = \"1.0.0\"\n"},
               {source(), "  version = \">= 0.1\"\n  tag_prefix = \"nested/\"\n"},
               {source(), "  version = \">= 1.0\"\n"}});
  struct Result {
    std::string lock;
    std::string tree;
    std::string verified;
    std::string online;
  };
  std::optional<Result> built_in;
  for (const bool is_external : {false, true}) {
    start_empty();
    if (is_external) {
      use_backend();
    }
    const Ran locked = modlock({"lock", "--install", "-v"});
    BOOST_TEST_REQUIRE(locked.exit_code == 0, locked.err);
    BOOST_TEST((locked.err.find("\"), backend/fetch git::https://<host>/open/net.git: answered in ") !=
                std::string::npos) == is_external);
    const Result result{lock(), tree(), write_json(json({"verify"})), write_json(json({"verify", "--online"}))};
    BOOST_TEST(occurrences(result.lock, "    \"git:") == 20U);
    BOOST_TEST(occurrences(result.verified, "\"verdict\":\"held\"") == 20U, result.verified);
    if (built_in) {
      BOOST_TEST(result.lock == built_in->lock);
      BOOST_TEST(result.tree == built_in->tree);
      BOOST_TEST(result.verified == built_in->verified);
      BOOST_TEST(result.online == built_in->online);
      BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
      BOOST_TEST(modlock({"install", "--offline"}).exit_code == 0);
    }
    built_in = result;
  }
}

BOOST_AUTO_TEST_CASE(results_of_a_registry_are_those_of_the_built_in_kind) {
  ModuleRegistry registry(server.certificate());
  environment["SSL_CERT_FILE"] = server.authority().string();
  name_text(registry.authority(), "<registry>");
  const std::string zip = make_zip({{.name = "sub/main.tf", .content = "# packed\n"}});
  registry.serve("/pkg.zip", {.status = 200, .body = zip, .type = "application/zip"});
  registry.add_version("acme/vpc/aws", "1.0.0", ModuleRegistry::by_header(source("?ref=v1.0.0")));
  registry.add_version("acme/vpc/aws", "1.1.0", ModuleRegistry::by_body(source("//nested?ref=v1.1.0")));
  registry.add_version("acme/vpc/aws", "1.2.0-rc1", ModuleRegistry::by_body(source("?ref=main")));
  registry.add_version("acme/vpc/aws", "1.2.0", ModuleRegistry::by_body(source("?ref=" + first)));
  registry.add_version("acme/vpc/aws", "2.0.0", ModuleRegistry::by_header(registry.url() + "/pkg.zip"));
  registry.add_version("acme/vpc/aws", "2.1.0", ModuleRegistry::by_header("/pkg.zip//sub"));
  registry.add_version("acme/vpc/aws", "not-a-version", ModuleRegistry::by_header("/none"));
  const std::string module = registry.authority() + "/acme/vpc/aws";
  std::string calls = module_call("inside", module + "//nested", "1.0.0");
  for (const char* version :
       {"1.0.0", "1.1.0", "1.2.0-rc1", "1.2.0", "2.0.0", "2.1.0", "~> 1.0.0", "< 2.0.0", ">= 1.0.0"}) {
    calls += module_call("m" + std::to_string(calls.size()), module, version);
  }
  write("main.tf", calls);
  write(".tofu-modlock.hcl", "resolution = \"per-call\"\n");
  add_program("registry-backend", program_of_page("registry-backend"));
  std::string built_in;
  for (const bool is_external : {false, true}) {
    start_empty();
    if (is_external) {
      use_program("registry", "registry-backend", registry.authority());
    }
    const Ran locked = modlock({"lock", "--install", "-v"});
    BOOST_TEST_REQUIRE(locked.exit_code == 0, locked.err);
    BOOST_TEST((locked.err.find("backend/locate <registry>/modules/acme/vpc/aws: answered in ") != std::string::npos) ==
               is_external);
    const std::string verified = write_json(json({"verify"}));
    BOOST_TEST(occurrences(verified, "\"verdict\":\"held\"") == 10U, verified);
    const std::string result = lock() + tree() + verified + write_json(json({"verify", "--online"}));
    BOOST_TEST((built_in.empty() || result == built_in), result << "\n" << built_in);
    built_in = result;
  }
  const Ran doctor = modlock({"doctor", "--online"});
  BOOST_TEST(doctor.out.find("registry: the backend \"registry\" (\"<dir>/registry-backend\")") != std::string::npos,
             doctor.out);
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 0);
  use_no_backend();
  fs::remove_all(root() / ".terraform");
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 7);  // where its versions are was a claim
}

BOOST_AUTO_TEST_CASE(results_of_oci_are_those_of_the_built_in_kind,
                     *needs("skopeo") * needs(DockerRegistry::kPrograms)) {
  DockerRegistry registry;
  environment["SSL_CERT_FILE"] = registry.authority().string();
  name_text(registry.host(), "<registry>");
  const auto push = [&](const std::string& tag, const std::string& repository = "team/vpc") {
    return registry.push(repository, tag, {{"main.tf", "# " + tag + "\n"}, {"nested/main.tf", "# nested\n"}});
  };
  const std::string digest = push("v1.0.0");
  for (const char* tag : {"v1.1.0", "1.2.0_build.7", "v2.0.0-rc1", "net-0.3.0", "edge", "latest"}) {
    push(tag);
  }
  push("latest", "other");
  const std::string vpc = registry.source("team/vpc");
  write_calls({{vpc, ""},
               {vpc + "?tag=v1.0.0", ""},
               {vpc + "?tag=1.2.0_build.7", ""},
               {vpc + "//nested?tag=edge", ""},
               {vpc + "?digest=" + digest, ""},
               {registry.source("other"), ""},
               {vpc, "  version = \"~> 1.0\"\n"},
               {vpc + "//nested", "  version = \"1.0.0\"\n"},
               {vpc, "  version = \">= 0.1\"\n  tag_prefix = \"net-\"\n"},
               {vpc, "  version = \"2.0.0-rc1\"\n"}},
              "resolution = \"per-call\"\n");
  add_program("oci-backend", program_of_page("oci-backend"));
  std::string built_in;
  for (const bool is_external : {false, true}) {
    start_empty();
    if (is_external) {
      use_program("oci", "oci-backend", registry.host());
    }
    const Ran locked = modlock({"lock", "--install", "-v"});
    BOOST_TEST_REQUIRE(locked.exit_code == 0, locked.err);
    BOOST_TEST((locked.err.find("backend/fetch oci://<registry>/team/vpc: answered in ") != std::string::npos) ==
               is_external);
    const std::string verified = write_json(json({"verify"}));
    BOOST_TEST(occurrences(verified, "\"verdict\":\"held\"") == 10U, verified);
    const std::string result = lock() + tree() + verified + write_json(json({"verify", "--online"}));
    BOOST_TEST(occurrences(result, "    \"oci:sha256:") == 10U, result);
    BOOST_TEST((built_in.empty() || result == built_in), result << "\n" << built_in);
    built_in = result;
  }
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 0);
  const std::string versions = modlock({"versions", vpc}).out;
  const Ran doctor = modlock({"doctor", "--online"});
  BOOST_TEST(doctor.out.find("oci: the backend \"oci\" (\"<dir>/oci-backend\")") != std::string::npos, doctor.out);
  const Ran missing = modlock({"versions", registry.source("none")});
  BOOST_TEST(missing.exit_code == 7);
  BOOST_TEST(missing.err.find("could not list the tags of \"oci://<registry>/none\": ") != std::string::npos,
             missing.err);
  use_no_backend();
  BOOST_TEST(modlock({"versions", vpc}).out == versions);
}

// The program fetches with Python's HTTP library.
BOOST_AUTO_TEST_CASE(results_of_archives_are_those_of_the_built_in_kind) {
  ModuleRegistry files(server.certificate());
  ModuleRegistry elsewhere(server.certificate());
  environment["SSL_CERT_FILE"] = server.authority().string();
  name_text(files.authority(), "<files>");
  const std::string zip =
      make_zip({{.name = "sub/main.tf", .content = "# packed\n"}, {.name = "run.sh", .content = "#"}});
  const std::string sum = digest_of(zip).substr(7);
  for (const char* path : {"/x.zip", "/no-name", "/signed.zip", "/y.zip"}) {
    files.serve(path, {.status = 200, .body = zip, .type = "application/zip"});
  }
  elsewhere.serve("/z.zip", {.status = 200, .body = zip, .type = "application/zip"});
  files.serve("/sums", {.status = 200, .body = sum + "  x.zip\n", .type = "text/plain"});
  files.serve("/at", {.headers = {{"X-Terraform-Get", files.url() + "/y.zip//sub"}}});
  files.serve("/away", {.headers = {{"X-Terraform-Get", elsewhere.url() + "/z.zip"}}});
  files.serve("/page",
              {.body = "<html><head><meta name=\"terraform-get\" content=\"" + source("?ref=v1.0.0") + "\"/></head>"});
  elsewhere.serve("/gone", {.status = 404, .body = sum, .headers = {{"X-Terraform-Get", files.url() + "/y.zip"}}});
  elsewhere.serve("/to", {.headers = {{"X-Terraform-Get", files.url() + "/y.zip"}}});
  std::string calls;
  for (const std::string& at :
       {files.url() + "/x.zip", files.url() + "/x.zip//sub", files.url() + "/no-name?archive=zip",
        files.url() + "/x.zip?checksum=sha256:" + sum, files.url() + "/x.zip?checksum=file:" + files.url() + "/sums",
        files.url() + "/signed.zip?key=secret-value", files.url() + "/at", files.url() + "/away", files.url() + "/page",
        elsewhere.url() + "/to"}) {
    calls += module_call("m" + std::to_string(calls.size()), at);
  }
  write("main.tf", calls);
  add_program("archive-backend", R"(#!/usr/bin/env python3
import json, os, sys, urllib.request
for line in sys.stdin:
    request = json.loads(line)
    result = {"schemes": ["archive"], "name": "archive-backend", "version": "1.0"}
    if request["method"] == "backend/fetch":
        with urllib.request.urlopen(request["params"]["url"]) as response:
            open(os.path.join(request["params"]["directory"], "archive"), "wb").write(response.read())
            location = response.headers["X-Terraform-Get"]
        result = {"location": location} if location else {}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
)");
  std::string built_in;
  for (const bool is_external : {false, true}) {
    start_empty();
    if (is_external) {
      use_program("archive", "archive-backend", files.authority());
    }
    const Ran locked = modlock({"lock", "--install", "-v"});
    BOOST_TEST_REQUIRE(locked.exit_code == 0, locked.err);
    BOOST_TEST(occurrences(locked.err, "backend/fetch https://<files>/y.zip: answered in ") == (is_external ? 2U : 0U),
               locked.err);
    BOOST_TEST(locked.err.find("secret-value") == std::string::npos);
    const std::string verified = write_json(json({"verify"}));
    BOOST_TEST(occurrences(verified, "\"verdict\":\"held\"") == 10U, verified);
    const std::string result = lock() + tree() + verified + write_json(json({"verify", "--online"}));
    BOOST_TEST(occurrences(result, "    \"zh:" + sum) == 9U, result);
    BOOST_TEST((built_in.empty() || result == built_in), result << "\n" << built_in);
    built_in = result;
  }
  const Ran doctor = modlock({"doctor"});
  BOOST_TEST(doctor.out.find("download: the backend \"archive\" (\"<dir>/archive-backend\")") != std::string::npos,
             doctor.out);
  BOOST_TEST(modlock({"versions", files.url() + "/x.zip"}).err.find("is an archive, which has no versions") !=
             std::string::npos);
  // What a server that no program stands for refuses is refused.
  for (const std::string& at :
       {elsewhere.url() + "/gone", files.url() + "/x.zip?checksum=file:" + elsewhere.url() + "/gone"}) {
    start_empty();
    write("main.tf", module_call("m0", at));
    const Ran ran = modlock({"lock"});
    BOOST_TEST(ran.exit_code == 7, ran.err);
    BOOST_TEST(ran.err.find("[NOT_FOUND]") != std::string::npos, ran.err);
  }
  // Only requests that no program answers need the user's credentials.
  write_text(path("home/.netrc"), "broken\n");
  for (const bool is_external : {true, false}) {
    start_empty();
    write("main.tf", module_call("m0", (is_external ? files.url() + "/x.zip?checksum=file:" + files.url() + "/sums"
                                                    : elsewhere.url() + "/z.zip")));
    const Ran ran = modlock({"lock"});
    BOOST_TEST(ran.exit_code == (is_external ? 0 : 8), ran.err);
    BOOST_TEST((ran.err.find("[CONFIG_PARSE]") == std::string::npos) == is_external, ran.err);
  }
}

struct Buckets : Hosted {
  Buckets() {
    const std::string zip =
        make_zip({{.name = "main.tf", .content = "# 1\n"}, {.name = "sub/main.tf", .content = "# sub\n"}});
    buckets.put("mods", "net.zip", zip);
    buckets.put("mods", "net.zip", make_zip({{.name = "main.tf", .content = "# 2\n"}}));
    buckets.put("mods", "t", zip);
    buckets.put("mods", "dir/main.tf", "# dir\n");
    buckets.put("mods", "dir/sub/a b+c.tf", "# sub\n");
    buckets.put("mods", "dir/sub/", "");
    buckets.put("mods", "dir2/main.tf", "# of another directory\n");
    buckets.set_page_size(2);
    environment["STORAGE_EMULATOR_HOST"] = buckets.server().host();
    name_text(buckets.server().host(), "<buckets>");
    add_program("bucket-backend", program_of_page("bucket-backend"));
  }
  std::string s3(const std::string& below) const { return "s3::" + buckets.url() + "/mods/" + below; }
  static std::string gcs(const std::string& below) {
    return "gcs::https://www.googleapis.com/storage/v1/mods/" + below;
  }
  void use_buckets(const std::string& more = {}) const {
    use_program("s3", "bucket-backend", buckets.server().host(),
                more + "backend \"gcs\" {\n  command = [\"" + path("bucket-backend").string() +
                    "\"]\n  hosts = [\"www.googleapis.com\"]\n}\n");
  }

  S3Server buckets;
};

BOOST_FIXTURE_TEST_CASE(results_of_buckets_are_those_of_the_built_in_kinds, Buckets) {
  std::string calls;
  for (const std::string& at :
       {s3("net.zip"), s3("net.zip?version=1"), s3("net.zip//sub?version=1"), s3("t?archive=zip"), s3("dir"),
        s3("dir/"), s3("dir//sub"), gcs("net.zip"), gcs("net.zip#1"), gcs("net.zip//sub?#1"), gcs("t?archive=zip"),
        gcs("dir"), gcs("dir/"), gcs("dir//sub")}) {
    calls += module_call("m" + std::to_string(calls.size()), at);
  }
  write("main.tf", calls);
  std::string built_in;
  for (const bool is_external : {false, true}) {
    start_empty();
    if (is_external) {
      use_buckets();
      // The built-in kind would fail here: the program has credentials of its own.
      environment["AWS_CONFIG_FILE"] = root().string();
    }
    const Ran locked = modlock({"lock", "--install", "-v"});
    BOOST_TEST_REQUIRE(locked.exit_code == 0, locked.err);
    for (const char* kind : {"s3::http://<buckets>/mods", "gcs::https://www.googleapis.com/storage/v1/mods"}) {
      const std::string line = std::string("backend/fetch ") + kind + "/net.zip: answered in ";
      BOOST_TEST((locked.err.find(line) != std::string::npos) == is_external, locked.err);
    }
    const std::string verified = write_json(json({"verify"}));
    BOOST_TEST(occurrences(verified, "\"verdict\":\"held\"") == 14U, verified);
    const std::string result = lock() + tree() + verified + write_json(json({"verify", "--online", "--full"}));
    BOOST_TEST(occurrences(result, "    \"zh:") == 14U, result);
    BOOST_TEST((built_in.empty() || result == built_in), result << "\n" << built_in);
    built_in = result;
  }
  BOOST_TEST(modlock({"lock", "--frozen"}).exit_code == 0);
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 0);
  const std::string named = " (\"<dir>/bucket-backend\")";
  BOOST_TEST(shown(json({"explain", "module.m0"})["selected"]["answeredBy"].asString()) ==
             "the backend \"s3\"" + named);
  const Ran doctor = modlock({"doctor"});
  BOOST_TEST(doctor.out.find("s3: the backend \"s3\"" + named + "\n") != std::string::npos, doctor.out);
  BOOST_TEST(doctor.out.find("gcs: the backend \"gcs\"" + named + "\n") != std::string::npos, doctor.out);
  use_no_backend();
  BOOST_TEST(modlock({"lock"}).err.find("[IO_ERROR]") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(what_happened_in_a_bucket_has_the_verdicts_of_the_built_in_kind, Buckets) {
  write("main.tf", module_call("moved", s3("net.zip")) + module_call("edited", s3("dir")) +
                       module_call("gone", s3("t?archive=zip")) + module_call("same", gcs("dir2")));
  BOOST_TEST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  buckets.put("mods", "net.zip", make_zip({{.name = "main.tf", .content = "# 3\n"}}));
  buckets.put("mods", "dir/main.tf", "# other\n");
  buckets.remove("mods", "t");
  const auto verdicts = [&] {
    std::string found;
    const Json::Value verified = json({"verify", "--online"}, 4);
    for (const Json::Value& verdict : verified["verdicts"]) {
      found += verdict["subject"].asString() + " " + verdict["verdict"].asString() + "\n";
    }
    return found;
  };
  const std::string expected = "module.edited moved\nmodule.gone vanished\nmodule.moved moved\nmodule.same held\n";
  BOOST_TEST(verdicts() == expected);
  use_buckets();
  BOOST_TEST(verdicts() == expected);
  start_empty();
  const Ran locked = modlock({"lock"});
  BOOST_TEST(locked.exit_code == 7, locked.err);
  BOOST_TEST(locked.err.find(
                 "could not fetch \"s3::http://<buckets>/mods/t?archive=zip\": the request failed: HTTP Error 404") !=
                 std::string::npos,
             locked.err);
}

// Settings of older versions name `s3` and `gcs` without hosts: all their sources, with ids of the program.
BOOST_FIXTURE_TEST_CASE(a_bucket_backend_without_hosts_serves_all_with_ids_of_its_own, Buckets) {
  add_program("own", R"(#!/usr/bin/env python3
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    result = {"schemes": ["s3", "gcs"], "name": "own", "version": "1"}
    if request["method"] == "backend/fetch":
        open(os.path.join(request["params"]["directory"], "main.tf"), "w").close()
        result = {"id": "one"}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
)");
  write("main.tf", module_call("s3", s3("net.zip")) + module_call("google", gcs("net.zip")));
  const auto lock_with = [&](const std::string& settings) {
    start_empty();
    write_text(path("home/.config/tofu-modlock/config.hcl"), settings);
    const Ran ran = modlock({"lock"});
    BOOST_TEST(ran.exit_code == 0, ran.err);
    return lock();
  };
  const auto own = [&](const std::string& kind, const std::string& more = {}) {
    return "backend \"" + kind + "\" {\n  command = [\"" + path("own").string() + "\"]\n" + more + "}\n";
  };
  const std::string all = lock_with(own("gcs") + own("s3"));
  BOOST_TEST(all.find("\"s3:one\"") != std::string::npos, all);
  BOOST_TEST(all.find("\"gcs:one\"") != std::string::npos, all);
  // A backend for another host takes no source from the built-in kind.
  const std::string built_in = lock_with("");
  BOOST_TEST(occurrences(built_in, "\"zh:") == 2U, built_in);
  BOOST_TEST(lock_with(own("s3", "  hosts = [\"s3.amazonaws.com\"]\n")) == built_in);
}

// A program for OCI, archives or buckets that answers and writes as a row says.
BOOST_AUTO_TEST_CASE(lies_about_files) {
  const OciModule module = make_oci_module({{"main.tf", "# packed\n"}});
  const std::string digest = "{\"id\":\"" + module.manifest_digest + "\"}";
  const std::string zip = zip_of({{"main.tf", "# packed\n"}});
  const std::string blob = module.package_digest.substr(7);
  const PackageFiles good = {{"manifest.json", module.manifest}, {blob, module.package}, {"version", "Directory\n"}};
  const auto with = [&](const std::string& name, const std::string& content) {
    PackageFiles files = good;
    files[name] = content;
    return files;
  };
  const std::string as_index = R"({"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]})";
  const std::string as_image = oci_manifest(oci_layer(module.package), "application/vnd.example");
  const std::string other = oci_manifest(oci_layer(module.package) + "," + oci_layer("x", "text/plain"));
  struct Row {
    const char* name;
    std::string kind;
    std::string pin;
    PackageFiles written;
    std::string code;  // empty: it can be locked
    std::string query = {};
  };
  const auto list_of = [](const std::string& key) {
    return "<ListBucketResult>" + (key.empty() ? "" : "<Contents><Key>" + key + "</Key></Contents>") +
           "</ListBucketResult>";
  };
  const auto id_of = [](const std::string& manifest) { return "{\"id\":\"" + digest_of(manifest) + "\"}"; };
  const Row rows[] = {
      {"the truth", "oci", digest, good, ""},
      {"the truth of a digest", "oci", digest, good, "", "?digest=" + module.manifest_digest},
      {"another layer, which is ignored", "oci", id_of(other), with("manifest.json", other), ""},
      {"another manifest", "oci", digest, with("manifest.json", other), "HASH_MISMATCH"},
      {"another digest", "oci", id_of(other), with("manifest.json", other), "HASH_MISMATCH",
       "?digest=" + module.manifest_digest},
      {"other bytes", "oci", digest, with(blob, std::string(module.package.size(), 'x')), "HASH_MISMATCH"},
      {"more bytes", "oci", digest, with(blob, module.package + "x"), "HASH_MISMATCH"},
      {"fewer bytes", "oci", digest, with(blob, module.package.substr(1)), "HASH_MISMATCH"},
      {"no blob", "oci", digest, {{"manifest.json", module.manifest}}, "BAD_RESPONSE"},
      {"no manifest", "oci", digest, {{blob, module.package}}, "BAD_RESPONSE"},
      {"an index", "oci", id_of(as_index), with("manifest.json", as_index), "SOURCE_UNSUPPORTED"},
      {"an image", "oci", id_of(as_image), with("manifest.json", as_image), "SOURCE_UNSUPPORTED"},
      {"no JSON", "oci", id_of("x"), with("manifest.json", "x"), "SOURCE_UNSUPPORTED"},
      {"a huge manifest", "oci", digest, with("manifest.json", std::string(6U << 20U, ' ')), "BAD_RESPONSE"},
      {"no digest", "oci", R"({"id":"v1.0.0"})", good, "BAD_RESPONSE"},
      {"a short digest", "oci", R"({"id":"sha256:12"})", good, "BAD_RESPONSE"},
      {"no id", "oci", "{}", good, "BAD_RESPONSE"},
      {"the truth", "archive", "{}", {{"archive", zip}}, ""},
      {"more files", "archive", "{}", {{"archive", zip}, {"other", zip}}, ""},
      {"no file", "archive", "{}", {}, "BAD_RESPONSE"},
      {"a location of a file", "archive", R"({"location":"https://example.test/x.zip"})", {}, "BAD_RESPONSE"},
      {"no archive", "archive", "{}", {{"archive", "x"}}, "BAD_RESPONSE"},
      {"a list", "archive", "[]", {{"archive", zip}}, ""},
      {"another checksum",
       "archive",
       "{}",
       {{"archive", zip}},
       "HASH_MISMATCH",
       "?checksum=sha256:" + std::string(64, '0')},
      {"the truth", "s3", "{}", {{"archive", zip}}, ""},
      {"another checksum", "s3", "{}", {{"archive", zip}}, "HASH_MISMATCH", "?checksum=sha256:" + std::string(64, '0')},
      {"no file", "s3", "{}", {}, "BAD_RESPONSE"},
      {"no archive", "s3", "{}", {{"archive", "x"}}, "BAD_RESPONSE"},
      {"a location, which is ignored", "s3", R"({"location":"https://example.test/x.zip"})", {{"archive", zip}}, ""},
      {"a location in place of a list", "s3", R"({"location":"https://example.test/x.zip"})", {}, "BAD_RESPONSE", "/d"},
      {"no list", "s3", "{}", {{"archive", zip}}, "BAD_RESPONSE", "/d"},
      {"an empty list", "s3", "{}", {{"archive", list_of("")}}, "NOT_FOUND", "/d"},
      {"an object elsewhere", "s3", "{}", {{"archive", list_of("mods/main.tf")}}, "ARCHIVE_UNSAFE", "/d"},
      {"an object above", "s3", "{}", {{"archive", list_of("x.zip/d/../main.tf")}}, "ARCHIVE_UNSAFE", "/d"},
  };
  const std::map<std::string, std::string> sources = {{"oci", "oci://files.example.test/vpc"},
                                                      {"archive", "https://files.example.test/x.zip"},
                                                      {"s3", "s3::https://files.example.test/mods/x.zip"}};
  write(".tofu-modlock.hcl", "");
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.kind << ": " << row.name) {
      start_empty();
      add_program("liar", program_that_answers(row.kind));
      use_program(row.kind, "liar", "files.example.test");
      fs::remove_all(path("written"));
      fs::create_directory(path("written"));
      for (const auto& [name, content] : row.written) {
        write_text(path("written/" + name), content);
      }
      write_text(path("backend-pin"), row.pin);
      write_text(path("backend-fetch"), row.pin);
      write("main.tf", module_call("m0", sources.at(row.kind) + row.query));
      const Ran ran = modlock({"lock", "--install"});
      BOOST_TEST((ran.exit_code == 0) == row.code.empty(), ran.err);
      BOOST_TEST(ran.err.find(row.code.empty() ? "" : "[" + row.code + "]") != std::string::npos, ran.err);
      BOOST_TEST((!row.code.empty() || has(".terraform/modules/m0/main.tf")));
      BOOST_TEST((!fs::exists(cache() / "v2/tmp") || fs::is_empty(cache() / "v2/tmp")));
    }
  }
  // Files of this machine, and what never ends.
  for (const char* kind : {"oci", "archive"}) {
    const bool is_oci = std::string_view(kind) == "oci";
    const std::string file = is_oci ? blob : "archive";
    for (const char* command : {"ln -s \"$1\" \"$2\"", "mkfifo \"$2\"", "mkdir \"$2\""}) {
      BOOST_TEST_CONTEXT(kind << ": " << command) {
        start_empty();
        add_program("liar", program_that_answers(kind));
        use_program(kind, "liar", "files.example.test");
        fs::remove_all(path("written"));
        fs::create_directory(path("written"));
        write_text(path("written/manifest.json"), module.manifest);
        write_text(path("target"), is_oci ? module.package : zip);
        run({"sh", "-c", command, "sh", path("target").string(), path("written/" + file).string()});
        std::string program = program_that_answers(kind);
        program.replace(
            program.find("shutil.copytree("), 16,
            "os.system('cp -a ' + here + 'written/. ' + request['params']['directory']); (lambda *a, **b: 0)(");
        add_program("liar", program);
        write_text(path("backend-fetch"), is_oci ? digest : "{}");
        write("main.tf",
              module_call("m0", is_oci ? "oci://files.example.test/vpc" : "https://files.example.test/x.zip"));
        const Ran ran = modlock({"lock"});
        BOOST_TEST(ran.exit_code == 7, ran.err);
        BOOST_TEST(ran.err.find("and left no file \"" + file + "\" of at most ") != std::string::npos, ran.err);
      }
    }
  }
}

// A program for a registry that answers as a row says.
BOOST_AUTO_TEST_CASE(lies_of_a_registry) {
  add_program("liar", program_that_answers("registry"));
  use_program("registry", "liar", "registry.example.test");
  write("main.tf", module_call("m0", "registry.example.test/acme/vpc/aws", "1.0.0"));
  const std::string versions = R"({"versions":[{"tag":"1.0.0"}],"complete":true})";
  const std::string named_location =
      "the backend \"registry\" (\"<dir>/liar\") could not find the location of 1.0.0 of "
      "\"registry.example.test/modules/acme/vpc/aws\": its answer cannot be used: expected an absolute address at "
      "result.location [BAD_RESPONSE]";
  struct Row {
    const char* name;
    std::string list;
    std::string location;
    int exit_code;
    std::string error;
  };
  const Row rows[] = {
      {"the truth", versions, R"({"location":")" + source("?ref=v1.0.0") + "\"}", 0, ""},
      {"a token is asked for, and not sent", versions,
       R"({"location":")" + source("?ref=v1.0.0") + R"(","use_registry_credentials":true})", 0, ""},
      {"a file of this machine", versions, R"({"location":"/etc"})", 7, named_location},
      {"a relative location", versions, R"({"location":"./pkg.zip"})", 7, named_location},
      {"a repository of this machine", versions, R"({"location":"git::file:///etc"})", 8, "[SOURCE_DENIED]"},
      {"a denied host", versions, R"({"location":"git::https://denied.example.test/x"})", 8, "[SOURCE_DENIED]"},
      {"a program", versions, R"({"location":"git::ext::sh -c true"})", 8, "[SOURCE_DENIED]"},
      {"no address", versions, R"({"location":"ok.zip"})", 7,
       "1.0.0 of \"registry.example.test/modules/acme/vpc/aws\": its answer cannot be used: the location \"ok.zip\" "
       "is "},
      {"no location", versions, "{}", 7, "[BAD_RESPONSE]"},
      {"no text", versions, R"({"location":7})", 7, "[BAD_RESPONSE]"},
      {"another registry module", versions, R"({"location":"acme/other/aws"})", 7, "[BAD_RESPONSE]"},
      {"a text beside the list", R"({"versions":[{"tag":"1.0.0"}],"complete":true,"modules":"x"})",
       R"({"location":")" + source("?ref=v1.0.0") + "\"}", 0, ""},
      {"a number beside the list", R"({"versions":[{"tag":"1.0.0"}],"complete":true,"modules":[5]})",
       R"({"location":")" + source("?ref=v1.0.0") + "\"}", 0, ""},
      {"a list of locations", versions, "[]", 7, "[BAD_RESPONSE]"},
      {"no list", "[]", "{}", 7, "[BAD_RESPONSE]"},
      {"a part of the list", R"({"versions":[{"tag":"1.0.0"}],"complete":false})", "{}", 7, "[BAD_RESPONSE]"},
      {"no such version", R"({"versions":[{"tag":"0.9.0"}],"complete":true})", "{}", 6, "[NO_MATCHING_VERSION]"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      start_empty();
      write(".tofu-modlock.hcl", "deny_sources = [\"git::https://denied.example.test/*\"]\n");
      write_text(path("backend-list"), row.list);
      write_text(path("backend-locate"), row.location);
      const Ran ran = modlock({"lock"});
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.err.find(row.error) != std::string::npos, ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(moved_and_deleted_tags_have_the_verdicts_of_the_built_in_kind) {
  write_calls({{source("?ref=v1.0.0"), ""}, {source("?ref=v1.1.0"), ""}, {source("?ref=next"), ""}});
  BOOST_TEST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  net.annotated_tag("v1.0.0", "main");
  net.remove("refs/tags/v1.1.0");
  std::string verdicts;
  for (const bool is_external : {false, true}) {
    if (is_external) {
      use_backend();
    }
    std::string found;
    const Json::Value verified = json({"verify", "--online"}, 4);
    for (const Json::Value& verdict : verified["verdicts"]) {
      found += verdict["subject"].asString() + " " + verdict["verdict"].asString() + "\n";
    }
    BOOST_TEST((verdicts.empty() || found == verdicts), found);
    verdicts = found;
  }
  BOOST_TEST(verdicts == "module.m0 moved\nmodule.m1 vanished\nmodule.m2 held\n");
}

BOOST_AUTO_TEST_CASE(the_backend_that_answered_is_named) {
  use_backend();
  write_calls({{source(), "  version = \"~> 1.0\"\n"}});
  BOOST_TEST_REQUIRE(modlock({"lock"}).exit_code == 0);
  const std::string named = "the backend \"git\" (\"<dir>/git-backend\")";
  BOOST_TEST(shown(json({"explain", "module.m0"})["selected"]["answeredBy"].asString()) == named);
  const Ran explained = modlock({"explain", "module.m0"});
  BOOST_TEST(explained.out.find("  answered by " + named + "\n") != std::string::npos, explained.out);
  const Ran doctor = modlock({"doctor", "--online"});
  BOOST_TEST(doctor.out.find("git: " + named + "\n") != std::string::npos, doctor.out);
  BOOST_TEST(doctor.out.find("git::https://<host>/open/net.git: 3 versions") != std::string::npos, doctor.out);
  use_no_backend();
  BOOST_TEST(!json({"explain", "module.m0"})["selected"].isMember("answeredBy"));
}

// Without its setting, the built-in kind serves the sources.
BOOST_AUTO_TEST_CASE(a_backend_in_place_of_a_kind_leaves_nothing_to_it) {
  add_program("own", program_that_answers("s3"));
  write_text(path("backend-pin"), R"({"id":"one"})");
  write_text(path("backend-fetch"), R"({"id":"one"})");
  write_text(path("written/main.tf"), "# own\n");
  write_text(path("home/.config/tofu-modlock/config.hcl"),
             "backend \"s3\" {\n  command = [\"" + path("own").string() + "\"]\n}\n");
  const std::string source = "s3::https://files.example.test/modules/vpc.zip";
  write("main.tf", module_call("m0", source));
  write(".tofu-modlock.hcl", "");
  BOOST_TEST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  BOOST_TEST(modlock({"lock", "--offline", "--frozen"}).exit_code == 0);
  use_no_backend();
  fs::remove_all(root() / ".terraform");
  fs::remove(root() / ".terraform.lock.hcl");
  const Ran ran = modlock({"lock", "--offline"});
  BOOST_TEST(ran.exit_code == 7, ran.out + ran.err);
  BOOST_TEST(!has(".terraform.lock.hcl"));
}

// The program adds a version to each list.
BOOST_AUTO_TEST_CASE(versions_of_a_backend_are_none_without_it) {
  std::string liar = program_of_page("git-backend");
  const std::string honest = "        return {\"versions\": ";
  liar.replace(liar.find(honest), 0, "        tags += [(\"v9.0.0\", dict(tags)[\"v1.0.0\"])]\n");
  add_program("liar", liar);
  write_calls({{source("?ref=v1.0.0"), ""}});
  BOOST_TEST_REQUIRE(modlock({"lock"}).exit_code == 0);  // this commit is in the cache without a claim
  write_calls({{source(), "version = \"~> 9.0\"\n"}});
  use_backend("liar");
  BOOST_TEST_REQUIRE(modlock({"lock"}).exit_code == 0);
  BOOST_TEST(modlock({"lock", "--offline", "--frozen"}).exit_code == 0);
  use_no_backend();
  fs::remove_all(root() / ".terraform");
  fs::remove(root() / ".terraform.lock.hcl");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"lock", "--offline"}, {"lock"}}) {
    const Ran ran = modlock(command);
    BOOST_TEST(ran.exit_code != 0, ran.out + ran.err);
    BOOST_TEST(!has(".terraform.lock.hcl"));
  }
}

// The program adds a file to each package.
BOOST_AUTO_TEST_CASE(claims_of_a_backend_prove_nothing_without_it) {
  std::string liar = program_of_page("git-backend");
  const std::string honest = "        found[\"date\"] = ";
  liar.replace(liar.find(honest), 0, "        open(os.path.join(directory, \"evil.tf\"), \"w\").close()\n");
  add_program("liar", liar);
  use_backend("liar");
  write_calls({{source("?ref=v1.0.0"), ""}});
  BOOST_TEST_REQUIRE(modlock({"lock", "--install"}).exit_code == 0);
  BOOST_TEST(has(".terraform/modules/m0/evil.tf"));
  BOOST_TEST(modlock({"verify", "--online"}).exit_code == 0);
  BOOST_TEST(modlock({"install", "--offline"}).exit_code == 0);
  struct Row {
    std::vector<std::string> command;
    int exit_code;
    const char* code;
  };
  use_no_backend();
  for (const bool is_installed : {true, false}) {
    for (const Row& row : {Row{{"install", "--offline"}, 7, "OFFLINE_MISS"}, Row{{"verify", "--online"}, 4, ""},
                           Row{{"lock", "--frozen"}, 4, "HASH_MISMATCH"}, Row{{"install"}, 4, "HASH_MISMATCH"},
                           Row{{"bundle", "create", "--output", path("modules").string()}, 4, "HASH_MISMATCH"}}) {
      BOOST_TEST_CONTEXT(row.command[0] << ' ' << row.command.back() << (is_installed ? "" : ", not installed")) {
        const Ran ran = modlock(row.command);
        BOOST_TEST(ran.exit_code == row.exit_code, ran.out << ran.err);
        BOOST_TEST(ran.err.find(row.code) != std::string::npos, ran.err);
      }
    }
    fs::remove_all(root() / ".terraform");
    fs::remove_all(cache() / "v2/git");  // its proof
    fs::remove_all(cache() / "v2/identities");
  }
}

// A source of git keeps the port that it has, one of a registry drops ":443".
BOOST_AUTO_TEST_CASE(the_port_of_https_is_one_of_a_host) {
  struct Row {
    const char* kind;
    const char* host;
    const char* source;
    bool is_served;
  };
  const Row rows[] = {
      {"git", "git.example.test:443", "git::https://git.example.test:443/net.git", true},
      {"git", "GIT.example.test:443", "git::https://git.example.test:443/net.git", true},
      {"git", "git.example.test", "git::https://git.example.test:443/net.git", false},
      {"git", "git.example.test:443", "git::https://git.example.test/net.git", false},
      {"git", "git_server.example.test", "git::https://GIT_server.example.test/net.git", true},
      {"git", "[::1]:9", "git::https://[::1]:9/net.git", true},
      {"git", "xn--bcher-kva.example", "git::https://bücher.example/net.git", true},
      {"registry", "registry.example.test:443", "registry.example.test:443/acme/vpc/aws", true},
      {"registry", "registry.example.test", "registry.example.test:443/acme/vpc/aws", true},
      {"registry", "registry.example.test:443", "registry.example.test/acme/vpc/aws", true},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.kind << " " << row.host << " " << row.source) {
      write_text(path("home/.config/tofu-modlock/config.hcl"), std::string("backend \"") + row.kind +
                                                                   "\" {\n  command = [\"false\"]\n  hosts = [\"" +
                                                                   row.host + "\"]\n}\n");
      // The program ends at once. Offline, only the kind git names it.
      const bool is_git = std::string_view(row.kind) == "git";
      const Ran ran = modlock({"versions", row.source, is_git ? "--offline" : "--quiet"});
      const std::string named = std::string("the backend \"") + row.kind + "\"";
      const bool is_served = ran.err.find(named) != std::string::npos;
      BOOST_TEST(is_served == row.is_served, ran.err);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_checkout_names_no_backend) {
  write_calls({{source("?ref=v1.0.0"), ""}});
  write(".tofu-modlock.hcl", "backend \"git\" {\n  command = [\"touch\", \"" + path("ran").string() +
                                 "\"]\n  hosts = [\"" + server.host() + "\"]\n}\n");
  const Ran ran = modlock({"lock"});
  BOOST_TEST(ran.exit_code == 8, ran.err);
  BOOST_TEST(
      ran.err.find("a backend block starts a program, which a file in a repository must not do") != std::string::npos,
      ran.err);
  BOOST_TEST(!fs::exists(path("ran")));
}

BOOST_AUTO_TEST_CASE(rules_of_built_in_kinds_apply) {
  use_backend();
  struct Row {
    const char* name;
    std::string more;  // in the settings
    std::string query;
    std::vector<std::string> command;
    int exit_code;
    std::string error;
  };
  const Row rows[] = {
      {"denied", "deny_sources = [\"git::https://localhost*\"]\n", "?ref=v1.0.0", {"lock"}, 8, "[SOURCE_DENIED]"},
      {"a denied commit",
       "deny \"git::https://*\" {\n  commits = [\"" + first + "\"]\n}\n",
       "?ref=v1.0.0",
       {"lock"},
       4,
       "[RELEASE_DENIED]"},
      {"no such tag",
       "",
       "?ref=v9",
       {"lock"},
       7,
       "could not fetch the ref \"v9\" of \"git::https://<host>/open/net.git\""},
      {"signatures",
       "source \"git::*\" {\n  signed_by_ssh = \"signers\"\n}\n",
       "?ref=v1.0.0",
       {"lock"},
       4,
       "\"git::https://<host>/open/net.git\" has no signature that can be verified: it is served by the backend "
       "\"git\""},
      {"a mirror",
       "",
       "?ref=v1.0.0",
       {"mirror", "--", "true"},
       8,
       "\"git::https://<host>/open/net.git\" has no git repository here: it is served by the backend \"git\""},
  };
  write("signers", "* ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0yhrJXIVtsJQ3qaWTW2kEsqHFNyX6LMmwoC6wrDyH6\n");
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      start_empty();
      write_calls({{source(row.query), ""}});
      write(".tofu-modlock.hcl", row.more);
      if (row.command[0] != "lock") {
        BOOST_TEST(modlock({"lock"}).exit_code == 0);
      }
      const Ran ran = modlock(row.command);
      BOOST_TEST(ran.exit_code == row.exit_code, ran.err);
      BOOST_TEST(ran.err.find(row.error) != std::string::npos, ran.err);
    }
  }
  BOOST_TEST(requests().find("/open/net.git") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_calling_program_names_a_backend) {
  write_calls({{source("?ref=v1.0.0"), ""}});
  const std::string request =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersions":["1.0"],"options":{)"
      R"("implementation":"opentofu","backends":[{"scheme":"git","command":[")" +
      path("git-backend").string() + R"("],"hosts":[")" + server.host() +
      R"("]}]},"capabilities":{"logMessage":true}}})"
      "\n"
      R"({"jsonrpc":"2.0","id":2,"method":"lock/explain","params":{"subject":"module.m0","root":")" +
      root().string() + "\"}}\n";
  const Ran ran = modlock({"serve"}, request);
  BOOST_TEST(ran.out.find("the backend \\\"git\\\" (\\\"<dir>/git-backend\\\")") != std::string::npos, ran.out);
  BOOST_TEST(ran.out.find(first) == std::string::npos);  // shown as "<1.0.0>"
  BOOST_TEST(ran.out.find("<1.0.0>") != std::string::npos, ran.out);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
