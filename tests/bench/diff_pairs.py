#!/usr/bin/env python3
"""Compares consecutive tags of module collections, and counts the risky findings of each pair.

usage: tests/bench/diff_pairs.py [--pairs N] BINARY REPOSITORY…

REPOSITORY is a git directory with version tags; the N newest pairs of tags count. Called are the root module and each
changed module below modules/. Modules of other packages are replaced by an empty one, so that nothing leaves this
machine. Prints the findings of each pair, the distribution, and the ten pairs with the most.
"""

import argparse
import collections
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

LEFT_OUT = ("examples", "test", "tests", "docs", "wrappers", "autogen", ".github")
CALL = re.compile(r'^module\s+"[^"]+"\s*\{.*?^\}', re.MULTILINE | re.DOTALL)
REMOTE = re.compile(r'(\bsource\s*=\s*)"(?!\.\.?/)([^"]*)"')
VERSION = re.compile(r'^\s*version\s*=\s*"[^"]*".*\n', re.MULTILINE)


def git(directory, *arguments, **options):
    environment = {"PATH": os.environ["PATH"], "HOME": directory, "GIT_CONFIG_NOSYSTEM": "1",
                   **{"GIT_%s_%s" % (who, what): "bench@example.com" for who in ("AUTHOR", "COMMITTER")
                      for what in ("NAME", "EMAIL")}}
    return subprocess.run(["git", "-C", directory, *arguments], env=environment, check=True, stdout=subprocess.PIPE,
                          **options).stdout


def version_pairs(repository, count):
    tags = [tag for tag in git(repository, "tag").decode().split() if re.fullmatch(r"v?\d+\.\d+\.\d+", tag)]
    tags.sort(key=lambda tag: [int(number) for number in re.findall(r"\d+", tag)])
    return list(zip(tags, tags[1:]))[-count:]


class Package:
    """A repository with the tags v1.0.0 and v1.1.0: two tags of a collection."""

    def __init__(self, home):
        self.home = home
        self.directory = os.path.join(home, "package")
        self.empty = os.path.join(home, "empty")
        for directory in (self.directory, self.empty):
            os.makedirs(directory)
            git(directory, "init", "--quiet")

    def add(self, repository, tag, version):
        for entry in os.listdir(self.directory):
            if entry != ".git":
                path = os.path.join(self.directory, entry)
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        files = git(repository, "archive", tag, ".", *(":!" + name for name in LEFT_OUT))
        subprocess.run(["tar", "--extract", "--directory", self.directory], input=files, check=True)
        for directory, _, names in os.walk(self.directory):
            for name in names:
                path = os.path.join(directory, name)
                if name.endswith(".tf") and not os.path.islink(path):
                    self.replace_calls(path)
        self.commit(self.empty, "modules")
        self.commit(self.directory, version)

    def replace_calls(self, path):
        def replace(call):
            def source(match):
                below = re.sub(r"\W", "_", match[2])
                os.makedirs(os.path.join(self.empty, below), exist_ok=True)
                open(os.path.join(self.empty, below, "main.tf"), "w").close()
                return '%s"git::file://%s//%s?ref=HEAD"' % (match[1], self.empty, below)
            replaced = REMOTE.sub(source, call[0])
            return replaced if replaced == call[0] else VERSION.sub("", replaced)

        with open(path, errors="surrogateescape") as file:
            text = file.read()
        with open(path, "w", errors="surrogateescape") as file:
            file.write(CALL.sub(replace, text))

    @staticmethod
    def commit(directory, tag):
        git(directory, "add", "--all", "--force", ".")
        git(directory, "commit", "--quiet", "--allow-empty", "--message", tag)
        git(directory, "tag", "--force", tag, stderr=subprocess.DEVNULL)

    def changed_modules(self):
        """The directories with a module that both versions have."""
        has = [{os.path.dirname(name) for name in git(self.directory, "ls-tree", "-r", "--name-only", tag).decode().split()
                if name.endswith((".tf", ".tofu"))} for tag in ("v1.0.0", "v1.1.0")]
        changed = {os.path.dirname(name) for name in
                   git(self.directory, "diff", "--name-only", "v1.0.0", "v1.1.0").decode().split()}
        return sorted(name for name in has[0] & has[1] if name == "" or (name.startswith("modules/") and name in changed))

    def findings(self, binary, modules):
        root = os.path.join(self.home, "root")
        os.makedirs(root)
        with open(os.path.join(root, "main.tf"), "w") as file:
            for number, below in enumerate(modules):
                file.write('module "m%d" {\n  source = "git::file://%s%s?ref=v1.0.0"\n}\n' %
                           (number, self.directory, "//" + below if below else ""))
        environment = {"PATH": os.environ["PATH"], "HOME": self.home,
                       "TOFU_MODLOCK_CACHE_DIR": os.path.join(self.home, "cache")}
        run = lambda *arguments: subprocess.run([binary, *arguments, "--chdir", root], env=environment, check=True,
                                                capture_output=True, text=True).stdout
        run("lock", "--include", "modules")
        subjects = ["module.m%d=1.1.0" % number for number in range(len(modules))]
        changes = json.loads(run("diff", "--format", "json", *subjects))["changes"]
        return {change["subject"]: [finding for finding in change["findings"] if finding["grade"] == "risky"]
                for change in changes}


def measure(binary, repository, tags):
    """The risky findings of the pair, and the most that one call has."""
    home = tempfile.mkdtemp(prefix="diff-pairs-")
    try:
        package = Package(home)
        package.add(repository, tags[0], "v1.0.0")
        package.add(repository, tags[1], "v1.1.0")
        modules = package.changed_modules()
        found = package.findings(binary, modules) if modules else {}
    finally:
        shutil.rmtree(home)
    places = {}
    for finding in (finding for findings in found.values() for finding in findings):
        place = finding.get("after") or finding.get("before") or {}
        line = ((place.get("range") or {}).get("start") or {}).get("line", 0)
        places["%s %s:%s" % (finding["rule"], place.get("path"), line)] = finding["message"]
    return places, max([len(findings) for findings in found.values()], default=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=13)
    parser.add_argument("binary")
    parser.add_argument("repository", nargs="+")
    options = parser.parse_args()
    results = []
    for repository in options.repository:
        for tags in version_pairs(repository, options.pairs):
            name = "%s %s" % (repository.rstrip("/").removesuffix("/repo").rsplit("/", 1)[-1], " ".join(tags))
            try:
                places, most = measure(os.path.abspath(options.binary), os.path.abspath(repository), tags)
            except subprocess.CalledProcessError as error:
                print("%s: not compared: %s" % (name, (error.stderr or b"")[-200:]), file=sys.stderr)
                continue
            results.append((most, len(places), name))
            print("%s: %d risky, %d of one call" % (name, len(places), most))
            for place, message in sorted(places.items()):
                print("  %s %s" % (place, message))
    if not results:
        raise SystemExit("no pair was compared")
    counts = [most for most, _, _ in results]
    print("\n%d pairs, %d without a risky finding; of one call: median %g, most %d" %
          (len(counts), counts.count(0), statistics.median(counts), max(counts)))
    for count, pairs in sorted(collections.Counter(counts).items()):
        print("%4d: %s" % (count, pairs))
    for most, count, name in sorted(results, reverse=True)[:10]:
        print("%s: %d risky, %d of one call" % (name, count, most))


if __name__ == "__main__":
    main()
