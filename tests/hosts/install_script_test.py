"""scripts/install.sh, against releases on the loopback: install_script_test.py."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from release_tree import INSTALL, MACHINE, REPOSITORY, Machine, Releases, tarball_name  # noqa: E402

GH = """echo "$GH_HOST $*" >>"$HOME/../gh.log"
case "$1 $2" in
  'auth token') exit %d ;;
  'attestation verify') [ "$3" = --help ] || { echo 'no attestations found' >&2; exit %d; } ;;
esac"""


def tampered(releases):
    path = releases.file("0.2.0")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def broken_off(releases):
    releases.broken[f"/download/v0.2.0/{tarball_name('0.2.0')}"] = 100


def truncated(releases):
    path = releases.file("0.2.0")
    path.write_bytes(path.read_bytes()[:-1])


def without_sum(releases):
    path = releases.file("0.2.0", "SHA256SUMS")
    path.write_text("".join(line for line in path.read_text().splitlines(True) if MACHINE not in line))


def other_program(releases):
    releases.publish("0.2.0", "#!/bin/sh\necho 0.1.0\n")


def failing_program(releases):
    releases.publish("0.2.0", "#!/bin/sh\necho 'cannot start' >&2\nexit 127\n")


def no_tarball(releases):
    """The checksum is correct, and the file is not a tarball."""
    releases.publish("0.2.0")
    releases.file("0.2.0").write_bytes(b"no tarball")
    sums = releases.file("0.2.0", "SHA256SUMS")
    digest = subprocess.run(["sha256sum"], input=b"no tarball", capture_output=True, check=True).stdout.decode().split()[0]
    sums.write_text(f"{digest}  {tarball_name('0.2.0')}\n")


# (name, what is done to the releases, message, hint)
BAD_RELEASES = [
    ("a tampered byte", tampered, " has the checksum ", "do not use this file"),
    ("a response that ends early", broken_off, "cannot download ", "try again"),
    ("a truncated file", truncated, " has the checksum ", "do not use this file"),
    ("a missing checksum", without_sum, f"SHA256SUMS of 0.2.0 has no checksum for {tarball_name('0.2.0')}", "use another release"),
    ("no checksums", lambda releases: releases.file("0.2.0", "SHA256SUMS").unlink(), "cannot download ",
     "check the network, and that there is a release 0.2.0"),
    ("no file", lambda releases: releases.file("0.2.0").unlink(), "cannot download ", "try again"),
    ("a file that is not a tarball", no_tarball, "cannot unpack ", "check the free space"),
    ("another version in the tarball", other_program, "expected 0.2.0 of the program to run, got: 0.1.0", "noexec"),
    ("a program that does not run", failing_program, "expected 0.2.0 of the program to run, got: cannot start", "noexec"),
]


class InstallScript(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.releases = Releases()
        self.addCleanup(self.releases.stop)
        self.releases.publish("0.1.0")

    def machine(self, downloader="curl"):
        machine = Machine(self.releases, downloader)
        self.addCleanup(machine.remove)
        return machine

    def installed(self, downloader="curl"):
        """A machine with 0.1.0; the newest release is 0.2.0."""
        machine = self.machine(downloader)
        ran = machine.install("--version", "0.1.0")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.releases.publish("0.2.0")
        return machine

    def check_version(self, machine, version):
        ran = subprocess.run([machine.program, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout, f"{version}\n")
        self.assertEqual(machine.versions(), [version])

    def check_failure(self, machine, before, ran, message, hint):
        """A clear error, and everything as before."""
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        first = ran.stderr.splitlines()[0]
        self.assertTrue(first.startswith("install.sh: "), ran.stderr)
        self.assertIn(message, first)
        self.assertIn("  hint: ", ran.stderr)
        self.assertIn(hint, ran.stderr.splitlines()[-1])
        self.assertEqual(machine.files(), before)

    def test_each_shell_and_each_downloader(self):
        shells = [("sh",), ("bash", "--posix"), *([("busybox", "sh")] if shutil.which("busybox") else [])]
        for downloader in ("curl", "wget") if shutil.which("wget") else ("curl",):
            for shell in shells:
                with self.subTest(downloader=downloader, shell=shell):
                    self.releases.publish("0.1.0")
                    machine = self.installed(downloader)
                    ran = machine.install(shell=shell)
                    self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                    share = machine.home / ".local/share/tofu-modlock"
                    self.assertEqual(ran.stdout, (
                        f"checksum: verified, {tarball_name('0.2.0')}\n"
                        "attestation: not checked: the repository is not known; TOFU_MODLOCK_REPOSITORY names it\n"
                        f"removed: {share}/0.1.0\n"
                        f"installed: {machine.program}, version 0.2.0\n"
                        f"{machine.program.parent} is not on PATH. Add it, for example in ~/.profile: "
                        f"export PATH=\"{machine.program.parent}:$PATH\"\n"))
                    self.check_version(machine, "0.2.0")
                    self.assertEqual(os.readlink(machine.program), f"{share}/0.2.0/bin/tofu-modlock")

    def test_through_a_pipe(self):
        machine = self.machine()
        with INSTALL.open() as script:
            ran = subprocess.run([shutil.which("sh"), "-s", "--", "--version", "v0.1.0"], stdin=script, env=machine.environment,
                                 capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.check_version(machine, "0.1.0")

    def test_no_prefix_of_the_script_does_anything(self):
        machine = self.machine()
        before = machine.files()
        text = INSTALL.read_text()
        for length in range(0, text.index('main "$@"'), 499):
            subprocess.run([shutil.which("sh")], input=text[:length], env=machine.environment, capture_output=True, text=True, check=False)
        self.assertEqual(machine.files(), before)
        self.assertEqual(self.releases.requests, [])

    def test_on_path(self):
        machine = self.machine()
        machine.environment["PATH"] += f":{machine.program.parent}"
        ran = machine.install()
        self.assertTrue(ran.stdout.endswith(f"installed: {machine.program}, version 0.1.0\n"), ran.stdout)

    def test_another_directory_and_an_older_version(self):
        machine = self.installed()
        for version, place in (("0.2.0", "a place"), ("0.1.0", "a place/"), ("0.1.0", f"{machine.directory}/a place")):
            ran = machine.install("--to", place, "--version", version)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            program = machine.directory / "a place/bin/tofu-modlock"
            self.assertEqual(subprocess.run([program], capture_output=True, text=True, check=True).stdout, f"{version}\n")
            self.assertEqual([path.name for path in (machine.directory / "a place/share/tofu-modlock").iterdir()], [version])
        self.check_version(machine, "0.1.0")

    def test_installing_again_repairs(self):
        machine = self.machine()
        machine.install()
        before = machine.files()
        (machine.home / ".local/share/tofu-modlock/0.1.0/lib/tofu-modlock/library").write_text("other")
        self.assertEqual(machine.install().returncode, 0)
        self.assertEqual(machine.files(), before)

    def test_bad_releases(self):
        for name, spoil, message, hint in BAD_RELEASES:
            for had in ("nothing", "0.1.0", "0.2.0"):
                with self.subTest(name, had=had):
                    self.releases.broken.clear()
                    self.releases.publish("0.1.0")
                    self.releases.publish("0.2.0")
                    machine = self.machine()
                    if had != "nothing":
                        self.assertEqual(machine.install("--version", had).returncode, 0)
                    before = machine.files()
                    spoil(self.releases)
                    self.check_failure(machine, before, machine.install("--version", "0.2.0"), message, hint)
                    if had != "nothing":
                        self.check_version(machine, had)

    def test_bad_downloads_with_wget(self):
        if not shutil.which("wget"):
            self.skipTest("wget is not installed")
        machine = self.installed("wget")
        before = machine.files()
        tampered(self.releases)
        self.check_failure(machine, before, machine.install(), " has the checksum ", "do not use this file")
        self.releases.file("0.2.0").unlink()
        self.check_failure(machine, before, machine.install(), "cannot download ", "try again")

    def test_bad_machines(self):
        def uname(system, machine):
            return f"[ \"$1\" = -s ] && echo {system} || echo {machine}"

        rows = [
            ("an unknown machine", "uname", uname("Linux", "riscv64"), "there is no release for Linux on riscv64", "container image"),
            ("an unknown system", "uname", uname("Darwin", "arm64"), "there is no release for Darwin on arm64", "container image"),
            ("no downloader", "curl", None, "neither curl nor wget found", "install one of them"),
            ("no sha256sum", "sha256sum", None, "sha256sum not found", "install it"),
            ("no space", "tar", "echo 'No space left on device' >&2; exit 2", "No space left on device", "check the free space"),
            ("a link that cannot be made", "ln", "exit 1", "cannot write to ", "check the free space"),
            ("a link that cannot be placed", "mv", 'case $* in *new*) exit 1 ;; esac; exec /bin/mv "$@"', "cannot write ", "permissions"),
        ]
        for name, tool, script, message, hint in rows:
            with self.subTest(name):
                self.releases.publish("0.1.0")
                machine = self.installed()
                if script is None:
                    (machine.tools / tool).unlink()
                else:
                    machine.tool(tool, script)
                before = machine.files()
                for arguments in ([], ["--version", "0.1.0"]):  # another version, and the installed one again
                    self.check_failure(machine, before, machine.install(*arguments), message, hint)
                    self.check_version(machine, "0.1.0")

    def test_a_version_that_ran_stays_if_the_output_fails(self):
        machine = self.installed()
        with open("/dev/full", "w", encoding="utf-8") as full:
            subprocess.run([shutil.which("sh"), INSTALL], env=machine.environment, stdin=subprocess.DEVNULL, stdout=full,
                           stderr=subprocess.DEVNULL, check=False)
        self.check_version(machine, "0.2.0")

    def test_the_machine_selects_the_tarball(self):
        machine = self.machine()
        machine.tool("uname", "[ \"$1\" = -s ] && echo Linux || echo aarch64")
        ran = machine.install("--version", "0.1.0")
        self.assertEqual(ran.returncode == 0, MACHINE == "aarch64")
        self.assertIn(tarball_name("0.1.0", "aarch64"), ran.stdout + ran.stderr)

    def test_a_home_that_cannot_be_written(self):
        for name in ("nothing", "0.1.0"):
            with self.subTest(name):
                self.releases.publish("0.1.0")
                machine = self.installed() if name != "nothing" else self.machine()
                before = machine.files()
                for path in [machine.home, *machine.home.rglob("*")]:
                    if path.is_dir():
                        path.chmod(0o555)
                user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
                ran = machine.install(**user)
                for path in [machine.home, *machine.home.rglob("*")]:
                    if path.is_dir():
                        path.chmod(0o755)
                self.check_failure(machine, before, ran, "cannot write to ", "use --to DIRECTORY")

    def test_a_program_of_someone_else_stays(self):
        machine = self.machine()
        machine.program.parent.mkdir(parents=True)
        for name, make in (("a file", lambda: machine.program.write_text("mine")),
                           ("a link", lambda: machine.program.symlink_to("/opt/tofu-modlock/bin/tofu-modlock"))):
            with self.subTest(name):
                machine.program.unlink(missing_ok=True)
                make()
                before = machine.files()
                self.check_failure(machine, before, machine.install(), "was not installed by this script", "remove it")
                self.assertEqual(self.releases.requests, [])

    def test_an_interrupted_download_leaves_nothing(self):
        machine = self.installed()
        machine.tool("curl", f"kill -TERM $PPID; exec {shutil.which('curl')} \"$@\"")
        before = machine.files()
        ran = machine.install()
        self.assertEqual(ran.returncode, 143)
        self.assertEqual(machine.files(), before)
        self.check_version(machine, "0.1.0")

    def test_attestations(self):
        asked = "attestation verify "
        rows = [
            ("accepted", REPOSITORY, GH % (0, 0), 0, f"attestation: verified, from {REPOSITORY}\n"),
            ("rejected", REPOSITORY, GH % (0, 1), 1,
             f"no valid attestation of {REPOSITORY} for {tarball_name('0.2.0')}: no attestations found"),
            ("not logged in", REPOSITORY, GH % (1, 1), 0, "attestation: not checked: gh is not logged in to git.example.test\n"),
            ("an old gh", REPOSITORY, "exit 1", 0, "attestation: not checked: this gh is too old\n"),
            ("no gh", REPOSITORY, None, 0, "attestation: not checked: gh is not installed\n"),
            ("no repository", "", GH % (0, 1), 0, "attestation: not checked: the repository is not known"),
        ]
        for name, repository, script, expected, message in rows:
            with self.subTest(name):
                self.releases.publish("0.1.0")
                machine = self.installed()
                machine.environment["TOFU_MODLOCK_REPOSITORY"] = repository
                if script is not None:
                    machine.tool("gh", script)
                before = machine.files()
                ran = machine.install()
                log = machine.directory / "gh.log"
                calls = log.read_text() if log.exists() else ""
                log.unlink(missing_ok=True)
                if expected == 0:
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                    self.assertIn(message, ran.stdout)
                    self.check_version(machine, "0.2.0")
                else:
                    self.check_failure(machine, before, ran, message, "do not use this file")
                if name in ("accepted", "rejected"):
                    last = calls.splitlines()[-1]
                    self.assertTrue(last.startswith(f"git.example.test {asked}"), calls)
                    self.assertTrue(last.endswith(f"/{tarball_name('0.2.0')} --repo acme/tofu-modlock "
                                                  "--signer-workflow acme/tofu-modlock/.github/workflows/release.yml"), last)

    def test_the_copy_of_a_release_knows_its_repository(self):
        self.assertEqual(INSTALL.read_text().count("\npublished_by=\n"), 1)
        machine = self.machine()
        copy = machine.directory / "install.sh"
        copy.write_text(INSTALL.read_text().replace("\npublished_by=\n", f"\npublished_by={REPOSITORY}\n"))
        machine.tool("gh", GH % (0, 0))
        ran = machine.install(script=copy)
        self.assertIn(f"attestation: verified, from {REPOSITORY}\n", ran.stdout)
        # Without a mirror, its releases are those of the repository.
        machine.environment.pop("TOFU_MODLOCK_RELEASES")
        machine.tool("curl", 'for last; do :; done; echo "address $last" >&2; exit 6')
        ran = machine.install(script=copy)
        self.assertIn(f"address {REPOSITORY}/releases/latest/download/SHA256SUMS", ran.stderr)

    def test_addresses(self):
        rows = [
            ("none", {"TOFU_MODLOCK_RELEASES": ""}, "the address of the releases is not known", "TOFU_MODLOCK_RELEASES"),
            ("without TLS", {"TOFU_MODLOCK_RELEASES": "http://git.example.test/r"},
             "expected an address with https", "TOFU_MODLOCK_RELEASES"),
            ("a name that begins as the loopback", {"TOFU_MODLOCK_RELEASES": "http://127.0.0.1.example.test/r"},
             "expected an address with https", "TOFU_MODLOCK_RELEASES"),
            ("a file", {"TOFU_MODLOCK_RELEASES": "file:///r"}, "expected an address with https", "TOFU_MODLOCK_RELEASES"),
            ("a repository without an owner", {"TOFU_MODLOCK_REPOSITORY": "https://git.example.test"}, "expected https://HOST/OWNER/NAME",
             "TOFU_MODLOCK_REPOSITORY"),
        ]
        machine = self.machine()
        before = machine.files()
        for name, variables, message, hint in rows:
            with self.subTest(name):
                machine.environment.update({"TOFU_MODLOCK_RELEASES": self.releases.address, "TOFU_MODLOCK_REPOSITORY": ""} | variables)
                self.check_failure(machine, before, machine.install(), message, hint)

    def test_usage(self):
        machine = self.machine()
        before = machine.files()
        rows = [(["--to"], "--to: a value is missing"), (["--version", ""], "--version: a value is missing"),
                (["--version", "../0.1.0"], "expected one such as 1.2.3"), (["--version", "latest"], "expected one such as 1.2.3"),
                (["now"], "unexpected argument: now")]
        for arguments, message in rows:
            with self.subTest(arguments):
                ran = machine.install(*arguments)
                self.assertEqual(ran.returncode, 2)
                self.assertIn(message, ran.stderr)
        self.assertEqual(machine.install("--help").stdout.splitlines()[0], "usage: install.sh [--version VERSION] [--to DIRECTORY]")
        self.assertEqual(machine.files(), before)

    @unittest.skipUnless(shutil.which("shellcheck"), "shellcheck is not installed")
    def test_shellcheck(self):
        for script in (INSTALL, INSTALL.parent / "pre-commit-hook"):
            ran = subprocess.run(["shellcheck", script], capture_output=True, text=True, check=False)
            self.assertEqual((ran.returncode, ran.stdout), (0, ""))

    def test_uninstall(self):
        machine = self.machine()
        ran = machine.install("--uninstall")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("tofu-modlock is not installed in ", ran.stderr)
        machine.install()
        cache = machine.home / ".cache/tofu-modlock/package"
        cache.parent.mkdir(parents=True)
        cache.write_text("kept")
        ran = machine.install("--uninstall")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual([path for path in machine.home.rglob("*") if path.is_file() or path.is_symlink()], [cache])
        self.assertEqual(machine.versions(), [])


if __name__ == "__main__":
    unittest.main()
