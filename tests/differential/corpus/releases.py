"""Which releases of the client a configuration admits."""

from configuration import Configuration, singles, tree


def block(text):
    return "terraform {\n  required_version = %s\n}\n" % text


def language(text):
    return "language {\n%s}\n" % text


def compatible(text):
    return language("  compatible_with {\n    opentofu = %s\n  }\n" % text)


REFUSES, HOLDS = block('"> 99.0"'), block('">= 1.0"')
CALL = 'module "m" {\n  source = "./a"\n}\n'

CONFIGURATIONS = (
    singles(
        "required_version",
        {
            "holds": HOLDS,
            "refuses": REFUSES,
            "is wrong": block('"one"'),
            "is empty": block('""'),
            "is a number": block("1"),
            "is null": block("null"),
            "is a variable": block("var.x"),
            "names a prerelease": block('">= 1.0.0-beta1"'),
            "several": block('">= 1.0, < 99"'),
            "one of several refuses": block('">= 1.0, < 1.1"'),
            "with v": block('">= v1.0"'),
            "twice in a block": 'terraform {\n  required_version = ">= 1.0"\n  required_version = ">= 1.1"\n}\n',
            "two blocks": HOLDS + HOLDS,
            "two blocks, one refuses": HOLDS + REFUSES,
            "beside an unknown block": REFUSES + "resources {}\n",
            "beside a syntax error": REFUSES + "resource {\n",
            "experiments": "terraform {\n  experiments = [no_such]\n}\n",
            "experiments that are concluded": "terraform {\n  experiments = [module_variable_optional_attrs]\n}\n",
            "language": "terraform {\n  language = TF2021\n}\n",
            "an unknown language": "terraform {\n  language = TF2099\n}\n",
            "an unknown attribute": "terraform {\n  x = 1\n}\n",
            "an unknown block": "terraform {\n  x {}\n}\n",
            "cloud": "terraform {\n  cloud {}\n}\n",
            "cloud and a backend": 'terraform {\n  cloud {}\n  backend "local" {}\n}\n',
            "an unknown backend": 'terraform {\n  backend "no-such" {}\n}\n',
            "encryption": "terraform {\n  encryption {}\n}\n",
        },
    )
    + singles(
        "language",
        {
            "empty": language(""),
            "holds": compatible('">= 1.6"'),
            "refuses": compatible('"> 99"'),
            "is wrong": compatible('"one"'),
            "is a variable": compatible("var.x"),
            "is null": compatible("null"),
            "is a number": compatible("1"),
            "names a prerelease": compatible('">= 1.12.0-rc1"'),
            "names another": language('  compatible_with {\n    other = "> 99"\n  }\n'),
            "two compatible_with": language(
                '  compatible_with {\n    opentofu = ">= 1.6"\n  }\n  compatible_with {\n    opentofu = ">= 1.7"\n  }\n'
            ),
            "two blocks": language("") + language(""),
            "two blocks that both name it": compatible('">= 1.6"') + compatible('">= 1.7"'),
            "a block in compatible_with": language("  compatible_with {\n    x {}\n  }\n"),
            "an unknown attribute": language("  x = 1\n"),
            "an unknown block": language("  x {}\n"),
            "an edition": language("  edition = tofu2024\n"),
            "an edition in quotes": language('  edition = "tofu2024"\n'),
            "an unknown edition": language("  edition = tofu2099\n"),
            "experiments": language("  experiments = []\n"),
            "an unknown experiment": language("  experiments = [no_such]\n"),
            "a label": 'language "x" {}\n',
            "refuses beside an unknown block": compatible('"> 99"') + "resources {}\n",
        },
        readers=("opentofu",),
    )
    + singles("language", {"for a reader that has it not": language("")}, readers=("terraform",))
    + [
        Configuration("releases: required_version in .tofu", {"main.tofu": REFUSES}, readers=("opentofu",)),
        Configuration(
            "releases: required_version in .tofu.json",
            {"main.tofu.json": '{"terraform": {"required_version": "> 99"}}'},
            readers=("opentofu",),
        ),
        Configuration(
            "releases: required_version in .tf.json", {"main.tf.json": '{"terraform": {"required_version": "> 99"}}'}
        ),
        Configuration(
            "releases: a wrong required_version in .tofu", {"main.tofu": block('"one"')}, readers=("opentofu",)
        ),
        Configuration("releases: a child refuses", {"main.tf": CALL, "a/main.tf": REFUSES}),
        Configuration(
            "releases: a child refuses in .tofu", {"main.tf": CALL, "a/main.tofu": REFUSES}, readers=("opentofu",)
        ),
        Configuration(
            "releases: a child refuses by language",
            {"main.tf": CALL, "a/main.tf": compatible('"> 99"')},
            readers=("opentofu",),
        ),
        Configuration(
            "releases: an override refuses in .tofu", {"main.tf": "", "override.tofu": REFUSES}, readers=("opentofu",)
        ),
        tree(
            "releases: refuses, and an unknown block in another file",
            {"main.tf": CALL + REFUSES, "x.tf": "resources {}\n"},
        ),
    ]
)
