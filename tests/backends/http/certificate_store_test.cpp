#include "backends/http/certificate_store.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "backends/base/files.h"
#include "tests/support/certificates.h"
#include "tests/support/needs.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {
namespace {

std::string read(const std::filesystem::path& path) {
  return read_file(path).value();
}

// Whether a connection that trusts the store would take the certificate.
bool is_trusted(const CertificateStore& store, const std::string& pem) {
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  store.be_trusted_by(context.get());
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())),
                                                       BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), X509_free);
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check(X509_STORE_CTX_new(),
                                                                              X509_STORE_CTX_free);
  X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(context.get()), certificate.get(), nullptr);
  return X509_verify_cert(check.get()) == 1;
}

struct TwoAuthorities {
  TemporaryDirectory directory;
  std::filesystem::path make(const char* name) const {
    std::filesystem::create_directory(directory / name);
    return directory / name;
  }
  CertificateAuthority known{make("known")};
  CertificateAuthority late{make("late")};
  std::string of_known = read(known.issue("server").certificate);
  std::string of_late = read(late.issue("server").certificate);
  int asked = 0;
  CertificateStore store{[this](CertificateStore& more) {
    ++asked;
    more.add(read(late.certificate()));
  }};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(certificate_store, *needs("openssl"))

BOOST_FIXTURE_TEST_CASE(more_is_asked_for_once_and_only_for_an_authority_that_is_not_there, TwoAuthorities) {
  BOOST_TEST(store.add(read(known.certificate())) == 1U);
  BOOST_TEST(is_trusted(store, of_known));
  BOOST_TEST(asked == 0);
  BOOST_TEST(is_trusted(store, of_late));
  BOOST_TEST(is_trusted(store, of_late));
  BOOST_TEST(asked == 1);
  BOOST_TEST(is_trusted(store, of_known));
}

BOOST_FIXTURE_TEST_CASE(what_nobody_has_is_not_trusted, TwoAuthorities) {
  const CertificateAuthority stranger(make("stranger"));
  const std::string of_stranger = read(stranger.issue("server").certificate);
  BOOST_TEST(!is_trusted(store, of_stranger));
  BOOST_TEST(!is_trusted(store, of_stranger));
  BOOST_TEST(asked == 1);
  BOOST_TEST(!is_trusted(CertificateStore(), of_known));
}

BOOST_FIXTURE_TEST_CASE(several_connections_ask_at_once, TwoAuthorities) {
  std::vector<char> trusted(8);
  {
    std::vector<std::jthread> connections;
    for (char& outcome : trusted) {
      connections.emplace_back([this, &outcome] { outcome = is_trusted(store, of_late) ? 1 : 0; });
    }
  }
  BOOST_TEST(asked == 1);
  BOOST_TEST(std::count(trusted.begin(), trusted.end(), 1) == 8);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace modlock::test
