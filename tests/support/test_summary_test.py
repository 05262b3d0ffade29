#!/usr/bin/env python3
"""Tests of scripts/test-summary."""
import pathlib
import subprocess
import tempfile
import unittest
from xml.sax.saxutils import escape

SUMMARY = pathlib.Path(__file__).resolve().parents[2] / "scripts/test-summary"

PASSING = """Running 2 test cases...
x.cpp(3): Entering test case "one"
x.cpp(3): Leaving test case "one"; testing time: 4us
Test case "s/two" is skipped because precondition failed
fault: a listing / 404: NOT_FOUND
"""
FAILING = """Running 3 test cases...
x.cpp(3): Entering test case "one"
x.cpp(9): error: in "s/one": check a == b has failed [1 != 2]
Failure occurred in a following context:
    row a
x.cpp(3): Leaving test case "one"; testing time: 4us
x.cpp(12): Entering test case "two"
Segmentation fault
"""


def summary(tests):
    """(exit code, lines) for tests of (status, output)."""
    cases = "".join(
        f'<testcase name="t{i}" status="{status}"><system-out>{escape(output)}</system-out></testcase>'
        for i, (status, output) in enumerate(tests)
    )
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as results:
        results.write(f"<testsuite>{cases}</testsuite>")
        results.flush()
        ran = subprocess.run([SUMMARY, results.name], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout.splitlines()


class TestSummary(unittest.TestCase):
    def test_passed(self):
        code, lines = summary([("run", PASSING), ("run", "ok\n")])
        self.assertEqual(code, 0)
        self.assertEqual(
            lines,
            ["fault: a listing / 404: NOT_FOUND", "skipped: t0: s/two (precondition failed)", "2 passed, 0 failed"],
        )

    def test_failed(self):
        code, lines = summary([("run", PASSING), ("fail", FAILING), ("fail", "no such file\n")])
        self.assertEqual(code, 1)
        self.assertEqual(
            lines[2:],
            [
                'failed: t1: x.cpp(9): error: in "s/one": check a == b has failed [1 != 2]',
                "failed: t1: Failure occurred in a following context:",
                "failed: t1:     row a",
                'failed: t1: "two" was never left',
                "failed: t2: no such file",
                "1 passed, 4 failed",
            ],
        )

    def test_nothing(self):
        self.assertEqual(summary([])[0], 1)


if __name__ == "__main__":
    unittest.main()
