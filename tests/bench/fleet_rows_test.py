#!/usr/bin/env python3
"""The fleet that is measured is what the table says of it."""

import os
import subprocess
import sys
import tempfile
import unittest
from collections import Counter

sys.dont_write_bytecode = True
import fleet_rows


class FleetRowsTest(unittest.TestCase):
    def setUp(self):
        home = tempfile.TemporaryDirectory()
        self.addCleanup(home.cleanup)
        self.home = home.name

    def test_each_module_is_called_by_as_many_roots(self):
        roots = [fleet_rows.sources_of(number) for number in range(fleet_rows.ROOTS)]
        calls = Counter(source for sources in roots for source in sources)
        self.assertEqual(len(calls), fleet_rows.SOURCES)
        self.assertEqual(set(calls.values()), {fleet_rows.ROOTS * fleet_rows.CALLS // fleet_rows.SOURCES})
        self.assertTrue(all(len(set(sources)) == fleet_rows.CALLS for sources in roots))

    def test_a_root_calls_its_modules_and_constrains_them(self):
        root = os.path.join(self.home, "root")
        fleet_rows.write_root(root, [7, 8], "https://localhost:1")
        with open(os.path.join(root, "main.tf")) as file:
            self.assertIn('module "m8" {\n  source = "git::https://localhost:1/8.git"\n}\n', file.read())
        with open(os.path.join(root, ".tofu-modlock.hcl")) as file:
            self.assertIn('module "m7" {\n  version = "~> 1.0"\n}\n', file.read())

    def test_a_module_has_its_versions(self):
        path = os.path.join(self.home, "7.git")
        fleet_rows.make_repository(path, 7)
        git = ["git", "-C", path]
        tags = subprocess.run([*git, "tag"], check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(tags, fleet_rows.VERSIONS)
        text = subprocess.run([*git, "show", "v1.1.0:main.tf"], check=True, capture_output=True, text=True).stdout
        self.assertIn("module 7 of v1.1.0", text)


if __name__ == "__main__":
    unittest.main()
