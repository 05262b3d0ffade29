#!/usr/bin/env python3
"""The configurations that inspect is measured with are what the table says of them."""

import json
import os
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import aws_style
import inspect_rows
from git_tree import Tree


class InspectRowsTest(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)

    def path(self, name):
        return os.path.join(self.home.name, name)

    def test_the_large_module_has_the_size_asked_for(self):
        size = aws_style.write_root(self.path("large"), files=20, size=200_000)
        files = [os.path.join(self.path("large"), name) for name in os.listdir(self.path("large"))]
        self.assertEqual(len(files), 20)
        self.assertEqual(sum(map(os.path.getsize, files)), size)
        self.assertTrue(200_000 <= size <= 240_000, size)

    def test_no_name_is_declared_twice(self):
        text = "".join(aws_style.Writer("f%d" % number).file(10_000) for number in range(100))
        blocks = re.findall(r'^(?:resource|data) "\w+" "(\w+)"|^(?:variable|output|module) "(\w+)"', text, re.MULTILINE)
        names = ["".join(pair) for pair in blocks]
        self.assertTrue(len(names) > 1000)
        self.assertEqual(len(names), len(set(names)))

    def test_a_file_is_the_same_in_every_run(self):
        self.assertEqual(aws_style.Writer("f1").file(5000), aws_style.Writer("f1").file(5000))
        self.assertNotEqual(aws_style.Writer("f1").file(5000), aws_style.Writer("f2").file(5000))

    def test_all_modules_of_the_tree_lie_where_its_manifest_says(self):
        inspect_rows.write_installed(self.path("tree"), Tree("spread", "https://localhost:1"))
        with open(self.path("tree/.terraform/modules/modules.json")) as file:
            modules = json.load(file)["Modules"]
        self.assertEqual(len(modules), 61)
        for module in modules:
            with self.subTest(module["Key"]):
                self.assertTrue(os.path.isfile(os.path.join(self.path("tree"), module["Dir"], "main.tf")))


if __name__ == "__main__":
    unittest.main()
