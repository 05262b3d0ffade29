"""scripts/install.sh, against releases on the loopback: install_script_test.py."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from release_tree import INSTALL, MACHINE, PAGES, REPOSITORY, Machine, Releases, tarball_name  # noqa: E402

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
    ("no tarball for this machine", without_sum, f"the release 0.2.0 has no tarball for {MACHINE}, only for other", "build the program"),
    ("no checksums", lambda releases: releases.file("0.2.0", "SHA256SUMS").unlink(), "cannot download ",
     "check that there is a release 0.2.0"),
    ("no file", lambda releases: releases.file("0.2.0").unlink(), "404", f"check that there is a release 0.2.0 for {MACHINE}"),
    ("a file that is not a tarball", no_tarball, "cannot unpack ", "report it to the owners"),
    ("another version in the tarball", other_program, "expected 0.2.0 of the program to run, got: 0.1.0", "report it to the owners"),
    ("a program that does not run", failing_program, "expected 0.2.0 of the program to run, got: cannot start", "report it to the owners"),
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

    def damage(self, machine, version):
        (machine.home / f".local/share/tofu-modlock/{version}/lib/tofu-modlock/library").write_text("other")

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
                        f"downloading: {self.releases.address}/download/v0.2.0/{tarball_name('0.2.0')}\n"
                        f"checksum: verified, {tarball_name('0.2.0')}\n"
                        "attestation: not checked: the repository is not known; TOFU_MODLOCK_REPOSITORY names it\n"
                        f"removed: {share}/0.1.0\n"
                        f"installed: {machine.program}, version 0.2.0\n"
                        f"{machine.program.parent} is not on PATH\n"
                        f"Add it, for example in ~/.profile: export PATH=\"{machine.program.parent}:$PATH\"\n"))
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
        self.damage(machine, "0.1.0")
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
                        self.damage(machine, had)  # what is intact is not downloaded
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
        self.check_failure(machine, before, machine.install(), "404", "check that there is a release 0.2.0")

    def test_bad_machines(self):
        def uname(system, machine):
            return f"[ \"$1\" = -s ] && echo {system} || echo {machine}"

        rows = [
            ("an unknown machine", "uname", uname("Linux", "riscv64"), "there is no release for Linux on riscv64", "build the program"),
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
                self.damage(machine, "0.1.0")
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
        expected = tarball_name("0.1.0") if MACHINE == "aarch64" else f"no tarball for aarch64, only for other, {MACHINE}"
        self.assertIn(expected, ran.stdout + ran.stderr)

    def test_a_home_that_cannot_be_written(self):
        for name in ("nothing", "0.1.0"):
            with self.subTest(name):
                self.releases.publish("0.1.0")
                machine = self.installed() if name != "nothing" else self.machine()
                script = shutil.copy(INSTALL, machine.directory)  # the user may not be able to read the checkout
                before = machine.files()
                for path in [machine.home, *machine.home.rglob("*")]:
                    if path.is_dir():
                        path.chmod(0o555)
                user = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
                ran = machine.install(script=script, **user)
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
            ("a user that looks like the loopback", {"TOFU_MODLOCK_RELEASES": "http://127.0.0.1:x@git.example.test/r"},
             "expected an address with https, got http://git.example.test/r", "TOFU_MODLOCK_RELEASES"),
            ("a port that is a password", {"TOFU_MODLOCK_RELEASES": "http://localhost:80@git.example.test/r"},
             "expected an address with https, got http://git.example.test/r", "TOFU_MODLOCK_RELEASES"),
            ("a user with a slash", {"TOFU_MODLOCK_RELEASES": "http://[::1]\\@git.example.test/r"},
             "expected an address with https", "TOFU_MODLOCK_RELEASES"),
            ("a password is not shown", {"TOFU_MODLOCK_RELEASES": "https://user:secret@127.0.0.1:1/r"},
             "cannot download https://127.0.0.1:1/r/latest/download/SHA256SUMS: ", "check the network"),
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
                (["--sha256", "0" * 63], "--sha256: expected 64 digits"), (["--sha256", "0" * 63 + "g"], "--sha256: expected 64 digits"),
                (["now"], "unexpected argument: now")]
        for arguments, message in rows:
            with self.subTest(arguments):
                ran = machine.install(*arguments)
                self.assertEqual(ran.returncode, 2)
                self.assertIn(message, ran.stderr)
        self.assertEqual(machine.install("--help").stdout.splitlines()[0], 
                         "usage: install.sh [--version VERSION] [--to DIRECTORY] [--sha256 CHECKSUM]")
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

    # What the user has, and what runs.

    def test_only_the_output_of_the_program_counts(self):
        gone = tempfile.mkdtemp()
        rows = [
            ("a warning of the program", None, "#!/bin/sh\necho 'cannot set the locale' >&2\necho 0.2.0\n", {}, ("sh",)),
            ("a library that is missing", None, None, {"LD_PRELOAD": "/nonexistent/library.so"}, ("sh",)),
            ("an unknown locale", None, "#!/bin/bash\necho 0.2.0\n", {"LC_ALL": "xx_XX.UTF-8"}, ("bash", "--posix")),
            ("a directory that was removed", gone, None, {}, ("sh",)),
        ]
        for name, directory, program, variables, shell in rows:
            with self.subTest(name):
                self.releases.publish("0.2.0", program)
                machine = self.machine()
                machine.environment |= variables
                if directory:
                    command = f"cd {gone} && rmdir {gone} && exec {shutil.which('sh')} {INSTALL}"
                    ran = subprocess.run(["sh", "-c", command], env=machine.environment | {"PATH": os.environ["PATH"]}, text=True,
                                         stdin=subprocess.DEVNULL, capture_output=True, check=False)
                else:
                    ran = machine.install(shell=shell)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.check_version(machine, "0.2.0")

    def test_what_is_intact_is_not_downloaded(self):
        machine = self.machine()
        self.assertEqual(machine.install().returncode, 0)
        before = machine.files()
        self.releases.requests.clear()
        said = f"installed already: {machine.program}, version 0.1.0\n"
        ran = machine.install("--version", "0.1.0")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr, self.releases.requests), (0, said, "", []))
        ran = machine.install()
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, said, ""))
        self.assertEqual(self.releases.requests, ["/latest/download/SHA256SUMS"])
        self.assertEqual(machine.files(), before)
        tree = machine.home / ".local/share/tofu-modlock/0.1.0"
        for name, spoil in (("another content", lambda: self.damage(machine, "0.1.0")),
                            ("a missing file", lambda: (tree / "lib/tofu-modlock/library").unlink()),
                            ("no list", lambda: (tree / ".sha256").unlink()),
                            ("no permission to run it", lambda: (tree / "bin/tofu-modlock").chmod(0o644)),
                            ("no link", machine.program.unlink)):
            with self.subTest(name):
                spoil()
                ran = machine.install("--version", "0.1.0")
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertIn("downloading: ", ran.stdout)
                self.assertEqual(machine.files(), before)
                self.check_version(machine, "0.1.0")

    def test_a_downgrade_is_named(self):
        rows = [("0.2.0", "0.1.0", True), ("0.10.0", "0.9.0", True), ("1.0.0", "1.0.0-rc.1", True), ("1.0.0", "0.9.9", True),
                ("0.9.0", "0.10.0", False), ("1.0.0-rc.1", "1.0.0", False), ("1.0.0-rc.1", "1.0.0-rc.2", False), ("0.1.0", "0.1.1", False)]
        for installed, version, is_downgrade in rows:
            with self.subTest(installed=installed, version=version):
                machine = self.machine()
                for each in (installed, version):
                    self.releases.publish(each)
                    ran = machine.install("--version", each)
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertEqual(f"downgrade: from {installed} to {version}\n" in ran.stdout, is_downgrade, ran.stdout)

    def test_man_and_completions(self):
        machine = self.machine()
        share = machine.home / ".local/share"
        (share / PAGES[1]).parent.mkdir(parents=True)
        (share / PAGES[1]).write_text("mine")
        (share / PAGES[2]).parent.mkdir(parents=True)
        (share / PAGES[2]).symlink_to("/opt/_tofu-modlock")
        self.assertEqual(machine.install().returncode, 0)
        self.releases.publish("0.2.0")
        ran = machine.install()
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        for page in PAGES[1:3]:
            self.assertIn(f"kept: {share / page}, which this script did not install\n", ran.stdout)
        self.assertEqual((share / PAGES[1]).read_text(), "mine")
        self.assertEqual(os.readlink(share / PAGES[2]), "/opt/_tofu-modlock")
        for page in (PAGES[0], PAGES[3]):
            self.assertEqual(os.readlink(share / page), f"{share}/tofu-modlock/0.2.0/share/{page}")
            self.assertEqual((share / page).read_text(), f"# {page} of 0.2.0\n")
        environment = {"HOME": str(machine.home), "PATH": f"{machine.program.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        finders = {"man": ["man", "-w", "tofu-modlock"], "fish": ["fish", "-c", "for d in $fish_complete_path; ls $d/tofu-modlock.fish; end"]}
        for (name, command), page in zip(finders.items(), (PAGES[0], PAGES[3])):
            if shutil.which(name):
                found = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout.splitlines()
                self.assertTrue({str(share / page), str((share / page).resolve())} & set(found), found)
        self.assertEqual(machine.install("--uninstall").returncode, 0)
        self.assertEqual(sorted(path for path in share.rglob("*") if path.is_symlink() or path.is_file()),
                         sorted([share / PAGES[1], share / PAGES[2]]))
        self.assertFalse((share / "man").exists())

    def test_in_ci_there_is_no_profile(self):
        machine = self.machine()
        machine.environment["CI"] = "true"
        self.assertTrue(machine.install().stdout.endswith(f"{machine.program.parent} is not on PATH\n"))

    # Downloads.

    def wgetrc(self, machine, releases):
        """GNU wget has no variable for certificates."""
        (machine.directory / "wgetrc").write_text(f"ca_certificate = {releases.certificate}\n")
        machine.environment |= {"WGETRC": str(machine.directory / "wgetrc"), "CURL_CA_BUNDLE": str(releases.certificate)}

    def downloaders(self):
        return [name for name in ("curl", "wget") if shutil.which(name)]

    @unittest.skipUnless(shutil.which("openssl"), "needs openssl")
    def test_certificates(self):
        releases = Releases(tls=True)
        self.addCleanup(releases.stop)
        releases.publish("0.1.0")
        for downloader in self.downloaders():
            with self.subTest(downloader):
                machine = Machine(releases, downloader)
                self.addCleanup(machine.remove)
                self.check_failure(machine, machine.files(), machine.install(), "certificate", "install the package ca-certificates")
                self.wgetrc(machine, releases)
                self.assertEqual(machine.install().returncode, 0)
                self.check_version(machine, "0.1.0")
                # A redirect to http is not followed.
                releases.redirects["/latest/download/SHA256SUMS"] = f"{self.releases.address}/latest/download/SHA256SUMS"
                self.releases.requests.clear()
                ran = machine.install()
                self.assertEqual((ran.returncode, self.releases.requests), (1, []))
                self.assertIn("cannot download ", ran.stderr)
                releases.redirects.clear()

    @unittest.skipUnless(shutil.which("openssl") and shutil.which("busybox"), "needs openssl, busybox")
    def test_a_wget_that_checks_no_certificates(self):
        releases = Releases(tls=True)
        self.addCleanup(releases.stop)
        releases.publish("0.1.0")
        checksum = hashlib.sha256(releases.file("0.1.0").read_bytes()).hexdigest()
        self_made = {"TOFU_MODLOCK_REPOSITORY": REPOSITORY}
        rows = [
            ("nothing else", [], {}, None, "this wget checks no certificates"),
            ("gh is not logged in", [], self_made, GH % (1, 0), "this wget checks no certificates"),
            ("another checksum", ["--sha256", "0" * 64], {}, None, f"has the checksum {checksum}, and --sha256 is {'0' * 64}"),
            ("no attestation", [], self_made, GH % (0, 1), "no valid attestation of "),
            ("a checksum", ["--sha256", checksum], {}, None, None),
            ("an attestation", [], self_made, GH % (0, 0), None),
        ]
        for name, arguments, variables, gh, message in rows:
            with self.subTest(name):
                machine = Machine(releases, "busybox")
                self.addCleanup(machine.remove)
                (machine.tools / "wget").symlink_to(shutil.which("busybox"))
                machine.environment |= variables
                if gh:
                    machine.tool("gh", gh)
                before = machine.files()
                releases.requests.clear()
                ran = machine.install(*arguments)
                (machine.directory / "gh.log").unlink(missing_ok=True)
                if message:
                    self.check_failure(machine, before, ran, message, "--sha256" if "wget" in message else "do not use this file")
                    self.assertEqual(releases.requests == [], "wget" in message)
                else:
                    self.assertEqual(ran.returncode, 0, ran.stderr)
                    self.check_version(machine, "0.1.0")

    def test_redirects(self):
        address = self.releases.address
        rows = [("another path", f"{address}/latest/download/SHA256SUMS", True), ("a path", "/latest/download/SHA256SUMS", True),
                ("a circle", "/there", False), ("another protocol", "ftp://127.0.0.1/there", False)]
        for downloader in self.downloaders():
            for name, target, is_followed in rows:
                with self.subTest(name, downloader=downloader):
                    machine = self.machine(downloader)
                    machine.environment["TOFU_MODLOCK_RELEASES"] = address
                    self.releases.redirects["/download/v0.1.0/SHA256SUMS"] = target
                    self.releases.redirects["/there"] = "/there"
                    ran = machine.install("--version", "0.1.0")
                    self.assertEqual(ran.returncode, 0 if is_followed else 1, ran.stderr)

    def test_a_download_that_breaks_off_is_tried_three_times(self):
        path = f"/download/v0.1.0/{tarball_name('0.1.0')}"
        self.releases.broken[path] = 100
        for downloader in self.downloaders():
            with self.subTest(downloader):
                self.releases.requests.clear()
                machine = self.machine(downloader)
                self.check_failure(machine, machine.files(), machine.install(), "cannot download ", "try again")
                self.assertLessEqual(self.releases.requests.count(path), 3)

    def test_a_full_disk(self):
        """The file that is written is /dev/full."""
        name = tarball_name("0.1.0")
        for downloader in self.downloaders():
            with self.subTest(downloader):
                machine = self.machine(downloader)
                machine.tool("mktemp", f'd=$({shutil.which("mktemp")} "$@") && ln -s /dev/full "$d/{name}" && echo "$d"')
                self.check_failure(machine, machine.files(), machine.install(), "cannot download ", "check the free space")
        for tool, script in (("mktemp", 'echo "mktemp: failed to create directory: No space left on device" >&2; exit 1'),
                             ("mkdir", 'echo "mkdir: cannot create directory: Disk quota exceeded" >&2; exit 1')):
            with self.subTest(tool):
                machine = self.machine()
                machine.tool(tool, script)
                ran = machine.install()
                self.assertEqual(ran.returncode, 1)
                self.assertRegex(ran.stderr, r"cannot write to .*: (No space left on device|Disk quota exceeded)\n  hint: check the free space")


if __name__ == "__main__":
    unittest.main()
