"""Which providers a module needs, in all forms that say so."""

from configuration import Configuration, singles


def required(body):
    return "terraform {\n  required_providers {\n%s  }\n}\n" % body


AWS = required('    aws = {\n      source = "mycorp/aws"\n    }\n')

CONFIGURATIONS = singles(
    "providers",
    {
        "implied by a resource": 'resource "aws_instance" "x" {}\n',
        "implied by a data source": 'data "aws_ami" "x" {}\n',
        "implied by an ephemeral resource": 'ephemeral "aws_secret" "x" {}\n',
        "implied by a type without underscore": 'resource "http" "x" {}\n',
        "implied by a check": (
            'check "c" {\n  data "http" "h" {}\n  assert {\n    condition     = data.http.h.ok\n    error_message ='
            ' "No."\n  }\n}\n'
        ),
        "implied by an import": 'import {\n  to = aws_x.y\n  id = "1"\n}\n',
        "implied by a provider block": 'provider "aws" {}\n',
        "an import into a module": 'import {\n  to = module.m.aws_x.y\n  id = "1"\n}\n',
        "an import with a provider": (
            'provider "aws" {\n  alias = "w"\n}\n\nimport {\n  to       = tls_x.y\n  id       = "1"\n  provider ='
            " aws.w\n}\n"
        ),
        "an import beside its resource": 'resource "aws_x" "y" {}\n\nimport {\n  to = aws_x.y\n  id = "1"\n}\n',
        "an import that disagrees with its resource": (
            'resource "aws_x" "y" {}\n\nimport {\n  to       = aws_x.y\n  id       = "1"\n  provider = google\n}\n'
        ),
        "an import with for_each": (
            'import {\n  for_each = toset(["a"])\n  to       = aws_x.y[each.key]\n  id       = each.key\n}\n'
        ),
        "an import without to": 'import {\n  id = "1"\n}\n',
        "an import without id": "import {\n  to = aws_x.y\n}\n",
        "an import of a data source": 'import {\n  to = data.aws_x.y\n  id = "1"\n}\n',
        "an import by a string": 'import {\n  to = "aws_x.y"\n  id = "1"\n}\n',
        "removed": "removed {\n  from = aws_x.y\n}\n",
        "removed, with lifecycle": "removed {\n  from = aws_x.y\n  lifecycle {\n    destroy = false\n  }\n}\n",
        "moved": "moved {\n  from = aws_x.y\n  to   = aws_x.z\n}\n",
        "moved to another type": "moved {\n  from = aws_x.y\n  to   = google_x.z\n}\n",
        "of a resource by its argument": 'resource "aws_x" "y" {\n  provider = google\n}\n',
        "of a resource by its argument, quoted": 'resource "aws_x" "y" {\n  provider = "google"\n}\n',
        "of a resource by an alias": (
            'provider "google" {\n  alias = "e"\n}\n\nresource "aws_x" "y" {\n  provider = google.e\n}\n'
        ),
        "of a resource by an alias that is not configured": 'resource "aws_x" "y" {\n  provider = google.e\n}\n',
        "of a resource by an index": (
            'provider "google" {\n  alias    = "e"\n  for_each = toset(["a"])\n}\n\nresource "aws_x" "y" {\n  provider'
            ' = google.e["a"]\n}\n'
        ),
        "of a resource by a call": 'resource "aws_x" "y" {\n  provider = f()\n}\n',
        "by a local name": AWS + 'resource "aws_instance" "x" {}\n',
        "by a local name of a provider block": AWS + 'provider "aws" {\n  version = "~> 1.0"\n}\n',
        "the source twice under two names": required(
            '    a = {\n      source = "x/y"\n    }\n    b = {\n      source = "x/y"\n    }\n'
        ),
        "the source twice with versions": required(
            '    a = {\n      source  = "x/y"\n      version = ">= 1"\n    }\n    b = {\n      source  = "x/y"\n     '
            ' version = "< 2"\n    }\n'
        ),
        "a declared one and an implied one of a type": AWS + 'resource "tls_key" "x" {\n  provider = tls\n}\n',
        "terraform_remote_state": 'data "terraform_remote_state" "x" {}\n',
        "terraform_data": 'resource "terraform_data" "x" {}\n',
        "terraform declared": required('    terraform = {\n      source = "terraform.io/builtin/terraform"\n    }\n'),
        "terraform declared without a source": required("    terraform = {}\n"),
        "hashicorp/terraform": required('    terraform = {\n      source = "hashicorp/terraform"\n    }\n'),
        "a built-in one with a version": required(
            '    terraform = {\n      source  = "terraform.io/builtin/terraform"\n      version = "1.0"\n    }\n'
        ),
        "a built-in one that is none": required('    x = {\n      source = "terraform.io/builtin/x"\n    }\n'),
        "the built-in namespace of OpenTofu": required(
            '    x = {\n      source = "opentofu.org/builtin/terraform"\n    }\n'
        ),
        "a provider block for terraform": 'provider "terraform" {}\n',
        "two provider blocks": 'provider "aws" {}\nprovider "aws" {}\n',
        "two provider blocks of an alias": 'provider "aws" {\n  alias = "x"\n}\nprovider "aws" {\n  alias = "x"\n}\n',
        "a provider block with a wrong alias": 'provider "aws" {\n  alias = "x y"\n}\n',
        "an alias that is no string": 'provider "aws" {\n  alias = [1]\n}\n',
        "a provider block with an underscore": 'provider "a_b" {}\n',
        "a provider block in capitals": 'provider "AWS" {}\n',
        "a provider block with a version": 'provider "aws" {\n  version = ">= 1.0, < 2.0"\n}\n',
        "a provider block with a wrong version": 'provider "aws" {\n  version = "one"\n}\n',
        "versions of two aliases": (
            'provider "aws" {\n  version = ">= 1.0"\n}\nprovider "aws" {\n  alias   = "x"\n  version = "< 2.0"\n}\n'
        ),
        "a provider block with an empty version": 'provider "aws" {\n  version = ""\n}\n',
        "a provider block with reserved arguments": 'provider "aws" {\n  count = 1\n}\n',
        "a provider block with a reserved block": 'provider "aws" {\n  lifecycle {}\n}\n',
        "a provider block with an escaping block": 'provider "aws" {\n  _ {\n    version = 1\n  }\n}\n',
        "for_each of a provider without alias": 'provider "aws" {\n  for_each = {}\n}\n',
        "provider_meta": 'terraform {\n  provider_meta "aws" {\n    x = 1\n  }\n}\n',
        "a provider function": "locals {\n  x = provider::aws::f()\n}\n",
        "a type in capitals": 'resource "AWS_x" "y" {}\n',
        "a type that begins with an underscore": 'resource "_x" "y" {}\n',
        "a type with two underscores": 'resource "a__b" "y" {}\n',
        "a type of letters beyond ASCII": 'resource "\u00fcber_x" "y" {}\n',
        "a type with a dash": 'resource "my-aws_x" "y" {}\n',
        "a type with a digit": 'resource "2x_y" "y" {}\n',
        "resources twice": 'resource "a_b" "c" {}\nresource "a_b" "c" {}\n',
        "a resource and a data source of a name": 'resource "a_b" "c" {}\ndata "a_b" "c" {}\n',
        "a data source in two checks": (
            'check "c" {\n  data "a_b" "c" {}\n  assert {\n    condition     = data.a_b.c.x\n    error_message ='
            ' "No."\n  }\n}\ndata "a_b" "c" {}\n'
        ),
    },
) + [
    Configuration(
        "providers: of a tree",
        {
            "main.tf": (
                AWS
                + 'module "m" {\n  source = "./a"\n}\n\nmodule "n" {\n  source = "./b"\n}\n\nresource "aws_x" "y" {}\n'
            ),
            "a/main.tf": (
                required('    aws = {\n      source  = "mycorp/aws"\n      version = ">= 1.0"\n    }\n')
                + 'resource "aws_x" "y" {}\n'
            ),
            "b/main.tf": required(
                '    aws = {\n      source  = "mycorp/aws"\n      version = "< 2.0, >= 1.0.0"\n    }\n    tls = "~>'
                ' 3"\n'
            ),
        },
    ),
    Configuration(
        "providers: names mean another thing in a child",
        {"main.tf": AWS + 'module "m" {\n  source = "./a"\n}\n', "a/main.tf": 'resource "aws_x" "y" {}\n'},
    ),
    Configuration(
        "providers: of a module that is counted to none",
        {"main.tf": 'module "m" {\n  source = "./a"\n  count  = 0\n}\n', "a/main.tf": 'resource "aws_x" "y" {}\n'},
    ),
]
