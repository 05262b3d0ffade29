// Servers that lead elsewhere: to this machine, to a program, to a host that the user's policy forbids.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/e2e/scene.h"
#include "tests/support/archive_writer.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/oci_registry.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;
using Answer = ModuleRegistry::Answer;

Answer redirect(const std::string& location) {
  return {.status = 302, .headers = {{"Location", location}}};
}

Answer with_header(const std::string& name, const std::string& value) {
  return {.headers = {{name, value}}};
}

// A registry "127.0.0.1:PORT" with acme/vpc/aws 1.0.0, and a server that nobody may ask.
struct LeadingScene : Scene {
  LeadingScene() {
    environment["SSL_CERT_FILE"] = authority.certificate().string();
    environment["GIT_SSL_CAINFO"] = authority.certificate().string();
    name_text(server.authority(), "<server>");
    name_text(forbidden.authority(), "<forbidden>");
    write_text(path("secret"), "canary\n");
    const std::string zip = make_zip({{.name = "main.tf"}});
    server.serve("/p.zip", {.body = zip, .type = "application/zip"});
    forbidden.serve("/p.zip", {.body = zip, .type = "application/zip"});
    // A repository may not take back what its user forbids.
    write_text(path("home/.config/tofu-modlock/config.hcl"), "deny_sources = [\"*" + forbidden.authority() + "*\"]\n");
    write(".tofu-modlock.hcl", "allow_sources = [\"*\"]\ndeny_sources = []\n");
    restore();
  }

  void restore() {
    server.serve("/.well-known/terraform.json", {.body = R"({"modules.v1":"/v1/modules/"})"});
    server.serve(kModule + "/versions", {.body = R"({"modules":[{"versions":[{"version":"1.0.0"}]}]})"});
    server.serve(kModule + "/1.0.0/download", ModuleRegistry::by_header(server.url() + "/p.zip"));
  }
  std::string module() const { return server.authority() + "/acme/vpc/aws"; }

  Ran lock_of(const std::string& source) const {
    fs::remove_all(cache());
    write("main.tf", module_call("vpc", source));
    return modlock({"lock", "--install"});
  }
  void check_refused(const std::string& source, const std::string& code) const {
    const Ran ran = lock_of(source);
    BOOST_TEST((ran.exit_code == 8 || ran.exit_code == 7), ran.exit_code << ran.out << ran.err);
    BOOST_TEST(ran.err.find("[" + code + "]") != std::string::npos, ran.err);
    BOOST_TEST((ran.out + ran.err).find("canary") == std::string::npos, ran.err);
    BOOST_TEST(!has(".terraform.lock.hcl"));
    BOOST_TEST(!has(".terraform/modules/vpc"));
    BOOST_TEST(!fs::exists(path("ran")));
    BOOST_TEST(forbidden.lines() == std::vector<std::string>(), boost::test_tools::per_element());
  }

  static const inline std::string kModule = "/v1/modules/acme/vpc/aws";
  CertificateAuthority authority{path("")};
  ModuleRegistry server{authority.issue("server")};
  ModuleRegistry forbidden{authority.issue("forbidden")};
  OciRegistry oci{authority.issue("oci")};
};

BOOST_FIXTURE_TEST_SUITE(hostile_servers, LeadingScene, *needs("openssl"))

BOOST_AUTO_TEST_CASE(a_location_that_is_no_package_of_a_server) {
  const std::string ran = path("ran").string();
  const std::string secret = path("secret").string();
  struct Row {
    const char* name;
    std::string location;
    const char* code;
  };
  BOOST_TEST(lock_of(module()).exit_code == 0);
  fs::remove(root() / ".terraform.lock.hcl");
  fs::remove_all(root() / ".terraform");
  for (const Row& row : {
           Row{"a directory", "file://" + path("").string(), "SOURCE_DENIED"},
           Row{"an archive", "file://" + path("p.zip").string(), "SOURCE_DENIED"},
           Row{"a directory, forced", "file::" + path("").string(), "SOURCE_DENIED"},
           Row{"an absolute path is one of the server", secret, "NOT_FOUND"},
           Row{"a relative path too", "../../../../../../../.." + secret, "NOT_FOUND"},
           Row{"and a path in the root", "./main.tf", "NOT_FOUND"},
           Row{"a transport helper", "git::ext::touch " + ran, "SOURCE_DENIED"},
           Row{"an option as host", "git::ssh://-oProxyCommand=" + ran + "/x", "SOURCE_DENIED"},
           Row{"an option as reference", server.url() + "/x.git?ref=--upload-pack=" + ran, "SOURCE_DENIED"},
           Row{"a repository of this machine", "git::file://" + path("x.git").string(), "SOURCE_DENIED"},
           Row{"a list of checksums here", server.url() + "/p.zip?checksum=file:" + secret, "SOURCE_UNSUPPORTED"},
           Row{"and by URL", server.url() + "/p.zip?checksum=file:file://" + secret, "SOURCE_UNSUPPORTED"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const Answer& answer : {ModuleRegistry::by_header(row.location), ModuleRegistry::by_body(row.location)}) {
        server.serve(kModule + "/1.0.0/download", answer);
        check_refused(module(), row.code);
      }
    }
  }
  for (const std::string& location : {"file://" + secret, "file:" + secret, std::string("gopher://127.0.0.1/x")}) {
    BOOST_TEST_CONTEXT(location) {
      server.serve(kModule + "/1.0.0/download", ModuleRegistry::directly(location, true));
      check_refused(module(), "BAD_RESPONSE");
      restore();
      server.serve("/redirect.zip", redirect(location));
      check_refused(server.url() + "/redirect.zip", "BAD_RESPONSE");
    }
  }
}

