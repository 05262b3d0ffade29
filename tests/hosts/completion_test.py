"""What bash offers, word by word."""

import pathlib
import subprocess
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/completions/tofu-modlock.bash"


def offered(*words):
    """The completions of the last word."""
    program = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tofu_modlock; echo "${COMPREPLY[*]}"'
    ran = subprocess.run(["bash", "-c", program, "bash", str(SCRIPT), "tofu-modlock", *words], check=True,
                         stdout=subprocess.PIPE, cwd="/")
    return ran.stdout.decode().split()


class Completion(unittest.TestCase):
    def test_words(self):
        rows = [
            (["ver"], ["verify", "versions", "version"]),
            (["wh"], ["why"]),
            (["why", "--cred"], ["--credentials"]),
            (["outdated", "--rec"], ["--recursive"]),
            (["lock", "--fr"], ["--frozen"]),
            (["lock", "--hashes", "s"], ["superset"]),
            (["lock", "--include", ""], ["modules", "providers"]),
            (["cache", "p"], ["prune"]),
            (["cache", "prune", "--max-a"], ["--max-age"]),
            (["schema", "open"], ["openrpc"]),
            (["lock", "us"], ["usr"]),
            (["nonsense", "--x"], []),
        ]
        for words, expected in rows:
            with self.subTest(words=words):
                self.assertEqual(offered(*words), expected)


if __name__ == "__main__":
    unittest.main()
