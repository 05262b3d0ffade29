"""Makes the git repositories and the root modules of a three-level tree of module calls.

Six root calls, three calls in each of their modules, two in each of those: 60 calls into 20 repositories. In the
"spread" tree every call has a package (repository and tag) of its own; in the "shared" tree calls of a repository agree
on a tag, as well-kept module libraries do, which leaves 20 packages.
"""

import os
import random
import subprocess
from dataclasses import dataclass

COMMITS = 50
TAGS = {"v0.8.0": 4, "v0.9.0": 8, "v1.0.0": 13, "v1.0.1": 17, "v1.1.0": 22, "v1.2.0": 28, "v1.3.0": 35, "v1.4.0": 42,
        "v2.0.0-rc.1": 45, "v2.0.0": 48}
ROOT_CONSTRAINT = "~> 1.0"
ROOT_TAG = "v1.4.0"  # the newest that the constraint allows
NESTED_TAGS = ["v1.0.0", "v1.1.0", "v1.2.0", "v1.3.0", "v1.4.0"]
LEVELS = [["%s-%d" % (name, i) for i in range(count)] for name, count in (("platform", 6), ("service", 6), ("base", 8))]
FIRST_COMMIT = 1_704_103_200
WORDS = ("network subnet gateway cluster node pool policy role bucket queue topic alarm zone record route table peer "
         "cache shard replica volume snapshot secret key token audit trail budget label owner region").split()


@dataclass(frozen=True)
class Call:
    name: str
    repository: str
    tag: str
    directory: str = ""  # inside the package

    def source(self, base_url, with_ref=True):
        inner = "//" + self.directory if self.directory else ""
        return "git::%s/%s.git%s%s" % (base_url, self.repository, inner, "?ref=" + self.tag if with_ref else "")


