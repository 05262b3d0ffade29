#include "tests/fidelity/requirements.h"

#include <fmt/format.h>

#include "backends/address/provider_version.h"

namespace modlock::fidelity {

std::string some_constraint(Chance& chance, const Offer& offer, const std::string& version) {
  const ProviderVersion of = *ProviderVersion::parse(version);
  const std::string one = fmt::format("{}", of.major);
  const std::string two = fmt::format("{}.{}", of.major, of.minor);
  const std::string three = fmt::format("{}.{}", two, of.patch);
  const std::string next = fmt::format("{}", of.major + 1);
  if (!of.prerelease.empty() || !of.metadata.empty()) {
    return chance.pick<std::string>({version, "= " + version, version, ">= " + version, "~> " + version});
  }
  return chance.pick<std::string>({three,
                                   "= " + three,
                                   "=" + three,
                                   ">= " + three,
                                   ">= " + two,
                                   ">= " + one,
                                   ">=" + two,
                                   "~> " + one,
                                   "~> " + two,
                                   "~> " + two + ".0",
                                   "~> " + three,
                                   "<= " + three,
                                   "< " + next,
                                   "< " + next + ".0.0-beta1",
                                   "> 0.0.1",
                                   "> 0",
                                   ">= 0.0.0-alpha",
                                   "!= 9.9.9",
                                   "!= " + chance.pick(offer.versions),
                                   "<= " + next + ".2",
                                   ">= 0" + one,
                                   "~> " + one + ".0"});
}

std::string odd_constraint(Chance& chance) {
  return chance.pick<std::string>({"v1.0.0", ">=  1.0", "1.2.3.4", "=> 1.0", "1.0.0 2.0.0", "1.x", "~>1", "1.0beta1",
                                   ">=1.0,", "> 1.0.0+build.1", "~> 1.0.0-0", "\\t>= 1.0", "1.0.0-a..b", "== 1.0.0",
                                   "latest", "*"});
}

std::string state_of(const std::vector<std::string>& addresses) {
  std::string resources;
  for (const std::string& address : addresses) {
    resources += fmt::format(
        R"({}{{"mode":"managed","type":"thing","name":"of_{}","provider":"provider[\"{}\"]","instances":[]}})",
        resources.empty() ? "" : ",", address.substr(address.rfind('/') + 1), address);
  }
  return fmt::format(R"({{"version":4,"terraform_version":"1.5.0","serial":1,"lineage":"one","outputs":{{}},)"
                     R"("resources":[{}],"check_results":null}})",
                     resources) +
         "\n";
}

}  // namespace modlock::fidelity
