#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/e2e/scene.h"

namespace modlock::test {

// A repository with a module to be run, `catalog`, and a unit that runs it, `live/vpc`, with
// scripts/terragrunt/modlock.hcl included; the module calls a module by git, for which the unit's settings have a
// constraint.
class TerragruntScene : public Scene {
 public:
  TerragruntScene();

  // A unit of that source, by default the module in `catalog`.
  void add_unit(const std::string& name, const std::string& source = "${get_repo_root()}/catalog") const;
  // From now on terragrunt() is the one on PATH, with that client.
  void use_terragrunt(const std::string& name_of_client);
  // The stand-in for Terragrunt in that unit, or several with commas between them.
  Ran terragrunt(std::vector<std::string> arguments, std::string input = {},
                 const std::string& units = "live/vpc") const;
  // Where the client runs for a unit: its only directory below the cache.
  std::filesystem::path working_directory(const std::string& unit = "live/vpc") const;
  std::string unit_lock(const std::string& unit = "live/vpc") const { return read(unit + "/.terraform.lock.hcl"); }

  GitRepository& vpc;
  std::string client;  // that the stand-in runs; one that does what CLIENT_DOES says

 private:
  bool uses_terragrunt_ = false;
};

}  // namespace modlock::test
