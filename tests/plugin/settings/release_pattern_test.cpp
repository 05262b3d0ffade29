#include "plugin/settings/release_pattern.h"

#include <boost/test/unit_test.hpp>

using namespace modlock;

namespace {

constexpr const char* kCommit = "8f2c0d0b6c1f5e2d8f2c0d0b6c1f5e2d8f2c0d0b";
constexpr const char* kDigest = "sha256:00000000000000000000000000000000000000000000000000000000000000aa";
constexpr const char* kH1 = "h1:e0fkZVGnJ5Zqfh32v/vvwe3FFcOI1rJeyIPkyZOJyio=";

}  // namespace

BOOST_AUTO_TEST_SUITE(release_pattern)

BOOST_AUTO_TEST_CASE(a_pattern_matches_each_spelling_of_a_source) {
  constexpr const char* kGit = "git::https://github.com/acme/vpc.git//sub?ref=v1.0.0";
  constexpr const char* kSsh = "git::ssh://git@github.com/acme/vpc.git";
  constexpr const char* kRegistry = "registry.opentofu.org/modules/terraform-aws-modules/vpc/aws";
  constexpr const char* kTerraform = "registry.terraform.io/modules/terraform-aws-modules/vpc/aws//modules/a";
  constexpr const char* kOci = "oci://registry.example.com/team/vpc?tag=1.0.0";
  struct Row {
    const char* name;
    const char* pattern;
    const char* source;
    bool matches;
  };
  for (const Row& row : {
           Row{"shorthand", "github.com/acme/vpc", kGit, true},
           Row{"shorthand in other case", "GitHub.com/Acme/VPC", kGit, true},
           Row{"https", "git::https://github.com/acme/vpc.git", kGit, true},
           Row{"without .git", "git::https://github.com/acme/vpc", kGit, true},
           Row{"https for ssh", "https://github.com/acme/vpc/", kSsh, true},
           Row{"scp", "git@github.com:acme/vpc.git", kGit, true},
           Row{"ssh", "git::ssh://git@github.com/acme/vpc", kSsh, true},
           Row{"glob", "github.com/acme/*", kSsh, true},
           Row{"glob of hosts", "*/acme/vpc", kGit, true},
           Row{"everything", "*", kOci, true},
           Row{"directory", "github.com/acme/vpc//sub", kGit, true},
           Row{"other directory", "github.com/acme/vpc//modules", kGit, false},
           Row{"other repository", "github.com/acme/vpc2", kGit, false},
           Row{"part of a name", "github.com/acme/vp", kGit, false},
           Row{"other host", "git.example.com/acme/vpc", kGit, false},
           Row{"registry", "terraform-aws-modules/vpc/aws", kRegistry, true},
           Row{"other registry", "terraform-aws-modules/vpc/aws", kTerraform, true},
           Row{"one registry", "registry.opentofu.org/terraform-aws-modules/vpc/aws", kTerraform, false},
           Row{"as in the lock file", kRegistry, kRegistry, true},
           Row{"glob of a namespace", "terraform-aws-modules/*", kRegistry, true},
           Row{"OCI", "oci://registry.example.com/team/vpc", kOci, true},
           Row{"glob of OCI", "oci://registry.example.com/*", kOci, true},
           Row{"port", "git::https://git.example.com:8443/vpc", "git::https://git.example.com:8443/vpc.git", true},
           Row{"default port", "github.com/acme/vpc", "git::https://github.com:443/acme/vpc.git", true},
           Row{"default port of ssh", "github.com/acme/vpc", "git::ssh://git@github.com:22/acme/vpc", true},
           Row{"default port in the pattern", "https://github.com:443/acme/vpc", kSsh, true},
           Row{"other port", "git.example.com/vpc", "git::https://git.example.com:8443/vpc.git", false},
           Row{"escape", "github.com/acme/vpc", "git::https://github.com/%61cme/vpc%2Egit", true},
           Row{"escape in the pattern", "https://github.com/%61cme/vpc", kGit, true},
           Row{"www", "github.com/acme/vpc", "git::https://www.github.com/acme/vpc.git", true},
           Row{"ssh on the port of https", "github.com/acme/vpc", "git::ssh://git@ssh.github.com:443/acme/vpc.git",
               true},
           Row{"ssh on the port of https, bitbucket", "bitbucket.org/acme/vpc",
               "git::ssh://git@altssh.bitbucket.org:443/acme/vpc.git", true},
           Row{"suffix in capitals", "github.com/acme/vpc", "git::https://github.com/acme/vpc.GIT", true},
           Row{"a directory like a port", "git@github.com:22/vpc", "git::ssh://git@github.com/22/vpc", true},
           Row{"local", "*", "./modules/vpc", false},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto pattern = SourcePattern::parse(row.pattern);
      const auto source = parse_identity(row.source);
      BOOST_TEST_REQUIRE(pattern.has_value());
      BOOST_TEST_REQUIRE(source.has_value());
      BOOST_TEST(pattern->matches(*source) == row.matches);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_release_is_selected_by_version_commit_or_digest) {
  struct Row {
    const char* name;
    std::string release;
    const char* source;
    const char* version;  // "": none
    std::vector<std::string> hashes;
    bool matches;
  };
  constexpr const char* kVpc = "git::https://github.com/acme/vpc.git";
  constexpr const char* kOfTag = "git::https://github.com/acme/vpc.git?ref=1B6C1F5E2D8f2c0d0b6c1f5e2d8f2c0d0b6c1f5e";
  constexpr const char* kPeeledTag =
      "git::https://github.com/acme/vpc.git?ref=1b6c1f5e2d8f2c0d0b6c1f5e2d8f2c0d0b6c1f5e%5E%7B%7D~0";
  constexpr const char* kOfCommit = "git::https://github.com/acme/vpc.git?ref=8f2c0d0b6c1f5e2d8f2c0d0b6c1f5e2d8f2c0d0b";
  const std::vector<std::string> git = {std::string("git:") + kCommit, kH1};
  const std::vector<std::string> oci = {std::string("oci:") + kDigest, kH1};
  for (const Row& row : {
           Row{"any release", "github.com/acme/vpc", kVpc, "", git, true},
           Row{"version", "github.com/acme/vpc@1.2.0", kVpc, "1.2.0", git, true},
           Row{"version with v", "github.com/acme/vpc@v1.2.0", kVpc, "1.2.0", git, true},
           Row{"other version", "github.com/acme/vpc@1.2.0", kVpc, "1.2.1", git, false},
           Row{"range", "github.com/acme/vpc@>= 1.0, < 2.0", kVpc, "1.2.0", git, true},
           Row{"after a range", "github.com/acme/vpc@>= 1.0, < 2.0", kVpc, "2.0.0", git, false},
           Row{"tag", "github.com/acme/vpc@1.2.0", "git::https://github.com/acme/vpc.git?ref=v1.2.0", "", git, true},
           Row{"tag of a monorepo", "github.com/acme/vpc@1.2.0",
               "git::https://github.com/acme/vpc.git?ref=sub%2Fv1.2.0", "", git, true},
           Row{"branch", "github.com/acme/vpc@1.2.0", "git::https://github.com/acme/vpc.git?ref=main", "", git, false},
           Row{"id of a tag's object", "github.com/acme/vpc@1.2.0", kOfTag, "", git, true},
           Row{"id of a tag's object, peeled", "github.com/acme/vpc@1.2.0", kPeeledTag, "", git, true},
           Row{"id of a tag's object, and a commit", "github.com/acme/vpc@8f2c0d1", kOfTag, "", git, false},
           Row{"id of a tag's object elsewhere", "github.com/acme/net@1.2.0", kOfTag, "", git, false},
           Row{"id of the commit", "github.com/acme/vpc@1.2.0", kOfCommit, "", git, false},
           Row{"name like an id", "github.com/acme/vpc@1.2.0", "git::https://github.com/acme/vpc.git?ref=deadbeef", "",
               git, false},
           Row{"commit", std::string("github.com/acme/vpc@") + kCommit, kVpc, "", git, true},
           Row{"short commit", "github.com/acme/vpc@8F2C0D0", kVpc, "1.0.0", git, true},
           Row{"end of a commit", "github.com/acme/vpc@c1f5e2d8f2c0d0b", kVpc, "1.0.0", git, false},
           Row{"scp and commit", "git@github.com:acme/vpc.git@8f2c0d0", kVpc, "1.0.0", git, true},
           Row{"scp only", "git@github.com:acme/vpc.git", kVpc, "1.0.0", git, true},
           Row{"digest", std::string("*@") + kDigest, "oci://r.example.com/vpc", "1.0.0", oci, true},
           Row{"other digest", std::string("*@") + kDigest, kVpc, "1.0.0", git, false},
           Row{"hash", std::string("*@") + kH1, kVpc, "1.0.0", git, true},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto pattern = ReleasePattern::parse(row.release);
      const auto source = parse_identity(row.source);
      BOOST_TEST_REQUIRE(pattern.has_value());
      BOOST_TEST_REQUIRE(source.has_value());
      const auto version = Version::parse(row.version);
      BOOST_TEST(pattern->matches(*source, version ? std::optional(*version) : std::nullopt, row.hashes) ==
                 row.matches);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_release_of_a_provider) {
  const auto aws = ProviderAddress::parse("hashicorp/aws", kOpenTofuRegistry).value();
  const auto version = ProviderVersion::parse("5.1.0").value();
  for (const auto& [release, matches] : std::initializer_list<std::pair<const char*, bool>>{
           {"hashicorp/aws@5.1.0", true},
           {"hashicorp/aws", true},
           {"registry.opentofu.org/hashicorp/aws@= 5.1.0", true},
           {"hashicorp/*@5.1.0", true},
           {"registry.terraform.io/hashicorp/aws", false},
           {"hashicorp/aws@5.1.1", false},
           {"hashicorp/awscc", false},
       }) {
    BOOST_TEST_CONTEXT(release) {
      const auto pattern = ReleasePattern::parse(release);
      BOOST_TEST_REQUIRE(pattern.has_value());
      BOOST_TEST(pattern->matches(aws, version, {}) == matches);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_names_no_release) {
  for (const auto& [text, message] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", R"("" does not name a source: it has no path)"},
           {"vpc", R"("vpc" does not name a source: it has no path)"},
           {"./modules/vpc", R"("./modules/vpc" does not name a source: it is a local path)"},
           {"github.com/acme/vpc?ref=v1",
            R"("github.com/acme/vpc?ref=v1" does not name a source: it has query arguments)"},
           {"github.com/acme/vpc@newest", R"("newest" is not a version, a commit of at least 7 digits, or a digest)"},
           {"github.com/acme/vpc@", R"("" is not a version, a commit of at least 7 digits, or a digest)"},
           {"*@sha256:abc", R"("sha256:abc" is not a version, a commit of at least 7 digits, or a digest)"},
           {"*@h1:abc/d=", R"("h1:abc/d=" is not a version, a commit of at least 7 digits, or a digest)"},
           {"*@zh:abc", R"("zh:abc" is not a version, a commit of at least 7 digits, or a digest)"},
           {"github.com/acme/vpc@feature/a",
            R"("feature/a" is not a version, a commit of at least 7 digits, or a digest)"},
           {"github.com/acme/vpc@1.0.0@2.0.0",
            R"("github.com/acme/vpc@1.0.0" does not name a source: it has a release after @)"},
       }) {
    BOOST_TEST_CONTEXT(text) {
      const auto pattern = ReleasePattern::parse(text);
      BOOST_TEST_REQUIRE(!pattern.has_value());
      BOOST_TEST(pattern.error().message == message);
      BOOST_TEST((pattern.error().code == Code::invalid_params));
    }
  }
}

BOOST_AUTO_TEST_CASE(only_a_user_may_be_before_an_at_sign_of_a_source) {
  for (const auto& [text, is_source] : std::initializer_list<std::pair<const char*, bool>>{
           {"git@github.com:acme/vpc", true},
           {"git@github.com/acme/vpc", true},
           {"git::ssh://git@host.example/x", true},
           {"git::file:///x/network@1.1.0", false},
           {"git::ssh://git@host.example/x@1.1.0", false},
           {"git@github.com:acme/vpc@8f2c0d0", false},
           {"hashicorp/aws@5.1.0", false},
           {"*@sha256:abc", false},
       }) {
    BOOST_TEST_CONTEXT(text) {
      const auto pattern = SourcePattern::parse(text);
      BOOST_TEST(pattern.has_value() == is_source);
      if (!pattern) {
        BOOST_TEST(pattern.error().message ==
                   std::string("\"") + text + "\" does not name a source: it has a release after @");
        BOOST_TEST(pattern.error().hint == "name the release with versions, commits or digests");
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
