#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include "backends/base/environment.h"
#include "backends/credentials/client_configuration.h"
#include "backends/credentials/credentials.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A user with a home and variables of their own; every secret in the tests starts with "canary".
class User {
 public:
  User() : environment_{.environment = {}, .home = directory_.path(), .directory = directory_.path()} {}

  void set(std::string name, std::string value) {
    environment_.environment.emplace_back(std::move(name), std::move(value));
  }
  void write(std::string_view name, std::string_view text) const { directory_.write(name, text); }
  // A program that runs `script` with sh; says how often it ran in "<name>.runs".
  void write_program(const std::string& name, const std::string& script) const {
    const std::string path = (directory_ / name).string();
    directory_.write(name, "#!/bin/sh\necho run >> '" + path + ".runs'\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  std::size_t runs_of(const std::string& name) const {
    const std::filesystem::path path = directory_ / (name + ".runs");
    return std::filesystem::exists(path) ? std::filesystem::file_size(path) / 4 : 0;
  }
  std::filesystem::path path(std::string_view name) const { return directory_ / name; }
  const ProcessEnvironment& environment() const { return environment_; }

 private:
  TemporaryDirectory directory_;
  ProcessEnvironment environment_;
};

// "token canary-1", "basic user:canary-2", "token a, refresh b", "none"; of an error its code and message.
inline std::string shown(const Result<FoundCredential>& found) {
  if (!found) {
    return std::string(to_string(found.error().code)) + " " + found.error().message;
  }
  if (const auto* basic = std::get_if<BasicCredential>(&found->secret)) {
    return "basic " + basic->user.reveal() + ":" + basic->password.reveal();
  }
  const auto* token = std::get_if<TokenCredential>(&found->secret);
  if (token == nullptr) {
    return "none";
  }
  return "token " + token->access_token.reveal() +
         (token->refresh_token.empty() ? "" : ", refresh " + token->refresh_token.reveal());
}

// One line for each place.
inline std::string shown(const Result<std::vector<CredentialLocation>>& places) {
  if (!places) {
    return std::string(to_string(places.error().code)) + " " + places.error().message;
  }
  std::string text;
  for (const CredentialLocation& place : *places) {
    text += place.place + ": " + place.outcome + "\n";
  }
  return text;
}

inline bool has_canary(std::string_view text) {
  return text.find("canary") != std::string_view::npos;
}

}  // namespace modlock::test
