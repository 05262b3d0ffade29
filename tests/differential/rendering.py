"""A tree of blocks, and its text in native and in JSON syntax."""

import json
from dataclasses import dataclass, field


class Raw(str):
    """An expression as native syntax writes it."""


class Reference(str):
    """What JSON writes as a bare string: provider configurations, types, entries of depends_on."""


@dataclass
class Block:
    type: str
    labels: list = field(default_factory=list)
    body: dict = field(default_factory=dict)  # name -> value; a plain str is a template
    blocks: list = field(default_factory=list)


def native(blocks, indent=""):
    return "\n".join(native_block(block, indent) for block in blocks)


def native_block(block, indent):
    head = " ".join([indent + block.type] + ['"%s"' % label for label in block.labels])
    inner = indent + "  "
    lines = ["%s%s = %s" % (inner, name, native_value(value, inner)) for name, value in block.body.items()]
    text = "\n".join(lines) + "\n" if lines else ""
    text += native(block.blocks, inner)
    return "%s {\n%s%s}\n" % (head, text, indent) if text else "%s {}\n" % head


def native_value(value, indent=""):
    if isinstance(value, (Raw, Reference)):
        return str(value)
    if isinstance(value, str):
        return '"%s"' % value
    if isinstance(value, list):
        return "[%s]" % ", ".join(native_value(item, indent) for item in value)
    if isinstance(value, dict):
        inner = indent + "  "
        return "{\n%s%s}" % ("".join("%s%s = %s\n" % (inner, key, native_value(item, inner))
                                     for key, item in value.items()), indent)
    return json.dumps(value)


def as_json(blocks, random):
    """The same in JSON; `random` chooses between its forms."""
    top = {}
    for block in blocks:
        add_block(top, block, random)
    return json.dumps(top, indent=random.choice([None, 2]), ensure_ascii=random.random() < 0.5) + "\n"


def add_block(parent, block, random):
    """Adds it below `parent`: one object level for each label, then an object or an array of objects."""
    path = [block.type, *block.labels]
    for name in path[:-1]:
        parent = parent.setdefault(name, {})
    content = {name: json_value(value) for name, value in block.body.items()}
    for inner in block.blocks:
        add_block(content, inner, random)
    if random.random() < 0.1:
        content = {"//": "a comment", **content}
    known = parent.get(path[-1])
    if known is None:
        parent[path[-1]] = [content] if random.random() < 0.3 else content
    elif isinstance(known, list):
        known.append(content)
    else:
        parent[path[-1]] = [known, content]


def json_value(value):
    if isinstance(value, Raw):
        return "${%s}" % value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    return value
