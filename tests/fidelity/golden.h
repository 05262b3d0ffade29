#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "tests/fidelity/programs.h"

namespace modlock::fidelity {

// What a client once made of the cases of a seed: for each whether it accepted, and the hash of the lock file it wrote.
// The file is named after the client, "tofu-1.12.6.txt".
class Golden {
 public:
  Golden(Client client, std::uint64_t seed) : client_(std::move(client)), seed_(seed) {}
  // Throws std::runtime_error where it is none.
  static Golden read(const std::filesystem::path& path);

  const Client& client() const { return client_; }
  std::uint64_t seed() const { return seed_; }
  std::size_t size() const { return lines_.size(); }

  void note(const Case& of, const Outcome& outcome) { lines_[of.number] = line(of, outcome); }
  // What is wrong with an outcome; empty where nothing is.
  std::string differs(const Case& of, const Outcome& outcome) const;
  void write(const std::filesystem::path& directory) const;

 private:
  static std::string line(const Case& of, const Outcome& outcome);

  Client client_;
  std::uint64_t seed_;
  std::map<std::size_t, std::string> lines_;
};

}  // namespace modlock::fidelity
