"""`tofu-modlock init` on a terminal, where it asks for each file: init_prompt_test.py BINARY."""

import os
import pathlib
import pty
import shutil
import sys
import tempfile
import unittest

BINARY = str(pathlib.Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 else None
FILES = [".gitattributes", ".github/workflows/tofu-modlock.yml", ".pre-commit-config.yaml", ".tofu-modlock.hcl"]


def answered(directory, answers):
    """What init prints with these lines typed, and the files that exist then."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(directory)
        os.execv(BINARY, [BINARY, "init"])
    os.write(terminal, answers.encode())
    shown = b""
    try:
        while more := os.read(terminal, 4096):
            shown += more
    except OSError:
        pass  # the end of the output
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, shown.decode(), [name for name in FILES if (directory / name).exists()]


class Prompt(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)

    def test_answers(self):
        rows = [
            ("the default is no", "\n\n\n\n", []),
            ("yes to all", "y\nyes\nY\ny\n", FILES),
            ("some", "y\nn\nn\ny\n", [".pre-commit-config.yaml", ".tofu-modlock.hcl"]),
            ("other words are no", "yess\n1\nq\n \n", []),
            ("the end of the input is no", "\x04\x04\x04\x04", []),
        ]
        for name, answers, expected in rows:
            with self.subTest(name):
                directory = self.directory / name
                directory.mkdir()
                code, shown, files = answered(directory, answers)
                self.assertEqual((code, files), (0, expected), shown)
                self.assertIn("Write .tofu-modlock.hcl (settings, most as comments)? [y/N] ", shown)
                self.assertEqual(shown.count("[y/N]"), 4)

    def test_an_existing_file_is_reported_and_not_asked_for(self):
        (self.directory / ".tofu-modlock.hcl").write_text("")
        code, shown, files = answered(self.directory, "\n\n\n")
        self.assertEqual((code, files), (0, [".tofu-modlock.hcl"]))
        self.assertIn(".tofu-modlock.hcl: exists, not changed", shown)
        self.assertEqual(shown.count("[y/N]"), 3)


if __name__ == "__main__":
    unittest.main()
