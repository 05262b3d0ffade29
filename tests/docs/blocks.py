"""The command blocks of a page, and the commands in them."""
import re
from dataclasses import dataclass, field

LANGUAGES = ("console", "bash", "shell", "sh")
FENCE = re.compile(r"^\s*```(\S*)\s*$")
MARK = re.compile(r"^\s*<!-- (not run|before|exits|file): (.+) -->$")
HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)")


@dataclass
class Block:
    line: int  # of the first line of its text
    language: str
    lines: list
    marks: dict = field(default_factory=dict)  # "not run", "before", "exits", "file"

    def commands(self):
        """(command, shown output) of each command; a script is one command."""
        if self.language != "console":
            return [("\n".join(self.lines), "")]
        found = []
        for line in self.lines:
            if line.startswith("$ "):
                found.append([line[2:], []])
            elif found and not found[-1][1] and is_incomplete(found[-1][0]):
                found[-1][0] += "\n" + line
            elif found:
                found[-1][1].append(line)
        return [(command, "\n".join(shown)) for command, shown in found]


def is_incomplete(command):
    """Whether the shell reads more lines: after a backslash, an operator, in quotes or in a here-document."""
    here = HERE_DOCUMENT.search(command)
    if here:
        return not command.endswith("\n" + here[1])
    return command.rstrip().endswith(("\\", "|", "&&")) or command.count("'") % 2 == 1


def read_blocks(text):
    """Every fenced block, with the marks in the lines directly above it."""
    blocks = []
    marks = {}
    current = None
    indent = 0
    for number, line in enumerate(text.splitlines(), start=1):
        fence = FENCE.match(line)
        if current is not None:
            if fence:
                blocks.append(current)
                current = None
            else:
                current.lines.append(line[indent:])
        elif fence:
            indent = len(line) - len(line.lstrip())
            current = Block(number + 1, fence[1], [], marks)
            marks = {}
        elif mark := MARK.match(line):
            marks[mark[1]] = mark[2]
        else:
            marks = {}
    return blocks
