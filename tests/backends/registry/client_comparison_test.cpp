// The same registry served to stock clients and to us: the same version, the same requests, the same tree.

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "backends/base/files.h"
#include "backends/git/git_backend.h"
#include "backends/http/curl_http_client.h"
#include "backends/package/tree_hash.h"
#include "backends/package/unpack.h"
#include "tests/backends/registry/registry_fixture.h"
#include "tests/support/archive_writer.h"
#include "tests/support/environment.h"
#include "tests/support/git_repository.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/run.h"

namespace modlock {
namespace {

using namespace test;
using registry::ClientRules;

// Archives by plain URLs, without anything that a real backend for them does besides.
class PlainArchives final : public BackendCore {
 public:
  explicit PlainArchives(HttpClient& http) : http_(http) {}

  bool serves(const Source& source) const override { return source.kind == SourceKind::archive; }
  Result<Listing> list_versions(const SourceAddress&, std::string_view, const Context&) override { return Listing{}; }
  Result<Pin> pin(const SourceAddress&, const Context&) override { return Pin{}; }
  std::vector<Result<FetchedTree>> fetch(const SourceAddress& source, std::span<const FetchRequest>,
                                         const std::filesystem::path& parent, const Context& context) override {
    return {fetch_one(source, parent, context)};
  }
  std::string hash_scheme() const override { return "zh"; }

 private:
  Result<FetchedTree> fetch_one(const SourceAddress& source, const std::filesystem::path& parent,
                                const Context& context) {
    HttpRequest request;
    request.url = source.package_url;
    const auto response = expect_success(http_.send(request, context), request);
    if (!response) {
      return fail(response.error());
    }
    write_text(parent / "archive", response->body);
    FetchedTree tree{.id = "x", .directory = parent / "tree", .warnings = {}};
    const auto format = archive_format_of_path(source.source.path).value();
    if (auto ok = make_directories(tree.directory); !ok) {
      return fail(std::move(ok.error()));
    }
    return unpack_archive(parent / "archive", format, tree.directory, "archive", context).map([&](FileDigests) {
      return tree;
    });
  }

  HttpClient& http_;
};

// What one client made of a call.
struct Outcome {
  std::string version;
  std::string h1;
  std::vector<std::string> requests;  // to the registry's API
};

struct Scene {
  Scene() {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
                             "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "TF_DATA_DIR",
                             "TF_CLI_ARGS", "TF_CLI_ARGS_get", "TF_WORKSPACE", "TF_LOG", "NETRC"}) {
      environment.push_back(std::make_unique<ScopedEnvironment>(name, std::nullopt));
    }
    const std::vector<ArchiveEntry> entries = {{.name = "main.tf", .content = "# archive\n"},
                                               {.name = "sub/main.tf", .content = "# sub\n"}};
    registry.serve("/p/m.zip", {.body = make_zip(entries), .type = "application/zip"});
    registry.serve("/p/m.tar.gz", {.body = compress("gzip", make_tar(entries)), .type = "application/gzip"});
    repository.commit({{"main.tf", "# one\n"}, {"sub/main.tf", "# sub\n"}});
    repository.tag("v1.0.0");
    commit = repository.commit({{"main.tf", "# two\n"}, {"sub/main.tf", "# sub\n"}});
    repository.tag("v1.2.0");
    home.write("clirc", registry.host_block("registry.example.test"));
  }

  std::string git(const std::string& suffix) const { return "git::" + repository.url() + suffix; }

  Outcome of_client(const std::string& client) {
    TemporaryDirectory root;
    root.write("main.tf", "module \"m\" {\n  source  = \"registry.example.test/a/b/c\"\n  version = \"~> 1.0\"\n}\n");
    registry.forget_requests();
    run({client, "get", "-no-color"}, root.path(),
        {{"HOME", home.path().string()},
         {"TF_CLI_CONFIG_FILE", (home / "clirc").string()},
         {"CHECKPOINT_DISABLE", "1"}});
    const std::string manifest = read_text(root / ".terraform/modules/modules.json");
    const std::string mark = "\"Version\":\"";
    const std::size_t start = manifest.find(mark) + mark.size();
    return {.version = manifest.substr(start, manifest.find('"', start) - start),
            .h1 = hash_tree(root / ".terraform/modules/m", {}).value(),
            .requests = api_requests()};
  }

