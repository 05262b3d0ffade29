"""Reads the part of YAML that the pages use: maps, lists, plain and quoted text, and lists in brackets."""

import json
import re


def read(text):
    lines = []
    for line in text.splitlines():
        line = re.sub(r"(^| +)#.*$", "", line).rstrip()
        if line:
            lines.append((len(line) - len(line.lstrip()), line.lstrip()))
    value, at = read_value(lines, 0)
    assert at == len(lines), lines[at]
    return value


def read_value(lines, at):
    """The map or list whose lines have the indentation of the one at `at`, and the index after it."""
    indent, text = lines[at]
    is_list = text.startswith("- ")
    value = [] if is_list else {}
    while at < len(lines) and lines[at][0] == indent and lines[at][1].startswith("- ") == is_list:
        text = lines[at][1]
        if is_list:
            text = text[2:]
            if is_entry(text):  # a map, whose other lines are below its first
                lines[at] = (indent + 2, text)
                item, at = read_value(lines, at)
            else:
                item, at = scalar(text), at + 1
            value.append(item)
            continue
        name, rest = is_entry(text).groups()
        assert name not in value, name
        at += 1
        if rest:
            value[name] = scalar(rest)
        else:
            value[name], at = read_value(lines, at)
    return value, at


def is_entry(text):
    return re.fullmatch(r"([\w.-]+):(?: +(.*))?", text)


def scalar(text):
    return json.loads(text) if text[0] in '["' else text.strip("'")
