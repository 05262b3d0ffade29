"""Override files: in which order they count, and what they may say."""

from configuration import Configuration, tree

M = 'module "m" {\n  source = "./%s"\n}\n'
BASE = M % "a"
PROVIDERS = (
    'terraform {\n  required_providers {\n    aws = {\n      source  = "%s"\n      version = "%s"\n    }\n  }\n}\n'
)


def over(name, text, base=BASE, **options):
    return tree("overrides: " + name, {"main.tf": base, "override.tf": text}, **options)


def ordered(name, files):
    return tree("overrides: " + name, {"main.tf": BASE, **files})


CONFIGURATIONS = [
    over("a source", M % "b"),
    over("nothing of the source", 'module "m" {\n  x = 1\n}\n'),
    over("a missing call", 'module "other" {\n  source = "./b"\n}\n'),
    over("version null", 'module "m" {\n  version = null\n}\n'),
    over("a version on a local source", 'module "m" {\n  version = "1.0.0"\n}\n'),
    over("depends_on of nothing", 'module "m" {\n  depends_on = []\n}\n'),
    over("depends_on", 'module "m" {\n  depends_on = [null_resource.x]\n}\n'),
    over(
        "count beside for_each",
        'module "m" {\n  for_each = {}\n}\n',
        'module "m" {\n  source = "./a"\n  count = 1\n}\n',
    ),
    over("an expression that replaces a wrong one", M % "b", 'module "m" {\n  source = var.no_such\n}\n'),
    over("a base without a source", M % "b", 'module "m" {}\n'),
    over("both without a source", 'module "m" {}\n', 'module "m" {}\n'),
    over(
        "version null and a new source over a registry's",
        'module "m" {\n  source  = "./a"\n  version = null\n}\n',
        'module "m" {\n  source  = "mycorp/net/aws"\n  version = "~> 1.0"\n}\n',
    ),
    over("the same call twice", M % "b" + 'module "m" {\n  x = 1\n}\n'),
    over(
        "a variable's default",
        'variable "s" {\n  default = "./b"\n}\n',
        'variable "s" {\n  default = "./a"\n}\n\nmodule "m" {\n  source = var.s\n}\n',
        readers=("opentofu",),
    ),
    over("a missing variable", 'variable "s" {\n  default = "./b"\n}\n'),
    over(
        "a variable's type against the default",
        'variable "s" {\n  type = number\n}\n',
        'variable "s" {\n  default = "x"\n}\n',
    ),
    over(
        "a local",
        'locals {\n  s = "./b"\n}\n',
        'locals {\n  s = "./a"\n}\n\nmodule "m" {\n  source = local.s\n}\n',
        readers=("opentofu",),
    ),
    over("a missing local", 'locals {\n  s = "./b"\n}\n'),
    over("a missing output", 'output "o" {\n  value = 1\n}\n'),
    over("a missing resource", 'resource "null_resource" "x" {}\n'),
    over("a missing data source", 'data "null_data" "x" {}\n'),
    over("a resource's provider", 'resource "aws_x" "x" {\n  provider = google\n}\n', 'resource "aws_x" "x" {}\n'),
    over("required_providers, an entry", PROVIDERS % ("mycorp/aws", "~> 2.0"), PROVIDERS % ("hashicorp/aws", "~> 1.0")),
    over(
        "required_providers, a new entry",
        PROVIDERS % ("mycorp/aws", "~> 2.0"),
        'terraform {\n  required_providers {\n    tls = "~> 1.0"\n  }\n}\n',
    ),
    over("required_providers where the base has none", PROVIDERS % ("mycorp/aws", "~> 2.0")),
    over(
        "required_providers by half an entry",
        "terraform {\n  required_providers {\n    aws = {}\n  }\n}\n",
        PROVIDERS % ("mycorp/aws", "~> 1.0"),
    ),
    over("required_providers twice in one file", (PROVIDERS % ("a/aws", "1")) + (PROVIDERS % ("b/aws", "2"))),
    over("a provider that the base has not", 'provider "aws" {\n  version = "~> 1.0"\n}\n'),
    over("an aliased provider that the base has not", 'provider "aws" {\n  alias = "x"\n}\n'),
    over(
        "a provider's version",
        'provider "aws" {\n  version = "~> 2.0"\n}\n',
        'provider "aws" {\n  version = "~> 1.0"\n}\n',
    ),
    over(
        "required_version",
        'terraform {\n  required_version = ">= 1.0"\n}\n',
        'terraform {\n  required_version = "> 99"\n}\n',
    ),
    over("a required_version that refuses", 'terraform {\n  required_version = "> 99"\n}\n'),
    over("a language block", "language {}\n", readers=("opentofu",)),
    over("a moved block", "moved {\n  from = a.b\n  to = a.c\n}\n"),
    over("an import block", 'import {\n  to = aws_x.y\n  id = "1"\n}\n'),
    over("a check", 'check "c" {\n  assert {\n    condition = data.a.b.c\n    error_message = "No."\n  }\n}\n'),
    over("a backend", 'terraform {\n  backend "local" {}\n}\n', 'terraform {\n  backend "remote" {}\n}\n'),
    over("two backends", 'terraform {\n  backend "local" {}\n}\nterraform {\n  backend "remote" {}\n}\n'),
    over("a block that no client knows", "resources {}\n"),
    ordered("the last by name wins", {"a_override.tf": M % "a", "b_override.tf": M % "b"}),
    ordered(
        "override.tf comes between others by name",
        {"a_override.tf": M % "a", "override.tf": M % "b", "z_override.tf": 'module "m" {\n  x = 1\n}\n'},
    ),
    ordered("JSON counts as well", {"x_override.tf.json": '{"module": {"m": {"source": "./b"}}}'}),
    ordered(
        "native after JSON by name",
        {"x_override.tf.json": '{"module": {"m": {"source": "./b"}}}', "y_override.tf": M % "a"},
    ),
    ordered("a name that only begins so", {"override_x.tf": 'module "n" {\n  source = "./b"\n}\n'}),
    ordered("a name without the underscore", {"xoverride.tf": 'module "n" {\n  source = "./b"\n}\n'}),
    ordered("only the underscore before it", {"_override.tf": M % "b"}),
    ordered("in .tofu", {"override.tofu": M % "b"}),
    Configuration(
        "overrides: in a child",
        {
            "main.tf": BASE,
            "a/main.tf": 'module "n" {\n  source = "./x"\n}\n',
            "a/override.tf": 'module "n" {\n  source = "./y"\n}\n',
            "a/y/main.tf": "",
        },
    ),
]
