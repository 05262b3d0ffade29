#include "tests/fidelity/case.h"

#include <fmt/ranges.h>

#include "backends/base/digest.h"

namespace modlock::fidelity {
namespace {

std::string name_of(Action action) {
  switch (action) {
    case Action::read_only:
      return "init -lockfile=readonly";
    case Action::upgrade:
      return "init -upgrade";
    case Action::providers_lock:
      return "providers lock";
    case Action::init:
      break;
  }
  return "init";
}

}  // namespace

std::string name_of(Installation installation) {
  switch (installation) {
    case Installation::mirror:
      return "mirror";
    case Installation::mirror_for_acme:
      return "mirror of one namespace";
    case Installation::network_mirror:
      return "network mirror";
    case Installation::network_mirror_for_acme:
      return "network mirror of one namespace";
    case Installation::trusted_network_mirror:
      return "trusted network mirror";
    case Installation::oci_mirror:
      return "OCI mirror";
    case Installation::mirrors_and_registry:
      return "mirrors and registry";
    case Installation::overrides_and_registry:
      return "override for development";
    case Installation::implied_directory:
      return "implied directory";
    case Installation::registry:
      break;
  }
  return "registry";
}

bool asks_mirror_for_all(Installation installation) {
  return installation == Installation::mirror || installation == Installation::network_mirror ||
         installation == Installation::trusted_network_mirror || installation == Installation::oci_mirror ||
         installation == Installation::mirrors_and_registry;  // what does not know a version fails, as tofu has it
}

std::string Case::title() const {
  return fmt::format("{:03} {}{}{}", number, name_of(action), marks.empty() ? "" : ": ", fmt::join(marks, ", "));
}

std::string Case::prior_lock() const {
  const auto found = files.find(kLockName);
  return found == files.end() ? std::string() : found->second;
}

std::string Case::digest() const {
  std::string all =
      fmt::format("{} {} {}\n", name_of(action), static_cast<int>(installation), fmt::join(platforms, " "));
  for (const auto* texts : {&files, &environment}) {
    for (const auto& [name, text] : *texts) {
      all += fmt::format("{} {}\n{}\n", name, text.size(), text);
    }
  }
  return sha256_hex(all).substr(0, 12);
}

}  // namespace modlock::fidelity
