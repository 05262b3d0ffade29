#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/fidelity/case.h"
#include "tests/fidelity/offers.h"
#include "tests/support/certificates.h"
#include "tests/support/module_registry.h"
#include "tests/support/oci_registry.h"
#include "tests/support/temporary_directory.h"

namespace modlock::fidelity {

// What all cases of one reader share: a registry, mirrors, and the configurations of clients that lead there. Nothing
// leaves the loopback.
class Rig {
 public:
  explicit Rig(Reader reader);

  const Reader& reader() const { return reader_; }
  const test::ProviderRegistry& registry() const { return registry_; }
  const std::vector<Offer>& offers() const { return offers_; }

  // Writes the files of a case to a new directory of this name.
  std::filesystem::path write(const Case& of, const std::string& name) const;
  // A directory for what belongs to nobody's case.
  std::filesystem::path path(const std::string& name) const { return home_ / name; }
  // What programs run with, beside what they are told of themselves.
  std::map<std::string, std::string> environment(const Case& of) const;

 private:
  std::string configuration(Installation installation) const;
  std::string installation_block(Installation installation) const;

  Reader reader_;
  test::TemporaryDirectory home_;
  test::CertificateAuthority authority_{home_.path()};
  test::ServerCertificate certificate_ = authority_.issue("mirror");
  test::ProviderRegistry registry_;
  std::vector<Offer> offers_;
  test::ModuleRegistry network_mirror_{certificate_};
  std::string network_mirror_url_;
  test::OciRegistry oci_mirror_{certificate_};
  std::string oci_mirror_template_;
};

}  // namespace modlock::fidelity
