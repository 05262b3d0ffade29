#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tests/fidelity/case.h"
#include "tests/fidelity/rig.h"

namespace modlock::fidelity {

// What a program made of a case.
struct Outcome {
  bool is_accepted = false;
  std::string lock = {};     // afterwards; empty where there is none
  std::string output = {};   // for people
  std::string trouble = {};  // what no program may do, whatever the case
};

// Which client, or which one we are to be like.
struct Client {
  std::string program;  // empty where only its answers are known
  std::string version;  // "1.12.6"
  Reader reader;

  std::string title() const { return reader.command() + " " + version; }
};

// Asks a program who it is. nullopt where it is neither tofu nor terraform.
std::optional<Client> identify(const std::string& program);

// Runs the client in a new directory, which is removed afterwards. Thread-safe.
Outcome run_client(const Client& client, const Rig& rig, const Case& of);
// The same for our binary, which is told that it is to be like that client.
Outcome run_modlock(const std::string& program, const Client& like, const Rig& rig, const Case& of);

// What the client makes of the lock file that our binary writes with the hashes that it takes where it is told nothing.
// For a case of `init`.
struct Settled {
  Outcome ours;
  Outcome theirs;  // afterwards; as ours where we refuse
};
Settled run_both(const std::string& program, const Client& client, const Rig& rig, const Case& of);

// A lock file without the blocks that only we write.
std::string without_modules(const std::string& lock);

}  // namespace modlock::fidelity
