#include "backends/http/certificate_store.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <mutex>
#include <utility>

#include "backends/base/deleter.h"

namespace modlock {
namespace {

using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;

Certificate parse(const std::string& block) {
  const std::unique_ptr<BIO, Deleter<BIO_free>> text(BIO_new_mem_buf(block.data(), static_cast<int>(block.size())));
  return Certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
}

}  // namespace

struct CertificateStore::State {
  // OpenSSL calls this for the issuer of a certificate. A different certificate with the issuer's name in the store is
  // not sufficient.
  static int find_issuer(X509** issuer, X509_STORE_CTX* check, X509* certificate) {
    const int found = X509_STORE_CTX_get1_issuer(issuer, check, certificate);
    if (found != 0) {
      return found;
    }
    auto& self = *static_cast<State*>(X509_STORE_get_ex_data(X509_STORE_CTX_get0_store(check), own_data()));
    std::call_once(self.asked, [&self] { self.more(); });
    return X509_STORE_CTX_get1_issuer(issuer, check, certificate);
  }

  static int own_data() {
    static const int kIndex =
        CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_X509_STORE, 0, nullptr, nullptr, nullptr, nullptr);
    return kIndex;
  }

  void ask_for_more() {
    X509_STORE_set_ex_data(store.get(), own_data(), this);
    X509_STORE_set_get_issuer(store.get(), &State::find_issuer);
  }

  std::unique_ptr<X509_STORE, Deleter<X509_STORE_free>> store{X509_STORE_new()};
  std::function<void()> more = {};
  std::once_flag asked = {};
};

CertificateStore::CertificateStore(std::function<void(CertificateStore&)> more) : state_(std::make_unique<State>()) {
  X509_STORE_set_flags(state_->store.get(),
                       static_cast<unsigned long>(X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN));
  if (more) {
    state_->more = [this, more = std::move(more)] { more(*this); };
    state_->ask_for_more();
  }
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
