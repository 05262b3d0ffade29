// Where providers come from by the CLI configuration, as stock clients have it: what they record in their lock file,
// and what ours say they would.

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>

#include "backends/base/parallel.h"
#include "plugin/engine/network.h"
#include "plugin/lock/lock_file.h"
#include "tests/support/certificates.h"
#include "tests/support/environment.h"
#include "tests/support/module_registry.h"
#include "tests/support/needs.h"
#include "tests/support/oci_module.h"
#include "tests/support/oci_registry.h"
#include "tests/support/provider_registry.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

using namespace modlock;
using namespace modlock::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kOthers[] = {"plan9_arm64", "windows_386"};

struct Scene {
  Scene() {
    for (const char* name : {"http_proxy",
                             "HTTP_PROXY",
                             "https_proxy",
                             "HTTPS_PROXY",
                             "all_proxy",
                             "ALL_PROXY",
                             "SSL_CERT_DIR",
                             "CURL_CA_BUNDLE",
                             "TF_DATA_DIR",
                             "TF_CLI_ARGS",
                             "TF_CLI_ARGS_init",
                             "TF_WORKSPACE",
                             "TF_LOG",
                             "NETRC",
                             "TERRAFORM_CONFIG",
                             "TF_PLUGIN_CACHE_DIR",
                             "XDG_CONFIG_HOME",
                             "XDG_DATA_HOME",
                             "OPENTOFU_ENFORCE_GPG_VALIDATION",
                             "TF_PROVIDER_DOWNLOAD_RETRY"}) {
      set(name, std::nullopt);
    }
    set("SSL_CERT_FILE", authority.certificate().string());
    set("HOME", (directory / "home").string());
    set("XDG_DATA_DIRS", (directory / "none").string());
    set("CHECKPOINT_DISABLE", "1");
    set("TF_CLI_CONFIG_FILE", (directory / "clirc").string());
    fs::create_directories(directory / "home");
    for (const std::string& host : {std::string(kOpenTofuRegistry), std::string(kTerraformRegistry)}) {
      put(host, "acme/null", {"1.0.0", "2.0.0-beta", "1.1.0"}, {});
      put(host, "acme/odd", {"1.0.0"},
          {{.name = "doc/", .type = ArchiveEntry::Type::directory}, {.name = "./LICENSE"}});
    }
  }

  void set(const char* name, const std::optional<std::string>& value) {
    environment.push_back(std::make_unique<ScopedEnvironment>(name, value));
  }

  // Everywhere, for this platform and for others.
  void put(const std::string& host, const std::string& name, const std::vector<std::string>& versions,
           const std::vector<ArchiveEntry>& entries) {
    const std::string place = host + "/" + name + "/";
    std::string index;
    for (const std::string& version : versions) {
      index += fmt::format("{}\"{}\": {{}}", index.empty() ? "" : ", ", version);
      std::string listed;
      std::string manifests;
      for (const std::string& platform :
           {Platform::current().to_string(), std::string(kOthers[0]), std::string(kOthers[1])}) {
        const PublishedArchive archive = make_provider_archive(name, version, platform, entries);
        directory.write("packed/" + place + archive.file_name, archive.bytes);
        for (const ArchiveEntry& entry : archive.entries) {
          if (!entry.name.ends_with('/')) {
            directory.write("unpacked/" + place + version + "/" + platform + "/" + entry.name, entry.content);
          }
        }
        mirror.serve("/m/" + place + archive.file_name, {.body = archive.bytes, .type = "application/zip"});
        listed += fmt::format(R"({}"{}": {{"url": "{}", "hashes": ["{}", "{}", "h9:x"]}})", listed.empty() ? "" : ", ",
                              platform, archive.file_name, archive.archive_h1, archive.zh);
        manifests += (manifests.empty() ? "" : ",") + push(place, platform, archive.bytes);
      }
      mirror.serve("/m/" + place + version + ".json", {.body = "{\"archives\": {" + listed + "}}"});
      constexpr const char* kIndex = "application/vnd.oci.image.index.v1+json";
      oci.put_manifest("m/" + host + "/" + name, version,
                       fmt::format(R"({{"schemaVersion":2,"mediaType":"{}",)"
                                   R"("artifactType":"application/vnd.opentofu.provider","manifests":[{}]}})",
                                   kIndex, manifests),
                       kIndex);
    }
    mirror.serve("/m/" + place + "index.json", {.body = "{\"versions\": {" + index + "}}"});
  }

  // The descriptor of the package of one platform.
  std::string push(const std::string& place, const std::string& platform, const std::string& bytes) {
    const std::string repository = "m/" + place.substr(0, place.size() - 1);
    const std::string manifest = oci_manifest(oci_layer(bytes), "application/vnd.opentofu.provider-target");
    oci.put_blob(repository, digest_of(bytes), bytes);
    oci.put_manifest(repository, digest_of(manifest).substr(7, 20), manifest);
    const std::size_t cut = platform.find('_');
    return fmt::format(
        R"({{"mediaType":"{}","artifactType":"application/vnd.opentofu.provider-target","digest":"{}","size":{},)"
        R"("platform":{{"os":"{}","architecture":"{}"}}}})",
        kOciManifestType, digest_of(manifest), manifest.size(), platform.substr(0, cut), platform.substr(cut + 1));
  }

