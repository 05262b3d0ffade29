"""Which files are read."""

from configuration import Configuration, tree

GARBAGE = "this is { no configuration\n"
M1 = 'module "m1" {\n  source = "./a"\n}\n'
M2 = 'module "m2" {\n  source = "./b"\n}\n'
M1_JSON = '{"module": {"m1": {"source": "./a"}}}\n'
M2_JSON = '{"module": {"m2": {"source": "./b"}}}\n'


def ignored(name):
    return tree("files: %s is ignored" % name, {"main.tf": M1, name: GARBAGE})


CONFIGURATIONS = [
    tree("files: all extensions of both", {"1.tf": M1, "2.tf.json": M2_JSON}),
    tree("files: all extensions of OpenTofu", {"1.tofu": M1, "2.tofu.json": M2_JSON}, readers=("opentofu",)),
    tree(
        "files: .tofu for another reader",
        {"1.tf": M1, "2.tofu": GARBAGE, "3.tofu.json": GARBAGE},
        readers=("terraform",),
    ),
    tree("files: X.tofu hides X.tf", {"x.tf": M1, "x.tofu": M2}),
    tree("files: X.tofu.json hides X.tf.json", {"x.tf.json": M1_JSON, "x.tofu.json": M2_JSON}),
    tree("files: X.tofu does not hide X.tf.json", {"x.tf.json": M1_JSON, "x.tofu": M2}),
    tree("files: X.tofu.json does not hide X.tf", {"x.tf": M1, "x.tofu.json": M2_JSON}),
    tree("files: a hidden file may be wrong", {"x.tf": GARBAGE, "x.tofu": M1}),
    tree("files: case matters to what is hidden", {"X.tf": M1, "x.tofu": M2}),
    tree("files: X.tofu hides X.tf in a child", {"main.tf": M1, "a/main.tofu": 'resource "tls_key" "k" {}\n'}),
    tree(
        "files: a .tofu file that hides an override",
        {
            "main.tf": M1,
            "x_override.tf": 'module "m1" {\n  source = "./b"\n}\n',
            "x_override.tofu": 'module "m1" {\n  version = null\n}\n',
        },
    ),
    tree("files: a directory named as a file", {"main.tf": M1, "x.tf/main.tf": GARBAGE}),
    tree("files: a directory named as a file that would hide", {"x.tf": M1, "x.tofu/main.tf": GARBAGE}),
    tree("files: only .tf in the name", {".tf": GARBAGE, "main.tf": M1}),
    tree("files: an extension in capitals", {"main.TF": GARBAGE, "main.tf": M1}),
    tree("files: a name with many dots", {"a.b.c.tf": M1}),
    tree("files: a name with a space", {"a b.tf": M1}),
    tree("files: a name of only an extension in JSON", {"tf.json": GARBAGE, "main.tf": M1}),
    Configuration("files: an empty one", {"main.tf": ""}),
    Configuration("files: only a comment", {"main.tf": "# nothing"}),
    Configuration("files: only an override", {"override.tf": 'resource "null_resource" "x" {}\n'}),
    Configuration("files: a child without files", {"main.tf": M1, "a/README.md": "x"}),
    Configuration("files: a child that is a file", {"main.tf": M1, "a": "x"}),
    Configuration("files: a child that is not there", {"main.tf": M1}),
    Configuration(
        "files: outside of the root",
        {
            "live/main.tf": 'module "m1" {\n  source = "../modules/a"\n}\n',
            "modules/a/main.tf": 'module "n" {\n  source = "../b"\n}\n',
            "modules/b/main.tf": "",
        },
        root="live",
    ),
] + [ignored(name) for name in (".x.tf", "x.tf~", "#x.tf#", "x.tf.bak", "x.hcl", "x.tfx", "x.tf.json~", ".tf.json")]
