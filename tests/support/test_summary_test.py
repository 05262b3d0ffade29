#!/usr/bin/env python3
"""Tests of scripts/test-summary.

usage: test_summary_test.py SAMPLE    the program of summary_sample.cpp
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from xml.sax.saxutils import escape

TESTS = pathlib.Path(__file__).resolve().parents[1]
SUMMARY = TESTS.parent / "scripts/test-summary"

PASSING = """Running 2 test cases...
x.cpp(3): Entering test case "one"
x.cpp(3): Leaving test case "one"; testing time: 4us
Test case "s/two" is skipped because precondition failed: needs openssl
skipped: s/two (1 case): needs openssl
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
# A suite of two cases that was skipped, and then a crash.
CRASHED = """Running 5 test cases...
Test suite "s" is skipped because precondition failed: needs hg
skipped: s (2 cases): needs hg
x.cpp(3): Entering test case "one"
x.cpp(3): Leaving test case "one"; testing time: 4us
x.cpp(12): Entering test case "two"
"""
SKIPPED = '<skipped message="SKIP_RETURN_CODE=77"/>'


def summary(tests, *arguments):
    """(exit code, lines) for tests of (status, output)."""
    cases = "".join(
        f'<testcase name="t{i}" status="{status}">{SKIPPED if status == "notrun" else ""}'
        f"<system-out>{escape(output)}</system-out></testcase>"
        for i, (status, output) in enumerate(tests)
    )
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as results:
        results.write(f"<testsuite>{cases}</testsuite>")
        results.flush()
        ran = subprocess.run([SUMMARY, results.name, *arguments], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout.splitlines()


class TestSummary(unittest.TestCase):
    def test_passed(self):
        code, lines = summary([("run", PASSING), ("run", "ok\n")])
        self.assertEqual(code, 0)
        self.assertEqual(
            lines,
            ["fault: a listing / 404: NOT_FOUND", "skipped: t0: s/two (1 case): needs openssl", "2 passed, 0 failed"],
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

    def test_skipped_program(self):
        for output, line in ("skipped: needs git\n", "skipped: t1: needs git"), ("", "skipped: t1"):
            with self.subTest(output):
                self.assertEqual(summary([("run", ""), ("notrun", output)]), (0, [line, "1 passed, 0 failed"]))

    def test_crash_after_a_skipped_suite(self):
        code, lines = summary([("fail", CRASHED)])
        self.assertEqual(code, 1)
        self.assertEqual(
            lines,
            ["skipped: t0: s (2 cases): needs hg", 'failed: t0: "two" was never left', "1 passed, 2 failed"],
        )

    def test_suite_without_a_number(self):
        self.assertEqual(
            summary([("run", 'Running 1 test case...\nTest suite "s" is skipped because precondition failed\n')])[1][-1],
            "0 passed, 1 failed",
        )

    def test_note(self):
        self.assertEqual(summary([("run", "")], "tests: 5 s"), (0, ["tests: 5 s", "1 passed, 0 failed"]))

    def test_real_output(self):
        skipped = [
            "skipped: t0: outer (2 cases): needs no-such-program or another-one",
            "skipped: t0: entered/four (1 case): needs no-such-program, another-one",
        ]
        for crash, status, lines in (
            ({}, "run", [*skipped, "4 passed, 0 failed"]),
            ({"CRASH": "1"}, "fail", [*skipped, 'failed: t0: "may_crash" was never left', "2 passed, 2 failed"]),
        ):
            with self.subTest(status):
                environment = {**os.environ, "BOOST_TEST_LOG_LEVEL": "test_suite", **crash}
                ran = subprocess.run([SAMPLE, "--color_output=no"], capture_output=True, text=True, check=False, env=environment)
                self.assertEqual(summary([(status, ran.stdout + ran.stderr)])[1], lines)

    def test_what_needs_a_client_has_a_run_of_its_own(self):
        for source in TESTS.rglob("*_test.cpp"):
            if re.search(r'needs\("[^"]*(tofu|terraform|terragrunt)', source.read_text()):
                program = re.search(rf"modlock_test\((?:(?!modlock_test).)*?{source.name}",
                                    (source.parent / "CMakeLists.txt").read_text(), re.DOTALL)
                with self.subTest(source.name):
                    self.assertIn("\n  CLIENTS\n", program[0])


if __name__ == "__main__":
    SAMPLE = sys.argv.pop()
    unittest.main()
