"""A module that is being made up: its blocks, who calls it, and expressions for the values it needs."""

import os
from dataclasses import dataclass, field

from rendering import Block, Raw, Reference, native_value

WORDS = "alpha beta gamma delta kappa sigma omega zeta".split()


@dataclass
class Draft:
    random: object
    directory: str  # "." is the root module's
    callers: list = field(default_factory=list)  # (draft, block of the call)
    blocks: list = field(default_factory=list)
    variable_values: dict = field(default_factory=dict)  # of the root module: what a .tfvars file says
    used: set = field(default_factory=set)

    def name(self):
        while True:
            name = "%s_%d" % (self.random.choice(WORDS), self.random.randrange(100))
            if name not in self.used:
                self.used.add(name)
                return name

    def add(self, type, labels=(), body=None, blocks=()):
        block = Block(type, list(labels), dict(body or {}), list(blocks))
        self.blocks.append(block)
        return block

    def source_of(self, other):
        """One of the ways to write the address of the directory of `other`."""
        path = os.path.relpath(other.directory, self.directory)
        path = path if path.startswith("../") or path == ".." else "./" + path
        return self.random.choice([path] * 6 + [path.replace("/", "//", 1), path + "/", path.replace("./", "././", 1)])

    def expression(self, text, depth):
        """A value, or an expression for it, that evaluates to the string `text` in this module."""
        if depth == 0:
            return text
        form = self.random.choice([literal, default, given, typed, local, conditional, template, call, call, index,
                                   comprehension, function])
        return form(self, text, depth - 1)

    def inline(self, text, depth):
        return native_value(self.expression(text, depth))


def decoy(draft):
    return "./" + draft.random.choice(WORDS)


def halves(draft, text):
    place = draft.random.randint(0, len(text))
    return text[:place], text[place:]


def literal(draft, text, depth):
    return text


def default(draft, text, depth):
    name = draft.name()
    body = {"default": text}
    if draft.random.random() < 0.5:
        body["type"] = Reference(draft.random.choice(["string", "any"]))
    draft.add("variable", [name], body)
    return Raw("var." + name)


def given(draft, text, depth):
    """The caller's argument, or a .tfvars file, wins over the default."""
    name = draft.name()
    draft.add("variable", [name], draft.random.choice([{}, {"default": decoy(draft)}, {"type": Reference("string")}]))
    give(draft, name, text, depth)
    return Raw("var." + name)


def give(draft, name, text, depth):
    for caller, block in draft.callers:
        block.body[name] = caller.expression(text, depth)
    if not draft.callers:
        draft.variable_values[name] = text


def typed(draft, text, depth):
    name = draft.name()
    kind, value, path = draft.random.choice([
        ("object({ at = optional(string, \"%s\"), n = optional(number) })" % text, {}, ".at"),
        ("list(string)", [decoy(draft), text], "[1]"),
        ("map(string)", {"k": text, "l": decoy(draft)}, "[\"k\"]"),
        ("tuple([number, string])", [1, text], "[1]"),
    ])
    draft.add("variable", [name], {"type": Reference(kind), "default": value})
    return Raw("var." + name + path)


def local(draft, text, depth):
    name = draft.name()
    draft.add("locals", [], {name: draft.expression(text, depth)})
    return Raw("local." + name)


def conditional(draft, text, depth):
    wanted = draft.inline(text, depth)
    condition, holds = draft.random.choice([
        ("1 < 2", True), ("!true", False), ("\"a\" == \"b\"", False), ("length(\"abc\") >= 3 && true", True),
        ("contains([\"x\"], \"y\") || false", False), ("terraform.workspace == \"default\"", True),
        ("null != 1", True), ("path.root == \".\"", True), ("can(tonumber(\"x\"))", False)])
    return Raw("%s ? %s : %s" % ((condition, wanted, native_value(decoy(draft))) if holds else
                                 (condition, native_value(decoy(draft)), wanted)))


def template(draft, text, depth):
    left, right = halves(draft, text)
    return draft.random.choice(["%s${%s}", "%s${ %s }", "%s%%{ if true }${%s}%%{ else }no%%{ endif }"]) % (
        left, draft.inline(right, depth))


def call(draft, text, depth):
    left, right = halves(draft, text)
    form = draft.random.choice([
        "format(\"%s%s\", {l}, {r})", "join(\"\", [{l}, {r}])", "trimspace(\"  ${{{l}}}${{{r}}} \")",
        "coalesce(null, \"${{{l}}}${{{r}}}\")", "element([{d}, \"${{{l}}}${{{r}}}\"], 3)",
        "lookup({{ k = \"${{{l}}}${{{r}}}\" }}, \"k\", {d})", "try(tonumber({d}), \"${{{l}}}${{{r}}}\")",
        "merge({{ k = {d} }}, {{ k = \"${{{l}}}${{{r}}}\" }}).k", "concat([{d}], [\"${{{l}}}${{{r}}}\"])[1]",
        "flatten([[{d}], [[\"${{{l}}}${{{r}}}\"]]])[1]", "jsondecode(jsonencode({{ k = \"${{{l}}}${{{r}}}\" }})).k",
        "one([\"${{{l}}}${{{r}}}\"])", "trimprefix(\"x-${{{l}}}${{{r}}}\", \"x-\")",
        "trimsuffix(\"${{{l}}}${{{r}}}-x\", \"-x\")", "replace(\"${{{l}}}#${{{r}}}\", \"#\", \"\")",
        "substr(\"xx${{{l}}}${{{r}}}\", 2, -1)", "values({{ k = \"${{{l}}}${{{r}}}\" }})[0]",
        "zipmap([\"k\"], [\"${{{l}}}${{{r}}}\"])[\"k\"]", "base64decode(base64encode(\"${{{l}}}${{{r}}}\"))",
        "split(\"|\", \"x|${{{l}}}${{{r}}}\")[1]", "nonsensitive(\"${{{l}}}${{{r}}}\")",
        "regex(\"x(.*)\", \"x${{{l}}}${{{r}}}\")[0]", "core::join(\"\", [{l}, {r}])", "reverse([{d}, {r}])[0] == {r} ? "
        "\"${{{l}}}${{{r}}}\" : {d}", "join(\"\", compact([{l}, \"\", {r}]))"])
    return Raw(form.format(l=draft.inline(left, depth), r=draft.inline(right, 0), d=native_value(decoy(draft))))


def index(draft, text, depth):
    wanted = draft.inline(text, depth)
    return Raw(draft.random.choice(["[{d}, {w}][1]", "[{w}, {d}].0", "{{ k = {w} }}.k", "{{ \"a b\" = {w} }}[\"a b\"]",
                                    "([{{ k = {w} }}][*].k)[0]", "[{{ k = {w} }}].*.k[0]", "({w})"]).format(
        w=wanted, d=native_value(decoy(draft))))


def comprehension(draft, text, depth):
    wanted = draft.inline(text, depth)
    return Raw(draft.random.choice([
        "[for s in [{d}, {w}] : s if s != {d}][0]", "{{ for k, v in {{ a = {w} }} : k => v }}.a",
        "join(\"\", [for i, s in [{w}] : \"${{s}}\" if i == 0])",
        "{{ for s in [{w}] : \"k\" => s... }}[\"k\"][0]"]).format(w=wanted, d=native_value("no such")))


def function(draft, text, depth):
    """Functions of one argument that change nothing here."""
    return Raw("%s(%s)" % (draft.random.choice(["tostring", "chomp", "trimspace", "try"]), draft.inline(text, depth)))
