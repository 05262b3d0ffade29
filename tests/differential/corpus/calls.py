"""Module calls: how local sources are written, and what a call may hold."""

from configuration import Configuration, trees


def call(body):
    return 'module "m" {\n%s}\n' % "".join("  %s\n" % line for line in body)


def sources(table):
    return trees("calls: source", {text: call(['source = "%s"' % text]) for text in table})


CONFIGURATIONS = (
    sources(
        [
            "./a",
            "./a/",
            ".//a",
            "././a",
            "./b/../a",
            "./",
            ".",
            "..",
            "./.",
            "a",
            "./a ",
            " ./a",
            "./A",
            ".\\\\a",
            "./b\\\\..\\\\a",
            "./a//x",
            "./no-such",
            "./main.tf",
            "?",
            "./a?x=1",
            "./a?ref=v1",
            "a/b",
            "a/b/../c",
            "./a#x",
            "./\\u0061",
            "./$${x}",
            "github.com/a",
            "git::./a",
            "::",
            "a::b",
            "./a/../../no-such",
        ]
    )
    + trees(
        "calls",
        {
            "no source": call([]),
            "no label": 'module {\n  source = "./a"\n}\n',
            "two labels": 'module "m" "n" {\n  source = "./a"\n}\n',
            "a label that is an identifier": 'module m {\n  source = "./a"\n}\n',
            "a name with a dot": 'module "m.n" {\n  source = "./a"\n}\n',
            "a name with a dash": 'module "m-n" {\n  source = "./a"\n}\n',
            "a name with a digit first": 'module "1m" {\n  source = "./a"\n}\n',
            "a name of letters beyond ASCII": 'module "\u00fcber" {\n  source = "./a"\n}\n',
            "an empty name": 'module "" {\n  source = "./a"\n}\n',
            "the name twice": call(['source = "./a"']) + call(['source = "./b"']),
            "the same source twice": call(['source = "./a"']) + 'module "n" {\n  source = "./a"\n}\n',
            "the attribute twice": call(['source = "./a"', 'source = "./b"']),
            "a source of a number": call(["source = 1"]),
            "a version": call(['source = "./a"', 'version = "1.0.0"']),
            "an empty version": call(['source = "./a"', 'version = ""']),
            "a wrong version": call(['source = "./a"', 'version = "one"']),
            "version null": call(['source = "./a"', "version = null"]),
            "count": call(['source = "./a"', "count = 0"]),
            "for_each": call(['source = "./a"', 'for_each = toset(["x"])']),
            "count and for_each": call(['source = "./a"', "count = 1", "for_each = {}"]),
            "depends_on": call(['source = "./a"', "depends_on = [null_resource.x]"]),
            "depends_on a string": call(['source = "./a"', 'depends_on = ["null_resource.x"]']),
            "depends_on an expression": call(['source = "./a"', "depends_on = [1 + 1]"]),
            "providers": (
                'provider "null" {\n  alias = "x"\n}\n' + call(['source = "./a"', "providers = { null = null.x }"])
            ),
            "providers that are none": call(['source = "./a"', "providers = { null = 1 }"]),
            "providers twice": call(['source = "./a"', "providers = {", "null = null", "null = null", "}"]),
            "providers that are not configured": call(['source = "./a"', "providers = { null = null.x }"]),
            "providers for an alias the child has not": call(['source = "./a"', "providers = { null.y = null }"]),
            "a nested block": call(['source = "./a"', "x {", "}"]),
            "a reserved block": call(['source = "./a"', "locals {", "}"]),
            "a lifecycle block": call(['source = "./a"', "lifecycle {", "enabled = true", "}"]),
            "a lifecycle block of something else": call(
                ['source = "./a"', "lifecycle {", "prevent_destroy = true", "}"]
            ),
            "enabled and count": call(['source = "./a"', "count = 1", "lifecycle {", "enabled = true", "}"]),
            "an escaping block": call(['source = "./a"', "_ {", "source = 1", "}"]),
            "two escaping blocks": call(['source = "./a"', "_ {", "}", "_ {", "}"]),
            "an argument that the child has not": call(['source = "./a"', "no_such = 1"]),
            "an unknown function in an argument": call(['source = "./a"', "x = no_such()"]),
        },
    )
    + [
        Configuration(
            "calls: a child with its own provider, counted",
            {"main.tf": call(['source = "./a"', "count = 1"]), "a/main.tf": 'provider "aws" {}\n'},
        ),
        Configuration(
            "calls: a child with its own provider",
            {"main.tf": call(['source = "./a"']), "a/main.tf": 'provider "aws" {}\n\nresource "aws_x" "y" {}\n'},
        ),
        Configuration(
            "calls: a child that needs an alias and gets none",
            {
                "main.tf": call(['source = "./a"']),
                "a/main.tf": (
                    "terraform {\n  required_providers {\n    aws = {\n      "
                    "configuration_aliases = [aws.x]\n    }\n  }\n}\n"
                ),
            },
        ),
        Configuration(
            "calls: a child that needs an alias and gets one",
            {
                "main.tf": 'provider "aws" {}\n' + call(['source = "./a"', "providers = { aws.x = aws }"]),
                "a/main.tf": (
                    "terraform {\n  required_providers {\n    aws = {\n      configuration_aliases = [aws.x]\n    }\n "
                    " }\n}\n"
                ),
            },
        ),
        Configuration(
            "calls: a provider of another type is passed",
            {
                "main.tf": (
                    'terraform {\n  required_providers {\n    aws = {\n      source = "mycorp/aws"\n    }\n  }\n}\n'
                    + call(['source = "./a"', "providers = { aws = aws }"])
                ),
                "a/main.tf": (
                    'terraform {\n  required_providers {\n    aws = {\n      source = "hashicorp/aws"\n    }\n  }\n}\n'
                ),
            },
        ),
        Configuration(
            "calls: the parent", {"live/main.tf": 'module "m" {\n  source = "../"\n}\n', "main.tf": ""}, root="live"
        ),
        Configuration(
            "calls: each other",
            {
                "main.tf": call(['source = "./a"']),
                "a/main.tf": call(['source = "../b"']),
                "b/main.tf": call(['source = "../a"']),
            },
        ),
        Configuration(
            "calls: four levels",
            {
                "main.tf": call(['source = "./a"']),
                "a/main.tf": call(['source = "./b"']),
                "a/b/main.tf": call(['source = "../c"']),
                "a/c/main.tf": call(['source = "../../d"']),
                "d/main.tf": 'data "http" "x" {}\n',
            },
        ),
        Configuration(
            "calls: the same module from two others",
            {
                "main.tf": call(['source = "./a"']) + 'module "n" {\n  source = "./b"\n}\n',
                "a/main.tf": call(['source = "../c"']),
                "b/main.tf": call(['source = "../c"']),
                "c/main.tf": 'data "http" "x" {}\n',
            },
        ),
        Configuration("calls: an error in a child", {"main.tf": call(['source = "./a"']), "a/main.tf": "x = 1\n"}),
        Configuration(
            "calls: a child that does not parse", {"main.tf": call(['source = "./a"']), "a/main.tf": "module {"}
        ),
        Configuration(
            "calls: a backend in a child",
            {"main.tf": call(['source = "./a"']), "a/main.tf": 'terraform {\n  backend "local" {}\n}\n'},
        ),
        Configuration(
            "calls: an import in a child",
            {"main.tf": call(['source = "./a"']), "a/main.tf": 'import {\n  to = aws_x.y\n  id = "1"\n}\n'},
        ),
    ]
)
