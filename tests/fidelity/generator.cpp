#include "tests/fidelity/generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/fidelity/chance.h"
#include "tests/fidelity/configuration.h"
#include "tests/fidelity/prior_lock.h"
#include "tests/fidelity/requirements.h"

namespace modlock::fidelity {
namespace {

class Generator {
 public:
  Generator(std::uint64_t seed, std::size_t number, const Reader& reader, const std::vector<Offer>& offers,
            const test::ProviderRegistry& registry)
      : chance_(seed * 1'000'003 + number), reader_(reader), offers_(offers), registry_(registry) {
    case_.number = number;
  }

  Case make() {
    choose_action();
    for (std::size_t left = chance_.percent(3) ? 0 : 1 + chance_.below(4); left > 0; --left) {
      require_something();
    }
    write_files();
    if (chance_.percent(is_read_only() ? 95 : 60)) {
      write_prior_lock(chance_, reader_, registry_, requirements_, case_);
    }
    if (case_.action != Action::providers_lock && chance_.percent(12)) {
      add_state();
    }
    if (!is_read_only() && chance_.percent(5)) {
      case_.marks.emplace_back("signatures enforced");
      case_.environment["OPENTOFU_ENFORCE_GPG_VALIDATION"] = "true";
    }
    if (!is_read_only() && chance_.percent(3)) {
      case_.marks.emplace_back("expiration enforced");
      case_.environment["OPENTOFU_ENFORCE_GPG_EXPIRATION"] = "true";
    }
    return std::move(case_);
  }

 private:
  // What is locked is compared then, and no package looked at: that it is sound is for who installs it to say.
  bool is_read_only() const { return case_.action == Action::read_only; }

  void choose_action() {
    const std::size_t chosen = chance_.below(100);
    case_.action = chosen < 40   ? Action::init
                   : chosen < 55 ? Action::upgrade
                   : chosen < 64 ? Action::read_only
                                 : Action::providers_lock;
    if (case_.action == Action::providers_lock) {
      choose_platforms();
    }
    if (chance_.percent(30)) {
      case_.installation = some_installation();
      case_.marks.push_back(name_of(case_.installation));
    }
  }

  Installation some_installation() {
    std::vector<Installation> known = {Installation::mirror,
                                       Installation::mirror_for_acme,
                                       Installation::network_mirror,
                                       Installation::network_mirror_for_acme,
                                       Installation::mirrors_and_registry,
                                       Installation::overrides_and_registry,
                                       Installation::implied_directory};
    if (!reader_.is_terraform) {
      known.insert(known.end(), {Installation::trusted_network_mirror, Installation::oci_mirror});
    }
    return chance_.pick(known);
  }

  void choose_platforms() {
    std::vector<std::string> platforms = {"linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64"};
    chance_.shuffle(platforms);
    platforms.resize(chance_.below(platforms.size() + 1));
    if (chance_.percent(4)) {
      platforms.push_back(chance_.pick<std::string>({"plan9_386", "linux", "linux_amd64_v2", "linux amd64"}));
      case_.marks.push_back("platform " + platforms.back());
    }
    case_.platforms = std::move(platforms);
  }

  // Each of what is not sound has its turn; what is required beside it is sound.
  const Offer& some_offer() {
    std::vector<const Offer*> wanted;
    const bool is_its_turn = case_.number % 6 == 5 && requirements_.empty() && !is_read_only();
    for (const Offer& offer : offers_) {
      if (offer.is_sound != is_its_turn) {
        wanted.push_back(&offer);
      }
    }
    return is_its_turn ? *wanted[case_.number / 6 % wanted.size()] : *chance_.pick(wanted);
  }

  std::string some_host() {
    const std::size_t chosen = chance_.below(100);
    return chosen < 78                     ? reader_.default_host()
           : chosen < 88                   ? kPrivateHost
           : chosen < 99 || is_read_only() ? reader_.other_host()
                                           : kEmptyHost;
  }

  bool lacks_platform(const Offer& offer) const {
    return std::any_of(case_.platforms.begin(), case_.platforms.end(), [&](const std::string& platform) {
      return std::find(offer.platforms.begin(), offer.platforms.end(), platform) == offer.platforms.end();
    });
  }