  Outcome of_ours(ClientRules rules) {
    const ScopedEnvironment file_transport("GIT_ALLOW_PROTOCOL", "file");  // as the client allows it
    TemporaryDirectory cache;
    ClientConfiguration client;
    client.hosts["registry.example.test"] = {.services = {{"modules.v1", registry.modules_url()}}, .from = "clirc:1"};
    FakeCredentials credentials;
    const auto http = make_curl_http_client("test");
    BackendSet backends;
    backends.add(make_git_backend({.cache_directory = cache / "git"}));
    backends.add(std::make_unique<PlainArchives>(*http));
    const auto backend = make_registry_backend(
        {.http = registry::RegistryHttp(*http, credentials), .client = client, .others = backends, .rules = rules});
    const SourceAddress source = parsed("registry.example.test/a/b/c");
    registry.forget_requests();
    const auto listing = backend->list_versions(source, "", {}).value();
    const auto chosen = std::find_if(listing.versions.begin(), listing.versions.end(), [](const ListedVersion& listed) {
      return listed.version.numbers()[0] == 1 && listed.version.prerelease().empty();
    });
    const FetchRequest fetch_request{.id = {}, .ref = chosen->ref};
    const auto tree = std::move(backend->fetch(source, {&fetch_request, 1}, cache.path(), {}).at(0));
    BOOST_REQUIRE_MESSAGE(tree, (tree ? "" : words(tree.error())));
    return {.version = chosen->ref, .h1 = hash_tree(tree->directory, {}).value(), .requests = api_requests()};
  }

  std::vector<std::string> api_requests() const {
    std::vector<std::string> lines = registry.lines();
    lines.erase(std::remove_if(lines.begin(), lines.end(),
                               [](const std::string& line) { return line.find(" /v1/modules/") == std::string::npos; }),
                lines.end());
    return lines;
  }

  std::vector<std::unique_ptr<ScopedEnvironment>> environment;
  TemporaryDirectory home;
  ModuleRegistry registry;
  GitRepository repository{home / "repository.git"};
  std::string commit;
};

void compare(Scene& scene, const std::string& client) {
  const Outcome theirs = scene.of_client(client);
  const Outcome ours = scene.of_ours(client == "tofu" ? ClientRules::opentofu_1_12 : ClientRules::terraform);
  BOOST_TEST(ours.version == theirs.version);
  BOOST_TEST(ours.h1 == theirs.h1);
  BOOST_TEST(ours.requests == theirs.requests, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE(client_comparison_test, *needs("tofu or terraform"))

BOOST_AUTO_TEST_CASE(locations_in_the_header) {
  Scene scene;
  const std::string rows[] = {scene.git("?ref=v1.2.0"),       scene.git("?ref=" + scene.commit), scene.git(""),
                              scene.git("//sub?ref=v1.0.0"),  scene.registry.url() + "/p/m.zip", "/p/m.zip",
                              "../../../../../../p/m.tar.gz", "/p/m.tar.gz//sub?archive=tar.gz"};
  for (const std::string& client : clients()) {
    for (const std::string& location : rows) {
      BOOST_TEST_CONTEXT(client << ": " << location) {
        scene.registry.add_version("a/b/c", "1.2.0", ModuleRegistry::by_header(location));
        compare(scene, client);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(locations_in_the_body) {
  Scene scene;
  ModuleRegistry::Answer both = ModuleRegistry::by_body("");
  both.headers = {{"X-Terraform-Get", scene.git("?ref=v1.2.0")}};
  ModuleRegistry::Answer contradiction = ModuleRegistry::by_body(scene.git("?ref=v1.0.0"));
  contradiction.headers = both.headers;
  struct Row {
    const char* name;
    ModuleRegistry::Answer answer;
    bool terraform;  // whether it makes anything of it
  };
  const Row rows[] = {
      {"git", ModuleRegistry::by_body(scene.git("?ref=v1.2.0")), false},
      {"archive", ModuleRegistry::by_body("/p/m.zip"), false},
      {"empty beside a header", both, true},
      {"other than the header", contradiction, true},
      {"direct with a token", ModuleRegistry::directly("/p/m.tar.gz", true), false},
      {"direct without", ModuleRegistry::directly("/p/m.zip", false), false},
  };
  for (const std::string& client : clients()) {
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(client << ": " << row.name) {
        scene.registry.add_version("a/b/c", "1.2.0", row.answer);
        if (client == "tofu" || row.terraform) {
          compare(scene, client);
        } else {
          BOOST_CHECK_THROW((void)scene.of_client(client), std::runtime_error);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(versions) {
  struct Row {
    const char* name;
    std::vector<std::string> versions;
  };
  const Row rows[] = {
      {"the newest below 2", {"1.0.0", "2.0.0", "1.10.0", "1.9.0", "1.11.0-rc1"}},
      {"spelled otherwise", {"v1.2"}},
      {"equal but for metadata", {"1.2.0+b", "1.2.0+a", "1.1.0"}},
      {"metadata behind none", {"1.2.0", "1.2.0+a"}},
      {"four numbers", {"1.2.0.0", "1.2.0"}},
      {"no versions among them", {"latest", "1.2.0", ""}},
  };
  for (const std::string& client : clients()) {
    for (const Row& row : rows) {
      BOOST_TEST_CONTEXT(client << ": " << row.name) {
        Scene scene;
        const auto download = ModuleRegistry::by_header(scene.git("?ref=v1.0.0"));
        for (const std::string& version : row.versions) {
          scene.registry.add_version("a/b/c", version, download);
        }
        scene.registry.serve("/v1/modules/a/b/c/1.2.0/download", download);  // the canonical text of "v1.2"
        compare(scene, client);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
