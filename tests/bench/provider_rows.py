"""Lock providers of several platforms behind a delay and a limited rate, against `providers lock` of a stock client."""

import json
import os
import statistics
from collections import defaultdict

import git_server
from module_rows import Bench
from provider_server import ProviderServer
from source_rows import run_with_peak
from table import print_table, ratio, seconds, verdict

NAMES = ["p%d" % number for number in range(1, 6)]
PLATFORMS = ["linux_amd64", "linux_arm64", "darwin_arm64", "windows_amd64"]
ARCHIVE_BYTES = 50_000_000
RATE = 25_000_000  # of each connection, bytes a second
GOAL_COLD, GOAL_WARM, GOAL_KIB, REQUESTS_EACH, ROOTS = 3, 50, 64 * 1024, 3, 100


class ProviderBench(Bench):
    def __init__(self, options, home, server):
        super().__init__(options, home, server)
        settings = os.path.join(home, "client.rc")
        with open(settings, "w") as file:
            file.write("disable_checkpoint = true\n" + server.host_blocks())
        self.environment["TF_CLI_CONFIG_FILE"] = settings
        words = self.client_name().split()
        self.implementation = "opentofu" if words[0] == "OpenTofu" else "terraform"
        self.environment["TOFU_MODLOCK_IMPLEMENTATION"] = self.implementation
        self.environment["TOFU_MODLOCK_IMPLEMENTATION_VERSION"] = words[1].lstrip("v").split("-")[0]

    def root(self, name):
        path = self.fresh(name)
        os.makedirs(path)
        with open(os.path.join(path, "main.tf"), "w") as file:
            file.write("terraform {\n  required_providers {\n%s  }\n}\n" % "".join(
                '    %s = { source = "bench/%s" }\n' % (name, name) for name in NAMES))
        return path

    def measured(self, samples, name, command, root):
        self.server.take_requests()
        took, peak = run_with_peak(command, self.environment, root)
        samples[name].append(took)
        samples[name + ", peak"].append(peak)
        samples[name + ", requests"] = self.server.take_requests()

    def run_client(self, samples):
        root = self.root("client")
        self.measured(samples, "client", [self.options.client, "providers", "lock",
                                          *("-platform=" + platform for platform in PLATFORMS)], root)
        return lock_of(root)

    def modlock(self, root, hashes):
        return [self.options.modlock, "lock", "--chdir", root, "--cache-dir", os.path.join(self.home, "cache"),
                "--hashes", hashes, *(word for platform in PLATFORMS for word in ("--platform", platform))]

    def run_modlock(self, samples, hashes):
        self.fresh("cache")
        root = self.root("modlock")
        command = self.modlock(root, hashes)
        self.measured(samples, "cold", command, root)
        lock = lock_of(root)
        os.remove(os.path.join(root, ".terraform.lock.hcl"))
        self.measured(samples, "warm", command, root)
        if lock_of(root) != lock:
            raise SystemExit("the second lock file is not the first one")
        self.measured(samples, "again", command, root)
        return lock


def lock_of(root):
    with open(os.path.join(root, ".terraform.lock.hcl")) as file:
        return file.read()


def archives(requests):
    return sum(path.endswith(".zip") for path in requests)


def measure_fleet(bench, hashes):
    """100 roots, one after the other in one call, with nothing in the cache."""
    bench.fresh("cache")
    roots = [bench.root("fleet/%03d" % number) for number in range(ROOTS)]
    bench.server.take_requests()
    command = bench.modlock(roots[0], hashes)
    for root in roots[1:]:
        command += ["--chdir", root]
    took, peak = run_with_peak(command, bench.environment, bench.home)
    if len({lock_of(root) for root in roots}) != 1:
        raise SystemExit("the lock files of the fleet differ")
    return took, peak, archives(bench.server.take_requests())


def measure_kind(options, home, with_packages):
    hashes = "superset" if with_packages else "providers-lock"
    with ProviderServer(home, options.round_trip_ms / 2, RATE) as server:
        server.publish(NAMES, PLATFORMS, ARCHIVE_BYTES, with_packages)
        bench = ProviderBench(options, os.path.join(home, "bench"), server)
        samples = defaultdict(list)
        for _ in range(options.repeat):
            theirs = bench.run_client(samples)
            if bench.run_modlock(samples, hashes) != theirs:
                raise SystemExit("the lock files differ")
        fleet, fleet_peak, fleet_archives = measure_fleet(bench, hashes)
        middle = {name: statistics.median(samples[name]) for name in ("client", "cold", "warm", "again")}
        peak = max(samples["cold, peak"])
        count = len(NAMES) * len(PLATFORMS)

        def row(what, name, goal=None):
            speed = middle["client"] / middle[name]
            return [what, seconds(middle[name]), seconds(middle["client"]), ratio(middle[name], middle["client"]),
                    ">= %d: %s" % (goal, verdict(speed >= goal)) if goal else ""]

        requests, zips = len(samples["cold, requests"]), archives(samples["cold, requests"])
        knows = with_packages and bench.implementation == "opentofu"
        print_table("%d providers, %d platforms, archives of %d MB, %g ms round trip, %d MB/s for each connection, %s" %
                    (len(NAMES), len(PLATFORMS), ARCHIVE_BYTES / 1e6, options.round_trip_ms, RATE / 1e6,
                     "`packages` in the answers" if with_packages else "no `packages`"),
                    ["measure", "tofu-modlock", bench.client_name() + " providers lock", "ratio", "goal"], [
            row("lock, nothing known", "cold", GOAL_COLD),
            row("lock, hashes in the cache, no lock file", "warm", GOAL_WARM),
            row("lock again", "again", GOAL_WARM),
            ["resident at most", "%.1f MiB" % (peak / 1024), "%.1f MiB" % (max(samples["client, peak"]) / 1024), "",
             "<= %d MiB: %s" % (GOAL_KIB // 1024, verdict(peak <= GOAL_KIB))],
            ["requests, of them archives", "%d, %d" % (requests, zips),
             "%d, %d" % (len(samples["client, requests"]), archives(samples["client, requests"])), "",
             "<= %d, 0: %s" % (REQUESTS_EACH * len(NAMES), verdict(requests <= REQUESTS_EACH * len(NAMES) and not zips))
             if knows else "%d archives: %s" % (count, verdict(zips == count))],
            ["requests with hashes in the cache; lock again", "%d; %d" % (len(samples["warm, requests"]),
                                                                         len(samples["again, requests"])), "", "", ""],
            ["%d roots, nothing known" % ROOTS, "%s, %d archives, %.1f MiB" % (
                seconds(fleet), fleet_archives, fleet_peak / 1024), "", "",
             "each archive once: %s" % verdict(fleet_archives <= count)],
        ])


def measure(options, home):
    missing = git_server.missing_programs() + ([] if options.client else ["tofu or terraform"])
    if missing:
        print("\nskipped: providers (not found: %s)" % ", ".join(missing))
        return
    home = os.path.join(home, "providers")
    os.makedirs(home)
    measure_kind(options, os.path.join(home, "without"), False)
    if "tofu" in os.path.basename(options.client):  # Terraform does not look at them
        measure_kind(options, os.path.join(home, "with"), True)
