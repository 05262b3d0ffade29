#include "backends/oci/reference.h"

#include <boost/test/unit_test.hpp>

#include <string>

namespace modlock::oci {

BOOST_AUTO_TEST_SUITE(reference)

namespace {

const std::string kDigest = "sha256:" + std::string(64, 'a');

// "<host> <authority> <repository> <tag or digest>", or "CODE: message".
std::string shown(const std::string& source) {
  const auto parsed = parse_source(source);
  const auto address = parsed ? read_address(*parsed) : Result<Address>(fail(parsed.error()));
  if (!address) {
    return std::string(to_string(address.error().code)) + ": " + address.error().message;
  }
  const Repository& repository = address->repository;
  BOOST_TEST(repository.display == "oci://" + repository.host + "/" + repository.name);
  return repository.host + " " + repository.authority + " " + repository.name + " " + address->reference.text();
}

}  // namespace

// Each row is what tofu 1.12.6 does with the same source.
BOOST_AUTO_TEST_CASE(sources_select_a_tag_or_a_digest) {
  struct Row {
    const char* name;
    std::string source;
    std::string expected;
  };
  const std::string host = "reg.example.com reg.example.com ";
  for (const Row& row : {
           Row{"nothing", "oci://reg.example.com/team/vpc", host + "team/vpc latest"},
           Row{"tag", "oci://reg.example.com/team/vpc?tag=v1.0.0", host + "team/vpc v1.0.0"},
           Row{"digest", "oci://reg.example.com/vpc?digest=" + kDigest, host + "vpc " + kDigest},
           Row{"subdir", "oci://reg.example.com/vpc//sub/dir?tag=a", host + "vpc a"},
           Row{"port", "oci://localhost:5000/vpc", "localhost:5000 localhost:5000 vpc latest"},
           Row{"IPv6", "oci://[::1]:5000/vpc", "[::1]:5000 [::1]:5000 vpc latest"},
           Row{"docker.io", "oci://docker.io/team/vpc", "docker.io registry-1.docker.io team/vpc latest"},
           Row{"name beyond ASCII", "oci://bücher.example:5000/vpc",
               "bücher.example:5000 xn--bcher-kva.example:5000 vpc latest"},
           Row{"forced getter", "oci::oci://reg.example.com/vpc", host + "vpc latest"},
           Row{"go-getter takes archive=false away", "oci://reg.example.com/vpc?archive=false&tag=a", host + "vpc a"},
           Row{"and an empty checksum", "oci://reg.example.com/vpc?checksum=&tag=a", host + "vpc a"},
           Row{"escapes", "oci://reg.example.com/te%61m/vpc?tag=v1%2E0", host + "team/vpc v1.0"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(shown(row.source) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(other_sources_are_refused) {
  struct Row {
    const char* name;
    std::string source;
    std::string expected;
  };
  const std::string it = "SOURCE_INVALID: the module source \"oci://reg.example.com/vpc\" ";
  for (const Row& row : {
           Row{"another scheme", "oci::https://reg.example.com/vpc",
               it + "has another URL scheme after the getter \"oci\""},
           Row{"no repository", "oci://reg.example.com/",
               "SOURCE_INVALID: the module source \"oci://reg.example.com/\" names an invalid repository \"\""},
           Row{"upper case", "oci://reg.example.com/Team",
               "SOURCE_INVALID: the module source \"oci://reg.example.com/Team\" names an invalid repository \"Team\""},
           Row{"tag behind a colon", "oci://reg.example.com/vpc:v1",
               "SOURCE_INVALID: the module source \"oci://reg.example.com/vpc:v1\" names an invalid repository "
               "\"vpc:v1\""},
           Row{"other argument", "oci://reg.example.com/vpc?ref=x", it + "has the unsupported argument \"ref\""},
           Row{"archive", "oci://reg.example.com/vpc?archive=zip",
               it + "has the argument \"archive\", which is not allowed here: the archive format is that of the image "
                    "manifest"},
           Row{"empty archive", "oci://reg.example.com/vpc?archive=", it + "has the unsupported argument \"archive\""},
           Row{"checksum", "oci://reg.example.com/vpc?checksum=md5:00",
               it + "has the argument \"checksum\", which is not allowed here"},
           Row{"two tags", "oci://reg.example.com/vpc?tag=a&tag=b", it + "has too many \"tag\" arguments"},
           Row{"empty tag", "oci://reg.example.com/vpc?tag=", it + "has an empty argument \"tag\""},
           Row{"bad tag", "oci://reg.example.com/vpc?tag=.x", it + "has an invalid tag \".x\""},
           Row{"tag with a slash", "oci://reg.example.com/vpc?tag=../x", it + "has an invalid tag \"../x\""},
           Row{"bad digest", "oci://reg.example.com/vpc?digest=x", it + "has an invalid digest \"x\""},
           Row{"both", "oci://reg.example.com/vpc?tag=a&digest=" + kDigest, it + "has both \"tag\" and \"digest\""},
           Row{"another algorithm", "oci://reg.example.com/vpc?digest=sha384:" + std::string(96, '0'),
               "SOURCE_UNSUPPORTED: the module source \"oci://reg.example.com/vpc\" has a digest of the algorithm "
               "\"sha384\", but only sha256 and sha512 are supported"},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(shown(row.source) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(repository_names) {
  for (const char* good : {"a", "a/b/c", "a.b", "a_b", "a__b", "a-b", "a---b", "0/1", "a-b_c.d/e"}) {
    BOOST_TEST(is_repository_name(good), good);
  }
  for (const char* bad : {"", "/", "a/", "/a", "a//b", "A", "a..b", "a___b", "a._b", "-a", "a-", ".a", "a b", "a:b",
                          "a@b", "\xc3\xa4", "a/../b"}) {
    BOOST_TEST(!is_repository_name(bad), bad);
  }
  BOOST_TEST(is_repository_name("a" + std::string(1'000'000, '-') + "b"));
  BOOST_TEST(!is_repository_name("a" + std::string(1'000'000, '-')));
}

BOOST_AUTO_TEST_CASE(plain_http_stays_on_the_loopback) {
  for (const char* near : {"127.0.0.1:5000/a", "127.8.9.10/a", "localhost/a", "[::1]:5000/a"}) {
    BOOST_TEST_CONTEXT(near) {
      const auto repository = over_plain_http(parse_repository(near).value());
      BOOST_TEST_REQUIRE(repository.has_value());
      BOOST_TEST(repository->url("x").starts_with("http://"));
    }
  }
  for (const char* far : {"example.com/a", "127.example.com/a", "localhost.example.com/a", "10.0.0.1/a", "[::2]/a"}) {
    BOOST_TEST_CONTEXT(far) {
      const auto repository = over_plain_http(parse_repository(far).value());
      BOOST_TEST_REQUIRE(!repository.has_value());
      BOOST_TEST(to_string(repository.error().code) == "INVALID_PARAMS");
      BOOST_TEST(repository.error().message ==
                 "\"oci://" + std::string(far) + "\" is not on this machine, and plain http is only for the loopback");
    }
  }
}

BOOST_AUTO_TEST_CASE(tag_names) {
  for (const std::string& good : {std::string("a"), std::string("V1.0-x_y"), std::string("_"), std::string(128, 'a')}) {
    BOOST_TEST(is_tag_name(good), good);
  }
  for (const std::string& bad :
       {std::string(), std::string(".a"), std::string("-a"), std::string("a/b"), std::string("a b"), std::string("a+b"),
        std::string("a%2e"), std::string("\xc3\xa4"), std::string(129, 'a')}) {
    BOOST_TEST(!is_tag_name(bad), bad);
  }
}

BOOST_AUTO_TEST_CASE(digests) {
  BOOST_TEST((digest_form(kDigest) == DigestForm::supported));
  BOOST_TEST((digest_form("sha384:" + std::string(96, '0')) == DigestForm::other_algorithm));
  BOOST_TEST((digest_form("sha512:" + std::string(128, '0')) == DigestForm::supported));
  for (const std::string& bad :
       {std::string(), std::string("sha256"), std::string("sha256:"), kDigest + "a", "sha256:" + std::string(63, 'a'),
        "sha256:" + std::string(64, 'A'), "sha256:" + std::string(64, 'g'), "SHA256:" + std::string(64, 'a'),
        "md5:" + std::string(32, 'a'), "sha512:" + std::string(64, 'a'), std::string(64, 'a'),
        "sha256:../" + std::string(61, 'a')}) {
    BOOST_TEST((digest_form(bad) == DigestForm::invalid), bad);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::oci
