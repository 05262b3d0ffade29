"""Test files: the modules of their runs and their providers are installed too."""

from configuration import tree

RUN = 'run "%s" {\n  module {\n    source = "%s"\n  }\n}\n'


def row(name, files, **options):
    return tree("tests: " + name, {"main.tf": 'variable "x" {\n  default = null\n}\n', **files}, **options)


def text(name, content, **options):
    return row(name, {"tests/web.tftest.hcl": content}, **options)


CONFIGURATIONS = [
    row("in tests/", {"tests/web.tftest.hcl": RUN % ("setup", "./a")}),
    row("in the root", {"web.tftest.hcl": RUN % ("setup", "./a")}),
    row("deeper is not read", {"tests/deep/web.tftest.hcl": "garbage {"}),
    row("another directory is not read", {"test/web.tftest.hcl": "garbage {"}),
    row("in JSON", {"tests/web.tftest.json": '{"run": {"setup": {"module": {"source": "./a"}}}}'}),
    row(".tofutest.hcl", {"tests/web.tofutest.hcl": RUN % ("setup", "./a")}),
    row(".tofutest.json", {"tests/web.tofutest.json": '{"run": {"setup": {"module": {"source": "./a"}}}}'}),
    row(
        ".tofutest.hcl hides .tftest.hcl",
        {"tests/web.tftest.hcl": RUN % ("one", "./a"), "tests/web.tofutest.hcl": RUN % ("two", "./b")},
    ),
    row(
        ".tofutest.hcl elsewhere hides nothing",
        {"web.tftest.hcl": RUN % ("one", "./a"), "tests/web.tofutest.hcl": RUN % ("two", "./b")},
    ),
    row("ignored names", {"tests/.web.tftest.hcl": "garbage {", "tests/web.tftest.hcl~": "garbage {"}),
    row(
        "of a child are not read",
        {
            "main.tf": 'module "m" {\n  source = "./a"\n}\n',
            "a/tests/web.tftest.hcl": "garbage {",
            "a/web.tftest.hcl": "garbage {",
        },
    ),
    row("without configuration", {"main.tf": "", "tests/web.tftest.hcl": RUN % ("setup", "./a")}),
    text("two runs of a module", RUN % ("one", "./a") + RUN % ("two", "./a")),
    text("a run name twice", RUN % ("one", "./a") + RUN % ("one", "./b")),
    text("a run name with a dot", RUN % ("a.b", "./a")),
    text("a run name with a space", RUN % ("a b", "./a")),
    text("a run without a module", 'run "x" {\n  command = plan\n}\n'),
    text("a run without a label", "run {}\n"),
    text("no run", ""),
    text("a source outside of the tests", RUN % ("setup", "../b")),
    text("a source that is not there", RUN % ("setup", "./no-such")),
    text("a source without a prefix", RUN % ("setup", "a")),
    text("a source by a variable", 'run "x" {\n  module {\n    source = var.x\n  }\n}\n'),
    text("a source by a template", 'run "x" {\n  module {\n    source = "./${"a"}"\n  }\n}\n'),
    text("a module without a source", 'run "x" {\n  module {}\n}\n'),
    text("two modules", 'run "x" {\n  module {\n    source = "./a"\n  }\n  module {\n    source = "./b"\n  }\n}\n'),
    text("a version", 'run "x" {\n  module {\n    source  = "./a"\n    version = "1.0"\n  }\n}\n'),
    text("a version null", 'run "x" {\n  module {\n    source  = "./a"\n    version = null\n  }\n}\n'),
    text("an unknown argument of a module", 'run "x" {\n  module {\n    source = "./a"\n    x      = 1\n  }\n}\n'),
    text("an unknown block", "resources {}\n"),
    text("an unknown argument", "x = 1\n"),
    text("a syntax error", "run {"),
    text("a provider", 'provider "aws" {}\n'),
    text("a provider twice", 'provider "aws" {}\nprovider "aws" {}\n'),
    text("a mock provider", 'mock_provider "aws" {}\n'),
    text("a provider and a mock of it", 'provider "aws" {}\nmock_provider "aws" {}\n'),
    text("variables", 'variables {\n  x = "a"\n}\n'),
    text("variables twice", "variables {}\nvariables {}\n"),
    text("override_resource", "override_resource {\n  target = aws_x.y\n}\n"),
    text("override_module", "override_module {\n  target = module.m\n}\n"),
    text(
        "an assertion", 'run "x" {\n  assert {\n    condition     = var.x == null\n    error_message = "No."\n  }\n}\n'
    ),
    text("a wrong command", 'run "x" {\n  command = destroy\n}\n'),
    text("plan_options", 'run "x" {\n  command = plan\n  plan_options {\n    refresh = false\n  }\n}\n'),
    text("expect_failures", 'run "x" {\n  expect_failures = [var.x]\n}\n'),
    text("providers of a run", 'provider "aws" {}\nrun "x" {\n  providers = {\n    aws = aws\n  }\n}\n'),
    row(
        "a provider that the root calls otherwise",
        {
            "main.tf": 'terraform {\n  required_providers {\n    aws = {\n      source = "mycorp/aws"\n    }\n  }\n}\n',
            "tests/web.tftest.hcl": 'provider "aws" {}\n',
        },
    ),
    row(
        "children of a run's module",
        {"a/main.tf": 'module "n" {\n  source = "../b"\n}\n', "tests/web.tftest.hcl": RUN % ("setup", "./a")},
    ),
    row("a wrong module of a run", {"a/main.tf": "x = 1\n", "tests/web.tftest.hcl": RUN % ("setup", "./a")}),
]
