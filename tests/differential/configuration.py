"""A configuration: the files of a root module and of the modules below it, and what the environment says of it."""

import os
from dataclasses import dataclass, field

BOTH = ("opentofu", "terraform")


@dataclass(frozen=True)
class Configuration:
    name: str
    files: dict  # path -> text or bytes
    root: str = "."  # the directory of the root module
    environment: dict = field(default_factory=dict)
    readers: tuple = BOTH  # the implementations that it is meant for
    uses_packages: bool = False  # has git sources: "{packages}" in a text is where the repositories lie
    refused_by_us: bool = False  # clients take it, and we say by policy that it is wrong
    accepted_by_us: bool = False  # clients say that it is wrong, and we take it by policy
    has_state: bool = False  # the backend and its state count

    def written(self, packages):
        """The files as they are on the disk."""
        return {path: text.replace("{packages}", packages).encode() if isinstance(text, str) else text
                for path, text in self.files.items()}

    def write(self, directory, packages):
        os.makedirs(os.path.join(directory, ".git"))  # the bound of what may be read
        os.makedirs(os.path.join(directory, self.root), exist_ok=True)
        for path, content in self.written(packages).items():
            path = os.path.join(directory, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)

    def shown(self, packages):
        """The whole configuration as text, to print it."""
        lines = []
        if self.root != ".":
            lines.append("root module: %s" % self.root)
        lines += ["%s=%s" % item for item in sorted(self.environment.items())]
        for path, content in sorted(self.written(packages).items()):
            lines.append("--- %s" % path)
            lines.append(content.decode(errors="backslashreplace").rstrip("\n"))
        return "\n".join(lines)


def single(name, text, **options):
    """A configuration of one file."""
    return Configuration(name, {"main.tf": text}, **options)


def singles(prefix, rows, **options):
    """One configuration of one file for each of `rows`: name -> text."""
    return [single("%s: %s" % (prefix, name), text, **options) for name, text in rows.items()]


CHILD = 'variable "x" {\n  default = null\n}\n\nresource "null_resource" "this" {}\n'


def tree(name, files, **options):
    """A configuration with modules in "./a" and "./b"."""
    return Configuration(name, {"a/main.tf": CHILD, "b/main.tf": CHILD, **files}, **options)


def trees(prefix, rows, **options):
    """For each of `rows` (name -> text of main.tf) a configuration with modules in "./a" and "./b"."""
    return [tree("%s: %s" % (prefix, name), {"main.tf": text}, **options) for name, text in rows.items()]
