#include "backends/providers/openpgp.h"

#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdio>

#include "backends/base/files.h"
#include "backends/base/parallel.h"
#include "tests/support/openpgp_key.h"
#include "tests/support/temporary_directory.h"

namespace modlock {
namespace {

using namespace test;
using Kind = SignatureVerdict::Kind;

constexpr auto kCurrent = OpenPgpKey::Validity::current;
constexpr auto kLate = OpenPgpKey::Made::late;
constexpr std::string_view kDocument = "0123  terraform-provider-null_3.2.0_linux_amd64.zip\n";

// What is written to the descriptor of stderr while it lives.
class CapturedStderr {
 public:
  CapturedStderr() : before_(::dup(STDERR_FILENO)) {
    std::FILE* const file = std::fopen((directory_.path() / "said").c_str(), "w");
    ::dup2(::fileno(file), STDERR_FILENO);
    std::fclose(file);
  }
  ~CapturedStderr() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  std::string said() const { return read_file(directory_.path() / "said").value(); }

 private:
  TemporaryDirectory directory_;
  int before_;
};

struct Keys {
  OpenPgpKey key;
  OpenPgpKey other;
  OpenPgpKey expired{OpenPgpKey::Validity::expired};
};

const Keys& keys() {
  static const Keys kKeys;
  return kKeys;
}

BOOST_AUTO_TEST_SUITE(openpgp_test)

// As people paste keys into a registry. Of several keys, the clients read the first.
BOOST_AUTO_TEST_CASE(text_around_a_key) {
  const std::string key = keys().key.armored();
  const std::string other = keys().other.armored();
  struct Row {
    const char* name;
    std::string text;
    Kind verdict;
  };
  const std::string signature = keys().key.sign(kDocument);
  for (const Row& row : {
           Row{"none", key, Kind::good},
           Row{"a blank line after it", key + "\n", Kind::good},
           Row{"spaces after it", key + "   \n\n", Kind::good},
           Row{"a comment after it", key + "# my key\n", Kind::good},
           Row{"a comment before it", "# my key\n" + key, Kind::good},
           Row{"another key after it", key + other, Kind::good},
           Row{"another key before it", other + key, Kind::unknown_issuer},
       }) {
    BOOST_TEST_CONTEXT(row.name) {
      const auto verdict = check_detached_signature(row.text, kDocument, signature);
      BOOST_TEST_REQUIRE(verdict.has_value());
      BOOST_TEST((verdict->kind == row.verdict));
    }
  }
}

BOOST_AUTO_TEST_CASE(date_of_a_signature) {
  const auto date = [](const OpenPgpKey& key, OpenPgpKey::Made made) {
    return check_detached_signature(key.armored(), kDocument, key.sign(kDocument, kCurrent, made)).value().made;
  };
  const auto& [key, other, expired] = keys();
  BOOST_TEST((date(key, OpenPgpKey::Made::early) < std::chrono::system_clock::now() - std::chrono::hours(24 * 700)));
  BOOST_TEST((date(key, kLate) - date(key, OpenPgpKey::Made::early) == std::chrono::hours(24 * 365)));
  BOOST_TEST((date(expired, kLate) - date(expired, OpenPgpKey::Made::early) == std::chrono::hours(24 * 365)));
}

BOOST_AUTO_TEST_CASE(verdicts) {
  const auto& [key, other, expired] = keys();
  struct Row {
    const char* name;
    const OpenPgpKey& published;
    std::string signature;
    Kind kind;
    std::string key_id;
    const char* reason;
  };
  const char* no_fit = "the signature is not of this key over these bytes";
  const char* no_signature = "it is not an OpenPGP signature";
  const Row rows[] = {
      {"good", key, key.sign(kDocument), Kind::good, key.id(), ""},
      {"of something else", key, key.sign("something else"), Kind::bad, key.id(), no_fit},
      {"of another key", key, other.sign(kDocument), Kind::unknown_issuer, "", ""},
      {"of another key and of this", key, other.sign(kDocument) + key.sign(kDocument), Kind::good, key.id(), ""},
      {"by a key that has expired", expired, expired.sign(kDocument), Kind::key_expired, expired.id(), ""},
      {"by a key that had expired", expired, expired.sign(kDocument, kCurrent, kLate), Kind::key_expired, expired.id(),
       ""},
      {"of something else by a key that had expired", expired, expired.sign("something else", kCurrent, kLate),
       Kind::bad, expired.id(), no_fit},
      {"of something else by a key that has expired", expired, expired.sign("something else"), Kind::bad, expired.id(),
       no_fit},
      {"that is over", key, key.sign(kDocument, OpenPgpKey::Validity::expired), Kind::signature_expired, key.id(), ""},
      {"of something else, that is over", key, key.sign("something else", OpenPgpKey::Validity::expired), Kind::bad,
       key.id(), no_fit},
      {"empty", key, "", Kind::unknown_issuer, "", ""},
      {"a text", key, "not found", Kind::bad, "", no_signature},
      {"packets of something else", key, std::string("\xC6\x01\x04", 3), Kind::bad, "", no_signature},
      {"cut off", key, key.sign(kDocument).substr(0, 40), Kind::bad, "", no_signature},
      {"armored", key, "-----BEGIN PGP SIGNATURE-----\n\nwsA=\n-----END PGP SIGNATURE-----\n", Kind::bad, "",
       no_signature},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const CapturedStderr captured;
      const auto verdict = check_detached_signature(row.published.armored(), kDocument, row.signature);
      BOOST_REQUIRE(verdict);
      BOOST_TEST((verdict->kind == row.kind));
      BOOST_TEST(verdict->key_id == row.key_id);
      BOOST_TEST(verdict->reason == row.reason);
      BOOST_TEST(captured.said() == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_public_key) {
  const std::string armored = keys().key.armored();
  struct Row {
    const char* name;
    std::string key;
  };
  const Row rows[] = {
      {"empty", ""},
      {"a text", "key"},
      {"without its end", armored.substr(0, armored.size() / 2)},
      {"another block", "-----BEGIN PGP SIGNATURE-----\n\nwsA=\n-----END PGP SIGNATURE-----\n"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const CapturedStderr captured;
      const auto verdict = check_detached_signature(row.key, kDocument, keys().key.sign(kDocument));
      BOOST_REQUIRE(!verdict);
      BOOST_TEST((verdict.error().code == Code::bad_response));
      BOOST_TEST(verdict.error().message == "no public key can be read from it");
      BOOST_TEST(captured.said() == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(stderr_is_there_again_afterwards) {
  std::FILE* const before = stderr;
  (void)check_detached_signature("key", kDocument, "signature");
  BOOST_TEST(stderr == before);
}

BOOST_AUTO_TEST_CASE(many_threads) {
  const std::string good = keys().key.sign(kDocument);
  const std::string bad = keys().key.sign("something else");
  std::atomic<int> right = 0;
  parallel_for(40, 8, [&](std::size_t i) {
    const auto verdict = check_detached_signature(keys().key.armored(), kDocument, i % 2 == 0 ? good : bad);
    right += verdict && verdict->kind == (i % 2 == 0 ? Kind::good : Kind::bad) ? 1 : 0;
  });
  BOOST_TEST(right == 40);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace modlock
