"""The steps of action.yml and of workflows, read from the files, and their expressions."""

import re

from release_tree import PROJECT


class Step(dict):
    """A step: its keys, such as name, if, run, uses; env and with are maps."""


def read_block(lines, at, indent):
    """The lines from `at` on that are indented by `indent`, without that."""
    text = ""
    while at < len(lines) and (not lines[at].strip() or lines[at].startswith(" " * indent)):
        text += lines[at][indent:].rstrip() + "\n"
        at += 1
    return text.rstrip("\n") + "\n", at


def read_steps(name, job=None):
    """The steps of an action, or of a job of a workflow. Every line of them must be of a known form."""
    lines = [line for line in (PROJECT / name).read_text(encoding="utf-8").splitlines() if not re.match(r" *#", line)]
    at = lines.index(f"  {job}:") if job else lines.index("runs:")
    at = next(number for number in range(at, len(lines)) if lines[number].strip() == "steps:")
    indent = len(lines[at]) - len(lines[at].lstrip()) + 2
    steps = []
    at += 1
    while at < len(lines) and (not lines[at].strip() or lines[at].startswith(" " * indent)):
        line = lines[at]
        at += 1
        if not line.strip():
            continue
        if line[indent:].startswith("- "):
            steps.append(Step())
        found = re.fullmatch(r"(?:- |  )([a-z-]+):(?: (.*))?", line[indent:])
        assert found, line
        key, value = found.groups()
        if key == "uses":
            value = value.partition(" #")[0]
        if value == "|":
            value, at = read_block(lines, at, indent + 4)
        elif value is None:
            value = {}
            while at < len(lines) and lines[at].startswith(" " * (indent + 4)):
                name, _, text = lines[at].strip().partition(": ")
                at += 1
                if text == "|":
                    text, at = read_block(lines, at, indent + 6)
                value[name] = text
        steps[-1][key] = value
    return steps


def with_values(text, values):
    """The text with the value of each expression; an expression without a value is an error."""
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values[found[1]], text)