  void configure(std::string text) const {
    for (const auto& [mark, value] :
         std::initializer_list<std::pair<std::string, std::string>>{{"@DIR", directory.path().string()},
                                                                    {"@NET", "https://" + mirror.authority() + "/m/"},
                                                                    {"@OCI", oci.host()}}) {
      for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
        text.replace(at, mark.size(), value);
      }
    }
    directory.write("clirc", text);
  }

  // "<type> <version> <hashes>" a line, from the lock file that a client writes.
  static std::string of_client(const std::string& client, const fs::path& root) {
    write_text(root / "main.tf",
               "terraform {\n  required_providers {\n    null = { source = \"acme/null\" }\n"
               "    odd  = { source = \"acme/odd\" }\n  }\n}\n");
    run({client, "init", "-no-color"}, root);
    std::string text;
    const auto file = parse_lock(read_text(root / ".terraform.lock.hcl"), "lock");
    BOOST_REQUIRE(file.has_value());
    for (const auto& [provider, lock] : file->providers) {
      text += fmt::format("{} {} {}\n", provider.type(), lock.version.to_string(), fmt::join(lock.hashes, " "));
    }
    return text;
  }

  // What a client says where it cannot lock a provider, as one line; `init` has to refuse it too.
  std::string refusal_of_client(const std::string& client, const std::string& provider) const {
    const fs::path root = directory / "root";
    write_text(
        root / "main.tf",
        fmt::format("terraform {{\n  required_providers {{\n    it = {{ source = \"{}\" }}\n  }}\n}}\n", provider));
    BOOST_CHECK_THROW(run({client, "init", "-no-color"}, root), std::runtime_error);
    std::string text = "accepted";
    try {
      run({client, "providers", "lock", "-no-color"}, root);
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  // The same of ours: the newest release, and all that is said of it.
  std::string of_ours(ClientKind tool, const std::string& client_version, const fs::path& root) const {
    const auto store = Store::open(directory / "store");
    const Network network({.tool = tool, .client_version = client_version}, *store);
    const auto source = network.provider_source(root);
    std::string text;
    for (const char* name : {"acme/null", "acme/odd"}) {
      const auto provider = ProviderAddress::parse(name, default_registry(tool)).value();
      const auto listing = source->list_versions(provider, {});
      BOOST_REQUIRE_MESSAGE(listing, (listing ? "" : listing.error().message));
      const auto newest = std::find_if(listing->versions.begin(), listing->versions.end(),
                                       [](const ProviderVersion& version) { return version.prerelease.empty(); });
      const std::vector<Platform> platforms = {Platform::current()};
      const auto release = source->release(provider, *newest, platforms, {});
      BOOST_REQUIRE_MESSAGE(release, (release ? "" : release.error().message));
      std::vector<std::string> hashes = release->published;
      const auto& recorded = release->packages.at(Platform::current()).recorded;
      hashes.insert(hashes.end(), recorded.begin(), recorded.end());
      std::sort(hashes.begin(), hashes.end());
      hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
      text += fmt::format("{} {} {}\n", provider.type(), newest->to_string(), fmt::join(hashes, " "));
    }
    return text;
  }

  TemporaryDirectory directory;
  std::vector<std::unique_ptr<ScopedEnvironment>> environment;
  CertificateAuthority authority{directory.path()};
  ServerCertificate certificate = authority.issue("mirror");
  ModuleRegistry mirror{certificate};
  OciRegistry oci{certificate};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(provider_sources, *needs("tofu or terraform") * needs("openssl"))

BOOST_FIXTURE_TEST_CASE(record_what_clients_record, Scene) {
  struct Row {
    const char* name;
    const char* configuration;  // empty: none, and the packages lie where clients look for them
    bool is_for_terraform = true;
  };
  const Row rows[] = {
      {"a directory of archives", "provider_installation {\n filesystem_mirror { path = \"@DIR/packed\" }\n}\n"},
      {"a directory of packages", "provider_installation {\n filesystem_mirror { path = \"@DIR/unpacked\" }\n}\n"},
      {"a relative directory", "provider_installation {\n filesystem_mirror { path = \"../unpacked\" }\n}\n"},
      {"a network mirror", "provider_installation {\n network_mirror { url = \"@NET\" }\n}\n"},
      {"a trusted one",
       "provider_installation {\n network_mirror {\n url = \"@NET\"\n trust_all_hashes = true\n }\n}\n"},
      {"one for each",
       "provider_installation {\n filesystem_mirror {\n path = \"@DIR/packed\"\n include = [\"acme/odd\"]\n }\n"
       " network_mirror {\n url = \"@NET\"\n exclude = [\"acme/odd\"]\n }\n}\n"},
      {"an OCI mirror",
       "provider_installation {\n oci_mirror { repository_template = \"@OCI/m/${hostname}/${namespace}/${type}\" "
       "}\n}\n",
       false},
      {"implied directories", ""},
  };
  for (const std::string& client : clients()) {
    const bool is_terraform = client == "terraform";
    configure("");
    const std::string version = run({client, "version"}).substr(is_terraform ? 11 : 10, 6);
    for (const Row& row : rows) {
      if (is_terraform && !row.is_for_terraform) {
        continue;
      }
      BOOST_TEST_CONTEXT(client + " " + version + ": " + row.name) {
        const fs::path root = directory / "root";
        fs::remove_all(root);
        fs::create_directories(root);
        configure(row.configuration);
        if (*row.configuration == '\0') {
          fs::create_directories(root / "terraform.d");
          fs::copy(directory / "packed", root / "terraform.d/plugins", fs::copy_options::recursive);
        }
        const std::string expected = of_client(client, root);
        BOOST_TEST(!expected.empty());
        BOOST_TEST(of_ours(is_terraform ? ClientKind::terraform : ClientKind::opentofu, version, root) == expected);
      }
    }
  }
}

// A mirror has the provider, and its host has no registry: clients refuse, in words that ours repeat.
BOOST_FIXTURE_TEST_CASE(refuse_a_host_without_a_registry, Scene) {
  put("empty.example.test", "acme/null", {"1.0.0"}, {});
  for (const std::string& client : clients()) {
    const ClientKind tool = client == "terraform" ? ClientKind::terraform : ClientKind::opentofu;
    for (const char* service : {"modules.v1", "providers.v9"}) {
      BOOST_TEST_CONTEXT(client << " and " << service) {
        configure(std::string("host \"empty.example.test\" {\n services = { \"") + service +
                  "\" = \"https://127.0.0.1:1/\" }\n}\nprovider_installation {\n"
                  " filesystem_mirror { path = \"@DIR/packed\" }\n direct {}\n}\n");
        const auto store = Store::open(directory / "store");
        const Network network({.tool = tool, .client_version = {}}, *store);
        const auto listing =
            network.provider_source(directory / "root")
                ->list_versions(ProviderAddress::parse("empty.example.test/acme/null", "a.io").value(), {});
        BOOST_REQUIRE(!listing);
        BOOST_TEST(to_string(listing.error().code) == "BAD_RESPONSE");
        const std::string refusal = refusal_of_client(client, "empty.example.test/acme/null");
        BOOST_TEST(refusal.find(listing.error().message) != std::string::npos, refusal);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(shared_provider_sources, *needs("openssl"))

BOOST_FIXTURE_TEST_CASE(mirrors_are_asked_once_for_all_roots, Scene) {
  struct Row {
    const char* name;
    const char* configuration;
    const char* provider;
    std::size_t requests;  // of a listing and a release of two platforms
  };
  const Row rows[] = {
      {"a network mirror", "provider_installation {\n network_mirror { url = \"@NET\" }\n}\n", "acme/null", 4},
      {"one that does not have it", "provider_installation {\n network_mirror { url = \"@NET\" }\n}\n", "acme/none", 1},
      {"an OCI mirror",
       "provider_installation {\n oci_mirror { repository_template = \"@OCI/m/${hostname}/${namespace}/${type}\" "
       "}\n}\n",
       "acme/null", 6},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      configure(row.configuration);
      mirror.forget_requests();
      const std::size_t begin = oci.lines().size();
      const auto store = Store::open(directory / row.name);
      const Network network({.client_version = "1.12.6", .memoizes = true}, *store);
      const auto provider = ProviderAddress::parse(row.provider, kOpenTofuRegistry).value();
      std::array<std::string, 8> answers;
      parallel_for(answers.size(), answers.size(), [&](std::size_t i) {
        const auto source = network.provider_source(directory / fmt::format("root{}", i));
        const auto listing = source->list_versions(provider, {});
        if (!listing) {
          answers[i] = listing.error().message;
          return;
        }
        const std::vector<Platform> platforms = {Platform::parse(kOthers[0]).value(),
                                                 Platform::parse(kOthers[1]).value()};
        const auto release = source->release(provider, ProviderVersion::parse("1.1.0").value(), platforms, {});
        answers[i] = release ? release->packages.at(platforms[1]).h1 : release.error().message;
      });
      BOOST_TEST((std::count(answers.begin(), answers.end(), answers.front()) == 8), answers.front());
      std::vector<std::string> asked = mirror.lines();
      const std::vector<std::string> of_oci = oci.lines();
      asked.insert(asked.end(), of_oci.begin() + static_cast<std::ptrdiff_t>(begin), of_oci.end());
      BOOST_TEST(asked.size() == row.requests, fmt::format("{}", fmt::join(asked, "\n")));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
