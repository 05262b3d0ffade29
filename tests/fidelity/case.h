#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace modlock::fidelity {

// What is run.
enum class Action {
  init,           // on a clean checkout
  read_only,      // init -lockfile=readonly
  upgrade,        // init -upgrade
  providers_lock  // with platforms
};

// Where the configuration of the client says that providers come from.
enum class Installation {
  registry,
  mirror,                   // all from a filesystem mirror
  mirror_for_acme,          // one namespace from it, the rest from the registry
  network_mirror,           // all from a network mirror
  network_mirror_for_acme,  // one namespace from it, the rest from the registry
  trusted_network_mirror,   // what it lists is taken for true
  oci_mirror,               // all from an OCI registry
  mirrors_and_registry,     // whoever has a version, in this order: network mirror, filesystem mirror, registry
  overrides_and_registry,   // one provider is overridden by one that is under development
  implied_directory,        // nothing is said, and one namespace lies below the home directory
};

inline constexpr Installation kLastInstallation = Installation::implied_directory;

// "mirror of one namespace"
std::string name_of(Installation installation);
// Whether a mirror has to know every provider.
bool asks_mirror_for_all(Installation installation);

// One root module, what is done in it and how.
struct Case {
  std::size_t number = 0;
  Action action = Action::init;
  Installation installation = Installation::registry;
  std::vector<std::string> platforms = {};        // of providers_lock
  std::map<std::string, std::string> files = {};  // by path below the root module; the prior lock is one of them
  std::map<std::string, std::string> environment = {};
  std::vector<std::string> marks = {};  // what is particular about it, for people

  bool calls_modules = false;
  bool has_state = false;
  // A module that configures providers is called repeatedly: the client refuses that, and we do not look.
  bool is_left_to_client = false;

  // "017 upgrade: extra provider, CRLF"
  std::string title() const;
  // Nothing where there is no lock yet.
  std::string prior_lock() const;
  // A hash of all that it consists of.
  std::string digest() const;
};

// Which client it is about: defaults depend on it.
struct Reader {
  bool is_terraform = false;
  // To tofu 1.10 ephemeral resources are an unknown block; we read them for every release.
  bool knows_ephemeral = true;

  static Reader of(const std::string& command, const std::string& version) {
    return {.is_terraform = command == "terraform",
            .knows_ephemeral = command == "terraform" || !version.starts_with("1.10.")};
  }
  std::string default_host() const { return is_terraform ? "registry.terraform.io" : "registry.opentofu.org"; }
  std::string other_host() const { return is_terraform ? "registry.opentofu.org" : "registry.terraform.io"; }
  std::string command() const { return is_terraform ? "terraform" : "tofu"; }
};

inline constexpr const char* kLockName = ".terraform.lock.hcl";
// Reached through `host` blocks as well; the last one offers no providers.
inline constexpr const char* kPrivateHost = "private.example.test";
inline constexpr const char* kEmptyHost = "empty.example.test";

}  // namespace modlock::fidelity