class Tree:
    """Which module calls which; `base_url` is where the repositories will be served."""

    def __init__(self, kind, base_url):
        assert kind in ("spread", "shared")
        self.kind = kind
        self.base_url = base_url + "/" + kind
        self.repositories = [name for level in LEVELS for name in level]

    def root_calls(self):
        return [Call("env_%d" % i, name, ROOT_TAG) for i, name in enumerate(LEVELS[0])]

    def calls_of(self, repository, tag):
        for level, fan_out in ((0, 3), (1, 2)):
            if repository in LEVELS[level]:
                return [self.call(level, repository, tag, k, fan_out) for k in range(fan_out)]
        return []

    def call(self, level, repository, tag, k, fan_out):
        below = LEVELS[level + 1]
        place = LEVELS[level].index(repository)
        if level == 1 and self.kind == "spread" and tag in NESTED_TAGS:
            place += len(LEVELS[1]) * NESTED_TAGS.index(tag)
        slot = place * fan_out + k
        chosen = NESTED_TAGS[slot // len(below) % len(NESTED_TAGS)] if self.kind == "spread" else NESTED_TAGS[2]
        directory = "modules/inner" if level == 1 and k == 1 else ""
        return Call("part_%d" % k, below[slot % len(below)], chosen, directory)

    def walk(self):
        """Every (key, call) of the tree, keys as modules.json has them."""
        pending = [(call.name, call) for call in self.root_calls()]
        while pending:
            key, call = pending.pop(0)
            yield key, call
            if not call.directory:
                pending += [(key + "." + c.name, c) for c in self.calls_of(call.repository, call.tag)]

    def text_of(self, repository, tag):
        """The calls of a module as its main.tf has them."""
        return module_blocks([(call.name, call.source(self.base_url)) for call in self.calls_of(repository, tag)])

    def make_repositories(self, directory):
        for name in self.repositories:
            make_repository(os.path.join(directory, self.kind, name + ".git"), Content(self, name))

    def write_pinned_root(self, directory):
        """The root module with a `?ref=` on every call."""
        write_root(directory, [(c.name, c.source(self.base_url)) for c in self.root_calls()])

    def write_constrained_root(self, directory):
        """The same root module without refs: the constraints stand in .tofu-modlock.hcl."""
        write_root(directory, [(c.name, c.source(self.base_url, with_ref=False)) for c in self.root_calls()])
        with open(os.path.join(directory, ".tofu-modlock.hcl"), "w") as file:
            for call in self.root_calls():
                file.write('module "%s" {\n  version = "%s"\n}\n' % (call.name, ROOT_CONSTRAINT))


def write_root(directory, calls):
    os.makedirs(directory)
    with open(os.path.join(directory, "main.tf"), "w") as file:
        file.write(module_blocks(calls))


def module_blocks(calls):
    return "\n".join('module "%s" {\n  source = "%s"\n}\n' % call for call in calls)


class Content:
    """The files of one repository as they change from commit to commit; the same in every run."""

    def __init__(self, tree, name):
        self.tree = tree
        self.name = name
        self.random = random.Random(tree.kind + "/" + name)
        self.bodies = {path: self.body(path) for path in self.first_paths()}

    def first_paths(self):
        paths = ["README.md", "LICENSE", ".gitignore", "variables.tf", "outputs.tf", "locals.tf", "versions.tf",
                 "modules/inner/main.tf", "modules/inner/variables.tf", "examples/complete/main.tf"]
        for i in range(self.random.randint(4, 20)):
            paths.append(self.random.choice(["%s.tf", "templates/%s.tftpl", "docs/%s.md"]) % ("%s_%d" % (WORDS[i], i)))
        return paths

    def prose(self, lines):
        return "".join(" ".join(self.random.choices(WORDS, k=self.random.randint(4, 14))) + "\n" for _ in range(lines))

    def body(self, path):
        if path == "versions.tf":
            return 'terraform {\n  required_version = ">= 1.0"\n}\n'
        if not path.endswith(".tf"):
            return self.prose(self.random.randint(10, 120))
        block, stem = [], path.replace("/", "_").replace(".tf", "")
        for i in range(self.random.randint(4, 30)):
            words = self.random.choices(WORDS, k=3)
            if path.endswith("outputs.tf"):
                block.append('output "%s_%d" {\n  description = "The %s of the %s %s"\n  value = "%s"\n}\n' %
                             (words[0], i, *words, words[2]))
            elif path.endswith("variables.tf"):
                block.append('variable "%s_%d" {\n  type    = string\n  default = "%s-%s"\n}\n' %
                             (words[0], i, *words[1:]))
            else:
                block.append('locals {\n  %s_%d = {\n    %s = "%s-${%d + 1}"\n  }\n}\n' % (stem, i, *words[:2], i))
        return "\n".join(block)

    def commit(self, number):
        """The files that this commit writes."""
        if number == 0:
            changed = list(self.bodies)
        else:
            changed = self.random.sample(sorted(self.bodies), self.random.randint(1, 3))
            for path in changed:
                self.bodies[path] = self.bodies[path] + "# %s\n" % self.prose(1).strip() \
                    if path != "LICENSE" else self.bodies[path]
        files = {path: self.bodies[path] for path in changed}
        tag = next((tag for tag, at in TAGS.items() if at >= number), "v2.0.0")
        files["main.tf"] = "# Release %s\n\n%s" % (tag, self.tree.text_of(self.name, tag))
        return files


def make_repository(path, content):
    def data(text):
        encoded = text.encode()
        return b"data %d\n%s\n" % (len(encoded), encoded)

    def line(role, number):
        return b"%s Example Author <author@example.test> %d +0000\n" % (role, FIRST_COMMIT + number * 86_400)

    stream = []
    for number in range(COMMITS):
        stream.append(b"commit refs/heads/main\nmark :%d\n" % (number + 1))
        stream.append(line(b"committer", number))
        stream.append(data("Change %d of %s\n" % (number, content.name)))
        for file, text in content.commit(number).items():
            stream.append(b"M 100644 inline %s\n" % file.encode() + data(text))
    for position, (tag, number) in enumerate(TAGS.items()):
        if position % 2:
            stream.append(b"tag %s\nfrom :%d\n" % (tag.encode(), number + 1))
            stream.append(line(b"tagger", number) + data("Release " + tag))
        else:
            stream.append(b"reset refs/tags/%s\nfrom :%d\n\n" % (tag.encode(), number + 1))

    def git(*arguments, **options):
        subprocess.run(["git", *arguments], check=True, stdout=subprocess.DEVNULL, **options)

    git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", path)
    git("-C", path, "fast-import", "--quiet", input=b"".join(stream))
    # As the large hosting services have it.
    git("-C", path, "config", "uploadpack.allowFilter", "true")
