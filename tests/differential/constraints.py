"""The normal form of provider constraints, as lock files and the output of clients have it."""

import re

ITEM = re.compile(r"\s*(=|!=|>=|<=|~>|>|<|)\s*v?(\d+(?:\.\d+){0,2})(-[0-9A-Za-z.-]*)?(\+[0-9A-Za-z.-]*)?\s*$")
MINOR = "~> minor"  # the operator of "~> 1" and "~> 1.2"
ORDER = {">": 1, ">=": 2, "=": 3, "~>": 4, MINOR: 5, "<=": 6, "<": 7, "!=": 8}


def part_key(part):
    return (0, len(part), part) if part.isdigit() else (1, 0, part)


def smaller(left, right):
    """The order of prereleases: where one has no parts left, it is smaller before its last part counts."""
    left, right = left.split("."), right.split(".")
    for place in range(max(len(left), len(right))):
        if (place + 1 >= len(left)) != (place + 1 >= len(right)):
            return place + 1 >= len(left)
        if left[place] != right[place]:
            return part_key(left[place]) < part_key(right[place])
    return False


class Key:
    """Sorts an item by the version at its boundary, then by its operator."""

    def __init__(self, item):
        operator, self.numbers, self.pre, self.metadata = item
        self.order = ORDER[operator]

    def __lt__(self, other):
        if self.numbers != other.numbers:
            return self.numbers < other.numbers
        if self.pre != other.pre:
            if not self.pre or not other.pre:
                return bool(self.pre)
            return smaller(self.pre, other.pre)
        if self.metadata != other.metadata:
            if not self.metadata or not other.metadata:
                return not self.metadata
            return smaller(self.metadata, other.metadata)
        return self.order < other.order


def normalized(text):
    """`text` is what stands in a configuration; ValueError where it is no constraint."""
    items = set()
    for part in text.split(",") if text else []:
        match = ITEM.match(part)
        if not match:
            raise ValueError("%r is no version constraint" % part)
        written = [int(number) for number in match[2].split(".")]
        operator = MINOR if match[1] == "~>" and len(written) < 3 else match[1] or "="
        numbers = tuple(written + [0] * (3 - len(written)))
        items.add((operator, numbers, (match[3] or "")[1:], (match[4] or "")[1:]))
    return ", ".join(shown(item) for item in sorted(items, key=Key))


def shown(item):
    operator, numbers, pre, metadata = item
    sign = {"=": "", MINOR: "~> "}.get(operator, operator + " ")
    text = sign + ".".join(str(number) for number in (numbers[:2] if operator == MINOR else numbers))
    return text + ("-" + pre if pre else "") + ("+" + metadata if metadata else "")
