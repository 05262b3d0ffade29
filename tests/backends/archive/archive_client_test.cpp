// The same server asked by a stock client and by us: the same requests, the same package, or a refusal by both.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "backends/http/curl_http_client.h"
#include "backends/package/tree_hash.h"
#include "tests/backends/archive/archive_fixture.h"
#include "tests/support/environment.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/run.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  std::string hash;  // empty: refused
  std::vector<std::string> requests;
  std::string authorization;  // of the last request
};

// "GET <target>" in order. A client asks with HEAD before it downloads, which is no use to anybody.
std::vector<std::string> gets(const ModuleRegistry& server) {
  std::vector<std::string> lines = server.lines();
  lines.erase(std::remove_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("HEAD"); }),
              lines.end());
  return lines;
}

struct Comparison {
  Comparison() {
    const std::string tar = make_tar({{.name = "a/main.tf", .content = kModule}});
    server.serve("/a.zip", {.body = make_zip({{.name = "main.tf", .content = kModule}}), .type = "application/zip"});
    server.serve("/sub.tar.gz", {.body = compress("gzip", tar), .type = "application/gzip"});
    server.serve("/tree", {.body = compress("xz", make_tar({{.name = "main.tf", .content = kModule}})), .type = "x/x"});
    server.serve("/sums", {.body = sha256_hex(make_zip({{.name = "main.tf", .content = kModule}})) + "  a.zip\n"});
  }

  void point(const std::string& path, const std::string& where) {
    server.serve(path, {.status = 200, .headers = {{"X-Terraform-Get", where}}});
  }

  Outcome theirs(const std::string& source) {
    server.forget_requests();
    const TemporaryDirectory root;
    root.write("main.tf", fmt::format("module \"m\" {{\n  source = \"{}\"\n}}\n", source));
    root.write("client.rc", "");
    root.write("netrc", "machine 127.0.0.1 login wrong password wrong\nmachine " + server.authority() +
                            " login me password secret\n");
    Outcome outcome;
    try {
      run({clients().front(), "init", "-no-color", "-input=false"}, root.path(),
          {{"TF_CLI_CONFIG_FILE", (root / "client.rc").string()},
           {"NETRC", (root / "netrc").string()},
           {"CHECKPOINT_DISABLE", "1"},
           {"NO_PROXY", "127.0.0.1"},
           {"no_proxy", "127.0.0.1"}});
      outcome.hash = hash_tree(root / ".terraform/modules/m", Context{}).value();
    } catch (const std::runtime_error& refused) {
      BOOST_TEST_MESSAGE(refused.what());
    }
    return complete(std::move(outcome));
  }

  Outcome ours(const std::string& source) {
    server.forget_requests();
    credentials.add_basic(CredentialUse::download, server.authority(), "me", "secret");
    const auto http = make_curl_http_client("test");
    const auto backend = make_archive_backend(*http, credentials, others);
    const TemporaryDirectory parent;
    const FetchRequest fetch_request;
    const auto address = parse_source(source);
    const auto tree = std::move(backend->fetch(address.value(), {&fetch_request, 1}, parent.path(), {}).front());
    Outcome outcome;
    if (tree) {
      outcome.hash = hash_tree(tree->directory, Context{}).value();
    } else {
      BOOST_TEST_MESSAGE(tree.error().message);
    }
    return complete(std::move(outcome));
  }

  Outcome complete(Outcome outcome) const {
    outcome.requests = gets(server);
    outcome.authorization = server.requests().empty() ? "" : server.requests().back().header("Authorization");
    return outcome;
  }

  ModuleRegistry server;
  FakeCredentials credentials;
  BackendSet others;
  ScopedEnvironment no_proxy{"NO_PROXY", "127.0.0.1"};
  ScopedEnvironment no_proxy_too{"no_proxy", "127.0.0.1"};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(archive_client, Comparison)

BOOST_AUTO_TEST_CASE(does_as_a_client_does, *needs("tofu or terraform")) {
  struct Row {
    const char* name;
    std::string path;
    bool is_fine;
  };
  const std::string url = server.url();
  const std::string sum = sha256_hex(make_zip({{.name = "main.tf", .content = kModule}}));
  point("/to-zip", url + "/a.zip");
  point("/to-sub", url + "/sub.tar.gz//a");
  point("/to-arguments", url + "/a.zip?z=1&a=%20b+c&archive=zip");
  point("/to-sum", url + "/a.zip?checksum=md5:00000000000000000000000000000000");
  point("/to-relative", "./a.zip");
  point("/to-path", "/a.zip");
  point("/to-shorthand", "github.com/a/b");
  point("/to-oci", "oci://" + server.authority() + "/a");
  point("/to-itself", url + "/to-itself");
  point("/hop", url + "/to-zip");
  server.serve("/redirect", {.status = 302, .headers = {{"Location", "/to-zip"}}});
  server.serve("/redirect.zip", {.status = 302, .headers = {{"Location", "/a.zip"}}});
  server.serve("/meta",
               {.body = "<html><head><meta name=\"terraform-get\" content=\"" + url + "/a.zip\"></head></html>",
                .type = "text/html"});
  server.serve("/meta-in-body", {.body = "<body><meta name=\"terraform-get\" content=\"" + url + "/a.zip\"></body>",
                                 .type = "text/html"});
  server.serve("/nothing", {.body = "<html/>", .type = "text/html"});
  const Row rows[] = {
      {"an archive", "/a.zip", true},
      {"an archive by its argument", "/tree?archive=txz&b=2&a=1", true},
      {"an archive under a wrong name", "/a.zip?archive=tgz", false},
      {"no archive", "/a.zip?archive=false", false},
      {"what is not there", "/b.zip", false},
      {"a checksum", "/a.zip?checksum=sha256:" + sum, true},
      {"a checksum without its type", "/a.zip?checksum=" + sum, true},
      {"a wrong checksum", "/a.zip?checksum=md5:00000000000000000000000000000000", false},
      {"a wrong word for one", "/a.zip?checksum=abcd", false},
      {"a list of checksums", "/a.zip?checksum=file:" + url + "/sums", true},
      {"a redirect to an archive", "/redirect.zip", true},
      {"a header", "/to-zip", true},
      {"a header with a subdirectory", "/to-sub", true},
      {"a header with arguments", "/to-arguments", true},
      {"a header with a wrong checksum", "/to-sum", false},
      {"a header with a relative address", "/to-relative", false},
      {"a header with a path", "/to-path", false},
      {"a header with a shorthand", "/to-shorthand", false},
      {"a header with an OCI registry", "/to-oci", false},
      {"a header behind a header", "/hop", true},
      {"a header behind a redirect", "/redirect", true},
      {"a header that leads back", "/to-itself", false},
      {"a page", "/meta", true},
      {"a page with its tag in the body", "/meta-in-body", false},
      {"a page that says nothing", "/nothing", false},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Outcome expected = theirs(url + row.path);
      const Outcome found = ours(url + row.path);
      BOOST_TEST(!expected.hash.empty() == row.is_fine);
      BOOST_TEST(found.hash == expected.hash);
      BOOST_TEST(found.requests == expected.requests);
      BOOST_TEST(found.authorization == expected.authorization);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
