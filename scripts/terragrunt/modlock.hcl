# Modules of every unit that includes this file are what its lock file says (docs/terragrunt.md):
#
#   include "modlock" {
#     path = "${get_repo_root()}/modlock.hcl"
#   }
#
# Commit both files of each unit: .terraform.lock.hcl and .terraform.modules.lock.hcl. The second one has the modules if
# .tofu-modlock.hcl next to this file contains: module_lock_file = "sidecar". The client keeps it, and deletes module
# blocks of the first one.
terraform {
  # Puts the locked source of the unit where Terragrunt looks for an earlier download, so that it downloads nothing.
  after_hook "modlock_place" {
    commands = ["terragrunt-read-config"]
    execute = concat(
      ["sh", "-c", "[ -d \"$0\" ] || exec tofu-modlock hook --working-dir \"$0\" \"$@\"", get_working_dir()],
      ["--unit", get_terragrunt_dir(), "--root", get_repo_root()],
      [for argument in get_terraform_cli_args() : format("-%s", argument) if startswith(argument, "-upgrade")],
    )
  }

  # Settings, .tofu-modlock.hcl, are searched from the unit up to the root of the repository. Before `providers lock` the
  # hook only remembers the module blocks.
  before_hook "modlock_install" {
    commands = ["init", "get", "providers"]
    execute = concat(
      ["tofu-modlock", "hook", "--unit", get_terragrunt_dir(), "--root", get_repo_root()],
      [for source in [get_terragrunt_source_cli_flag()] : "--replaced-source" if source != ""],
      [for argument in get_terraform_cli_args() : format("-%s", argument) if startswith(argument, "-upgrade")],
    )
  }

  # The hook has installed the modules, so that the client downloads none.
  extra_arguments "modlock" {
    commands  = ["init"]
    arguments = ["-get=false"]
  }

  # The client drops module blocks whenever it writes the lock file, also if it fails afterwards. The hook before the
  # command has kept a copy, if there are such blocks. If there is no copy, or the blocks are still there, nothing has to
  # be restored, and the shell ends without a start of tofu-modlock. The lock file of a unit of a stack is kept elsewhere
  # in any case.
  after_hook "modlock_restore" {
    commands = ["init", "get", "providers"]
    execute = [
      "sh", "-c",
      "case \"$TG_CTX_COMMAND $0\" in (get*|*/.terragrunt-stack/*) ;; (*) [ -f .terraform/tofu-modlock/before.lock.hcl ] || [ -f \"$TF_DATA_DIR/tofu-modlock/before.lock.hcl\" ] || exit 0; [ ! -f .terraform.lock.hcl ] || while read -r word rest; do [ \"$word\" != module ] || exit 0; done <.terraform.lock.hcl ;; esac; exec tofu-modlock hook --after --unit \"$0\" --root \"$1\"",
      get_terragrunt_dir(), get_repo_root(),
    ]
    run_on_error = true
  }

  before_hook "modlock_verify" {
    commands = ["plan", "apply", "destroy", "refresh", "import", "test"]
    execute = concat(
      ["tofu-modlock", "hook", "--unit", get_terragrunt_dir(), "--root", get_repo_root()],
      [for source in [get_terragrunt_source_cli_flag()] : "--replaced-source" if source != ""],
    )
  }
}
