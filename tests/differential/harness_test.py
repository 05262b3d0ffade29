#!/usr/bin/env python3
"""What the differential tests compare with is read, written and made up as they say."""

import collections
import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import client_output
import constraints
import corpus
import modlock
from answer import Answer, differences, judged
from configuration import Configuration
from generator import GARBAGE, Generator, Reader
from rendering import Block, Raw, Reference, as_json, native

TOFU = Reader("opentofu", (1, 12, 6))
TERRAFORM = Reader("terraform", (1, 11, 4))
TREE = """
Providers required by configuration:
.
├── provider[registry.opentofu.org/hashicorp/aws] ~> 1.0, >= 1.2.0
├── test.tests.web
│   ├── provider[registry.opentofu.org/hashicorp/random]
│   └── run.setup
│       └── provider[registry.opentofu.org/hashicorp/http]
└── module.net
    ├── provider[terraform.io/builtin/terraform]
    └── module.zone
        └── provider[registry.opentofu.org/hashicorp/aws] < 2.0.0

Providers required by state:

    provider[registry.opentofu.org/hashicorp/tls]
"""
INIT = """
Initializing provider plugins...
- terraform.io/builtin/terraform is built in to OpenTofu
- Finding hashicorp/aws versions matching ">= 1.0.0, ~> 1.0"...
- Finding latest version of example.com/corp/null...

Error: Failed to query available provider packages

Could not retrieve the list of available versions for provider hashicorp/aws
"""


class ConstraintsTest(unittest.TestCase):
    def test_normal_form(self):
        for written, expected in (
                ("", ""), ("1", "1.0.0"), ("=1.2", "1.2.0"), ("~> 3", "~> 3.0"),
                ("~> 1.2, ~> 1.2.0", "~> 1.2.0, ~> 1.2"),
                (">= 2.68, >= 2.68.0", ">= 2.68.0"), (">= 2, >= 1.2, < 1.3", ">= 1.2.0, < 1.3.0, >= 2.0.0"),
                ("> 1, < 1, >= 1, <= 1, != 1", "> 1.0.0, >= 1.0.0, <= 1.0.0, < 1.0.0, != 1.0.0"),
                (">= 1.2.3, 1.2.3, ~> 1.2, 1.2.3", "~> 1.2, >= 1.2.3, 1.2.3"), ("~> 2.0-beta", "~> 2.0-beta"),
                ("1.2.3-beta+foo.bar", "1.2.3-beta+foo.bar"),
                ("> 1.0.0-rc1, > 1.0.0, > 1.0.0-beta.2, > 1.0.0-alpha.1, > 1.0.0-beta",
                 "> 1.0.0-beta, > 1.0.0-rc1, > 1.0.0-alpha.1, > 1.0.0-beta.2, > 1.0.0"),
                ("1.2.3+local.2, 1.2.3+local.1, 1.2.3", "1.2.3, 1.2.3+local.1, 1.2.3+local.2")):
            with self.subTest(written):
                self.assertEqual(constraints.normalized(written), expected)

    def test_what_is_no_constraint(self):
        for written in (",", "one", "1.2.3.4", ">= 1.0,"):
            with self.subTest(written), self.assertRaises(ValueError):
                constraints.normalized(written)


class ClientOutputTest(unittest.TestCase):
    def test_providers_of_each_module(self):
        host = "registry.opentofu.org/hashicorp/"
        self.assertEqual(client_output.tree_providers(TREE), {
            ("", host + "aws"): "~> 1.0, >= 1.2.0", ("test.tests.web", host + "random"): "",
            ("test.tests.web.setup", host + "http"): "", ("net", "terraform.io/builtin/terraform"): "",
            ("net.zone", host + "aws"): "< 2.0.0"})

    def test_providers_of_init(self):
        self.assertEqual(client_output.init_providers(INIT, "registry.opentofu.org"), {
            "terraform.io/builtin/terraform": "", "example.com/corp/null": "",
            "registry.opentofu.org/hashicorp/aws": ">= 1.0.0, ~> 1.0"})

    def test_only_errors_of_the_configuration_count(self):
        self.assertEqual(client_output.configuration_errors(INIT), [])
        self.assertEqual(client_output.configuration_errors("x\nError: Duplicate module call\n\n  on x\n\nError: B\n"),
                         ["Duplicate module call", "B"])


