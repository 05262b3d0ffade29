"""Lock, install and inspect 60 git modules behind a delay, against the init of a stock client."""

import json
import os
import shutil
import statistics
from collections import defaultdict

import processes
from git_server import GitServer
from git_tree import Tree
from table import print_table, ratio, seconds, verdict

GOAL_RATIO = 20  # if each call has a package of its own; half of it if calls share packages


class Bench:
    def __init__(self, options, home, server):
        self.options = options
        self.home = home
        self.server = server
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": os.path.join(home, "user"), "TMPDIR": os.path.join(home, "tmp"),
            "LANG": "C.UTF-8", "CHECKPOINT_DISABLE": "1", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_SSL_CAINFO": server.authority, "SSL_CERT_FILE": server.authority,
        }
        for name in ("HOME", "TMPDIR"):
            os.makedirs(self.environment[name], exist_ok=True)

    def fresh(self, name):
        path = os.path.join(self.home, name)
        shutil.rmtree(path, ignore_errors=True)
        return path

    def timed(self, samples, name, command, root):
        """Runs a command, notes its time and what the server saw of it under `name`."""
        self.server.take_counts()
        result = processes.must_run(command, self.environment, root)
        requests, connections = self.server.take_counts()
        samples[name].append(result.seconds)
        samples[name + ", processor"].append(result.processor_seconds)
        samples[name + ", seen"].append((requests, connections))
        return result

    def client_name(self):
        if not self.options.client:
            return "no client"
        return processes.must_run([self.options.client, "version"], self.environment, self.home).stdout.splitlines()[0]

    def run_client(self, tree, samples):
        root = self.fresh("client")
        tree.write_pinned_root(root)
        command = [self.options.client, "init", "-input=false", "-no-color"]
        self.timed(samples, "client cold", command, root)
        self.timed(samples, "client again", command, root)
        return root

    def run_modlock(self, tree, samples):
        def start():
            root, cache = self.fresh("modlock"), self.fresh("cache")
            tree.write_constrained_root(root)
            return root, cache

        def modlock(name, verb, *flags):
            if verb != "inspect":
                flags += ("--cache-dir", cache)
            command = [self.options.modlock, verb, "--chdir", root, "--json", *flags]
            result = json.loads(self.timed(samples, name, command, self.home).stdout)
            samples[name + ", stats"].append(result.get("stats", {}).get("requests"))
            return result

        root, cache = start()
        modlock("both", "lock", "--install")
        root, cache = start()
        modlock("lock", "lock")
        modlock("install", "install")
        samples["lock + install"].append(samples["lock"][-1] + samples["install"][-1])
        modlock("lock again", "lock")
        modlock("inspect", "inspect")
        shutil.rmtree(os.path.join(root, ".terraform"))
        modlock("install again", "install")
        return root


def module_files(root):
    """Path -> content of every file of the installed packages; a client's own copies lack names with a dot."""
    found = {}
    top = os.path.join(root, ".terraform", "modules")
    for directory, directories, files in os.walk(top):
        directories[:] = [name for name in directories if not name.startswith(".")]
        for name in files:
            path = os.path.join(directory, name)
            if not name.startswith(".") and directory != top:
                with open(path, "rb") as file:
                    found[os.path.relpath(path, top)] = file.read()
    return found


def manifest(root):
    with open(os.path.join(root, ".terraform", "modules", "modules.json")) as file:
        return {module["Key"]: module["Dir"] for module in json.load(file)["Modules"]}


def check_manifest(root, tree):
    expected = {"": "."}
    for key, call in tree.walk():
        expected[key] = os.path.join(".terraform/modules", key, call.directory).rstrip("/")
    if manifest(root) != expected:
        raise SystemExit("%s: modules.json is not what the tree calls for: %s" %
                         (root, sorted(set(expected.items()) ^ set(manifest(root).items()))[:5]))


def check_same(ours, theirs):
    left, right = module_files(ours), module_files(theirs)
    differing = sorted(path for path in left.keys() | right.keys() if left.get(path) != right.get(path))
    if differing or not left:
        raise SystemExit("the installed modules differ: %d of %d files, first %s" %
                         (len(differing), len(left | right), differing[:3]))
    return len(left)


def seen(samples, *names):
    """Requests and connections of the last run, added over `names`."""
    requests, connections = (sum(samples[name + ", seen"][-1][i] for name in names) for i in (0, 1))
    return "%d (%d)" % (requests, connections)


def print_rows(bench, tree, samples, files):
    calls = list(tree.walk())
    packages = {(call.repository, call.tag) for _, call in calls}
    middle = {name: statistics.median(values) for name, values in samples.items()
              if not name.endswith((", seen", ", stats"))}

    def row(what, ours, theirs=None, goal=None):
        if theirs not in middle:
            return [what, seconds(middle[ours]), "", "", ""]
        speed = middle[theirs] / middle[ours]
        return [what, seconds(middle[ours]), seconds(middle[theirs]), ratio(middle[ours], middle[theirs]),
                ">= %d: %s" % (goal, verdict(speed >= goal)) if goal else ""]

    rows = [
        row("lock, then install, cold (init, cold)", "lock + install", "client cold",
            GOAL_RATIO if len(packages) == len(calls) else GOAL_RATIO // 2),
        row("lock --install, cold (init, cold)", "both", "client cold"),
        row("lock, cold", "lock"),
        row("install, cache filled by lock", "install"),
        row("processor time of lock --install (of init)", "both, processor", "client cold, processor"),
        ["requests (connections) at the server", seen(samples, "lock", "install"),
         seen(samples, "client cold") if bench.options.client else "", "", ""],
        ["requests in stats: lock, install", "%s, %s" % (samples["lock, stats"][-1], samples["install, stats"][-1]), "",
         "", ""],
        row("install again, .terraform removed (init, cold)", "install again", "client cold"),
        row("lock again, nothing to do (init again)", "lock again", "client again"),
        row("inspect, all installed (init again)", "inspect", "client again"),
        ["requests of those three", seen(samples, "install again", "lock again", "inspect"), "", "", ""],
    ]
    print_table("%d module calls, three levels, %d repositories, %d packages, %g ms round trip" %
                (len(calls), len(tree.repositories), len(packages), bench.options.round_trip_ms),
                ["measure", "tofu-modlock", bench.client_name(), "ratio", "goal"], rows)
    if files:
        print("\nBoth installed the same %d files in the same directories." % files)


def measure(options, home):
    repositories = os.path.join(home, "repositories")
    with GitServer(os.path.join(home, "server"), repositories, options.round_trip_ms / 2) as server:
        bench = Bench(options, home, server)
        for kind in ("spread", "shared") if options.tree == "both" else (options.tree,):
            tree = Tree(kind, server.url)
            tree.make_repositories(server.repositories)
            samples = defaultdict(list)
            files = 0
            for _ in range(options.repeat):
                theirs = bench.run_client(tree, samples) if options.client else None
                ours = bench.run_modlock(tree, samples)
                check_manifest(ours, tree)
                if theirs:
                    check_manifest(theirs, tree)
                    files = check_same(ours, theirs)
            print_rows(bench, tree, samples, files)
