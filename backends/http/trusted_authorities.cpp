#include "backends/http/trusted_authorities.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <system_error>

#include "backends/address/source_text.h"
#include "backends/base/environment.h"
#include "backends/base/files.h"

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
    std::error_code failed;
    if (places.file.empty() && fs::exists(usual, failed)) {
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

}  // namespace modlock::http