class AnswerTest(unittest.TestCase):
    def test_differences(self):
        good = Answer(modules={"m": "./a"}, providers={"x": "~> 1.0"}, contributions={("", "x"): "~> 1.0"})
        for name, actual, expected in (
                ("the same", good, []),
                ("rejected", Answer(["wrong"]), ["rejected, and the client accepts"]),
                ("ended", Answer(failure="exit -11"), ["no answer"]),
                ("a module", Answer(modules={"m": "./b"}, providers=good.providers, contributions=good.contributions),
                 ["module m: './a' and './b'"]),
                ("a provider", Answer(modules=good.modules), ["provider x: '~> 1.0' and absent"]),
                ("a contribution", Answer(modules=good.modules, providers=good.providers),
                 ["constraints of ('', 'x'): '~> 1.0' and absent"])):
            with self.subTest(name):
                self.assertEqual(differences(good, actual), expected)

    def test_policies_of_ours(self):
        good, wrong, ended = Answer(modules={"m": "./a"}), Answer(["wrong"]), Answer(failure="exit -11")
        for options, expected in (
                ({}, ([], [], ["no answer"])),
                ({"refused_by_us": True}, (["accepted, against our policy"], [], ["accepted, against our policy"])),
                ({"accepted_by_us": True}, ([], ["rejected, against our policy"], ["rejected, against our policy"]))):
            for actual, found in zip((good, wrong, ended), expected):
                with self.subTest(options=options, actual=actual.shown()):
                    self.assertEqual(judged(Configuration("x", {}, **options), wrong, actual), found)

    def test_nothing_is_compared_with_no_answer(self):
        self.assertEqual(differences(Answer(failure="crash"), Answer()), [])

    def test_reading_the_result_of_inspect(self):
        entry = {"path": "main.tf", "range": {}}
        answer = modlock.read({
            "diagnostics": [{"severity": "warning", "message": "x"}],
            "modules": [{"key": "m", "source": "./a", **entry},
                        {"key": "m.n", "source": "r", "constraint": "1", **entry},
                        {"key": "o", "rawSource": "local.x", **entry}],
            "providers": [{"address": "x", "constraints": [{"text": ">= 1", "module": "", **entry},
                                                           {"text": "< 2", "module": "m", **entry}]},
                          {"address": "y", "constraints": []}]})
        self.assertEqual(answer, Answer(
            modules={"m": "./a", "m.n": "r"}, constrained={"m.n"}, providers={"x": ">= 1.0.0, < 2.0.0", "y": ""},
            contributions={("", "x"): ">= 1.0.0", ("m", "x"): "< 2.0.0"}))


class Plain:
    """In place of a generator of random numbers: the plainest form of everything."""

    def random(self):
        return 1.0

    def choice(self, values):
        return values[0]


class RenderingTest(unittest.TestCase):
    blocks = [Block("module", ["m"], {"source": "./${var.a}", "count": 1, "x": Raw("f(1)")}),
              Block("resource", ["a", "b"], {"provider": Reference("a.c")}, [Block("inner", [], {"k": [True, None]})]),
              Block("locals")]

    def test_native(self):
        self.assertEqual(native(self.blocks), 'module "m" {\n  source = "./${var.a}"\n  count = 1\n  x = f(1)\n}\n\n'
                         'resource "a" "b" {\n  provider = a.c\n  inner {\n    k = [true, null]\n  }\n}\n\nlocals {}\n')

    def test_json(self):
        self.assertEqual(json.loads(as_json(self.blocks, Plain())), {
            "module": {"m": {"source": "./${var.a}", "count": 1, "x": "${f(1)}"}},
            "resource": {"a": {"b": {"provider": "a.c", "inner": {"k": [True, None]}}}}, "locals": {}})


class ConfigurationsTest(unittest.TestCase):
    def test_a_seed_gives_the_same_configuration_again(self):
        for reader in (TOFU, TERRAFORM):
            for number in range(50):
                first, again = (Generator(7, number, reader).configuration() for _ in range(2))
                self.assertEqual(first, again)
        self.assertNotEqual(Generator(7, 0, TOFU).configuration().files, Generator(8, 0, TOFU).configuration().files)

    def test_what_is_made_up_has_every_theme(self):
        found = collections.Counter()
        themes = {"JSON": lambda path, text: path.endswith(".tf.json"), "a variable": lambda path, text: "var." in text,
                  "override files": lambda path, text: "override." in path,
                  "values": lambda path, text: ".tfvars" in path,
                  "tests": lambda path, text: "test." in path, "packages": lambda path, text: "git::" in text,
                  "ignored files": lambda path, text: text == GARBAGE, "aliases": lambda path, text: "alias" in text,
                  "a child of a child": lambda path, text: path.startswith("modules/net/inner"),
                  ".tofu": lambda path, text: path.endswith((".tofu", ".tofu.json")),
                  "language": lambda path, text: "compatible_with" in text}
        for number in range(300):
            for path, text in Generator(1, number, TOFU).configuration().files.items():
                found.update(name for name, holds in themes.items() if holds(path, text))
        self.assertEqual({name for name in themes if found[name] < 3}, set())

    def test_names_of_the_corpus_are_unique(self):
        names = collections.Counter(entry.name for entry in corpus.configurations())
        self.assertEqual([name for name, count in names.items() if count > 1], [])
        self.assertGreater(len(names), 300)

    def test_files_are_written_with_the_place_of_the_packages(self):
        with tempfile.TemporaryDirectory() as home:
            configuration = Configuration("x", {"a/b.tf": "{packages}/x", "c": b"\xff{packages}"}, root="live")
            configuration.write(home, "/p")
            with open(os.path.join(home, "a", "b.tf")) as file:
                self.assertEqual(file.read(), "/p/x")
            with open(os.path.join(home, "c"), "rb") as file:
                self.assertEqual(file.read(), b"\xff{packages}")
            self.assertTrue(os.path.isdir(os.path.join(home, "live")))
            self.assertIn("--- a/b.tf\n/p/x", configuration.shown("/p"))


if __name__ == "__main__":
    unittest.main()
