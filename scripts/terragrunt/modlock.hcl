# Modules of every unit that includes this file are what its lock file says (docs/terragrunt.md):
#
#   include "modlock" {
#     path = "${get_repo_root()}/modlock.hcl"
#   }
terraform {
  # Settings, .tofu-modlock.hcl, are searched from the unit up to the root of the repository.
  before_hook "modlock_install" {
    commands = ["init", "get"]
    execute = concat(
      ["tofu-modlock", "hook", "--unit", get_terragrunt_dir(), "--root", get_repo_root()],
      contains(get_terraform_cli_args(), "-upgrade") ? ["--upgrade"] : [],
    )
  }

  # The client drops module blocks whenever it writes the lock file, also where it fails afterwards.
  after_hook "modlock_restore" {
    commands     = ["init", "get", "providers"]
    execute      = ["tofu-modlock", "hook", "--after", "--unit", get_terragrunt_dir(), "--root", get_repo_root()]
    run_on_error = true
  }

  before_hook "modlock_verify" {
    commands = ["plan", "apply", "destroy", "refresh", "import", "test"]
    execute  = ["tofu-modlock", "hook", "--unit", get_terragrunt_dir(), "--root", get_repo_root()]
  }
}
