#!/usr/bin/env python3
"""What happens to lock files in a team: twenty-five scenarios with real git.

usage: tests/team/scenarios.py BINARY [-v] [NAME ...]

BINARY is tofu-modlock. Each scenario has its own home, cache and repositories in a temporary directory. NAME is a test
such as Scenarios.test_rebase. Exit: 0 all passed, 1 one failed.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = ""
LOCK = ".terraform.lock.hcl"


def call(name, source, version=None):
    constraint = f'  version = "{version}"\n' if version else ""
    return f'module "{name}" {{\n  source = "{source}"\n{constraint}}}\n'


class Team:
    """A monorepo in `work`, and the repositories of the modules that it calls."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.work = self.directory / "work"
        home = self.directory / "home"
        for path in (self.work, home):
            path.mkdir()
        self.environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_EDITOR": "true",
            "TOFU_MODLOCK_CACHE_DIR": str(self.directory / "cache"),
            "TOFU_MODLOCK_IMPLEMENTATION": "opentofu",
            "TOFU_MODLOCK_IMPLEMENTATION_VERSION": "1.10.0",
        }
        (home / ".gitconfig").write_text(
            "[user]\n  name = Test\n  email = test@example.test\n[init]\n  defaultBranch = main\n[advice]\n"
            "  skippedCherryPicks = false\n"
        )
        self.git("init", "--quiet")
        self.write(".gitignore", ".terraform\n")

    def run(self, argv, directory=None, **variables):
        """(exit code, stdout, stderr)"""
        ran = subprocess.run(
            argv, cwd=directory or self.work, env=self.environment | variables, capture_output=True, text=True, check=False
        )
        return ran.returncode, ran.stdout, ran.stderr

    def git(self, *arguments, directory=None):
        code, out, err = self.run(["git", *arguments], directory)
        if code != 0:
            raise AssertionError(f"git {' '.join(arguments)}: {out}{err}")
        return out

    def conflict(self, *arguments):
        code, out, err = self.run(["git", *arguments])
        if code == 0 or "CONFLICT" not in out + err:
            raise AssertionError(f"git {' '.join(arguments)} made no conflict: {out}{err}")

    def modlock(self, *arguments, code=0, directory=None, **variables):
        """stdout and stderr of a run that ends with `code`"""
        exit_code, out, err = self.run([BINARY, *arguments], directory, **variables)
        if exit_code != code:
            raise AssertionError(f"{' '.join(arguments)} exited with {exit_code}, not {code}:\n{out}{err}")
        return out + err

    def write(self, name, text):
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name=LOCK):
        return (self.work / name).read_text()

    def commit(self, message="change"):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)

    def source(self, name):
        return f"git::file://{self.directory}/{name}"

    def release(self, name, *versions):
        repository = self.directory / name
        if not repository.exists():
            repository.mkdir()
            self.git("init", "--quiet", directory=repository)
        for version in versions:
            (repository / "main.tf").write_text(f'output "version" {{\n  value = "{version}"\n}}\n')
            self.git("add", "--all", directory=repository)
            self.git("commit", "--quiet", "-m", version, directory=repository)
            self.git("tag", f"v{version}", directory=repository)

    def calls(self, constraints, root=""):
        """A configuration with one call for each name, and its constraint in the settings."""
        for name, constraint in constraints.items():
            self.write(f"{root}{name}.tf", call(name, self.source(name.rsplit("_", 1)[0])))
            rules = self.read_rules(root)
            rules[name] = constraint
            text = "".join(f'module "{key}" {{\n  version = "{value}"\n}}\n' for key, value in sorted(rules.items()))
            self.write(f"{root}.tofu-modlock.hcl", text)

    def read_rules(self, root=""):
        path = self.work / f"{root}.tofu-modlock.hcl"
        return dict(re.findall(r'module "(\S+)" {\n  version = "(.*)"', path.read_text())) if path.exists() else {}

    def locked(self, root="", name=LOCK):
        """Versions by key; a call without a version has its commit."""
        found = {}
        for key, body in re.findall(r'^module "(\S+)" {\n(.*?)^}', self.read(f"{root}{name}"), re.M | re.S):
            version = re.search(r'^  version\s*= "(.*)"', body, re.M) or re.search(r'"(git:[0-9a-f]{40})"', body)
            found[key] = version[1]
        return found

    def branches(self, ours, theirs):
        """Two branches of main with one commit each; `ours` stays checked out."""
        for name, work in (("theirs", theirs), ("ours", ours)):
            self.git("checkout", "--quiet", "-b", name, "main")
            work()
            self.commit(name)

    def bump(self, name, version):
        self.modlock("update", f"module.{name}={version}")


