#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/git_repository.h"

namespace modlock::test {

// Keys of real programs (ssh-keygen, gpg), and git objects that they sign. Files are below `directory`.
class SigningKeys {
 public:
  explicit SigningKeys(std::filesystem::path directory);
  ~SigningKeys();
  SigningKeys(const SigningKeys&) = delete;
  SigningKeys& operator=(const SigningKeys&) = delete;

  // A new SSH key; its line of an allowed-signers file with `options` ("valid-before=\"…\" ").
  std::string ssh_key(const std::string& name);
  std::string allowed(const std::string& name, const std::string& options = {}) const;
  std::string ssh_fingerprint(const std::string& name) const;

  // A new OpenPGP key of `<name>@example.com`; its fingerprint. `time`: a past moment at which it is made and signs,
  // and a day after which it expires; empty: now, no expiry.
  std::string openpgp_key(const std::string& name, const std::string& time = {});
  std::string exported(const std::string& fingerprint) const;
  void revoke(const std::string& fingerprint) const;
  std::filesystem::path gpg_home() const { return directory_ / "gpg"; }

  // Arguments of git that make it sign with a key: the name of an SSH key, or a fingerprint.
  void sign_tag(const GitRepository& repository, const std::string& tag, const std::string& target,
                const std::string& key) const;
  // A signed commit with the tree of `target`; no branch names it.
  std::string sign_commit(const GitRepository& repository, const std::string& target, const std::string& key) const;

 private:
  std::string gpg(std::vector<std::string> arguments, std::string input = {}) const;
  std::string sign(const GitRepository& repository, const std::string& key, std::vector<std::string> arguments) const;

  std::filesystem::path directory_;
  std::map<std::string, std::string> times_;  // by fingerprint
};

}  // namespace modlock::test
