#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/fidelity/case.h"
#include "tests/fidelity/offers.h"
#include "tests/support/temporary_directory.h"

namespace modlock::fidelity {

// What all cases of one reader share: a registry, a mirror, and the configurations of clients that lead there. Nothing
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

  Reader reader_;
  test::TemporaryDirectory home_;
  test::ProviderRegistry registry_;
  std::vector<Offer> offers_;
};

}  // namespace modlock::fidelity
