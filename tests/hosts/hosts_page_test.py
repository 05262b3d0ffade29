"""The blocks of docs/hosts.md, each with the user, home, checkout, PATH and variables of its host: hosts_page_test.py BINARY.

Each host has a root file system of its own, with a real client. The places of a host are from its documentation or its
source. EmptyRunner prints the seconds of `ci` with an empty cache.
"""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
HERE = pathlib.Path(__file__).resolve().parent
for place in (HERE, HERE.parent / "docs", HERE.parent / "bench"):
    sys.path.insert(0, str(place))
import bare_root  # noqa: E402
import blocks  # noqa: E402
import git_server  # noqa: E402
import git_tree  # noqa: E402
import page_yaml  # noqa: E402
import servers  # noqa: E402

BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else None
PAGE = (HERE.parent.parent / "docs/hosts.md").read_text(encoding="utf-8")
CLIENT = shutil.which("tofu") or shutil.which("terraform")
MODULE = 'output "version" {{\n  value = "{}"\n}}\n'
ROOT = """module "network" {
  source = "git::https://git.example.test/network.git?ref=main"
}
output "version" {
  value = module.network.version
}
"""
MORE = 'module "more" {\n  source = "git::https://git.example.test/network.git?ref=v1.0.0"\n}\n'


def section(heading):
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


def block(heading, language, number=0):
    found = [b for b in blocks.read_blocks(section(heading)) if b.language == language]
    return "\n".join(found[number].lines) + "\n"


def recipe_variables():
    variables = dict(line.split("=", 1) for line in block("The recipe", "ini").splitlines())
    if pathlib.Path(CLIENT).name == "terraform":
        variables["TOFU_MODLOCK_IMPLEMENTATION"] = "terraform"
    return variables


class Failed(Exception):
    """A command of a host failed, so the host runs no more of them."""


class Host:
    """A runner. `home` is writable, read-only, or None; the checkout is at `checkout`, and belongs to `owner`."""

    def __init__(self, scene, user, checkout, home="/home/runner", owner=None, home_is_writable=True, read_only=False,
                 variables=None, path="/usr/local/sbin:/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin", client="tofu"):
        self.scene, self.user, self.checkout = scene, user, checkout
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="host-", dir=scene.directory))
        self.directory.chmod(0o755)
        self.source = self.directory / "checkout"
        shutil.copytree(scene.checkout, self.source, symlinks=True, ignore=shutil.ignore_patterns(".terraform"))
        for name in ("tmp", "home", "opt", "log"):
            (self.directory / name).mkdir()
        for name in ("tmp", "log"):
            (self.directory / name).chmod(0o1777)
        if home_is_writable:
            os.chown(self.directory / "home", user, user)
        self.own(user if owner is None else owner)
        self.clear_log()
        # The client that logs its arguments.
        stand_in = self.directory / "opt" / client
        stand_in.write_text('#!/bin/sh\nprintf "%s [%s]\\n" "$*" "${TF_CLI_ARGS_init-}" >>/log/client\nexec /client/real "$@"\n')
        stand_in.chmod(0o755)
        (self.directory / "opt/tofu-modlock").symlink_to("/modlock/tofu-modlock")
        binds, links = bare_root.system_binds()
        binds |= {"/modlock/tofu-modlock": BINARY, "/client/real": os.path.realpath(scene.client),
                  "/opt/bin": self.directory / "opt", "/log": self.directory / "log", "/tmp": self.directory / "tmp",
                  "/authority.pem": scene.authority}
        (self.directory / "passwd").write_text(f"root:x:0:0::/root:/bin/sh\nrunner:x:{user}:{user}::{home}:/bin/sh\n" if home
                                               else "root:x:0:0::/root:/bin/sh\n")
        binds["/etc/passwd"] = self.directory / "passwd"
        if home:
            binds[home] = self.directory / "home"
        binds[checkout] = self.source  # which may be in the home
        self.root = bare_root.Root(self.directory / "root", binds, links, read_only)
        self.variables = scene.network | {"PATH": path, "CHECKPOINT_DISABLE": "1"} | (variables or {})
        if home:
            self.variables["HOME"] = home

    def own(self, owner):
        """All files get the owner; the user of another one may still write the directories of the root module."""
        for path in [self.source, *self.source.rglob("*")]:
            os.lchown(path, owner, owner)
        if owner != self.user:
            (self.source / "live/app").chmod(0o777)

    def clear_log(self):
        log = self.directory / "log/client"
        log.write_text("")
        log.chmod(0o666)

    def client_runs(self):
        """The command of each run of the client, except questions for its version; `init` with the variable of the recipe."""
        runs = [line.split() for line in (self.directory / "log/client").read_text().splitlines()]
        names = [next(word for word in words if not word.startswith("-chdir=")) for words in runs]
        return [f"init {words[-1]}" if name == "init" else name for name, words in zip(names, runs)
                if name not in ("version", "-version")]

    def run(self, command, variables=None, directory="live/app", exits=(0,), shell=("sh", "-c")):
        ran = self.root.run([*shell, command], self.user, self.variables | (variables or {}), f"{self.checkout}/{directory}", timeout=60)
        output = re.sub(r"\x1b\[\d*m", "", ran.stdout)
        if ran.returncode not in exits:
            raise Failed(f"{command}: exit code {ran.returncode}\n{output}")
        return output


