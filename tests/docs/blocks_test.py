"""The command blocks and commands that are read from a page."""

import unittest

import blocks

PAGE = """# Page

<!-- not run: needs a server -->
<!-- exits: 1 0 -->
```console
$ false
$ true   # a comment
output
```

<!-- before: scene -->
A line between a mark and a block removes the mark.
```sh
one
two
```

1. In a list:

   ```console
   $ echo a
   ```
"""


class Blocks(unittest.TestCase):
    def test_marks_are_those_directly_above_the_block(self):
        found = blocks.read_blocks(PAGE)
        self.assertEqual([(block.line, block.language, block.marks) for block in found], [
            (6, "console", {"not run": "needs a server", "exits": "1 0"}),
            (14, "sh", {}),
            (21, "console", {}),
        ])
        self.assertEqual(found[2].lines, ["$ echo a"])

    def test_commands(self):
        rows = [
            ("one", ["$ a", "out", "$ b"], [("a", "out"), ("b", "")]),
            ("a backslash", ["$ a \\", "  b", "out"], [("a \\\n  b", "out")]),
            ("a pipe", ["$ a |", "  b", "out"], [("a |\n  b", "out")]),
            ("quotes", ["$ a 'x", "y'", "out"], [("a 'x\ny'", "out")]),
            ("a here-document", ["$ cat <<'EOF'", "x", "EOF", "out"], [("cat <<'EOF'\nx\nEOF", "out")]),
            ("output before a command", ["out", "$ a"], [("a", "")]),
        ]
        for name, lines, expected in rows:
            with self.subTest(name):
                self.assertEqual(blocks.Block(1, "console", lines).commands(), expected)

    def test_a_script_is_one_command(self):
        self.assertEqual(blocks.Block(1, "sh", ["a", "b"]).commands(), [("a\nb", "")])


if __name__ == "__main__":
    unittest.main()
