#include "tests/hosts/terragrunt_scene.h"

#include "tests/support/needs.h"

namespace modlock::test {
namespace {

namespace fs = std::filesystem;

// Says what it was asked, and writes the lock file as a client does that knows of no module blocks.
constexpr const char* kStandIn = R"(#!/bin/sh
printf 'client:'
printf ' <%s>' "$@"
printf '\n'
eval "${CLIENT_DOES:-}"
[ "$1" != init ] || { mkdir -p .terraform && printf '# by the client\n' > .terraform.lock.hcl; }
exit "${CLIENT_EXIT:-0}"
)";

}  // namespace

TerragruntScene::TerragruntScene() : vpc(repository("vpc.git")), client(path("client").string()) {
  release(vpc, "1.0.0");
  fs::create_directories(root() / ".git");
  fs::copy_file(MODLOCK_SCRIPTS "/terragrunt/modlock.hcl", root() / "modlock.hcl");
  write("catalog/main.tf",
        module_call("vpc", "git::" + vpc.url()) + "output \"version\" {\n  value = module.vpc.version\n}\n");
  add_unit("live/vpc");
  write_text(client, kStandIn);
  fs::permissions(client, fs::perms::owner_all);
  fs::create_directories(path("bin"));
  fs::create_symlink(binary, path("bin/tofu-modlock"));
  environment["PATH"] = path("bin").string() + ":" + environment["PATH"];
  environment["CI"] = "";
  environment["CLIENT_DOES"] = "";
}

void TerragruntScene::add_unit(const std::string& name, const std::string& source) const {
  write(name + "/terragrunt.hcl",
        "include \"modlock\" {\n  path = \"${get_repo_root()}/modlock.hcl\"\n}\n\n"
        "terraform {\n  source = \"" +
            source + "\"\n}\n");
  write(name + "/.tofu-modlock.hcl", module_rule("vpc", "~> 1.0"));
}

void TerragruntScene::use_terragrunt(const std::string& name_of_client) {
  uses_terragrunt_ = true;
  fs::remove_all(root() / ".git");
  program({"git", "init", "--quiet"});
  environment["TG_TF_PATH"] = find_program(name_of_client)->string();
  environment["TG_NON_INTERACTIVE"] = "true";
}

Ran TerragruntScene::terragrunt(std::vector<std::string> arguments, std::string input, const std::string& units) const {
  if (uses_terragrunt_) {
    std::string line = "cd " + units + " && exec terragrunt";
    for (const std::string& argument : arguments) {
      line += " " + argument;
    }
    return program({"/bin/sh", "-c", line}, std::move(input));
  }
  arguments.insert(arguments.begin(), {MODLOCK_HOSTS "/terragrunt_stand_in", client, units});
  return program(std::move(arguments), std::move(input));
}

fs::path TerragruntScene::working_directory(const std::string& unit) const {
  for (const auto& entry : fs::recursive_directory_iterator(root() / unit / ".terragrunt-cache")) {
    if (entry.path().filename() == "terragrunt.hcl") {
      return entry.path().parent_path();
    }
  }
  return {};
}

}  // namespace modlock::test
