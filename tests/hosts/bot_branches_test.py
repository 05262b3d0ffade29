"""Bots in ordinary use, and in checkouts with links, in real git repositories: bot_branches_test.py BINARY.

lock_bot_test.cpp and bot_jobs_test.cpp have the other cases, with registries and git servers.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else None
PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent
BRANCH = "tofu-modlock/updates"


class Bots(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="modlock-bots-")
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(os.path.realpath(directory.name))
        (self.directory / "home").mkdir()
        self.environment = {"HOME": f"{self.directory}/home", "PATH": f"{self.directory}/bin:{os.environ['PATH']}",
                            "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1", "TOFU_MODLOCK_IMPLEMENTATION": "opentofu"}
        (self.directory / "home/.gitconfig").write_text(
            "[user]\n\tname = bot\n\temail = bot@example.test\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
        self.module = self.directory / "vpc"
        self.git(self.directory, "init", "-q", "vpc")
        for version in ("v1.0.0", "v1.1.0"):
            (self.module / "main.tf").write_text(f'output "version" {{\n  value = "{version}"\n}}\n')
            self.commit(self.module, version)
            self.git(self.module, "tag", version)

    def run_program(self, *command, cwd=None, environment=None):
        return subprocess.run(command, cwd=cwd or self.directory, env=self.environment | (environment or {}), capture_output=True,
                              encoding="utf-8", stdin=subprocess.DEVNULL, check=False)

    def git(self, directory, *arguments):
        ran = self.run_program("git", "-C", str(directory), *arguments)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout.strip()

    def commit(self, directory, text):
        self.git(directory, "add", "-A")
        self.git(directory, "commit", "-q", "--allow-empty", "-m", text)

    def call(self):
        return f'module "vpc" {{\n  source = "git::file://{self.module}?ref=v1.0.0"\n}}\n'

    def make(self, name, files, roots=(".",)):
        """A repository in repositories/, with a lock file in each root module."""
        made = self.directory / "repositories" / name
        for file, text in {".gitignore": ".terraform/\n", **files}.items():
            (made / file).parent.mkdir(parents=True, exist_ok=True)
            (made / file).write_text(text)
        self.git(made, "init", "-q")
        for root in roots:
            ran = self.run_program(BINARY, "lock", "--chdir", str(made / root))
            self.assertEqual(ran.returncode, 0, ran.stderr)
        self.commit(made, "first")
        return made

    def bot(self, place, *options, cwd=None, environment=None):
        return self.run_program(sys.executable, str(PROJECT / "scripts/lock-bot"), "--binary", BINARY, *options, str(place),
                                cwd=cwd, environment=environment)

    def test_the_branch_of_an_earlier_run_is_replaced(self):
        behind = "git commit -q --allow-empty -m next; {bot}; git checkout -q -b feature HEAD~1"
        for name, commands in (("the base is behind", behind),
                               ("the base was amended", "{bot}; git commit -q --amend -m amended")):
            with self.subTest(name):
                made = self.make(name.replace(" ", "-"), {"main.tf": self.call()})
                bot = f"'{sys.executable}' '{PROJECT}/scripts/lock-bot' --binary '{BINARY}' ."
                prepared = self.run_program("sh", "-ec", commands.format(bot=bot), cwd=made)
                self.assertEqual(prepared.returncode, 0, prepared.stderr)
                self.git(made, "commit", "-q", "--allow-empty", "-m", "moves the base")
                ran = self.bot(made)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                self.assertEqual(self.git(made, "rev-parse", f"{BRANCH}^"), self.git(made, "rev-parse", "HEAD"))

    def test_in_a_shallow_clone(self):
        made = self.make("full", {"main.tf": self.call()})
        self.assertEqual(self.bot(made).returncode, 0)
        self.commit(made, "moves the base")
        for name, person, code in (("own", False, 0), ("foreign", True, 1)):
            with self.subTest(name):
                if person:
                    self.git(made, "checkout", "-q", BRANCH)
                    self.commit(made, "theirs")
                    self.git(made, "checkout", "-q", "main")
                clone = self.directory / name
                self.git(self.directory, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{made}", str(clone))
                ran = self.bot(clone)
                self.assertEqual(ran.returncode, code, ran.stderr)
                self.assertEqual("which this bot did not make" in ran.stderr, person, ran.stderr)

    def test_a_shared_module_updates_all_root_modules(self):
        files = {f"{root}/main.tf": 'module "net" {\n  source = "../net"\n}\n' for root in "abc"}
        made = self.make("shared", {**files, "net/main.tf": self.call()}, roots="abc")
        other = self.make("apart", {f"{root}/main.tf": self.call() for root in "ab"}, roots="ab")
        ran = self.bot(self.directory / "repositories")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("too: `b/.terraform.lock.hcl` `c/.terraform.lock.hcl`\n", ran.stdout)
        self.assertEqual(ran.stdout.count("Other root modules"), 1)
        self.assertEqual(self.git(made, "rev-list", "--count", f"main..{BRANCH}"), "1")
        self.assertEqual(self.git(other, "rev-list", "--count", f"main..{BRANCH}"), "2")
        for repository in (made, other):
            self.git(repository, "checkout", "-q", BRANCH)
            frozen = self.run_program(BINARY, "lock", "--frozen", "--recursive", cwd=repository)
            self.assertEqual(frozen.returncode, 0, frozen.stderr)

    def test_the_current_directory_has_a_name(self):
        made = self.make("infra", {"main.tf": self.call()})
        ran = self.bot(".", "--summaries", str(self.directory / "summaries"), cwd=made)
        self.assertEqual((ran.returncode, ran.stdout), (0, f"infra: {BRANCH}\n"), ran.stderr)
        self.assertTrue((self.directory / "summaries/infra.md").is_file())

    def test_in_a_hook_of_another_repository(self):
        made = self.make("infra", {"main.tf": self.call()})
        self.git(self.directory, "init", "-q", "other")
        self.commit(self.directory / "other", "first")
        other = str(self.directory / "other/.git")
        for name, value in (("GIT_DIR", other), ("GIT_WORK_TREE", str(self.directory / "other")), ("GIT_INDEX_FILE", f"{other}/index"),
                            ("GIT_OBJECT_DIRECTORY", f"{other}/objects")):
            with self.subTest(name):
                ran = self.bot(made, environment={name: value})
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                self.assertEqual(self.git(made, "for-each-ref", "--format=%(refname:short)", "refs/heads"),
                                 f"main\n{BRANCH}")
                self.git(made, "branch", "-q", "-D", BRANCH)
                self.assertEqual(self.git(self.directory / "other", "status", "--porcelain"), "")

    def test_a_summary_that_cannot_be_written_stops_no_other_one(self):
        for name in ("a", "b"):
            self.make(name, {"main.tf": self.call()})
        (self.directory / "summaries/a.md").mkdir(parents=True)
        ran = self.bot(self.directory / "repositories", "--summaries", str(self.directory / "summaries"))
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertTrue(ran.stderr.startswith("a: the summary cannot be written: "), ran.stderr)
        self.assertEqual(ran.stdout, f"b: {BRANCH}\n")

    def test_an_output_that_is_not_utf8(self):
        self.make("a", {"main.tf": self.call()})
        ran = self.bot(self.directory / "repositories", environment={"PYTHONIOENCODING": "ascii"})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("\\u2192", ran.stdout)  # the arrow between two versions

    def test_the_job_of_gitlab_writes_through_no_link(self):
        lines = (PROJECT / "scripts/gitlab/tofu-modlock.yml").read_text().splitlines()
        script = "\n".join(line[6:] for line in lines[lines.index("    - |") + 1:])
        (self.directory / "bin").mkdir()
        (self.directory / "bin/tofu-modlock").write_text("#!/bin/sh\necho text of a module\n")
        (self.directory / "bin/tofu-modlock").chmod(0o755)
        victim = self.directory / "victim"
        for name in ("a file", "nothing"):
            with self.subTest(name):
                checkout = self.directory / name
                self.git(self.directory, "init", "-q", str(checkout))
                victim.unlink(missing_ok=True)
                if name == "a file":
                    victim.write_text("mine\n")
                (checkout / "tofu-modlock.md").symlink_to(victim)
                ran = self.run_program("sh", "-ec", script, cwd=checkout, environment={"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD"})
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertEqual(victim.read_text() if victim.exists() else None, "mine\n" if name == "a file" else None)
                self.assertEqual((checkout / "tofu-modlock.md").read_text(), "## Lock files\n\ntext of a module\n")


if __name__ == "__main__":
    unittest.main()
