#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/scene.h"
#include "tests/support/environment.h"
#include "tests/support/module_registry.h"

namespace modlock::test {

// More calls of a kind than any program here makes.
constexpr unsigned long kMostCalls = 500;

// What is to happen at a system call: the options of fault_at_call.
struct Fault {
  std::string calls;                 // "rename,link"
  std::filesystem::path below = {};  // calls that name this path or one below it
  unsigned long at = 1;
  bool lasting = false;
  std::string kill = {};  // "before", "after"
  int error = 0;
  std::string run = {};  // a shell command
};

struct Faulted : Ran {
  std::string met;  // the call, shown as outputs are; empty where the program came to none
};

// Temporary directories in memory, where there is room: flushing costs nothing there.
struct InMemory {
  InMemory();
  std::optional<ScopedEnvironment> temporary;
};

// A root that calls a module "vpc" (any 1.x), which calls a module "label", both archives of a registry: no other
// program is run for them.
class SurvivalScene : InMemory, public Scene {
 public:
  using Files = std::map<std::string, std::string>;  // path -> content

  SurvivalScene();

  // Offers a version of both modules.
  void publish(const std::string& version);
  ModuleRegistry registry;

  // The keys of the modules that the root calls: "vpc" and "vpc.label" unless this says otherwise.
  void call_only(std::vector<std::string> keys) { called_ = std::move(keys); }

  // Runs the binary, or another program, with a fault.
  Faulted modlock_with(const Fault& fault, std::vector<std::string> arguments) const;
  Faulted with(const Fault& fault, const std::vector<std::string>& program_and_arguments) const;

  // Keeps the root and the cache as they are now, and brings them back.
  void save() const;
  void restore() const;

  // Every file below the root, with its content.
  Files files_of_root() const;
  // The packages and the records of the cache. A failed check where the tree of a package is not what its name says.
  Files files_of_store() const;

  // What a person finds, whatever has happened: the lock is one of `locks` (version -> text, "" where there is none),
  // each installed package is whole, and `verify` says by its exit code what is so.
  void check_truth(const Files& locks) const;

 private:
  // The version that lies installed as `key`; "" where none does. A failed check where it is no whole package.
  std::string installed_version(const std::string& key) const;
  std::string listing() const;
  int exit_of_verify(const std::string& locked) const;

  std::vector<std::string> called_ = {"vpc", "vpc.label"};
  std::map<std::string, std::map<std::string, Files>> packages_;  // by version, then by key
};

// For suites that trace: those that may not are skipped by name, and do not count as passed.
boost::test_tools::assertion_result may_trace(boost::unit_test::test_unit_id);

// What differs, a line each; "" where they are the same.
std::string differences(const SurvivalScene::Files& have, const SurvivalScene::Files& want);

}  // namespace modlock::test
