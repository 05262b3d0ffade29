#include <boost/test/unit_test.hpp>
#include <string>

#include "backends/address/source.h"

using namespace modlock;

namespace {

struct Refused {
  const char* name;
  const char* text;
  Code code;
  const char* message;
  const char* hint;
};

const Refused kRefused[] = {
    {"no kind", "modules/vpc", Code::source_invalid, "the module source \"modules/vpc\" is not a known kind of source",
     "write \"./modules/vpc\" if a path relative to the calling module was meant"},
    {"empty", "", Code::source_invalid, "the module source \"\" is empty", "write the source of the module"},
    {"dot alone", ".", Code::source_invalid, "the module source \".\" is not a known kind of source",
     "write \"./.\" if a path relative to the calling module was meant"},
    {"two components", "gitlab.com/a/b", Code::source_invalid,
     "the module source \"gitlab.com/a/b\" is not a known kind of source",
     "write \"./gitlab.com/a/b\" if a path relative to the calling module was meant"},
    {"registry with a query", "a/b/c?x=1", Code::source_invalid,
     "the module source \"a/b/c…\" is not a known kind of source",
     "write \"./a/b/c…\" if a path relative to the calling module was meant"},
    {"registry with punycode host", "xn--bcher-kva.example/a/b/c", Code::source_invalid,
     "the module source \"xn--bcher-kva.example/a/b/c\" is not a known kind of source",
     "write \"./xn--bcher-kva.example/a/b/c\" if a path relative to the calling module was meant"},
    {"registry host with underscore", "ex_ample.com/a/b/c", Code::source_invalid,
     "the module source \"ex_ample.com/a/b/c\" is not a known kind of source",
     "write \"./ex_ample.com/a/b/c\" if a path relative to the calling module was meant"},
    {"registry host without dot", "localhost/a/b/c", Code::source_invalid,
     "the module source \"localhost/a/b/c\" is not a known kind of source",
     "write \"./localhost/a/b/c\" if a path relative to the calling module was meant"},
    {"registry host with empty label", "example..com/a/b/c", Code::source_invalid,
     "the module source \"example..com/a/b/c\" is not a known kind of source",
     "write \"./example..com/a/b/c\" if a path relative to the calling module was meant"},
    {"github without repository", "github.com/a", Code::source_invalid,
     "the module source \"github.com/a\" must name an owner and a repository, as in github.com/owner/repository",
     "write the whole address"},
    {"github in another case", "GitHub.com/a/b", Code::source_invalid,
     "the module source \"GitHub.com/a/b\" is not a known kind of source",
     "write \"./GitHub.com/a/b\" if a path relative to the calling module was meant"},
    {"bitbucket", "bitbucket.org/a/b?ref=x", Code::source_unsupported,
     "the module source \"bitbucket.org/a/b…\" is a shorthand that only a request to Bitbucket can resolve",
     "write the full URL: \"git::https://bitbucket.org/a/b.git\""},
    {"bitbucket with secret", "bitbucket.org/user:pw@a/b", Code::source_unsupported,
     "the module source \"…@a/b\" is a shorthand that only a request to Bitbucket can resolve",
     "write the full URL: \"git::https://…@a/b.git\""},
    {"gcs too short", "www.googleapis.com/storage", Code::source_invalid,
     "the module source \"www.googleapis.com/storage\" is not a Google Cloud Storage address: expected version, bucket "
     "and object",
     "write the whole address"},
    {"s3 host", "a.b.s3.eu-west-1.amazonaws.com/k", Code::source_invalid,
     "the module source \"a.b.s3.eu-west-1.amazonaws.com/k\" is not an S3 address: expected bucket and region in the "
     "host name",
     "write the whole address"},
    {"subdir leads outside", "git::https://host/x//../y", Code::source_invalid,
     "the module source \"git::https://host/x//../y\" has a subdirectory outside of its package",
     "name a directory inside the package after \"//\""},
    {"subdir is the parent", "git::https://host/x//a/../..", Code::source_invalid,
     "the module source \"git::https://host/x//a/../..\" has a subdirectory outside of its package",
     "name a directory inside the package after \"//\""},
    {"registry subdir leads outside", "a/b/c//..", Code::source_invalid,
     "the module source \"a/b/c//..\" has a subdirectory outside of its package",
     "name a directory inside the package after \"//\""},
    {"scp behind ssh", "git::ssh://git@github.com:a/b.git", Code::source_invalid,
     "the module source \"ssh://git@github.com:a/b.git\" is not a valid URL",
     "to give a path after a colon, write git@host:path without ssh://"},
    {"scp with bad query", "git@host:a.git?ref=%zz", Code::source_invalid,
     "the module source \"git@host:a.git…\" has a query that is not valid", "escape \"%\" as %25 and \";\" as %3B"},
    {"bad escape", "git::/srv/a%zz", Code::source_invalid, "the module source \"git::/srv/a%zz\" is not a valid URL",
     "escape \"%\" as %25"},
    {"host missing", "git::https:///x", Code::source_invalid, "the module source \"git::https:///x\" names no host",
     "write the whole URL, as in https://host/path"},
    {"opaque", "https:host/x", Code::source_invalid, "the module source \"https:host/x\" names no host",
     "write the whole URL, as in https://host/path"},
    {"no path", "git::ssh://host", Code::source_invalid, "the module source \"git::ssh://host\" names no repository",
     "write its path after the host"},
    {"directory without path", "file://", Code::source_invalid, "the module source \"file://\" names no path",
     "write file:///path"},
    {"port too large", "git::https://host:99999/x", Code::source_invalid,
     "the module source \"git::https://host:99999/x\" has a port that is not a number up to 65535",
     "to give a path after a colon, write git@host:path without ssh://"},
    {"host with odd characters", "git::https://a,b/x", Code::source_invalid,
     "the module source \"git::https://a,b/x\" has a host that is not a valid name", "write a valid DNS name"},
    {"unicode host not valid", "git::https://bü—cher.example/x", Code::source_invalid,
     "the module source \"git::https://bü—cher.example/x\" has a host that is not a valid internationalized name",
     "write the host in punycode"},
    {"control character",
     "git::https://host/x\x01"
     "y",
     Code::source_invalid, "the module source \"git::https://host/x\\x01y\" has a control character or line ending",
     "remove it"},
    {"escaped line end", "git::https://host/x%0ay", Code::source_invalid,
     "the module source \"git::https://host/x%0ay\" has an escaped control character or line ending", "remove it"},
    {"escaped line end in ref", "git::https://host/x?ref=a%0Db", Code::source_invalid,
     "the module source \"git::https://host/x…\" has an escaped control character or line ending", "remove it"},
    {"escaped control in password", "git::https://u:%00@host/x", Code::source_invalid,
     "the module source \"git::https://…@host/x\" has an escaped control character or line ending", "remove it"},
    {"secret in a broken address", "git::https://user:s3cr3t@host:99999/x?token=s3cr3t", Code::source_invalid,
     "the module source \"git::https://…@host:99999/x…\" has a port that is not a number up to 65535",
     "to give a path after a colon, write git@host:path without ssh://"},
    {"secret with a slash", "git::https://user:s3/cr3t@host/x", Code::source_invalid,
     "the module source \"https://…@host/x\" is not a valid URL",
     "to give a path after a colon, write git@host:path without ssh://"},
    {"not UTF-8", "./a\xff", Code::source_invalid, "the module source \"./a\xef\xbf\xbd\" is not UTF-8",
     "write UTF-8 text"},
    {"escapes that are not UTF-8", "git::https://host/x%ff", Code::source_invalid,
     "the module source \"git::https://host/x%ff\" has escapes that are not UTF-8", "escape the bytes of UTF-8 text"},
    {"ref that is not UTF-8", "git::https://host/x?ref=%ff", Code::source_invalid,
     "the module source \"git::https://host/x…\" has escapes that are not UTF-8", "escape the bytes of UTF-8 text"},
    {"transport helper", "git::ext::sh -c id", Code::source_denied,
     "the module source \"git::ext::sh -c id\" is rejected: \"::\" after the getter would run a transport helper of "
     "git",
     "write only the URL, as in git::https://host/path"},
    {"transport helper without a repository", "git::codecommit::us-east-1", Code::source_invalid,
     "the module source \"git::codecommit::us-east-1\" names no repository",
     "write git::codecommit::region://repository"},
    {"transport helper twice", "git::git::https://host/x", Code::source_denied,
     "the module source \"git::git::https://host/x\" is rejected: \"::\" after the getter would run a transport helper "
     "of git",
     "write only the URL, as in git::https://host/path"},
    {"transport helper behind another getter", "hg::ext::sh -c id", Code::source_denied,
     "the module source \"hg::ext::sh -c id\" is rejected: \"::\" after the getter would run a transport helper of git",
     "write only the URL, as in git::https://host/path"},
    {"unknown git scheme", "git::ftp://host/x", Code::source_denied,
     "the module source \"git::ftp://host/x\" is rejected: git has no built-in transport \"ftp\" and would run a "
     "program for it",
     "write git::https://, git::ssh://user@host/path or git::file://"},
    {"an alias of ssh with a fragment", "git::host:x#y", Code::source_denied,
     "the module source \"git::host:x…\" is rejected: git has no built-in transport \"host\" and would run a program "
     "for it",
     "write git::https://, git::ssh://user@host/path or git::file://"},
    {"an alias of ssh with doubled slashes", "git::host:x://y", Code::source_denied,
     "the module source \"git::host:x://y\" is rejected: git has no built-in transport \"host\" and would run a "
     "program for it",
     "write git::https://, git::ssh://user@host/path or git::file://"},
    {"an alias of ssh with an escape", "git::host:x%2ey", Code::source_denied,
     "the module source \"git::host:x%2ey\" is rejected: git has no built-in transport \"host\" and would run a "
     "program for it",
     "write git::https://, git::ssh://user@host/path or git::file://"},
    {"option as scp path", "git::host:-oProxyCommand=x", Code::source_denied,
     "the module source \"git::host:-oProxyCommand=x\" is rejected: its path starts with \"-\" and could be parsed as "
     "an "
     "option",
     "write a name that starts with another character"},
    {"option as host", "git::ssh://-oProxyCommand=x/y", Code::source_denied,
     "the module source \"git::ssh://-oProxyCommand=x/y\" is rejected: its host starts with \"-\" and could be parsed "
     "as an option",
     "write a name that starts with another character"},
    {"option as user", "git::ssh://-a@host/y", Code::source_denied,
     "the module source \"git::ssh://…@host/y\" is rejected: its user starts with \"-\" and could be parsed as an "
     "option",
     "write a name that starts with another character"},
    {"option as path", "git::https://host/-x", Code::source_denied,
     "the module source \"git::https://host/-x\" is rejected: its path starts with \"-\" and could be parsed as an "
     "option",
     "write a name that starts with another character"},
    {"option as escaped path", "git::https://host/%2Dx", Code::source_denied,
     "the module source \"git::https://host/%2Dx\" is rejected: its path starts with \"-\" and could be parsed as an "
     "option",
     "write a name that starts with another character"},
    {"option as ref", "git::https://host/x?ref=--upload-pack=x", Code::source_denied,
     "the module source \"git::https://host/x…\" is rejected: its ref starts with \"-\" and could be parsed as an "
     "option",
     "write a name that starts with another character"},
    {"option as rev", "hg::https://host/x?rev=-x", Code::source_denied,
     "the module source \"hg::https://host/x…\" is rejected: its rev starts with \"-\" and could be parsed as an "
     "option",
     "write a name that starts with another character"},
    {"git with fragment", "git::https://host/x.git#v1", Code::source_unsupported,
     "the module source \"git::https://host/x.git…\" has a fragment (\"#…\"), which git ignores",
     "select a tag, branch or commit with \"?ref=\""},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(source_refusal_test)

BOOST_AUTO_TEST_CASE(names_what_is_wrong_with_an_address) {
  for (const auto& row : kRefused) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto address = parse_source(row.text);
      BOOST_REQUIRE(!address.has_value());
      BOOST_TEST(to_string(address.error().code) == to_string(row.code));
      BOOST_TEST(address.error().message == row.message);
      BOOST_TEST(address.error().hint == row.hint);
    }
  }
}

