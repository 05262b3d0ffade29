"""Modules of git repositories, seen where they are installed, and providers that only a state knows."""

import json

from configuration import Configuration


def package(name, source, **options):
    return Configuration(
        "packages: " + name, {"main.tf": 'module "m" {\n  source = "%s"\n}\n' % source}, uses_packages=True, **options
    )


def state(name, content, files=None, environment=None):
    return Configuration(
        "state: " + name,
        {"main.tf": 'resource "aws_x" "y" {}\n', "terraform.tfstate": content, **(files or {})},
        has_state=True,
        environment=environment or {},
    )


def resource(provider, mode="managed", type="tls_key"):
    return {"mode": mode, "type": type, "name": "x", "provider": provider, "instances": []}


def version4(*resources):
    return json.dumps(
        {
            "version": 4,
            "terraform_version": "1.5.0",
            "serial": 1,
            "lineage": "x",
            "outputs": {},
            "resources": list(resources),
        }
    )


IN_STATE = version4(resource('provider["registry.opentofu.org/hashicorp/tls"]'))

CONFIGURATIONS = [
    package("a repository", "git::file://{packages}/net.git"),
    package("a tag", "git::file://{packages}/net.git?ref=v1.0.0"),
    package("a directory of a repository", "git::file://{packages}/net.git//modules/log"),
    package("a directory and a tag", "git::file://{packages}/net.git//modules/log?ref=v1.0.0"),
    package("a directory that calls upwards", "git::file://{packages}/net.git//examples/simple"),
    package("a directory that leads outside", "git::file://{packages}/net.git//../x"),
    package("packages that call packages", "git::file://{packages}/app.git"),
    package("a directory that calls another package", "git::file://{packages}/app.git//worker"),
    package("a source by a variable", 'git::file://{packages}/${true ? "net" : "app"}.git', readers=("opentofu",)),
    Configuration(
        "packages: two of one",
        {
            "main.tf": (
                'module "m" {\n  source = "git::file://{packages}/net.git"\n}\n\nmodule "n" {\n  source ='
                ' "git::file://{packages}/net.git//modules/zone"\n}\n'
            )
        },
        uses_packages=True,
    ),
    Configuration(
        "packages: from a local child",
        {
            "main.tf": 'module "l" {\n  source = "./l"\n}\n',
            "l/main.tf": 'module "m" {\n  source = "git::file://{packages}/net.git"\n}\n',
        },
        uses_packages=True,
    ),
    Configuration(
        "packages: a version",
        {"main.tf": 'module "m" {\n  source  = "git::file://{packages}/net.git"\n  version = "1.0.0"\n}\n'},
        uses_packages=True,
        accepted_by_us=True,  # with a warning: constraints on tags of repositories are what we are for
    ),
    state("a provider that only it knows", IN_STATE),
    state("a provider of Terraform's registry", version4(resource('provider["registry.terraform.io/hashicorp/tls"]'))),
    state(
        "a provider of Terraform's registry, of others",
        version4(resource('provider["registry.terraform.io/mycorp/tls"]')),
    ),
    state(
        "in a module, with an alias", version4(resource('module.m.provider["registry.example.com/a/b"].west', "data"))
    ),
    state("no resources", version4()),
    state(
        "the built-in one",
        version4(resource('provider["terraform.io/builtin/terraform"]', "managed", "terraform_data")),
    ),
    state(
        "of another workspace", version4(), {"terraform.tfstate.d/w/terraform.tfstate": IN_STATE}, {"TF_WORKSPACE": "w"}
    ),
    state(
        "at a path of the backend",
        version4(),
        {"backend.tf": 'terraform {\n  backend "local" {\n    path = "x.tfstate"\n  }\n}\n', "x.tfstate": IN_STATE},
    ),
]