@unittest.skipIf(bare_root.missing(), bare_root.missing())
@unittest.skipUnless(CLIENT, "needs tofu or terraform")
@unittest.skipUnless(shutil.which("openssl"), "needs openssl")
class Hosts(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-hosts-"))
        cls.directory.chmod(0o755)
        cls.client = CLIENT
        cls.implementation = "terraform" if pathlib.Path(CLIENT).name == "terraform" else "opentofu"
        (cls.directory / "repositories").mkdir()
        cls.servers = servers.Servers(cls.directory / "servers")
        cls.network = cls.servers.environment(cls.directory / "repositories")
        cls.authority = cls.network["SSL_CERT_FILE"]
        cls.environment = os.environ | cls.network | {
            "HOME": str(cls.directory), "GIT_CONFIG_NOSYSTEM": "1", "TOFU_MODLOCK_IMPLEMENTATION": cls.implementation,
            "TOFU_MODLOCK_CACHE_DIR": str(cls.directory / "cache")}
        cls.network = cls.network | {"SSL_CERT_FILE": "/authority.pem", "GIT_SSL_CAINFO": "/authority.pem"}
        (cls.directory / ".gitconfig").write_text("[user]\n\tname = user\n\temail = user@example.test\n[init]\n\tdefaultBranch = main\n")
        cls.work = cls.directory / "network"
        cls.program("git", "init", "-q", str(cls.work))
        cls.program("git", "init", "-q", "--bare", str(cls.directory / "repositories/network.git"))
        cls.release("locked", "v1.0.0")
        cls.checkout = cls.directory / "checkout"
        (cls.checkout / "live/app").mkdir(parents=True)
        (cls.checkout / ".gitignore").write_text(".terraform\n")
        (cls.checkout / ".tofu-modlock.hcl").write_text(f'module_lock_file = "sidecar"\nimplementation = "{cls.implementation}"\n')
        (cls.checkout / "live/app/main.tf").write_text(ROOT)
        cls.program("git", "init", "-q", cwd=cls.checkout)
        cls.program(BINARY, "lock", "--recursive", cwd=cls.checkout)
        cls.program("git", "add", "-A", cwd=cls.checkout)
        cls.program("git", "commit", "-q", "-m", "Lock modules", cwd=cls.checkout)
        cls.release("moved", "v2.0.0")

    @classmethod
    def tearDownClass(cls):
        cls.servers.stop()
        shutil.rmtree(cls.directory)

    @classmethod
    def program(cls, *command, cwd=None):
        ran = subprocess.run(command, cwd=cwd, env=cls.environment, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            raise AssertionError(f"{command}: {ran.stdout}{ran.stderr}")
        return ran.stdout

    @classmethod
    def release(cls, text, tag):
        (cls.work / "main.tf").write_text(MODULE.format(text))
        for command in (["add", "-A"], ["commit", "-q", "-m", tag], ["tag", tag],
                        ["push", "-q", "--tags", str(cls.directory / "repositories/network.git"), "main"]):
            cls.program("git", "-C", str(cls.work), *command)

    def check(self, run, client_runs, **host):
        """`run(host)` plans with the locked commit; with a call that is not locked, it fails before the client runs."""
        runner = Host(self, **host)
        output = run(runner)
        self.assertIn('+ version = "locked"', output)
        self.assertEqual(runner.client_runs(), ["init [-get=false]" if name == "init" else name for name in client_runs])
        runner = Host(self, **host)
        with open(runner.source / "live/app/main.tf", "a") as file:
            file.write(MORE)
        with self.assertRaises(Failed) as failed:
            run(runner)
        self.assertIn("[FROZEN]", str(failed.exception))
        self.assertEqual(runner.client_runs(), [])
        return Host(self, **host)

    def test_the_recipe_holds_under_upgrade(self):
        host = Host(self, 1000, "/checkout")
        variables = recipe_variables()
        host.run(block("The recipe", "sh"), variables)
        host.run("tofu init -input=false -upgrade", variables)
        self.assertIn('"locked"', host.run("tofu plan", variables))

    def test_without_the_variable_upgrade_selects_another_commit(self):
        host = Host(self, 1000, "/checkout")
        host.run(block("The recipe", "sh"))
        host.run("tofu init -input=false -upgrade")
        self.assertIn('"moved"', host.run("tofu plan"))

    def test_with_the_variable_a_run_without_the_command_fails(self):
        host = Host(self, 1000, "/checkout")
        with self.assertRaises(Failed) as failed:
            host.run("tofu init -input=false && tofu plan", recipe_variables())
        self.assertIn("odule not installed", str(failed.exception))

    def test_atlantis(self):
        """RunStepRunner and InitStepRunner of Atlantis; the user and the home of its images."""
        server = page_yaml.read(block("Atlantis", "yaml"))
        self.assertEqual([repository["id"] for repository in server["repos"]], ["/.*/"])
        workflow = server["workflows"][server["repos"][0]["workflow"]]
        data = "/home/atlantis/.atlantis"
        place = f"{data}/repos/acme/infra/7/default"

        def run_steps(host, steps):
            variables = {"DIR": f"{place}/live/app", "PLANFILE": f"{place}/live/app/default.tfplan", "WORKSPACE": "default",
                         "PULL_NUM": "7", "BASE_REPO_NAME": "infra", "REPO_REL_DIR": "live/app", "TF_IN_AUTOMATION": "true"}
            output = ""
            for step in steps:
                if step == "init":  # without a tracked .terraform.lock.hcl
                    host.run("tofu init -input=false -upgrade", variables)
                elif step == "plan":
                    output += host.run('tofu plan -input=false -refresh -out "$PLANFILE"', variables)
                elif step == "apply":
                    output += host.run('tofu apply -input=false "$PLANFILE"', variables)
                elif "env" in step:
                    variables[step["env"]["name"]] = step["env"]["value"]
                else:
                    host.run(step["run"], variables)
            return output

        host = self.check(
            lambda host: run_steps(host, workflow["plan"]["steps"]) + run_steps(host, workflow["apply"]["steps"]),
            ["init", "plan", "apply"], user=100, checkout=place, home="/home/atlantis",
            variables={"ATLANTIS_DATA_DIR": data}, path="/usr/bin:/bin:/opt/bin:" + data + "/bin")
        run_steps(host, workflow["plan"]["steps"])
        with open(host.source / "live/app/.terraform/modules/network/main.tf", "a") as file:
            file.write("# changed\n")
        host.clear_log()
        with self.assertRaises(Failed) as failed:
            run_steps(host, workflow["apply"]["steps"])
        self.assertIn("tampered", str(failed.exception))
        self.assertEqual(host.client_runs(), [])

    def test_atlantis_plans_for_each_file_that_changes_a_lock(self):
        project = page_yaml.read(block("Atlantis", "yaml", 1))["projects"][0]
        self.assertTrue((self.checkout / project["dir"]).is_dir())
        patterns = project["autoplan"]["when_modified"]
        matches = [re.compile(re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*") + "$") for pattern in patterns]
        for name in ("main.tf", "main.tofu", "main.tf.json", "x.tfvars", "modules/x/main.tf", ".terraform.lock.hcl",
                     ".terraform.modules.lock.hcl", ".tofu-modlock.hcl", os.path.relpath(".tofu-modlock.hcl", project["dir"])):
            with self.subTest(name):
                self.assertTrue(any(one.match(name) for one in matches))

    def test_spacelift(self):
        """The user of the runner image; a workspace that the worker has made."""
        stack = page_yaml.read(block("Spacelift", "yaml"))["stack_defaults"]

        def run(host):
            variables = stack["environment"] | {"SPACELIFT": "true", "TF_IN_AUTOMATION": "true"}
            host.run(" && ".join([*stack["before_init"], "tofu init -input=false"]), variables)
            output = host.run("tofu plan -input=false -out=/tmp/spacelift.plan", variables)
            return output + host.run(" && ".join([*stack["before_apply"], "tofu apply -input=false /tmp/spacelift.plan"]), variables)

        self.check(run, ["init", "plan", "apply"], user=1983, owner=0, checkout="/mnt/workspace/source", home="/home/spacelift")

    def test_env0(self):
        """Commands of env0.yml run in its directory. The home may belong to another user."""
        steps = page_yaml.read(block("env0", "yaml"))
        self.assertEqual(steps["destroy"], steps["deploy"])

        def run(host):
            variables = recipe_variables() | {"ENV0_ENVIRONMENT_NAME": "app"}
            for command in steps["deploy"]["steps"]["terraformInit"]["before"]:
                host.run(command, variables)
            host.run("tofu init -input=false", variables)
            return host.run("tofu plan -input=false", variables)

        self.check(run, ["init", "plan"], user=1000, checkout="/opt/deployment", home_is_writable=False)

    def test_scalr(self):
        """Plan and apply are containers of their own, so both run the hook. The home is not writable."""
        def run(host):
            output = ""
            for operation in ("plan", "apply"):
                variables = recipe_variables() | {"SCALR_TERRAFORM_OPERATION": operation, "SCALR_RUN_ID": "run-1"}
                shutil.rmtree(host.source / "live/app/.terraform", ignore_errors=True)
                shutil.rmtree(host.directory / "tmp/tofu-modlock", ignore_errors=True)
                host.run(block("Scalr", "sh"), variables)
                host.run("tofu init -input=false", variables)
                output += host.run("tofu plan -input=false -out=/tmp/plan" if operation == "plan" else "tofu apply -input=false /tmp/plan",
                                   variables)
            return output

        self.check(run, ["init", "plan", "init", "apply"], user=1000, checkout="/opt/data/runs/run-1", home_is_writable=False)

    def test_digger(self):
        """DiggerExecutor, CommandRunner and OpenTofu of Digger: a script of bash, the exit code 2 of a plan with changes, and
        variables that only `init` has."""
        config = page_yaml.read(block("Digger", "yaml"))
        project = config["projects"][0]
        workflow = config["workflows"][project["workflow"]]
        variables = {"GITHUB_ACTIONS": "true", "CI": "true", "DIGGER_OUT": "/tmp/digger-out.log"}
        state = variables | {entry["name"]: entry["value"] for entry in workflow["env_vars"]["state"]}

        def run(host):
            output = ""
            for stage in ("plan", "apply"):
                for step in workflow[stage]["steps"]:
                    if step == "init":
                        host.run("tofu init -input=false -no-color", state, project["dir"])
                    elif step == "plan":
                        output += host.run("tofu plan -out /tmp/plan -lock-timeout=3m -input=false -no-color -detailed-exitcode",
                                           variables, project["dir"], exits=(0, 2))
                    elif step == "apply":
                        output += host.run("tofu apply -lock-timeout=3m -input=false -no-color -auto-approve /tmp/plan", variables,
                                           project["dir"])
                    else:
                        (host.directory / "tmp/run-script").write_text(step["run"] + "\n")
                        host.run("/tmp/run-script", variables, project["dir"], shell=("bash", "-eo", "pipefail"))
            return output

        self.check(run, ["init", "plan", "init", "apply"], user=1001, checkout="/home/runner/_work/infra/infra")

    def test_terramate_commands(self):
        """The commands of the script, and those of the console, in the directory of a stack."""
        text = block("Terramate", "hcl")
        variables = dict(re.findall(r'^ +(TF_\w+) = "(.*)"$', text, re.MULTILINE))
        script = json.loads(re.sub(r",(\s*\])", r"\1", re.search(r"commands = (\[.*?\n    \])", text, re.DOTALL)[1]))

        def run_script(host):
            return "".join(host.run(shlex.join(command), variables) for command in script)

        self.check(run_script, ["init", "plan"], user=1000, checkout="/home/runner/infra")

        def run_each(host):
            for line in block("Terramate", "console").splitlines():
                host.run(line.removeprefix("$ terramate run -- "), variables)
            return host.run("tofu plan -input=false", variables)

        self.check(run_each, ["init", "plan"], user=1000, checkout="/home/runner/infra")

    @unittest.skipUnless(shutil.which("terramate"), "needs terramate")
    def test_terramate(self):
        def make(host):
            shutil.copy(shutil.which("terramate"), host.directory / "opt/terramate")
            (host.source / "modlock.tm.hcl").write_text(block("Terramate", "hcl"))
            (host.source / "live/app/stack.tm.hcl").write_text("stack {\n}\n")
            self.program("git", "-c", "safe.directory=*", "add", "-A", cwd=host.source)
            self.program("git", "-c", "safe.directory=*", "commit", "-q", "-m", "Add a stack", cwd=host.source)
            host.own(host.user)

        def run_script(host):
            make(host)
            return host.run("terramate script run --disable-safeguards=git plan", directory=".")

        self.check(run_script, ["init", "plan"], user=1000, checkout="/home/runner/infra")

        def run_each(host):
            make(host)
            for line in block("Terramate", "console").splitlines():
                host.run(line.removeprefix("$ ").replace("terramate run", "terramate run --disable-safeguards=git"), directory=".")
            return host.run("terramate run --disable-safeguards=git -- tofu plan -input=false", directory=".")

        self.check(run_each, ["init", "plan"], user=1000, checkout="/home/runner/infra")

    @unittest.skipUnless(shutil.which("terraform"), "needs terraform")
    def test_hcp_terraform(self):
        """The agent reads variables from a file. The home is not writable."""
        def run(host):
            for name in ("terraform-pre-plan", "terraform-pre-apply"):
                hook = host.directory / "opt" / name
                hook.write_text(block("HCP Terraform", "sh"))
                hook.chmod(0o755)
            output = ""
            for operation, command in (("plan", "plan -input=false -out=/tmp/plan"), ("apply", "apply -input=false /tmp/plan")):
                shutil.rmtree(host.source / "live/app/.terraform", ignore_errors=True)
                agent = host.directory / "tmp/agent-env"
                agent.write_text("")
                agent.chmod(0o666)
                host.run(f"/opt/bin/terraform-pre-{operation}", {"TFC_AGENT_ENV": "/tmp/agent-env", "TFC_RUN_ID": "run-1"})
                variables = dict(line.split("=", 1) for line in agent.read_text().splitlines())
                host.run("terraform init -input=false", variables)
                output += host.run(f"terraform {command}", variables)
            return output

        scene = type(self)
        before = scene.client
        scene.client = shutil.which("terraform")
        self.addCleanup(setattr, scene, "client", before)
        self.check(run, ["init", "plan", "init", "apply"], user=1000, owner=0, checkout="/home/tfc-agent/.tfc-agent/component/run/config",
                   home="/home/tfc-agent", home_is_writable=False, client="terraform")

    def test_terrapod(self):
        """The security context of its pods: a read-only root file system, a user without a name, two writable directories."""
        script = re.search(r'^  script     = "(.*)"$', block("Terrapod", "hcl"), re.MULTILINE)[1]

        def run(host):
            variables = recipe_variables() | {"TF_REGISTRY_CLIENT_TIMEOUT": "30", "TF_PROVIDER_DOWNLOAD_RETRY": "3"}
            host.run(script, variables)
            host.run("tofu init -input=false", variables)
            return host.run("tofu plan -input=false", variables)

        self.check(run, ["init", "plan"], user=1000, checkout="/workspace", home=None, read_only=True)

    def test_jenkins(self):
        """A user without a name, whose home is /, and `sh -xe`."""
        pipeline = block("Jenkins", "groovy")
        variables = dict(re.findall(r"^    (\w+) = '(.*)'$", pipeline, re.MULTILINE))
        directory = re.search(r"^        dir\('(.*)'\) {$", pipeline, re.MULTILINE)[1]
        steps = re.findall(r"^          sh '(.*)'$", pipeline, re.MULTILINE)
        self.assertEqual(len(steps), 3)
        self.assertEqual(len(variables), 2)

        def run(host):
            return "".join(host.run(step, variables | {"HOME": "/", "WORKSPACE": host.checkout, "CI": "true"}, directory,
                                    shell=("sh", "-xec"))
                           for step in steps)

        self.check(run, ["init", "plan"], user=1000, checkout="/var/jenkins_home/workspace/infra", home=None)

    def test_containers(self):
        words = shlex.split(block("Containers", "sh").replace("\\\n", " ").replace("$PWD", "/infra"))
        self.assertEqual(words[:3], ["docker", "run", "--rm"])
        options, variables = {}, {}
        at = 3
        while words[at].startswith("--"):
            if words[at] == "--read-only":
                options[words[at]] = True
                at += 1
            elif words[at] == "--env":
                name, _, value = words[at + 1].partition("=")
                variables[name] = value
                at += 2
            else:
                options[words[at]] = words[at + 1]
                at += 2
        command = words[at + 1:]
        self.assertEqual((options["--volume"], options["--workdir"], options["--tmpfs"]), ("/infra:/work", "/work", "/tmp:exec"))

        def run(host):
            host.run(command[-1], variables, ".", shell=command[:-1])
            return host.run("tofu plan -input=false", variables)

        user = int(options["--user"].partition(":")[0])
        host = {"user": user, "owner": 1234, "checkout": "/work", "home": None, "read_only": options["--read-only"]}
        self.check(run, ["init", "plan"], **host)
        # Without the variables for git, it refuses the checkout of another owner.
        with self.assertRaises(Failed) as failed:
            run_host = Host(self, **host)
            run_host.run(command[-1], {name: value for name, value in variables.items() if not name.startswith("GIT_")}, ".",
                         shell=command[:-1])
        self.assertIn("the repository belongs to another user", str(failed.exception))


@unittest.skipIf(git_server.missing_programs(), "needs " + ", ".join(git_server.missing_programs()))
class EmptyRunner(unittest.TestCase):
    def test_60_modules_take_less_than_the_60_seconds_of_a_hook(self):
        with tempfile.TemporaryDirectory(prefix="modlock-empty-") as home:
            repositories = os.path.join(home, "repositories")
            with git_server.GitServer(os.path.join(home, "server"), repositories, 30) as server:
                tree = git_tree.Tree("spread", server.url)
                tree.make_repositories(repositories)
                root = os.path.join(home, "root")
                tree.write_pinned_root(root)
                environment = {"PATH": os.environ["PATH"], "HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "SSL_CERT_FILE": server.authority,
                               "GIT_SSL_CAINFO": server.authority, "TOFU_MODLOCK_IMPLEMENTATION": "opentofu"}

                def run(*arguments, cache):
                    started = time.monotonic()
                    ran = subprocess.run([BINARY, *arguments, "--cache-dir", os.path.join(home, cache)], cwd=root, env=environment,
                                         capture_output=True, text=True, timeout=60, check=False)
                    self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                    return time.monotonic() - started, ran.stderr

                run("lock", cache="first")
                seconds, output = run("ci", cache="second")
                print(f"ci in front of an empty runner, 60 modules, 30 ms: {seconds:.2f} s")
                self.assertIn("60 verified", output)


if __name__ == "__main__":
    unittest.main(warnings="ignore")
