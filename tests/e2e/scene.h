#pragma once

#include <json/value.h>

#include <filesystem>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/base/process.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_directory.h"

namespace modlock::test {

// A registry that exists nowhere: a host block says where its services are.
inline constexpr const char* kRegistryHost = "registry.example.test";

struct Ran {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// A user with a home, a cache, one root module and some git repositories, who runs the real binary. What differs from
// run to run (directories, commits) is shown under fixed names, so that outputs can be compared whole.
class Scene {
 public:
  Scene();

  std::filesystem::path root() const { return directory_ / "root"; }
  std::filesystem::path cache() const { return directory_ / "cache"; }
  std::filesystem::path repositories() const { return directory_ / "repositories"; }
  std::filesystem::path path(std::string_view name) const { return directory_ / name; }

  // A repository below repositories().
  GitRepository& repository(const std::string& name);
  // A commit with a main.tf that outputs the version, and `files`; tagged v<version>, shown as "<version>".
  std::string release(GitRepository& repository, const std::string& version, GitRepository::Files files = {});
  // From now on `id` is shown as "<name>", its first 12 characters as "<name...>".
  void name_id(const std::string& id, const std::string& name);
  // From now on `text` is shown as `name`.
  void name_text(const std::string& text, const std::string& name) { names_.emplace_back(text, name); }
  // `text` with every such name.
  std::string shown(std::string text) const;

  void write(const std::string& name, std::string_view text) const { write_text(root() / name, text); }
  std::string read(const std::string& name) const { return read_text(root() / name); }
  bool has(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(root() / name));
  }
  std::string lock() const { return read(".terraform.lock.hcl"); }
  // Sets the lock's time to a fixed moment long ago, and whether it still is that one.
  void age_lock() const;
  bool lock_is_aged() const;

  // Runs the binary in the root; its output with the names above.
  Ran modlock(std::vector<std::string> arguments, std::string input = {}) const;
  // Any program, in the same environment and directory.
  Ran program(std::vector<std::string> argv, std::string input = {}) const;
  // The JSON that a command with --json prints; null and a failed check where it is none.
  Json::Value json(std::vector<std::string> arguments, int exit_code = 0) const;
  // Hours pass: all versions in the cache were first seen so much earlier.
  void let_pass(int hours) const;
  std::map<std::string, std::string> environment;
  std::string binary;

 private:
  TemporaryDirectory directory_;
  std::list<GitRepository> repositories_;
  std::vector<std::pair<std::string, std::string>> names_;
};

// Checks all that a run left on its outputs.
void check_ran(const Ran& ran, int exit_code, const std::string& out, const std::string& err = {});

// How often `part` is in `text`.
std::size_t occurrences(const std::string& text, const std::string& part);

// A module block of a configuration: `source` as written, and where not empty `version`.
std::string module_call(const std::string& name, const std::string& source, const std::string& version = {});
// Requires the provider "acme/cloud".
std::string required_cloud(const std::string& constraint);
// A module block of `.tofu-modlock.hcl`.
std::string module_rule(const std::string& key, const std::string& version);

// The commits that the lock file names by key, as `git:` hashes: "vpc" -> "<3.19.0>".
using Commits = std::map<std::string, std::string>;
Commits locked_commits(const Scene& scene);

}  // namespace modlock::test
