"""What goes wrong in a configuration: blocks that no client takes, and damage to the text of a file."""

from contents import block
from rendering import Raw, Reference

BLOCKS = [  # (type, labels, body, inner blocks)
    ("resources", ["a", "b"], {}, ()),
    ("required_providers", [], {"aws": {"source": "hashicorp/aws"}}, ()),
    ("variable", [], {"default": 1}, ()),
    ("variable", ["1x"], {}, ()),
    ("variable", ["source"], {}, ()),
    ("variable", ["a", "b"], {}, ()),
    ("variable", ["v_type"], {"type": Reference("strin")}, ()),
    ("variable", ["v_type"], {"type": Reference("list(string, number)")}, ()),
    ("variable", ["v_default"], {"type": Reference("number"), "default": "no number"}, ()),
    ("variable", ["v_default"], {"type": Reference("object({ a = string })"), "default": {}}, ()),
    ("variable", ["v_null"], {"nullable": False, "default": None}, ()),
    ("variable", ["v_attribute"], {"defualt": 1}, ()),
    ("locals", ["named"], {}, ()),
    ("output", ["o"], {}, ()),
    ("output", ["o o"], {"value": 1}, ()),
    ("module", ["m"], {}, ()),
    ("module", ["m.n"], {"source": "./x"}, ()),
    ("module", ["m"], {"source": "x/y"}, ()),
    ("module", ["m"], {"source": "no such kind"}, ()),
    ("module", ["m"], {"source": ""}, ()),
    ("module", ["m"], {"source": None}, ()),
    ("module", ["m"], {"source": ["./x"]}, ()),
    ("module", ["m"], {"source": "./no-such-directory"}, ()),
    ("module", ["m"], {"source": Raw("var.undeclared")}, ()),
    ("module", ["m"], {"source": Raw("local.undeclared")}, ()),
    ("module", ["m"], {"source": Raw("module.other.path")}, ()),
    ("module", ["m"], {"source": Raw("null_resource.a.id")}, ()),
    ("module", ["m"], {"source": Raw("each.key"), "for_each": ["./x"]}, ()),
    ("module", ["m"], {"source": Raw("sensitive(\"./x\")")}, ()),
    ("module", ["m"], {"source": Raw("no_such_function(\"./x\")")}, ()),
    ("module", ["m"], {"source": Raw("element([], 0)")}, ()),
    ("module", ["m"], {"source": "./x", "count": 1, "for_each": []}, ()),
    ("module", ["m"], {"source": "./x"}, (block("locals"),)),
    ("resource", ["null_resource"], {}, ()),
    ("resource", ["null_resource", "a b"], {}, ()),
    ("resource", ["null_resource", "r"], {"provider": "no.such.one"}, ()),
    ("resource", ["null_resource", "r"], {"count": 1, "for_each": {}}, ()),
    ("data", ["null_data"], {}, ()),
    ("provider", [], {}, ()),
    ("provider", ["a_b"], {}, ()),
    ("provider", ["aws"], {"version": "one"}, ()),
    ("provider", ["aws"], {"alias": "a b"}, ()),
    ("check", ["c"], {}, ()),
    ("import", [], {"id": "x"}, ()),
    ("moved", [], {"from": Reference("a.b")}, ()),
    ("terraform", [], {"required_version": "one"}, ()),
    ("terraform", [], {"required_versions": "1"}, ()),
    ("terraform", [], {"experiments": [Reference("no_such")]}, ()),
    ("language", [], {}, (block("compatible_with", body={"opentofu": "< 1.0"}),)),
    ("language", [], {"edition": Reference("tofu2099")}, ()),
]
REQUIRED = [  # entries of required_providers
    {"x": {"source": "a/b/c/d"}}, {"x": {"source": ""}}, {"x": {"source": "a--b/c"}}, {"x": {"source": "-/x"}},
    {"x": {"source": "mycorp/terraform-provider-x"}}, {"x": {"version": "~> "}}, {"x": {"version": ""}},
    {"x": {"version": "v1.0"}}, {"x": {"version": "1.2.3.4"}}, {"x": {"version": ">=  1.0"}}, {"x": {"sourc": "a/b"}},
    {"x": "one"}, {"X": {"source": "a/b"}}, {"x_y": {"source": "a/b"}}, {"x": ["a/b"]}, {"x": 5}, {"x": {"version": 5}},
    {"x": {"source": Raw("var.x")}}, {"x": {"source": "a/x"}, "x-": {"source": "a/x"}}, {"x": None},
    {"x": {"source": "terraform.io/builtin/other"}},
    {"x": {"source": "terraform.io/builtin/terraform", "version": "1.0"}},
]


def break_blocks(random, drafts):
    """Adds something to one of the modules that a client refuses."""
    draft = random.choice(drafts)
    kind = random.random()
    if kind < 0.6:
        type, labels, body, blocks = random.choice(BLOCKS)
        draft.add(type, labels, body, blocks)
    elif kind < 0.75:
        draft.add("terraform", blocks=[block("required_providers", body=random.choice(REQUIRED))])
    elif kind < 0.85 and draft.blocks:
        again = random.choice(draft.blocks)
        draft.add(again.type, again.labels, again.body, again.blocks)
    elif kind < 0.93 and any(found.type == "module" for found in draft.blocks):
        call = random.choice([found for found in draft.blocks if found.type == "module"])
        call.body["version"] = random.choice(["1.0.0", "", ">= 1", None, Raw("var.none"), 5])
    else:
        draft.add("locals", [], {"ring_a": Raw("local.ring_b"), "ring_b": Raw("local.ring_a")})
        draft.add("module", ["ring"], {"source": Raw("local.ring_a")})


def break_text(random, files):
    """Damages one file in one place."""
    path = random.choice(sorted(files))
    text = files[path]
    place = random.randrange(len(text) + 1)
    width = random.randint(1, 3)
    files[path] = random.choice([
        lambda: text[:place], lambda: text[:place] + text[place + width:],
        lambda: text[:place] + random.choice("{}[]()\"'=,.:$%#\\\n\t é~!*") + text[place:],
        lambda: text[:place] + text[place:place + 9] + text[place:],
        lambda: text.replace("\n", "\r\n"), lambda: "\ufeff" + text])()
