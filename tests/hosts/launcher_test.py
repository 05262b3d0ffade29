"""scripts/tofu-modlock-launcher: which loader it starts, however it is called: launcher_test.py."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
LAUNCHER = pathlib.Path(__file__).resolve().parents[2] / "scripts/tofu-modlock-launcher"
LOADER = "lib/tofu-modlock/ld-linux-x86-64.so.2"
SHELLS = [name for name in ("dash", "bash", "bash --posix", "busybox sh", "zsh") if shutil.which(name.split()[0])]
NOT_FOUND = ("tofu-modlock: cannot find the directory of this script\n"
             "  hint: run it by its path, such as /opt/tofu-modlock/bin/tofu-modlock\n")
RAN = "the installed loader: run 'a b'\n"


class Launcher(unittest.TestCase):
    """tree/ is an installed tree. The current directory is checkout/live, and checkout/lib has a loader too."""

    maxDiff = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="modlock-launcher-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.tree, self.live = self.directory / "tree", self.directory / "checkout/live"
        self.live.mkdir(parents=True)
        self.tools = self.directory / "tools"
        self.tools.mkdir()
        for name in {shell.split()[0] for shell in SHELLS} | {"readlink"}:
            (self.tools / name).symlink_to(os.path.realpath(shutil.which(name)))
        self.add_tree(self.tree)
        self.add_loader(self.live.parent, "a loader of the checkout")

    def add_loader(self, tree, name, text=None):
        loader = tree / LOADER
        loader.parent.mkdir(parents=True, exist_ok=True)
        loader.write_text(text or f"""#!/bin/sh\nprintf "{name}: run '%s'\\n" "$6 $7"\n""")
        loader.chmod(0o755)

    def add_tree(self, tree, name="the installed loader"):
        (tree / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy(LAUNCHER, tree / "bin/tofu-modlock")
        self.add_loader(tree, name)

    def run_command(self, command, path, directory=None):
        ran = subprocess.run(["/bin/sh", "-c", command], cwd=directory or self.live, env={"PATH": path}, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return ran.returncode, ran.stdout

    def test_the_loader_of_its_own_tree(self):
        (self.directory / "link").symlink_to(self.tree / "bin/tofu-modlock")
        (self.directory / "second").symlink_to("link")
        (self.live / "relative").symlink_to("../../tree/bin/tofu-modlock")
        rows = [
            ("on PATH", "tofu-modlock a b"),
            ("a path", "../../tree/bin/tofu-modlock a b"),
            ("an absolute path", f"{self.tree}/bin/tofu-modlock a b"),
            ("a link", f"{self.directory}/link a b"),
            ("a link to a link", "../../second a b"),
            ("a relative link", "./relative a b"),
            ("its own directory", "cd ../../tree/bin && ./tofu-modlock a b"),
            ("another name in the arguments", "exec -a other tofu-modlock a b"),
            *((f"{shell} and a path", f"{shell} ../../tree/bin/tofu-modlock a b") for shell in SHELLS),
        ]
        for name, command in rows:
            with self.subTest(name):
                if command.startswith("exec"):
                    command = f"bash -c '{command}'"
                self.assertEqual(self.run_command(command, f"{self.tree}/bin:{self.tools}"), (0, RAN))

    def test_no_loader_of_the_current_directory(self):
        for shell in SHELLS:
            # bash finds a script on PATH, and zsh names the file that it reads.
            found = (0, RAN) if "bash" in shell else None
            sourced = (0, "the installed loader: run ' '\n") if shell == "zsh" else (127, NOT_FOUND)
            rows = [
                ("without a directory", f"{shell} tofu-modlock a b", found),
                ("from standard input", f"{shell} <../../tree/bin/tofu-modlock", (127, NOT_FOUND)),
                ("sourced", f"{shell} -c '. ../../tree/bin/tofu-modlock'", sourced),
                ("sourced by a script", f"echo '. ../../tree/bin/tofu-modlock' >run; {shell} ./run", sourced),
                ("another $0", f"{shell} -c '. ../../tree/bin/tofu-modlock' ./run", sourced),
            ]
            for name, command, expected in rows:
                with self.subTest(name, shell=shell):
                    code, output = self.run_command(command, f"{self.tree}/bin:{self.tools}")
                    self.assertNotIn("a loader of the checkout", output)
                    if expected is None:
                        self.assertNotEqual(code, 0, output)
                    else:
                        self.assertEqual((code, output), expected)

    def test_its_own_directory_without_a_path(self):
        """The user means the file of the current directory, and PATH has none."""
        for shell in SHELLS:
            with self.subTest(shell):
                self.assertEqual(self.run_command(f"{shell} tofu-modlock a b", str(self.tools), self.tree / "bin"), (127, NOT_FOUND))

    def test_without_readlink(self):
        (self.tools / "readlink").unlink()
        (self.live / "link").symlink_to(self.tree / "bin/tofu-modlock")
        for command in ("./link", f"{self.live}/link"):
            code, output = self.run_command(f"{command} a b", str(self.tools))
            self.assertEqual(code, 127, output)
            self.assertIn("tofu-modlock: cannot resolve the link ", output)
            self.assertTrue(output.endswith("  hint: put a directory with readlink on PATH, or run the file that the link names\n"), output)
        self.assertEqual(self.run_command("../../tree/bin/tofu-modlock a b", str(self.tools)), (0, RAN))

    def test_loaders(self):
        libraries = self.tree / "lib/tofu-modlock"
        (libraries / "ld-linux-aarch64.so.1").write_text("of another machine, and not executable")
        self.assertEqual(self.run_command("tofu-modlock a b", f"{self.tree}/bin:{self.tools}"), (0, RAN))
        (libraries / "ld-linux-x86-64.so.2").unlink()
        self.assertEqual(self.run_command("tofu-modlock a b", f"{self.tree}/bin"), (
            127, f"tofu-modlock: {self.tree}/bin/../lib/tofu-modlock has no loader that can be run\n  hint: unpack the release again\n"))

    def test_a_directory_that_was_removed(self):
        gone = self.directory / "gone"
        gone.mkdir()
        code, output = self.run_command(f"rmdir {gone}; tofu-modlock a b", f"{self.tree}/bin:{self.tools}:/usr/bin", gone)
        self.assertEqual((code, output.splitlines()[-1]), (0, RAN.strip()))


if __name__ == "__main__":
    unittest.main()