BOOST_AUTO_TEST_CASE(no_secret_reaches_an_error) {
  for (const char* text :
       {"git::https://user:s3cr3t@host:99999/x", "git::https://user:s3/cr3t@ho,st/x", "git::https://u s?s3cr3t@host/x",
        "modules/x?token=s3cr3t", "git::https://host:x/y#s3cr3t", "s3cr3t@host:path", "git::ext::https://s3cr3t@host/x",
        "git::ssh://git:s3cr3t@host:a/b", "git::https://user:s3cr3t%0a@host/x", "bitbucket.org/s3cr3t@a/b"}) {
    BOOST_TEST_CONTEXT(text) {
      const auto address = parse_source(text);
      BOOST_REQUIRE(!address.has_value());
      const std::string all = address.error().message + address.error().hint;
      BOOST_TEST(all.find("s3cr3t") == std::string::npos);
      BOOST_TEST(all.find("cr3t") == std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_control_characters_of_every_kind) {
  struct Row {
    const char* name;
    const char* text;
    const char* shown;
  };
  const Row rows[] = {
      {"line feed", "./a\nb", "./a\\x0ab"},          {"carriage return", "./a\rb", "./a\\x0db"},
      {"escape", "a/b/c\x1b", "a/b/c\\x1b"},         {"delete", "./a\x7f", "./a\\x7f"},
      {"next line", "./a\xc2\x85", "./a\\xc2\\x85"}, {"line separator", "./a\xe2\x80\xa8", "./a\\xe2\\x80\\xa8"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto address = parse_source(row.text);
      BOOST_REQUIRE(!address.has_value());
      BOOST_TEST(to_string(address.error().code) == "SOURCE_INVALID");
      BOOST_TEST(address.error().message ==
                 "the module source \"" + std::string(row.shown) + "\" has a control character or line ending");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_long_address_is_shortened_in_messages) {
  const auto address = parse_source(std::string(500, 'x'));
  BOOST_REQUIRE(!address.has_value());
  BOOST_TEST(address.error().message ==
             "the module source \"" + std::string(200, 'x') + "…\" is not a known kind of source");
}

BOOST_AUTO_TEST_SUITE_END()
