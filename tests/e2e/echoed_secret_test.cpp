// A hostile server gives back the secret that it was sent, wherever an answer has room for one: nothing shows it.

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "tests/e2e/scene.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/oci_registry.h"

using namespace modlock;
using namespace modlock::test;

namespace {

namespace fs = std::filesystem;
using Answer = ModuleRegistry::Answer;

const std::string kSecret = "Canary-S3cret-0123456789";
const std::string kModule = "/v1/modules/acme/vpc/aws";

std::string lower_case(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

struct HostileScene : Scene {
  HostileScene() {
    environment["SSL_CERT_FILE"] = authority.certificate().string();
    environment["TF_CLI_CONFIG_FILE"] = path("tofurc").string();
    name_text(server.authority(), "<server>");
    name_text(oci.host(), "<oci>");
    write_text(path("tofurc"), "credentials \"" + server.authority() + "\" {\n  token = \"" + kSecret + "\"\n}\n" +
                                   "oci_credentials \"" + oci.host() +
                                   "\" {\n  username = \"reader\"\n  password = \"" + kSecret + "\"\n}\n");
    write_text(path("home/.netrc"), "machine " + server.authority() + " login reader password " + kSecret + "\n");
  }

  // Runs commands on one module call, each of which fails or not; nobody may read the secret in what they leave.
  void check(const std::string& source, const std::string& version, const std::string& expected) {
    write("main.tf", module_call("vpc", source, version));
    std::string said;
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"lock"}, {"lock", "--json"}, {"versions", source}, {"versions", source, "--json"}}) {
      const Ran ran = modlock(command);
      said += ran.out + ran.err;
    }
    BOOST_TEST(said.find(expected) != std::string::npos, said);
    std::string kept = has(".terraform.lock.hcl") ? lock() : std::string();
    if (fs::exists(cache())) {
      for (const auto& entry : fs::recursive_directory_iterator(cache())) {
        kept += entry.path().string() + (entry.is_regular_file() ? read_text(entry.path()) : "");
      }
    }
    BOOST_TEST(lower_case(said).find(lower_case(kSecret)) == std::string::npos, said);
    BOOST_TEST(said.find("Canary-S3") == std::string::npos, said);
    BOOST_TEST(lower_case(kept).find(lower_case(kSecret)) == std::string::npos, kept);
    fs::remove_all(cache());
    fs::remove(root() / ".terraform.lock.hcl");
    fs::remove_all(root() / ".terraform");
  }

  CertificateAuthority authority{path("")};
  ModuleRegistry server{authority.issue("server")};
  OciRegistry oci{authority.issue("oci")};
};

Answer versions(const std::string& version) {
  return {.body = R"({"modules":[{"versions":[{"version":")" + version + "\"}]}]}", .headers = {{"ETag", "\"1\""}}};
}

