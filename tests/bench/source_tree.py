"""A three-level tree of module calls into git repositories, a module registry and an OCI registry.

Two root calls of each kind, three calls in each of their modules, two in each of those: 60 calls with all three kinds,
20 of each. They share 27 modules, one package each: calls of a module agree on its version.
"""

import io
import os
import tarfile
import zipfile
from dataclasses import dataclass

from git_tree import TAGS, Content, make_repository

KINDS = ("git", "registry", "oci")
LEVELS = (2, 3, 4)  # modules of each kind
FAN_OUT = (3, 2)
GIT_REQUESTS = 2
VERSION = "1.4.0"
CONSTRAINT = "~> 1.0"  # which VERSION is the newest of
VERSIONS = [tag[1:] for tag in TAGS]


@dataclass(frozen=True)
class Module:
    kind: str
    level: int
    index: int

    @property
    def name(self):
        return "%s-%d-%d" % (self.kind, self.level, self.index)

    @property
    def packaging(self):
        """What the download of a registry module leads to."""
        return "git" if self.index % 2 == 0 else "archive"


@dataclass(frozen=True)
class Call:
    name: str
    module: Module
    directory: str = ""


class SourceTree:
    """`server` says where the modules are served; `kinds` is all of KINDS or those that a client knows."""

    def __init__(self, kinds, server):
        self.kinds = kinds
        self.server = server
        self.kind = "-".join(kinds)  # seeds the content
        self.modules = [[Module(kind, level, index) for index in range(count) for kind in kinds]
                        for level, count in enumerate(LEVELS)]
        self.by_name = {self.package_name(module): module for level in self.modules for module in level}

    def root_calls(self):
        return [Call("env_%d" % i, module) for i, module in enumerate(self.modules[0])]

    def calls_of(self, module):
        if module.level == len(FAN_OUT):
            return []
        below, fan_out = self.modules[module.level + 1], FAN_OUT[module.level]
        first = self.modules[module.level].index(module) * fan_out
        return [Call("part_%d" % k, below[(first + k) % len(below)]) for k in range(fan_out)]

    def walk(self):
        """Every (key, call) of the tree, keys as modules.json has them."""
        pending = [(call.name, call) for call in self.root_calls()]
        while pending:
            key, call = pending.pop(0)
            yield key, call
            pending += [(key + "." + inner.name, inner) for inner in self.calls_of(call.module)]

    def package_name(self, module):
        return "%s-%s" % (self.kind, module.name)

    def block(self, call, pinned, constraint="~> 1.4.0"):
        """The call as configuration; where it is not pinned, only the registry's calls have a constraint in it."""
        kind, name = call.module.kind, self.package_name(call.module)
        if kind == "registry":
            source = "%s/bench/%s/%s\"\n  version = \"%s" % (self.server.registry, name, call.module.packaging,
                                                             constraint)
        elif kind == "git":
            source = "git::%s/mixed/%s.git" % (self.server.url, name) + ("?ref=v" + VERSION if pinned else "")
        else:
            source = "oci://%s/mixed/%s" % (self.server.oci, name) + ("?tag=" + VERSION if pinned else "")
        return 'module "%s" {\n  source = "%s"\n}\n' % (call.name, source)

    def text_of(self, name, _tag):
        return "\n".join(self.block(call, True) for call in self.calls_of(self.by_name[name]))

    def publish(self):
        for name, module in self.by_name.items():
            content = Content(self, name)
            if module.kind == "registry":
                self.server.publish_versions(name, module.packaging, VERSIONS)
            if module.kind == "oci":
                self.server.push("mixed/" + name, VERSIONS, zip_of(files_at(content, "v" + VERSION)))
            elif module.kind == "registry" and module.packaging == "archive":
                self.server.publish("archives/%s-%s.tar.gz" % (name, VERSION), tar_of(files_at(content, "v" + VERSION)))
            else:
                make_repository(os.path.join(self.server.repositories, "mixed", name + ".git"), content)

    def write_pinned_root(self, directory):
        self.write_root(directory, True)

    def write_constrained_root(self, directory):
        """Without refs and tags: the constraints stand in .tofu-modlock.hcl."""
        self.write_root(directory, False)
        with open(os.path.join(directory, ".tofu-modlock.hcl"), "w") as file:
            file.write('implementation = "opentofu"\n')
            for call in self.root_calls():
                if call.module.kind != "registry":
                    file.write('module "%s" {\n  version = "%s"\n}\n' % (call.name, CONSTRAINT))

    def write_root(self, directory, pinned):
        os.makedirs(directory)
        with open(os.path.join(directory, "main.tf"), "w") as file:
            file.write("\n".join(self.block(call, pinned, CONSTRAINT) for call in self.root_calls()))

    def least_requests(self):
        """What it takes, each thing asked once. Of git its references and a pack without history; of a registry its
        services, versions, a download and what that leads to; of OCI a manifest and a blob, and the tags where a
        constraint chooses."""
        least = 1 if "registry" in self.kinds else 0
        for module in self.by_name.values():
            if module.kind == "registry":
                least += 2 + (GIT_REQUESTS if module.packaging == "git" else 1)
            elif module.kind == "git":
                least += GIT_REQUESTS
            else:
                least += 2 + (module.level == 0)
        return least

    def least_round_trips(self):
        """One after the other: to connect (TCP, TLS) and to learn the services of the registry, then the longest way of
        each level, with all connections open."""
        if "registry" not in self.kinds:
            return 2 + len(LEVELS) * GIT_REQUESTS
        return 2 + 1 + len(LEVELS) * (2 + GIT_REQUESTS)


def files_at(content, tag):
    """Path -> text as of the tag."""
    files = {}
    for number in range(TAGS[tag] + 1):
        files.update(content.commit(number))
    return files


def zip_of(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return packed.getvalue()


def tar_of(files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text.encode())
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()