  void require_something() {
    const Offer& offer = some_offer();
    const std::string host = some_host();
    require(offer, host);
    // Both may be meant by one entry of a lock file.
    if (offer.name.starts_with("hashicorp/") && host != kPrivateHost && chance_.percent(8)) {
      require(offer, host == reader_.default_host() ? reader_.other_host() : reader_.default_host());
      case_.marks.emplace_back("both addresses");
    }
  }

  void require(const Offer& offer, const std::string& host) {
    if (offer.is_sound && lacks_platform(offer) && !chance_.percent(10)) {
      return;
    }
    Requirement requirement{
        .offer = &offer, .host = host, .local_name = offer.type(), .version = {}, .constraints = {}};
    // What is published without keys only tofu takes, and only from its default registry.
    if (offer.name == "acme/charlie" || offer.name == "acme/delta") {
      if (is_read_only() || (reader_.is_terraform && chance_.percent(80))) {
        return;
      }
      requirement.host = chance_.percent(85) ? reader_.default_host() : requirement.host;
    }
    for (const Requirement& other : requirements_) {
      if (other.local_name == requirement.local_name) {
        if (other.address() == requirement.address()) {
          return;
        }
        requirement.local_name += fmt::format("{}", requirements_.size());
      }
    }
    if (!offer.is_sound) {
      case_.marks.push_back(offer.name);
    }
    if (requirement.host != reader_.default_host()) {
      case_.marks.push_back(requirement.host);
    }
    if (asks_mirror_for_all(case_.installation) && requirement.host == reader_.other_host() &&
        (is_read_only() || !chance_.percent(15))) {
      return;  // the mirror has nothing of it
    }
    choose_constraints(requirement);
    requirement.is_implied = offer.name.starts_with("hashicorp/") && requirement.host == reader_.default_host() &&
                             requirement.local_name == offer.type() && chance_.percent(20);
    requirements_.push_back(std::move(requirement));
  }

  void choose_constraints(Requirement& requirement) {
    const Offer& offer = *requirement.offer;
    requirement.version = chance_.pick(offer.versions);
    // A prerelease is only taken where a constraint names it.
    const bool is_named = requirement.version.find_first_of("-+") != std::string::npos;
    const std::size_t count = chance_.percent(20) ? 0 : 1 + chance_.below(3);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_random = chance_.percent(2);
      requirement.constraints.push_back(
          is_random            ? some_constraint(chance_, offer, chance_.pick(offer.versions))
          : is_named && i == 0 ? chance_.pick<std::string>({requirement.version, "= " + requirement.version})
                               : some_constraint(chance_, offer, requirement.version));
    }
    if (chance_.percent(2)) {
      requirement.constraints.push_back(odd_constraint(chance_));
      case_.marks.push_back("constraint " + requirement.constraints.back());
    }
  }

  void write_files() {
    std::vector<Requirement> of_tree = requirements_;
    if (!of_tree.empty() && chance_.percent(8)) {
      Requirement tested = of_tree.back();
      of_tree.pop_back();
      // It does not look there, but we read the modules of tests as well: one that is wrong, we refuse.
      if (case_.action == Action::providers_lock) {
        tested.constraints.clear();
      }
      write_test_file(chance_, reader_, tested, case_);
    }
    write_configuration(chance_, reader_, of_tree, case_);
  }

  void add_state() {
    case_.has_state = true;
    case_.marks.emplace_back("state");
    std::vector<std::string> addresses;
    if (!requirements_.empty() && chance_.percent(60)) {
      addresses.push_back(requirements_.front().address());
    }
    addresses.push_back(chance_.pick<std::string>(
        {reader_.default_host() + "/hashicorp/bravo", "registry.terraform.io/hashicorp/alpha",
         std::string(kPrivateHost) + "/a/echo", "terraform.io/builtin/terraform", "hashicorp/bravo"}));
    case_.files["terraform.tfstate"] = state_of(addresses);
  }

  Chance chance_;
  const Reader& reader_;
  const std::vector<Offer>& offers_;
  const test::ProviderRegistry& registry_;
  std::vector<Requirement> requirements_;
  Case case_;
};

}  // namespace

Case make_case(std::uint64_t seed, std::size_t number, const Reader& reader, const std::vector<Offer>& offers,
               const test::ProviderRegistry& registry) {
  return Generator(seed, number, reader, offers, registry).make();
}

}  // namespace modlock::fidelity