Answer redirect(const std::string& location) {
  return {.status = 302, .headers = {{"Location", location}}};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(echoed_secret, HostileScene, *needs("openssl"))

BOOST_AUTO_TEST_CASE(by_a_registry) {
  struct Row {
    const char* name;
    std::string path;
    Answer answer;
    std::string expected;
  };
  const std::string download = kModule + "/1.0.0/download";
  const std::string discovery = "/.well-known/terraform.json";
  const auto document = [](const std::string& url) { return Answer{.body = R"({"modules.v1":")" + url + "\"}"}; };
  for (const Row& row : {
           Row{"a version", kModule + "/versions", versions("1.0.0-" + kSecret), "1.0.0-…"},
           Row{"what is no version", kModule + "/versions", versions("x " + kSecret), "1 tag skipped"},
           Row{"a redirect's path", kModule + "/versions", redirect("http://127.0.0.1/" + kSecret),
               "http://127.0.0.1/…"},
           Row{"a redirect's host", kModule + "/versions", redirect("https://" + kSecret + ".invalid/x"), "…"},
           Row{"a redirect's scheme", kModule + "/versions", redirect(kSecret + "://x/y"), "neither http nor https"},
           Row{"a long redirect", kModule + "/versions",
               redirect("http://127.0.0.1/" + std::string(168, 'a') + kSecret), "aaa…"},
           Row{"an error body", kModule + "/versions", {.status = 500, .body = kSecret, .type = "text/plain"}, "500"},
           Row{"the shape of the answer", kModule + "/versions", {.body = "{\"" + kSecret + "\": "}, "BAD_RESPONSE"},
           Row{"a location", download, ModuleRegistry::by_header("git::https://127.0.0.1:1/" + kSecret), "127.0.0.1"},
           Row{"a percent-encoded location", download,
               ModuleRegistry::by_header("git::https://127.0.0.1:1/Canary%2DS3cret%2D0123456789"), "127.0.0.1"},
           Row{"no location", download, ModuleRegistry::by_header("ftp::" + kSecret + "/x"), "ftp::"},
           Row{"a location in the body", download, ModuleRegistry::by_body("git::https://127.0.0.1:1/" + kSecret),
               "127.0.0.1"},
           Row{"a location of another kind", download, ModuleRegistry::by_header("hg::https://x/" + kSecret), "hg"},
           Row{"a direct location", download, ModuleRegistry::directly("ftp://x/" + kSecret, true), "ftp://x/…"},
           Row{"a service", discovery, document("ftp://x/" + kSecret), "neither http nor https"},
           Row{"a service's host", discovery, document("https://" + kSecret + ".invalid/"), "…"},
           Row{"a type", discovery, {.body = "{}", .type = "text/" + kSecret}, "text/…"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      server.serve(discovery, document("/v1/modules/"));
      server.serve(kModule + "/versions", versions("1.0.0"));
      server.serve(row.path, row.answer);
      check(server.authority() + "/acme/vpc/aws", "1.0.0", row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(by_a_server_of_archives) {
  struct Row {
    const char* name;
    std::string source;
    Answer answer;
    std::string expected;
  };
  const auto page = [](const std::string& where) {
    return Answer{.body = "<html><head><meta name=\"terraform-get\" content=\"" + where + "\"></head></html>",
                  .type = "text/html"};
  };
  for (const Row& row : {
           Row{"a redirect", "/m.zip", redirect("http://127.0.0.1/" + kSecret), "http://127.0.0.1/…"},
           Row{"X-Terraform-Get",
               "/m",
               {.headers = {{"X-Terraform-Get", "https://127.0.0.1:1/" + kSecret + ".zip"}}},
               "127.0.0.1:1"},
           Row{"no address", "/m", {.headers = {{"X-Terraform-Get", kSecret}}}, "not a full address"},
           Row{"a page", "/m", page("https://127.0.0.1:1/" + kSecret + ".zip"), "127.0.0.1:1"},
           Row{"an error body", "/m.zip", {.status = 403, .body = kSecret, .type = "text/plain"}, "FORBIDDEN"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      server.serve(row.source, row.answer);
      check(server.url() + row.source, "", row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_the_address_itself) {
  const std::string source =
      "https://reader:" + kSecret + "@" + server.authority() + "/m.zip?token=Query-" + lower_case(kSecret);
  server.serve("/m.zip", redirect("http://127.0.0.1/Query-" + kSecret));
  check(source, "", "http://127.0.0.1/…");
}

BOOST_AUTO_TEST_CASE(by_an_oci_registry) {
  using OciAnswer = OciRegistry::Answer;
  struct Row {
    const char* name;
    std::string path;
    OciAnswer answer;
    std::string expected;
  };
  const std::string tags = "/v2/acme/vpc/tags/list";
  const std::string manifest = "/v2/acme/vpc/manifests/latest";
  const auto manifest_of = [](const std::string& type, const std::string& artifact, const std::string& digest) {
    return OciAnswer{.body = R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",)"
                             R"("artifactType":")" +
                             artifact + R"(","layers":[{"mediaType":"archive/zip","digest":")" + digest +
                             R"(","size":3}]})",
                     .type = type};
  };
  const std::string image = "application/vnd.oci.image.manifest.v1+json";
  const std::string package = "application/vnd.opentofu.modulepkg";
  const auto challenge = [](const std::string& realm) {
    return OciAnswer{.status = 401, .headers = {{"WWW-Authenticate", "Bearer realm=\"" + realm + "\""}}};
  };
  for (const Row& row : {
           Row{"a tag", tags, {.body = R"({"tags":["1.0.0-)" + kSecret + "\"]}"}, "1 tag skipped"},
           Row{"what is no tag", tags, {.body = R"({"tags":["/ )" + kSecret + "\"]}"}, "1 tag skipped"},
           Row{"a link",
               tags,
               {.body = R"({"tags":[]})", .headers = {{"Link", "<http://x/" + kSecret + ">; rel=next"}}},
               "link"},
           Row{"a page elsewhere",
               tags,
               {.body = R"({"tags":[]})", .headers = {{"Link", "<https://127.0.0.1:1/" + kSecret + ">; rel=next"}}},
               "127.0.0.1:1/…"},
           Row{"an error body",
               manifest,
               {.status = 400, .body = R"({"errors":[{"message":")" + kSecret + "\"}]}"},
               "400"},
           Row{"a digest",
               manifest,
               {.body = "x", .headers = {{"Docker-Content-Digest", "sha256:" + kSecret}}},
               "no valid digest"},
           Row{"an artifact type", manifest, manifest_of(image, kSecret, ""), "unexpected artifact type \"…\""},
           Row{"a media type", manifest, manifest_of("text/" + kSecret, "", ""), "\"text/…\""},
           Row{"the digest of a layer", manifest, manifest_of(image, package, kSecret), "\"…\""},
           Row{"a realm", manifest, challenge(kSecret + "://x"), "realm"},
           Row{"a realm's host", manifest, challenge("https://" + kSecret + ".invalid/token"), "….invalid"},
           Row{"a redirect", manifest, {.status = 307, .headers = {{"Location", "http://x/" + kSecret}}}, "http://x/…"},
           Row{"a token", "/token", {.body = R"({"token":")" + kSecret + " x\"}"}, "not valid in a header"},
           Row{"a token's error", "/token", {.status = 400, .body = R"({"message":")" + kSecret + "\"}"}, "400"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      oci.push("acme/vpc", "latest", {{"main.tf", "# vpc\n"}});
      oci.require_token("reader", kSecret);
      if (row.path == "/token") {
        oci.fault(row.path, row.answer, 1000);
      } else {
        oci.require_basic("reader", kSecret);
        oci.fault(row.path, row.answer, 1000);
      }
      check(oci.source("acme/vpc"), "", row.expected);
      oci.fault(row.path, {}, 0);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
