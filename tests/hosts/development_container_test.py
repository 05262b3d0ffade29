"""The Dockerfile of docs/install.md, built and used in a root file system: development_container_test.py BINARY.

The system of this machine stands for the base image and its packages, and the programs on PATH for the client and for
Terragrunt. What the file copies and runs is done as it says. /usr is read-only except /usr/local, which is the root's own.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
HERE = pathlib.Path(__file__).resolve().parent
for place in (HERE, HERE.parent / "docs"):
    sys.path.insert(0, str(place))
import bare_root  # noqa: E402
import blocks  # noqa: E402
import servers  # noqa: E402
import tarball_test  # noqa: E402

PAGE = (HERE.parent.parent / "docs/install.md").read_text(encoding="utf-8")
FOUND = {name: shutil.which(name) for name in ("tofu", "terraform", "terragrunt")}
CLIENT = FOUND["tofu"] or FOUND["terraform"]
CHECKOUT = "/workspaces/infra"
USER = 1000
CALL = 'module "network" {\n  source = "git::https://git.example.test/network.git?ref=main"\n}\n'
OUTPUT = 'output "version" {\n  value = module.network.version\n}\n'


def dockerfile():
    """(instruction, arguments) of each line."""
    [found] = [block for block in blocks.read_blocks(PAGE) if block.language == "dockerfile"]
    return [tuple(line.split(" ", 1)) for line in found.lines]


def commands():
    """The lines that the page shows after the Dockerfile."""
    [found] = [block for block in blocks.read_blocks(PAGE) if "in the image" in block.marks.get("not run", "")]
    return [command for command, _ in found.commands()]


class DevelopmentContainer(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-development-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.directory.chmod(0o755)
        self.servers = servers.Servers(self.directory / "servers")
        self.addCleanup(self.servers.stop)
        self.network = self.servers.environment(self.directory / "repositories")
        self.environment = os.environ | self.network | {"HOME": str(self.directory), "GIT_CONFIG_NOSYSTEM": "1"}
        binds, links = bare_root.system_binds()
        self.places = {"/usr/local": "local", "/opt": "opt", "/home": "home", "/etc": "etc", "/tmp": "tmp", CHECKOUT: "checkout"}
        for name in ("repositories", *self.places.values(), "local/bin"):
            (self.directory / name).mkdir()
        (self.directory / "tmp").chmod(0o1777)
        for name, text in (("passwd", "root:x:0:0::/root:/bin/sh\n"), ("group", "root:x:0:\n"), ("shadow", "root:*:1::::::\n")):
            (self.directory / "etc" / name).write_text(text)
        binds |= {place: self.directory / name for place, name in self.places.items()}
        self.root = bare_root.Root(self.directory / "root", binds | {"/authority.pem": self.network["SSL_CERT_FILE"]}, links)
        self.variables = {"PATH": "/usr/bin:/bin"}
        self.user = 0
        self.release("locked")

    def git(self, *arguments, cwd=None):
        subprocess.run(["git", "-c", "user.name=user", "-c", "user.email=user@example.test", *arguments], cwd=cwd or self.directory,
                       env=self.environment, check=True, capture_output=True)

    def release(self, text):
        work = self.directory / "work"
        if not work.exists():
            self.git("init", "-q", "--initial-branch=main", "work")
            self.git("init", "-q", "--bare", "repositories/network.git")
        (work / "main.tf").write_text(f'output "version" {{\n  value = "{text}"\n}}\n')
        self.git("add", "-A", cwd=work)
        self.git("commit", "-q", "-m", text, cwd=work)
        self.git("push", "-q", str(self.directory / "repositories/network.git"), "main", cwd=work)

    def copy(self, source, place):
        target = self.inside(place)
        if place.endswith("/"):
            target = target / pathlib.Path(source).name
        shutil.copy2(source, target)
        target.chmod(0o755)

    def inside(self, place):
        """The directory of this machine for a place below one of the root's own."""
        [top] = [top for top in self.places if place.startswith(top + "/")]
        return self.directory / self.places[top] / place[len(top) + 1:]

    def tarball(self):
        """The tarball of the release, named as the page copies it."""
        machine = os.uname().machine
        file = self.directory / f"tofu-modlock-0.3.0-linux-{machine}.tar.gz"
        files = {place.removeprefix(tarball_test.TREE + "/"): source for place, source in tarball_test.tarball_binds().items()}
        if "" in files or tarball_test.TREE in files:
            files = {"": tarball_test.GIVEN}
        else:
            files |= {"bin/tofu-modlock-wrapper": tarball_test.SCRIPTS / "tofu-modlock-wrapper",
                      "share/tofu-modlock/terragrunt/modlock.hcl": tarball_test.SCRIPTS / "terragrunt/modlock.hcl"}
        with tarfile.open(file, "w:gz", dereference=True, compresslevel=1) as archive:
            for name, source in files.items():
                archive.add(source, f"tofu-modlock/{name}".rstrip("/"))
        return file

    def build(self):
        """Does what each line says. What only a build with network can do has a stand-in here."""
        variables = {"TARGETARCH": {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]}
        for instruction, rest in dockerfile():
            words = rest.split()
            if instruction == "FROM":
                self.assertIn(words[0].partition(":")[0], ("ghcr.io/opentofu/opentofu", "debian"))
            elif instruction == "ARG":
                self.assertIn(rest, variables)
            elif instruction == "RUN" and rest.startswith("apt-get "):
                self.assertEqual(set(rest.split("--no-install-recommends ")[1].split()), {"ca-certificates", "git", "openssh-client"})
            elif instruction == "RUN":
                ran = self.root.run(["sh", "-euc", "mount -o remount,bind,ro /usr; PATH=$PATH:/usr/sbin; " + rest], 0, self.variables)
                self.assertEqual(ran.returncode, 0, ran.stdout)
            elif instruction == "ADD":
                self.assertRegex(words[1], r"^https://github\.com/gruntwork-io/terragrunt/releases/download/v[\d.]+/terragrunt_linux_\$TARGETARCH$")
                if FOUND["terragrunt"]:
                    self.copy(FOUND["terragrunt"], words[2])
            elif instruction == "COPY" and words[0] == "--from=client":
                self.assertEqual(words[1], "/usr/local/bin/tofu")
                self.copy(os.path.realpath(CLIENT), words[2])
            elif instruction == "COPY":
                file = self.tarball()
                self.assertTrue(file.match(words[0]))
                self.copy(file, words[1])
            elif instruction == "ENV":
                self.variables |= dict(word.split("=", 1) for word in words)
            elif instruction == "USER":
                self.assertRegex((self.directory / "etc/passwd").read_text(), rf"(?m)^{rest}:x:{USER}:")
                self.user = USER
            else:
                self.fail(f"{instruction} {rest}")
        self.variables |= self.network | {"HOME": "/home/dev", "SSL_CERT_FILE": "/authority.pem", "GIT_SSL_CAINFO": "/authority.pem",
                                          "CHECKPOINT_DISABLE": "1"}

    def check_out(self, files):
        checkout = self.directory / "checkout"
        for name, text in files.items():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_text(text)
        self.git("init", "-q", cwd=checkout)
        for path in [checkout, *checkout.rglob("*")]:
            os.chown(path, USER, USER)

    def run_inside(self, command, directory=CHECKOUT, code=0, **variables):
        ran = self.root.run(["sh", "-c", command], self.user, self.variables | variables, directory)
        output = re.sub(r"\x1b\[\d*m", "", ran.stdout)
        self.assertEqual(ran.returncode, code, f"{command}\n{output}")
        return output

    def test_commands_of_the_page(self):
        self.build()
        self.check_out({"main.tf": CALL + OUTPUT, ".tofu-modlock.hcl": 'module_lock_file = "sidecar"\n'})
        lock, ci, plan, mirror = commands()
        self.run_inside(lock)
        self.release("moved")
        self.assertIn("1 verified", self.run_inside(ci))
        self.assertIn('+ version = "locked"', self.run_inside(plan))
        self.run_inside(mirror)
        self.assertIn('+ version = "locked"', self.run_inside("/usr/local/bin/tofu plan"))
        # The wrapper locks and installs by itself, and compares before a plan.
        shutil.rmtree(self.directory / "checkout/.terraform")
        self.run_inside("tofu init")
        self.assertIn('+ version = "locked"', self.run_inside(plan))
        with open(self.directory / "checkout/.terraform/modules/network/main.tf", "a") as file:
            file.write("# changed\n")
        self.assertIn("tampered", self.run_inside(plan, code=4))

    @unittest.skipUnless(FOUND["terragrunt"], "needs terragrunt")
    def test_hooks_of_terragrunt(self):
        self.build()
        hooks = self.directory / "opt/tofu-modlock/share/tofu-modlock/terragrunt/modlock.hcl"
        self.check_out({"modlock.hcl": hooks.read_text(), "live/main.tf": CALL + OUTPUT,
                        "live/terragrunt.hcl": 'include "modlock" {\n  path = "${get_repo_root()}/modlock.hcl"\n}\n'})
        self.run_inside("terragrunt init", f"{CHECKOUT}/live")
        self.release("moved")
        for name in (".terraform", ".terragrunt-cache"):
            shutil.rmtree(self.directory / "checkout/live" / name, ignore_errors=True)
        self.run_inside("terragrunt init", f"{CHECKOUT}/live")
        self.assertIn('+ version = "locked"', self.run_inside("terragrunt plan", f"{CHECKOUT}/live"))


if __name__ == "__main__":
    reason = bare_root.missing() or (not CLIENT and "needs tofu or terraform") or (not shutil.which("openssl") and "needs openssl")
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
