#include "tests/support/signing_keys.h"

#include <fmt/format.h>

#include <exception>

#include "backends/base/files.h"
#include "tests/support/run.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

namespace fs = std::filesystem;

SigningKeys::SigningKeys(fs::path directory) : directory_(std::move(directory)) {
  fs::create_directories(gpg_home());
  fs::permissions(gpg_home(), fs::perms::owner_all);
}

SigningKeys::~SigningKeys() {
  try {
    run({"gpgconf", "--homedir", gpg_home().string(), "--kill", "all"});
  } catch (const std::exception&) {  // it then ends with its directory
  }
}

std::string SigningKeys::ssh_key(const std::string& name) {
  run({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", (directory_ / name).string()});
  return allowed(name);
}

std::string SigningKeys::allowed(const std::string& name, const std::string& options) const {
  return fmt::format("{}@example.com {}{}", name, options, read_text(directory_ / (name + ".pub")));
}

std::string SigningKeys::ssh_fingerprint(const std::string& name) const {
  const std::string line = run({"ssh-keygen", "-l", "-f", (directory_ / (name + ".pub")).string()});
  return line.substr(line.find("SHA256:"), line.find(' ', line.find("SHA256:")) - line.find("SHA256:"));
}

std::string SigningKeys::gpg(std::vector<std::string> arguments, std::string input) const {
  const std::vector<std::string> start = {
      "gpg", "--homedir", gpg_home().string(), "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""};
  arguments.insert(arguments.begin(), start.begin(), start.end());
  return run(std::move(arguments), {}, {}, std::move(input));
}

std::string SigningKeys::openpgp_key(const std::string& name, const std::string& time) {
  std::vector<std::string> arguments = {"--quick-generate-key", fmt::format("{} <{}@example.com>", name, name),
                                        "ed25519", "sign", time.empty() ? "never" : "1d"};
  if (!time.empty()) {
    arguments.insert(arguments.begin(), {"--faked-system-time", time + "!"});
  }
  gpg(std::move(arguments));
  const std::string listed = gpg({"--with-colons", "--list-keys", fmt::format("{}@example.com", name)});
  const std::size_t at = listed.find("fpr:::::::::") + 12;
  std::string fingerprint = listed.substr(at, listed.find(':', at) - at);
  times_[fingerprint] = time;
  return fingerprint;
}

std::string SigningKeys::exported(const std::string& fingerprint) const {
  return gpg({"--armor", "--export", fingerprint});
}

void SigningKeys::revoke(const std::string& fingerprint) const {
  std::string certificate = read_text(gpg_home() / "openpgp-revocs.d" / (fingerprint + ".rev"));
  certificate.erase(0, certificate.find(":-----BEGIN") + 1);
  gpg({"--import"}, certificate);
}

std::string SigningKeys::sign(const GitRepository& repository, const std::string& key,
                              std::vector<std::string> arguments) const {
  std::vector<std::string> settings;
  if (const auto time = times_.find(key); time == times_.end()) {
    settings = {"-c", "gpg.format=ssh", "-c", "user.signingKey=" + (directory_ / key).string()};
  } else {
    const fs::path program = directory_ / "gpg-then";
    write_text(program, fmt::format("#!/bin/sh\nexec gpg {} \"$@\"\n",
                                    time->second.empty() ? "" : "--faked-system-time " + time->second + "!"));
    fs::permissions(program, fs::perms::owner_all);
    settings = {"-c", "gpg.program=" + program.string(), "-c", "user.signingKey=" + key};
  }
  arguments.insert(arguments.begin(), settings.begin(), settings.end());
  return repository.git(std::move(arguments), {}, {{"GNUPGHOME", gpg_home().string()}});
}

void SigningKeys::sign_tag(const GitRepository& repository, const std::string& tag, const std::string& target,
                           const std::string& key) const {
  sign(repository, key, {"tag", "--force", "--sign", "--message=release", tag, target});
}

std::string SigningKeys::sign_commit(const GitRepository& repository, const std::string& target,
                                     const std::string& key) const {
  return sign(repository, key, {"commit-tree", "-S", "-m", "signed", target + "^{tree}"});
}

}  // namespace modlock::test
