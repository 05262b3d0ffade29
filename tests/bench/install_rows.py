"""Install 200 modules of 20,000 files from a warm cache, against the init of a stock client behind a delay and against cp."""

import os
import shutil
import statistics

import processes
from git_server import GitServer
from module_rows import Bench
from table import print_table, ratio, seconds, verdict
from verify_rows import FILES, MODULES, all_files, make_root

GOAL_CLIENT = 50
GOAL_COPY = 1.2
GOAL_LINKS = 0.040  # seconds


def installed_files(root):
    return all_files(os.path.join(root, ".terraform", "modules"))


def measure(options, home):
    repositories = os.path.join(home, "install-repositories")
    with GitServer(os.path.join(home, "install-server"), repositories, options.round_trip_ms / 2) as server:
        bench = Bench(options, os.path.join(home, "install"), server)
        root, cache = os.path.join(home, "install-root"), os.path.join(home, "install-cache")
        make_root(root, repositories, server.url)
        install = [options.modlock, "install", "--chdir", root, "--cache-dir", cache]
        processes.must_run([options.modlock, "lock", "--chdir", root, "--cache-dir", cache], bench.environment, home)
        data, kept = os.path.join(root, ".terraform"), os.path.join(home, "install-kept")
        ours, copied = [], []
        for _ in range(max(5, options.repeat)):
            shutil.rmtree(data, ignore_errors=True)
            ours.append(processes.must_run(install, bench.environment, home).seconds)
            if len(installed_files(root)) != MODULES * FILES:
                raise SystemExit("%d files are installed, not %d" % (len(installed_files(root)), MODULES * FILES))
            shutil.rmtree(kept, ignore_errors=True)
            copy = ["cp", "-a", "--reflink=auto", os.path.join(data, "modules"), kept]
            copied.append(processes.must_run(copy, bench.environment, home).seconds)
        rows = [["`cp -a --reflink=auto` of the installed tree, minima of alternating runs", seconds(min(ours)),
                 seconds(min(copied)), ratio(min(copied), min(ours)),
                 "<= %.1f: %s" % (GOAL_COPY, verdict(min(ours) / min(copied) <= GOAL_COPY))]]
        shutil.rmtree(data)
        link = install + ["--link"]
        for _ in range(2):  # the second one remembers the files that the first one made read-only
            processes.must_run(link, bench.environment, home)
        linked = [processes.must_run(link, bench.environment, home).seconds for _ in range(max(15, options.repeat))]
        if not all(os.path.islink(entry.path) for entry in os.scandir(os.path.join(data, "modules")) if entry.name != "modules.json"):
            raise SystemExit("a module is not a link")
        rows.append(["`install --link`, nothing changed, median", seconds(statistics.median(linked)), "", "",
                     "<= %s: %s" % (seconds(GOAL_LINKS), verdict(statistics.median(linked) <= GOAL_LINKS))])
        if options.client:
            shutil.rmtree(data)
            os.remove(os.path.join(root, ".terraform.lock.hcl"))
            init = [options.client, "init", "-input=false", "-no-color"]
            theirs = processes.must_run(init, bench.environment, root).seconds
            rows.append(["%s, cold" % bench.client_name(), seconds(min(ours)), seconds(theirs),
                         ratio(min(ours), theirs),
                         ">= %d: %s" % (GOAL_CLIENT, verdict(theirs / min(ours) >= GOAL_CLIENT))])
        print_table("install from a warm cache, %d modules, %d files, %d ms round trip"
                    % (MODULES, MODULES * FILES, options.round_trip_ms),
                    ["against", "tofu-modlock", "it", "ratio", "goal"], rows)
