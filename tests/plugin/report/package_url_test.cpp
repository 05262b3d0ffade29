#include "plugin/report/package_url.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

BOOST_AUTO_TEST_SUITE(package_url_of_what_is_locked)

BOOST_AUTO_TEST_CASE(modules) {
  const std::string commit = "8f2c0d0b6c1f3b6f1a6f6a0b9e5d4c3b2a190807";
  const std::string digest = "sha256:" + std::string(64, 'a');
  struct Row {
    const char* name;
    std::string source;
    std::string version;
    std::vector<std::string> hashes;
    std::string url;
  };
  const Row rows[] = {
      {"GitHub",
       "git::https://github.com/Example/Net.git",
       "1.2.5",
       {"git:" + commit, "h1:x"},
       "pkg:github/example/net@" + commit},
      {"a directory of a BitBucket repository over ssh",
       "git::ssh://git@bitbucket.org/t/net.git//modules/a",
       "",
       {"git:" + commit},
       "pkg:bitbucket/t/net@" + commit + "#modules/a"},
      {"GitHub without a commit", "git::https://github.com/e/net.git", "1.2.5", {}, "pkg:github/e/net@1.2.5"},
      {"another host of git",
       "git::https://git.example.com:8443/team/a/net.git",
       "1.0.0",
       {"git:" + commit},
       "pkg:generic/net@" + commit + "?vcs_url=git%2Bhttps://git.example.com:8443/team/a/net.git%40" + commit},
      {"git over ssh keeps its user",
       "git::ssh://git@example.com/net.git",
       "",
       {},
       "pkg:generic/net?vcs_url=git%2Bssh://git%40example.com/net.git"},
      {"a registry",
       "registry.opentofu.org/modules/example/vpc/aws//modules/x",
       "5.1.0",
       {"h1:x"},
       "pkg:generic/example/vpc/aws@5.1.0?repository_url=registry.opentofu.org#modules/x"},
      {"a version with build metadata",
       "registry.example.com/modules/e/n/s",
       "1.0.0+build",
       {},
       "pkg:generic/e/n/s@1.0.0%2Bbuild?repository_url=registry.example.com"},
      {"OCI",
       "oci://ghcr.io/Team/net",
       "1.2.0",
       {"oci:" + digest},
       "pkg:oci/net@sha256%3A" + std::string(64, 'a') + "?repository_url=ghcr.io/team/net&tag=1.2.0"},
      {"OCI by tag",
       "oci://localhost:5000/team/net?tag=main",
       "",
       {"oci:" + digest},
       "pkg:oci/net@sha256%3A" + std::string(64, 'a') + "?repository_url=localhost:5000/team/net&tag=main"},
      {"an archive",
       "https://example.com/files/net-1.0.zip",
       "",
       {"zh:abc"},
       "pkg:generic/net-1.0.zip?checksum=sha256:abc&download_url=https://example.com/files/net-1.0.zip"},
      {"letters beyond ASCII",
       "https://example.com/n%C3%A4t.zip",
       "",
       {},
       "pkg:generic/n%C3%A4t.zip?download_url=https://example.com/n%C3%A4t.zip"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto source = parse_identity(row.source);
      BOOST_TEST_REQUIRE(source.has_value());
      ModuleLock lock{.key = "m", .source = row.source, .hashes = row.hashes};
      if (!row.version.empty()) {
        lock.version = row.version;
      }
      BOOST_TEST(package_url(*source, lock) == row.url);
    }
  }
}

BOOST_AUTO_TEST_CASE(providers) {
  const auto address = ProviderAddress::parse("registry.opentofu.org/hashicorp/aws", kOpenTofuRegistry).value();
  BOOST_TEST(package_url(address, "5.1.0") ==
             "pkg:generic/hashicorp/terraform-provider-aws@5.1.0?repository_url=registry.opentofu.org");
}

BOOST_AUTO_TEST_SUITE_END()
