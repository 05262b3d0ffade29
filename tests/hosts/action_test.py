"""The steps of action.yml, run in a checkout, with a release on the loopback: action_test.py BINARY."""

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
from workflow_steps import read_steps, with_values  # noqa: E402

BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else None
VERSION = re.search(r"^project\(tofu-modlock VERSION ([0-9.]+)", (PROJECT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]

CALL = 'module "vpc" {{\n  source = "git::https://git.example.test/acme/vpc.git?ref=v{}"\n}}\n'

# In place of `ci`: prints its arguments, output of a client and a table, and exits with $CI_RESULT.
CI = """if [ "$1" = ci ]; then
  printf '<%s>' "$@"
  printf '\\nROOT of a client\\n'
  if [ "$CI_RESULT" != 0 ]; then
    printf 'Error: not locked [FROZEN]\\n  at main.tf:1:1\\n  hint: run lock\\n\\n' >&2
  fi
  printf 'ROOT      RESULT  HINT\\nlive      ok\\n1 root module: 1 ok.\\n'
  exit "$CI_RESULT"
fi
"""


class Runner:
    """A runner with a checkout of the branch "bot", on which a source changed without its lock file."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-action-"))
        self.checkout = self.directory / "checkout"
        self.releases = Releases()
        self.releases.publish(VERSION, f'#!/bin/sh\n{CI}exec {BINARY} "$@"\n')
        for name in ("home", "temp", "checkout", "tmp"):
            (self.directory / name).mkdir()
        vpc = self.directory / "vpc.git"
        (self.directory / "home/.gitconfig").write_text(
            f'[user]\n\tname = user\n\temail = user@example.test\n[init]\n\tdefaultBranch = main\n'
            f'[url "file://{vpc}"]\n\tinsteadOf = https://git.example.test/acme/vpc.git\n')
        self.environment = {
            "HOME": str(self.directory / "home"), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1",
            "TMPDIR": str(self.directory / "tmp"), "RUNNER_TEMP": str(self.directory / "temp"),
            "GITHUB_ACTION_PATH": str(PROJECT), "GITHUB_STEP_SUMMARY": str(self.directory / "summary"),
            "GITHUB_PATH": str(self.directory / "path"), "TOFU_MODLOCK_CACHE_DIR": str(self.directory / "cache"), "CI_RESULT": "0"}
        self.git("init", "-q", str(vpc))
        for version in ("1.0.0", "1.1.0"):
            (vpc / "main.tf").write_text(f'output "version" {{\n  value = "{version}"\n}}\n')
            self.git("-C", str(vpc), "add", "-A")
            self.git("-C", str(vpc), "commit", "-q", "-m", version)
            self.git("-C", str(vpc), "tag", f"v{version}")
        self.git("init", "-q", "--bare", "../infra.git")
        self.git("clone", "-q", "../infra.git", ".")
        self.write(".gitignore", ".terraform\n")
        for root in ("live [1]", "other"):
            self.write(f"{root}/main.tf", CALL.format("1.0.0"))
            subprocess.run([BINARY, "lock", "--chdir", root], cwd=self.checkout, env=self.environment, check=True,
                           capture_output=True)
        self.commit("first")
        self.git("push", "-q", "origin", "main")
        self.git("checkout", "-q", "-b", "bot")
        self.write("live [1]/main.tf", CALL.format("1.1.0"))
        self.commit("Bump vpc")
        self.git("push", "-q", "origin", "bot")

    def remove(self):
        self.releases.stop()
        shutil.rmtree(self.directory)

    def write(self, name, text):
        path = self.checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *arguments):
        ran = subprocess.run(["git", *arguments], cwd=self.checkout, env=self.environment, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise AssertionError(ran.stderr)
        return ran.stdout

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def on_server(self):
        """The subject and the files of each commit of the branch on the server."""
        return self.git("-C", "../infra.git", "log", "--name-only", "--format=%s", "main..bot")

    def run(self, **inputs):
        """Every step whose condition holds, up to the first that fails: (exit code, output, errors, the summary)."""
        inputs = {"mode": "ci", "args": "", "client": "", "base": "", "since": "origin/main", "version": "", "releases": self.releases.address} | inputs
        conditions = {"inputs.mode == 'ci'": inputs["mode"] == "ci", "inputs.mode == 'update'": inputs["mode"] == "update",
                      "inputs.mode != 'ci' && inputs.mode != 'update'": inputs["mode"] not in ("ci", "update")}
        values = {f"inputs.{name}": value for name, value in inputs.items()}
        values |= {"github.server_url": "https://git.example.test", "github.token": "token",
                   "github.action_repository || github.repository": "acme/tofu-modlock"}
        for name in ("summary", "path"):
            (self.directory / name).write_text("")
        out = err = ""
        code = 0
        for step in read_steps("action.yml"):
            if code != 0 or "run" not in step or not ("if" not in step or conditions[step["if"]]):
                continue
            script = self.directory / "step"
            script.write_text(step["run"])
            environment = dict(self.environment)
            added = (self.directory / "path").read_text().splitlines()
            environment["PATH"] = ":".join([*reversed(added), environment["PATH"]])
            environment |= {name: with_values(value, values) for name, value in step.get("env", {}).items()}
            ran = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.checkout, env=environment,
                                 capture_output=True, text=True, check=False)
            code, out, err = ran.returncode, out + ran.stdout, err + ran.stderr
        return code, out, err, (self.directory / "summary").read_text()


class Action(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.prepared = Runner()

    @classmethod
    def tearDownClass(cls):
        cls.prepared.remove()

    def setUp(self):
        self.runner = self.prepared
        self.runner.environment["CI_RESULT"] = "0"
        self.runner.git("checkout", "-q", "-f", "-B", "bot", "origin/main")
        self.runner.git("clean", "-q", "-ffdx")
        self.runner.write("live [1]/main.tf", CALL.format("1.1.0"))
        self.runner.commit("Bump vpc")
        self.runner.git("push", "-q", "-f", "origin", "bot")
        self.runner.releases.publish(VERSION, f'#!/bin/sh\n{CI}exec {BINARY} "$@"\n')
        self.runner.releases.requests.clear()
        shutil.rmtree(self.runner.directory / "temp")
        (self.runner.directory / "temp").mkdir()

    def test_the_base_is_passed_and_fetched(self):
        self.assertNotIn("--base", self.runner.run()[1])
        self.assertIn("<ci><--recursive><--base=origin/main><--><tofu><init>", self.runner.run(base="origin/main", client="tofu init")[1])
        target = self.runner.git("-C", "../infra.git", "commit-tree", "-m", "Target", "main^{tree}").strip()
        self.runner.git("-C", "../infra.git", "update-ref", "refs/heads/target", target)
        self.assertIn(f"<--base={target}>", self.runner.run(base=target)[1])
        self.runner.git("cat-file", "-e", target)  # a shallow checkout did not have it
        self.assertIn(f"<--base={'0' * 40}>", self.runner.run(base="0" * 40)[1])  # ci explains what is missing

    def test_the_release_of_its_own_reference_is_installed(self):
        code, out, err, _ = self.runner.run()
        self.assertEqual(code, 0, err)
        self.assertIn(f"checksum: verified, tofu-modlock-{VERSION}-", out)
        self.assertNotIn("PATH", out.replace(f"{self.runner.directory}", ""))
        self.assertEqual({request.split("/")[2] for request in self.runner.releases.requests}, {f"v{VERSION}"})

    def test_another_version(self):
        self.runner.releases.publish("9.8.7")
        code, out, err, _ = self.runner.run(version="9.8.7")
        self.assertEqual(code, 0, err)
        self.assertIn("9.8.7\n", out)

    def test_without_a_mirror_the_releases_are_those_of_the_action(self):
        tools = self.runner.directory / "tools"
        tools.mkdir()
        self.addCleanup(shutil.rmtree, tools)
        (tools / "curl").write_text('#!/bin/sh\nfor last; do :; done\necho "address $last" >&2\nexit 6\n')
        (tools / "curl").chmod(0o755)
        path = self.runner.environment["PATH"]
        self.addCleanup(self.runner.environment.update, {"PATH": path})
        self.runner.environment["PATH"] = f"{tools}:{path}"
        code, _, err, _ = self.runner.run(releases="")
        self.assertEqual(code, 1)
        self.assertIn(f"address https://git.example.test/acme/tofu-modlock/releases/download/v{VERSION}/SHA256SUMS", err)

    def test_a_tampered_release_stops_the_job(self):
        path = self.runner.releases.file(VERSION)
        path.write_bytes(path.read_bytes()[:-1] + b"!")
        for mode in ("ci", "update"):
            with self.subTest(mode):
                before = self.runner.on_server()
                code, out, err, summary = self.runner.run(mode=mode)
                self.assertRegex(out, "^downloading: [^\n]*\n$")
                self.assertEqual((code, summary), (1, ""))
                self.assertIn("has the checksum", err)
                self.assertEqual(list((self.runner.directory / "temp").iterdir()), [])
                self.assertEqual(self.runner.on_server(), before)

    def test_ci_arguments(self):
        rows = [
            ("the default", {}, "<ci><--recursive>"),
            ("a client", {"client": "tofu init -backend=false"}, "<ci><--recursive><--><tofu><init><-backend=false>"),
            ("arguments", {"args": "live/app\nlive/new\n"}, "<ci><live/app><live/new>"),
            ("both", {"args": "live", "client": "terraform  init"}, "<ci><live><--><terraform><init>"),
            ("characters of the shell", {"args": "$(touch ran) * ;", "client": "`id`"}, "<ci><$(touch><ran)><*><;><--><`id`>"),
        ]
        for name, inputs, expected in rows:
            with self.subTest(name):
                code, out, err, _ = self.runner.run(**inputs)
                self.assertEqual(code, 0, err)
                self.assertIn(f"\n{expected}\n", out)
                self.assertFalse((self.runner.checkout / "ran").exists())

    def test_ci_summary_and_exit_code(self):
        table = "    ROOT      RESULT  HINT\n    live      ok\n    1 root module: 1 ok.\n"
        self.assertEqual(self.runner.run()[3], f"## Lock files: verified\n\n{table}")
        self.runner.environment["CI_RESULT"] = "3"
        code, _, _, summary = self.runner.run()
        self.assertEqual(code, 3)
        self.assertEqual(summary, "## Lock files: failed (exit code 3)\n\n    Error: not locked [FROZEN]\n      at main.tf:1:1\n"
                                  f"      hint: run lock\n    \n{table}")

    def test_ci_summary_cannot_be_left_by_text_of_a_client(self):
        hostile = "Error: gr\\303\\266\\303\\237e \\347\\275\\221\\r# b <img src=x>\\r\\n  \\342\\200\\256c\\342\\201\\246d\\033[31m\\013# e\\n"
        ci = CI.replace("printf '\\nROOT of", f"printf '\\n{hostile}ROOT of")
        self.runner.releases.publish(VERSION, f'#!/bin/sh\n{ci}exec {BINARY} "$@"\n')
        self.runner.environment["CI_RESULT"] = "3"
        _, _, _, summary = self.runner.run()
        self.assertIn("\n    Error: größe 网 # b <img src=x> \n      ?c?d [31m # e\n    Error: not locked", summary)
        self.assertEqual(summary.splitlines(), summary.rstrip("\n").split("\n"))
        self.assertEqual([line for line in summary.split("\n")[2:] if line and not line.startswith("    ")], [])

    def test_hooks_of_the_repository_do_not_run(self):
        for hook in ("pre-commit", "commit-msg", "post-commit", "pre-push"):
            self.runner.write(f".husky/{hook}", f"#!/bin/sh\ntouch {self.runner.directory}/ran\n")
            (self.runner.checkout / ".husky" / hook).chmod(0o755)
        self.runner.git("config", "core.hooksPath", ".husky")
        self.addCleanup(self.runner.git, "config", "--unset", "core.hooksPath")
        code, _, err, _ = self.runner.run(mode="update")
        self.assertEqual(code, 0, err)
        self.assertIn("Update the lock files", self.runner.on_server())
        self.assertFalse((self.runner.directory / "ran").exists())

    def test_ci_of_the_program(self):
        if subprocess.run([BINARY, "ci", "--help"], capture_output=True, check=False).returncode != 0:
            self.skipTest("the program has no command ci")
        self.runner.releases.publish(VERSION, f'#!/bin/sh\nexec {BINARY} "$@"\n')
        code, out, err, summary = self.runner.run()
        self.assertEqual(code, 3, out + err)
        self.assertTrue(summary.startswith("## Lock files: failed (exit code 3)\n\n    "), summary)
        self.assertIn("    ROOT ", summary)
        self.assertIn("[FROZEN]", summary)
        self.runner.git("checkout", "-q", "origin/main", "--", "live [1]")
        code, out, err, summary = self.runner.run()
        self.assertEqual(code, 0, out + err)
        self.assertTrue(summary.startswith("## Lock files: verified\n\n    ROOT "), summary)

    def test_the_workflow_that_init_writes_runs_the_action(self):
        """A build of a developer names no repository; one of the release workflow does, and differs in no other line."""
        repository = self.runner.directory / "init"
        repository.mkdir()
        self.addCleanup(shutil.rmtree, repository)
        subprocess.run(["git", "init", "-q"], cwd=repository, env=self.runner.environment, check=True)
        ran = subprocess.run([BINARY, "init", "--ci", "github"], cwd=repository, env=self.runner.environment, capture_output=True,
                             text=True, check=True)
        written = (repository / ".github/workflows/tofu-modlock.yml").read_text()
        self.assertEqual(written, (PROJECT / "scripts/init/github.yml").read_text())
        self.assertIn("  Next: replace OWNER in the file with the account that publishes tofu-modlock; ", ran.stdout)
        script = repository / "release.cmake"
        script.write_text(f'include({PROJECT}/plugin/cli/github_workflow.cmake)\n'
                          f'modlock_github_workflow(text {PROJECT}/scripts/init/github.yml acme/tofu-modlock {VERSION})\n'
                          f'file(WRITE {repository}/released.yml "${{text}}")\n')
        subprocess.run(["cmake", "-P", script], check=True)
        released = (repository / "released.yml").read_text()
        self.assertEqual([(was, now) for was, now in zip(written.splitlines(), released.splitlines(), strict=True) if was != now], [
            ("      - uses: OWNER/tofu-modlock@v0.3.0    # replace OWNER with the account that publishes it",
             f"      - uses: acme/tofu-modlock@v{VERSION}")])
        steps = read_steps(repository / "released.yml", "lock-files")
        self.assertEqual([step["uses"] for step in steps],
                         ["actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1",
                          "opentofu/setup-opentofu@a1320f892987e89d278cc92dc5adc984fb93aca4", f"acme/tofu-modlock@v{VERSION}"])
        code, out, err, _ = self.runner.run(**steps[-1]["with"])
        self.assertEqual(code, 0, err)
        self.assertIn("\n<ci><--recursive><--><tofu><init><-backend=false>\n", out)

    def test_update_pushes_only_the_lock_files(self):
        self.runner.write("live [1]/main.tf", CALL.format("1.1.0") + "# not committed\n")
        self.runner.write("new.txt", "")
        self.runner.write("staged.txt", "")
        self.runner.git("add", "staged.txt")
        code, _, err, summary = self.runner.run(mode="update")
        self.assertEqual(code, 0, err)
        pushed = "Update the lock files\n\nlive [1]/.terraform.lock.hcl\nBump vpc\n\nlive [1]/main.tf\n"
        self.assertEqual(self.runner.on_server(), pushed)
        self.assertEqual(self.runner.git("log", "-1", "--format=%an <%ae>%n%b"),
                         "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>\n[dependabot skip]\n\n")
        self.assertIn("## Lock files\n\n| Subject | Change | From | To |", summary)
        self.assertIn("| `module.vpc` | source-changed | `v1.0.0 ", summary)
        self.assertIn("### `module.vpc`: `v1.0.0 ", summary)
        code, _, err, summary = self.runner.run(mode="update")
        self.assertEqual((code, summary), (0, "## Lock files\n\nNo lock file was changed.\n"), err)
        self.assertEqual(self.runner.on_server(), pushed)

    def test_update_passes_its_arguments(self):
        code, _, err, _ = self.runner.run(mode="update", args="--no-such-flag")
        self.assertEqual(code, 2)
        self.assertIn("--no-such-flag", err)

    def test_a_failed_update_pushes_nothing(self):
        self.runner.write("other/main.tf", "module {")
        before = self.runner.on_server()
        code, _, err, _ = self.runner.run(mode="update")
        self.assertEqual(code, 8, err)
        self.assertIn("[CONFIG_PARSE]", err)
        self.assertEqual(self.runner.on_server(), before)

    def test_doubt_fails(self):
        before = self.runner.on_server()
        code, out, err, _ = self.runner.run(mode="check")
        self.assertEqual((code, out, err), (2, "", 'mode: expected "ci" or "update"\n'))
        # On the event "push", the default of `since` has no branch.
        code, _, err, _ = self.runner.run(mode="update", since="origin/")
        self.assertEqual(code, 2)
        self.assertIn("cannot find where the branch started from origin/", err)
        self.runner.git("checkout", "-q", "--detach")
        code, _, err, _ = self.runner.run(mode="update")
        self.assertEqual(code, 2)
        self.assertIn("no branch is checked out", err)
        self.assertEqual(self.runner.on_server(), before)

    def test_the_cache_has_a_key_of_both_lock_files(self):
        steps = read_steps("action.yml")
        cache = [step for step in steps if "uses" in step]
        self.assertEqual([step["uses"] for step in cache], ["actions/cache@27d5ce7f107fe9357f9df03efb73ab90386fccae"])
        self.assertIn("**/.terraform.lock.hcl', '**/.terraform.modules.lock.hcl", cache[0]["with"]["key"])
        # A run for a pull request saves nothing that a run for a branch restores.
        self.assertEqual(cache[0]["with"]["key"].partition("-${{ hashFiles")[0], "tofu-modlock-${{ github.event_name }}")
        self.assertEqual(cache[0]["with"]["restore-keys"], "tofu-modlock-${{ github.event_name }}-\ntofu-modlock-push-\n")
        # Nothing that a pull request can choose becomes part of a script.
        self.assertEqual([step["name"] for step in steps if "${{" in step.get("run", "")], [])


if __name__ == "__main__":
    unittest.main()
