"""How the processor time of commands grows with calls, root modules, packages of the cache and tags: the exponent
between two sizes, without the time of a start. One repository has all modules, on this machine."""

import math
import os
import shutil
import subprocess

import processes
from table import print_table, seconds, verdict

SIZES = (100, 1000)
DIRECTORIES = 10  # of the package, whatever the size
GOAL = 1.05
NOISE = 0.10  # of the exponent: what two runs differ by
GOAL_CACHE = 1.1  # how much longer a command may take with the larger cache


def commit(mark, tag, files):
    text = "commit refs/heads/main\nmark :%d\ncommitter a <a@example.test> %d +0000\ndata 0\n" % (mark, 1_700_000_000 + mark)
    text += "".join("M 100644 inline %s\ndata %d\n%s\n" % (name, len(content), content) for name, content in files.items())
    return text + "reset refs/tags/%s\nfrom :%d\n\n" % (tag, mark)


def make_repository(path, tags):
    """Two releases that differ, and as many tags of the first one as asked for."""
    names = ["d%d/main.tf" % number for number in range(DIRECTORIES)]
    output = 'output "o" {\n  value = 1\n}\n'
    stream = commit(1, "v1.0.0", dict.fromkeys(names, output))
    stream += commit(2, "v1.1.0", dict.fromkeys(names, output + 'output "p" {\n  value = 1\n}\n'))
    stream += "".join("reset refs/tags/v0.0.%d\nfrom :1\n\n" % number for number in range(tags))
    subprocess.run(["git", "init", "--quiet", "--bare", "--template=", "--initial-branch=main", path], check=True)
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input=stream.encode(), check=True)


def write_root(root, repository, calls):
    os.makedirs(root)
    with open(os.path.join(root, "main.tf"), "w") as file:
        file.writelines('module "m%d" {\n  source = "git::file://%s//d%d?ref=v1.0.0"\n}\noutput "o%d" {\n'
                        "  value = module.m%d.o\n}\n" % (number, repository, number % DIRECTORIES, number, number)
                        for number in range(calls))


def fill_cache(cache, packages):
    """Packages that no module of the bench uses, as the cache would have them after a year. The records of sources go,
    so that packages are looked up by their content."""
    shutil.rmtree(os.path.join(cache, "v2", "identities"))
    place = os.path.join(cache, "v2", "packages")
    for number in range(packages):
        os.makedirs(os.path.join(place, "%064x-%064x" % (number, number), "tree"))


class Growth:
    def __init__(self, options, home):
        self.options, self.home, self.number = options, home, 0
        self.environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8",
                            "TOFU_MODLOCK_IMPLEMENTATION": "opentofu", "TOFU_MODLOCK_IMPLEMENTATION_VERSION": "1.12.6"}
        self.start = self.processor_seconds(["--version"], home)

    def processor_seconds(self, arguments, directory):
        """The least of several runs: others use the machine, too."""
        least = math.inf
        for _ in range(self.options.repeat):
            ran = processes.run([self.options.modlock, *arguments], self.environment, directory)
            if ran.exit_code not in (0, 3):  # something is not installed
                raise SystemExit("%s: exit %d\n%s%s" % (" ".join(arguments), ran.exit_code, ran.stdout[-300:], ran.stderr))
            least = min(least, ran.processor_seconds)
        return least

    def directory(self, calls=10, roots=1, packages=0, tags=10):
        """Locked root modules, and their cache."""
        self.number += 1
        directory = os.path.join(self.home, "growth%d" % self.number)
        make_repository(os.path.join(directory, "r.git"), tags)
        for number in range(roots):
            write_root(os.path.join(directory, "roots", "%d" % number), os.path.join(directory, "r.git"), calls)
        self.environment["TOFU_MODLOCK_CACHE_DIR"] = os.path.join(directory, "cache")
        processes.must_run([self.options.modlock, "lock", "--recursive"], self.environment, os.path.join(directory, "roots"))
        if packages:
            fill_cache(os.path.join(directory, "cache"), packages)
        return directory

    def rows(self, name, commands):
        times = [[self.processor_seconds(command, os.path.join(directory, "roots")) for command in commands]
                 for directory in (self.directory(**{name: size}) for size in SIZES)]
        for command, small, large in zip(commands, *times):
            if name == "packages":
                shown, met = "%.2f times" % (large / small), large / small <= GOAL_CACHE
                goal = "%.1f times" % GOAL_CACHE
            else:
                exponent = math.log(max(large - self.start, 1e-4) / max(small - self.start, 1e-4), SIZES[1] / SIZES[0])
                shown, met, goal = "%.2f" % exponent, exponent <= GOAL + NOISE, "%.2f" % GOAL
            yield [name, " ".join(command), seconds(small), seconds(large), shown, "%s: %s" % (goal, verdict(met))]


def measure(options, home):
    if not shutil.which("git"):
        print("\nskipped: how commands grow (git not found)")
        return
    growth = Growth(options, home)
    root = ["--recursive"]
    read = [["status", "--offline", *root], ["outdated", *root], ["verify", *root], ["lock", *root], ["inspect", *root]]
    rows = [*growth.rows("calls", [*read, ["diff", *root], ["verify", "--online", *root]]), *growth.rows("roots", read),
            *growth.rows("packages", [*read, ["diff", *root]]),
            *growth.rows("tags", [["outdated", *root], ["diff", *root], ["verify", "--online", *root]])]
    print_table("How processor time grows", ["with", "command", "%d" % SIZES[0], "%d" % SIZES[1], "exponent", "goal"], rows)
