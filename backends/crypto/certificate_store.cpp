#include "backends/crypto/certificate_store.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace modlock {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Certificate parse(const std::string& block) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new_mem_buf(block.data(), static_cast<int>(block.size())),
                                                       BIO_free);
  return {PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr), X509_free};
}

}  // namespace

struct CertificateStore::State {
  std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store{X509_STORE_new(), X509_STORE_free};
};

CertificateStore::CertificateStore() : state_(std::make_unique<State>()) {
  X509_STORE_set_flags(state_->store.get(), X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
}

CertificateStore::~CertificateStore() = default;

std::size_t CertificateStore::add(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  constexpr std::size_t kLargestBlock = std::size_t{1} << 20U;
  std::size_t count = 0;
  for (std::size_t at = pem.find(kBegin); at != std::string_view::npos; at = pem.find(kBegin, at + 1)) {
    const std::size_t end = pem.find(kEnd, at);
    if (end == std::string_view::npos) {
      break;
    }
    if (end - at > kLargestBlock) {
      continue;
    }
    const auto inserted = seen_.emplace(pem.substr(at, end + kEnd.size() - at));
    if (inserted.second) {
      const Certificate certificate = parse(*inserted.first + "\n");
      if (!certificate || X509_STORE_add_cert(state_->store.get(), certificate.get()) != 1) {
        continue;
      }
    }
    ++count;
  }
  return count;
}

void CertificateStore::be_trusted_by(void* ssl_context) const {
  SSL_CTX_set1_cert_store(static_cast<SSL_CTX*>(ssl_context), state_->store.get());
}

}  // namespace modlock
