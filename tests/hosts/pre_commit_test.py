"""The hooks of .pre-commit-hooks.yaml, with a release on the loopback: pre_commit_test.py BINARY.

The cases of PreCommit need the program pre-commit, and are skipped without it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from release_tree import PROJECT, Releases  # noqa: E402

BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else None
VERSION = re.search(r"^project\(tofu-modlock VERSION ([0-9.]+)", (PROJECT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
PRE_COMMIT = shutil.which("pre-commit")

PROGRAM = f'#!/bin/sh\nexec {BINARY} "$@"\n'


class Scene:
    """A clone of the repository of hooks, and a repository that is committed to. The home has no tofu-modlock."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-hooks-"))
        self.releases = Releases()
        self.hooks = self.directory / "hooks"
        self.checkout = self.directory / "checkout"
        self.bin = self.directory / "bin"
        for path in (self.hooks / "scripts", self.checkout, self.bin, self.directory / "home", self.directory / "tmp"):
            path.mkdir(parents=True)
        for name in ("CMakeLists.txt", ".pre-commit-hooks.yaml", ".gitignore", "scripts/install.sh", "scripts/pre-commit-hook"):
            shutil.copy(PROJECT / name, self.hooks / name)
        vpc = self.directory / "vpc"
        (self.directory / "home/.gitconfig").write_text(
            f'[user]\n\tname = user\n\temail = user@example.test\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n'
            f'[url "file://{vpc}"]\n\tinsteadOf = https://git.example.test/acme/vpc.git\n')
        self.environment = {
            "HOME": str(self.directory / "home"), "PATH": f"{self.bin}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
            "TMPDIR": str(self.directory / "tmp"), "TOFU_MODLOCK_RELEASES": self.releases.address}
        self.git("init", "-q", str(vpc))
        (vpc / "main.tf").write_text('output "version" {\n  value = 1\n}\n')
        self.git("-C", str(vpc), "add", "-A")
        self.git("-C", str(vpc), "commit", "-q", "-m", "1.0.0")
        self.git("-C", str(vpc), "tag", "v1.0.0")
        self.git("init", "-q", str(self.hooks))
        self.git("-C", str(self.hooks), "add", "-A")
        self.git("-C", str(self.hooks), "commit", "-q", "-m", "hooks")
        self.git("-C", str(self.hooks), "tag", f"v{VERSION}")
        self.git("init", "-q", ".")
        self.write(".gitignore", ".terraform\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")

    def remove(self):
        self.releases.stop()
        shutil.rmtree(self.directory)

    def write(self, name, text):
        path = self.checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def write_root(self, name):
        self.write(f"{name}/main.tf", 'module "vpc" {\n  source = "git::https://git.example.test/acme/vpc.git?ref=v1.0.0"\n}\n')

    def on_path(self, script, name="tofu-modlock"):
        (self.bin / name).unlink(missing_ok=True)
        if script is not None:
            (self.bin / name).write_text(script)
            (self.bin / name).chmod(0o755)

    def run(self, *command, **variables):
        return subprocess.run([str(word) for word in command], cwd=self.checkout, env=self.environment | variables,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def git(self, *arguments):
        ran = self.run("git", *arguments)
        if ran.returncode != 0:
            raise AssertionError(ran.stderr)
        return ran.stdout

    def hook(self, name, **variables):
        return self.run(self.hooks / "scripts/pre-commit-hook", name, **variables)

    def set_version(self, version):
        path = self.hooks / "CMakeLists.txt"
        path.write_text(path.read_text().replace(f"VERSION {VERSION}", f"VERSION {version}"))


class HookTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.scene = Scene()
        self.addCleanup(self.scene.remove)


class Files(unittest.TestCase):
    def test_all_hooks_have_the_same_files(self):
        text = (PROJECT / ".pre-commit-hooks.yaml").read_text()
        found = re.findall(r"^  files: (.*)$", text, re.MULTILINE)
        self.assertEqual(len(found), text.count("- id: "))
        self.assertEqual([re.sub(r"^&files .*", "*files", files) for files in found], ["*files"] * len(found))
        local = re.search(r"^ +files: (.*)$", (PROJECT / "scripts/init/pre-commit.yml").read_text(), re.MULTILINE)[1]
        self.assertEqual(found[0], f"&files {local}")

    def test_files(self):
        files = re.search(r"files: &files (.*)$", (PROJECT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE)[1]
        for name in ("main.tf", "live/main.tofu", "main.tf.json", "main.tofu.json", "terraform.tfvars", "prod.auto.tfvars.json",
                     "tests/a.tftest.hcl", "tests/a.tofutest.hcl", "a.tftest.json", "a.tofutest.json", ".terraform.lock.hcl",
                     "live/.terraform.lock.hcl", "live/.terraform.modules.lock.hcl", ".tofu-modlock.hcl", "live/.tofu-modlock.hcl"):
            self.assertTrue(re.search(files, name), name)
        for name in ("README.md", "main.tf.txt", "tf", "terragrunt.hcl", "my.terraform.lock.hcl", "a.tfvars.hcl", "main.json", "a.tfplan"):
            self.assertFalse(re.search(files, name), name)


class Program(HookTest):
    """Which program a hook runs."""

    def test_versions(self):
        self.scene.set_version("0.1.3")
        own = '#!/bin/sh\n[ "$1" = --version ] && echo 0.1.3 || echo release\n'
        self.scene.releases.publish("0.1.3", own)
        rows = [("the same", "0.1.3", "PATH"), ("a newer patch", "0.1.10", "PATH"), ("an older patch", "0.1.2", "release"),
                ("a newer minor version", "0.2.3", "release"), ("an older minor version", "0.0.3", "release"),
                ("a candidate", "0.1.4-rc1", "release"), ("another program", "usage: modlock", "release"), ("none", None, "release")]
        for name, version, expected in rows:
            with self.subTest(name):
                self.scene.on_path(None if version is None else f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" || echo PATH\n')
                ran = self.scene.hook("verify")
                self.assertEqual((ran.returncode, ran.stdout.splitlines()[-1]), (0, expected), ran.stderr)

    def test_the_release_is_installed_once(self):
        self.scene.releases.publish(VERSION, PROGRAM)
        self.scene.write_root("live")
        self.scene.run(BINARY, "lock", "--install", "--chdir", "live")
        first = self.scene.hook("frozen")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("checksum: verified", first.stdout)
        requests = list(self.scene.releases.requests)
        self.assertEqual(len(requests), 2)
        second = self.scene.hook("verify")
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertNotIn("checksum", second.stdout)
        self.assertEqual(self.scene.releases.requests, requests)
        self.assertEqual(self.scene.git("-C", str(self.scene.hooks), "status", "--porcelain"), "")
        # A release that no longer runs is installed again.
        (self.scene.hooks / "build/hook/bin/tofu-modlock").resolve().unlink()
        self.assertEqual(self.scene.hook("verify").returncode, 0)
        self.assertEqual(len(self.scene.releases.requests), 4)

    def test_a_tampered_release_runs_nothing(self):
        self.scene.releases.publish(VERSION, f"#!/bin/sh\necho ran >{self.scene.directory}/ran\necho {VERSION}\n")
        path = self.scene.releases.file(VERSION)
        path.write_bytes(path.read_bytes()[:-1] + b"!")
        ran = self.scene.hook("frozen")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("has the checksum", ran.stderr)
        self.assertFalse((self.scene.directory / "ran").exists())

    def test_the_repository_of_the_hooks_has_the_releases(self):
        self.scene.on_path('#!/bin/sh\nfor last; do :; done\necho "address $last" >&2\nexit 6\n', "curl")
        own = "https://git.example.test/acme/tofu-modlock"
        rows = [(f"{own}", own), (f"{own}.git", own), (f"{own}/", own), ("https://user:secret@git.example.test/acme/tofu-modlock.git", own),
                ("git@git.example.test:acme/tofu-modlock.git", own), ("ssh://git@git.example.test:2222/acme/tofu-modlock.git", own),
                ("ssh://git.example.test/acme/tofu-modlock", own)]
        for origin, expected in rows:
            with self.subTest(origin):
                self.scene.git("-C", str(self.scene.hooks), "config", "remote.origin.url", origin)
                # As git runs hooks in a linked work tree.
                ran = self.scene.hook("frozen", TOFU_MODLOCK_RELEASES="", GIT_DIR=str(self.scene.checkout / ".git"))
                self.assertEqual(ran.returncode, 1)
                self.assertIn(f"cannot download {expected}/releases/download/v{VERSION}/SHA256SUMS: address {expected}/", ran.stderr)
                self.assertNotIn("secret", ran.stdout + ran.stderr)
        for origin in (str(self.scene.directory), f"file://{self.scene.directory}", "http://git.example.test/acme/tofu-modlock"):
            with self.subTest(origin):
                self.scene.git("-C", str(self.scene.hooks), "config", "remote.origin.url", origin)
                ran = self.scene.hook("frozen", TOFU_MODLOCK_RELEASES="")
                self.assertEqual(ran.returncode, 1)
                self.assertEqual(ran.stderr.splitlines()[-1], f"  hint: install tofu-modlock {VERSION}, or set TOFU_MODLOCK_RELEASES")


class Hooks(HookTest):
    """What the hooks do, with the program on PATH."""

    def setUp(self):
        super().setUp()
        self.scene.on_path(PROGRAM)

    def test_frozen_and_verify(self):
        self.scene.write_root("live")
        self.assertEqual(self.scene.hook("frozen").returncode, 3)
        self.scene.run(BINARY, "lock", "--install", "--chdir", "live")
        self.assertEqual(self.scene.hook("frozen").returncode, 0)
        self.assertEqual(self.scene.hook("verify").returncode, 0)
        self.scene.write("live/.terraform/modules/vpc/main.tf", "# edited\n")
        self.assertEqual(self.scene.hook("verify").returncode, 4)

    def test_a_first_lock_fails_until_the_lock_file_is_added(self):
        for root in ("live", "live [1]/äpp"):
            with self.subTest(root):
                self.scene.write_root(root)
                self.scene.git("add", f":(literal){root}/main.tf")
                for _ in range(2):
                    ran = self.scene.hook("lock")
                    self.assertEqual(ran.returncode, 1, ran.stdout)
                    self.assertTrue(ran.stderr.endswith("A lock file is new. Add it to the commit:\n"
                                                        f"  git add '{root}/.terraform.lock.hcl'\n"), ran.stderr)
                self.scene.git("add", f":(literal){root}/.terraform.lock.hcl")
                ran = self.scene.hook("lock")
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertNotIn("git add", ran.stderr)

    def test_the_hint_runs_nothing_of_a_name(self):
        for root in ("a'$(touch PWNED)'b", "`touch PWNED`", "';touch PWNED;'", "-x", ":x", 'a"$(touch PWNED)'):
            with self.subTest(root):
                self.scene.write_root(root)
                self.scene.git("add", "--", f":(literal){root}/main.tf")
                ran = self.scene.hook("lock")
                self.assertEqual(ran.returncode, 1, ran.stdout)
                hint = ran.stderr.splitlines()[-1].strip()
                if '"' in root:
                    self.assertEqual(hint, "a lock file in a directory whose name has a special character (git status shows it)")
                    self.scene.git("add", "--", f":(literal){root}/.terraform.lock.hcl")
                else:
                    self.scene.run("sh", "-c", hint)
                self.assertFalse((self.scene.checkout / "PWNED").exists(), hint)
                self.assertEqual(self.scene.hook("lock").returncode, 0)

    def test_lock_files_that_no_commit_needs(self):
        self.scene.write_root("not committed")
        self.scene.write("live/.terraform/modules/vpc/.terraform.lock.hcl", "")
        self.scene.write(".gitignore", "")
        self.scene.write("live/main.tf", "")
        self.scene.git("add", "live/main.tf")
        ran = self.scene.hook("lock")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue((self.scene.checkout / "not committed/.terraform.lock.hcl").exists())

    def test_the_module_lock_file_of_a_settings_file(self):
        self.scene.write_root("live")
        self.scene.write(".tofu-modlock.hcl", 'module_lock_file = "sidecar"\n')
        self.scene.git("add", "-A")
        ran = self.scene.hook("lock")
        self.assertEqual(ran.returncode, 1, ran.stdout)
        self.assertIn("  git add 'live/.terraform.modules.lock.hcl'\n", ran.stderr)

    def test_flags_and_the_base_are_passed_on(self):
        self.scene.on_path(f'#!/bin/sh\n[ "$1" != --version ] || exec echo {VERSION}\necho "$*"\n')
        for hook, command in (("frozen", "lock --frozen"), ("verify", "verify")):
            ran = self.scene.run(self.scene.hooks / "scripts/pre-commit-hook", hook, "--implementation=opentofu")
            self.assertEqual(ran.stdout, f"{command} --include modules --recursive --implementation=opentofu .\n")
            self.assertEqual(self.scene.hook(hook, PRE_COMMIT_FROM_REF="main").stdout,
                             f"{command} --include modules --recursive --base main .\n")
        self.assertEqual(self.scene.hook("lock", PRE_COMMIT_FROM_REF="main").stdout, "lock --include modules --recursive .\n")

    def test_errors_of_lock_are_passed_on(self):
        self.scene.write("live/main.tf", "module {")
        self.assertEqual(self.scene.hook("lock").returncode, 8)

    def test_usage(self):
        ran = self.scene.hook("check")
        self.assertEqual((ran.returncode, ran.stderr), (2, "usage: scripts/pre-commit-hook frozen|lock|verify [FLAG...]\n"))


@unittest.skipUnless(PRE_COMMIT, "pre-commit is not on PATH")
class PreCommit(HookTest):
    """With pre-commit itself, and nothing but a release."""

    def setUp(self):
        super().setUp()
        self.scene.releases.publish(VERSION, PROGRAM)

    def test_try_repo(self):
        self.scene.write_root("live")
        self.scene.git("add", "-A")
        ran = self.scene.run(PRE_COMMIT, "try-repo", self.scene.hooks, "tofu-modlock-frozen", "--verbose", "--all-files")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertIn("- exit code: 3", ran.stdout)
        self.assertIn("checksum: verified", ran.stdout)
        self.assertIn("[FROZEN]", ran.stdout)

    def test_commits(self):
        self.scene.write(".pre-commit-config.yaml", (
            f"repos:\n  - repo: {self.scene.hooks}\n    rev: v{VERSION}\n    hooks:\n"
            "      - id: tofu-modlock-lock\n      - id: tofu-modlock-frozen\n"))
        self.scene.run(PRE_COMMIT, "install")
        self.scene.write_root("live")
        self.scene.git("add", "-A")
        first = self.scene.run("git", "commit", "-m", "Add live")
        self.assertEqual(first.returncode, 1)
        self.assertIn("  git add 'live/.terraform.lock.hcl'", first.stderr)
        self.scene.git("add", "-A")
        second = self.scene.run("git", "commit", "-m", "Add live")
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertIn("live/.terraform.lock.hcl", self.scene.git("show", "--stat", "HEAD"))
        self.assertEqual(len(self.scene.releases.requests), 2)
        # A change of one of these alone runs the hooks; of another file it does not.
        for name, text, expected in (("live/terraform.tfvars", "a = 1\n", "Passed"), ("live/a.tftest.hcl", "", "Passed"),
                                     ("README.md", "", "Skipped")):
            with self.subTest(name):
                self.scene.write(name, text)
                self.scene.git("add", "-A")
                ran = self.scene.run("git", "commit", "-m", name)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertEqual(re.findall(r"(Passed|Skipped)$", ran.stderr, re.MULTILINE), [expected] * 2, ran.stderr)
        # A lock file that git tracks and a hook changes stops the commit.
        (self.scene.checkout / "live/main.tf").write_text("")
        self.scene.git("add", "-A")
        ran = self.scene.run("git", "commit", "-m", "Remove the call")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("files were modified by this hook", ran.stderr)


if __name__ == "__main__":
    unittest.main()
