"""Git repositories that configurations take modules from, by git::file:// sources."""

import os
import subprocess

NET = {
    "main.tf": 'module "zone" {\n  source = "./modules/zone"\n}\n\nmodule "log" {\n  source = "./modules/log"\n}\n',
    "versions.tf": 'terraform {\n  required_providers {\n    aws = {\n      source  = "hashicorp/aws"\n'
                   '      version = ">= 4.0"\n    }\n  }\n}\n',
    "modules/zone/main.tf": 'resource "dns_a_record_set" "this" {}\n',
    "modules/log/main.tf": 'module "format" {\n  source = "../format"\n}\n',
    "modules/format/main.tf": 'resource "random_id" "this" {}\n',
    "examples/simple/main.tf": 'module "net" {\n  source = "../.."\n}\n',
}
APP = {
    "main.tf": 'module "net" {\n  source = "git::file://{packages}/net.git?ref=v1.0.0"\n}\n\n'
               'provider "kubernetes" {\n  alias = "this"\n}\n',
    "worker/main.tf": 'module "net" {\n  source = "git::file://{packages}/net.git//modules/zone?ref=v1.0.0"\n}\n',
}
REPOSITORIES = {"net": NET, "app": APP}


def make(directory, environment):
    """Makes `<directory>/<name>.git` of each, with the branch main and the tag v1.0.0."""
    for name, files in REPOSITORIES.items():
        path = os.path.join(directory, name + ".git")
        stream = b"commit refs/heads/main\nmark :1\ncommitter Author <author@example.test> 1704103200 +0000\n" \
                 b"data 5\nFirst\n"
        for file, text in files.items():
            content = text.replace("{packages}", directory).encode()
            stream += b"M 100644 inline %s\ndata %d\n%s\n" % (file.encode(), len(content), content)
        stream += b"reset refs/tags/v1.0.0\nfrom :1\n\n"
        for command, data in ((["init", "--quiet", "--bare", "--template=", "--initial-branch=main", path], b""),
                              (["-C", path, "fast-import", "--quiet"], stream)):
            subprocess.run(["git", *command], check=True, env=environment, input=data, stdout=subprocess.DEVNULL)
