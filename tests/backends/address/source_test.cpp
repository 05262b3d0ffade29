#include "backends/address/source.h"

#include <fmt/format.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <utility>

using namespace modlock;

namespace {

struct Accepted {
  const char* name;
  const char* text;
  SourceKind kind;
  const char* normalised;
  const char* identity;
  const char* package_url;
};

const Accepted kAccepted[] = {
    {"local", "./x", SourceKind::local, "./x", "./x", ""},
    {"local with doubled and dotted parts", "./a//b/../c", SourceKind::local, "./a/c", "./a/c", ""},
    {"local up", "../../x", SourceKind::local, "../../x", "../../x", ""},
    {"local, only up", "../", SourceKind::local, "./..", "./..", ""},
    {"local, only here", "./", SourceKind::local, "./.", "./.", ""},
    {"local with backslashes", ".\\a\\b", SourceKind::local, "./a/b", "./a/b", ""},
    {"registry, default host", "ns/name/system", SourceKind::registry, "registry.opentofu.org/ns/name/system",
     "registry.opentofu.org/modules/ns/name/system", ""},
    {"registry, case kept in names", "Ns/Na_me-1/system", SourceKind::registry,
     "registry.opentofu.org/Ns/Na_me-1/system", "registry.opentofu.org/modules/Ns/Na_me-1/system", ""},
    {"registry with host", "Example.COM/ns/name/system", SourceKind::registry, "example.com/ns/name/system",
     "example.com/modules/ns/name/system", ""},
    {"registry with https port", "example.com:443/ns/name/system", SourceKind::registry, "example.com/ns/name/system",
     "example.com/modules/ns/name/system", ""},
    {"registry with port", "127.0.0.1:08443/ns/name/system//sub", SourceKind::registry,
     "127.0.0.1:8443/ns/name/system//sub", "127.0.0.1:8443/modules/ns/name/system//sub", ""},
    {"registry with unicode host", "BÜCHER.example/ns/name/system", SourceKind::registry,
     "bücher.example/ns/name/system", "bücher.example/modules/ns/name/system", ""},
    {"registry, sharp s is kept", "faß.example/ns/name/system", SourceKind::registry, "faß.example/ns/name/system",
     "faß.example/modules/ns/name/system", ""},
    {"registry, ideographic dot", "日本。例/ns/name/system", SourceKind::registry, "日本.例/ns/name/system",
     "日本.例/modules/ns/name/system", ""},
    {"registry with subdir", "ns/name/system//a/./b", SourceKind::registry, "registry.opentofu.org/ns/name/system//a/b",
     "registry.opentofu.org/modules/ns/name/system//a/b", ""},
    {"registry, root as subdir", "ns/name/system//.", SourceKind::registry, "registry.opentofu.org/ns/name/system//.",
     "registry.opentofu.org/modules/ns/name/system", ""},
    {"gitlab shorthand is a registry address", "gitlab.com/a/b/c", SourceKind::registry, "gitlab.com/a/b/c",
     "gitlab.com/modules/a/b/c", ""},
    {"github shorthand", "github.com/a/b", SourceKind::git, "git::https://github.com/a/b.git",
     "git::https://github.com/a/b.git", "https://github.com/a/b.git"},
    {"github shorthand with .git", "github.com/a/b.git", SourceKind::git, "git::https://github.com/a/b.git",
     "git::https://github.com/a/b.git", "https://github.com/a/b.git"},
    {"github with path", "github.com/a/b/c/d", SourceKind::git, "git::https://github.com/a/b.git//c/d",
     "git::https://github.com/a/b.git//c/d", "https://github.com/a/b.git"},
    {"github with path and subdir", "github.com/a/b/c//d", SourceKind::git, "git::https://github.com/a/b.git//c/d",
     "git::https://github.com/a/b.git//c/d", "https://github.com/a/b.git"},
    {"github with query", "github.com/a/b//c?ref=feature/x&depth=1", SourceKind::git,
     "git::https://github.com/a/b.git//c?ref=feature/x&depth=1", "git::https://github.com/a/b.git//c?ref=feature/x",
     "https://github.com/a/b.git"},
    {"github with bare question mark", "github.com/a/b?", SourceKind::git, "git::https://github.com/a/b.git",
     "git::https://github.com/a/b.git", "https://github.com/a/b.git"},
    {"github with a space in the path", "github.com/a/b/c d", SourceKind::git,
     "git::https://github.com/a/b.git//c%2520d", "git::https://github.com/a/b.git//c%2520d",
     "https://github.com/a/b.git"},
    {"github with an escape in the path", "github.com/a/b/c%20d", SourceKind::git,
     "git::https://github.com/a/b.git//c%252520d", "git::https://github.com/a/b.git//c%252520d",
     "https://github.com/a/b.git"},
    {"github with an escaped slash", "github.com/a/b%2fc/d", SourceKind::git, "git::https://github.com/a/b/c.git//d",
     "git::https://github.com/a/b/c.git//d", "https://github.com/a/b/c.git"},
    {"github with a glob", "github.com/a/b//mod*", SourceKind::git, "git::https://github.com/a/b.git//mod*",
     "git::https://github.com/a/b.git//mod*", "https://github.com/a/b.git"},
    {"github forced to hg", "hg::github.com/a/b", SourceKind::hg, "hg::https://github.com/a/b.git",
     "hg::https://github.com/a/b.git", "https://github.com/a/b.git"},
    {"scp", "git@github.com:a/b.git", SourceKind::git, "git::ssh://git@github.com/a/b.git",
     "git::ssh://git@github.com/a/b.git", "ssh://git@github.com/a/b.git"},
    {"scp with slash", "git@github.com:/a/b.git", SourceKind::git, "git::ssh://git@github.com/a/b.git",
     "git::ssh://git@github.com/a/b.git", "ssh://git@github.com/a/b.git"},
    {"scp with query, sorted and encoded", "git@github.com:a/b.git//c?ref=x/y&depth=1", SourceKind::git,
     "git::ssh://git@github.com/a/b.git//c?depth=1&ref=x%2Fy", "git::ssh://git@github.com/a/b.git//c?ref=x/y",
     "ssh://git@github.com/a/b.git"},
    {"scp with a space and a hash", "git@host:~/a b#c.git", SourceKind::git, "git::ssh://git@host/~/a%20b%23c.git",
     "git::ssh://git@host/~/a%20b%23c.git", "ssh://git@host/~/a%20b%23c.git"},
    {"scp, forced", "git::git@github.com:a/b.git", SourceKind::git, "git::ssh://git@github.com/a/b.git",
     "git::ssh://git@github.com/a/b.git", "ssh://git@github.com/a/b.git"},
    {"scp with unicode host", "git@bücher.example:é/x.git", SourceKind::git,
     "git::ssh://git@b%C3%BCcher.example/%C3%A9/x.git", "git::ssh://git@bücher.example/%C3%A9/x.git",
     "ssh://git@xn--bcher-kva.example/%C3%A9/x.git"},
    {"git https", "git::https://host/x.git", SourceKind::git, "git::https://host/x.git", "git::https://host/x.git",
     "https://host/x.git"},
    {"git https with subdir and ref", "git::https://host/x.git//sub/../mod?ref=v1.2.3", SourceKind::git,
     "git::https://host/x.git//mod?ref=v1.2.3", "git::https://host/x.git//mod?ref=v1.2.3", "https://host/x.git"},
    {"git https, subdir after the query is none", "git::https://host/x.git?ref=a//b", SourceKind::git,
     "git::https://host/x.git?ref=a//b", "git::https://host/x.git?ref=a//b", "https://host/x.git"},
    {"git https with user-info", "git::https://user:p%40ss@host/x.git?ref=v1", SourceKind::git,
     "git::https://user:p%40ss@host/x.git?ref=v1", "git::https://host/x.git?ref=v1", "https://user:p%40ss@host/x.git"},
    {"git https with unknown arguments", "git::https://host/x.git?token=s3cr3t&ref=v1&sshkey=QUJD", SourceKind::git,
     "git::https://host/x.git?token=s3cr3t&ref=v1&sshkey=QUJD", "git::https://host/x.git?ref=v1",
     "https://host/x.git?token=s3cr3t"},
    {"git https, first ref counts", "git::https://host/x?ref=a&ref=b", SourceKind::git,
     "git::https://host/x?ref=a&ref=b", "git::https://host/x?ref=a", "https://host/x"},
    {"git https, plus is a space", "git::https://host/x?ref=v1.0.0+meta", SourceKind::git,
     "git::https://host/x?ref=v1.0.0+meta", "git::https://host/x?ref=v1.0.0%20meta", "https://host/x"},
    {"git https, escaped plus", "git::https://host/x?ref=v1.0.0%2Bmeta", SourceKind::git,
     "git::https://host/x?ref=v1.0.0%2Bmeta", "git::https://host/x?ref=v1.0.0%2Bmeta", "https://host/x"},
    {"git https, empty ref", "git::https://host/x?ref=", SourceKind::git,
     "git::https://host/x?ref=", "git::https://host/x", "https://host/x"},
    {"git https, upper case", "git::HTTPS://Host.Example:8443/X.git", SourceKind::git,
     "git::HTTPS://Host.Example:8443/X.git", "git::https://host.example:8443/X.git", "https://Host.Example:8443/X.git"},
    {"git https, empty port", "git::https://host:/x", SourceKind::git, "git::https://host:/x", "git::https://host/x",
     "https://host:/x"},
    {"git https with unicode host", "git::https://bücher.example:8443/x.git", SourceKind::git,
     "git::https://bücher.example:8443/x.git", "git::https://bücher.example:8443/x.git",
     "https://xn--bcher-kva.example:8443/x.git"},
    {"git https with punycode host", "git::https://xn--bcher-kva.example/x.git", SourceKind::git,
     "git::https://xn--bcher-kva.example/x.git", "git::https://bücher.example/x.git",
     "https://xn--bcher-kva.example/x.git"},
    {"git https with IPv6 host", "git::https://[::1]:8443/x.git", SourceKind::git, "git::https://[::1]:8443/x.git",
     "git::https://[::1]:8443/x.git", "https://[::1]:8443/x.git"},
    {"git https with a space", "git::https://host/a b.git", SourceKind::git, "git::https://host/a b.git",
     "git::https://host/a%20b.git", "https://host/a%20b.git"},
    {"git https with rooted subdir", "git::https://host/x.git///sub", SourceKind::git, "git::https://host/x.git///sub",
     "git::https://host/x.git//sub", "https://host/x.git"},
    {"git http", "git::http://host/x", SourceKind::git, "git::http://host/x", "git::http://host/x", "http://host/x"},
    {"git protocol", "git://host/x", SourceKind::git, "git://host/x", "git::git://host/x", "git://host/x"},
    {"git protocol, forced", "git::git://host/x", SourceKind::git, "git::git://host/x", "git::git://host/x",
     "git://host/x"},
    {"git ssh", "git::ssh://git@host:2222/a/b.git?ref=x", SourceKind::git, "git::ssh://git@host:2222/a/b.git?ref=x",
     "git::ssh://git@host:2222/a/b.git?ref=x", "ssh://git@host:2222/a/b.git"},
    {"git ssh with password", "git::ssh://user:secret@host/x.git", SourceKind::git, "git::ssh://user:secret@host/x.git",
     "git::ssh://user@host/x.git", "ssh://user:secret@host/x.git"},
    {"git ssh without user", "git::ssh://host/x.git", SourceKind::git, "git::ssh://host/x.git", "git::ssh://host/x.git",
     "ssh://host/x.git"},
    {"git file", "git::file:///srv/x.git//sub?ref=main", SourceKind::git, "git::file:///srv/x.git//sub?ref=main",
     "git::file:///srv/x.git//sub?ref=main", "file:///srv/x.git"},
    {"git by absolute path", "git::/srv/x y.git", SourceKind::git, "git::file:///srv/x y.git",
     "git::file:///srv/x%20y.git", "file:///srv/x%20y.git"},
    {"oci", "oci://host:5000/repo/x//sub?tag=1.0.0", SourceKind::oci, "oci://host:5000/repo/x//sub?tag=1.0.0",
     "oci://host:5000/repo/x//sub?tag=1.0.0", "oci://host:5000/repo/x?tag=1.0.0"},
    {"oci by digest", "oci://host/repo?digest=sha256:00", SourceKind::oci, "oci://host/repo?digest=sha256:00",
     "oci://host/repo?digest=sha256:00", "oci://host/repo?digest=sha256:00"},
    {"archive", "https://host/x.zip//sub?archive=tar.gz&token=a&checksum=sha256:00", SourceKind::archive,
     "https://host/x.zip//sub?archive=tar.gz&token=a&checksum=sha256:00",
     "https://host/x.zip//sub?archive=tar.gz&checksum=sha256:00",
     "https://host/x.zip?archive=tar.gz&token=a&checksum=sha256:00"},
    {"archive with a list of checksums",
     "https://host/x.zip?checksum=file:https://me:pw@SUMS.example:/a%2520b%3Fchecksum=file:https://u:p@h/x%26c=d",
     SourceKind::archive,
     "https://host/x.zip?checksum=file:https://me:pw@SUMS.example:/a%2520b%3Fchecksum=file:https://u:p@h/x%26c=d",
     "https://host/x.zip?checksum=file:https://sums.example/a%2520b",
     "https://host/x.zip?checksum=file:https://me:pw@SUMS.example:/a%2520b%3Fchecksum=file:https://u:p@h/x%26c=d"},
    {"archive with a list of checksums that is none", "https://host/x.zip?checksum=file:git::https://me:pw@h/x%3Fa=b",
     SourceKind::archive, "https://host/x.zip?checksum=file:git::https://me:pw@h/x%3Fa=b",
     "https://host/x.zip?checksum=file:git::https://%E2%80%A6@h/x%E2%80%A6",
     "https://host/x.zip?checksum=file:git::https://me:pw@h/x%3Fa=b"},
    {"archive with a checksum that is none", "https://host/x.zip?checksum=https://me:pw@h/x", SourceKind::archive,
     "https://host/x.zip?checksum=https://me:pw@h/x", "https://host/x.zip?checksum=https://%E2%80%A6@h/x",
     "https://host/x.zip?checksum=https://me:pw@h/x"},
    {"archive with a fragment", "https://host/x.zip?archive=zip#part?a=b", SourceKind::archive,
     "https://host/x.zip?archive=zip#part?a=b", "https://host/x.zip?archive=zip", "https://host/x.zip?archive=zip"},
    {"archive with user-info", "https://user:secret@host/x.zip", SourceKind::archive, "https://user:secret@host/x.zip",
     "https://host/x.zip", "https://user:secret@host/x.zip"},
    {"archive, forced to http", "http::https://host/x", SourceKind::archive, "http::https://host/x",
     "http::https://host/x", "https://host/x"},
    {"absolute path", "/srv/modules//vpc", SourceKind::directory, "file:///srv/modules//vpc",
     "file:///srv/modules//vpc", "file:///srv/modules"},
    {"absolute path with a space", "/srv/my modules", SourceKind::directory, "file:///srv/my modules",
     "file:///srv/my modules", "file:///srv/my modules"},
    {"absolute path with an escape", "/srv/a%20b", SourceKind::directory, "file:///srv/a%20b", "file:///srv/a b",
     "file:///srv/a%20b"},
    {"file URL", "file:///srv/a", SourceKind::directory, "file:///srv/a", "file:///srv/a", "file:///srv/a"},
    {"mercurial", "hg::https://host/x?rev=1", SourceKind::hg, "hg::https://host/x?rev=1", "hg::https://host/x?rev=1",
     "https://host/x?rev=1"},
    {"s3", "s3::https://s3.amazonaws.com/bucket/x.zip//sub", SourceKind::s3,
     "s3::https://s3.amazonaws.com/bucket/x.zip//sub", "s3::https://s3.amazonaws.com/bucket/x.zip//sub",
     "https://s3.amazonaws.com/bucket/x.zip"},
    {"s3 path style", "s3-eu-west-1.amazonaws.com/bucket/x.zip", SourceKind::s3,
     "s3::https://s3-eu-west-1.amazonaws.com/bucket/x.zip", "s3::https://s3-eu-west-1.amazonaws.com/bucket/x.zip",
     "https://s3-eu-west-1.amazonaws.com/bucket/x.zip"},
    {"s3 host style", "bucket.s3-eu-west-1.amazonaws.com/x.zip", SourceKind::s3,
     "s3::https://s3-eu-west-1.amazonaws.com/bucket/x.zip", "s3::https://s3-eu-west-1.amazonaws.com/bucket/x.zip",
     "https://s3-eu-west-1.amazonaws.com/bucket/x.zip"},
    {"s3 new host style", "bucket.s3.eu-west-1.amazonaws.com/a/x.zip", SourceKind::s3,
     "s3::https://s3.eu-west-1.amazonaws.com/bucket/a/x.zip", "s3::https://s3.eu-west-1.amazonaws.com/bucket/a/x.zip",
     "https://s3.eu-west-1.amazonaws.com/bucket/a/x.zip"},
    {"gcs, a slash before the subdirectory", "x//sub?/v1/b/o.googleapis.com/", SourceKind::gcs,
     "gcs::https://www.googleapis.com/storage/b/o.googleapis.com///sub",
     "gcs::https://www.googleapis.com/storage/b/o.googleapis.com//sub",
     "https://www.googleapis.com/storage/b/o.googleapis.com/"},
    {"gcs", "www.googleapis.com/storage/v1/bucket/a/x.zip", SourceKind::gcs,
     "gcs::https://www.googleapis.com/storage/v1/bucket/a/x.zip",
     "gcs::https://www.googleapis.com/storage/v1/bucket/a/x.zip",
     "https://www.googleapis.com/storage/v1/bucket/a/x.zip"},
    {"unsupported getter", "foo::https://host/x", SourceKind::unsupported, "foo::https://host/x", "foo::https://host/x",
     "https://host/x"},
    {"unsupported scheme", "ssh://git@host/x", SourceKind::unsupported, "ssh://git@host/x", "ssh://git@host/x",
     "ssh://git@host/x"},
    {"unsupported, a helper of git", "git::codecommit://me@repo//sub?ref=v1", SourceKind::unsupported,
     "git::codecommit://me@repo//sub?ref=v1", "git::codecommit://me@repo//sub?ref=v1", "codecommit://me@repo?ref=v1"},
    {"unsupported, a helper of git with a region", "git::codecommit::us-east-1://repo", SourceKind::unsupported,
     "git::codecommit::us-east-1://repo", "git::codecommit::us-east-1://repo", "codecommit::us-east-1://repo"},
    {"unsupported, a drive letter", "C:\\modules", SourceKind::unsupported, "C:\\modules", "c://", "C:\\modules"},
};

struct Parts {
  const char* name;
  const char* text;
  Source source;
};

const Parts kParts[] = {
    {"local", "../x", {.kind = SourceKind::local, .path = "../x"}},
    {"registry",
     "example.com/a/b/c//sub",
     {.kind = SourceKind::registry, .host = "example.com", .path = "a/b/c", .subdir = "sub"}},
    {"git over ssh",
     "git::ssh://us%20er:secret@Host:22/a%20b.git//sub?depth=1&ref=v1&archive=false",
     {.kind = SourceKind::git,
      .getter = "git",
      .scheme = "ssh",
      .user = "us%20er",
      .host = "host:22",
      .path = "/a%20b.git",
      .subdir = "sub",
      .query = {{"ref", "v1"}, {"archive", "false"}}}},
    {"git over https has no user",
     "git::https://user:secret@host/x.git?ref=a%2Fb",
     {.kind = SourceKind::git,
      .getter = "git",
      .scheme = "https",
      .host = "host",
      .path = "/x.git",
      .query = {{"ref", "a/b"}}}},
    {"directory",
     "/srv/my modules",
     {.kind = SourceKind::directory, .getter = "file", .scheme = "file", .path = "/srv/my modules"}},
    {"oci",
     "oci://host/repo?tag=1&secret=x",
     {.kind = SourceKind::oci,
      .getter = "oci",
      .scheme = "oci",
      .host = "host",
      .path = "/repo",
      .query = {{"tag", "1"}}}},
};

bool is_lockable(SourceKind kind) {
  return kind != SourceKind::local && kind != SourceKind::directory && kind != SourceKind::unsupported;
}

// What a source of each kind answers, by the names of Source's methods.
struct KindRow {
  const char* name;
  const char* text;
  const char* facts;
  const char* named_id = "";
  const char* reference = "";
  const char* shown = name;  // kind_name()
};

constexpr std::array kKinds = {
    KindRow{"local", "./x", "local"},
    KindRow{"registry", "a/b/c", "remote registry"},
    KindRow{"git", "git::https://h/r.git?ref=main", "remote repository has_tags has_commits", "", "main"},
    KindRow{"git", "git::https://h/r.git?ref=ABCDEF0", "remote repository has_tags has_commits", "abcdef0", "ABCDEF0"},
    KindRow{"git", "git::https://h/r.git?ref=abcdef", "remote repository has_tags has_commits", "", "abcdef"},
    KindRow{"git", "git::https://h/r.git?tag=v1", "remote repository has_tags has_commits"},
    KindRow{"oci", "oci://h/r?tag=abcdef01", "remote has_tags", "", "abcdef01"},
    KindRow{"oci", "oci://h/r?digest=sha256:AB", "remote has_tags", "sha256:AB"},
    KindRow{"archive", "https://h/a.zip?ref=abcdef01", "remote without_versions", "", "abcdef01"},
    KindRow{"directory", "/x", "directory without_versions"},
    KindRow{"hg", "hg::https://h/r?rev=abcdef01", "remote repository external", "", "abcdef01"},
    KindRow{"s3", "s3::https://h/b/a.zip", "remote without_versions"},
    KindRow{"gcs", "gcs::https://h/b/a.zip", "remote without_versions"},
    KindRow{"unsupported", "smb://h/a", "remote external", "", "", "smb"},
    KindRow{"unsupported", "svn::https://h/a?rev=7&tag=v1", "remote external", "", "v1", "svn"},
};

std::string facts_of(const Source& source) {
  const std::array facts = {
      std::pair{source.is_local(), "local"},
      std::pair{source.is_directory(), "directory"},
      std::pair{source.is_remote(), "remote"},
      std::pair{source.traits().location == SourceLocation::repository, "repository"},
      std::pair{source.is_registry(), "registry"},
      std::pair{source.is_external(), "external"},
      std::pair{source.has_tags(), "has_tags"},
      std::pair{source.has_commits(), "has_commits"},
      std::pair{source.traits().versions == SourceVersions::none && !source.is_local(), "without_versions"}};
  std::string text;
  for (const auto& [is_so, word] : facts) {
    text += is_so ? (text.empty() ? "" : " ") + std::string(word) : "";
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(source_test)

BOOST_AUTO_TEST_CASE(every_kind_has_its_traits) {
  for (const KindRow& row : kKinds) {
    BOOST_TEST_CONTEXT(row.text) {
      const auto address = parse_source(row.text);
      BOOST_REQUIRE_MESSAGE(address.has_value(), (address ? "" : address.error().message));
      BOOST_TEST((address->source.traits().kind == address->source.kind));
      BOOST_TEST(to_string(address->source.kind) == row.name);
      BOOST_TEST(facts_of(address->source) == row.facts);
      BOOST_TEST(address->source.named_id() == row.named_id);
      BOOST_TEST(address->source.named_reference() == row.reference);
      BOOST_TEST(address->source.kind_name() == row.shown);
    }
  }
}

// Of the row of its kind, so that two versions of a module never have one identity.
BOOST_AUTO_TEST_CASE(the_identity_has_each_argument_of_its_kind) {
  for (int kind = 0; kind <= static_cast<int>(SourceKind::unsupported); ++kind) {
    const SourceTraits& traits = traits_of(static_cast<SourceKind>(kind));
    for (const std::string_view name : {traits.tag_argument, traits.id_argument, traits.own_argument}) {
      const std::string_view getter = traits.getters[0].empty() ? "smb" : traits.getters[0];
      const std::string text = fmt::format("{}::https://h/b/a?{}=1", getter, name);
      BOOST_TEST_CONTEXT(text) {
        BOOST_TEST(
            (name.empty() || parse_source(text).value().source.identity().ends_with(fmt::format("?{}=1", name))));
        BOOST_TEST(names_version(name) == (!name.empty() && name != traits.own_argument));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(reads_and_prints_addresses_as_opentofu_does) {
  for (const auto& row : kAccepted) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto address = parse_source(row.text);
      BOOST_REQUIRE_MESSAGE(address.has_value(), (address ? "" : address.error().message));
      BOOST_TEST(to_string(address->source.kind) == to_string(row.kind));
      BOOST_TEST(address->normalised.reveal() == row.normalised);
      BOOST_TEST(address->source.identity() == row.identity);
      BOOST_TEST(address->package_url.reveal() == row.package_url);
    }
  }
}

BOOST_AUTO_TEST_CASE(normalising_twice_changes_nothing) {
  for (const auto& row : kAccepted) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto again = parse_source(row.normalised);
      BOOST_REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().message));
      BOOST_TEST(again->normalised.reveal() == row.normalised);
      BOOST_TEST(again->source.identity() == row.identity);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_identity_reads_back_as_its_source) {
  int lockable = 0;
  for (const auto& row : kAccepted) {
    if (!is_lockable(row.kind)) {
      continue;
    }
    ++lockable;
    BOOST_TEST_CONTEXT(row.name) {
      const auto source = parse_identity(row.identity);
      BOOST_REQUIRE_MESSAGE(source.has_value(), (source ? "" : source.error().message));
      BOOST_TEST((*source == parse_source(row.text)->source));
    }
  }
  BOOST_TEST(lockable > 0);
}

BOOST_AUTO_TEST_CASE(splits_an_address_into_its_parts) {
  for (const auto& row : kParts) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto address = parse_source(row.text);
      BOOST_REQUIRE_MESSAGE(address.has_value(), (address ? "" : address.error().message));
      BOOST_TEST((address->source == row.source));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_secret_reaches_what_can_be_printed) {
  for (const char* text :
       {"git::https://s3cr3t@host/x.git?ref=v1", "git::https://user:s3cr3t@host/x.git//sub",
        "git::ssh://user:s3cr3t@host/x.git", "git::https://host/x.git?sshkey=s3cr3t&ref=v1",
        "https://s3cr3t:s3cr3t@host/x.zip?token=s3cr3t", "oci://host/x?password=s3cr3t", "foo://u:s3cr3t@host/x",
        "foo:u:s3cr3t@host/x", "s3::https://host/b/k?aws_access_key_secret=s3cr3t"}) {
    BOOST_TEST_CONTEXT(text) {
      const auto address = parse_source(text);
      BOOST_REQUIRE(address.has_value());
      const Source& source = address->source;
      std::string all = source.identity() + source.package_identity() + source.getter + source.scheme + source.user +
                        source.host + source.path + source.subdir;
      for (const auto& [key, value] : source.query) {
        all += key + value;
      }
      BOOST_TEST(all.find("s3cr3t") == std::string::npos);
      BOOST_TEST(address->normalised.reveal().find("s3cr3t") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(one_package_has_one_identity) {
  struct Row {
    const char* name;
    const char* text;
    const char* package;
  };
  const Row rows[] = {
      {"git without subdir and ref", "git::https://host/x.git//a?ref=v1", "git::https://host/x.git"},
      {"git shorthand", "github.com/a/b//c?ref=v1", "git::https://github.com/a/b.git"},
      {"oci keeps its tag", "oci://host/x//a?tag=1", "oci://host/x?tag=1"},
      {"registry", "a/b/c//sub", "registry.opentofu.org/modules/a/b/c"},
      {"local", "./x", "./x"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(parse_source(row.text)->source.package_identity() == row.package);
    }
  }
}

BOOST_AUTO_TEST_CASE(gives_query_values_by_name) {
  const Source source = parse_source("git::https://host/x?ref=v1%2Bb&token=t")->source;
  BOOST_TEST(source.query_value("ref") == "v1+b");
  BOOST_TEST(source.query_value("token").empty());
  BOOST_TEST(source.query_value("tag").empty());
}

BOOST_AUTO_TEST_SUITE_END()
