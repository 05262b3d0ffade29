"""Plan and install 1,000 roots that share 50 git modules behind a delay, against one root that calls all 50."""

import json
import os
import shutil
import statistics
import subprocess
import time
from collections import defaultdict

from git_server import GitServer
from git_tree import ROOT_CONSTRAINT
from module_rows import Bench
from table import print_table, seconds, verdict

ROOTS = 1000
SOURCES = 50
CALLS = 3  # of each of the many roots
VERSIONS = ["v1.0.0", "v1.1.0", "v2.0.0"]
GOAL_RATIO = 2
GOAL_LINKS = 2  # seconds
FIND_GOAL = 1.0  # seconds


def make_repository(path, number):
    """A module, released in VERSIONS."""
    stream = []
    for mark, tag in enumerate(VERSIONS, 1):
        text = 'variable "name" {\n  default = "module %d of %s"\n}\n' % (number, tag)
        stream.append("commit refs/heads/main\nmark :%d\ncommitter a <a@example.test> %d +0000\ndata 0\n"
                      "M 100644 inline main.tf\ndata %d\n%sreset refs/tags/%s\nfrom :%d\n\n"
                      % (mark, 1_700_000_000 + mark, len(text), text, tag, mark))
    subprocess.run(["git", "init", "--quiet", "--bare", "--template=", "--initial-branch=main", path], check=True)
    subprocess.run(["git", "-C", path, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)


def sources_of(number):
    """Which modules the many roots call: each of them is called by as many."""
    return [(CALLS * number + call) % SOURCES for call in range(CALLS)]


def write_root(root, sources, base_url):
    os.makedirs(root)
    blocks = {"main.tf": 'module "m%d" {\n  source = "git::%s/%d.git"\n}\n',
              ".tofu-modlock.hcl": 'module "m%d" {\n  version = "%s"\n}\n'}
    with open(os.path.join(root, "main.tf"), "w") as file:
        file.writelines(blocks["main.tf"] % (source, base_url, source) for source in sources)
    with open(os.path.join(root, ".tofu-modlock.hcl"), "w") as file:
        file.write('implementation = "opentofu"\n')
        file.writelines(blocks[".tofu-modlock.hcl"] % (source, ROOT_CONSTRAINT) for source in sources)


def run_method(bench, cache, method, roots, **params):
    """(seconds, result) of one process."""
    command = [bench.options.modlock, "call", method, "--params", "-", "--cache-dir", cache]
    started = time.monotonic()
    ran = subprocess.run(command, input=json.dumps({"roots": roots, **params}), env=bench.environment, cwd=bench.home,
                         capture_output=True, text=True)
    took = time.monotonic() - started
    result = json.loads(ran.stdout)
    failed = [entry for entry in result.get("results", [result]) if "error" in entry]
    if ran.returncode or failed:
        raise SystemExit("%s: exit %d\n%s%s" % (method, ran.returncode, failed[:1], ran.stderr))
    return took, result


def write_locks(result):
    """As a host applies edits: every document of these is a lock file that was not there."""
    for entry in result["results"]:
        for document in entry["edits"]["documents"]:
            with open(os.path.join(entry["root"], document["path"]), "w") as file:
                file.write(document["newText"])


def measure_roots(bench, samples, name, roots):
    """Plans, then installs what is locked, from nothing."""
    cache = bench.fresh("cache")
    for root in roots:
        shutil.rmtree(os.path.join(root, ".terraform"), ignore_errors=True)
        if os.path.exists(os.path.join(root, ".terraform.lock.hcl")):
            os.remove(os.path.join(root, ".terraform.lock.hcl"))
    bench.server.take_counts()
    took, result = run_method(bench, cache, "workspace/plan", roots)
    samples[name + " plan"].append(took)
    samples[name + " requests"].append(bench.server.take_counts()[0])
    write_locks(result)
    samples[name + " install"].append(run_method(bench, cache, "workspace/install", roots)[0])
    installed = sum(os.path.exists(os.path.join(root, ".terraform", "modules", "modules.json")) for root in roots)
    if installed != len(roots):
        raise SystemExit("%d of %d roots are installed" % (installed, len(roots)))
    samples[name + " requests to install"].append(bench.server.take_counts()[0])
    for row in ("link", "link again"):
        samples[name + " " + row].append(run_method(bench, cache, "workspace/install", roots, link=True)[0])


def measure_find(bench, directory):
    """Searches the lock files for a release that every root has locked for each of its calls."""
    command = [bench.options.modlock, "explain", "--chdir", directory, "--recursive", "--find", "*@1.1.0"]
    started = time.monotonic()
    ran = subprocess.run(command, env=bench.environment, cwd=bench.home, capture_output=True, text=True)
    took = time.monotonic() - started
    if ran.returncode or "%d of %d root modules lock *@1.1.0." % (ROOTS, ROOTS) not in ran.stdout:
        raise SystemExit("explain --find: exit %d\n%s%s" % (ran.returncode, ran.stdout[-300:], ran.stderr))
    return took


def measure(options, home):
    home = os.path.join(home, "fleet")
    with GitServer(os.path.join(home, "server"), os.path.join(home, "repositories"),
                   options.round_trip_ms / 2) as server:
        bench = Bench(options, home, server)
        for number in range(SOURCES):
            make_repository(os.path.join(server.repositories, "%d.git" % number), number)
        one, many = [os.path.join(home, "one")], [os.path.join(home, "roots", str(i)) for i in range(ROOTS)]
        write_root(one[0], range(SOURCES), server.url)
        for number, root in enumerate(many):
            write_root(root, sources_of(number), server.url)
        samples = defaultdict(list)
        for _ in range(options.repeat):
            measure_roots(bench, samples, "one", one)
            measure_roots(bench, samples, "many", many)
            samples["find"].append(measure_find(bench, os.path.join(home, "roots")))
    middle = {name: statistics.median(values) for name, values in samples.items()}
    requests, share = max(samples["many requests"]), middle["many plan"] / middle["one plan"]
    print_table("a fleet of %d roots, %d git modules, %g ms round trip" % (ROOTS, SOURCES, options.round_trip_ms),
                ["measure", "%d roots" % ROOTS, "one root with all modules", "ratio", "goal"], [
        ["workspace/plan", seconds(middle["many plan"]), seconds(middle["one plan"]), "%.1f" % share,
         "<= %d: %s" % (GOAL_RATIO, verdict(share <= GOAL_RATIO))],
        ["its requests: a list and a package of each module", "%d" % requests, "%d" % max(samples["one requests"]), "",
         "%d: %s" % (2 * SOURCES, verdict(requests <= 2 * SOURCES))],
        ["workspace/install, from the cache", seconds(middle["many install"]), seconds(middle["one install"]), "", ""],
        ["its links instead of copies", seconds(middle["many link"]), seconds(middle["one link"]), "", ""],
        ["the same links again", seconds(middle["many link again"]), seconds(middle["one link again"]), "",
         "<= %d s: %s" % (GOAL_LINKS, verdict(middle["many link again"] <= GOAL_LINKS))],
        ["its requests", "%d" % max(samples["many requests to install"]),
         "%d" % max(samples["one requests to install"]), "", ""],
        ["explain --recursive --find, from lock files", seconds(middle["find"]), "", "",
         "<= %s: %s" % (seconds(FIND_GOAL), verdict(middle["find"] <= FIND_GOAL))],
    ])
