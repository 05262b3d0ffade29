#!/usr/bin/env python3
"""The tree of all kinds has the shape that its table names, and its bounds are those of the requests it needs."""

import os
import sys
import tempfile
import unittest
from collections import Counter
from types import SimpleNamespace

sys.dont_write_bytecode = True
import source_rows
import source_tree
from source_tree import KINDS, SourceTree

SERVER = SimpleNamespace(url="https://localhost:1", registry="127.0.0.1:2", oci="127.0.0.1:3")


class SourceTreeTest(unittest.TestCase):
    def test_twenty_calls_of_each_kind_in_three_levels_reach_every_module(self):
        for kinds, levels in ((KINDS, [6, 18, 36]), (KINDS[:2], [4, 12, 24])):
            with self.subTest(kinds):
                tree = SourceTree(kinds, SERVER)
                calls = list(tree.walk())
                self.assertEqual(len({key for key, _ in calls}), sum(levels))
                self.assertEqual([sum(key.count(".") == level for key, _ in calls) for level in range(3)], levels)
                self.assertEqual(Counter(call.module.kind for _, call in calls), {kind: 20 for kind in kinds})
                self.assertEqual({call.module for _, call in calls}, set(tree.by_name.values()))
                self.assertEqual(len(tree.by_name), 9 * len(kinds))

    def test_the_least_requests_and_round_trips(self):
        # git 9 x 2; registry 1, then 9 x (versions, download), 5 x git, 4 x archive; OCI 9 x 2 and 2 listings of tags
        tree = SourceTree(KINDS, SERVER)
        self.assertEqual(tree.least_requests(), 18 + 1 + 18 + 10 + 4 + 18 + 2)
        self.assertEqual(tree.least_round_trips(), 2 + 1 + 3 * 4)
        self.assertEqual(SourceTree(("git",), SERVER).least_requests(), 18)

    def test_only_the_pinned_root_names_tags(self):
        tree = SourceTree(KINDS, SERVER)
        with tempfile.TemporaryDirectory() as home:
            texts = {}
            for name, write in (("pinned", tree.write_pinned_root), ("free", tree.write_constrained_root)):
                write(os.path.join(home, name))
                with open(os.path.join(home, name, "main.tf")) as file:
                    texts[name] = file.read()
        self.assertEqual(texts["pinned"].count("?ref=v1.4.0"), 2)
        self.assertEqual(texts["pinned"].count("?tag=1.4.0"), 2)
        self.assertNotIn("?", texts["free"])
        for text in texts.values():
            self.assertEqual(text.count('version = "~> 1.0"'), 2)

    def test_packages_hold_all_files(self):
        files = {"main.tf": b"x", "data/a.txt": b"abc" * 1000}
        self.assertLess(len(source_rows.pack(files, "zip")), 3000)
        self.assertEqual(source_rows.pack(files, "tar.gz")[:2], b"\x1f\x8b")


if __name__ == "__main__":
    unittest.main()
