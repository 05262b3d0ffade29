"""Makes up configurations: the same for the same seed and the same client."""

import json
import random as randomness
from dataclasses import dataclass

import breaks
import contents
from configuration import Configuration
from draft import Draft
from rendering import Block, Raw, Reference, as_json, native, native_value

DIRECTORIES = ["modules/net", "modules/app", "modules/net/inner", "modules/app/deep/er", "shared", "lib"]
PLAIN_NAMES = ["main", "versions", "variables", "outputs", "data", "z", "A", "an.odd-name", "overrides", "my-override"]
IGNORED_NAMES = [".hidden.tf", "main.tf~", "#main.tf#", "main.tf.bak", "main.tfx", "notes.hcl", "main.tf.json~", "tf"]
GARBAGE = "this is { no configuration\n"
BROKEN_SHARE = 0.25


@dataclass(frozen=True)
class Reader:
    """The client that a configuration is made for."""
    implementation: str
    version: tuple

    def at_least(self, *version):
        return self.version >= version


class Generator:
    def __init__(self, seed, number, reader):
        self.random = randomness.Random("%d/%d" % (seed, number))
        self.name = "seed %d, number %d" % (seed, number)
        self.reader = reader
        self.tofu = reader.implementation == "opentofu"
        self.files = {}
        self.depth = self.random.choice([0, 1, 1, 2, 3]) if self.tofu else 0

    def configuration(self):
        drafts = self.tree()
        for draft in drafts:
            self.fill(draft)
        broken = self.random.random() < BROKEN_SHARE
        if broken and self.random.random() < 0.7:
            breaks.break_blocks(self.random, drafts)
        for draft in drafts:
            self.write(draft)
        self.write_values(drafts[0])
        self.write_tests(drafts)
        if broken and self.random.random() < 0.4:
            breaks.break_text(self.random, self.files)
        return Configuration(self.name, self.files, uses_packages=any("{packages}" in text
                                                                      for text in self.files.values()))

    def tree(self):
        """The root module and those below it, each called at least once; sources are addresses or expressions."""
        drafts = [Draft(self.random, ".")]
        for directory in self.random.sample(DIRECTORIES, self.random.choice([0, 1, 1, 2, 2, 3, 4])):
            child = Draft(self.random, directory)
            for caller in self.random.sample(drafts, self.random.choice([1, 1, 1, 2]) if len(drafts) > 1 else 1):
                call = caller.add("module", [caller.name()])
                child.callers.append((caller, call))
                call.body["source"] = caller.expression(caller.source_of(child), self.depth)
                self.decorate(call)
            drafts.append(child)
        if self.random.random() < 0.06:
            drafts[0].add("module", [drafts[0].name()], {"source": self.package_source()})
        return drafts

    def package_source(self):
        return self.random.choice([
            "git::file://{packages}/net.git", "git::file://{packages}/net.git?ref=v1.0.0",
            "git::file://{packages}/net.git//modules/log?ref=main", "git::file://{packages}/app.git",
            "git::file://{packages}/app.git//worker", "git::file://{packages}/net.git//examples/simple"])

    def decorate(self, call):
        """Arguments of a call that do not change what is called; a version of null is none for OpenTofu."""
        name, value = self.random.choice([("count", 2), ("for_each", Raw("toset([\"a\"])")), ("depends_on", []),
                                          ("providers", {}), ("version", None), ("extra", "x")])
        if self.random.random() < 0.25 and (self.tofu or name != "version"):
            call.body[name] = value

    def fill(self, draft):
        names = contents.add_required_providers(draft) if self.random.random() < 0.6 else []
        contents.add_provider_uses(draft, names)
        contents.add_ordinary(draft)
        if self.random.random() < 0.25:
            contents.add_client_requirement(draft, self.reader)

    def write(self, draft):
        blocks = list(draft.blocks)
        self.random.shuffle(blocks)
        names = self.random.sample(PLAIN_NAMES, self.random.choice([1, 1, 2, 3]))
        for name in names[1:]:
            count = self.random.randint(0, len(blocks))
            self.write_file(draft, name, blocks[:count])
            del blocks[:count]
        self.write_file(draft, names[0], blocks)
        if self.random.random() < 0.25:
            self.write_override(draft)
        if self.random.random() < 0.2:
            self.put(draft, self.random.choice(IGNORED_NAMES), GARBAGE)

    def write_file(self, draft, name, blocks):
        extension = self.extension()
        self.put(draft, name + extension, self.rendered(extension, blocks))
        if extension.startswith(".tofu") and self.random.random() < 0.4:
            self.put(draft, name + extension.replace(".tofu", ".tf"), GARBAGE)
        elif not self.tofu and self.random.random() < 0.1:
            self.put(draft, name + ".tofu", GARBAGE)

    def extension(self):
        kinds = [".tf"] * 5 + [".tf.json"] * 2 + ([".tofu", ".tofu", ".tofu.json"] if self.tofu else [])
        return self.random.choice(kinds)

    def rendered(self, extension, blocks):
        return as_json(blocks, self.random) if extension.endswith(".json") else native(blocks)

    def put(self, draft, name, text):
        self.files[name if draft.directory == "." else draft.directory + "/" + name] = text

    def write_override(self, draft):
        overridable = [block for block in draft.blocks if block.type in ("module", "variable", "resource", "locals",
                                                                        "output", "terraform", "provider")]
        if not overridable:
            return
        chosen = self.random.choice(overridable)
        name = self.random.choice(["override", "main_override", "_override", "z_override"])
        extension = self.extension()
        self.put(draft, name + extension, self.rendered(extension, [self.override_of(draft, chosen)]))

    def override_of(self, draft, block):
        """The override says what the block had said, and the block something else."""
        if block.type == "module" and "source" in block.body and self.random.random() < 0.8:
            override = Block("module", block.labels, {"source": block.body["source"]})
            if self.random.random() < 0.3 and self.tofu:
                override.body["version"] = None
        elif block.type == "terraform" and block.blocks and block.blocks[0].type == "required_providers":
            name = self.random.choice(sorted(block.blocks[0].body))
            entry = {"source": "mycorp/" + name, "version": self.random.choice(contents.CONSTRAINTS)}
            override = Block("terraform", blocks=[Block("required_providers", body={name: entry})])
        else:
            override = Block(block.type, block.labels, dict(block.body),
                             [] if block.type == "variable" else block.blocks)
        if self.random.random() < 0.1 and block.labels:
            override.labels = block.labels[:-1] + ["no_such"]
        return override

    def write_values(self, root):
        """Each value lies in one of the files, often with another one in a file that counts less."""
        values = dict(root.variable_values)
        if not values and self.random.random() < 0.8:
            return
        order = ["terraform.tfvars", "terraform.tfvars.json", "a.auto.tfvars", "b.auto.tfvars.json", "c.auto.tfvars"]
        written = {}
        for name, value in values.items():
            place = self.random.randrange(len(order))
            written.setdefault(order[place], {})[name] = value
            if self.random.random() < 0.5:
                written.setdefault(order[self.random.randint(0, place)], {}).setdefault(name, "./decoy")
        written.setdefault(self.random.choice(order), {}).setdefault("undeclared", 1)
        for path, content in written.items():
            text = json.dumps(content) + "\n" if path.endswith(".json") else \
                "".join("%s = %s\n" % (name, native_value(value)) for name, value in content.items())
            self.files[path] = text

    def write_tests(self, drafts):
        if self.random.random() > 0.15:
            return
        callable = [draft.directory for draft in drafts[1:] if not any(
            block.type == "variable" and "default" not in block.body for block in draft.blocks)]
        name = self.random.choice(["web", "a_override", "b.c"])
        extensions = [".tftest.hcl"] * 3 + [".tftest.json"] + ([".tofutest.hcl"] if self.tofu else [])
        extension = self.random.choice(extensions)
        blocks = [Block("run", ["plan"], {"command": Reference("plan")})]
        if callable:
            module = Block("module", body={"source": "./" + self.random.choice(callable)})
            blocks.append(Block("run", ["setup"], blocks=[module]))
        if self.random.random() < 0.4:
            blocks.append(Block("provider", ["random"], {"x": 1}))
        if self.random.random() < 0.3:
            blocks.append(Block("variables", body={"any": "x"}))
        directory = self.random.choice(["tests/", "tests/", ""])
        self.files[directory + name + extension] = self.rendered(extension, blocks)
