"""The programs of docs/calling-programs.md, compiled and run with a real tofu-modlock: calling_programs_test.py BINARY.

They lock a module of a git repository that is served on the loopback. What disturbs them happens while the first request for
the repository is open, so nothing depends on time. The libraries are installed by scripts/check-schemas; a program without
its compiler or library is skipped, and if all are, the exit code is 77.
"""
import functools
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

BINARY = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(PROJECT / "tests/docs"))
import blocks  # noqa: E402

PAGE = PROJECT / "docs/calling-programs.md"
PACKAGES = PROJECT / "build/schemas/node_modules"
SECONDS = 60  # a program that was not cancelled would run longer


class Repository(http.server.SimpleHTTPRequestHandler):
    """Serves the files of a bare git repository. The first requests each run what a test put into `disturbances`."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.server.disturbances:
            if self.server.disturbances.pop(0)() == "hold":
                self.rfile.read(1)  # until the client closes the connection
                return
        super().do_GET()


def environment(directory):
    return {"HOME": str(directory / "home"), "PATH": f"{directory}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            "TOFU_MODLOCK_CACHE_DIR": str(directory / "cache"), "TOFU_MODLOCK_IMPLEMENTATION": "opentofu",
            "GIT_CONFIG_NOSYSTEM": "1"}


def children(process):
    return [int(child) for task in pathlib.Path(f"/proc/{process}/task").iterdir()
            for child in (task / "children").read_text().split()]


def code_of(language):
    found = [block for block in blocks.read_blocks(PAGE.read_text(encoding="utf-8")) if block.language == language]
    assert len(found) == 1, language
    return "\n".join(found[0].lines) + "\n"


class CallingPrograms:
    """The tests of each program; a subclass makes `command`."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.command = cls.build(cls.directory)
        work = cls.directory / "work"
        served = cls.directory / "served"
        served.mkdir()
        git = functools.partial(subprocess.run, check=True, stdout=subprocess.DEVNULL, env=environment(cls.directory))
        git(["git", "init", "--quiet", work])
        for version in ("1.0.0", "1.1.0"):
            (work / "main.tf").write_text(f"# {version}\n")
            git(["git", "-C", work, "add", "main.tf"])
            git(["git", "-C", work, "-c", "user.name=a", "-c", "user.email=a@example.test", "commit", "--quiet",
                 "--message", version])
            git(["git", "-C", work, "tag", f"v{version}"])
        git(["git", "clone", "--quiet", "--bare", work, served / "vpc.git"])
        git(["git", "-C", served / "vpc.git", "update-server-info"])
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Repository, directory=served))
        cls.server.daemon_threads = True
        cls.server.disturbances = []
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)

    def setUp(self):
        self.server.disturbances = []
        self.place = pathlib.Path(tempfile.mkdtemp(dir=self.directory))
        for name in ("bin", "home", "root"):
            (self.place / name).mkdir()
        (self.place / "bin/tofu-modlock").symlink_to(BINARY)
        self.root = self.place / "root"
        self.write("1.0.0")

    def write(self, version):
        (self.root / "main.tf").write_text(
            f'module "vpc" {{\n  source = "git::http://127.0.0.1:{self.server.server_port}/vpc.git?ref=v{version}"\n}}\n')

    def run_program(self, *disturbances):
        """(exit code, stderr). A disturbance gets the process."""
        process = subprocess.Popen(self.command, cwd=self.root, env=environment(self.place), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.server.disturbances = [functools.partial(one, process) for one in disturbances]
        try:
            out, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
        self.assertEqual(out, "")
        return process.returncode, err

    def wrap(self, script):
        """Lets the program start this script."""
        (self.place / "bin/tofu-modlock").unlink()
        (self.place / "bin/tofu-modlock").write_text(f"#!/bin/sh\n{script}\n")
        (self.place / "bin/tofu-modlock").chmod(0o755)

    def locks(self):
        return {path.name: path.read_text() for path in self.root.glob(".terraform*.hcl")}

    def locks_of_the_command(self):
        """What `lock` writes in a copy of the root module as it is now."""
        copy = pathlib.Path(tempfile.mkdtemp(dir=self.place)) / "root"
        shutil.copytree(self.root, copy)
        subprocess.run([BINARY, "lock"], cwd=copy, env=environment(self.place), check=True, stdout=subprocess.DEVNULL)
        return {path.name: path.read_text() for path in copy.glob(".terraform*.hcl")}

    def test_writes_what_lock_writes(self):
        settings = self.root / ".tofu-modlock.hcl"
        rows = [
            ("a new file", lambda: None, {".terraform.lock.hcl"}),
            ("no change", lambda: None, {".terraform.lock.hcl"}),
            ("a changed file", lambda: self.write("1.1.0"), {".terraform.lock.hcl"}),
            ("another file", lambda: settings.write_text('module_lock_file = "sidecar"\n'), {".terraform.modules.lock.hcl"}),
            ("back to the first file", lambda: (settings.unlink(), settings.write_text('module_lock_file = "inline"\n'),
                                        self.write("1.0.0")), {".terraform.lock.hcl"}),
        ]
        for name, change, files in rows:
            with self.subTest(name):
                change()
                expected = self.locks_of_the_command()
                self.assertEqual(self.run_program(), (0, ""))
                self.assertEqual(self.locks(), expected)
                self.assertEqual(set(expected), files)

    def test_does_not_overwrite_what_another_program_wrote(self):
        rows = [("a new file", {}, "# theirs\n"), ("a changed file", {".terraform.lock.hcl": "# before\n"}, "# theirs\n")]
        for name, before, theirs in rows:
            with self.subTest(name):
                for file, text in before.items():
                    (self.root / file).write_text(text)
                shutil.rmtree(self.place / "cache", ignore_errors=True)
                code, err = self.run_program(lambda _: (self.root / ".terraform.lock.hcl").write_text(theirs))
                self.assertIn(".terraform.lock.hcl has changed since the plan was made", err)
                self.assertEqual((code, self.locks()), (1, {".terraform.lock.hcl": theirs}))

    def test_links_of_a_checkout_are_not_written_through(self):
        outside = self.place / "profile"
        outside.write_text("theirs\n")
        rows = [(".terraform.lock.hcl", 1), (".terraform.lock.hcl.new", 0), ("..terraform.lock.hcl.new", 0), (".lock-", 0)]
        for name, code in rows:
            with self.subTest(name):
                (self.root / ".terraform.lock.hcl").unlink(missing_ok=True)
                (self.root / name).symlink_to(outside)
                shutil.rmtree(self.place / "cache", ignore_errors=True)
                ran = self.run_program()
                self.assertEqual(ran[0], code, ran[1])
                self.assertEqual(outside.read_text(), "theirs\n")
                left = {".lock-"} if name == ".lock-" else set()
                self.assertEqual({path.name for path in self.root.glob(".lock-*")}, left)

    def test_a_link_to_the_lock_file_is_replaced(self):
        outside = self.place / "lock"
        self.assertEqual(self.run_program()[0], 0)
        shutil.move(self.root / ".terraform.lock.hcl", outside)
        before = outside.read_text()
        (self.root / ".terraform.lock.hcl").symlink_to("lock.hcl")
        shutil.copy(outside, self.root / "lock.hcl")
        self.write("1.1.0")
        self.assertEqual(self.run_program(), (0, ""))
        self.assertFalse((self.root / ".terraform.lock.hcl").is_symlink())
        self.assertEqual((self.root / "lock.hcl").read_text(), before)

    def test_an_interrupt_cancels_the_request(self):
        def interrupt(process):
            process.send_signal(signal.SIGINT)
            return "hold"
        sent = self.place / "sent"
        self.wrap(f'tee {sent} | {BINARY} "$@"')
        code, err = self.run_program(interrupt)
        self.assertIn("cancel", err)
        self.assertEqual((code, self.locks()), (1, {}))
        requests = {line["method"]: line for line in map(json.loads, sent.read_text().splitlines())}
        self.assertEqual(requests["$/cancelRequest"]["params"]["id"], requests["lock/plan"]["id"])

    def test_starts_tofu_modlock_again_after_a_crash(self):
        killed = []

        def kill(process):
            killed.extend(children(process.pid))
            os.kill(killed[-1], signal.SIGKILL)
            return "hold"
        expected = self.locks_of_the_command()
        for crashes in (1, 2, 3):
            with self.subTest(crashes=crashes):
                killed.clear()
                shutil.rmtree(self.place / "cache", ignore_errors=True)
                code, _ = self.run_program(*[kill] * crashes)
                self.assertEqual(len(set(killed)), crashes)
                self.assertEqual((code, self.locks()), (0, expected) if crashes < 3 else (1, {}))
                (self.root / ".terraform.lock.hcl").unlink(missing_ok=True)

    def test_an_error_is_not_retried(self):
        # A line separator of Unicode does not end a line of the protocol.
        (self.root / "main.tf").write_text('module "vpc\u2028" {\n  source = "./vpc"\n}\n')
        started = self.place / "started"
        self.wrap(f'echo >>{started}; exec {BINARY} "$@"')
        code, err = self.run_program()
        self.assertIn('found "vpc\u2028"', err)
        self.assertEqual((code, started.read_text(), self.locks()), (1, "\n", {}))

    def test_has_at_most_60_lines(self):
        self.assertLessEqual(len(code_of(self.language).splitlines()), 60)


class Go(CallingPrograms, unittest.TestCase):
    language = "go"

    @classmethod
    def build(cls, directory):
        go = shutil.which("go", path=f"{os.environ.get('PATH', '')}:/usr/local/go/bin")
        if go is None:
            raise unittest.SkipTest("needs go")
        shutil.copytree(HERE / "calling_programs", directory / "go")
        (directory / "go/main.go").write_text(code_of("go"), encoding="utf-8")
        offline = os.environ | {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
        run = functools.partial(subprocess.run, cwd=directory / "go", env=offline, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
        missing = run([go, "mod", "download"])
        if missing.returncode != 0:
            raise unittest.SkipTest(f"needs the Go modules of tests/hosts/calling_programs: {missing.stdout.strip()}")
        format_of = run([pathlib.Path(go).with_name("gofmt"), "-d", "main.go"]).stdout
        assert format_of == "", format_of
        run([go, "vet", "."], check=True)
        run([go, "build", "-o", "host", "."], check=True)
        return [directory / "go/host"]


class TypeScript(CallingPrograms, unittest.TestCase):
    language = "typescript"

    @classmethod
    def build(cls, directory):
        node = shutil.which("node")
        if node is None:
            raise unittest.SkipTest("needs node")
        if not (PACKAGES / "json-rpc-2.0").exists():
            raise unittest.SkipTest("needs the npm packages of tests/schemas, which scripts/check-schemas installs")
        (directory / "ts").mkdir()
        (directory / "ts/node_modules").symlink_to(PACKAGES)
        (directory / "ts/host.mts").write_text(code_of("typescript"), encoding="utf-8")
        subprocess.run([PACKAGES / ".bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "host.mts"],
                       cwd=directory / "ts", check=True)
        return [node, directory / "ts/host.mjs"]


if __name__ == "__main__":
    ran = unittest.main(exit=False).result
    for test, reason in ran.skipped:
        print(f"skipped: {test}: {reason}")
    sys.exit(1 if not ran.wasSuccessful() else 77 if ran.testsRun == 0 else 0)
