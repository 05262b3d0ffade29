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
  mirror,           // all from a filesystem mirror
  mirror_for_acme,  // one namespace from it, the rest from the registry
};

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

  std::string default_host() const { return is_terraform ? "registry.terraform.io" : "registry.opentofu.org"; }
  std::string other_host() const { return is_terraform ? "registry.opentofu.org" : "registry.terraform.io"; }
  std::string command() const { return is_terraform ? "terraform" : "tofu"; }
};

inline constexpr const char* kLockName = ".terraform.lock.hcl";
// Reached through `host` blocks as well; the last one offers no providers.
inline constexpr const char* kPrivateHost = "private.example.test";
inline constexpr const char* kEmptyHost = "empty.example.test";

}  // namespace modlock::fidelity
