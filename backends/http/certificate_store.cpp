#include "backends/http/certificate_store.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <iterator>
#include <mutex>
#include <sstream>
#include <system_error>
#include <utility>

#include "backends/address/source_text.h"
#include "backends/base/deleter.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"
#include "backends/base/process.h"
#include "backends/http/curl_http_client.h"

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

namespace modlock::http {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualFiles[] = {
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Gentoo
    "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora
    "/etc/ssl/ca-bundle.pem",              // openSUSE
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // CentOS
    "/etc/ssl/cert.pem",                                  // Alpine
};
constexpr const char* kUsualDirectories[] = {"/etc/ssl/certs", "/etc/pki/tls/certs"};

constexpr const char* kNameAnother =
    "name a readable file with the certificates of the authorities to trust, or unset SSL_CERT_FILE";

// A link to a file in the same directory, named by the subject hash that OpenSSL looks for.
bool is_second_name(const fs::directory_entry& entry) {
  std::error_code failed;
  return entry.is_symlink(failed) && !fs::read_symlink(entry.path(), failed).has_parent_path();
}

void add_directories(const std::vector<fs::path>& directories, CertificateStore& store) {
  for (const fs::path& directory : directories) {
    std::error_code failed;
    for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end; entry.increment(failed)) {
      const auto text = is_second_name(*entry) ? Result<std::string>() : read_file(entry->path());
      if (text) {
        store.add(*text);
      }
    }
  }
}

}  // namespace

AuthorityPlaces AuthorityPlaces::from_environment() {
  AuthorityPlaces places;
  places.file = environment_variable("SSL_CERT_FILE");
  places.is_file_required = !places.file.empty();
  for (const char* const usual : kUsualFiles) {
    if (places.file.empty() && path_exists(usual)) {
      places.file = usual;
    }
  }
  if (const std::string directories = environment_variable("SSL_CERT_DIR"); !directories.empty()) {
    for (const std::string_view directory : split(directories, ':')) {
      places.directories.emplace_back(directory);
    }
  } else {
    places.directories.assign(std::begin(kUsualDirectories), std::end(kUsualDirectories));
  }
  return places;
}

Result<std::unique_ptr<const CertificateStore>> read_authorities(const AuthorityPlaces& places) {
  auto store = std::make_unique<CertificateStore>(
      [directories = places.directories](CertificateStore& late) { add_directories(directories, late); });
  const auto text = read_file(places.file);
  if (places.is_file_required && !text) {
    return fail(Code::unreachable, "SSL_CERT_FILE: " + text.error().message, kNameAnother);
  }
  if ((text ? store->add(*text) : 0) == 0 && places.is_file_required) {
    return fail(Code::unreachable,
                fmt::format("SSL_CERT_FILE: {} contains no PEM certificate", escape_controls(places.file.string())),
                kNameAnother);
  }
  return store;
}

std::string certificate_verdict(const std::string& name, const Context& context) {
  if (!ProxySettings::from_environment().proxy_for("https://" + name).empty() || !find_program("openssl")) {
    return "";
  }
  const std::string bare = name.substr(0, name.rfind(':'));
  std::vector<std::string> argv = {"openssl",     "s_client",
                                   "-connect",    name.find(':') == std::string::npos ? name + ":443" : name,
                                   "-servername", bare};
  if (const auto places = AuthorityPlaces::from_environment(); !places.file.empty()) {
    argv.insert(argv.end(), {"-CAfile", places.file.string()});
  }
  const auto ran = run_command({.argv = std::move(argv)}, context);
  std::istringstream lines(ran ? ran->error_output : std::string());
  std::string certificate;
  constexpr std::string_view kError = "verify error:";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("depth=")) {
      certificate = line;
    } else if (line.starts_with(kError)) {
      return fmt::format("OpenSSL of {}: {}", certificate, line.substr(line.rfind(':') + 1));
    }
  }
  return "";
}

}  // namespace modlock::http
