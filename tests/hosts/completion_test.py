"""What bash, zsh and fish complete with the scripts that `completion` prints: completion_test.py BINARY.

bash and zsh run on a terminal, where a key after the tab writes the edited line into a pipe. fish has a command for it.
"""

import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None

LOCK = """
module "vault" {
  source = "git::https://git.example.test/vault.git"
  hashes = ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
}

module "vpc" {
  version = "1.2.0"
  source  = "git::https://git.example.test/vpc.git"
  hashes  = ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
}

module "danger;touch$${IFS}ran" {
  source = "git::https://git.example.test/vpc.git"
  hashes = ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
}

provider "registry.opentofu.org/acme/cloud" {
  version = "3.0.1"
}
"""

# The words before the tab, and after it.
ROWS = [
    ("a command", "tofu-modlock verif", "tofu-modlock verify "),
    ("another name of a command", "tofu-modlock tre", "tofu-modlock tree "),
    ("a command of a group", "tofu-modlock cache p", "tofu-modlock cache prune "),
    ("a flag", "tofu-modlock lock --fro", "tofu-modlock lock --frozen "),
    ("a value of a flag", "tofu-modlock lock --hashes su", "tofu-modlock lock --hashes superset "),
    ("a value after =", "tofu-modlock lock --hashes=su", "tofu-modlock lock --hashes=superset "),
    ("a subject", "tofu-modlock explain module.vp", "tofu-modlock explain module.vpc "),
    ("a provider", "tofu-modlock explain prov", "tofu-modlock explain provider.acme/cloud "),
    ("of another root module", "tofu-modlock explain --chdir live module.ap", "tofu-modlock explain --chdir live module.app "),
    ("a subject with characters of the shell", "tofu-modlock explain module.dang", "tofu-modlock explain module.dang"),
    ("a target", "tofu-modlock upgrade --target module.va", "tofu-modlock upgrade --target module.vault "),
    ("a subject of update", "tofu-modlock update module.vp", "tofu-modlock update module.vpc="),
    ("its version", "tofu-modlock update module.vpc=", "tofu-modlock update module.vpc=1.2.0 "),
    ("a directory", "tofu-modlock lock liv", "tofu-modlock lock live/"),
    ("a directory after =", "tofu-modlock lock --chdir=liv", "tofu-modlock lock --chdir=live/"),
    ("a file", "tofu-modlock lock --var-file pr", "tofu-modlock lock --var-file prod.tfvars "),
    ("nothing", "tofu-modlock explain nonsense", "tofu-modlock explain nonsense"),
]


class Root:
    """A root module with a lock file, and a home."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        (self.directory / ".terraform.lock.hcl").write_text(LOCK)
        (self.directory / "main.tf").write_text("")
        (self.directory / "prod.tfvars").write_text("")
        (self.directory / "live").mkdir()
        (self.directory / "live/.terraform.lock.hcl").write_text(LOCK.replace('"vpc"', '"app"').replace('"vault"', '"bus"'))
        (self.directory / "bin").mkdir()
        (self.directory / "bin/tofu-modlock").symlink_to(BINARY)
        (self.directory / "home").mkdir()
        os.mkfifo(self.directory / "line")
        self.environment = {"HOME": str(self.directory / "home"), "TERM": "dumb", "LC_ALL": "C.UTF-8",
                            "PATH": f"{self.directory}/bin:/usr/bin:/bin",
                            "TOFU_MODLOCK_CACHE_DIR": str(self.directory / "home/cache")}

    def on_terminal(self, argv, typed):
        """The line that a shell has after the typed keys and one that writes it into the pipe."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.directory)
            os.execvpe(argv[0], argv, self.environment)
        try:
            shown = b""
            while b"READY" not in shown:
                shown += os.read(terminal, 4096)
            os.write(terminal, typed.encode() + b"\t\x18")
            return (self.directory / "line").read_text()
        finally:
            os.close(terminal)  # ends the shell
            os.waitpid(child, 0)

    def bash(self, typed):
        (self.directory / "home/rc").write_text(
            'source <(tofu-modlock completion bash)\nbind \'set bell-style none\'\n'
            'bind -x \'"\\C-x": printf %s "$READLINE_LINE" >line\'\nPS1="READ""Y "\n')
        return self.on_terminal(["bash", "--noprofile", "--rcfile", str(self.directory / "home/rc"), "-i"], typed)

    def zsh(self, typed):
        (self.directory / "home/.zshrc").write_text(
            "autoload -Uz compinit && compinit -u\nsource <(tofu-modlock completion zsh)\nunsetopt beep\n"
            "show() { printf %s \"$BUFFER\" >line }\nzle -N show\nbindkey '^X' show\nPS1='READY '\n")
        return self.on_terminal(["zsh", "-d", "-i"], typed)

    def fish(self, typed):
        """Lists candidates; inserts the only one as fish does."""
        program = "source (tofu-modlock completion fish | psub); complete --do-complete $argv[1]"
        ran = subprocess.run(["fish", "--no-config", "-c", program, typed], check=True, stdout=subprocess.PIPE,
                             cwd=self.directory, env=self.environment)
        found = [line.split("\t")[0] for line in ran.stdout.decode().splitlines()]
        if len(found) != 1:
            return typed
        return typed[:typed.rfind(" ") + 1] + found[0] + ("" if found[0][-1] in "=/" else " ")


class Completion(unittest.TestCase):
    def check(self, shell):
        root = Root()
        self.addCleanup(shutil.rmtree, root.directory)
        for name, typed, expected in ROWS:
            with self.subTest(name):
                self.assertEqual(getattr(root, shell)(typed), expected)

    def test_bash(self):
        self.check("bash")

    def test_zsh(self):
        self.check("zsh")

    def test_fish(self):
        self.check("fish")

    def test_failures_are_silent(self):
        root = Root()
        self.addCleanup(shutil.rmtree, root.directory)
        (root.directory / ".terraform.lock.hcl").write_text('module "vpc" {')
        for words in (["explain", "mod"], ["update", "module.vpc="], ["explain", "--chdir", "missing", "mod"],
                      ["lock", "--jobs", "none", "--nonsense", "--var"], []):
            with self.subTest(words):
                ran = subprocess.run([BINARY, "complete", *words], check=True, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, cwd=root.directory, env=root.environment)
                expected = b"--variable\n--var\n--var-file\n" if words[-1:] == ["--var"] else b""
                self.assertEqual(b"\n".join(line.split(b"\t")[0] for line in ran.stdout.split(b"\n")), expected)


if __name__ == "__main__":
    unittest.main()
