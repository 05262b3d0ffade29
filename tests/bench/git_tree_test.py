#!/usr/bin/env python3
"""What the benchmark measures is what it says: the shape of its trees, and repositories that agree with them."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import git_tree
import module_rows

BASE = "https://localhost:1"


class GitTreeTest(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)

    def path(self, name):
        return os.path.join(self.home.name, name)

    def git(self, repository, *arguments):
        return subprocess.run(["git", "--git-dir", repository, *arguments], check=True, stdout=subprocess.PIPE,
                              text=True).stdout

    def test_both_trees_have_sixty_calls_in_three_levels(self):
        for kind, packages in (("spread", 60), ("shared", 20)):
            with self.subTest(kind):
                calls = list(git_tree.Tree(kind, BASE).walk())
                self.assertEqual(len({key for key, _ in calls}), 60)
                self.assertEqual([sum(key.count(".") == level for key, _ in calls) for level in range(3)], [6, 18, 36])
                self.assertEqual(len({(call.repository, call.tag) for _, call in calls}), packages)
                self.assertEqual(len({call.repository for _, call in calls}), 20)

    def test_every_tag_holds_the_calls_of_the_tree(self):
        tree = git_tree.Tree("spread", BASE)
        repository = self.path("service.git")
        git_tree.make_repository(repository, git_tree.Content(tree, "service-2"))
        self.assertEqual(sorted(self.git(repository, "tag").split()), sorted(git_tree.TAGS))
        for tag in git_tree.NESTED_TAGS:
            with self.subTest(tag):
                text = self.git(repository, "show", tag + ":main.tf")
                for call in tree.calls_of("service-2", tag):
                    self.assertIn('source = "%s"' % call.source(tree.base_url), text)

    def test_a_repository_is_of_a_usual_size_and_the_same_in_every_run(self):
        heads = []
        for name in ("one.git", "two.git"):
            git_tree.make_repository(self.path(name), git_tree.Content(git_tree.Tree("shared", BASE), "base-1"))
            heads.append(self.git(self.path(name), "rev-parse", "HEAD"))
        self.assertEqual(heads[0], heads[1])
        self.assertEqual(int(self.git(self.path("one.git"), "rev-list", "--count", "HEAD")), 50)
        files = self.git(self.path("one.git"), "ls-tree", "-r", "--name-only", "HEAD").split()
        self.assertTrue(10 <= len(files) <= 32, files)

    def test_a_differing_or_missing_file_is_noticed(self):
        for root, files in (("ours", {"a/x.tf": "1", "a/.git/HEAD": "2"}), ("same", {"a/x.tf": "1"}),
                            ("changed", {"a/x.tf": "2"}), ("more", {"a/x.tf": "1", "b/y.tf": ""})):
            for name, text in files.items():
                path = os.path.join(self.path(root), ".terraform", "modules", name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as file:
                    file.write(text)
        self.assertEqual(module_rows.check_same(self.path("ours"), self.path("same")), 1)
        for other in ("changed", "more"):
            with self.subTest(other), self.assertRaises(SystemExit):
                module_rows.check_same(self.path("ours"), self.path(other))


if __name__ == "__main__":
    unittest.main()