class Scenarios(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="modlock-team-")
        self.addCleanup(temporary.cleanup)
        self.team = Team(temporary.name)
        self.team.release("vpc", "1.0.0")
        self.team.release("dns", "2.0.0")

    def lock_both(self):
        """main with vpc 1.0.0 and dns 2.0.0, and newer versions of both that nobody has reviewed"""
        self.team.calls({"vpc": "~> 1.0", "dns": "~> 2.0"})
        self.team.modlock("lock")
        self.team.commit("main")
        self.team.release("vpc", "1.1.0", "1.2.0", "1.3.0")
        self.team.release("dns", "2.1.0")

    def fits(self):
        """The lock file answers the configuration, and nobody has to be asked for that."""
        self.team.modlock("lock", "--frozen", "--offline")

    # A monorepo

    def monorepo(self, count):
        for i in range(count):
            self.team.calls({"vpc": "~> 1.0"}, f"live/r{i:02}/")
            self.team.write(f"live/r{i:02}/net.tf", call("net", "../../modules/net"))
        self.team.write("modules/net/main.tf", call("dns", self.team.source("dns") + "?ref=v2.0.0"))

    def test_first_lock_of_a_monorepo(self):
        self.monorepo(3)
        self.team.modlock("lock", "--frozen", "--recursive", code=3)
        self.team.modlock("lock", "--recursive")
        for i in range(3):
            self.assertEqual(self.team.locked(f"live/r{i:02}/")["vpc"], "1.0.0")
        self.assertFalse((self.team.work / "modules/net" / LOCK).exists())
        self.team.commit()
        self.team.modlock("lock", "--frozen", "--recursive", "--offline")

    def test_new_root(self):
        self.monorepo(2)
        self.team.modlock("lock", "--recursive")
        self.team.commit()
        self.team.calls({"vpc": "~> 1.0"}, "live/new/")
        said = self.team.modlock("lock", "--frozen", "--recursive", code=3, CI="true")
        self.assertIn("live/new has no lock file.", said)
        self.assertIn("3 root modules: 2 ok, 1 failed (exit code 3).", said)
        self.team.modlock("lock", "live/new")
        self.team.modlock("lock", "--frozen", "--recursive", CI="true")

    def test_bump_in_thirty_roots(self):
        self.monorepo(30)
        self.team.modlock("lock", "--recursive")
        self.team.commit()
        self.team.release("vpc", "1.1.0")
        self.team.release("dns", "2.1.0")
        self.team.write("modules/net/main.tf", call("dns", self.team.source("dns") + "?ref=v2.1.0"))
        before = self.team.locked("live/r00/")["net.dns"]
        self.team.modlock("lock", "--recursive")
        for i in range(30):
            locked = self.team.locked(f"live/r{i:02}/")
            self.assertEqual(locked["vpc"], "1.0.0")
            self.assertNotEqual(locked["net.dns"], before)
        changed = self.team.git("diff", "--name-only").split()
        self.assertEqual(len(changed), 31)
        self.team.modlock("lock", "--frozen", "--recursive", "--offline")

    # Changes that come together

    def test_merge_of_two_new_calls(self):
        self.team.calls({"vpc": "~> 1.0"})
        self.team.modlock("lock")
        self.team.commit()
        self.team.branches(
            lambda: (self.team.calls({"dns_a": "2.0.0"}), self.team.modlock("lock")),
            lambda: (self.team.calls({"dns_b": "2.0.0"}), self.team.modlock("lock")),
        )
        self.team.release("vpc", "1.1.0")
        self.team.conflict("merge", "theirs")
        self.team.calls({"dns_a": "2.0.0", "dns_b": "2.0.0", "vpc": "~> 1.0"})
        self.team.modlock("lock", "--offline")
        self.assertEqual(self.team.locked(), {"dns_a": "2.0.0", "dns_b": "2.0.0", "vpc": "1.0.0"})
        self.fits()

    def upgrade(self, name, version):
        """What a colleague does to take a version: a constraint, a lock, and the old constraint again."""
        self.team.calls({name: version})
        self.team.modlock("lock")
        self.team.calls({name: "~> " + version[:1] + ".0"})
        self.team.modlock("lock")

    def both_upgrade_vpc(self):
        self.lock_both()
        self.team.branches(lambda: self.upgrade("vpc", "1.1.0"), lambda: self.upgrade("vpc", "1.2.0"))

    def takes_the_higher(self):
        said = self.team.modlock("lock")
        self.assertIn("both sides changed it", said)
        self.assertEqual(self.team.locked(), {"dns": "2.0.0", "vpc": "1.2.0"})
        self.fits()

    def test_merge_of_two_versions(self):
        self.both_upgrade_vpc()
        self.team.conflict("merge", "theirs")
        self.team.modlock("lock", "--frozen", code=8)
        self.takes_the_higher()

    def test_rebase(self):
        self.both_upgrade_vpc()
        self.team.git("checkout", "--quiet", "theirs")
        self.team.conflict("rebase", "ours")
        self.takes_the_higher()
        self.team.git("add", "--all")
        self.team.git("rebase", "--continue")
        self.assertEqual(self.team.git("status", "--porcelain"), "")

    def test_cherry_pick(self):
        self.both_upgrade_vpc()
        self.team.conflict("cherry-pick", "theirs")
        self.takes_the_higher()

    def test_stash(self):
        self.lock_both()
        self.upgrade("vpc", "1.2.0")
        self.team.git("stash", "--quiet")
        self.upgrade("vpc", "1.1.0")
        self.team.commit()
        self.team.conflict("stash", "pop")
        self.takes_the_higher()

    def test_revert(self):
        self.lock_both()
        self.upgrade("vpc", "1.2.0")
        self.team.commit("take 1.2.0")
        self.upgrade("vpc", "1.3.0")
        self.team.commit("take 1.3.0")
        self.team.conflict("revert", "--no-edit", "HEAD~1")
        self.team.modlock("lock")
        self.assertEqual(self.team.locked()["dns"], "2.0.0")
        self.fits()

    def test_checkout_of_one_side(self):
        self.lock_both()
        self.team.branches(
            lambda: (self.team.calls({"dns_a": "2.0.0"}), self.team.modlock("lock")),
            lambda: (self.team.calls({"dns_b": "2.0.0"}), self.team.modlock("lock")),
        )
        self.team.conflict("merge", "theirs")
        self.team.git("checkout", "--ours", LOCK)
        self.assertNotIn("dns_b", self.team.locked())
        self.team.calls({"dns_a": "2.0.0", "dns_b": "2.0.0", "dns": "~> 2.0", "vpc": "~> 1.0"})
        self.team.modlock("lock", "--offline")
        self.assertEqual(self.team.locked(), {"dns": "2.0.0", "dns_a": "2.0.0", "dns_b": "2.0.0", "vpc": "1.0.0"})

    def test_markers_that_were_committed(self):
        self.both_upgrade_vpc()
        self.team.conflict("merge", "theirs")
        self.team.commit("with markers")
        for command in (["lock", "--frozen"], ["install"], ["verify"]):
            self.assertIn("[LOCK_PARSE]", self.team.modlock(*command, code=8))
        self.takes_the_higher()

    def test_other_content_of_one_version(self):
        self.both_upgrade_vpc()
        self.upgrade("vpc", "1.2.0")
        text = self.team.read()
        at = text.index('"h1:', text.index('module "vpc"')) + 4
        self.team.write(LOCK, text[:at] + ("bbbb" if text[at : at + 4] != "bbbb" else "aaaa") + text[at + 4 :])
        self.team.commit("other content")
        self.team.conflict("merge", "theirs")
        before = self.team.read()
        self.assertIn("[HASH_MISMATCH]", self.team.modlock("lock", code=4))
        self.assertEqual(self.team.read(), before)

    def use_driver(self):
        self.team.write(".gitattributes", f"{LOCK} merge=tofu-modlock\n")
        self.team.git("config", "merge.tofu-modlock.driver", f"'{BINARY}' merge --marker-size %L %O %A %B")

    def test_merge_driver(self):
        self.use_driver()
        self.lock_both()
        self.team.branches(lambda: self.upgrade("vpc", "1.1.0"), lambda: self.upgrade("dns", "2.1.0"))
        self.team.git("merge", "--quiet", "--no-edit", "theirs")
        self.assertEqual(self.team.locked(), {"dns": "2.1.0", "vpc": "1.1.0"})
        self.fits()

    def test_merge_driver_with_a_conflict(self):
        self.use_driver()
        self.both_upgrade_vpc()
        self.team.conflict("merge", "theirs")
        self.takes_the_higher()

    # Calls that move

    def test_rename(self):
        self.lock_both()
        (self.team.work / "vpc.tf").unlink()
        self.team.write(".tofu-modlock.hcl", "")
        self.team.calls({"vpc_main": "~> 1.0", "dns": "~> 2.0"})
        self.team.modlock("lock", "--frozen", code=3)
        self.assertIn("renamed from module.vpc", self.team.modlock("lock", "--offline"))
        self.assertEqual(self.team.locked(), {"dns": "2.0.0", "vpc_main": "1.0.0"})

    def test_move_into_a_local_module(self):
        self.lock_both()
        (self.team.work / "vpc.tf").unlink()
        self.team.write("app.tf", call("app", "./app"))
        self.team.write("app/main.tf", call("vpc", self.team.source("vpc")))
        self.team.write(".tofu-modlock.hcl", "")
        self.team.calls({"dns": "~> 2.0"})
        self.team.write(".tofu-modlock.hcl", self.team.read(".tofu-modlock.hcl") + 'module "app.vpc" {\n  version = "~> 1.0"\n}\n')
        self.assertIn("renamed from module.vpc", self.team.modlock("lock", "--offline"))
        self.assertEqual(self.team.locked(), {"app.vpc": "1.0.0", "dns": "2.0.0"})

    def rename_vpc(self):
        (self.team.work / "vpc.tf").unlink()
        self.team.write(".tofu-modlock.hcl", "")
        self.team.calls({"dns": "~> 2.0", "vpc_main": "~> 1.0"})
        self.team.modlock("lock")

    def test_rename_on_one_side(self):
        self.lock_both()
        self.team.branches(self.rename_vpc, lambda: self.upgrade("dns", "2.1.0"))
        self.team.run(["git", "merge", "--no-edit", "theirs"])
        self.team.modlock("lock", "--offline")
        self.assertEqual(self.team.locked(), {"dns": "2.1.0", "vpc_main": "1.0.0"})
        self.fits()

    def test_rename_on_one_side_and_upgrade_on_the_other(self):
        self.lock_both()
        self.team.branches(self.rename_vpc, lambda: self.upgrade("vpc", "1.1.0"))
        self.team.run(["git", "merge", "--no-edit", "theirs"])
        self.team.git("checkout", "--ours", ".tofu-modlock.hcl")
        self.team.run(["git", "rm", "--quiet", "vpc.tf"])
        self.team.modlock("lock", "--offline")
        self.assertEqual(self.team.locked(), {"dns": "2.0.0", "vpc_main": "1.1.0"})
        self.fits()

    def test_squash_merge_and_checkout_of_one_side(self):
        self.both_upgrade_vpc()
        self.team.conflict("merge", "--squash", "theirs")
        self.team.git("checkout", "--ours", LOCK)
        self.takes_the_higher()

    # Colleagues and clones

    def drop_blocks(self):
        self.team.write(LOCK, "# A client wrote this.\n")
        self.team.commit("drop blocks")

    def test_colleague_without_the_tool(self):
        self.lock_both()
        before = self.team.locked()
        self.drop_blocks()
        self.team.modlock("lock", "--frozen", code=3)
        self.team.modlock("lock", "--offline")
        self.assertEqual(self.team.locked(), before)

    def test_merge_driver_with_a_colleague_without_the_tool(self):
        self.use_driver()
        self.lock_both()
        self.team.branches(lambda: self.upgrade("vpc", "1.1.0"), lambda: self.team.write(LOCK, "# A client wrote this.\n"))
        self.team.git("merge", "--quiet", "--no-edit", "theirs")
        self.assertEqual(self.team.locked(), {"dns": "2.0.0", "vpc": "1.1.0"})
        self.fits()

    def test_blocks_dropped_after_a_pull(self):
        self.lock_both()
        clone = self.team.directory / "clone"
        self.team.git("clone", "--quiet", str(self.team.work), str(clone))
        self.team.modlock("install", directory=clone)
        self.upgrade("vpc", "1.2.0")
        self.team.commit()
        self.team.git("pull", "--quiet", directory=clone)
        self.team.work = clone
        self.team.write(LOCK, "# A client wrote this.\n")
        self.team.modlock("lock", "--offline")
        self.assertEqual(self.team.locked(), {"dns": "2.0.0", "vpc": "1.2.0"})

    def test_shallow_clone(self):
        self.lock_both()
        before = self.team.locked()
        self.drop_blocks()
        clone = self.team.directory / "clone"
        self.team.git("clone", "--quiet", "--depth", "1", f"file://{self.team.work}", str(clone))
        self.assertIn("git fetch --unshallow", self.team.modlock("lock", code=3, directory=clone, CI="true"))
        self.team.git("fetch", "--quiet", "--unshallow", directory=clone)
        self.team.modlock("lock", "--offline", directory=clone)
        self.team.work = clone
        self.assertEqual(self.team.locked(), before)

    def test_pull_and_branch_switch(self):
        self.lock_both()
        self.team.modlock("install")
        self.team.git("checkout", "--quiet", "-b", "theirs")
        self.upgrade("vpc", "1.1.0")
        self.team.commit()
        said = self.team.modlock("verify", code=3)
        self.assertIn("stale     module.vpc  1.1.0  1.0.0 is installed, 1.1.0 is locked\n", said)
        self.team.modlock("install", "--offline")
        self.team.modlock("verify")
        self.team.git("checkout", "--quiet", "main")
        self.assertIn("1.1.0 is installed, 1.0.0 is locked", self.team.modlock("verify", code=3))
        self.team.modlock("install", "--offline")
        self.team.modlock("verify")

    def test_sidecar(self):
        self.team.write(".gitignore", ".terraform\n")
        self.team.calls({"vpc": "~> 1.0", "dns": "~> 2.0"})
        settings = 'module_lock_file = "sidecar"\n'
        self.team.write(".tofu-modlock.hcl", settings + self.team.read(".tofu-modlock.hcl"))
        self.team.modlock("lock")
        self.team.commit()
        self.team.release("vpc", "1.1.0", "1.2.0")
        self.team.branches(
            lambda: self.team.modlock("upgrade", "--target", "module.vpc"),
            lambda: self.team.modlock("update", "--include", "modules", "module.vpc=1.1.0"),
        )
        self.team.conflict("merge", "theirs")
        self.team.git("checkout", "--ours", ".tofu-modlock.hcl")
        self.team.modlock("lock")
        self.assertEqual(self.team.locked(name=".terraform.modules.lock.hcl"), {"dns": "2.0.0", "vpc": "1.2.0"})
        self.fits()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
