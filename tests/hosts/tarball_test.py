"""The tarball in a root file system with only busybox and no C library: tarball_test.py BINARY or DIRECTORY.

DIRECTORY is an unpacked tarball. For a BINARY, the same tree is made of the libraries of this machine. The user has no
name and no home directory, and can write only /tmp and its checkout.
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
HERE = pathlib.Path(__file__).resolve().parent
for place in (HERE, HERE.parent / "docs"):
    sys.path.insert(0, str(place))
import bare_root  # noqa: E402
import servers  # noqa: E402

GIVEN = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "").resolve()
SCRIPTS = HERE.parent.parent / "scripts"
BINARY = str(GIVEN / "bin/tofu-modlock" if GIVEN.is_dir() else GIVEN)
USER = 4321
TREE = "/opt/tofu-modlock"
# A directory with bin/git, and all that it needs, for which this machine has no C library; such as one linked with musl.
OTHER_GIT = os.environ.get("MODLOCK_OTHER_GIT")


def static_busybox():
    found = shutil.which("busybox")
    return found if found and not libraries(found) else None


def libraries(program):
    """Name -> file of each library of a program, and of its loader."""
    text = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return {pathlib.Path(name).name: path for name, path in re.findall(r"^\s*(\S+?)(?: => (\S+))? \(0x", text, re.MULTILINE)} | {
        pathlib.Path(path).name: path for path in re.findall(r"^\s*(/\S+) \(0x", text, re.MULTILINE)}


def tarball_binds():
    """The files that scripts/package puts into the tarball."""
    if GIVEN.is_dir():
        return {TREE: GIVEN}
    place = f"{TREE}/lib/tofu-modlock"
    binds = {f"{place}/{name}": path for name, path in libraries(BINARY).items() if path}
    return binds | {f"{place}/tofu-modlock": BINARY, f"{TREE}/share/tofu-modlock/check-lock": SCRIPTS / "check-lock",
                    f"{TREE}/bin/tofu-modlock": SCRIPTS / "tofu-modlock-launcher"}


class Tarball(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-tarball-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.directory.chmod(0o755)
        for name in ("repositories", "checkout", "tmp"):
            (self.directory / name).mkdir()
        (self.directory / "tmp").chmod(0o1777)
        self.servers = servers.Servers(self.directory / "servers")
        self.addCleanup(self.servers.stop)
        self.network = self.servers.environment(self.directory / "repositories")
        self.environment = os.environ | self.network | {
            "HOME": str(self.directory), "GIT_CONFIG_NOSYSTEM": "1", "TOFU_MODLOCK_IMPLEMENTATION": "opentofu",
            "TOFU_MODLOCK_CACHE_DIR": str(self.directory / "cache")}
        self.git("init", "-q", "--initial-branch=main", "work")
        (self.directory / "work/main.tf").write_text('output "version" {\n  value = 1\n}\n')
        self.git("-C", "work", "add", "-A")
        self.git("-C", "work", "-c", "user.name=user", "-c", "user.email=user@example.test", "commit", "-q", "-m", "1")
        self.git("clone", "-q", "--bare", "work", "repositories/network.git")
        repositories = str(self.directory / "repositories")
        binds = tarball_binds() | {"/bin/busybox": static_busybox(), "/dev": "/dev", "/proc": "/proc", "/tmp": self.directory / "tmp",
                                   "/checkout": self.directory / "checkout", repositories: repositories,
                                   "/authority.pem": self.network["SSL_CERT_FILE"]}
        links = {"/usr/bin/tofu-modlock": f"{TREE}/bin/tofu-modlock"}
        if OTHER_GIT:
            binds[OTHER_GIT] = OTHER_GIT
        applets = subprocess.run([static_busybox(), "--list"], capture_output=True, text=True, check=True).stdout.split()
        links |= {f"/bin/{name}": "busybox" for name in applets if name != "busybox"}
        (self.directory / "root").mkdir()
        self.root = bare_root.Root(self.directory / "root", binds, links, read_only=True)
        self.variables = self.network | {"PATH": "/usr/bin:/bin", "SSL_CERT_FILE": "/authority.pem", "GIT_SSL_CAINFO": "/authority.pem",
                                         "TOFU_MODLOCK_CACHE_DIR": "/tmp/tofu-modlock", "TOFU_MODLOCK_IMPLEMENTATION": "opentofu"}

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.directory, env=self.environment, check=True, capture_output=True)

    def lock(self, source):
        """A checkout that this machine locks, and that belongs to the user of the root."""
        checkout = self.directory / "checkout"
        (checkout / "main.tf").write_text(f'module "network" {{\n  source = "{source}"\n}}\n')
        subprocess.run([BINARY, "lock"], cwd=checkout, env=self.environment, check=True, capture_output=True)
        shutil.rmtree(checkout / ".terraform", ignore_errors=True)
        for path in [checkout, *checkout.rglob("*")]:
            os.chown(path, USER, USER)

    def run_inside(self, command, **variables):
        ran = self.root.run(["sh", "-c", command], USER, self.variables | variables, "/checkout")
        return ran.returncode, ran.stdout

    def test_ci_without_git_and_home(self):
        self.lock("git::https://git.example.test/network.git?ref=main")
        look = "ls -d /lib* /usr/lib* /etc /root /home /usr/bin/git 2>/dev/null; touch /new; id -u; echo ${HOME-none}"
        self.assertEqual(self.run_inside(look), (0, f"touch: /new: Read-only file system\n{USER}\nnone\n"))
        code, output = self.run_inside("tofu-modlock ci")
        self.assertEqual((code, output), (0, "1 installed.\n\nROOT  RESULT      HINT\n.     1 verified\n1 root module: 1 ok.\n"))
        self.assertTrue((self.directory / "checkout/.terraform/modules/network/main.tf").is_file())
        code, output = self.run_inside("tofu-modlock ci --offline && tofu-modlock verify")
        self.assertEqual(code, 0, output)

    def test_check_lock_is_in_it_and_finds_a_change(self):
        """The root has no Python: the one of this machine runs it."""
        program = (GIVEN if GIVEN.is_dir() else SCRIPTS.parent) / ("share/tofu-modlock" if GIVEN.is_dir() else "scripts") / "check-lock"
        self.assertEqual(self.run_inside(f"test -x {TREE}/share/tofu-modlock/check-lock"), (0, ""))
        self.assertEqual(program.read_bytes(), (SCRIPTS / "check-lock").read_bytes())
        self.lock("git::https://git.example.test/network.git?ref=main")
        self.run_inside("tofu-modlock ci")
        for expected, change in (((0, "same         module.network\n1 same\n"), "# changed\n"), ((4, "differs"), "")):
            ran = subprocess.run([sys.executable, program], cwd=self.directory / "checkout", capture_output=True, text=True, check=False)
            self.assertEqual((ran.returncode, ran.stdout[:len(expected[1])]), expected)
            (self.directory / "checkout/.terraform/modules/network/main.tf").write_text(change)

    def test_a_local_repository_needs_git(self):
        self.lock(f"git::file://{self.directory}/repositories/network.git?ref=main")
        code, output = self.run_inside("tofu-modlock ci")
        self.assertEqual(code, 2, output)
        self.assertIn("[TOOL_MISSING]", output)

    @unittest.skipUnless(OTHER_GIT, "needs MODLOCK_OTHER_GIT")
    def test_git_of_another_c_library(self):
        """git and tofu-modlock have different C libraries, and neither is in the root."""
        self.lock(f"git::file://{self.directory}/repositories/network.git?ref=main")
        code, output = self.run_inside("git --version && tofu-modlock ci", PATH=f"/usr/bin:/bin:{OTHER_GIT}/bin", GIT_CONFIG_COUNT="1",
                                       GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")
        self.assertEqual(code, 0, output)
        self.assertIn("1 installed.\n", output)
        self.assertIn("1 verified\n", output)


if __name__ == "__main__":
    reason = bare_root.missing() or (not static_busybox() and "needs a static busybox") or (
        not shutil.which("openssl") and "needs openssl")
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main()