BOOST_AUTO_TEST_CASE(nobody_leads_to_a_host_that_the_user_forbids) {
  GitRepository& vpc = repository("vpc.git");
  const std::string commit = release(vpc, "1.0.0");
  const std::string url = forbidden.url();
  const std::string there = url + "/p.zip";
  const std::string archive = server.url() + "/p.zip";
  const auto on = [&](const std::string& path, const Answer& answer) {
    return [this, path, answer] { server.serve(path, answer); };
  };
  const std::string tags = "/v2/acme/vpc/tags/list";
  oci.push("acme/vpc", "1.0.0", {{"main.tf", ""}});
  struct Row {
    const char* name;
    std::string source;
    std::function<void()> prepare;
    bool is_url = true;  // to which a server leads; or the address of a source of another kind
  };
  const std::string download = kModule + "/1.0.0/download";
  for (const Row& row : {
           Row{"the address itself", there, [] {}},
           Row{"the address of a repository", "git::" + url + "/x.git", [] {}, false},
           Row{"a registry", forbidden.authority() + "/acme/vpc/aws", [] {}, false},
           Row{"the service of a registry", module(),
               on("/.well-known/terraform.json", {.body = R"({"modules.v1":")" + url + "/v1/\"}"})},
           Row{"a redirect of the discovery", module(), on("/.well-known/terraform.json", redirect(url + "/d"))},
           Row{"a redirect of the versions", module(), on(kModule + "/versions", redirect(url + "/v"))},
           Row{"a redirect of the location", module(), on(download, redirect(url + "/d"))},
           Row{"a location", module(), on(download, ModuleRegistry::by_header(there))},
           Row{"a location in the body", module(), on(download, ModuleRegistry::by_body(there))},
           Row{"a location for the token", module(), on(download, ModuleRegistry::directly(there, true))},
           Row{"the location of a repository", module(), on(download, ModuleRegistry::by_header("git::" + url + "/x")),
               false},
           Row{"a redirect of an archive", server.url() + "/r.zip", on("/r.zip", redirect(there))},
           Row{"a header of a page", server.url() + "/page", on("/page", with_header("X-Terraform-Get", there))},
           Row{"a page", server.url() + "/page",
               on("/page", {.body = R"(<meta name="terraform-get" content=")" + there + "\">", .type = "text/html"})},
           Row{"a list of checksums", archive + "?checksum=file:" + url + "/SUMS", [] {}},
           Row{"a redirect of a list of checksums", archive + "?checksum=file:" + server.url() + "/SUMS",
               on("/SUMS", redirect(url + "/SUMS"))},
           Row{"a redirect of a repository", "git::" + server.url() + "/x.git",
               on("/x.git/info/refs", redirect(url + "/x.git/info/refs?service=git-upload-pack"))},
           Row{"a submodule", "git::" + vpc.url() + "?ref=sub",
               [&] {
                 const std::string text = "[submodule \"m\"]\n\tpath = m\n\turl = " + url + "/x.git\n";
                 vpc.branch("sub", vpc.commit_tree(vpc.write_tree("100644 blob " + vpc.write_blob(text) +
                                                                  "\t.gitmodules\n160000 commit " + commit + "\tm\n")));
               },
               false},
           Row{"a redirect of an OCI registry", oci.source("acme/vpc") + "?tag=1.0.0",
               [&] {
                 oci.fault("/v2/acme/vpc/manifests/1.0.0",
                           {.status = 307, .headers = {{"Location", url + "/v2/acme/vpc/manifests/1.0.0"}}}, 9);
               }},
           Row{"the token service of an OCI registry", oci.source("acme/vpc") + "?tag=1.0.0",
               [&] {
                 oci.fault("/v2/acme/vpc/manifests/1.0.0",
                           {.status = 401, .headers = {{"WWW-Authenticate", "Bearer realm=\"" + url + "/token\""}}}, 9);
               }},
       }) {
    for (const std::string& rule :
         {"deny_sources = [\"*" + forbidden.authority() + "*\"]\n", "deny_sources = [\"" + url + "/*\"]\n",
          "allow_sources = [\"*" + server.authority() + "*\", \"" + oci.source("*") + "\", \"git::" + vpc.url() +
              "*\"]\n"}) {
      if (rule.starts_with("deny_sources = [\"https:") && !row.is_url) {
        continue;
      }
      BOOST_TEST_CONTEXT(row.name << ", " << rule) {
        write_text(path("home/.config/tofu-modlock/config.hcl"), rule);
        restore();
        row.prepare();
        check_refused(row.source, "SOURCE_DENIED");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(git_follows_no_redirect_unseen_although_its_user_follows_all) {
  server.serve("/x.git/info/refs", redirect(forbidden.url() + "/x.git/info/refs?service=git-upload-pack"));
  // With a policy for transports, git itself sends the request.
  write_text(path("home/.gitconfig"),
             "[protocol]\n\tallow = always\n[http \"" + server.url() + "/\"]\n\tfollowRedirects = true\n");
  check_refused("git::" + server.url() + "/x.git", "BAD_RESPONSE");
}

BOOST_AUTO_TEST_CASE(a_repository_cannot_widen_what_its_user_allows) {
  write_text(path("home/.config/tofu-modlock/config.hcl"), "allow_sources = [\"git::ssh://git@github.com/acme/*\"]\n");
  check_refused(server.url() + "/p.zip", "SOURCE_DENIED");
  check_refused(module(), "SOURCE_DENIED");
  BOOST_TEST(server.lines() == std::vector<std::string>(), boost::test_tools::per_element());
  write_text(path("home/.config/tofu-modlock/config.hcl"), "allow_sources = [\"*\"]\n");
  BOOST_TEST(lock_of(server.url() + "/p.zip").exit_code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock::test
